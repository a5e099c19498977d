//! The attempt record: what one candidate's ref holds.
//!
//! It owns the fields and their meaning; how they are spelled in JSON is `wire`'s affair, and everything about time is
//! `lease`'s. A record is made by a transition or read from the store; it is never edited in place.

use crate::claim::lease::Lease;
use crate::evidence::{Proof, Receipt, RequirementKind};
use crate::id::{AttemptId, CommitId, Name, Nonce, OperationHandle, Subject, Token, TreeId};
use crate::time::Timestamp;

/// The largest record, in bytes. Bind refuses a plan that could not be settled within it.
pub const RECORD_BYTES_MAX: usize = 256 * 1024;

/// How many earlier attempts a record names.
pub const PREVIOUS_MAX: usize = 8;

/// One attempt at one candidate, as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Fresh in every record written (C2).
    pub nonce: Nonce,
    /// One above the last, over all attempts at this candidate (C2).
    pub sequence: u64,
    /// The token of the locked file that the writing git child holds; tells whether a leftover ref lock is dead (C25).
    pub writer: Option<Token>,
    /// Who tries what.
    pub attempt: Attempt,
    /// Planning, claimed or finished.
    pub state: State,
    /// What was planned; empty until bound.
    pub requirements: Vec<Bound>,
    /// The verdicts and readings published so far.
    pub receipts: Vec<Receipt>,
    /// Changes of state only; renewals leave no trace (C19).
    pub transitions: Vec<Transition>,
    /// The latest earlier attempts at this candidate, oldest first, at most [`PREVIOUS_MAX`].
    pub previous: Vec<Previous>,
}

/// One run's try at one candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Its id.
    pub id: AttemptId,
    /// 1, 2, 3 … per candidate; 0 in a record of version 1 without one.
    pub generation: u32,
    /// What it is for.
    pub purpose: Purpose,
    /// The attempt whose verdicts `--rerun` set aside.
    pub rerun_of: Option<AttemptId>,
    /// The commit.
    pub commit: CommitId,
    /// Its tree; absent in a record of version 1.
    pub tree: Option<TreeId>,
    /// Who runs it.
    pub executor: Executor,
}

/// What an attempt is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To prove the candidate.
    Done,
    /// To measure its standards; never ends in a Proof.
    Standards,
}

/// Who runs an attempt. Holds no path and no host name, for a mirror push would publish them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executor {
    /// A digest of the machine's identity.
    pub machine: String,
    /// A digest of boot, pid namespace and time namespace: equal means that clocks can be compared (C13).
    pub boot: String,
    /// Its process id, for people; proves nothing (C20).
    pub pid: u32,
    /// The worktree's name, empty for the main one.
    pub worktree: String,
    /// The branch's full ref name; none when detached.
    pub branch: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// Its journal, if it could be made (C21).
    pub journal: Option<JournalRef>,
}

/// The journal of an executor: the very file whose lock it holds (C20).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRef {
    /// Its handle.
    pub handle: OperationHandle,
    /// The file's inode.
    pub inode: u64,
    /// The token in the file's first line.
    pub token: Token,
}

/// Where an attempt stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Reserved; what is to be done is being found out.
    Planning(Claim),
    /// Bound; jobs run.
    Claimed(Claim),
    /// Over. A finished record never reopens.
    Finished(Box<Finish>),
}

impl State {
    /// The claim of an unfinished attempt.
    pub fn claim(&self) -> Option<&Claim> {
        match self {
            Self::Planning(claim) | Self::Claimed(claim) => Some(claim),
            Self::Finished(_) => None,
        }
    }

    /// How a finished attempt ended.
    pub fn finish(&self) -> Option<&Finish> {
        match self {
            Self::Finished(finish) => Some(finish),
            Self::Planning(_) | Self::Claimed(_) => None,
        }
    }

    /// The state's name, as `transitions` lists it.
    pub fn kind(&self) -> StateKind {
        match self {
            Self::Planning(_) => StateKind::Planning,
            Self::Claimed(_) => StateKind::Claimed,
            Self::Finished(_) => StateKind::Finished,
        }
    }
}

/// A state without what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateKind {
    /// See [`State::Planning`].
    Planning,
    /// See [`State::Claimed`].
    Claimed,
    /// See [`State::Finished`].
    Finished,
}

/// What an unfinished attempt holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The fencing token.
    pub token: Token,
    /// Until when it is protected, unless renewed.
    pub lease: Lease,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Everything demanded holds; for `done`, always with its Proof.
    Passed,
    /// At least one verdict is failed.
    Failed,
    /// It was interrupted or retired; no verdict.
    Cancelled,
}

/// The end of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    /// How.
    pub outcome: Outcome,
    /// When.
    pub at: Timestamp,
    /// Who ended it, and why.
    pub by: EndedBy,
    /// What `wait` hands on.
    pub exit_status: u8,
    /// The requirements whose verdict is failed, also where an earlier receipt says so or a reading is beyond its limit.
    pub failed: Vec<Bound>,
    /// With `passed` and purpose `done`, always; otherwise never.
    pub proof: Option<Proof>,
}

/// Who ended an attempt.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum EndedBy {
    /// Its own run settled it.
    Owner {
        /// Why, when it did not simply come to its end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<OwnReason>,
    },
    /// Another run retired it.
    Run {
        /// Who.
        run: RetiringRun,
        /// Why that was permitted.
        reason: TakeoverReason,
    },
}

/// The run that retired an attempt.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct RetiringRun {
    /// `done`, `standards`, `recover`.
    pub command: String,
    /// The attempt that it went on to make, where it made one.
    pub attempt: Option<AttemptId>,
    /// Its operation handle.
    pub operation: Option<OperationHandle>,
    /// Its worktree's name, empty for the main one.
    pub worktree: String,
    /// Its branch.
    pub branch: Option<String>,
}

/// Why an owner ended its attempt before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OwnReason {
    /// SIGINT, SIGTERM or SIGHUP.
    Signal,
    /// `git discern stop`.
    Stopped,
    /// The candidate moved or changed while it ran.
    TreeChanged,
    /// The worktree is gone.
    WorktreeGone,
    /// Nothing could be run: what was found while planning has to be mended first.
    Refused,
    /// The store could not be written.
    Store,
    /// A fault of this tool.
    Internal,
}

impl OwnReason {
    /// The word for it in documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Signal => "signal",
            Self::Stopped => "stopped",
            Self::TreeChanged => "tree-changed",
            Self::WorktreeGone => "worktree-gone",
            Self::Refused => "refused",
            Self::Store => "store",
            Self::Internal => "internal",
        }
    }
}

/// Why a retirement was permitted (C12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TakeoverReason {
    /// The journal proves that its exact executor is gone.
    ExecutorGone,
    /// The lease has lapsed on the clock that counts.
    LeaseLapsed,
}

impl TakeoverReason {
    /// The word for it in documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::ExecutorGone => "executor-gone",
            Self::LeaseLapsed => "lease-lapsed",
        }
    }
}

/// One planned requirement.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Bound {
    /// Job or standard.
    pub kind: RequirementKind,
    /// Its name.
    pub name: Name,
    /// What is to be checked.
    pub subject: Subject,
}

/// One change of state.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Transition {
    /// The state entered.
    pub to: StateKind,
    /// When.
    pub at: Timestamp,
}

/// An earlier attempt at the same candidate, as far as a later record names it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Previous {
    /// Its id.
    pub id: AttemptId,
    /// Its generation.
    pub generation: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// Who ended it, and why.
    pub by: EndedBy,
    /// What `wait` hands on.
    pub exit_status: u8,
    /// The nonce of its last record, by which its writer knows it again (C7).
    pub nonce: Nonce,
}

impl Record {
    /// Whether the attempt is over.
    pub fn is_finished(&self) -> bool {
        self.state.finish().is_some()
    }

    /// This attempt as a later record names it; nothing while it is unfinished.
    pub fn as_previous(&self) -> Option<Previous> {
        let finish = self.state.finish()?;
        Some(Previous {
            id: self.attempt.id,
            generation: self.attempt.generation,
            outcome: finish.outcome,
            by: finish.by.clone(),
            exit_status: finish.exit_status,
            nonce: self.nonce,
        })
    }
}
