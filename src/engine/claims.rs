//! Claims as the engine sees them: records that are decoded, guarded against going backwards, and backed by the ledger.
//!
//! The trait is what the owner's effects need; the real one is [`crate::engine::session`]'s, and the simulation has one over
//! memory. Each call is one question to the store and has one answer; nothing here retries or decides.

use crate::claim::Record;
use crate::claim::owner::{Ended, Seen, Written};
use crate::claim::transition::History;
use crate::id::{AttemptId, CommitId, RecordId};

/// Records and outcomes of candidates.
pub trait Claims {
    /// What the candidate's ref holds. An older record than this machine has seen is unreadable (C27, hazard 14).
    fn look(&mut self, candidate: &CommitId) -> Seen;

    /// What else is known of the candidate's attempts, `seen` having been read.
    ///
    /// # Errors
    /// The ledger can't be read; the text says why.
    fn history(&mut self, candidate: &CommitId, seen: &Seen) -> Result<History, String>;

    /// Copies a finished record's receipts and outcome into the ledger.
    ///
    /// # Errors
    /// The ledger can't be written; the text says why.
    fn absorb(&mut self, record: &Record) -> Result<(), String>;

    /// How that attempt ended, if the ledger knows.
    ///
    /// # Errors
    /// The ledger can't be read; the text says why.
    fn ended(&mut self, candidate: &CommitId, attempt: AttemptId) -> Result<Option<Ended>, String>;

    /// Replaces the value `expected` (none: there must be no ref) by `record`.
    fn swap(&mut self, candidate: &CommitId, expected: Option<RecordId>, record: &Record) -> Written;
}
