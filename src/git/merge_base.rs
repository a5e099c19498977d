//! Where two histories meet, and whether one has the other.

use std::cell::Cell;

use bstr::ByteSlice as _;
use gix::objs::{Data, Find};
use gix::revision::plumbing::{Graph, merge_base};

use super::error::GitError;
use super::objects::{Objects, from_gix, to_gix};
use super::repository::Repository;
use crate::id::CommitId;

/// More commits than this are not read here: by then git, which has the commit-graph, would be quicker, however long it takes
/// to start.
const COMMITS_MAX: u32 = 256;

impl Repository {
    /// The best common ancestor of two commits; nothing if they share no history that is here.
    pub fn merge_base(&self, one: CommitId, other: CommitId) -> Result<Option<CommitId>, GitError> {
        if one == other {
            return Ok(Some(one));
        }
        // Where history is cut off, what lies behind may be here all the same, and does not count.
        if !self.is_shallow()
            && let Some(only) = self.objects()?.only_merge_base(one, other)
        {
            return Ok(Some(only));
        }
        let finished = self.git().run(&["merge-base", &one.to_string(), &other.to_string()])?;
        if finished.status.code() == Some(1) {
            return Ok(None);
        }
        let command = finished.command.clone();
        let printed = finished.success()?;
        let first = printed.lines().next().unwrap_or_default().to_str_lossy().into_owned();
        first.parse().map(Some).map_err(|_| GitError::Answer { command, why: first })
    }
}

impl Objects {
    /// The one best common ancestor of two commits. Nothing where that is for git to say: there is none, or more than one; it lies
    /// too far back; or a commit on the way can't be read.
    fn only_merge_base(&self, one: CommitId, other: CommitId) -> Option<CommitId> {
        let (left, is_complete) = (Cell::new(COMMITS_MAX), Cell::new(true));
        let reader = Reader { database: &self.database, left: &left, is_complete: &is_complete };
        let bases = merge_base(to_gix(one.id()), &[to_gix(other.id())], &mut Graph::new(reader, None)).ok()??;
        (is_complete.get() && bases.len() == 1).then(|| CommitId(from_gix(bases.first())))
    }
}

/// Reads commits until there were too many of them, and remembers whether it read all that it was asked for.
struct Reader<'o> {
    database: &'o gix::odb::Handle,
    left: &'o Cell<u32>,
    is_complete: &'o Cell<bool>,
}

impl Find for Reader<'_> {
    fn try_find<'a>(&self, id: &gix::hash::oid, buffer: &'a mut Vec<u8>) -> gix::Result<Option<Data<'a>>> {
        let found = match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                self.database.try_find(id, buffer)?
            }
            None => None,
        };
        if found.is_none() {
            self.is_complete.set(false);
        }
        Ok(found)
    }
}
