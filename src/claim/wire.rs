//! How a record is spelled in JSON, versions 1 and 2. Private to `claim/` (C11).
//!
//! `version` is looked at before anything else: a newer record is *newer*, not *corrupt*, and is left alone. What is stored
//! is written with its keys in a fixed order, one to a line, so that it diffs well and `git cat-file -p` reads well.

use serde::{Deserialize, Serialize};

use super::lease::Lease;
use super::record::{
    Attempt, Bound, Claim, EndedBy, Executor, Finish, JournalRef, Outcome, Previous, Purpose, Record, State, Transition,
};
use crate::evidence::{Proof, Receipt};
use crate::exit::Exit;
use crate::id::{AttemptId, CommitId, Nonce, OperationHandle, Token, TreeId};
use crate::time::Timestamp;

/// What a record says it is.
const FORMAT: &str = "discern/attempt";

/// The version that is written.
const VERSION: u32 = 2;

/// The room that bind keeps for one requirement: its receipt without a reason, and its line in the Proof.
pub(super) const REQUIREMENT_BYTES_MAX: usize = 1536;

/// Why bytes are no record that can be worked with (C27).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotARecord {
    /// Written by a later version of this tool.
    #[error("it has format version {version}; this git-discern reads up to {newest}", newest = VERSION)]
    Newer {
        /// Its version.
        version: u32,
    },
    /// Not a record at all, or damaged.
    #[error("it is damaged: {0}")]
    Corrupt(String),
    /// A record of another candidate.
    #[error("it is a record of commit `{0}`")]
    OfAnother(CommitId),
}

#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct RecordV2 {
    format: String,
    version: u32,
    nonce: Nonce,
    sequence: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    writer: Option<Token>,
    attempt: AttemptV2,
    state: StateWire<FinishV2>,
    requirements: Vec<Bound>,
    receipts: Vec<Receipt>,
    transitions: Vec<Transition>,
    previous: Vec<Previous>,
}

#[derive(Serialize, Deserialize)]
struct AttemptV2 {
    id: AttemptId,
    generation: u32,
    purpose: Purpose,
    rerun_of: Option<AttemptId>,
    candidate: CandidateV2,
    executor: ExecutorV2,
}

#[derive(Serialize, Deserialize)]
struct CandidateV2 {
    commit: CommitId,
    #[serde(default)]
    tree: Option<TreeId>,
}

#[derive(Serialize, Deserialize)]
struct ExecutorV2 {
    machine: String,
    boot: String,
    pid: u32,
    worktree: String,
    branch: Option<String>,
    started_at: Timestamp,
    journal: Option<JournalV2>,
}

#[derive(Serialize, Deserialize)]
struct JournalV2 {
    handle: OperationHandle,
    inode: u64,
    token: Token,
}

/// The state; what is said of an end differs from version to version.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum StateWire<F> {
    Planning { claim: ClaimV2 },
    Claimed { claim: ClaimV2 },
    Finished(F),
}

#[derive(Serialize, Deserialize)]
struct FinishV2 {
    outcome: Outcome,
    finished_at: Timestamp,
    by: EndedBy,
    exit_status: u8,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failed: Vec<Bound>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proof: Option<Proof>,
}

#[derive(Serialize, Deserialize)]
struct ClaimV2 {
    token: Token,
    acquired_at: Timestamp,
    #[serde(default)]
    renewed_at: Option<Timestamp>,
    expires_at: Timestamp,
    #[serde(default)]
    renewed_monotonic_ms: Option<u64>,
}

/// Version 1: before leases were renewed. Whatever it lacks reads as nothing known.
#[derive(Deserialize)]
struct RecordV1 {
    attempt: AttemptV1,
    state: StateWire<FinishV1>,
    #[serde(default)]
    requirements: Vec<Bound>,
    #[serde(default)]
    receipts: Vec<Receipt>,
}

#[derive(Deserialize)]
struct AttemptV1 {
    id: AttemptId,
    #[serde(default)]
    generation: u32,
    #[serde(default)]
    purpose: Option<Purpose>,
    candidate: CandidateV2,
    #[serde(default)]
    executor: ExecutorV1,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ExecutorV1 {
    machine: String,
    boot: String,
    pid: u32,
    worktree: String,
    branch: Option<String>,
    started_at: Option<Timestamp>,
}

#[derive(Deserialize)]
struct FinishV1 {
    outcome: Outcome,
    finished_at: Timestamp,
    #[serde(default)]
    proof: Option<Proof>,
}

/// The bytes of a record, in version 2.
pub(super) fn encode(record: &Record) -> Vec<u8> {
    // Better no write than an empty record in the ref.
    let mut bytes = serde_json::to_vec_pretty(&RecordV2::from(record)).expect("a record has only text for keys");
    bytes.push(b'\n');
    bytes
}

/// The record in `bytes`, found at `candidate`'s ref.
pub(super) fn decode(bytes: &[u8], candidate: &CommitId) -> Result<Record, NotARecord> {
    let corrupt = |error: serde_json::Error| NotARecord::Corrupt(error.to_string());
    let head: Head = serde_json::from_slice(bytes).map_err(corrupt)?;
    if head.format != FORMAT {
        return Err(NotARecord::Corrupt(format!("its format is `{}`", head.format)));
    }
    let record = match head.version {
        1 => Record::from(serde_json::from_slice::<RecordV1>(bytes).map_err(corrupt)?),
        2 => Record::from(serde_json::from_slice::<RecordV2>(bytes).map_err(corrupt)?),
        0 => return Err(NotARecord::Corrupt("its version is 0".to_owned())),
        version => return Err(NotARecord::Newer { version }),
    };
    if record.attempt.commit != *candidate {
        return Err(NotARecord::OfAnother(record.attempt.commit));
    }
    Ok(record)
}

impl From<&Record> for RecordV2 {
    fn from(record: &Record) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            nonce: record.nonce,
            sequence: record.sequence,
            writer: record.writer,
            attempt: AttemptV2::from(&record.attempt),
            state: StateWire::from(&record.state),
            requirements: record.requirements.clone(),
            receipts: record.receipts.clone(),
            transitions: record.transitions.clone(),
            previous: record.previous.clone(),
        }
    }
}

impl From<&Attempt> for AttemptV2 {
    fn from(attempt: &Attempt) -> Self {
        let executor = &attempt.executor;
        let journal = executor.journal.as_ref().map(|journal| JournalV2 {
            handle: journal.handle.clone(),
            inode: journal.inode,
            token: journal.token,
        });
        Self {
            id: attempt.id,
            generation: attempt.generation,
            purpose: attempt.purpose,
            rerun_of: attempt.rerun_of,
            candidate: CandidateV2 { commit: attempt.commit, tree: attempt.tree },
            executor: ExecutorV2 {
                machine: executor.machine.clone(),
                boot: executor.boot.clone(),
                pid: executor.pid,
                worktree: executor.worktree.clone(),
                branch: executor.branch.clone(),
                started_at: executor.started_at,
                journal,
            },
        }
    }
}

impl From<&State> for StateWire<FinishV2> {
    fn from(state: &State) -> Self {
        match state {
            State::Planning(claim) => Self::Planning { claim: ClaimV2::from(claim) },
            State::Claimed(claim) => Self::Claimed { claim: ClaimV2::from(claim) },
            State::Finished(finish) => Self::Finished(FinishV2 {
                outcome: finish.outcome,
                finished_at: finish.at,
                by: finish.by.clone(),
                exit_status: finish.exit_status,
                failed: finish.failed.clone(),
                proof: finish.proof.clone(),
            }),
        }
    }
}

impl From<&Claim> for ClaimV2 {
    fn from(claim: &Claim) -> Self {
        Self {
            token: claim.token,
            acquired_at: claim.lease.acquired_at,
            renewed_at: claim.lease.renewed_at,
            expires_at: claim.lease.expires_at,
            renewed_monotonic_ms: claim.lease.renewed_monotonic_ms,
        }
    }
}

impl From<ClaimV2> for Claim {
    fn from(wire: ClaimV2) -> Self {
        Self {
            token: wire.token,
            lease: Lease {
                acquired_at: wire.acquired_at,
                renewed_at: wire.renewed_at,
                expires_at: wire.expires_at,
                renewed_monotonic_ms: wire.renewed_monotonic_ms,
            },
        }
    }
}

impl From<RecordV2> for Record {
    fn from(wire: RecordV2) -> Self {
        let executor = wire.attempt.executor;
        let journal = executor.journal.map(|journal| JournalRef {
            handle: journal.handle,
            inode: journal.inode,
            token: journal.token,
        });
        Self {
            nonce: wire.nonce,
            sequence: wire.sequence,
            writer: wire.writer,
            attempt: Attempt {
                id: wire.attempt.id,
                generation: wire.attempt.generation,
                purpose: wire.attempt.purpose,
                rerun_of: wire.attempt.rerun_of,
                commit: wire.attempt.candidate.commit,
                tree: wire.attempt.candidate.tree,
                executor: Executor {
                    machine: executor.machine,
                    boot: executor.boot,
                    pid: executor.pid,
                    worktree: executor.worktree,
                    branch: executor.branch,
                    started_at: executor.started_at,
                    journal,
                },
            },
            state: match wire.state {
                StateWire::Planning { claim } => State::Planning(claim.into()),
                StateWire::Claimed { claim } => State::Claimed(claim.into()),
                StateWire::Finished(FinishV2 { outcome, finished_at, by, exit_status, failed, proof }) => {
                    State::Finished(Box::new(Finish { outcome, at: finished_at, by, exit_status, failed, proof }))
                }
            },
            requirements: wire.requirements,
            receipts: wire.receipts,
            transitions: wire.transitions,
            previous: wire.previous,
        }
    }
}

impl From<RecordV1> for Record {
    fn from(wire: RecordV1) -> Self {
        let state = match wire.state {
            StateWire::Planning { claim } => State::Planning(Claim::from(claim).of_version_1()),
            StateWire::Claimed { claim } => State::Claimed(Claim::from(claim).of_version_1()),
            StateWire::Finished(FinishV1 { outcome, finished_at, proof }) => State::Finished(Box::new(Finish {
                outcome,
                at: finished_at,
                by: EndedBy::Owner { reason: None },
                exit_status: match outcome {
                    Outcome::Passed => Exit::Success.code(),
                    Outcome::Failed => Exit::Failed.code(),
                    Outcome::Cancelled => Exit::Terminated.code(),
                },
                failed: Vec::new(),
                proof,
            })),
        };
        let begun = match &state {
            State::Planning(claim) | State::Claimed(claim) => claim.lease.acquired_at,
            State::Finished(finish) => finish.at,
        };
        let executor = wire.attempt.executor;
        Self {
            // Version 1 has neither; any later write brings both (C2).
            nonce: Nonce(uuid::Uuid::nil()),
            sequence: 0,
            writer: None,
            attempt: Attempt {
                id: wire.attempt.id,
                generation: wire.attempt.generation,
                purpose: wire.attempt.purpose.unwrap_or(Purpose::Done),
                rerun_of: None,
                commit: wire.attempt.candidate.commit,
                tree: wire.attempt.candidate.tree,
                executor: Executor {
                    machine: executor.machine,
                    boot: executor.boot,
                    pid: executor.pid,
                    worktree: executor.worktree,
                    branch: executor.branch,
                    started_at: executor.started_at.unwrap_or(begun),
                    journal: None,
                },
            },
            state,
            requirements: wire.requirements,
            receipts: wire.receipts,
            transitions: Vec::new(),
            previous: Vec::new(),
        }
    }
}

impl Claim {
    /// A claim of version 1 is compared on the wall clock, whatever else its bytes say.
    fn of_version_1(mut self) -> Self {
        self.lease.renewed_monotonic_ms = None;
        self
    }
}
