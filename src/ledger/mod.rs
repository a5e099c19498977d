//! Outcomes and receipts of finished attempts, kept forward from their records.
//!
//! `refs/discern/ledger` points at a tree: `outcome/<xx>/<xx>` by commit, `receipt/<xx>/<xx>` by subject, `recent/<xx>/<xx>`
//! by requirement name; two steps of six bits, chosen by SHA-256, each file sorted JSON lines. Finding an entry costs a
//! few object reads, however many there are; adding one rewrites its shard and three small trees. Entries never change;
//! only `gc` removes them. A lost swap is retried by re-applying *its own* additions or removals to the tree just read;
//! two trees are never united. The ledger has no say in who owns a candidate (C3).

pub mod outcome;

use crate::claim::record::Record;
use crate::evidence::{Receipt, RequirementKind};
use crate::git::Repository;
use crate::id::{AttemptId, CommitId, Name, Subject};
pub use outcome::{FailedRequirement, OutcomeEntry};

/// The ref that points at the ledger's tree.
pub const LEDGER_REF: &str = "refs/discern/ledger";

/// Why the ledger could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{doing}: {problem}")]
pub struct LedgerError {
    /// What was being done.
    pub doing: String,
    /// What the system or git said.
    pub problem: String,
}

/// What one absorption adds. Adding an entry that is there already changes nothing.
#[derive(Debug, Clone, Default)]
pub struct Additions {
    /// Outcomes, keyed by commit and generation.
    pub outcomes: Vec<OutcomeEntry>,
    /// Receipts, keyed by subject and attempt.
    pub receipts: Vec<Receipt>,
}

impl Additions {
    /// Everything that the ledger keeps of a finished record; nothing while it is unfinished.
    pub fn from_record(record: &Record) -> Option<Self> {
        let outcome = OutcomeEntry::from_record(record)?;
        Some(Self { outcomes: vec![outcome], receipts: record.receipts.clone() })
    }
}

/// What retention takes away.
#[derive(Debug, Clone, Default)]
pub struct Removals {
    /// Outcomes, by commit and generation.
    pub outcomes: Vec<(CommitId, u32)>,
    /// Receipts, by subject and attempt.
    pub receipts: Vec<(Subject, AttemptId)>,
}

/// Receipts, and what could not be read on the way: an unreadable shard of receipts is a miss (B073).
#[derive(Debug, Clone, Default)]
pub struct FoundReceipts {
    /// Newest first.
    pub receipts: Vec<Receipt>,
    /// One sentence for each shard that could not be read.
    pub warnings: Vec<String>,
}

/// The ledger of one repository.
pub struct Ledger<'r> {
    repository: &'r Repository,
}

fn unbuilt<T>() -> Result<T, LedgerError> {
    Err(LedgerError { doing: "use the ledger".to_owned(), problem: "not built yet".to_owned() })
}

impl<'r> Ledger<'r> {
    /// The ledger of a repository; nothing is read yet.
    pub fn new(repository: &'r Repository) -> Self {
        Self { repository }
    }

    /// Adds entries, durably; when this returns they are found. True if anything was new.
    pub fn absorb(&mut self, additions: &Additions) -> Result<bool, LedgerError> {
        let _ = (additions, self.repository);
        unbuilt()
    }

    /// Removes entries, durably.
    pub fn remove(&mut self, removals: &Removals) -> Result<(), LedgerError> {
        let _ = removals;
        unbuilt()
    }

    /// Every outcome of a commit, by generation, lowest first.
    pub fn outcomes(&self, commit: CommitId) -> Result<Vec<OutcomeEntry>, LedgerError> {
        let _ = commit;
        unbuilt()
    }

    /// The newest passed or failed `done` outcome of a commit: the one that decides.
    pub fn newest_done_outcome(&self, commit: CommitId) -> Result<Option<OutcomeEntry>, LedgerError> {
        Ok(self.outcomes(commit)?.into_iter().rev().find(OutcomeEntry::decides))
    }

    /// The highest generation known of a commit; 0 when none is.
    pub fn highest_generation(&self, commit: CommitId) -> Result<u32, LedgerError> {
        Ok(self.outcomes(commit)?.last().map_or(0, |entry| entry.generation))
    }

    /// Every receipt for a subject.
    pub fn receipts(&self, subject: Subject) -> Result<FoundReceipts, LedgerError> {
        let _ = subject;
        unbuilt()
    }

    /// The newest receipts of a requirement of that name, whatever their subject, at most eight: for `explain`.
    pub fn nearest(&self, kind: RequirementKind, name: &Name) -> Result<FoundReceipts, LedgerError> {
        let _ = (kind, name);
        unbuilt()
    }

    /// Every outcome, for retention and for lists.
    pub fn all_outcomes(&self) -> Result<Vec<OutcomeEntry>, LedgerError> {
        unbuilt()
    }

    /// Every receipt, for retention and for lists.
    pub fn all_receipts(&self) -> Result<FoundReceipts, LedgerError> {
        unbuilt()
    }
}
