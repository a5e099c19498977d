//! What git says about the worktree: `git status` as a child that runs while we look at the index ourselves.

use bstr::{BString, ByteSlice};

use super::cleanliness::DirtyKind;
use super::command::{Git, Running};
use super::error::GitError;
use super::repository::Repository;
use super::stat_data::{FileTime, Stat, file_time_now};
use crate::config::Untracked;
use crate::id::{CommitId, ObjectId};

/// How long `git status` may take, in milliseconds: a cold cache and a hundred thousand files.
const STATUS_MS: u64 = 600_000;

/// What `git status` says of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reported {
    pub(super) path: BString,
    pub(super) kind: DirtyKind,
    /// The object in the index, where there is one.
    pub(super) indexed: Option<ObjectId>,
}

/// The whole answer.
#[derive(Debug, Default)]
pub(super) struct Status {
    /// The commit that the index was compared with; none while the branch is unborn.
    pub(super) commit: Option<CommitId>,
    pub(super) reported: Vec<Reported>,
}

/// A look at the worktree that has begun: `git status` works while its asker does something else. Dropped unused, it ends.
#[derive(Debug)]
pub struct Look {
    running: Running,
    pub(super) untracked: Untracked,
    pub(super) beginning: Beginning,
}

/// The beginning of a look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beginning {
    pub(super) time: FileTime,
    /// The index file as it was then.
    pub(super) index: Stat,
}

impl Repository {
    /// Begins to look whether the worktree is clean, for [`Repository::cleanliness`].
    ///
    /// # Errors
    /// There is no worktree, or git can't be started.
    pub fn begin_to_look(&self, untracked: Untracked) -> Result<Look, GitError> {
        self.worktree()?;
        let beginning = Beginning { time: file_time_now(), index: self.index_file() };
        Ok(Look { running: start(self.git(), untracked)?, untracked, beginning })
    }

    /// The stat data of this worktree's index.
    pub(super) fn index_file(&self) -> Stat {
        Stat::of_file(&self.git_dir().join("index"))
    }

    /// Begins to list what is neither tracked nor ignored, as a look would.
    pub(super) fn begin_to_list_untracked(&self) -> Result<Listing, GitError> {
        let words = ["ls-files", "-z", "--others", "--exclude-standard"];
        strict(self.git()).start_within(&words, STATUS_MS).map(Listing)
    }
}

impl Look {
    pub(super) fn finish(self) -> Result<Status, GitError> {
        finish(self.running)
    }
}

/// A listing of paths that git makes while its asker does something else.
#[derive(Debug)]
pub(super) struct Listing(pub(super) Running);

impl Listing {
    /// What is listed.
    ///
    /// # Errors
    /// git fails.
    pub(super) fn finish(self) -> Result<Vec<BString>, GitError> {
        let listed = self.0.finish()?.success()?;
        Ok(listed.split_str("\0").filter(|path| !path.is_empty()).map(BString::from).collect())
    }
}

/// Settings that would make `git status` overlook what a job sees, overridden: a lax comparison of stat data, a mode or a link
/// that git is told not to look at, an untracked file that differs from a tracked one in case only, a cache.
const STRICT: &[&str] = &[
    "core.trustctime=true",
    "core.checkStat=default",
    "core.fileMode=true",
    "core.symlinks=true",
    "core.untrackedCache=false",
    // There the file system itself can't tell such names apart.
    #[cfg(target_os = "linux")]
    "core.ignoreCase=false",
];

/// Starts `git status`. Settings that would make it overlook a change are overridden: [`STRICT`], and a submodule's `ignore`.
fn start(git: &Git, untracked: Untracked) -> Result<Running, GitError> {
    let untracked = match untracked {
        Untracked::Refuse => "--untracked-files=all",
        Untracked::Ignore => "--untracked-files=no",
    };
    let arguments = [
        "status",
        "--porcelain=v2",
        "-z",
        "--branch",
        "--no-ahead-behind",
        "--no-renames",
        "--ignore-submodules=none",
        untracked,
    ];
    strict(git).start_within(&arguments, STATUS_MS)
}

fn strict(git: &Git) -> Git {
    STRICT.iter().fold(git.clone(), |git, setting| git.with_setting(setting))
}

/// Reads what it printed.
fn finish(running: Running) -> Result<Status, GitError> {
    let finished = running.finish()?;
    let command = finished.command.clone();
    let printed = finished.success()?;
    let mut status = Status::default();
    for line in printed.split_str("\0").filter(|line| !line.is_empty()) {
        if let Some(oid) = line.strip_prefix(b"# branch.oid ") {
            status.commit = oid.to_str().ok().and_then(|hex| hex.parse().ok());
        } else if !line.starts_with(b"#") {
            let unread = || GitError::Answer { command: command.clone(), why: line.to_str_lossy().into_owned() };
            status.reported.push(parse(line).ok_or_else(unread)?);
        }
    }
    Ok(status)
}

/// One entry of porcelain format 2 (git-status, "Porcelain Format Version 2").
fn parse(line: &[u8]) -> Option<Reported> {
    let (kind, rest) = line.split_once_str(" ")?;
    match kind {
        b"?" => Some(Reported { path: rest.into(), kind: DirtyKind::Untracked, indexed: None }),
        b"1" => {
            let mut fields = rest.splitn_str(8, " ");
            let state = fields.next()?;
            let submodule = fields.next()?.starts_with(b"S");
            let (in_index, on_disk) = (fields.clone().nth(1)?, fields.clone().nth(2)?);
            let indexed = fields.clone().nth(4)?.to_str().ok()?.parse().ok();
            let path = fields.nth(5)?.into();
            let kind = match kind_of(state, submodule)? {
                DirtyKind::Modified if in_index != on_disk => DirtyKind::Mode,
                kind => kind,
            };
            Some(Reported { path, kind, indexed })
        }
        b"u" => {
            let path = rest.splitn_str(10, " ").nth(9)?.into();
            Some(Reported { path, kind: DirtyKind::Unmerged, indexed: None })
        }
        _ => None,
    }
}

fn kind_of(state: &[u8], submodule: bool) -> Option<DirtyKind> {
    Some(match state {
        [b'.', b'A'] => DirtyKind::IntentToAdd,
        [b'.', _] if submodule => DirtyKind::Submodule,
        [b'.', b'D'] => DirtyKind::Deleted,
        [b'.', _] => DirtyKind::Modified,
        [_, _] => DirtyKind::Staged,
        _ => return None,
    })
}
