//! Whatever can be damaged is damaged, in each way that came to mind: nobody panics, nothing is proven by it, the message names
//! the thing and the one command that helps, and that command helps.

use rustix::process::Signal;
use test_case::test_case;

use crate::support::{Bench, Hash, Outcome, Place, Refs, wait_for};

/// Words of the scripts. `commit` is the candidate, `ref` its record's name, and `shard KIND` the path of a ledger's file.
const WORDS: &str = r#"
set -e
commit=$(git rev-parse HEAD) ref=refs/discern/attempt/$(git rev-parse HEAD) ledger=refs/discern/ledger
blob() { git hash-object -w --stdin; }
name() { git update-ref --no-deref "$1" "$(blob)"; }
shard() { git ls-tree -r --name-only $ledger $1/ | head -n 1; }
unnamed() { git update-ref -d $ref; }
put() { # PATH ID [PATH BELOW IT]: in place of a file of the ledger
  GIT_INDEX_FILE=$PWD/../index; export GIT_INDEX_FILE; rm -f ../index
  git read-tree $ledger; git rm -q --cached "$1"
  git update-index --add --cacheinfo "100644,$2,$1${3:-}"
  new=$(git write-tree --missing-ok); unset GIT_INDEX_FILE; git update-ref $ledger $new
}
"#;

/// What reads, and must say something whatever is there.
const READERS: [&[&str]; 9] = [
    &["status"],
    &["log"],
    &["log", "--flaky"],
    &["show"],
    &["explain", "t"],
    &["standards", "--history"],
    &["doctor"],
    &["gc", "--dry-run"],
    &["recover", "--dry-run"],
];

/// A commit that is proven by one job.
fn proven(refs: Refs) -> Bench {
    let bench = Bench::with(refs, Hash::Sha1);
    bench.gate();
    bench.job("t", "true");
    bench.save("first");
    let _ = bench.discern(&["done"]).exits(0);
    bench
}

fn play(place: &Place, script: &str) {
    let _ = place.sh(&format!("{WORDS}{script}")).exits(0);
}

/// Fails if the tool had a fault of its own.
#[track_caller]
fn no_fault(outcome: &Outcome) {
    let fault = outcome.stderr.contains("panicked") || outcome.stdout.contains("panicked") || outcome.status >= 70;
    assert!(!fault, "{}", outcome.shown());
}

#[track_caller]
fn everybody_answers(place: &Place) {
    READERS.iter().for_each(|words| no_fault(&place.discern(words)));
}

/// The damage is refused by name, proves nothing, concerns nothing else, and goes with the command that is told.
#[track_caller]
fn is_named_and_mended(bench: &Bench, damage: &str, thing: &str, fix: &[&str]) {
    play(bench, damage);
    everybody_answers(bench);
    let told = format!("git discern {}", fix.join(" "));
    for words in [&["done", "--json"][..], &["done", "--rerun", "--json"]] {
        let refused = bench.discern(words).exits(5);
        no_fault(&refused);
        let document = refused.json();
        let first = &document["diagnostics"][0];
        assert_eq!(first["where"][0], thing, "{first:#}");
        assert_eq!(first["fix"], told.as_str(), "{first:#}");
    }
    assert_ne!(bench.discern(&["verify"]).status, 0);
    no_fault(&bench.discern(fix).exits(0));
    let _ = bench.discern(&["done"]).exits(0);
    let _ = bench.discern(&["verify"]).exits(0);
    everybody_answers(bench);
    assert_eq!(bench.git(&["fsck", "--strict", "--no-dangling", "--no-progress"]), "");
}

#[track_caller]
fn a_record_is_named_and_forgotten(bench: &Bench, damage: &str) {
    let commit = bench.head();
    is_named_and_mended(bench, damage, &format!("refs/discern/attempt/{commit}"), &["recover", "--forget", &commit]);
}

const NOTHING: &str = "1111111111111111111111111111111111111111";

#[test_case("git update-ref $ref HEAD"; "a commit")]
#[test_case("git update-ref $ref $(git mktree </dev/null)"; "a tree")]
#[test_case("name $ref </dev/null"; "nothing in it")]
#[test_case("echo '{}' | name $ref"; "an empty document")]
#[test_case("echo garbage | name $ref"; "garbage")]
#[test_case("printf 'a\\0b' | name $ref"; "a NUL")]
#[test_case("git cat-file -p $ref | head -c 500 | name $ref"; "half of it")]
#[test_case("git cat-file -p $ref | sed 's/\"version\": 2/\"version\": 3/' | name $ref"; "a newer format")]
#[test_case("git cat-file -p $ref | sed 's/\"sequence\": [0-9]*/\"sequence\": 1/' | name $ref"; "an older one put back")]
#[test_case("head -c 400000 /dev/zero | name $ref"; "huge")]
#[test_case("git symbolic-ref $ref refs/heads/main"; "a symbolic ref")]
fn a_damaged_record_is_named_and_forgotten(damage: &str) {
    for refs in [Refs::Files, Refs::Reftable] {
        a_record_is_named_and_forgotten(&proven(refs), damage);
    }
}

#[test_case(": > .git/$ref"; "empty")]
#[test_case("echo garbage > .git/$ref"; "garbage")]
#[test_case("echo 0123 > .git/$ref"; "half an id")]
#[test_case("printf 'a\\0b' > .git/$ref"; "a NUL")]
#[test_case("head -c 100000 /dev/zero > .git/$ref"; "huge")]
#[test_case("rm .git/$ref; ln -s ../../../HEAD .git/$ref"; "a symbolic link")]
#[test_case("git pack-refs --all; git symbolic-ref $ref refs/heads/none"; "a symbolic ref to nothing, before a packed one")]
fn a_damaged_file_of_a_ref_is_named_and_forgotten(damage: &str) {
    a_record_is_named_and_forgotten(&proven(Refs::Files), damage);
}

#[test_case("git update-ref $ledger HEAD"; "a commit")]
#[test_case("name $ledger < /dev/null"; "a file")]
#[test_case("git symbolic-ref $ledger refs/heads/main"; "a symbolic ref")]
#[test_case("put $(shard outcome) NOTHING"; "a file of outcomes is missing")]
#[test_case("put $(shard outcome) $(blob </dev/null) /x"; "a folder in place of a file of outcomes")]
#[test_case("put $(shard outcome) $(git cat-file -p $ledger:$(shard outcome) | head -c 300 | blob)"; "half an outcome")]
#[test_case("put $(shard outcome) $(git cat-file -p $ledger:$(shard outcome) | tr : ' ' | blob)"; "an outcome garbled")]
fn a_damaged_ledger_is_named_and_mended(damage: &str) {
    for refs in [Refs::Files, Refs::Reftable] {
        let bench = proven(refs);
        let damage = format!("unnamed; {}", damage.replace("NOTHING", NOTHING));
        is_named_and_mended(&bench, &damage, "refs/discern/ledger", &["recover", "--forget", "refs/discern/ledger"]);
    }
}

#[test_case(": > .git/$ledger"; "an empty ref")]
#[test_case("echo garbage > .git/$ledger"; "a garbage ref")]
#[test_case("printf 'a\\0b' > .git/$ledger"; "a ref with a NUL")]
fn a_damaged_file_of_the_ledgers_ref_is_named_and_mended(damage: &str) {
    let bench = proven(Refs::Files);
    let damage = format!("unnamed; {damage}");
    is_named_and_mended(&bench, &damage, "refs/discern/ledger", &["recover", "--forget", "refs/discern/ledger"]);
}

#[test]
fn mending_the_ledger_keeps_what_is_sound() {
    let bench = proven(Refs::Files);
    let first = bench.head();
    bench.write("more", "");
    bench.save("second");
    let _ = bench.discern(&["done"]).exits(0);
    play(&bench, "unnamed; git update-ref -d refs/discern/attempt/$(git rev-parse HEAD~)");
    // The second commit's outcome is lost, the first one's is there, and so are both receipts.
    let shards = bench.git(&["ls-tree", "-r", "--name-only", "refs/discern/ledger", "outcome/"]);
    let of_second = shards
        .lines()
        .find(|shard| bench.git(&["cat-file", "-p", &format!("refs/discern/ledger:{shard}")]).contains(&bench.head()));
    play(&bench, &format!("put {} {NOTHING}", of_second.expect("it is there")));
    let _ = bench.discern(&["done"]).exits(5);
    let _ = bench.discern(&["recover", "--forget", "refs/discern/ledger"]).exits(0);
    let _ = bench.discern(&["verify", &first]).exits(0);
    let document = bench.discern(&["done", "--json"]).exits(0).json();
    assert_eq!(document["requirements"][0]["source"], "reused", "{document:#}");
    // A second time there is nothing to mend.
    let _ = bench.discern(&["recover", "--forget", "refs/discern/ledger"]).exits(2);
}

#[test_case("put $(shard receipt) NOTHING"; "missing")]
#[test_case("put $(shard receipt) $(echo garbage | blob)"; "garbage")]
#[test_case("put $(shard receipt) $(blob </dev/null)"; "empty")]
#[test_case("put $(shard receipt) $(blob </dev/null) /x"; "a folder")]
#[test_case("put $(shard receipt) $(head -c 3000000 /dev/zero | blob)"; "huge")]
#[test_case("put $(shard recent) NOTHING"; "the index is missing")]
#[test_case("put $(shard recent) $(printf 'a\\0b' | blob)"; "the index garbled")]
fn damaged_receipts_cost_a_run_and_prove_nothing(damage: &str) {
    let bench = proven(Refs::Files);
    play(&bench, &damage.replace("NOTHING", NOTHING));
    everybody_answers(&bench);
    bench.write("more", "");
    bench.save("second");
    let _ = bench.discern(&["done", "--rerun"]).exits(0);
    let _ = bench.discern(&["verify"]).exits(0);
    everybody_answers(&bench);
}

/// Ways to damage the file `$file`.
const FILE_DAMAGE: [&str; 7] = [
    ": > $file",
    "echo garbage > $file",
    "printf 'a\\0b\\n' > $file",
    "head -c 100 $file > ../half; cat ../half > $file",
    "head -c 3000000 /dev/zero > $file",
    "sed 's/\"version\":1/\"version\":9/' $file > ../newer; cat ../newer > $file",
    "rm -r $file; mkdir $file",
];

#[test]
fn a_damaged_journal_proves_nothing_and_stops_nobody() {
    for damage in FILE_DAMAGE {
        let bench = Bench::new();
        bench.gate();
        bench.job("t", "touch ../there; while test ! -e ../go; do sleep 0.05; done");
        bench.save("first");
        let other = bench.worktree("other");
        let run = bench.start(&["done"]);
        wait_for("the job", || bench.has("../there"));
        let handle = std::fs::read_dir(bench.path().join(".git/discern/run")).expect("runs").next();
        let handle = handle.expect("one").expect("readable").file_name().to_string_lossy().into_owned();
        play(&bench, &format!("file=.git/discern/run/{handle}/journal; {damage}"));
        // Its owner lives: nobody may think otherwise, whatever the journal says.
        let _ = other.discern(&["done"]).exits(3);
        everybody_answers(&other);
        no_fault(&other.discern(&["recover"]));
        assert!(bench.git(&["cat-file", "-p", &format!("refs/discern/attempt/{}", bench.head())]).contains("claimed"));
        bench.write("../go", "");
        no_fault(&other.discern(&["wait", &handle]));
        let _ = run.wait().exits(0);
        let _ = other.discern(&["verify"]).exits(0);
    }
}

#[test]
fn a_damaged_journal_of_a_killed_run_waits_for_the_lease() {
    let bench = Bench::new();
    bench.gate();
    bench.job("t", "touch ../there; while test ! -e ../go; do sleep 0.05; done");
    bench.save("first");
    let other = bench.worktree("other");
    let run = bench.start(&["done"]);
    wait_for("the job", || bench.has("../there"));
    play(&bench, "for file in .git/discern/run/*/journal; do rm $file; touch $file; done");
    run.signal(Signal::KILL);
    let _ = run.wait();
    // Nothing proves that it is gone.
    let _ = other.discern(&["done"]).exits(3);
    no_fault(&other.discern(&["status"]).exits(0));
}

#[test]
fn damaged_advisory_files_cost_nothing() {
    let files = [
        ".git/discern/seen/$commit.json",
        ".git/discern/seen/$commit.last",
        ".git/discern/cleaned",
        ".git/discern/git-version",
        ".git/discern/packs",
        ".git/discern.left",
    ];
    for file in files {
        let bench = proven(Refs::Files);
        for damage in FILE_DAMAGE {
            let script = format!("file={file}; if test -e $file; then {damage}; else mkdir $file; fi");
            play(&bench, &script);
            no_fault(&bench.discern(&["status"]));
            no_fault(&bench.discern(&["doctor"]));
            let again = bench.discern(&["done", "--rerun"]);
            assert_eq!(again.status, 0, "{script}\n{}", again.shown());
            let _ = bench.discern(&["verify"]).exits(0);
        }
    }
}

#[test]
fn an_old_record_put_back_by_a_mirror_push_is_named_and_forgotten() {
    let bench = proven(Refs::Files);
    let commit = bench.head();
    // A mirror that was made before a rerun, pushed back after it.
    let mirror = bench.at("../mirror.git");
    bench.git(&["clone", "-q", "--mirror", ".", "../mirror.git"]);
    let _ = bench.discern(&["done", "--rerun"]).exits(0);
    bench.git(&["checkout", "-q", "--detach"]);
    mirror.git(&["push", "-q", "--mirror", "origin"]);
    let refused = bench.discern(&["done", "--rerun", "--json"]).exits(5).json();
    let first = &refused["diagnostics"][0];
    assert_eq!(first["where"][0], format!("refs/discern/attempt/{commit}").as_str());
    assert!(first["message"].as_str().is_some_and(|message| message.contains("put it back")), "{first:#}");
    let _ = bench.discern(&["recover", "--forget", &commit]).exits(0);
    let _ = bench.discern(&["done", "--rerun"]).exits(0);
    let _ = bench.discern(&["verify"]).exits(0);
}

#[test]
fn a_finished_record_that_a_prune_took_is_written_back_by_whoever_comes_next() {
    // `git gc --prune=now` removes what had no name when it began to look, also if it got one since.
    let bench = proven(Refs::Files);
    play(&bench, "id=$(git rev-parse $ref); rm -f .git/objects/$(echo $id | cut -c 1-2)/$(echo $id | cut -c 3-)");
    let other = bench.worktree("other");
    other.save("another commit");
    let _ = other.discern(&["done"]).exits(0);
    assert_eq!(bench.git(&["fsck", "--strict", "--no-dangling", "--no-progress"]), "");
    bench.git(&["gc", "-q"]);
}
