//! The answer of `done` to a range of commits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Diagnostic, RunDocument};
use crate::exit::{Exit, OutcomeWord};
use crate::id::CommitId;

/// The answer of `done main..topic`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RangeDocument {
    /// `discern/done-range/1`.
    pub schema: String,
    /// Whether `exit` is 0.
    pub ok: bool,
    /// The word for it.
    pub outcome: OutcomeWord,
    /// The exit status: the worst of the commits'.
    pub exit: Exit,
    /// The range as it was named.
    pub range: String,
    /// The answer of each commit that was looked at, oldest first.
    pub commits: Vec<RunDocument>,
    /// The first commit that fails, where that is known.
    pub first_failed: Option<CommitId>,
    /// The commits that were not looked at, oldest first.
    pub unrun: Vec<CommitId>,
    /// What went wrong beside the commits, most important first.
    pub diagnostics: Vec<Diagnostic>,
    /// Commands that help.
    pub hints: Vec<String>,
}

impl RangeDocument {
    /// The answer for `range`, with nothing in it yet but how it ended.
    pub fn new(range: &str, exit: Exit) -> Self {
        Self {
            schema: "discern/done-range/1".to_owned(),
            ok: exit == Exit::Success,
            outcome: exit.outcome(),
            exit,
            range: range.to_owned(),
            commits: Vec::new(),
            first_failed: None,
            unrun: Vec::new(),
            diagnostics: Vec::new(),
            hints: Vec::new(),
        }
    }
}
