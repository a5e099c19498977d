//! Records in memory, with every fault that a real store can show: for the model, the simulation and tests.

use std::collections::{BTreeMap, VecDeque};

use sha2::{Digest as _, Sha256};

use super::{Found, RecordStore, StoreError, Swap, Unreadable};
use crate::id::{CommitId, ObjectId, RecordId};

/// What goes wrong with the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Nothing.
    None,
    /// The request never arrives; the caller can't tell.
    RequestLost,
    /// The request is carried out and its answer is lost.
    ReplyLost,
    /// Another writer holds the lock for longer than we wait; nothing happens, and the caller can't tell.
    Busy,
    /// The record can't be read this once.
    Unreadable,
    /// The store fails as a whole.
    Failure,
}

/// Records in memory. A clone is a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct MemoryStore {
    records: BTreeMap<CommitId, Vec<u8>>,
    faults: VecDeque<Fault>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Queues what goes wrong with the next requests, one each (reads, lists, swaps and removals alike).
    pub fn inject(&mut self, faults: impl IntoIterator<Item = Fault>) {
        self.faults.extend(faults);
    }

    /// What is stored, faults aside.
    pub fn bytes(&self, candidate: &CommitId) -> Option<&[u8]> {
        self.records.get(candidate).map(Vec::as_slice)
    }

    fn fault(&mut self) -> Fault {
        self.faults.pop_front().unwrap_or(Fault::None)
    }

    fn found(&self, candidate: &CommitId) -> Found {
        match self.records.get(candidate) {
            Some(bytes) => Found::Record { id: record_id(bytes), bytes: bytes.clone() },
            None => Found::Absent,
        }
    }

    fn current(&self, candidate: &CommitId) -> Option<RecordId> {
        self.records.get(candidate).map(|bytes| record_id(bytes))
    }
}

/// The id of a record's bytes in this store.
pub fn record_id(bytes: &[u8]) -> RecordId {
    let digest = Sha256::digest(bytes);
    RecordId(ObjectId::from_bytes(&digest).unwrap_or_else(|_| unreachable!("SHA-256 has 32 bytes")))
}

fn failure(doing: &str) -> StoreError {
    StoreError { doing: doing.to_owned(), problem: "injected".to_owned() }
}

impl RecordStore for MemoryStore {
    fn read(&mut self, candidate: &CommitId) -> Result<Found, StoreError> {
        match self.fault() {
            Fault::None | Fault::Busy => Ok(self.found(candidate)),
            Fault::Unreadable => Ok(match self.current(candidate) {
                Some(id) => Found::Unreadable(Unreadable::Missing(id)),
                None => Found::Absent,
            }),
            Fault::RequestLost | Fault::ReplyLost | Fault::Failure => Err(failure("read a record")),
        }
    }

    fn list(&mut self) -> Result<Vec<(CommitId, RecordId)>, StoreError> {
        match self.fault() {
            Fault::None | Fault::Busy | Fault::Unreadable => {
                Ok(self.records.iter().map(|(candidate, bytes)| (*candidate, record_id(bytes))).collect())
            }
            Fault::RequestLost | Fault::ReplyLost | Fault::Failure => Err(failure("list the records")),
        }
    }

    fn swap(&mut self, candidate: &CommitId, expected: Option<RecordId>, bytes: &[u8]) -> Swap {
        let fault = self.fault();
        match fault {
            Fault::RequestLost => return Swap::Unknown("the request was lost".to_owned()),
            Fault::Busy => return Swap::Unknown("the ref lock is busy".to_owned()),
            Fault::Failure => return Swap::Unknown("the store failed".to_owned()),
            Fault::None | Fault::ReplyLost | Fault::Unreadable => {}
        }
        let applies = self.current(candidate) == expected;
        if applies {
            self.records.insert(*candidate, bytes.to_vec());
        }
        match (fault, applies) {
            (Fault::ReplyLost, _) => Swap::Unknown("the answer was lost".to_owned()),
            (_, true) => Swap::Applied(record_id(bytes)),
            (_, false) => Swap::Stale(self.found(candidate)),
        }
    }

    fn remove(&mut self, candidate: &CommitId, expected: RecordId) -> Result<bool, StoreError> {
        let fault = self.fault();
        if matches!(fault, Fault::RequestLost | Fault::Busy | Fault::Failure) {
            return Err(failure("remove a record"));
        }
        let applies = self.current(candidate) == Some(expected);
        if applies {
            self.records.remove(candidate);
        }
        if fault == Fault::ReplyLost { Err(failure("remove a record")) } else { Ok(applies) }
    }
}
