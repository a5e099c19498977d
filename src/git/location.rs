//! Where the repository is: git's own search, without starting git.
//!
//! Follows gitrepository-layout and git's discovery: `GIT_DIR` first; then upward from the current directory, a `.git`
//! folder or file, or a bare repository, up to `GIT_CEILING_DIRECTORIES` and the file system's edge. Ownership is checked
//! as git does (`safe.directory`); where ours does not suffice, git is asked and its words are kept.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::command::Git;
use super::error::GitError;
use super::format::Format;

/// The variables that locate a repository, and what else of the environment this module needs, taken once.
#[derive(Debug, Clone, Default)]
pub struct LocationVariables {
    /// `GIT_DIR`.
    pub git_dir: Option<OsString>,
    /// `GIT_WORK_TREE`.
    pub work_tree: Option<OsString>,
    /// `GIT_COMMON_DIR`.
    pub common_dir: Option<OsString>,
    /// `GIT_CEILING_DIRECTORIES`.
    pub ceilings: Option<OsString>,
    /// `GIT_DISCOVERY_ACROSS_FILESYSTEM`.
    pub across_filesystems: Option<OsString>,
    /// `GIT_TEST_ASSUME_DIFFERENT_OWNER`.
    pub assume_other_owner: Option<OsString>,
    /// `PATH`: to recognise the git that is installed without starting it.
    pub path: Option<OsString>,
}

impl LocationVariables {
    /// Takes the variables through `get`, which is `os::environment`'s reader or a test's table.
    pub fn from_lookup(mut get: impl FnMut(&str) -> Option<OsString>) -> Self {
        Self {
            git_dir: get("GIT_DIR"),
            work_tree: get("GIT_WORK_TREE"),
            common_dir: get("GIT_COMMON_DIR"),
            ceilings: get("GIT_CEILING_DIRECTORIES"),
            across_filesystems: get("GIT_DISCOVERY_ACROSS_FILESYSTEM"),
            assume_other_owner: get("GIT_TEST_ASSUME_DIFFERENT_OWNER"),
            path: get("PATH"),
        }
    }
}

/// Where a repository's parts are. Paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// This worktree's own git directory.
    pub git_dir: PathBuf,
    /// The git directory that all worktrees share.
    pub common_dir: PathBuf,
    /// The worktree's top; none in a bare repository and inside a git directory.
    pub worktree: Option<PathBuf>,
}

/// What the search found, before formats and owners were looked at.
struct Candidate {
    git_dir: PathBuf,
    /// The folder that holds `.git`, if that is how it was found.
    folder: Option<PathBuf>,
    /// The `.git` file that led there.
    git_file: Option<PathBuf>,
    explicit: bool,
}

/// Finds the repository that a git command started in `cwd` would use, and reads its format.
pub(super) fn find(cwd: &Path, variables: &LocationVariables) -> Result<(Location, Format), GitError> {
    let cwd = cwd.canonicalize().map_err(GitError::io(format!("look at `{}`", cwd.display())))?;
    let found = match &variables.git_dir {
        Some(named) => explicit(&cwd, Path::new(named))?,
        None => search(&cwd, variables)?,
    };
    let common_dir = common_dir_of(&found.git_dir, &cwd, variables)?;
    if !found.explicit {
        check_owner(&cwd, &found, variables)?;
    }
    let format = Format::read(&found.git_dir, &common_dir)?;
    let worktree = worktree_of(&cwd, &found, &common_dir, &format, variables)?;
    Ok((Location { git_dir: found.git_dir, common_dir, worktree }, format))
}

fn explicit(cwd: &Path, named: &Path) -> Result<Candidate, GitError> {
    let place = cwd.join(named);
    let (git_dir, git_file) = if place.is_file() { (follow_git_file(&place)?, Some(place)) } else { (place, None) };
    if !looks_like_git_dir(&git_dir) {
        return Err(GitError::Broken { place: git_dir, why: "`GIT_DIR` names it, and it is no git directory".into() });
    }
    let git_dir = git_dir.canonicalize().map_err(GitError::io(format!("look at `{}`", git_dir.display())))?;
    Ok(Candidate { git_dir, folder: None, git_file, explicit: true })
}

/// Walks upward from `cwd`.
fn search(cwd: &Path, variables: &LocationVariables) -> Result<Candidate, GitError> {
    let ceiling = ceiling_above(cwd, variables);
    let across = variables.across_filesystems.as_deref().is_some_and(|value| is_true(value.as_bytes()));
    let device = |path: &Path| std::fs::metadata(path).map(|meta| meta.dev()).ok();
    let start_device = device(cwd);
    let mut jj = false;
    for place in cwd.ancestors() {
        if ceiling.as_deref() == Some(place) && place != cwd {
            break;
        }
        if !across && device(place) != start_device {
            break;
        }
        let dot_git = place.join(".git");
        match std::fs::metadata(&dot_git) {
            Ok(meta) if meta.is_file() => {
                let git_dir = follow_git_file(&dot_git)?;
                return Ok(Candidate {
                    git_dir,
                    folder: Some(place.to_owned()),
                    git_file: Some(dot_git),
                    explicit: false,
                });
            }
            Ok(meta) if meta.is_dir() && looks_like_git_dir(&dot_git) => {
                let git_dir = dot_git.canonicalize().unwrap_or(dot_git);
                return Ok(Candidate { git_dir, folder: Some(place.to_owned()), git_file: None, explicit: false });
            }
            _ => {}
        }
        if looks_like_git_dir(place) {
            return Ok(Candidate { git_dir: place.to_owned(), folder: None, git_file: None, explicit: false });
        }
        jj |= place.join(".jj").is_dir();
    }
    Err(GitError::NotARepository { from: cwd.to_owned(), jj })
}

/// The longest ceiling that is a proper ancestor of `cwd`.
fn ceiling_above(cwd: &Path, variables: &LocationVariables) -> Option<PathBuf> {
    let list = variables.ceilings.as_deref()?;
    let mut resolve = true;
    let mut best: Option<PathBuf> = None;
    for entry in list.as_bytes().split(|&byte| byte == b':') {
        // An empty entry means: from here on, take the entries as they are.
        if entry.is_empty() {
            resolve = false;
            continue;
        }
        let path = PathBuf::from(OsString::from_vec(entry.to_vec()));
        let path = if resolve { path.canonicalize().unwrap_or(path) } else { path };
        let longer = best.as_ref().is_none_or(|known| path.as_os_str().len() > known.as_os_str().len());
        if longer && path != cwd && cwd.starts_with(&path) {
            best = Some(path);
        }
    }
    best
}

/// As git's `is_git_directory`: an object folder, a ref folder, and a `HEAD`.
fn looks_like_git_dir(place: &Path) -> bool {
    let common = read_path(&place.join("commondir")).map_or_else(|| place.to_owned(), |named| place.join(named));
    std::fs::symlink_metadata(place.join("HEAD")).is_ok()
        && common.join("objects").is_dir()
        && common.join("refs").is_dir()
}

/// The git directory that a `.git` file names (`gitdir: …`).
fn follow_git_file(file: &Path) -> Result<PathBuf, GitError> {
    let broken = |why: String| GitError::Broken { place: file.to_owned(), why };
    let content = std::fs::read(file).map_err(GitError::io(format!("read `{}`", file.display())))?;
    let named = content.strip_prefix(b"gitdir: ").ok_or_else(|| broken("it does not begin with `gitdir: `".into()))?;
    let named = PathBuf::from(OsString::from_vec(trim_line_end(named).to_vec()));
    let git_dir = file.parent().unwrap_or(Path::new("/")).join(named);
    if !looks_like_git_dir(&git_dir) {
        return Err(broken(format!("it names `{}`, which is no git directory", git_dir.display())));
    }
    git_dir.canonicalize().map_err(GitError::io(format!("look at `{}`", git_dir.display())))
}

fn common_dir_of(git_dir: &Path, cwd: &Path, variables: &LocationVariables) -> Result<PathBuf, GitError> {
    let named = match &variables.common_dir {
        Some(named) => cwd.join(named),
        None => match read_path(&git_dir.join("commondir")) {
            Some(named) => git_dir.join(named),
            None => return Ok(git_dir.to_owned()),
        },
    };
    named.canonicalize().map_err(GitError::io(format!("look at `{}`", named.display())))
}

/// git's rule: worktree, `.git` file and git directory must belong to us; otherwise git, with its `safe.directory`, decides.
fn check_owner(cwd: &Path, found: &Candidate, variables: &LocationVariables) -> Result<(), GitError> {
    let assumed = variables.assume_other_owner.as_deref().is_some_and(|value| is_true(value.as_bytes()));
    let me = rustix::process::geteuid().as_raw();
    let places = [found.folder.as_deref(), found.git_file.as_deref(), Some(found.git_dir.as_path())];
    let ours = |place: &Path| std::fs::symlink_metadata(place).is_ok_and(|meta| meta.uid() == me);
    if !assumed && places.into_iter().flatten().all(ours) {
        return Ok(());
    }
    let finished = Git::anywhere(cwd).run(&["rev-parse", "--git-dir"])?;
    if finished.status.success() {
        return Ok(());
    }
    let place = found.folder.clone().unwrap_or_else(|| found.git_dir.clone());
    Err(GitError::Refused { place, stderr: finished.said() })
}

fn worktree_of(
    cwd: &Path,
    found: &Candidate,
    common_dir: &Path,
    format: &Format,
    variables: &LocationVariables,
) -> Result<Option<PathBuf>, GitError> {
    let resolved = |path: PathBuf| {
        path.canonicalize().map(Some).map_err(GitError::io(format!("look at the worktree `{}`", path.display())))
    };
    let linked = found.git_dir != common_dir;
    if let Some(named) = &variables.work_tree {
        return resolved(cwd.join(named));
    }
    // In a linked worktree `core.bare` and `core.worktree` speak of the main one.
    if !linked || format.own_worktree_setting {
        if let Some(named) = &format.worktree {
            return resolved(found.git_dir.join(named));
        }
        if format.bare {
            return Ok(None);
        }
    }
    match (&found.folder, found.explicit) {
        (Some(folder), _) => Ok(Some(folder.clone())),
        (None, true) => Ok(Some(cwd.to_owned())),
        // Found from inside the git directory.
        (None, false) => Ok(None),
    }
}

/// The git directory of the checkout whose top is `folder`.
pub(super) fn git_dir_of(folder: &Path) -> Result<PathBuf, GitError> {
    let dot_git = folder.join(".git");
    if dot_git.is_file() {
        follow_git_file(&dot_git)
    } else {
        explicit(folder, Path::new(".git")).map(|found| found.git_dir)
    }
}

/// The one path in a file such as `commondir`.
pub(super) fn read_path(file: &Path) -> Option<PathBuf> {
    let content = std::fs::read(file).ok()?;
    let line = trim_line_end(&content);
    (!line.is_empty()).then(|| PathBuf::from(OsString::from_vec(line.to_vec())))
}

fn trim_line_end(mut line: &[u8]) -> &[u8] {
    while let [rest @ .., b'\n' | b'\r'] = line {
        line = rest;
    }
    line
}

/// git's reading of a boolean in the environment.
fn is_true(value: &[u8]) -> bool {
    matches!(value.to_ascii_lowercase().as_slice(), b"1" | b"true" | b"yes" | b"on")
}
