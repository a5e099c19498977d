//! Why there is no answer.

use crate::document::{Diagnostic, Refusal};
use crate::git::GitError;
use crate::id::CommitId;
use crate::ledger::{LEDGER_REF, LedgerError};
use crate::store::StoreError;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// Something has to be mended first.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The repository could not be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The store, or a file of the tool's own, could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<LedgerError> for NoAnswer {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Damaged(why) => Self::Refused(damaged_ledger(&why.problem)),
            LedgerError::Store(why) => Self::Store(why),
        }
    }
}

/// The refusal where the ledger can't be read. Nothing is proven by what can't be read, and nothing is written over it.
fn damaged_ledger(why: &str) -> Refusal {
    let message = format!("the ledger can't be read: {why}");
    let fix = format!("git discern recover --forget {LEDGER_REF}");
    Refusal::store(Diagnostic::new("ledger-unreadable", message).at(LEDGER_REF).fix(fix))
}

/// The refusal of a candidate whose own record can't be read (C27).
pub fn unreadable(commit: CommitId, why: &str) -> Refusal {
    let message = format!("the attempt record of this commit can't be read: {why}");
    let diagnostic = Diagnostic::new("record-unreadable", message)
        .at(format!("refs/discern/attempt/{commit}"))
        .fix(format!("git discern recover --forget {commit}"));
    Refusal::store(diagnostic)
}
