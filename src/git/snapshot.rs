//! The worktree's files as they were when a run began, and what has happened to them since.
//!
//! For each tracked file, those of submodules included: size, mtime, ctime, inode and mode. ctime can't be set by a
//! program, so that a file that was edited and put back is seen; it counts as changed even though its content is equal
//! again. The snapshot is taken *before* `git status` looks, so that whatever happens to a file after git found it clean
//! differs from what is kept here.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
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
use super::tree::{InputEntry, MODE_SUBMODULE};
use crate::config::Untracked;
use crate::id::CommitId;

/// How many files are worth a thread.
const FILES_PER_THREAD: usize = 1_000;
/// The most threads that look at files.
const THREADS_MAX: usize = 8;
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

/// What tells one state of a file from another. All zero for a file that is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Stat {
    size: u64,
    inode: u64,
    mtime: (i64, i64),
    ctime: (i64, i64),
    mode: u32,
}

impl Stat {
    fn is_file(&self) -> bool {
        self.mode & 0o170_000 == 0o100_000
    }
}

/// What the worktree was when a run began.
#[derive(Debug)]
pub struct Snapshot {
    commit: CommitId,
    branch: Option<String>,
    untracked: Untracked,
    files: Vec<(BString, Stat)>,
    on_disk: Vec<InputEntry>,
}

impl Snapshot {
    /// Looks at every tracked file.
    pub(super) fn take(
        repository: &Repository,
        head: &Head,
        untracked: Untracked,
        index: &Index,
    ) -> Result<Self, GitError> {
        let top = repository.worktree()?;
        let mut paths = Vec::with_capacity(index.len());
        collect(repository, top, BString::default(), index, &mut paths, SUBMODULE_DEPTH_MAX)?;
        let stats = stat_all(top, &paths.iter().map(|path| path.as_bstr()).collect::<Vec<_>>())?;
        let files: Vec<(BString, Stat)> = paths.into_iter().zip(stats).collect();
        let sizes = OnceCell::new();
        let size_of = |entry: &Tracked<'_>| {
            let plain = files.iter().filter(|(_, stat)| stat.is_file());
            let by_path = || plain.map(|(path, stat)| (path.as_bstr(), stat.size)).collect::<HashMap<_, _>>();
            sizes.get_or_init(by_path).get(entry.path).copied()
        };
        let on_disk = repository.on_disk(index, &size_of)?;
        Ok(Self { commit: head.commit, branch: head.branch.clone(), untracked, files, on_disk })
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
        // Both looks are at the same time. Whatever happened before is seen by one of them, and that is what counts: what
        // happens to a file from here on differs from what is kept, and the next check sees it.
        let look = repository.begin_to_look(self.untracked);
        let stats = stat_all(top, &self.files.iter().map(|(path, _)| path.as_bstr()).collect::<Vec<_>>());
        let looked = look.and_then(|look| Ok((repository.dirty_now(self.commit, look)?, stats?)));
        let (dirty, stats) = match looked {
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
            rewritten.into_iter().for_each(|(at, now)| self.files[at].1 = now);
        }
        Ok(found.into_iter().map(|(path, how)| Changed { path, how }).collect())
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

/// Looks at files, in several threads when there are many. Names are looked up from `top`, not from the root.
fn stat_all(top: &Path, paths: &[&BStr]) -> Result<Vec<Stat>, GitError> {
    let mut stats = vec![Stat::default(); paths.len()];
    let top = std::fs::File::open(top).map_err(GitError::io(format!("open `{}`", top.display())))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let threads = (paths.len() / FILES_PER_THREAD).clamp(1, cores);
    let share = paths.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        for (paths, stats) in paths.chunks(share).zip(stats.chunks_mut(share)) {
            let top = &top;
            let look = move || paths.iter().zip(stats).for_each(|(path, stat)| *stat = stat_of(top, path));
            if threads == 1 { look() } else { drop(scope.spawn(look)) }
        }
    });
    Ok(stats)
}

fn stat_of(top: &std::fs::File, path: &BStr) -> Stat {
    // The types of these fields differ from system to system.
    #[expect(clippy::unnecessary_cast, reason = "see above")]
    rustix::fs::statat(top, path.as_bytes(), rustix::fs::AtFlags::SYMLINK_NOFOLLOW).map_or_else(
        |_| Stat::default(),
        |meta| Stat {
            size: meta.st_size as u64,
            inode: meta.st_ino as u64,
            mtime: (meta.st_mtime as i64, meta.st_mtime_nsec as i64),
            ctime: (meta.st_ctime as i64, meta.st_ctime_nsec as i64),
            mode: meta.st_mode as u32,
        },
    )
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
