//! The worktree's files as they were when a run began, and what has happened to them since.
//!
//! For each tracked file: size, mtime, ctime, inode and mode. ctime can't be set by a program, so that a file that was
//! edited and put back is seen; it counts as changed even though its content is equal again.

use bstr::BString;

use super::error::GitError;
use super::pathspec::Pathspecs;
use super::repository::Repository;

/// Something that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Changed {
    /// The path from the top; empty for what concerns no file.
    pub path: BString,
    /// What happened.
    pub how: How,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    /// The worktree's folder is gone.
    WorktreeGone,
    /// `HEAD` names another commit.
    HeadMoved,
    /// `HEAD` names another branch.
    BranchSwitched,
    /// The index differs from the candidate at this path.
    Staged,
    /// The file's content or mode differs.
    Modified,
    /// The file is gone.
    Deleted,
    /// The file was written or replaced, and holds the committed content again.
    Touched,
    /// A file that is not tracked and not ignored appeared.
    Appeared,
}

/// What the worktree was when a run began.
#[derive(Debug)]
pub struct Snapshot {}

impl Snapshot {
    /// What differs now from what it was then, sorted by path; empty when nothing does. Files that `touches` selects may
    /// have been rewritten with equal content.
    pub fn changed(&self, repository: &Repository, touches: &Pathspecs) -> Result<Vec<Changed>, GitError> {
        let _ = (repository, touches);
        Err(GitError::Answer { command: "snapshot".to_owned(), why: "not built yet".to_owned() })
    }
}
