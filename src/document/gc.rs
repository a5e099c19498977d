//! The answer of `gc`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Diagnostic;
use crate::exit::{Exit, OutcomeWord};
use crate::id::{CommitId, OperationHandle};

/// The answer of `gc`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GcDocument {
    /// `discern/gc/1`.
    pub schema: String,
    /// Whether `exit` is 0.
    pub ok: bool,
    /// The word for it.
    pub outcome: OutcomeWord,
    /// The exit status.
    pub exit: Exit,
    /// Whether nothing was dropped, only said.
    pub dry_run: bool,
    /// The commits whose finished attempt lost its ref. The ledger has the outcome.
    pub refs: Vec<CommitId>,
    /// The runs whose logs and journal went.
    pub runs: Vec<OperationHandle>,
    /// How many outcomes went.
    pub outcomes: usize,
    /// How many receipts went.
    pub receipts: usize,
    /// How many files went that belonged to nobody.
    pub files: usize,
    /// How many kept checkouts.
    pub checkouts: usize,
    /// What went wrong, most important first.
    pub diagnostics: Vec<Diagnostic>,
    /// Commands that help.
    pub hints: Vec<String>,
}
