//! The ledger as it is at one instant, for any number of questions: each tree and each shard is read once.
//!
//! Only lines that name what is asked for are parsed. What is read is checked against its id, because a Proof counts
//! only if the entry that holds it is intact.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::outcome::OutcomeEntry;
use super::shard::{self, ShardPath};
use super::tree::LedgerTree;
use super::{FoundReceipts, LedgerError, failed};
use crate::evidence::{Receipt, RequirementKind};
use crate::git::{GitError, Repository};
use crate::id::{CommitId, Name, Subject, TreeId};

/// More bytes of shards than this are not kept.
const KEPT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// One version of the ledger, read-only.
pub struct Snapshot<'r> {
    tree: LedgerTree<'r>,
    shards: HashMap<ShardPath, Vec<u8>>,
    kept_bytes: usize,
}

impl<'r> Snapshot<'r> {
    pub(super) fn new(repository: &'r Repository, root: Option<TreeId>) -> Self {
        Self { tree: LedgerTree::new(repository, root), shards: HashMap::new(), kept_bytes: 0 }
    }

    /// Every outcome of a commit, by generation, lowest first.
    ///
    /// # Errors
    /// The shard can't be read, is damaged, or a line about this commit is damaged or newer than this version.
    pub fn outcomes(&mut self, commit: CommitId) -> Result<Vec<OutcomeEntry>, LedgerError> {
        let shard = self.shard(&ShardPath::outcome(&commit)).map_err(|error| failed("read the ledger", &error))?;
        let mut outcomes = Vec::new();
        for line in shard::lines_with(shard, &commit.to_string()) {
            let outcome = shard::outcome(line).map_err(|error| failed("read the ledger", &error))?;
            // Another commit's Proof may name this one as where a verdict was obtained.
            outcomes.extend(Some(outcome).filter(|outcome| outcome.commit == commit));
        }
        outcomes.sort_by_key(|outcome| outcome.generation);
        Ok(outcomes)
    }

    /// Every receipt for a subject, newest first. An unreadable shard is a miss.
    pub fn receipts(&mut self, subject: Subject) -> FoundReceipts {
        self.receipts_where(subject, |receipt| receipt.subject == subject)
    }

    /// The newest receipts of a requirement of that name, whatever their subject, at most eight: for `explain`. An unreadable
    /// shard is a miss.
    pub fn nearest(&mut self, kind: RequirementKind, name: &Name) -> FoundReceipts {
        let recent = match self.tree.shard(&ShardPath::recent(kind, name)) {
            Ok(shard) => shard.recent(kind, name),
            Err(error) => return FoundReceipts::nothing(error.to_string()),
        };
        let mut found = FoundReceipts::default();
        for pointer in recent {
            let is_it = |it: &Receipt| it.subject == pointer.subject && it.attempt == pointer.attempt;
            found.add(self.receipts_where(pointer.subject, is_it));
        }
        found.receipts.retain(|receipt| receipt.kind == kind);
        found
    }

    fn receipts_where(&mut self, subject: Subject, wanted: impl Fn(&Receipt) -> bool) -> FoundReceipts {
        let shard = match self.shard(&ShardPath::receipt(&subject)) {
            Ok(shard) => shard,
            Err(error) => return FoundReceipts::nothing(error.to_string()),
        };
        let mut found = shard::receipts(shard::lines_with(shard, &subject.to_string()));
        found.receipts.retain(wanted);
        found.receipts.sort_by_key(|receipt| Reverse(receipt.finished_at));
        found
    }

    /// The bytes of a shard, which have the id that the tree names.
    fn shard(&mut self, path: &ShardPath) -> Result<&[u8], GitError> {
        if !self.shards.contains_key(path) {
            let bytes = self.tree.shard_bytes(path)?;
            if self.kept_bytes + bytes.len() > KEPT_BYTES_MAX {
                self.shards.clear();
                self.kept_bytes = 0;
            }
            self.kept_bytes += bytes.len();
            self.shards.insert(path.clone(), bytes);
        }
        Ok(self.shards.get(path).map_or(&[], Vec::as_slice))
    }
}
