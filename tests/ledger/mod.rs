//! The ledger in a real repository: what is added is found, whoever else writes, and at a cost that does not grow.

#![expect(clippy::unwrap_used, reason = "tests")]

use git_discern::claim::record::{EndedBy, Outcome, Purpose};
use git_discern::evidence::{Receipt, RequirementKind};
use git_discern::id::{AttemptId, CommitId, Digest, Subject};
use git_discern::ledger::{Additions, Ledger, OutcomeEntry, Removals};
use git_discern::time::Timestamp;
use sha2::Digest as _;
use test_case::test_case;

use crate::store::open;
use crate::support::{Bench, Hash, Refs};

fn digest(number: u32) -> [u8; 32] {
    sha2::Sha256::digest(number.to_be_bytes()).into()
}

fn commit(number: u32) -> CommitId {
    git_discern::id::hex(&digest(number)[..20]).parse().unwrap()
}

fn subject(number: u32) -> Subject {
    Subject(Digest(digest(number)))
}

fn attempt(number: u32) -> AttemptId {
    format!("01989000-0000-7000-8000-{number:012x}").parse().unwrap()
}

fn outcome(number: u32, generation: u32, outcome: Outcome) -> OutcomeEntry {
    OutcomeEntry {
        bound: Vec::new(),
        measured: Vec::new(),
        commit: commit(number),
        generation,
        attempt: attempt(number.wrapping_mul(1000).wrapping_add(generation)),
        purpose: Purpose::Done,
        outcome,
        by: EndedBy::Owner { reason: None },
        exit_status: 0,
        started_at: Timestamp::from_millis(0),
        finished_at: Timestamp::from_millis(i64::from(generation)),
        worktree: String::new(),
        branch: None,
        failed: Vec::new(),
        proof: None,
    }
}

fn receipt(number: u32, minute: u32) -> Receipt {
    let text = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/receipts/v1-job.json")).unwrap();
    let mut receipt = Receipt::from_line(text.trim_ascii()).unwrap();
    (receipt.subject, receipt.attempt) = (subject(number), attempt(minute));
    receipt.finished_at = Timestamp::from_millis(i64::from(minute) * 60_000);
    receipt
}

fn additions(number: u32) -> Additions {
    Additions {
        outcomes: vec![outcome(number, 1, Outcome::Passed)],
        receipts: vec![receipt(number, 1), receipt(number, 2)],
    }
}

#[test_case(Refs::Files, Hash::Sha1)]
#[test_case(Refs::Files, Hash::Sha256)]
#[test_case(Refs::Reftable, Hash::Sha1)]
fn what_is_added_is_found_once_and_is_gone_when_removed(refs: Refs, hash: Hash) {
    let bench = Bench::with(refs, hash);
    let repository = open(&bench);
    let mut ledger = Ledger::new(&repository);
    assert_eq!(ledger.outcomes(commit(1)), Ok(vec![]));
    assert_eq!(ledger.absorb(&additions(1)), Ok(true));
    let root = bench.git(&["rev-parse", "refs/discern/ledger"]);
    assert_eq!(ledger.absorb(&additions(1)), Ok(false));
    assert_eq!(bench.git(&["rev-parse", "refs/discern/ledger"]), root, "adding it again writes nothing");
    for number in 2..40 {
        assert_eq!(ledger.absorb(&additions(number)), Ok(true));
    }
    let repository = open(&bench);
    let mut ledger = Ledger::new(&repository);
    for number in 1..40 {
        assert_eq!(ledger.outcomes(commit(number)), Ok(additions(number).outcomes));
        let found = ledger.receipts(subject(number)).unwrap();
        assert_eq!(found.receipts, [receipt(number, 2), receipt(number, 1)], "newest first");
        assert_eq!(found.warnings, Vec::<String>::new());
    }
    assert_eq!(ledger.all_outcomes().unwrap().len(), 39);
    assert_eq!(ledger.all_receipts().unwrap().receipts.len(), 78);
    let name = receipt(1, 1).name;
    assert_eq!(ledger.nearest(RequirementKind::Job, &name).unwrap().receipts.len(), 8);
    let removals = Removals { outcomes: vec![(commit(7), 1)], receipts: vec![(subject(7), attempt(1))] };
    ledger.remove(&removals).unwrap();
    assert_eq!(ledger.outcomes(commit(7)), Ok(vec![]));
    assert_eq!(ledger.receipts(subject(7)).unwrap().receipts, [receipt(7, 2)]);
    assert_eq!(ledger.all_outcomes().unwrap().len(), 38);
    let _ = bench
        .sh("test $(ls .git/objects/pack/*.pack | wc -l) -le 9 && git verify-pack .git/objects/pack/*.idx")
        .exits(0);
    bench.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(bench.git(&["fsck", "--strict", "--no-dangling"]), "");
    assert_eq!(open_and_count(&bench), 38);
}

#[test_case(Hash::Sha1)]
#[test_case(Hash::Sha256)]
fn an_absorption_is_one_pack_whose_index_is_the_one_that_git_would_make(hash: Hash) {
    let bench = Bench::with(Refs::Files, hash);
    let loose = || bench.git(&["count-objects"]);
    let before = loose();
    let repository = open(&bench);
    let receipts = (0..300).map(|number| receipt(number, 1)).collect();
    let all = Additions { outcomes: vec![outcome(1, 1, Outcome::Passed)], receipts };
    assert_eq!(Ledger::new(&repository).absorb(&all), Ok(true));
    assert_eq!(loose(), before, "nothing lies loose");
    let same = "set -e; pack=$(echo .git/objects/pack/pack-*.pack); test -f $pack; \
                git verify-pack $pack; cp $pack copy.pack; git index-pack copy.pack > name; \
                cmp copy.idx ${pack%.pack}.idx; echo $pack | grep -q $(cat name)";
    let _ = bench.sh(same).exits(0);
    assert_eq!(bench.git(&["fsck", "--strict", "--no-dangling"]), "");
}

#[test]
fn what_a_prune_takes_of_a_pack_is_written_again() {
    let bench = Bench::new();
    let repository = open(&bench);
    let objects = repository.objects().unwrap();
    let new: Vec<_> = (0..20).map(|number| objects.new_blob(vec![number; 99]).unwrap()).collect();
    let pack = objects.write_together(&new).unwrap();
    assert!(new.iter().all(|object| objects.contains(object.id)));
    std::fs::remove_file(pack.with_extension("idx")).unwrap();
    std::fs::remove_file(pack).unwrap();
    objects.restore(&new).unwrap();
    let fresh = open(&bench);
    assert!(new.iter().all(|object| fresh.objects().unwrap().is_loose(object.id)));
}

fn open_and_count(bench: &Bench) -> usize {
    Ledger::new(&open(bench)).all_outcomes().unwrap().len()
}

#[test]
fn the_newest_done_that_passed_or_failed_decides() {
    let bench = Bench::new();
    let repository = open(&bench);
    let mut ledger = Ledger::new(&repository);
    let mut standards = outcome(1, 4, Outcome::Failed);
    standards.purpose = Purpose::Standards;
    let outcomes = vec![
        standards,
        outcome(1, 2, Outcome::Failed),
        outcome(1, 1, Outcome::Passed),
        outcome(1, 3, Outcome::Cancelled),
    ];
    ledger.absorb(&Additions { outcomes, receipts: vec![] }).unwrap();
    assert_eq!(ledger.newest_done_outcome(commit(1)).unwrap().unwrap().generation, 2);
}

#[test_case(Refs::Files)]
#[test_case(Refs::Reftable)]
fn writers_at_once_lose_nothing(refs: Refs) {
    let bench = Bench::with(refs, Hash::Sha1);
    let place = bench.path();
    std::thread::scope(|scope| {
        for writer in 0..4_u32 {
            scope.spawn(move || {
                let repository = git_discern::git::Repository::discover(place, &Default::default()).unwrap();
                let mut ledger = Ledger::new(&repository);
                for number in 0..10 {
                    ledger.absorb(&additions(writer * 100 + number)).unwrap();
                }
            });
        }
    });
    assert_eq!(open_and_count(&bench), 40);
    assert_eq!(bench.git(&["fsck", "--strict", "--no-dangling"]), "");
}

/// Makes the object of one of the ledger's shards unreadable.
fn damage(bench: &Bench, folder: &str) {
    let unpacked = bench.sh(
        "for pack in .git/objects/pack/*.pack; do [ -f $pack ] || continue; mv $pack taken; rm -f ${pack%.pack}.idx; \
         git unpack-objects -q < taken || exit 1; rm -f taken; done",
    );
    let _ = unpacked.exits(0);
    let listed = bench.git(&["ls-tree", "-r", "refs/discern/ledger", folder]);
    let id = listed.split_whitespace().nth(2).unwrap().to_owned();
    std::fs::remove_file(bench.path().join(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
}

#[test]
fn a_lost_shard_of_receipts_is_a_miss_with_a_warning_and_one_of_outcomes_an_error() {
    let bench = Bench::new();
    {
        let repository = open(&bench);
        Ledger::new(&repository).absorb(&additions(1)).unwrap();
    }
    damage(&bench, "receipt/");
    let repository = open(&bench);
    let mut ledger = Ledger::new(&repository);
    let found = ledger.receipts(subject(1)).unwrap();
    assert_eq!((found.receipts.len(), found.warnings.len()), (0, 1));
    // It holds nobody up, and is whole again with the next receipt for it.
    let more = Additions { outcomes: vec![], receipts: vec![receipt(1, 3)] };
    assert_eq!(ledger.absorb(&more), Ok(true));
    assert_eq!(ledger.receipts(subject(1)).unwrap().receipts, [receipt(1, 3)]);
    assert_eq!(bench.git(&["fsck", "--strict", "--no-dangling"]), "");
    damage(&bench, "outcome/");
    let repository = open(&bench);
    assert!(Ledger::new(&repository).outcomes(commit(1)).is_err());
    assert!(Ledger::new(&repository).absorb(&additions(1)).is_err());
}

#[test]
fn a_lock_that_a_dead_writer_left_on_the_ledger_is_removed_and_a_live_ones_is_not() {
    let bench = Bench::new();
    let lock = ".git/refs/discern/ledger.lock";
    let repository = open(&bench);
    let mut ledger = Ledger::new(&repository);
    ledger.absorb(&additions(1)).unwrap();
    // A live writer's: this one's own token is in the root, and its file is held.
    let root = bench.git(&["rev-parse", "refs/discern/ledger"]);
    bench.write(lock, format!("{root}\n"));
    let other = open(&bench);
    assert!(Ledger::new(&other).absorb(&additions(2)).is_err());
    assert!(bench.has(lock));
    // The same lock once every process that held that file is gone, on this boot.
    let token = bench.git(&["ls-tree", "--name-only", "refs/discern/ledger"]);
    let token = token.lines().find_map(|name| name.strip_prefix("writer-")).unwrap().to_owned();
    let held = bench.read(&format!(".git/discern/git/{token}"));
    let _ = ledger;
    drop(repository);
    bench.write(&format!(".git/discern/git/{token}"), held);
    assert_eq!(Ledger::new(&other).absorb(&additions(2)), Ok(true));
    assert!(!bench.has(lock));
}
