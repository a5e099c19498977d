//! The answer of `explain`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Diagnostic;
use crate::evidence::subject::SubjectParts;
use crate::evidence::{RequirementKind, Verdict};
use crate::exit::{Exit, OutcomeWord};
use crate::id::{AttemptId, CommitId, Name, Subject};
use crate::time::Timestamp;

/// The answer of `explain`: what decides a verdict, and what differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainDocument {
    /// `discern/explain/1`.
    pub schema: String,
    /// Whether `exit` is 0.
    pub ok: bool,
    /// The word for it.
    pub outcome: OutcomeWord,
    /// The exit status.
    pub exit: Exit,
    /// Job or standard.
    pub kind: RequirementKind,
    /// Its name.
    pub name: Name,
    /// The commit.
    pub commit: CommitId,
    /// Its subject; null where an answer of a toolchain command that it is made of is not recorded.
    pub subject: Option<Subject>,
    /// What it is made of.
    pub parts: SubjectParts,
    /// Toolchain commands that were not asked: their answer is the one recorded last.
    pub recorded: Vec<String>,
    /// Toolchain commands whose answer is not recorded anywhere.
    pub unknown: Vec<String>,
    /// What it was compared with.
    pub compared_with: Option<ComparedWith>,
    /// What differs from that, a clause each; empty where nothing does.
    pub differences: Vec<String>,
    /// What went wrong, most important first.
    pub diagnostics: Vec<Diagnostic>,
    /// Commands that help.
    pub hints: Vec<String>,
}

/// What a subject was compared with: a receipt, or the same requirement of another commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedWith {
    /// The commit.
    pub commit: CommitId,
    /// The subject, where it is known.
    pub subject: Option<Subject>,
    /// The receipt's attempt; null for another commit.
    pub attempt: Option<AttemptId>,
    /// Its verdict.
    pub verdict: Option<Verdict>,
    /// When it was obtained.
    pub at: Option<Timestamp>,
}
