//! The candidate in the plain case: `HEAD` of this worktree.

use super::error::GitError;
use super::refs::RefValue;
use super::repository::Repository;
use crate::id::{CommitId, TreeId};

/// `HEAD`, as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The commit.
    pub commit: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// The branch's full ref name; none when detached.
    pub branch: Option<String>,
    /// The first line of the commit's message.
    pub summary: String,
}

/// Something that a person began and has not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// `git merge`.
    Merge,
    /// `git rebase`.
    Rebase,
    /// `git am`.
    Am,
    /// `git cherry-pick`.
    CherryPick,
    /// `git revert`.
    Revert,
    /// `git bisect`.
    Bisect,
}

impl Operation {
    /// Its name on git's command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::Am => "am",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Bisect => "bisect",
        }
    }

    /// The command that ends it and keeps what it came to.
    pub fn finish(self) -> &'static str {
        match self {
            Self::Merge => "git merge --continue",
            Self::Rebase => "git rebase --continue",
            Self::Am => "git am --continue",
            Self::CherryPick => "git cherry-pick --continue",
            Self::Revert => "git revert --continue",
            Self::Bisect => "git bisect reset",
        }
    }
}

impl Repository {
    /// `HEAD` now. An unborn branch is an error.
    pub fn head(&self) -> Result<Head, GitError> {
        let (branch, commit) = self.head_position()?;
        let commit = self.objects()?.commit(commit)?;
        Ok(Head { commit: commit.id, tree: commit.tree, branch, summary: commit.summary })
    }

    /// Branch (none when detached) and commit of `HEAD` now.
    pub fn head_position(&self) -> Result<(Option<String>, CommitId), GitError> {
        match self.refs().read("HEAD")? {
            RefValue::Direct(id) => Ok((None, CommitId(id))),
            RefValue::Symbolic(branch) => match self.refs().resolve(&branch)? {
                Some((_, id)) => Ok((Some(branch), CommitId(id))),
                None => Err(GitError::Unborn { branch }),
            },
            RefValue::Absent => {
                Err(GitError::Broken { place: self.git_dir().to_owned(), why: "it has no `HEAD`".to_owned() })
            }
            RefValue::Broken(why) => Err(GitError::Damaged { place: self.git_dir().join("HEAD"), why }),
        }
    }

    /// What a person began here and has not finished; the first that is found.
    pub fn operation(&self) -> Result<Option<Operation>, GitError> {
        let has = |name: &str| self.git_dir().join(name).exists();
        if has("rebase-apply/applying") {
            return Ok(Some(Operation::Am));
        }
        if has("rebase-merge") || has("rebase-apply") {
            return Ok(Some(Operation::Rebase));
        }
        if has("MERGE_HEAD") {
            return Ok(Some(Operation::Merge));
        }
        for (name, operation) in [("CHERRY_PICK_HEAD", Operation::CherryPick), ("REVERT_HEAD", Operation::Revert)] {
            // A file on one ref format, a ref on the other.
            if self.refs().read(name)? != RefValue::Absent {
                return Ok(Some(operation));
            }
        }
        Ok(has("BISECT_LOG").then_some(Operation::Bisect))
    }
}
