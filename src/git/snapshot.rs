//! The worktree's files as they were when a run began, and what has happened to them since.
//!
//! For each tracked file, those of submodules included: size, mtime, ctime, inode and mode. ctime can't be set by a
//! program, so that a file that was edited and put back is seen; it counts as changed even though its content is equal
//! again. It is known to be of the committed files where git compared them before it wrote the index and they are the same
//! since, or where git finds them clean and they still have it afterwards.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};

use super::candidate::Head;
use super::cleanliness::{DirtyKind, DirtyPath};
use super::error::GitError;
use super::index::{Index, Tracked};
use super::location;
use super::objects::MODE_TREE;
use super::pathspec::Pathspecs;
use super::repository::Repository;
use super::stat_data::{Stat, stat_all};
use super::status::{Beginning, Listing, Look};
use super::tree::{InputEntry, MODE_SUBMODULE};
use crate::config::Untracked;
use crate::id::CommitId;
use crate::os::files;

/// How many files are read to find out whether they hold what is committed, where stat data does not tell, and the largest, in
/// bytes.
const COMPARED_MAX: usize = 64;
const COMPARED_BYTES_MAX: u64 = 1024 * 1024;

/// How deep submodules in submodules are followed.
const SUBMODULE_DEPTH_MAX: u32 = 8;

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
pub struct Snapshot {
    commit: CommitId,
    branch: Option<String>,
    untracked: Untracked,
    files: Vec<(BString, Stat)>,
    /// The folders that they are in.
    folders: Vec<(BString, Stat)>,
    on_disk: Vec<InputEntry>,
    has_submodules: bool,
    /// Whether that stat data is known to be of the committed files. Otherwise the next look has to find out: git first, the
    /// stat data afterwards.
    is_known: bool,
    /// The beginning of the last look that found everything as it was.
    since: Beginning,
}

impl Snapshot {
    /// Looks at every tracked file, while `look` is under way.
    pub(super) fn take(repository: &Repository, head: &Head, look: &Look, index: &Index) -> Result<Self, GitError> {
        let top = repository.worktree()?;
        let mut paths = Vec::with_capacity(index.len());
        collect(repository, top, BString::default(), index, &mut paths, SUBMODULE_DEPTH_MAX)?;
        let has_submodules = index.tracked().any(|entry| entry.mode == MODE_SUBMODULE);
        let folders = with_stat_data(top, folders_of(&paths))?;
        let files = with_stat_data(top, paths)?;
        let since = look.beginning;
        let is_index_of_look = repository.index_file() == since.index && since.index.is_settled_at(since.time);
        let is_known = !has_submodules && is_index_of_look && repository.are_as_recorded(index, &since.index, &files);
        let sizes = OnceCell::new();
        let size_of = |entry: &Tracked<'_>| {
            let plain = files.iter().filter(|(_, stat)| stat.is_file());
            let by_path = || plain.map(|(path, stat)| (path.as_bstr(), stat.size)).collect::<HashMap<_, _>>();
            sizes.get_or_init(by_path).get(entry.path).copied()
        };
        let on_disk = repository.on_disk(index, &size_of)?;
        let Head { commit, branch, .. } = head.clone();
        let untracked = look.untracked;
        Ok(Self { commit, branch, untracked, files, folders, on_disk, has_submodules, is_known, since })
    }

    /// The tracked paths that are on disk otherwise than committed, though clean: part of what is checked.
    pub fn on_disk(&self) -> &[InputEntry] {
        &self.on_disk
    }

    /// Whether a file is closed to its owner, as git leaves none.
    pub fn has_closed_file(&self) -> bool {
        self.files.iter().any(|(_, stat)| stat.is_file() && stat.mode & 0o600 != 0o600)
    }

    /// What differs now from what it was then, sorted by path; empty when nothing does. Files that `touches` selects may
    /// have been rewritten with equal content (`none` selects nothing); once nothing else differs, they count from then on as
    /// they are now, so that whoever may not rewrite them is held to that.
    pub fn changed(&mut self, repository: &Repository, touches: Option<&Pathspecs>) -> Result<Vec<Changed>, GitError> {
        let top = repository.worktree()?;
        let gone = vec![Changed { path: BString::default(), how: How::WorktreeGone }];
        if !top.is_dir() || !repository.git_dir().is_dir() {
            return Ok(gone);
        }
        let mut found = BTreeMap::new();
        self.look_at_head(repository, &mut found)?;
        if found.is_empty() && self.is_unmoved(repository, top) {
            return Ok(Vec::new());
        }
        let (beginning, dirty, stats) = match self.look(repository, top) {
            Ok(looked) => looked,
            Err(_) if !top.is_dir() => return Ok(gone),
            Err(error) => return Err(error),
        };
        for DirtyPath { path, kind } in dirty {
            found.insert(path, how_of(kind));
        }
        let mut rewritten = Vec::new();
        for (at, (now, (path, then))) in stats.into_iter().zip(&self.files).enumerate() {
            let declared = touches.is_some_and(|touches| touches.selects(path.as_bstr(), false));
            if now == *then {
                continue;
            }
            if now == Stat::default() {
                found.insert(path.clone(), How::Deleted);
            } else if declared {
                rewritten.push((at, now));
            } else {
                found.entry(path.clone()).or_insert(How::Touched);
            }
        }
        if found.is_empty() {
            // Of a file that was rewritten it is not known whether git saw it before or after.
            self.is_known = rewritten.is_empty();
            rewritten.into_iter().for_each(|(at, now)| self.files[at].1 = now);
            self.since = beginning;
        }
        Ok(found.into_iter().map(|(path, how)| Changed { path, how }).collect())
    }

    /// The beginning of a look, what git finds, and the stat data of now.
    ///
    /// Where the kept stat data is known to be of the committed files, both are looked up at the same time: what is the same now
    /// was so all the while, and the rest is seen by one of the two. Otherwise git looks first: a file that it finds clean and
    /// that has the kept stat data afterwards was clean from the beginning.
    fn look(&self, repository: &Repository, top: &Path) -> Result<(Beginning, Vec<DirtyPath>, Vec<Stat>), GitError> {
        let look = repository.begin_to_look(self.untracked)?;
        let beginning = look.beginning;
        let beside = self.is_known.then(|| stat_data(top, &self.files)).transpose()?;
        let dirty = repository.dirty_now(self.commit, look)?;
        Ok((beginning, dirty, beside.map_or_else(|| stat_data(top, &self.files), Ok)?))
    }

    /// Whether a change of anything tracked since the last look would show in the stat data.
    pub fn is_settled(&self) -> bool {
        let mut kept = self.files.iter().map(|(_, stat)| stat).chain([&self.since.index]);
        self.is_known && !self.has_submodules && kept.all(|stat| stat.is_settled_at(self.since.time))
    }

    /// Whether nothing tracked can have changed since the last look, by stat data alone, and nothing untracked appeared. git,
    /// which compares the same stat data with the index, and the index with the commit, need not do so again; whatever is in
    /// doubt is left to it.
    fn is_unmoved(&self, repository: &Repository, top: &Path) -> bool {
        if !self.is_settled() {
            return false;
        }
        let listing = (self.untracked == Untracked::Refuse).then(|| repository.begin_to_list_untracked());
        let files = stat_data(top, &self.files).unwrap_or_default();
        let folders = stat_data(top, &self.folders).unwrap_or_default();
        files.iter().eq(self.files.iter().map(|(_, stat)| stat))
            && folders.len() == self.folders.len()
            && folders.iter().zip(&self.folders).all(|(now, (_, then))| now.is_same_folder(then))
            && repository.index_file() == self.since.index
            && listing.is_none_or(|listing| listing.and_then(Listing::finish).is_ok_and(|paths| paths.is_empty()))
    }

    fn look_at_head(&self, repository: &Repository, found: &mut BTreeMap<BString, How>) -> Result<(), GitError> {
        let how = match repository.head_position() {
            Ok((_, commit)) if commit != self.commit => How::HeadMoved,
            Ok((branch, _)) if branch != self.branch => How::BranchSwitched,
            Ok(_) => return Ok(()),
            Err(GitError::Unborn { .. }) => How::BranchSwitched,
            Err(error) => return Err(error),
        };
        found.insert(BString::default(), how);
        Ok(())
    }
}

impl Repository {
    /// Whether each of `files`, all of `index`, was what the index names when its stat data was taken: git compared it before
    /// it wrote that index, and it is the same since; of a few, by their content.
    fn are_as_recorded(&self, index: &Index, index_file: &Stat, files: &[(BString, Stat)]) -> bool {
        let mut compared = 0;
        let entries = index.tracked().filter(|entry| entry.mode != MODE_TREE);
        entries.zip(files).all(|(entry, (_, stat))| {
            stat.is_recorded(&entry, index_file) || {
                compared += 1;
                compared <= COMPARED_MAX && self.holds(&entry, stat).unwrap_or(false)
            }
        })
    }

    /// Whether the file of `entry` holds, byte for byte, what the index names.
    fn holds(&self, entry: &Tracked<'_>, stat: &Stat) -> Result<bool, GitError> {
        let path = self.worktree()?.join(to_path(entry.path));
        if !stat.is_file_of_mode(entry.mode) {
            return Ok(false);
        }
        let bytes = files::read_bounded(&path, COMPARED_BYTES_MAX).ok().flatten();
        Ok(bytes.map(|bytes| self.objects()?.blob_id(&bytes)).transpose()? == Some(entry.id))
    }
}

fn how_of(kind: DirtyKind) -> How {
    match kind {
        DirtyKind::Unmerged | DirtyKind::Staged | DirtyKind::IntentToAdd => How::Staged,
        DirtyKind::Modified | DirtyKind::Mode | DirtyKind::Hidden | DirtyKind::Submodule => How::Modified,
        DirtyKind::Deleted | DirtyKind::Sparse => How::Deleted,
        DirtyKind::Untracked => How::Appeared,
    }
}

/// Appends every tracked path, from the top, and those in the submodules that are checked out.
fn collect(
    repository: &Repository,
    root: &Path,
    prefix: BString,
    index: &Index,
    paths: &mut Vec<BString>,
    depth: u32,
) -> Result<(), GitError> {
    for entry in index.tracked() {
        let mut path = prefix.clone();
        path.extend_from_slice(entry.path);
        if entry.mode == MODE_SUBMODULE {
            let folder = root.join(to_path(entry.path));
            if depth > 0
                && let Ok(git_dir) = location::git_dir_of(&folder)
                && git_dir != repository.git_dir()
            {
                let inner = Index::read(repository, &git_dir)?;
                path.push(b'/');
                collect(repository, &folder, path, &inner, paths, depth - 1)?;
            }
        } else if entry.mode != MODE_TREE {
            paths.push(path);
        }
    }
    Ok(())
}

/// The folders below the top that hold `paths`, each once.
fn folders_of(paths: &[BString]) -> Vec<BString> {
    let mut folders = BTreeSet::new();
    for path in paths {
        let mut path = path.as_bstr();
        while let Some(folder) = folder_of(path).filter(|folder| !folder.is_empty() && folders.insert(*folder)) {
            path = folder;
        }
    }
    folders.into_iter().map(ToOwned::to_owned).collect()
}

/// The folder that `path` lies in, empty for the top; none for the top itself.
pub(super) fn folder_of(path: &BStr) -> Option<&BStr> {
    (!path.is_empty()).then(|| path[..path.rfind_byte(b'/').unwrap_or_default()].as_bstr())
}

/// The stat data of now for each of those files or folders.
fn stat_data(top: &Path, known: &[(BString, Stat)]) -> Result<Vec<Stat>, GitError> {
    stat_all(top, &known.iter().map(|(path, _)| path.as_bstr()).collect::<Vec<_>>())
}

fn with_stat_data(top: &Path, paths: Vec<BString>) -> Result<Vec<(BString, Stat)>, GitError> {
    let stats = stat_all(top, &paths.iter().map(|path| path.as_bstr()).collect::<Vec<_>>())?;
    Ok(paths.into_iter().zip(stats).collect())
}

pub(super) fn to_path(path: &BStr) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(path.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_opened_says_nothing_about_its_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let absent = stat_all(folder.path(), &["f".into()]).expect("the folder is there");
        assert_eq!(absent, [Stat::default()]);
        assert!(stat_all(&folder.path().join("gone"), &["f".into()]).is_err());
    }
}
