//! Whether the worktree is the committed tree.

use bstr::BString;

use super::candidate::{Head, Operation};
use super::error::GitError;
use super::repository::Repository;
use super::snapshot::Snapshot;

/// What to make of files that are neither tracked nor ignored (`[gate] untracked`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untracked {
    /// They make the worktree dirty.
    Refuse,
    /// They are let be.
    Ignore,
}

/// How far the check goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// For an answer: is it clean now?
    Now,
    /// For a run: clean now, and the stat data that later checks compare against, taken first.
    WithSnapshot,
}

/// The answer.
#[derive(Debug)]
pub enum Cleanliness {
    /// The worktree is the committed tree.
    Clean {
        /// What later checks compare against, if it was asked for.
        snapshot: Option<Snapshot>,
    },
    /// It is not.
    Dirty {
        /// What is in the way, sorted by path, each path once.
        paths: Vec<DirtyPath>,
        /// Why, where that is not plain from the paths.
        causes: Vec<Cause>,
    },
}

/// One thing in the way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirtyPath {
    /// From the top.
    pub path: BString,
    /// What is the matter with it.
    pub kind: DirtyKind,
}

/// What is the matter with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DirtyKind {
    /// A merge left it unresolved.
    Unmerged,
    /// The index differs from `HEAD`.
    Staged,
    /// The file differs from the index.
    Modified,
    /// The file is gone.
    Deleted,
    /// `git add --intent-to-add`, without content.
    IntentToAdd,
    /// It differs although `assume-unchanged` or `skip-worktree` hides that from `git status`.
    Hidden,
    /// A submodule stands on another commit, or holds changes of its own.
    Submodule,
    /// Neither tracked nor ignored.
    Untracked,
    /// Absent because a sparse checkout leaves it out: the tree is partial.
    Sparse,
}

/// Why a worktree is dirty, where the paths alone puzzle people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// Conflicts of an operation that is under way.
    Unfinished(Operation),
    /// Only part of the tree is checked out (B064).
    PartialTree,
    /// The rules for line endings would change what is committed (B061).
    LineEndings {
        /// Which files.
        paths: Vec<BString>,
    },
    /// A clean filter would change what is committed (B062).
    Filter {
        /// The filter's name in `.gitattributes`.
        name: String,
        /// Which files.
        paths: Vec<BString>,
    },
    /// Names that this file system can't tell apart (B068).
    CaseCollision {
        /// Which names.
        paths: Vec<BString>,
    },
}

impl Repository {
    /// Whether this worktree is exactly the tree of `head`.
    pub fn cleanliness(&self, head: &Head, untracked: Untracked, depth: Depth) -> Result<Cleanliness, GitError> {
        let _ = (head, untracked, depth);
        Err(GitError::Answer { command: "git status".to_owned(), why: "not built yet".to_owned() })
    }
}
