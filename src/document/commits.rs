//! What is known of commits: the answer of `verify` and `log`, and what the pre-push hook goes by.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AttemptSummary, Diagnostic, Pending};
use crate::evidence::RequirementKind;
use crate::exit::{Exit, OutcomeWord};
use crate::id::{CommitId, Name, Subject};

/// The answer of `verify` and `log`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommitsDocument {
    /// `discern/verify/1`, `discern/log/1`.
    pub schema: String,
    /// Whether `exit` is 0.
    pub ok: bool,
    /// The word for it.
    pub outcome: OutcomeWord,
    /// The exit status.
    pub exit: Exit,
    /// The commits, in the order asked for.
    pub commits: Vec<CommitReport>,
    /// What went wrong, most important first.
    pub diagnostics: Vec<Diagnostic>,
    /// Commands that help.
    pub hints: Vec<String>,
}

impl CommitsDocument {
    /// The answer of `command` about `commits`.
    pub fn new(command: &str, exit: Exit, commits: Vec<CommitReport>) -> Self {
        Self {
            schema: format!("discern/{command}/1"),
            ok: exit == Exit::Success,
            outcome: exit.outcome(),
            exit,
            commits,
            diagnostics: Vec::new(),
            hints: Vec::new(),
        }
    }
}

/// What is known of one commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommitReport {
    /// The commit.
    pub commit: CommitId,
    /// The subject of its message.
    pub summary: String,
    /// Where it stands.
    pub standing: CommitStanding,
    /// Why it is not proven, half a sentence; null when it is.
    pub reason: Option<String>,
    /// How its Proof departs from trunk: jobs that it lacks or redefines, standards that it loosens on purpose; a sentence each.
    #[serde(default)]
    pub departures: Vec<String>,
    /// Requirements with both verdicts for one subject, or that failed after this very commit was proven.
    pub flaky: Vec<FlakyRequirement>,
    /// The attempt whose outcome decides.
    pub attempt: Option<AttemptSummary>,
    /// The live claim on it, if there is one; what was known before stands meanwhile.
    pub running: Option<Pending>,
    /// Whether the run that has its claim is gone: the next `done`, or `recover`, takes it over.
    #[serde(default)]
    pub abandoned: bool,
}

/// Where a commit stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CommitStanding {
    /// There is a Proof, and it answers what the commit's own configuration demands.
    Proven,
    /// Its newest outcome is failed.
    Failed,
    /// Nothing is decided, and a run is at work on it.
    Running,
    /// Nothing is decided.
    None,
    /// What is recorded of it can't be read.
    Unknown,
}

impl CommitStanding {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Failed => "failed",
            Self::Running => "running",
            Self::None => "none",
            Self::Unknown => "unknown",
        }
    }
}

/// A requirement that is not to be relied on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlakyRequirement {
    /// Job or standard.
    pub kind: RequirementKind,
    /// Its name.
    pub name: Name,
    /// What was checked.
    pub subject: Subject,
    /// How often; only `log --flaky` looks that up.
    pub how_often: Option<HowOften>,
}

/// How often a subject passed and failed, as far as receipts are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HowOften {
    /// Failed tries.
    pub failed: u32,
    /// All tries.
    pub tries: u32,
}
