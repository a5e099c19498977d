//! The kept checkouts of one repository: which there are, who has one, and that each is exactly the commit it is used for.
//!
//! | where | what |
//! | --- | --- |
//! | `<checkouts>/<repository>-<digest>/discern-<n>` | checkout n, a linked worktree, made when it is first used |
//! | `<common git dir>/discern/checkout/<n>/discern.lock` | held by the run that uses it, and by its supervisors |
//! | `<common git dir>/discern/checkout/<n>/place` | where it is, for whoever lists or removes it |
//! | `<common git dir>/discern/checkout/<n>/exact` | the boot in which it was found exact last; not there while it is moved |
//!
//! Locks and marks lie in the git directory, so that removing the checkouts, which are a cache, takes nobody's lock away. What a
//! power cut may have undone is not taken on trust: in another boot than that of the mark, every file's content is compared. A
//! checkout without its mark was left half moved; it, one that is damaged, and one that is not clean after a move are
//! written anew, every file, then made again; one that still is not exactly the commit is refused with the reason. None is
//! used before `git status` and the index agree that it is the commit.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use bstr::BString;
use sha2::{Digest as _, Sha256};

use super::dirty;
use super::kept;
use super::left_here::LeftHere;
use super::no_answer::NoAnswer;
use super::worktree_lock::{Occupant, Taken, WorktreeLock};
use crate::config::{Gate, Workspace};
use crate::document::{Diagnostic, Refusal};
use crate::git::{Cleanliness, GitError, Head, Move, Repository, Snapshot, Survey, Untracked};
use crate::id::{CommitId, hex};
use crate::os::environment;
use crate::os::files::{self, Durability};
use crate::store::StoreError;

/// The longest mark, in bytes.
const MARK_BYTES_MAX: u64 = 1024;

/// How many hex digits of the repository's digest tell its checkouts from another's of the same name.
const DIGEST_DIGITS: usize = 12;

/// The kept checkouts of a repository.
pub struct Pool<'r> {
    repository: &'r Repository,
    folder: PathBuf,
    size: u32,
    workspace: Workspace,
    keep: Vec<String>,
}

/// A checkout on its way to a commit. Dropped unused, it arrives all the same, and is not left half moved.
#[derive(Debug)]
pub struct Ahead {
    folder: PathBuf,
    mark: PathBuf,
    commit: CommitId,
    moving: Option<Move>,
}

impl Ahead {
    fn arrive(&mut self) -> Result<(), GitError> {
        self.moving.take().map_or(Ok(()), Move::finish)
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if self.moving.is_some() && self.arrive().is_ok() {
            // Without its mark it is written anew the next time.
            let _ = set_mark(&self.mark);
        }
    }
}

/// Marks a checkout as exact in this boot.
fn set_mark(mark: &Path) -> io::Result<()> {
    files::replace(mark, crate::os::boot::boot_identity().as_bytes(), 0o600, Durability::Advisory)
}

/// How thoroughly a checkout is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thoroughness {
    /// Not at all: that was done ahead.
    Arrived,
    /// What differs is written.
    Difference,
    /// What differs is written; so is what has another content than git remembers.
    Compared,
    /// Every tracked file is written.
    Whole,
    /// The checkout is removed and made again.
    Anew,
}

impl<'r> Pool<'r> {
    /// The checkouts that `gate` asks for; nothing is made yet.
    ///
    /// # Errors
    /// There is no place for them.
    pub fn new(repository: &'r Repository, gate: &Gate) -> Result<Self, Refusal> {
        let folder = place(repository, gate)?.join(name_of(repository));
        Ok(Self { repository, folder, size: gate.pool.get(), workspace: gate.workspace, keep: gate.keep.clone() })
    }

    /// How many there may be.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Takes the first checkout that nobody uses, whether it is made already or not: its number, from 1, and its lock; or says
    /// who has the first one.
    ///
    /// # Errors
    /// A lock can't be made or taken.
    pub fn try_take(&self) -> Result<Result<(u32, WorktreeLock), Option<Occupant>>, StoreError> {
        let mut first = None;
        for number in 1..=self.size {
            let marks = self.marks(number);
            let mode = self.repository.sharing().directory_mode();
            let taken = files::create_dir_durably(&marks, mode).and_then(|()| WorktreeLock::try_take(&marks));
            match taken.map_err(trouble(&WorktreeLock::taking(&marks)))? {
                Taken::Held(lock) => return Ok(Ok((number, lock))),
                Taken::Busy(occupant) if number == 1 => first = occupant,
                Taken::Busy(_) => {}
            }
        }
        Ok(Err(first))
    }

    /// Begins to move checkout `number`, in which nothing works any more, to `commit`: the next candidate, while whoever holds it
    /// has still to record the last one. It was found exact in this boot. Nothing where it can't begin.
    pub fn go_ahead(&self, number: u32, commit: CommitId) -> Option<Ahead> {
        let (folder, mark) = (self.checkout(number), self.mark(number));
        let checkout = self.repository.checkout_at(&folder)?;
        std::fs::remove_file(&mark).ok()?;
        let moving = Some(checkout.begin_to_move_to(commit).ok()?);
        Some(Ahead { folder, mark, commit, moving })
    }

    /// Makes checkout `number`, which the caller holds, exactly the tree of `head`, and says what it is then. Where it is
    /// `ahead`, that is waited for.
    ///
    /// # Errors
    /// It can't be made so.
    pub fn ready(
        &self,
        number: u32,
        ahead: Option<Ahead>,
        head: &Head,
        untracked: Untracked,
    ) -> Result<(Repository, Snapshot), NoAnswer> {
        let arrived = ahead.is_some_and(|mut ahead| {
            ahead.folder == self.checkout(number) && ahead.commit == head.commit && ahead.arrive().is_ok()
        });
        let from = if arrived { Thoroughness::Arrived } else { self.unmark(number)? };
        let ready = self.ready_from(from, number, head, untracked)?;
        set_mark(&self.mark(number)).map_err(trouble("mark a kept checkout"))?;
        Ok(ready)
    }

    /// Removes the mark of checkout `number`, and says what it tells.
    fn unmark(&self, number: u32) -> Result<Thoroughness, StoreError> {
        let mark = self.mark(number);
        let boot = crate::os::boot::boot_identity();
        let found_in = files::read_bounded(&mark, MARK_BYTES_MAX).map_err(trouble("look at a kept checkout's mark"))?;
        let from = match found_in {
            Some(found_in) if found_in == boot.as_bytes() => Thoroughness::Difference,
            Some(_) => Thoroughness::Compared,
            None => Thoroughness::Whole,
        };
        if from != Thoroughness::Whole {
            std::fs::remove_file(&mark).map_err(trouble("unmark a kept checkout"))?;
        }
        Ok(from)
    }

    fn ready_from(
        &self,
        from: Thoroughness,
        number: u32,
        head: &Head,
        untracked: Untracked,
    ) -> Result<(Repository, Snapshot), NoAnswer> {
        let folder = self.checkout(number);
        let mut how = from;
        loop {
            let (checkout, how_now) = match self.repository.checkout_at(&folder) {
                Some(checkout) if how != Thoroughness::Anew => (checkout, how),
                _ => (self.make(number, &folder, head)?, Thoroughness::Anew),
            };
            let problem = match self.exact(&checkout, how_now, head, untracked) {
                Ok(snapshot) => return Ok((checkout, snapshot)),
                Err(problem) => problem,
            };
            how = match (how_now, problem) {
                (_, NotExact::Closed) | (Thoroughness::Whole, NotExact::Git(_) | NotExact::Store(_)) => {
                    Thoroughness::Anew
                }
                (Thoroughness::Arrived | Thoroughness::Difference | Thoroughness::Compared, _) => Thoroughness::Whole,
                (_, NotExact::Store(error)) => return Err(error.into()),
                (_, NotExact::Git(error)) => return Err(self.not_checked_out(head, &error).into()),
                (_, NotExact::Refused(refusal)) => return Err(refusal.into()),
            };
        }
    }

    /// Moves `checkout`, removes what is left over, and looks whether it is the commit now.
    fn exact(
        &self,
        checkout: &Repository,
        how: Thoroughness,
        head: &Head,
        untracked: Untracked,
    ) -> Result<Snapshot, NotExact> {
        let mut left_here = LeftHere::read(checkout.git_dir(), crate::os::boot::boot_identity());
        match how {
            Thoroughness::Arrived | Thoroughness::Difference => {}
            Thoroughness::Compared => checkout.compare_content()?,
            Thoroughness::Whole | Thoroughness::Anew => {
                left_here.forget_all();
                checkout.forget_index()?;
                // Without an index everything but what is kept counts as left over.
                checkout.clean_but(&self.keep)?;
            }
        }
        if how != Thoroughness::Arrived {
            checkout.move_to(head.commit)?;
        }
        self.refuse_submodules(checkout, head)?;
        let Survey { mut state, left_over, unseen } = checkout.look_through(head, untracked, &self.keep)?;
        if !left_over.is_empty() {
            left_here.forget_removed(&left_over);
            checkout.clean_but(&self.keep)?;
        }
        if matches!(state, Cleanliness::Dirty { .. }) {
            // What is kept and not ignored is no cache.
            checkout.clean_unignored()?;
            state = checkout.cleanliness(None, head, untracked)?;
        }
        match state {
            Cleanliness::Clean(snapshot) => {
                let may_be_closed = how == Thoroughness::Anew;
                if !may_be_closed && (snapshot.has_closed_file() || unseen.has_closed_folder) {
                    return Err(NotExact::Closed);
                }
                Self::remove(checkout, &unseen.left_over, &mut left_here)?;
                Ok(snapshot)
            }
            Cleanliness::Dirty { paths, causes } => {
                Err(NotExact::Refused(self.not_exact(head, dirty::refusal(&paths, &causes))))
            }
        }
    }

    /// Removes what is left over where git does not look.
    fn remove(checkout: &Repository, left_over: &[BString], left_here: &mut LeftHere) -> Result<(), NotExact> {
        if left_over.is_empty() {
            return Ok(());
        }
        left_here.forget_removed(left_over);
        let top = checkout.worktree()?;
        for path in left_over {
            let about = format!("remove `{path}`, which a job left in a kept checkout");
            kept::remove_tree(&top.join(OsStr::from_bytes(path))).map_err(trouble(&about))?;
        }
        Ok(())
    }

    /// Removes whatever is at `folder` and makes a checkout there.
    fn make(&self, number: u32, folder: &Path, head: &Head) -> Result<Repository, NoAnswer> {
        let about = || format!("make a kept checkout at `{}`", folder.display());
        let removed = kept::open_registration(self.repository, folder).and_then(|()| kept::remove_tree(folder));
        removed.map_err(trouble(&format!("remove what is at `{}`", folder.display())))?;
        let made = std::fs::create_dir_all(&self.folder);
        made.and_then(|()| kept::note(self.repository, number, folder)).map_err(trouble(&about()))?;
        // One at a time: git reads every worktree that is registered, and fails where one is half made.
        let alone = files::lock(&kept::folder_of(self.repository).join("making.lock")).map_err(trouble(&about()))?;
        let added = self.repository.add_checkout(folder, head.commit);
        drop(alone);
        added.map_err(|error| self.not_checked_out(head, &error))?;
        let made = self.repository.checkout_at(folder);
        made.ok_or_else(|| {
            StoreError { doing: about(), problem: "git made no worktree of this repository there".to_owned() }.into()
        })
    }

    fn refuse_submodules(&self, checkout: &Repository, head: &Head) -> Result<(), NotExact> {
        // Without this file no submodule can be in use, and git need not be asked.
        if self.repository.file_at(head.tree, ".gitmodules")?.is_none() {
            return Ok(());
        }
        let submodules = checkout.active_submodules()?;
        if submodules.is_empty() {
            return Ok(());
        }
        let message = "the commit has submodules that are in use here, and a kept checkout has none";
        let mut diagnostic = self.in_place(head, Diagnostic::new("submodules", message));
        diagnostic.place = submodules.iter().map(|path| path.display().to_string()).collect();
        Err(NotExact::Refused(Refusal::new(diagnostic)))
    }

    /// The refusal of a commit that git itself can't check out so that it is clean.
    fn not_exact(&self, head: &Head, mut refusal: Refusal) -> Refusal {
        let message = format!("a checkout of {} is not the commit, on this machine", head.commit.short());
        let mut first = self.in_place(head, Diagnostic::new("not-exact", message));
        first.place = refusal.diagnostics.first().map(|it| it.place.clone()).unwrap_or_default();
        refusal.diagnostics.splice(..1, [first]);
        refusal
    }

    /// `diagnostic` with what helps where no kept checkout can: to prove the commit where it is checked out.
    fn in_place(&self, head: &Head, diagnostic: Diagnostic) -> Diagnostic {
        let is_here = self.repository.worktree().is_ok()
            && self.repository.head_position().is_ok_and(|(_, commit)| commit == head.commit);
        match (is_here, self.workspace) {
            (true, Workspace::InPlace) => diagnostic.fix("git discern done"),
            (false, Workspace::InPlace) => diagnostic
                .advice("check the commit out in a worktree of yours and prove it there, with `git discern done`"),
            (_, Workspace::Isolated) => diagnostic.advice(format!(
                "without `workspace = \"isolated\"` in `{}` it can be proven where it is checked out",
                crate::config::FILE
            )),
        }
    }

    fn not_checked_out(&self, head: &Head, error: &GitError) -> Refusal {
        let message = format!("{} can't be checked out: {error}", head.commit.short());
        Refusal::new(Diagnostic::new("not-checked-out", message).at(self.folder.display().to_string()))
    }

    /// Where checkout `number` is, or would be.
    fn checkout(&self, number: u32) -> PathBuf {
        self.folder.join(format!("discern-{number}"))
    }

    fn mark(&self, number: u32) -> PathBuf {
        self.marks(number).join("exact")
    }

    fn marks(&self, number: u32) -> PathBuf {
        kept::marks_of(self.repository, number)
    }
}

/// Why a move did not end in the commit.
#[derive(Debug)]
enum NotExact {
    Git(GitError),
    Store(StoreError),
    /// Files or folders are closed to their owner.
    Closed,
    Refused(Refusal),
}

impl From<StoreError> for NotExact {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<GitError> for NotExact {
    fn from(error: GitError) -> Self {
        Self::Git(error)
    }
}

/// The folder that `gate` names for checkouts: `checkouts`, from the folder that holds the git directory, or the user's cache.
fn place(repository: &Repository, gate: &Gate) -> Result<PathBuf, Refusal> {
    let common_dir = repository.common_dir();
    let variable = |name: &str| environment::variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = || variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    let place = match &gate.checkouts {
        Some(named) => common_dir.parent().unwrap_or(common_dir).join(named),
        None => cache().map(|cache| cache.join("git-discern")).ok_or_else(|| {
            let message = "there is no place for kept checkouts: neither XDG_CACHE_HOME nor HOME is set";
            Refusal::new(Diagnostic::new("no-place", message).advice("set `checkouts` in `[gate]`"))
        })?,
    };
    let refused = |why: String| {
        let message = format!("kept checkouts can't lie in `{}`: {why}", place.display());
        Refusal::new(Diagnostic::new("no-place", message).advice("set `checkouts` in `[gate]`"))
    };
    // As the kernel knows it, since git registers it so.
    let made = std::fs::create_dir_all(&place).and_then(|()| place.canonicalize());
    let known = made.map_err(|error| refused(error.to_string()))?;
    if known.starts_with(common_dir) {
        return Err(refused("many tools skip what lies in a git directory".to_owned()));
    }
    Ok(known)
}

/// A folder's name for this repository: for people, and one of its own.
fn name_of(repository: &Repository) -> String {
    let common_dir = repository.common_dir();
    let named = if common_dir.file_name() == Some(OsStr::new(".git")) { common_dir.parent() } else { Some(common_dir) };
    let name = named.and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    let mut digest = hex(&Sha256::digest(common_dir.as_os_str().as_bytes()));
    digest.truncate(DIGEST_DIGITS);
    format!("{name}-{digest}")
}

fn trouble(doing: &str) -> impl FnOnce(io::Error) -> StoreError {
    let doing = doing.to_owned();
    move |error| StoreError { doing, problem: error.to_string() }
}
