//! Attempt records behind one small seam: read, list, swap.
//!
//! A swap has three answers. *Applied*: the ref named the expected value and now names the new one, durably. *Stale*: it
//! did not, and nothing was written. *Unknown*: the writer was killed, timed out or lost its answer; only reading the
//! record back and looking for one's own nonce tells (C7). The store reads no clock and knows no lease (C4); it does not
//! parse what it stores.

pub mod memory;
pub mod refs;
pub mod seen;
pub mod superseded;

use crate::git::with_causes;
use crate::id::{CommitId, RecordId};

pub use memory::{Fault, MemoryStore};
pub use refs::RefStore;
pub use seen::{Seen, SeenFiles, Sighting};

/// What a candidate's ref holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// There is no such ref.
    Absent,
    /// A record's bytes, and the id that a swap must name.
    Record {
        /// The blob's id.
        id: RecordId,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// There is something that is no record, or that can't be read (C27). It is never overwritten.
    Unreadable(Unreadable),
}

/// Why a ref of ours can't be read (C27).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The ref is a symbolic ref.
    #[error("it is a symbolic ref to `{0}`")]
    Symbolic(String),
    /// The ref itself holds no object id: an empty file after a power cut, garbage.
    #[error("the ref itself can't be read: {0}")]
    Ref(String),
    /// The object that the ref names is not in the repository.
    #[error("the object `{0}` that it names is missing")]
    Missing(RecordId),
    /// The object is there and is not a blob, or is damaged.
    #[error("the object `{id}` that it names can't be read: {why}")]
    Damaged {
        /// The object.
        id: RecordId,
        /// What is wrong with it.
        why: String,
    },
    /// The blob is larger than any record may be.
    #[error("the object `{id}` that it names has {bytes} bytes, more than any record")]
    TooLarge {
        /// The object.
        id: RecordId,
        /// Its size.
        bytes: u64,
    },
}

/// The answer of a swap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Swap {
    /// Done, and on disk.
    Applied(RecordId),
    /// The ref did not hold the expected value; this is what it holds.
    Stale(Found),
    /// It may have happened or not.
    Unknown(String),
}

/// The store itself failed; nothing is known about any claim.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{doing}: {problem}")]
pub struct StoreError {
    /// What was being done: "read `refs/discern/attempt/…`".
    pub doing: String,
    /// What the system or git said.
    pub problem: String,
}

impl StoreError {
    /// For `map_err`: `doing` failed because of the error given.
    pub fn because<E: std::error::Error>(doing: impl Into<String>) -> impl FnOnce(E) -> Self {
        let doing = doing.into();
        move |error| Self { doing, problem: with_causes(&error) }
    }
}

/// Where attempt records are kept.
pub trait RecordStore {
    /// What `candidate`'s ref holds now.
    fn read(&mut self, candidate: &CommitId) -> Result<Found, StoreError>;

    /// The candidates that have a ref, with the value that it names (null for a symbolic ref).
    fn list(&mut self) -> Result<Vec<(CommitId, RecordId)>, StoreError>;

    /// Replaces the value `expected` (none: the ref must not exist) with a new record's bytes.
    fn swap(&mut self, candidate: &CommitId, expected: Option<RecordId>, bytes: &[u8]) -> Swap;

    /// Removes the ref if it still holds `expected`.
    fn remove(&mut self, candidate: &CommitId, expected: RecordId) -> Result<bool, StoreError>;
}
