//! The answers of `recover` and `stop`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Diagnostic;
use crate::exit::{Exit, OutcomeWord};
use crate::id::{AttemptId, CommitId, OperationHandle};

/// The answer of `recover`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecoverDocument {
    /// `discern/recover/1`.
    pub schema: String,
    /// Whether `exit` is 0.
    pub ok: bool,
    /// The word for it.
    pub outcome: OutcomeWord,
    /// The exit status.
    pub exit: Exit,
    /// Whether nothing was done, only said.
    pub dry_run: bool,
    /// Every claim that is not finished.
    pub claims: Vec<RecoveredClaim>,
    /// Lock files on refs of ours.
    pub locks: Vec<RecoveredLock>,
    /// How many processes of retired attempts were ended.
    pub processes_ended: usize,
    /// The file that keeps the record that was forgotten.
    pub kept: Option<String>,
    /// What to know about it, where it could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What went wrong, most important first.
    pub diagnostics: Vec<Diagnostic>,
    /// Commands that help.
    pub hints: Vec<String>,
}

impl RecoverDocument {
    /// An answer with nothing in it yet.
    pub fn new(dry_run: bool) -> Self {
        Self {
            schema: "discern/recover/1".to_owned(),
            ok: true,
            outcome: Exit::Success.outcome(),
            exit: Exit::Success,
            dry_run,
            claims: Vec::new(),
            locks: Vec::new(),
            processes_ended: 0,
            kept: None,
            note: None,
            diagnostics: Vec::new(),
            hints: Vec::new(),
        }
    }
}

/// One claim, as `recover` found and left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecoveredClaim {
    /// The commit.
    pub candidate: CommitId,
    /// The attempt; null where the record can't be read.
    pub attempt: Option<AttemptId>,
    /// The worktree that it ran in; empty for the main one.
    pub worktree: Option<String>,
    /// What became of it.
    pub action: RecoverAction,
    /// Why: why it was retired, what keeps it from that, why it can't be read.
    pub why: Option<String>,
    /// Milliseconds until it may be taken over unless it is renewed, where it is held.
    pub remaining_ms: Option<u64>,
}

/// What `recover` did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RecoverAction {
    /// The claim was retired.
    Retired,
    /// It may be, and only looking was asked for.
    MayBeRetired,
    /// It is held, and was left alone.
    Held,
    /// It may be retired, and that could not be written.
    NotWritten,
    /// Its record can't be read, and was left alone.
    Unreadable,
}

/// One lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecoveredLock {
    /// The ref.
    #[serde(rename = "ref")]
    pub name: String,
    /// Whether the file was removed.
    pub removed: bool,
    /// Whether every process that could hold it has provably ended.
    pub dead: bool,
    /// Its age in seconds, where its owner is unknown.
    pub age_seconds: Option<u64>,
}

/// The answer of `stop`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StopDocument {
    /// `discern/stop/1`.
    pub schema: String,
    /// Whether `exit` is 0.
    pub ok: bool,
    /// The word for it.
    pub outcome: OutcomeWord,
    /// The exit status: 0 when the run is over.
    pub exit: Exit,
    /// The run.
    pub operation: OperationHandle,
    /// Its exit status, once it is over.
    pub ended_with: Option<u8>,
    /// What went wrong, most important first.
    pub diagnostics: Vec<Diagnostic>,
    /// Commands that help.
    pub hints: Vec<String>,
}
