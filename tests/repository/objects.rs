//! Objects as they are written, read by git.

use crate::store::open;
use crate::support::{Bench, Hash, Refs};

#[test]
fn what_is_written_is_what_git_reads_whatever_its_size() {
    for hash in [Hash::Sha1, Hash::Sha256] {
        let bench = Bench::with(Refs::Files, hash);
        let repository = open(&bench);
        // The largest are stored as they are.
        for bytes in [0, 1, 65_535, 65_536, 300_000] {
            let content: String = ('a'..='z').cycle().take(bytes).collect();
            let id = repository.objects().unwrap().write_blob(content.as_bytes()).unwrap().to_string();
            assert_eq!(bench.git(&["cat-file", "blob", &id]), content.trim_end());
            bench.write("same", &content);
            assert_eq!(bench.git(&["hash-object", "same"]), id);
        }
        bench.git(&["fsck", "--strict"]);
    }
}
