//! The index: which files are tracked, and which flags hide a file from `git status`.

use bstr::{BStr, BString};
use gix::index::entry::{Flags, Mode, Stage};

use super::error::GitError;
use super::objects::from_gix;
use super::repository::Repository;
use crate::id::ObjectId;

/// One tracked path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tracked<'i> {
    pub(super) path: &'i BStr,
    /// As in a tree; 0o040000 stands for a folder of a sparse index.
    pub(super) mode: u32,
    pub(super) id: ObjectId,
    pub(super) skip_worktree: bool,
    pub(super) assume_unchanged: bool,
    /// Of the file that git compared last.
    pub(super) stat: gix::index::entry::Stat,
}

/// One worktree's index as it was when it was read.
pub(super) struct Index {
    file: gix::index::File,
}

impl Index {
    /// Reads the index of a git directory; without one, nothing is tracked.
    pub(super) fn read(repository: &Repository, git_dir: &std::path::Path) -> Result<Self, GitError> {
        let path = git_dir.join("index");
        let hash = repository.object_format().to_gix();
        // The checksum is git's to verify: `git status` runs beside this.
        let file = gix::index::File::at_or_default(path.clone(), hash, true, Default::default())
            .map_err(|error| GitError::Damaged { place: path, why: error.to_string() })?;
        Ok(Self { file })
    }

    /// Every tracked path (of conflicts, the first stage), in the index's order.
    pub(super) fn tracked(&self) -> impl Iterator<Item = Tracked<'_>> {
        self.file.entries().iter().filter(|entry| matches!(entry.stage(), Stage::Unconflicted)).map(|entry| Tracked {
            path: entry.path(&self.file),
            mode: mode_of(entry.mode),
            id: from_gix(&entry.id),
            skip_worktree: entry.flags.contains(Flags::SKIP_WORKTREE),
            assume_unchanged: entry.flags.contains(Flags::ASSUME_VALID),
            stat: entry.stat,
        })
    }

    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        self.file.entries().len()
    }

    /// Tracked paths that differ from `path` in nothing but case.
    pub(super) fn differing_in_case(&self, path: &BStr) -> Vec<BString> {
        let alike = self.tracked().filter(|entry| entry.path != path && entry.path.eq_ignore_ascii_case(path));
        alike.map(|entry| entry.path.to_owned()).collect()
    }
}

fn mode_of(mode: Mode) -> u32 {
    mode.bits()
}
