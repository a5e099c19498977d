//! The answer of `status`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AttemptSummary, Candidate, CommitStanding, Diagnostic, RequirementReport};
use crate::claim::record::Purpose;
use crate::evidence::{Proof, RequirementKind};
use crate::exit::{Exit, OutcomeWord};
use crate::id::{AttemptId, CommitId, Name, OperationHandle};
use crate::time::Timestamp;

/// The answer of `status`: this commit, and every claim in the repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatusDocument {
    /// `discern/status/1`.
    pub schema: String,
    /// Whether `exit` is 0.
    pub ok: bool,
    /// The word for it.
    pub outcome: OutcomeWord,
    /// The exit status: 0 where the question could be answered, whatever the answer is.
    pub exit: Exit,
    /// `HEAD`; null on an unborn branch and in a repository whose `HEAD` leads nowhere.
    pub candidate: Option<Candidate>,
    /// The subject of its message.
    pub summary: Option<String>,
    /// Where it stands.
    pub standing: CommitStanding,
    /// The attempt that says so.
    pub attempt: Option<AttemptSummary>,
    /// Each requirement: of the Proof, or those whose verdict is failed.
    pub requirements: Vec<RequirementReport>,
    /// The Proof, when there is one.
    pub proof: Option<Proof>,
    /// What `git discern done` would do about each requirement, where nothing is decided about the commit yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<ExpectedRequirement>,
    /// Whether the worktree is exactly that commit; null in a bare repository.
    pub clean: Option<bool>,
    /// What is in the way of a run, a path and what is the matter with it.
    pub in_the_way: Vec<String>,
    /// Why a push from here is not looked at by our hook; null where it is.
    pub unguarded: Option<String>,
    /// Every unfinished run that is known here, the oldest first.
    pub claims: Vec<ClaimReport>,
    /// What went wrong, most important first.
    pub diagnostics: Vec<Diagnostic>,
    /// Commands that come next.
    pub hints: Vec<String>,
}

/// What a run would do about one requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExpectedRequirement {
    /// Job or standard.
    pub kind: RequirementKind,
    /// Its name.
    pub name: Name,
    /// What it would do.
    pub would: Expected,
    /// How long its command took last time, in milliseconds.
    pub took_ms: Option<u64>,
}

/// What a run would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// Reuse a passed verdict.
    Reuse,
    /// Give a failed verdict again.
    Fail,
    /// Run its command.
    Run,
}

/// One unfinished run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimReport {
    /// The commit that it is for; null for a `run`.
    pub candidate: Option<CommitId>,
    /// The first line of that commit's message.
    pub summary: Option<String>,
    /// The attempt; null for a `run`, and where the record can't be read.
    pub attempt: Option<AttemptId>,
    /// What for; null for a `run`.
    pub purpose: Option<Purpose>,
    /// Its handle.
    pub operation: Option<OperationHandle>,
    /// The worktree that it runs in; empty for the main one.
    pub worktree: Option<String>,
    /// Its branch.
    pub branch: Option<String>,
    /// When it began.
    pub since: Option<Timestamp>,
    /// When its lease ends unless it is renewed.
    pub lease_expires_at: Option<Timestamp>,
    /// How it stands.
    pub state: ClaimState,
    /// Whether its process is suspended (Ctrl-Z, SIGSTOP): it renews nothing and hears nothing until it goes on. False also where
    /// that can't be seen from here.
    #[serde(default)]
    pub suspended: bool,
    /// Why it may be taken over, or can't be read.
    pub why: Option<String>,
    /// How far it is, as its journal says.
    pub progress: Option<Progress>,
    /// The command for it: to follow it, to let it go on, to take it over, to forget it.
    pub command: String,
}

/// How a claim stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimState {
    /// It is held.
    Running,
    /// Its takeover is permitted.
    Recoverable,
    /// Its record can't be read.
    Unreadable,
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// Requirements whose command has ended.
    pub done: usize,
    /// Requirements whose command was to run.
    pub total: usize,
    /// Those of `done` that failed.
    pub failed: Vec<Name>,
    /// What runs now.
    pub running: Vec<Name>,
    /// How long the rest took last time, in milliseconds, shared between what runs together; null where that is not known.
    pub remaining_ms: Option<u64>,
}
