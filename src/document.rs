//! What a command answers, as data: the JSON documents, and what people are shown.
//!
//! Fields are only ever added within a schema number. `report` turns these into text; the JSON Schemas under
//! `docs/schema/` are generated from them.

mod commits;
mod doctor;
mod explain;
mod gc;
mod history;
mod range;
mod recovery;
mod status;
pub use doctor::{CheckState, DoctorCheck, DoctorDocument};
pub use explain::{ComparedWith, ExplainDocument};
pub use gc::GcDocument;
pub use history::{HistoryDocument, HistoryPoint, StandardHistory};
pub use range::RangeDocument;
pub use recovery::{RecoverAction, RecoverDocument, RecoveredClaim, RecoveredLock, StopDocument};
pub use status::{ClaimReport, ClaimState, Expected, ExpectedRequirement, Progress, StatusDocument};
mod hook;

use crate::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::{Proof, Reading, RequirementKind};
use crate::exit::{Exit, OutcomeWord};
use crate::id::{AttemptId, CommitId, Name, OperationHandle, Subject, TreeId};
pub use commits::{CommitReport, CommitStanding, CommitsDocument, FlakyRequirement, HowOften};
pub use hook::{HookDocument, PushedCommit};

/// The answer of `done` and `standards`, and the frame of every other answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunDocument {
    /// `discern/done/1`, `discern/standards/1`.
    pub schema: String,
    /// Whether `exit` is 0.
    pub ok: bool,
    /// The word for it.
    pub outcome: OutcomeWord,
    /// The exit status.
    pub exit: Exit,
    /// What was to be proven.
    pub candidate: Option<Candidate>,
    /// The attempt that answers: this run's own or, when answered from a record, that one.
    pub attempt: Option<AttemptSummary>,
    /// Every requirement with what is known of it.
    pub requirements: Vec<RequirementReport>,
    /// The Proof, when there is one.
    pub proof: Option<Proof>,
    /// Who has it, when `outcome` is `pending`.
    pub pending: Option<Pending>,
    /// Who retired it, or what stopped it, when `outcome` is `cancelled`.
    pub cancelled: Option<Cancelled>,
    /// What went wrong, most important first.
    pub diagnostics: Vec<Diagnostic>,
    /// Commands that help.
    pub hints: Vec<String>,
    /// What `standards --pin` did to `discern.toml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<PinnedLimits>,
    /// What repeats it where it ran elsewhere than in the worktree, for people.
    #[serde(skip)]
    pub again: Option<String>,
    /// The diagnostics for people, where there is a better form than one sentence each.
    #[serde(skip)]
    pub page: Option<String>,
}

/// Limits that were tightened where they are written. Committing that is the user's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PinnedLimits {
    /// The file that was edited.
    pub path: String,
    /// Each tightened limit; none, when no reading was better than its limit by more than the margin.
    pub limits: Vec<PinnedLimit>,
    /// The change as a unified diff.
    pub diff: String,
}

/// One tightened limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PinnedLimit {
    /// The standard.
    pub name: Name,
    /// The limit before, as written.
    pub from: String,
    /// The limit now, as written.
    pub to: String,
    /// Its line in the file, from 1.
    pub line: usize,
}

impl RunDocument {
    /// The answer of `command` (`done`, `standards`, …) with nothing in it yet but how it ended.
    pub fn new(command: &str, exit: Exit) -> Self {
        Self {
            schema: format!("discern/{command}/1"),
            ok: exit == Exit::Success,
            outcome: exit.outcome(),
            exit,
            candidate: None,
            attempt: None,
            requirements: Vec::new(),
            proof: None,
            pending: None,
            cancelled: None,
            diagnostics: Vec::new(),
            hints: Vec::new(),
            pinned: None,
            again: None,
            page: None,
        }
    }

    /// The command that it answers: the middle of its schema's name.
    pub fn command(&self) -> &str {
        self.schema.split('/').nth(1).unwrap_or(&self.schema)
    }
}

/// What a run wants to prove.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// The commit.
    pub commit: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// The branch's full ref name; null when detached.
    pub branch: Option<String>,
    /// The worktree's name; empty for the main one.
    pub worktree: String,
}

/// An attempt, as far as an answer names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttemptSummary {
    /// Its id.
    pub id: AttemptId,
    /// 1, 2, 3 … per candidate.
    pub generation: u32,
    /// The handle of its journal, if it has one.
    pub operation: Option<OperationHandle>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended, if it did.
    pub finished_at: Option<Timestamp>,
}

/// How far a requirement got, in the words of the JSON documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// A passing receipt counts.
    Passed,
    /// The verdict is failed.
    Failed,
    /// It was running when the run was cancelled.
    Cancelled,
    /// It was not started.
    Unrun,
}

/// Where a verdict comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The command ran in this attempt.
    Ran,
    /// An earlier receipt counts.
    Reused,
}

/// One requirement in an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequirementReport {
    /// Job or standard.
    pub kind: RequirementKind,
    /// Its name.
    pub name: Name,
    /// How far it got.
    pub verdict: Standing,
    /// Where the verdict comes from; null when there is none.
    pub source: Option<Source>,
    /// How long the command took.
    pub duration_ms: Option<u64>,
    /// Why: what differed, what failed, what it waited for.
    pub reason: Option<String>,
    /// The command.
    pub command: String,
    /// The file with its output, if it is still there.
    pub log: Option<String>,
    /// Both verdicts are known for this subject.
    pub flaky: bool,
    /// What was checked.
    pub subject: Option<Subject>,
    /// Where a reused verdict was obtained.
    pub reused_from: Option<ReusedFrom>,
    /// The exit code, when it exited.
    pub exit_code: Option<i32>,
    /// The signal's name, when it died by one.
    pub signal: Option<String>,
    /// Which try decided.
    pub tries: u32,
    /// A standard's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// A standard's limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// Trunk's limit at the merge base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trunk_limit: Option<String>,
    /// How far the value is on the good side of the stricter of both limits; below 0 where it fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<String>,
    /// What the value came from: the metric as printed, and what it was divided by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
}

/// Where a reused verdict was obtained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReusedFrom {
    /// On which commit.
    pub commit: CommitId,
    /// By which attempt.
    pub attempt: AttemptId,
    /// When.
    pub at: Timestamp,
}

/// Another run has the claim or the worktree (C26). Attempt and lease are null when a `run` holds the worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pending {
    /// The attempt that holds it.
    pub attempt: Option<AttemptId>,
    /// Its operation handle.
    pub operation: Option<OperationHandle>,
    /// The worktree that it runs in; empty for the main one.
    pub worktree: String,
    /// Its branch.
    pub branch: Option<String>,
    /// When it began.
    pub since: Option<Timestamp>,
    /// When its lease ends unless it is renewed.
    pub lease_expires_at: Option<Timestamp>,
    /// How many kept checkouts there may be, where all of them are in use; the run is that which has the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkouts: Option<u32>,
    /// The exact command that reconnects to it.
    pub reconnect: String,
}

/// What ended a run before its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cancelled {
    /// The run that retired it; null when nobody did.
    pub by: Option<AttemptId>,
    /// That run's operation handle.
    pub operation: Option<OperationHandle>,
    /// That run's worktree.
    pub worktree: Option<String>,
    /// `lease-lapsed`, `executor-gone`, `signal`, `stopped`, `tree-changed`, `worktree-gone`, `store`, `internal`.
    pub reason: String,
}

/// The code of a diagnostic that names a standard looser than trunk's.
pub const LOOSER: &str = "looser-than-trunk";

/// One thing that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostic {
    /// A stable word for it: `dirty-tree`, `config-invalid`, `retired`.
    pub code: String,
    /// What happened, a sentence.
    pub message: String,
    /// Where: paths, `discern.toml:3:7`, a ref.
    #[serde(default, rename = "where")]
    pub place: Vec<String>,
    /// The one command that helps: it can be run as it stands, and throws no work away. Null where there is no such command.
    pub fix: Option<String>,
    /// What helps, in words, where it is more than a command or is for a person to decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// A file with more.
    pub output_path: Option<String>,
}

impl Diagnostic {
    /// A diagnostic that says `message` in plain words; where that tells of a refusal of the system, with what helps against it.
    /// Nothing more yet.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        let message = plain(&message.into());
        Self {
            code: code.to_owned(),
            advice: against(&message).map(str::to_owned),
            message,
            place: Vec::new(),
            fix: None,
            output_path: None,
        }
    }

    /// The same, with one more place.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place.push(place.into());
        self
    }

    /// The same, with the command that helps.
    #[must_use]
    pub fn fix(mut self, command: impl Into<String>) -> Self {
        self.fix = Some(command.into());
        self
    }

    /// The same, with what helps in words.
    #[must_use]
    pub fn advice(mut self, words: impl Into<String>) -> Self {
        self.advice = Some(words.into());
        self
    }
}

/// What the system said as people say it: without the number of the error ("(os error 30)"), and without the name of the temporary
/// file that was to be written.
pub fn plain(message: &str) -> String {
    let Some((before, rest)) = message.split_once(" (os error ") else { return message.to_owned() };
    let rest = rest.split_once(')').map_or("", |(_, rest)| rest);
    let quoted = rest.strip_prefix(" at path \"").and_then(|rest| rest.split_once('"'));
    format!("{before}{}", plain(quoted.map_or(rest, |(_, rest)| rest)))
}

/// What helps where the system refuses, as far as that is the same wherever it does.
pub fn against(message: &str) -> Option<&'static str> {
    const REFUSALS: [(&str, &str); 3] = [
        (
            "Read-only file system",
            "`git discern status`, `verify`, `show` and `log` work here as it is; to prove, make it writable, or work in a clone",
        ),
        ("Permission denied", "work as the user whose files they are, or let yours write there"),
        ("No space left on device", "make room, then run it again: what was obtained is kept"),
    ];
    REFUSALS.iter().find(|(said, _)| message.contains(said)).map(|(_, advice)| *advice)
}

/// The answer of `init`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InitDocument {
    /// `discern/init/1`.
    pub schema: String,
    /// Whether `exit` is 0.
    pub ok: bool,
    /// The word for it.
    pub outcome: OutcomeWord,
    /// The exit status.
    pub exit: Exit,
    /// The file that was written.
    pub path: String,
    /// The names of the jobs in it. None: it demands nothing yet, and `done` refuses it.
    pub jobs: Vec<String>,
    /// What was taken for granted, a sentence for each job.
    pub guessed: Vec<String>,
    /// What was left out, with the reason.
    pub left_out: Vec<String>,
    /// What was done about the pre-push hook, where that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hook: Vec<String>,
    /// What to look at, most important first.
    pub diagnostics: Vec<Diagnostic>,
    /// Commands that come next.
    pub hints: Vec<String>,
}

/// Why a command ends without an answer of its own: what a person or the machine can mend, with the exit status.
///
/// Any layer may return it where it knows the sentence and the remedy; `command` turns it into the document and the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.diagnostics.first().map_or("refused", |first| first.message.as_str()))]
pub struct Refusal {
    /// How the command ends.
    pub exit: Exit,
    /// Why, most important first.
    pub diagnostics: Vec<Diagnostic>,
    /// The same for people, where there is a better form than one sentence each (a line of `discern.toml`, underlined).
    pub page: Option<String>,
}

impl Refusal {
    /// Exit status 2: usage, configuration or precondition; nothing was run.
    pub fn new(diagnostic: Diagnostic) -> Self {
        Self { exit: Exit::Refused, diagnostics: vec![diagnostic], page: None }
    }

    /// Exit status 5: the store could not be read or written.
    pub fn store(diagnostic: Diagnostic) -> Self {
        Self { exit: Exit::Store, ..Self::new(diagnostic) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_said_is_told_without_numbers_and_temporary_names() {
        let said = "could not write `x`: Read-only file system (os error 30) at path \"/r/.tmp-dIYdmD\", twice";
        assert_eq!(plain(said), "could not write `x`: Read-only file system, twice");
        assert_eq!(plain("a (os error 2); b (os error 13)"), "a; b");
        assert_eq!(plain("nothing of it"), "nothing of it");
    }

    #[test]
    fn what_helps_against_a_refusal_of_the_system_stands_with_it() {
        let diagnostic = Diagnostic::new("x", "could not write `x`: Read-only file system (os error 30)");
        assert!(diagnostic.advice.is_some_and(|advice| advice.contains("make it writable")));
        assert_eq!(Diagnostic::new("x", "could not write `x`: Is a directory").advice, None);
    }
}
