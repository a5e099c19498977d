//! What every store promises, on every store: refs in files and in reftable, loose and packed, with SHA-1 and SHA-256, and
//! memory.

use git_discern::id::{CommitId, RecordId};
use git_discern::store::{Found, MemoryStore, RecordStore, RefStore, Swap};
use test_case::test_matrix;

use super::{candidate, open};
use crate::support::{Bench, Hash, Refs};

/// Which store a case runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Files(Hash),
    Packed(Hash),
    Reftable(Hash),
    Memory,
}
use Hash::{Sha1, Sha256};
use Kind::{Files, Memory, Packed, Reftable};

/// Runs `case` on a fresh store of that kind, with two candidates, and a function that packs refs where there are any.
fn on(kind: Kind, case: impl FnOnce(&mut dyn RecordStore, [CommitId; 2], &dyn Fn())) {
    let (refs, hash) = match kind {
        Files(hash) | Packed(hash) => (Refs::Files, hash),
        Reftable(hash) => (Refs::Reftable, hash),
        Memory => {
            let ids = ["1", "2"].map(|digit| digit.repeat(40).parse().expect("an id"));
            return case(&mut MemoryStore::new(), ids, &|| {});
        }
    };
    let bench = Bench::with(refs, hash);
    let candidates = [candidate(&bench), candidate(&bench)];
    let repository = open(&bench);
    let pack = || {
        if matches!(kind, Packed(_)) {
            bench.git(&["pack-refs", "--all", "--prune"]);
        }
    };
    case(&mut RefStore::new(&repository), candidates, &pack);
    assert_eq!(bench.git(&["fsck", "--strict", "--no-dangling"]), "");
}

fn applied(swap: Swap) -> RecordId {
    match swap {
        Swap::Applied(id) => id,
        other => panic!("not applied: {other:?}"),
    }
}

fn bytes(found: Found) -> Vec<u8> {
    match found {
        Found::Record { bytes, .. } => bytes,
        other => panic!("no record: {other:?}"),
    }
}

#[test_matrix([Files(Sha1), Files(Sha256), Packed(Sha1), Packed(Sha256), Reftable(Sha1), Reftable(Sha256), Memory])]
fn a_record_is_created_replaced_and_removed_by_its_old_value(kind: Kind) {
    on(kind, |store, [one, other], pack| {
        assert_eq!(store.read(&one), Ok(Found::Absent));
        assert_eq!(store.list(), Ok(vec![]));
        let first = applied(store.swap(&one, None, b"first"));
        pack();
        assert_eq!(store.read(&one), Ok(Found::Record { id: first, bytes: b"first".to_vec() }));
        let second = applied(store.swap(&one, Some(first), b"second"));
        assert_ne!(first, second);
        assert_eq!(bytes(store.read(&one).unwrap()), b"second");
        assert_eq!(store.read(&other), Ok(Found::Absent));
        assert_eq!(store.list(), Ok(vec![(one, second)]));
        pack();
        assert_eq!(store.list(), Ok(vec![(one, second)]));
        assert_eq!(store.remove(&one, first), Ok(false));
        assert_eq!(store.remove(&one, second), Ok(true));
        assert_eq!(store.remove(&one, second), Ok(false));
        assert_eq!(store.read(&one), Ok(Found::Absent));
        assert_eq!(store.list(), Ok(vec![]));
    });
}

#[test_matrix([Files(Sha1), Files(Sha256), Packed(Sha1), Reftable(Sha1), Reftable(Sha256), Memory])]
fn a_lost_comparison_writes_nothing_and_returns_what_is_there(kind: Kind) {
    on(kind, |store, [one, _], pack| {
        let first = applied(store.swap(&one, None, b"first"));
        pack();
        let there = Found::Record { id: first, bytes: b"first".to_vec() };
        assert_eq!(store.swap(&one, None, b"create over it"), Swap::Stale(there.clone()));
        // Also the very bytes that are there: "must not exist" is not "is already so" (hazard 10).
        assert_eq!(store.swap(&one, None, b"first"), Swap::Stale(there.clone()));
        let second = applied(store.swap(&one, Some(first), b"second"));
        assert_eq!(
            store.swap(&one, Some(first), b"third"),
            Swap::Stale(Found::Record { id: second, bytes: b"second".to_vec() })
        );
        assert_eq!(store.remove(&one, second), Ok(true));
        assert_eq!(store.swap(&one, Some(second), b"fourth"), Swap::Stale(Found::Absent));
        assert_eq!(store.read(&one), Ok(Found::Absent));
    });
}

#[test_matrix([Files(Sha1), Packed(Sha256), Reftable(Sha1), Memory])]
fn records_of_many_candidates_do_not_meet(kind: Kind) {
    on(kind, |store, [one, other], pack| {
        let first = applied(store.swap(&one, None, b"one"));
        let second = applied(store.swap(&other, None, b"other"));
        pack();
        let mut both = vec![(one, first), (other, second)];
        both.sort();
        assert_eq!(store.list(), Ok(both));
        assert_eq!(store.remove(&one, first), Ok(true));
        assert_eq!(bytes(store.read(&other).unwrap()), b"other");
    });
}

#[test_matrix([Files(Sha1), Reftable(Sha256), Memory])]
fn any_bytes_are_kept_as_they_are(kind: Kind) {
    on(kind, |store, [one, _], _| {
        let largest: Vec<u8> = (0..256 * 1024).map(|at| (at * 7 % 251) as u8).collect();
        let id = applied(store.swap(&one, None, &largest));
        assert_eq!(bytes(store.read(&one).unwrap()), largest);
        applied(store.swap(&one, Some(id), b"\0\xff\n"));
        assert_eq!(bytes(store.read(&one).unwrap()), b"\0\xff\n");
    });
}
