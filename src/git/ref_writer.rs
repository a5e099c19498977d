//! Compare-and-swap of one ref, through an open `git update-ref --stdin`.
//!
//! gix is not used for this: it takes `packed-refs.lock` even for a loose ref, and syncs nothing (hazards 2 and 4). The
//! child runs without hooks and reflogs, never follows a symbolic ref, and syncs the ref; the directory is synced here.
//! One child serves many transactions and is started anew when it ended.
//!
//! Whatever the child says, the ref is read back and decides. A child that ended by itself before it said `commit: ok` has
//! changed nothing; one that was killed, or had to be, may have.
//!
//! What a killed child can leave behind is a ref's lock file; how its owner is told from the living:
//! [`ref_lock`](super::ref_lock).

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};

use command_fds::CommandFdExt;

use super::command::{Git, now_ms, pause_ms, wait_for};
use super::error::GitError;
use super::ref_lock::{LockIdentity, WriterFile, lock_of};
use super::refs::{RefValue, Refs};
use super::repository::{RefFormat, Sharing};
use crate::id::{ObjectId, Token};
use crate::os::random::{Random, SystemRandom};
use crate::os::{files, hooks};

/// How long contention is waited out, in milliseconds.
const PATIENCE_MS: u64 = 2_000;
/// How long one transaction may take before its child is killed, in milliseconds.
const TRANSACTION_MS: u64 = 10_000;

/// What hooks, reflogs and syncing would otherwise do, and how long git itself waits for a lock.
const SETTINGS: &[&str] = &[
    "core.logAllRefUpdates=false",
    "core.hooksPath=",
    "hook.reference-transaction.enabled=false",
    "core.fsync=reference",
    "core.fsyncMethod=fsync",
    "core.filesRefLockTimeout=200",
    "reftable.lockTimeout=200",
];

/// A change to one ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// From `expected` (none: the ref must not exist) to `new`.
    Set {
        /// The new value.
        new: ObjectId,
        /// The value that it replaces.
        expected: Option<ObjectId>,
    },
    /// Remove the ref, whose value is `expected`.
    Remove {
        /// The value that it has.
        expected: ObjectId,
    },
}

/// What became of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// Done, and on disk.
    Done,
    /// The ref did not hold the expected value, and nothing was written.
    Stale,
    /// It may have happened or not; or nothing was possible in the time given.
    Unknown(String),
}

/// Whether the new value can only come from this writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It holds this writer's token or a fresh nonce: a lock file with it is ours.
    Unique,
    /// Somebody else may write the same value.
    Shared,
}

/// Writes refs of one repository.
pub struct RefWriter {
    git: Git,
    common_dir: PathBuf,
    format: RefFormat,
    sharing: Sharing,
    /// What its children hold locked.
    held: Option<WriterFile>,
    session: Option<Session>,
    /// The lock file that a child had when it was last prepared.
    noted: Option<LockIdentity>,
}

struct Session {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: ChildStderr,
}

/// Why a transaction did not say `commit: ok`.
struct Failure {
    /// The child ended by itself, with a status of its own.
    refused: bool,
    said: String,
}

impl RefWriter {
    /// Its children work in the common directory: they go on when the worktree has been removed.
    pub(super) fn new(common_dir: &Path, format: RefFormat, sharing: Sharing) -> Self {
        let git = SETTINGS.iter().fold(Git::at(common_dir, None), |git, setting| git.with_setting(setting));
        Self { git, common_dir: common_dir.to_owned(), format, sharing, held: None, session: None, noted: None }
    }

    /// The token of the file that this writer's children hold locked. None if it can't be made.
    pub fn token(&mut self) -> Option<Token> {
        self.held().map(WriterFile::token)
    }

    fn held(&mut self) -> Option<&WriterFile> {
        if self.held.is_none() {
            self.held = WriterFile::create(&self.common_dir, self.sharing).ok();
        }
        self.held.as_ref()
    }

    /// Carries out `change` on the ref `name`, waiting out contention for at most two seconds. Before each further try
    /// `restore` writes again what a prune may have taken (hazard 12).
    pub fn write(
        &mut self,
        refs: &Refs,
        name: &str,
        change: Change,
        mark: Mark,
        restore: &dyn Fn() -> Result<(), GitError>,
    ) -> Result<Written, GitError> {
        refs.forget();
        let standing = self.deepest_folder(name);
        let _turn = self.turn();
        let give_up = now_ms() + PATIENCE_MS;
        let (new, expected) = match change {
            Change::Set { new, expected } => (Some(new), expected),
            Change::Remove { expected } => (None, Some(expected)),
        };
        loop {
            let Err(failure) = self.transact(refs, name, change) else {
                self.sync(name, &standing, new)?;
                return Ok(Written::Done);
            };
            let value = value_of(&refs.read(name)?);
            if value == Some(new) && !failure.refused {
                self.sync(name, &standing, new)?;
                return Ok(Written::Done);
            }
            // Refused although the new value is there: it was there before, and is another's (hazard 10).
            if value != Some(expected) {
                return Ok(if failure.refused { Written::Stale } else { Written::Unknown(failure.said) });
            }
            if !failure.refused {
                self.remove_own_lock(refs, name, new.filter(|_| mark == Mark::Unique));
            }
            if now_ms() >= give_up {
                return Ok(Written::Unknown(failure.said));
            }
            restore()?;
            pause_ms(5 + u64::from(SystemRandom.uuid().as_bytes()[0]) / 4);
        }
    }

    /// In a reftable repository one lock guards all refs, and a git that does not get it in time ends and has to be started anew:
    /// twenty runs at once did little else. So ours take turns before they ask. It is no fence, and nothing depends on it: who
    /// waits for too long goes without.
    fn turn(&self) -> Option<File> {
        if self.format == RefFormat::Files {
            return None;
        }
        let mut options = File::options();
        options.create(true).append(true).mode(self.sharing.file_mode());
        let file = options.open(self.common_dir.join("discern").join("turn")).ok()?;
        let until_ms = now_ms() + PATIENCE_MS;
        while file.try_lock().is_err() {
            if now_ms() >= until_ms {
                return None;
            }
            pause_ms(1 + u64::from(SystemRandom.uuid().as_bytes()[0]) / 64);
        }
        Some(file)
    }

    fn transact(&mut self, refs: &Refs, name: &str, change: Change) -> Result<(), Failure> {
        let unsaid = |said: String| Failure { refused: true, said };
        let mut session = match self.session.take() {
            Some(session) => session,
            None => self.start().map_err(|error| unsaid(error.to_string()))?,
        };
        let deadline = now_ms() + TRANSACTION_MS;
        if session.asks(&lines_of(name, change), "start: ok\nprepare: ok\n", deadline) {
            self.note_lock(&lock_of(refs, name));
            hooks::at("ref locked");
            if session.asks("commit\n", "commit: ok\n", deadline) {
                self.session = Some(session);
                return Ok(());
            }
        }
        Err(session.end(deadline))
    }

    /// Writes down which lock file a child of ours has. Without the note a lock without content is never provably dead.
    fn note_lock(&mut self, lock: &Path) {
        self.noted = std::fs::symlink_metadata(lock).ok().and_then(|meta| LockIdentity::of(&meta));
        if let (Some(noted), Some(held)) = (&self.noted, &self.held) {
            held.note(noted);
        }
    }

    fn start(&mut self) -> Result<Session, GitError> {
        let doing = "start `git update-ref --stdin`";
        let mut command = self.git.command();
        command.args(["update-ref", "--stdin"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(held) = self.held() {
            command.preserved_fds(vec![held.descriptor().map_err(GitError::io(doing))?]);
        }
        let mut child = command.spawn().map_err(GitError::io(doing))?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err(GitError::Io { doing: doing.to_owned(), source: std::io::ErrorKind::BrokenPipe.into() });
        };
        for pipe in [stdout.as_fd(), stderr.as_fd()] {
            rustix::io::ioctl_fionbio(pipe, true).map_err(|error| GitError::io(doing)(error.into()))?;
        }
        Ok(Session { child, stdin, stdout, stderr })
    }

    /// The lowest folder on the way to the ref that stands now: what git creates is below it.
    fn deepest_folder(&self, name: &str) -> PathBuf {
        match self.format {
            RefFormat::Reftable => self.common_dir.join("reftable"),
            RefFormat::Files => {
                let place = self.common_dir.join(name);
                let standing = place.ancestors().skip(1).find(|folder| folder.is_dir());
                standing.unwrap_or(&self.common_dir).to_owned()
            }
        }
    }

    /// Syncs the ref's folder and each one up to `standing`, which stood before; after a removal (nothing is `new`) also the
    /// folder of `packed-refs`, which git rewrites to remove a ref and for nothing else that is done here.
    fn sync(&self, name: &str, standing: &Path, new: Option<ObjectId>) -> Result<(), GitError> {
        let lowest = self.deepest_folder(name);
        let mut folder = lowest.as_path();
        loop {
            files::sync_dir(folder).map_err(GitError::io(format!("sync `{}`", folder.display())))?;
            if folder == standing || !folder.starts_with(standing) {
                break;
            }
            let Some(parent) = folder.parent() else { break };
            folder = parent;
        }
        if new.is_none() && self.format == RefFormat::Files && self.common_dir.join("packed-refs").exists() {
            files::sync_dir(&self.common_dir).map_err(GitError::io("sync the git directory"))?;
        }
        Ok(())
    }

    /// Removes a ref that holds no object id, if it still does: git refuses to touch one. On files only.
    pub fn remove_broken(&mut self, refs: &Refs, name: &str) -> Result<bool, GitError> {
        let place = refs.place_of(name);
        let lock = lock_of(refs, name);
        let doing = || GitError::io(format!("remove `{}`", place.display()));
        let held = File::create_new(&lock).map_err(doing())?;
        let broken = matches!(refs.read(name), Ok(RefValue::Broken(_)));
        let removed = if broken { std::fs::remove_file(&place) } else { Ok(()) };
        let _ = std::fs::remove_file(&lock);
        drop(held);
        removed.map_err(doing())?;
        self.sync(name, &self.common_dir.join("refs"), None)?;
        Ok(broken)
    }

    /// Removes the lock file that our own dead child left: the one that it was seen to have, or one that holds `new`, which only
    /// our children write. None of them lives.
    fn remove_own_lock(&self, refs: &Refs, name: &str, new: Option<ObjectId>) {
        let lock = lock_of(refs, name);
        let Ok(meta) = std::fs::symlink_metadata(&lock) else { return };
        let noted = self.noted.is_some() && self.noted == LockIdentity::of(&meta);
        let holds = |new: ObjectId| std::fs::read_to_string(&lock).is_ok_and(|it| it.trim() == new.to_string());
        if noted || new.is_some_and(holds) {
            let _ = std::fs::remove_file(&lock);
        }
    }
}

impl Drop for RefWriter {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            session.end(now_ms() + TRANSACTION_MS);
        }
        if let Some(held) = self.held.take() {
            held.remove(&self.common_dir);
        }
    }
}

impl Session {
    /// Sends `lines`, and says whether exactly `expected` was answered before `deadline_ms`.
    fn asks(&mut self, lines: &str, expected: &str, deadline_ms: u64) -> bool {
        let mut answer = Vec::new();
        if self.stdin.write_all(lines.as_bytes()).is_err() {
            return false;
        }
        while answer.len() < expected.len() {
            let left = deadline_ms.saturating_sub(now_ms());
            let polled = [Some(self.stdout.as_fd())];
            if left == 0 || wait_for(None, &polled, None, left, left).is_err() {
                return false;
            }
            let mut chunk = [0; 256];
            match self.stdout.read(&mut chunk) {
                Ok(0) => return false,
                Ok(length) => answer.extend_from_slice(&chunk[..length]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return false,
            }
        }
        answer == expected.as_bytes()
    }

    /// Closes its input and waits for its end, until `deadline_ms`; then kills it.
    fn end(self, deadline_ms: u64) -> Failure {
        let Self { mut child, stdin, stdout, mut stderr } = self;
        drop((stdin, stdout));
        let mut said = Vec::new();
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if now_ms() < deadline_ms => {
                    let left = deadline_ms.saturating_sub(now_ms());
                    let ended = super::command::end_of(&child);
                    let _ = wait_for(None, &[], ended.as_ref(), left, 10);
                }
                _ => {
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
            }
        };
        let _ = stderr.read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said).trim().to_owned();
        let refused = status.is_some_and(|status| status.code().is_some_and(|code| code != 0));
        let said = if said.is_empty() { "`git update-ref` ended without an answer".to_owned() } else { said };
        Failure { refused, said }
    }
}

/// The object that a ref names, none if there is no such ref; nothing for what is neither.
fn value_of(value: &RefValue) -> Option<Option<ObjectId>> {
    match value {
        RefValue::Absent => Some(None),
        RefValue::Direct(id) => Some(Some(*id)),
        RefValue::Symbolic(_) | RefValue::Broken(_) => None,
    }
}

fn lines_of(name: &str, change: Change) -> String {
    let change = match change {
        Change::Set { new, expected: Some(expected) } => format!("update {name} {new} {expected}"),
        Change::Set { new, expected: None } => format!("create {name} {new}"),
        Change::Remove { expected } => format!("delete {name} {expected}"),
    };
    format!("start\noption no-deref\n{change}\nprepare\n")
}
