//! One run per worktree (C28).
//!
//! An operating-system lock on a file in the worktree's own git directory. Every job supervisor inherits the descriptor, so the
//! lock is free only when the last descendant of the last run is gone. It says nothing about any claim. The file's content
//! names the occupant, for messages only.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::document::Pending;
use crate::git::Repository;
use crate::id::{CommitId, OperationHandle};
use crate::os::files;
use crate::time::Timestamp;

/// The file, in the worktree's own git directory.
const FILE: &str = "discern.lock";

/// The longest description of an occupant that is read, in bytes.
const OCCUPANT_BYTES_MAX: u64 = 4096;

/// Who says that it has a worktree. A leftover of an earlier one where the present one could not write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupant {
    /// `done`, `standards`, `run`.
    pub command: String,
    /// Its process id, for people.
    pub pid: u32,
    /// Since when.
    pub since: Timestamp,
    /// Its journal's handle.
    pub operation: Option<OperationHandle>,
    /// What it works on; nothing for `run`.
    pub candidate: Option<CommitId>,
}

/// The lock, held as long as this or a copy of its descriptor lives.
#[derive(Debug)]
pub struct WorktreeLock {
    file: File,
}

/// The answer of an attempt to take it.
#[derive(Debug)]
pub enum Taken {
    /// It is held now.
    Held(WorktreeLock),
    /// Another run holds it; what its file says of whom.
    Busy(Option<Occupant>),
}

impl WorktreeLock {
    /// What takes it, for messages.
    pub fn taking(git_dir: &Path) -> String {
        format!("lock `{}`", git_dir.join(FILE).display())
    }

    /// Takes the lock of the worktree whose git directory this is, if it is free. Never waits.
    ///
    /// # Errors
    /// The file can't be made, opened or locked.
    pub fn try_take(git_dir: &Path) -> io::Result<Taken> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(git_dir.join(FILE))?;
        match file.try_lock() {
            Ok(()) => Ok(Taken::Held(Self { file })),
            Err(TryLockError::WouldBlock) => Ok(Taken::Busy(read_occupant(&file))),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Who has the worktree whose git directory this is; nothing if nobody does, or nobody can say who. Nothing is created.
    ///
    /// # Errors
    /// The file is there and can't be opened or locked.
    pub fn occupant(git_dir: &Path) -> io::Result<Option<Occupant>> {
        let file = match File::open(git_dir.join(FILE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        Ok(if files::is_locked(&file)? { read_occupant(&file) } else { None })
    }

    /// Says who holds it. A failure is of no consequence: the lock is what counts.
    pub fn describe(&mut self, occupant: &Occupant) {
        let _ = self.write(occupant);
    }

    fn write(&mut self, occupant: &Occupant) -> io::Result<()> {
        let text = serde_json::to_vec(occupant)?;
        self.file.rewind()?;
        self.file.set_len(0)?;
        self.file.write_all(&text)
    }

    /// The same lock once more; it is free when both are gone.
    ///
    /// # Errors
    /// There are no descriptors left.
    pub fn again(&self) -> io::Result<Self> {
        self.file.try_clone().map(|file| Self { file })
    }

    /// The descriptor that supervisors inherit.
    pub fn file(&self) -> &File {
        &self.file
    }
}

/// Who has the worktree of `repository`, as a pending answer names it.
pub fn pending(occupant: Option<Occupant>, repository: &Repository, branch: Option<String>) -> Pending {
    let operation = occupant.as_ref().and_then(|occupant| occupant.operation.clone());
    let reconnect = match &operation {
        Some(handle) => format!("git discern wait {handle}"),
        None => "git discern wait".to_owned(),
    };
    Pending {
        attempt: None,
        operation,
        worktree: repository.worktree_name(),
        branch,
        since: occupant.map(|occupant| occupant.since),
        lease_expires_at: None,
        checkouts: None,
        reconnect,
    }
}

fn read_occupant(file: &File) -> Option<Occupant> {
    let mut text = Vec::new();
    file.take(OCCUPANT_BYTES_MAX).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_worktree_names_its_holder_and_is_free_when_the_last_copy_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let Taken::Held(mut lock) = WorktreeLock::try_take(folder.path()).unwrap() else { panic!("it is free") };
        let occupant = Occupant {
            command: "done".to_owned(),
            pid: 7,
            since: Timestamp::from_millis(1),
            operation: None,
            candidate: None,
        };
        lock.describe(&occupant);
        let copy = lock.file().try_clone().unwrap();
        drop(lock);
        assert_eq!(WorktreeLock::occupant(folder.path()).unwrap(), Some(occupant.clone()));
        let Taken::Busy(found) = WorktreeLock::try_take(folder.path()).unwrap() else { panic!("a copy holds it") };
        assert_eq!(found, Some(occupant));
        drop(copy);
        assert_eq!(WorktreeLock::occupant(folder.path()).unwrap(), None);
        assert!(matches!(WorktreeLock::try_take(folder.path()).unwrap(), Taken::Held(_)));
    }
}
