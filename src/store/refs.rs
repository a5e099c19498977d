//! Attempt records as blobs at `refs/discern/attempt/<commit>`, in the user's own repository.

use std::path::PathBuf;

use super::{Found, RecordStore, StoreError, Swap};
use crate::git::Repository;
use crate::id::{CommitId, RecordId, Token};

/// Where the refs are: followed by a full commit id.
pub const ATTEMPT_PREFIX: &str = "refs/discern/attempt/";

/// Records in a repository's refs.
pub struct RefStore<'r> {
    repository: &'r Repository,
}

/// A leftover ref lock (C25, hazard 9).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftoverLock {
    /// There is no lock.
    None,
    /// The git that took it has provably ended: it may be removed.
    Dead {
        /// The lock file.
        path: PathBuf,
    },
    /// Nothing proves that its owner has ended.
    Unknown {
        /// The lock file.
        path: PathBuf,
        /// How old it is, in seconds.
        age_seconds: u64,
    },
}

fn unbuilt<T>() -> Result<T, StoreError> {
    Err(StoreError { doing: "use the store".to_owned(), problem: "not built yet".to_owned() })
}

impl<'r> RefStore<'r> {
    /// The records of a repository; nothing is read yet.
    pub fn new(repository: &'r Repository) -> Self {
        Self { repository }
    }

    /// The token of the locked file that this store's git children hold: every record written names it (hazard 9).
    /// None if the file can't be made; then a leftover lock is never provably dead.
    pub fn writer_token(&mut self) -> Option<Token> {
        let _ = self.repository;
        None
    }

    /// What is known of a lock on a candidate's ref. `writer_of` reads a record's bytes and returns the token of its
    /// writer if that record was written on this very boot.
    pub fn leftover_lock(
        &self,
        candidate: &CommitId,
        writer_of: &dyn Fn(&[u8]) -> Option<Token>,
    ) -> Result<LeftoverLock, StoreError> {
        let _ = (candidate, writer_of);
        unbuilt()
    }

    /// Removes the lock on a candidate's ref, dead or not: `recover --break-lock`, or after [`LeftoverLock::Dead`].
    pub fn break_lock(&mut self, candidate: &CommitId) -> Result<(), StoreError> {
        let _ = candidate;
        unbuilt()
    }

    /// Removes a ref that can't be read (C27) and returns the file in the private folder that keeps its raw value.
    /// The caller has made sure that it is not a readable, unfinished record.
    pub fn forget(&mut self, candidate: &CommitId) -> Result<PathBuf, StoreError> {
        let _ = candidate;
        unbuilt()
    }
}

impl RecordStore for RefStore<'_> {
    fn read(&mut self, candidate: &CommitId) -> Result<Found, StoreError> {
        let _ = candidate;
        unbuilt()
    }

    fn list(&mut self) -> Result<Vec<(CommitId, RecordId)>, StoreError> {
        unbuilt()
    }

    fn swap(&mut self, candidate: &CommitId, expected: Option<RecordId>, bytes: &[u8]) -> Swap {
        let _ = (candidate, expected, bytes);
        Swap::Unknown("not built yet".to_owned())
    }

    fn remove(&mut self, candidate: &CommitId, expected: RecordId) -> Result<bool, StoreError> {
        let _ = (candidate, expected);
        unbuilt()
    }
}
