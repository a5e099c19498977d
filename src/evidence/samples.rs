//! Small values of every kind, for the tests of this layer.

use std::collections::BTreeMap;

use super::receipt::{Failure, Place, Reading, Receipt, RequirementKind, Verdict};
use super::subject::{Definition, Inputs, Platform, Salt, Source, SubjectInput};
use crate::config::{Command, Environment};
use crate::id::{AttemptId, CommitId, Digest, Name, ObjectId, Subject, TreeId};
use crate::time::Timestamp;

pub(crate) fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

pub(crate) fn object(byte: u8) -> ObjectId {
    ObjectId::from_bytes(&[byte; 20]).expect("twenty bytes")
}

pub(crate) fn subject(byte: u8) -> Subject {
    Subject(Digest([byte; 32]))
}

pub(crate) fn attempt(number: u8) -> AttemptId {
    AttemptId(uuid::Uuid::from_bytes([number; 16]))
}

/// The job `run` over the tree of sevens, on a platform that no test runs on.
pub(crate) fn input(run: &str) -> SubjectInput {
    SubjectInput {
        definition: Definition { source: Source::Run(Command::Shell(run.to_owned())), measure: None },
        tree: TreeId(object(7)),
        inputs: Inputs::WholeTree,
        on_disk: Vec::new(),
        needs: BTreeMap::new(),
        environment_mode: Environment::Inherit,
        environment: BTreeMap::new(),
        toolchain: Vec::new(),
        platform: Platform { os: "minix".to_owned(), arch: "vax".to_owned() },
    }
}

/// A passed job's receipt for `subject`, ended `minute` minutes after the first instant of all tests.
pub(crate) fn receipt(subject: Subject, minute: u8) -> Receipt {
    Receipt {
        kind: RequirementKind::Job,
        name: name("test"),
        subject,
        parts: input("make test").parts(Salt([1; 16])),
        verdict: Verdict::Passed,
        reading: None,
        failure: None,
        tries: 1,
        flaky: false,
        exit_code: Some(0),
        signal: None,
        duration_ms: 1200,
        place: Place::InPlace,
        attempt: attempt(minute),
        commit: CommitId(object(9)),
        finished_at: Timestamp::from_millis(1_764_496_500_120 + 60_000 * i64::from(minute)),
        log: None,
        artifacts: Vec::new(),
        reason: None,
    }
}

/// The same, failed.
pub(crate) fn failed(subject: Subject, minute: u8, failure: Failure) -> Receipt {
    let exit_code = (failure == Failure::Exit).then_some(1);
    Receipt { verdict: Verdict::Failed, failure: Some(failure), exit_code, ..receipt(subject, minute) }
}

/// A standard's receipt that reads `value`.
pub(crate) fn reading(subject: Subject, minute: u8, value: &str) -> Receipt {
    let reading = Reading { value: value.to_owned(), metric: value.to_owned(), per: None };
    let (kind, reading) = (RequirementKind::Standard, Some(reading));
    Receipt { kind, name: name("size"), reading, ..receipt(subject, minute) }
}
