//! Bytes outlive code: golden files of both versions, and a refusal for what can't be read (C27).
//!
//! `fixtures/records/v2-*.json` are what this version writes, byte for byte; the others are only read. With
//! `UPDATE_GOLDEN=1` in the environment the `v2` files are written anew.

use std::path::PathBuf;

use git_discern::claim::record::{EndedBy, Outcome, OwnReason, Purpose, State, StateKind};
use git_discern::claim::transition::{self, History, Settlement};
use git_discern::claim::{NotARecord, Record};
use git_discern::id::{CommitId, ObjectId};

use super::sample::{at, attempt, claimed, commit, failed, fence, passed, pen, plan, planning, receipt, retiring};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/records").join(name)
}

fn read(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[expect(clippy::disallowed_methods, reason = "a person asks for new golden files through the environment")]
fn golden(name: &str, record: &Record) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(fixture(name), record.encode()).expect("the fixture can be written");
    }
    let stored = read(name);
    assert_eq!(String::from_utf8_lossy(&stored), String::from_utf8_lossy(&record.encode()), "{name}");
    assert_eq!(Record::decode(&stored, &commit()).as_ref(), Ok(record), "{name}");
}

#[test]
fn version_2_is_written_as_ever() {
    let receipts: Vec<_> = plan().iter().map(|bound| receipt(1, bound)).collect();
    let published = transition::publish(&claimed(1), &fence(1), receipts, pen(3, 200)).expect("publishes");
    let renewed = transition::renew(&published, &fence(1), pen(4, 20_000)).expect("renews");
    let proven =
        transition::settle(&renewed, &fence(1), Vec::new(), passed(1, &plan()), pen(5, 30_000)).expect("settles");
    let red = transition::settle(&claimed(1), &fence(1), Vec::new(), failed(), pen(3, 200)).expect("settles");
    let stopped = Settlement {
        outcome: Outcome::Cancelled,
        reason: Some(OwnReason::Signal),
        exit_status: 130,
        failed: Vec::new(),
        proof: None,
    };
    let interrupted = transition::settle(&planning(1), &fence(1), Vec::new(), stopped, pen(3, 200)).expect("settles");
    let history = History { absorbed: true, ..History::default() };
    let second = transition::reserve(Some(&red), history, attempt(2), fence(2).token, pen(9, 300)).expect("reserves");

    golden("v2-planning.json", &planning(1));
    golden("v2-planning-second.json", &second);
    golden("v2-claimed.json", &claimed(1));
    golden("v2-claimed-published-renewed.json", &renewed);
    golden("v2-finished-passed.json", &proven);
    golden("v2-finished-failed.json", &red);
    golden("v2-finished-interrupted.json", &interrupted);
    golden("v2-finished-retired.json", &retired());
}

fn retired() -> Record {
    use git_discern::claim::lease::{self, ExecutorState, Observer, Takeover};
    let observer = Observer { boot: super::sample::BOOT.to_owned(), now: at(60_100) };
    let record = claimed(1);
    match lease::takeover(&record, super::sample::record_id(1), &observer, None, ExecutorState::Unknown) {
        Takeover::Permitted(permit) => {
            transition::retire(&record, permit, retiring(), pen(4, 60_100)).expect("retires")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn version_1_stays_readable() {
    for (name, kind) in [
        ("v1-claimed.json", StateKind::Claimed),
        ("v1-claimed-renewed.json", StateKind::Claimed),
        ("v1-planning.json", StateKind::Planning),
        ("v1-finished.json", StateKind::Finished),
    ] {
        let record = Record::decode(&read(name), &commit()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(record.state.kind(), kind, "{name}");
        assert_eq!((record.attempt.generation, record.sequence), (0, 0), "{name}");
        assert_eq!(record.attempt.purpose, Purpose::Done, "{name}");
    }
}

#[test]
fn retiring_a_record_of_version_1_writes_version_2() {
    use git_discern::claim::lease::{self, ExecutorState, Observer, Takeover};
    let old = Record::decode(&read("v1-claimed.json"), &commit()).expect("version 1 stays readable");
    let observer = Observer { boot: "any".to_owned(), now: at(60_000) };
    let takeover = lease::takeover(&old, super::sample::record_id(1), &observer, None, ExecutorState::Unknown);
    let Takeover::Permitted(permit) = takeover else { panic!("{takeover:?}") };
    let retired = transition::retire(&old, permit, retiring(), pen(1, 60_000)).expect("retires");
    assert_eq!(retired.sequence, 1);
    let document: serde_json::Value = serde_json::from_slice(&retired.encode()).expect("JSON");
    assert_eq!(document["version"], 2);
    assert!(matches!(&retired.state, State::Finished(finish) if matches!(finish.by, EndedBy::Run { .. })));
}

#[test]
fn an_unfinished_claim_of_version_1_is_told_apart_after_it_was_rewritten() {
    // Its owner, an older program, would write version 1 again; what we write of its lease stays on the wall clock.
    let old = Record::decode(&read("v1-claimed-renewed.json"), &commit()).expect("version 1 stays readable");
    assert_eq!(Record::decode(&old.encode(), &commit()), Ok(old));
}

#[test]
fn a_newer_version_is_newer_and_not_corrupt() {
    let refused = Record::decode(&read("newer.json"), &commit());
    assert_eq!(refused, Err(NotARecord::Newer { version: 3 }));
}

#[test]
fn damage_is_told_with_its_place() {
    for name in ["corrupt-truncated.json", "corrupt-state.json", "corrupt-no-token.json", "corrupt-other-format.json"] {
        let refused = Record::decode(&read(name), &commit());
        assert!(matches!(refused, Err(NotARecord::Corrupt(_))), "{name}: {refused:?}");
    }
    assert!(matches!(Record::decode(b"", &commit()), Err(NotARecord::Corrupt(_))));
}

#[test]
fn a_record_of_another_candidate_is_refused() {
    let other = CommitId(ObjectId::from_bytes(&[7; 20]).expect("20 bytes"));
    assert_eq!(Record::decode(&planning(1).encode(), &other), Err(NotARecord::OfAnother(commit())));
}

#[test]
fn any_damage_to_a_record_is_refused_or_read_as_what_it_says() {
    let bytes = read("v2-finished-passed.json");
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] = b'#';
        // Only text may change meaning unnoticed; what is read back must be what is written again.
        if let Ok(record) = Record::decode(&damaged, &commit()) {
            assert_eq!(Record::decode(&record.encode(), &commit()), Ok(record));
        }
        let only_the_line_feed_is_missing = at + 1 == bytes.len();
        let refused = Record::decode(&bytes[..at], &commit()).is_err();
        assert_eq!(refused, !only_the_line_feed_is_missing, "cut after {at} bytes");
    }
}
