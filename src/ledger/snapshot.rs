//! The ledger as it is at one instant, for any number of questions: each tree and each shard is read once.
//!
//! Only lines that name the commit asked for are parsed. What is read is checked against its id, because a Proof counts
//! only if the entry that holds it is intact.

use std::collections::HashMap;

use bstr::ByteSlice as _;

use super::outcome::OutcomeEntry;
use super::shard::{self, ShardPath};
use super::tree::LedgerTree;
use super::{LedgerError, failed};
use crate::git::{GitError, Repository};
use crate::id::{CommitId, TreeId};

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
        let path = ShardPath::outcome(&commit);
        self.load(&path).map_err(|error| failed("read the ledger", &error))?;
        let name = commit.to_string();
        let bytes = self.shards.get(&path).map_or(&[][..], Vec::as_slice);
        let mut outcomes = Vec::new();
        for line in bytes.lines().filter(|line| line.find(name.as_bytes()).is_some()) {
            let outcome = shard::outcome(line).map_err(|error| failed("read the ledger", &error))?;
            // Another commit's Proof may name this one as where a verdict was obtained.
            outcomes.extend(Some(outcome).filter(|outcome| outcome.commit == commit));
        }
        outcomes.sort_by_key(|outcome| outcome.generation);
        Ok(outcomes)
    }

    fn load(&mut self, path: &ShardPath) -> Result<(), GitError> {
        if self.shards.contains_key(path) {
            return Ok(());
        }
        let bytes = self.tree.shard_bytes(path)?;
        if self.kept_bytes + bytes.len() > KEPT_BYTES_MAX {
            self.shards.clear();
            self.kept_bytes = 0;
        }
        self.kept_bytes += bytes.len();
        self.shards.insert(path.clone(), bytes);
        Ok(())
    }
}
