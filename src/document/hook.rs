//! The answer of `hook`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CommitReport, Diagnostic};
use crate::exit::{Exit, OutcomeWord};

/// The answer of `hook install`, `hook uninstall` and `hook pre-push`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookDocument {
    /// `discern/hook/1`.
    pub schema: String,
    /// Whether `exit` is 0.
    pub ok: bool,
    /// The word for it.
    pub outcome: OutcomeWord,
    /// The exit status; of `pre-push` 0 lets the push go on and 1 stops it.
    pub exit: Exit,
    /// The hook file; null for `pre-push`.
    pub file: Option<String>,
    /// What was done, and what to know, a sentence each.
    pub told: Vec<String>,
    /// The commits that stop a push.
    pub unproven: Vec<PushedCommit>,
    /// What went wrong, most important first.
    pub diagnostics: Vec<Diagnostic>,
    /// Commands that help.
    pub hints: Vec<String>,
}

/// A commit that stops a push.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PushedCommit {
    /// What is known of it.
    #[serde(flatten)]
    pub report: CommitReport,
    /// The remote refs that it is pushed to; empty for a commit on the way to one of several.
    pub refs: Vec<String>,
    /// The one command that helps: what proves it or, where it failed, what shows the failure.
    pub fix: String,
}

impl HookDocument {
    /// An answer that ends with `exit`, with nothing in it yet.
    pub fn new(exit: Exit) -> Self {
        Self {
            schema: "discern/hook/1".to_owned(),
            ok: exit == Exit::Success,
            outcome: exit.outcome(),
            exit,
            file: None,
            told: Vec::new(),
            unproven: Vec::new(),
            diagnostics: Vec::new(),
            hints: Vec::new(),
        }
    }
}
