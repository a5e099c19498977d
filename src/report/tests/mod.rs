//! What people and programs see, kept as snapshots, and the terminal's behaviour.

mod answers;
mod events;
mod reporter;

use crate::document::{Candidate, Pending, RequirementReport, Source, Standing};
use crate::event::{Decision, Event, PlannedRequirement, What};
use crate::evidence::RequirementKind;
use crate::id::{AttemptId, CommitId, Name, ObjectId, OperationHandle, TreeId};
use crate::time::Timestamp;

/// 2025-11-30T10:00:00Z.
const START: i64 = 1_764_496_800_000;

fn at(millis: i64, what: What) -> Event {
    Event { at: instant(millis), what }
}

fn instant(millis: i64) -> Timestamp {
    Timestamp::from_millis(START + millis)
}

fn object(byte: u8) -> ObjectId {
    ObjectId::from_bytes(&[byte; 20]).expect("20 bytes")
}

fn commit(byte: u8) -> CommitId {
    CommitId(object(byte))
}

fn attempt(number: u128) -> AttemptId {
    AttemptId(uuid::Uuid::from_u128(number))
}

fn handle(number: u64) -> OperationHandle {
    OperationHandle::from_random(number)
}

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn candidate() -> Candidate {
    let branch = Some("refs/heads/topic".to_owned());
    Candidate { commit: commit(0x9f), tree: TreeId(object(0x33)), branch, worktree: "topic".to_owned() }
}

fn pending() -> Pending {
    Pending {
        attempt: Some(attempt(7)),
        operation: Some(handle(7)),
        worktree: "other".to_owned(),
        branch: Some("refs/heads/other".to_owned()),
        since: Some(instant(-125_000)),
        lease_expires_at: Some(instant(42_000)),
        checkouts: None,
        reconnect: format!("git discern wait {}", handle(7)),
    }
}

fn planned(text: &str, expected_ms: Option<u64>, decision: Decision) -> PlannedRequirement {
    let command = format!("make {text}");
    PlannedRequirement { kind: RequirementKind::Job, name: name(text), command, decision, expected_ms }
}

fn to_run(why: &str) -> Decision {
    Decision::Run { why: why.to_owned(), despite: why != "first time" }
}

fn requirement(text: &str, verdict: Standing) -> RequirementReport {
    RequirementReport {
        kind: RequirementKind::Job,
        name: name(text),
        verdict,
        source: (verdict != Standing::Unrun).then_some(Source::Ran),
        duration_ms: (verdict != Standing::Unrun).then_some(12_400),
        reason: None,
        command: format!("make {text}"),
        log: None,
        flaky: false,
        subject: None,
        reused_from: None,
        exit_code: None,
        signal: None,
        tries: 1,
        value: None,
        limit: None,
        trunk_limit: None,
        distance: None,
        reading: None,
    }
}

/// Escape codes made visible.
fn visible(text: &str) -> String {
    text.replace('\x1b', "␛")
}
