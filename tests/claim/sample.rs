//! Records, receipts and Proofs for tests; everything is derived from small numbers.

use git_discern::claim::Record;
use git_discern::claim::lease::Fence;
use git_discern::claim::record::{Attempt, Bound, Executor, JournalRef, Outcome, Purpose, RetiringRun};
use git_discern::claim::transition::{self, History, Pen, Settlement};
use git_discern::evidence::{
    Place, Platform, Proof, ProofRequirement, Receipt, RequirementKind, SubjectParts, Verdict,
};
use git_discern::id::{
    AttemptId, CommitId, Digest, Nonce, ObjectId, OperationHandle, RecordId, Subject, Token, TreeId,
};
use git_discern::time::{Reading, Timestamp};
use uuid::Uuid;

/// The wall clock when a sample's monotonic clock shows 0.
pub(crate) const EPOCH_MS: i64 = 1_796_000_000_000;

/// The boot that samples run on.
pub(crate) const BOOT: &str = "0123456789abcdef0123456789abcdef";

fn object(number: u8) -> ObjectId {
    ObjectId::from_bytes(&[number; 20]).expect("20 bytes are an object id")
}

pub(crate) fn commit() -> CommitId {
    CommitId(object(0xc0))
}

pub(crate) fn record_id(number: u16) -> RecordId {
    let bytes = number.to_be_bytes().repeat(10);
    RecordId(ObjectId::from_bytes(&bytes).expect("20 bytes are an object id"))
}

/// Both clocks, `monotonic_ms` after the sample machine's boot.
pub(crate) fn at(monotonic_ms: u64) -> Reading {
    Reading { wall: Timestamp::from_millis(EPOCH_MS + monotonic_ms as i64), monotonic_ms }
}

pub(crate) fn pen(nonce: u128, monotonic_ms: u64) -> Pen {
    Pen { now: at(monotonic_ms), nonce: Nonce(Uuid::from_u128(nonce)), writer: None }
}

pub(crate) fn fence(run: u8) -> Fence {
    Fence {
        candidate: commit(),
        attempt: AttemptId(Uuid::from_u128(0xa000 + u128::from(run))),
        token: Token(Uuid::from_u128(0xf000 + u128::from(run))),
    }
}

pub(crate) fn attempt(run: u8) -> Attempt {
    let journal = JournalRef {
        handle: OperationHandle::from_random(u64::from(run)),
        inode: 100 + u64::from(run),
        token: Token(Uuid::from_u128(0xe000 + u128::from(run))),
    };
    Attempt {
        id: fence(run).attempt,
        generation: 0,
        purpose: Purpose::Done,
        rerun_of: None,
        commit: commit(),
        tree: Some(TreeId(object(0x7e))),
        executor: Executor {
            machine: "fedcba9876543210fedcba9876543210".to_owned(),
            boot: BOOT.to_owned(),
            pid: 4711,
            worktree: "topic".to_owned(),
            branch: Some("refs/heads/topic".to_owned()),
            started_at: at(0).wall,
            journal: Some(journal),
        },
    }
}

fn subject(number: u8) -> Subject {
    Subject(Digest([number; 32]))
}

/// The plan: two jobs.
pub(crate) fn plan() -> Vec<Bound> {
    [("build", 1), ("test", 2)]
        .map(|(name, number)| Bound {
            kind: RequirementKind::Job,
            name: name.parse().expect("a name"),
            subject: subject(number),
        })
        .to_vec()
}

/// A passing receipt for a planned requirement.
pub(crate) fn receipt(run: u8, bound: &Bound) -> Receipt {
    Receipt {
        kind: bound.kind,
        name: bound.name.clone(),
        subject: bound.subject,
        parts: SubjectParts {
            scheme: 1,
            command: "cargo test".to_owned(),
            definition: Digest([9; 32]),
            tree: TreeId(object(0x7e)),
            inputs: Vec::new(),
            inputs_digest: None,
            on_disk: None,
            per: None,
            from: None,
            needs: Vec::new(),
            environment_mode: git_discern::config::Environment::Inherit,
            environment: Vec::new(),
            salt: String::new(),
            toolchain: Vec::new(),
            platform: platform(),
        },
        verdict: Verdict::Passed,
        reading: None,
        failure: None,
        tries: 1,
        flaky: false,
        exit_code: Some(0),
        signal: None,
        duration_ms: 1500,
        place: Place::InPlace,
        attempt: fence(run).attempt,
        commit: commit(),
        finished_at: at(2000).wall,
        log: None,
        artifacts: Vec::new(),
        reason: None,
    }
}

fn platform() -> Platform {
    Platform { os: "linux".to_owned(), arch: "x86_64".to_owned() }
}

/// The Proof of everything that `bound` names.
pub(crate) fn proof(run: u8, bound: &[Bound]) -> Proof {
    let requirement = |bound: &Bound| ProofRequirement {
        kind: bound.kind,
        name: bound.name.clone(),
        subject: bound.subject,
        attempt: fence(run).attempt,
        obtained_on: commit(),
        obtained_at: at(2000).wall,
        duration_ms: 1500,
        reused: false,
        flaky: false,
        reading: None,
        limit: None,
        distance: None,
        trunk_limit: None,
    };
    Proof {
        commit: commit(),
        tree: TreeId(object(0x7e)),
        configuration: Digest([3; 32]),
        requirements: bound.iter().map(requirement).collect(),
        trunk: None,
        departures: Vec::new(),
        loosened: Vec::new(),
        attempt: fence(run).attempt,
        started_at: at(0).wall,
        finished_at: at(3000).wall,
        tool_version: "0.1.0".to_owned(),
        git_version: "2.47.3".to_owned(),
        platform: platform(),
    }
}

pub(crate) fn passed(run: u8, bound: &[Bound]) -> Settlement {
    Settlement {
        outcome: Outcome::Passed,
        reason: None,
        exit_status: 0,
        failed: Vec::new(),
        proof: Some(proof(run, bound)),
    }
}

pub(crate) fn failed() -> Settlement {
    Settlement { outcome: Outcome::Failed, reason: None, exit_status: 1, failed: Vec::new(), proof: None }
}

/// A run that retires others.
pub(crate) fn retiring() -> RetiringRun {
    RetiringRun {
        command: "done".to_owned(),
        attempt: Some(fence(9).attempt),
        operation: Some(OperationHandle::from_random(9)),
        worktree: "other".to_owned(),
        branch: Some("refs/heads/other".to_owned()),
    }
}

/// The first attempt, reserved at 0.
pub(crate) fn planning(run: u8) -> Record {
    transition::reserve(None, History::default(), attempt(run), fence(run).token, pen(1, 0))
        .expect("reserves over none")
}

/// The first attempt, bound at 100 ms.
pub(crate) fn claimed(run: u8) -> Record {
    transition::bind(&planning(run), &fence(run), plan(), pen(2, 100)).expect("binds once")
}
