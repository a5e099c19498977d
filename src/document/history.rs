//! The answer of `standards --history`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Diagnostic;
use crate::evidence::Reading;
use crate::exit::{Exit, OutcomeWord};
use crate::id::{AttemptId, CommitId, Name};
use crate::standard::Direction;
use crate::time::Timestamp;

/// The values of standards over the commits of a branch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryDocument {
    /// `discern/standards-history/1`.
    pub schema: String,
    /// Whether `exit` is 0.
    pub ok: bool,
    /// The word for it.
    pub outcome: OutcomeWord,
    /// The exit status.
    pub exit: Exit,
    /// The newest commit that was looked at.
    pub tip: CommitId,
    /// How many commits were looked at, each one the first parent of the one before.
    pub commits: usize,
    /// Each standard, those of the newest commit first.
    pub standards: Vec<StandardHistory>,
    /// What went wrong, most important first.
    pub diagnostics: Vec<Diagnostic>,
    /// Commands that help.
    pub hints: Vec<String>,
}

/// One standard over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StandardHistory {
    /// Its name.
    pub name: Name,
    /// Which way is better, as the newest commit that has it says.
    pub direction: Direction,
    /// Its limit there.
    pub limit: String,
    /// The commits that it was measured on, oldest first.
    pub points: Vec<HistoryPoint>,
}

/// What one standard read on one commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryPoint {
    /// The commit.
    pub commit: CommitId,
    /// The subject of its message.
    pub summary: String,
    /// When it was committed.
    pub committed_at: Timestamp,
    /// The number.
    pub value: String,
    /// What it came from.
    pub reading: Reading,
    /// The limit that this commit writes.
    pub limit: String,
    /// How far the value is on the good side of that limit; below 0 where it fails.
    pub distance: String,
    /// Whether it meets that limit.
    pub meets: bool,
    /// The commit that the reading was obtained on.
    pub obtained_on: CommitId,
    /// The attempt that published it.
    pub attempt: AttemptId,
    /// When it was measured.
    pub measured_at: Timestamp,
}

impl HistoryDocument {
    /// The answer about `commits` commits from `tip` back.
    pub fn new(tip: CommitId, commits: usize, standards: Vec<StandardHistory>) -> Self {
        Self {
            schema: "discern/standards-history/1".to_owned(),
            ok: true,
            outcome: OutcomeWord::Passed,
            exit: Exit::Success,
            tip,
            commits,
            standards,
            diagnostics: Vec::new(),
            hints: Vec::new(),
        }
    }
}
