//! A checkout of ours: a linked worktree, detached, that is moved from commit to commit.
//!
//! It is a real worktree because jobs run git in it (`git describe`, `git rev-parse`) and because `git gc` then keeps what
//! its `HEAD` names. git moves it: `git checkout --force` looks at every tracked file, writes those that differ from the new
//! commit or from what it wrote itself, and leaves the others, with their modification times, alone. So filters, line
//! endings, symbolic links and long paths behave as they do for people, because it is the same command. No hook is run, no
//! reflog written, no branch touched: a job that attached `HEAD` to a branch does not get that branch moved.
//!
//! Nothing here knows whose checkout it is or whether it may be used now (`engine::pool`).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use bstr::{BStr, BString};

use super::candidate::Head;
use super::cleanliness::Cleanliness;
use super::command::{Git, Running};
use super::error::GitError;
use super::index::Index;
use super::location::{self, LocationVariables};
use super::repository::Repository;
use super::snapshot::{Snapshot, folder_of, to_path};
use super::status::Listing;
use crate::config::Untracked;
use crate::id::CommitId;
use crate::os::files;

/// How long a move may take, in milliseconds: a large commit through slow filters.
const MOVE_MS: u64 = 3_600_000;

/// Settings under which a checkout of ours is made and moved: nothing of the user's is run or recorded, no file is taken
/// for unchanged on trust, and the whole tree is there.
const SETTINGS: [&str; 10] = [
    "core.hooksPath=",
    "hook.post-checkout.enabled=false",
    "hook.reference-transaction.enabled=false",
    "core.logAllRefUpdates=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.sparseCheckout=false",
    "core.quotePath=false",
    "submodule.recurse=false",
    "worktree.useRelativePaths=false",
];

impl Repository {
    /// `commit` as a candidate that is no branch's.
    pub fn detached(&self, commit: CommitId) -> Result<Head, GitError> {
        let commit = self.objects()?.commit(commit)?;
        Ok(Head { commit: commit.id, tree: commit.tree, branch: None, summary: commit.summary })
    }

    /// Makes a linked worktree at `folder`, which is empty or not there; its `HEAD` is `commit`, and no file is in it.
    pub fn add_checkout(&self, folder: &Path, commit: CommitId) -> Result<(), GitError> {
        // Twice: also where a worktree that is registered at this place is gone, and was locked.
        let words = ["worktree", "add", "--force", "--force", "--detach", "--no-checkout"].map(OsString::from);
        let place = [folder.as_os_str().to_owned(), commit.to_string().into()];
        quiet(self.git()).ask(&[&words[..], &place].concat()).map(drop)
    }

    /// The checkout at `folder`, if it is a linked worktree of this repository and registered at that very place.
    pub fn checkout_at(&self, folder: &Path) -> Option<Self> {
        let git_dir = location::git_dir_of(folder).ok()?;
        let registered = location::read_path(&git_dir.join("gitdir"))?;
        let variables =
            LocationVariables { git_dir: None, work_tree: None, common_dir: None, ..self.variables().clone() };
        let found = Self::discover(folder, &variables).ok()?;
        let is_ours = registered == folder.join(".git")
            && found.common_dir() == self.common_dir()
            && found.git_dir() != self.common_dir()
            && found.worktree().is_ok_and(|top| top == folder);
        is_ours.then_some(found)
    }

    /// Removes the linked worktree at `folder`, whatever is in it, and what git knows of it.
    pub fn remove_checkout(&self, folder: &Path) -> Result<(), GitError> {
        let words = ["worktree", "remove", "--force", "--force"].map(OsString::from);
        quiet(self.git())
            .start_within(&[&words[..], &[folder.as_os_str().to_owned()]].concat(), MOVE_MS)?
            .finish()?
            .success()
            .map(drop)
    }

    /// Makes this checkout's tracked files exactly those of `commit`, whatever was done to them. Files that are not tracked
    /// stay, unless one is in the way.
    pub fn move_to(&self, commit: CommitId) -> Result<(), GitError> {
        self.begin_to_move_to(commit)?.finish()
    }

    /// As [`Repository::move_to`], for a caller who has something else to do meanwhile.
    pub fn begin_to_move_to(&self, commit: CommitId) -> Result<Move, GitError> {
        // Left by a git of a job that was killed; whoever moves a checkout has it for itself.
        for lock in ["index.lock", "HEAD.lock"] {
            remove_if_there(&self.git_dir().join(lock))?;
        }
        let commit = commit.to_string();
        let words = ["checkout", "--quiet", "--force", "--detach", "--no-recurse-submodules", &commit];
        quiet(self.git()).start_within(&words, MOVE_MS).map(Move)
    }

    /// Lets git forget of each tracked file that it is unchanged, unless its content is the index's, so that the next move
    /// writes it. What differs from what git wrote is put back first: a filter could make another file of equal content.
    pub fn compare_content(&self) -> Result<(), GitError> {
        let (_, stands_on) = self.head_position()?;
        self.move_to(stands_on)?;
        remove_if_there(&self.git_dir().join("index"))?;
        quiet(self.git()).ask(&["read-tree", &stands_on.to_string()])?;
        // A status other than 0 says that some file differs.
        let refreshed = quiet(self.git()).start_within(&["update-index", "-q", "--refresh"], MOVE_MS)?.finish()?;
        if refreshed.status.code().is_some() { Ok(()) } else { Err(refreshed.into_error()) }
    }

    /// What lies in this checkout and is not tracked, folders that are wholly so as one, but for what `keep` selects (patterns
    /// as in `.gitignore`).
    pub fn left_over(&self, keep: &[String]) -> Result<Vec<BString>, GitError> {
        self.begin_to_list_left_over(keep)?.finish()
    }

    fn begin_to_list_left_over(&self, keep: &[String]) -> Result<Listing, GitError> {
        let words = ["ls-files", "-z", "--others", "--directory"].map(OsString::from);
        let words = [&words[..], &selected("-x", keep)].concat();
        quiet(self.git()).start_within(&words, MOVE_MS).map(Listing)
    }

    /// Removes what is not tracked, ignored or not, nested repositories included, but for what `keep` selects.
    pub fn clean_but(&self, keep: &[String]) -> Result<(), GitError> {
        let words = ["clean", "-q", "-ffdx"].map(OsString::from);
        let words = [&words[..], &selected("-e", keep)].concat();
        quiet(self.git()).start_within(&words, MOVE_MS)?.finish()?.success().map(drop)
    }

    /// Removes what is neither tracked nor ignored.
    pub fn clean_unignored(&self) -> Result<(), GitError> {
        quiet(self.git()).start_within(&["clean", "-q", "-ffd"], MOVE_MS)?.finish()?.success().map(drop)
    }

    /// Looks whether this checkout is exactly `head`, and what else is in it but for what `keep` selects.
    pub fn look_through(&self, head: &Head, untracked: Untracked, keep: &[String]) -> Result<Survey, GitError> {
        // All of them only look, at the same time.
        let look = self.begin_to_look(untracked)?;
        let (findings, (snapshot, unseen, listing)) = self.findings(look, |look, index| {
            let snapshot = Snapshot::take(self, head, look, index)?;
            let unseen = Unseen::look(self.worktree()?, index);
            let listing = unseen.has_others.then(|| self.begin_to_list_left_over(keep)).transpose()?;
            Ok((snapshot, unseen, listing))
        })?;
        let state = self.judged(head, findings, snapshot)?;
        let left_over = listing.map(Listing::finish).transpose()?.unwrap_or_default();
        Ok(Survey { state, left_over, unseen })
    }

    /// Forgets what git knows of this checkout's files, so that the next move writes each of them.
    pub fn forget_index(&self) -> Result<(), GitError> {
        for name in ["index", "index.lock", "info/sparse-checkout"] {
            remove_if_there(&self.git_dir().join(name))?;
        }
        Ok(())
    }

    /// The submodules of this checkout's index that the user works with (`git submodule init`): their paths.
    pub fn active_submodules(&self) -> Result<Vec<PathBuf>, GitError> {
        let initialised = quiet(self.git()).run(&["config", "--get-regexp", r"^submodule\..*\.(url|active)$"])?;
        if !initialised.status.success() {
            return Ok(Vec::new());
        }
        let index = Index::read(self, self.git_dir())?;
        let links = index.tracked().filter(|entry| entry.mode == super::tree::MODE_SUBMODULE);
        Ok(links.map(|entry| to_path(entry.path)).collect())
    }
}

/// A move that git makes while we do something else.
#[derive(Debug)]
pub struct Move(Running);

impl Move {
    /// Waits for its end.
    pub fn finish(self) -> Result<(), GitError> {
        self.0.finish()?.success().map(drop)
    }
}

/// What was found in a checkout.
#[derive(Debug)]
pub struct Survey {
    /// Whether it is the commit.
    pub state: Cleanliness,
    /// What is not tracked and not kept, folders that are wholly so as one.
    pub left_over: Vec<BString>,
    /// What git does not look at; only to be relied on where the checkout is the commit.
    pub unseen: Unseen,
}

/// What git does not look at in a checkout.
#[derive(Debug, Default)]
pub struct Unseen {
    /// A `.git` in a folder of tracked files, where jobs would find another repository; pipes, sockets and devices beside tracked
    /// files; whatever lies where a submodule would be that is not checked out.
    pub left_over: Vec<BString>,
    /// Whether a folder is closed to its owner, as git leaves none.
    pub has_closed_folder: bool,
    /// Whether something lies beside tracked files that is none of them.
    has_others: bool,
}

impl Unseen {
    /// Looks into each folder of tracked files.
    fn look(top: &Path, index: &Index) -> Self {
        let mut seen = Self::default();
        // Of each folder, how many names in it are those of tracked files and their folders.
        let mut folders: BTreeMap<&BStr, usize> = BTreeMap::from([(BStr::new(""), 1)]);
        for entry in index.tracked() {
            if entry.mode == super::tree::MODE_SUBMODULE {
                let inside = std::fs::read_dir(top.join(to_path(entry.path)));
                let names = inside.into_iter().flatten().flatten().map(|inside| inside.file_name());
                seen.left_over.extend(names.map(|name| joined(entry.path, name.as_bytes())));
                // Its folder may be missing, and then something else would be counted in its place.
                seen.has_others = true;
            }
            let mut path = entry.path;
            while let Some(folder) = folder_of(path) {
                let names = folders.entry(folder).or_default();
                *names += 1;
                if *names > 1 {
                    break;
                }
                path = folder;
            }
        }
        for (folder, tracked) in folders {
            let path = top.join(to_path(folder));
            let Ok(inside) = std::fs::read_dir(&path) else {
                seen.has_closed_folder = true;
                continue;
            };
            seen.has_closed_folder |= is_closed(&path);
            let mut names = 0;
            for inside in inside {
                let Ok(inside) = inside else {
                    seen.has_closed_folder = true;
                    continue;
                };
                names += 1;
                let is_repository = inside.file_name() == ".git" && !folder.is_empty();
                if is_repository || inside.file_type().is_ok_and(is_special) {
                    seen.left_over.push(joined(folder, inside.file_name().as_bytes()));
                }
            }
            seen.has_others |= names != tracked;
        }
        seen
    }
}

fn quiet(git: &Git) -> Git {
    SETTINGS.iter().fold(git.clone(), |git, setting| git.with_setting(setting))
}

fn selected(option: &str, keep: &[String]) -> Vec<OsString> {
    keep.iter().flat_map(|pattern| [OsStr::new(option), OsStr::new(pattern)]).map(OsStr::to_owned).collect()
}

fn is_closed(folder: &Path) -> bool {
    folder.symlink_metadata().is_ok_and(|meta| meta.mode() & 0o700 != 0o700)
}

fn is_special(kind: std::fs::FileType) -> bool {
    kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device()
}

fn joined(folder: &BStr, name: &[u8]) -> BString {
    if folder.is_empty() { name.into() } else { [folder, name].join(&b"/"[..]).into() }
}

fn remove_if_there(file: &Path) -> Result<(), GitError> {
    files::remove_if_there(file).map_err(GitError::io(format!("remove `{}`", file.display())))
}
