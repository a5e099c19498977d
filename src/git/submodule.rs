//! Submodules: each stands at the very commit that the outer index names, and is clean in itself.
//!
//! `git status` of the outer repository asks the inner one with the inner one's own settings, and believes the flags of its
//! index. So each submodule is looked at here as what it is, a repository, in the same strict way, and so are those in it.
//! One that is in use (`git submodule init`) and not checked out leaves the tree partial, as a sparse checkout does.

use std::path::Path;

use super::cleanliness::DirtyKind;
use super::error::GitError;
use super::index::{Index, Tracked};
use super::location;
use super::repository::Repository;
use super::snapshot::to_path;
use super::status::Reported;
use super::tree::MODE_SUBMODULE;
use crate::config::Untracked;
use crate::id::CommitId;

impl Repository {
    /// The submodules in `index` that are not what it names.
    pub(super) fn dirty_submodules(&self, index: &Index, untracked: Untracked) -> Result<Vec<Reported>, GitError> {
        let top = self.worktree()?;
        let mut found = Vec::new();
        for entry in index.tracked().filter(|entry| entry.mode == MODE_SUBMODULE) {
            let kind = self.submodule_kind(&top.join(to_path(entry.path)), &entry, untracked)?;
            found.extend(kind.map(|kind| Reported { path: entry.path.to_owned(), kind, indexed: None }));
        }
        Ok(found)
    }

    /// What is the matter with the submodule in `folder`, if anything is.
    fn submodule_kind(
        &self,
        folder: &Path,
        entry: &Tracked<'_>,
        untracked: Untracked,
    ) -> Result<Option<DirtyKind>, GitError> {
        let Some(inner) = self.submodule(folder)? else {
            // One that nobody here works with is absent from every plain checkout.
            let in_use = self.active_submodules()?.iter().any(|path| *path == to_path(entry.path));
            if in_use {
                return Ok(Some(DirtyKind::Sparse));
            }
            // git looks for nothing untracked in a folder that stands for a submodule.
            let is_empty = std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
            return Ok((!is_empty && untracked == Untracked::Refuse).then_some(DirtyKind::Untracked));
        };
        // Only a checkout that stands right here: one that leads elsewhere could lead in circles.
        if inner.worktree().ok() != Some(folder) {
            return Ok(Some(DirtyKind::Submodule));
        }
        let named = Some(CommitId(entry.id));
        let stands_at = match inner.head_position() {
            Ok((_, commit)) => Some(commit),
            Err(GitError::Unborn { .. }) => None,
            Err(error) => return Err(error),
        };
        if stands_at != named {
            return Ok(Some(DirtyKind::Submodule));
        }
        let look = inner.begin_to_look(untracked)?;
        let (findings, ()) = inner.findings(look, |_, _| Ok(()))?;
        let partial = |reported: &Reported| reported.kind == DirtyKind::Sparse;
        Ok(match (findings.commit == named, findings.reported.as_slice()) {
            (true, []) => None,
            (true, reported) if reported.iter().all(partial) => Some(DirtyKind::Sparse),
            _ => Some(DirtyKind::Submodule),
        })
    }

    /// The repository of the submodule in `folder`; none where it is not checked out.
    fn submodule(&self, folder: &Path) -> Result<Option<Self>, GitError> {
        match location::git_dir_of(folder) {
            Ok(git_dir) if git_dir != self.git_dir() => {}
            _ => return Ok(None),
        }
        // The variables that locate a repository speak of the outer one.
        let variables = location::LocationVariables { path: self.variables().path.clone(), ..Default::default() };
        Self::discover(folder, &variables).map(Some)
    }
}
