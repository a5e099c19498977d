//! One run per worktree (C28).
//!
//! An operating-system lock on a file in the worktree's own git directory. Every job supervisor inherits the descriptor, so the
//! lock is free only when the last descendant of the last run is gone. It says nothing about any claim. The file's content
//! names the holder, for messages only.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::id::{CommitId, OperationHandle};
use crate::time::Timestamp;

/// The file, in the worktree's own git directory.
const FILE: &str = "discern.lock";

/// The longest description of a holder that is read, in bytes.
const HOLDER_BYTES_MAX: u64 = 4096;

/// Who says that it holds a worktree. A leftover of an earlier holder where the present one could not write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
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
    Busy(Option<Holder>),
}

impl WorktreeLock {
    /// Takes the lock of the worktree whose git directory this is, if it is free. Never waits.
    ///
    /// # Errors
    /// The file can't be made, opened or locked.
    pub fn try_take(git_dir: &Path) -> io::Result<Taken> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(git_dir.join(FILE))?;
        match file.try_lock() {
            Ok(()) => Ok(Taken::Held(Self { file })),
            Err(TryLockError::WouldBlock) => Ok(Taken::Busy(read_holder(&file))),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Says who holds it. A failure is of no consequence: the lock is what counts.
    pub fn describe(&mut self, holder: &Holder) {
        let _ = self.write(holder);
    }

    fn write(&mut self, holder: &Holder) -> io::Result<()> {
        let text = serde_json::to_vec(holder)?;
        self.file.rewind()?;
        self.file.set_len(0)?;
        self.file.write_all(&text)
    }

    /// The descriptor that supervisors inherit.
    pub fn file(&self) -> &File {
        &self.file
    }
}

fn read_holder(file: &File) -> Option<Holder> {
    let mut text = Vec::new();
    file.take(HOLDER_BYTES_MAX).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_worktree_names_its_holder_and_is_free_when_the_last_copy_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let Taken::Held(mut lock) = WorktreeLock::try_take(folder.path()).unwrap() else { panic!("it is free") };
        let holder = Holder {
            command: "done".to_owned(),
            pid: 7,
            since: Timestamp::from_millis(1),
            operation: None,
            candidate: None,
        };
        lock.describe(&holder);
        let copy = lock.file().try_clone().unwrap();
        drop(lock);
        let Taken::Busy(found) = WorktreeLock::try_take(folder.path()).unwrap() else { panic!("a copy holds it") };
        assert_eq!(found, Some(holder));
        drop(copy);
        assert!(matches!(WorktreeLock::try_take(folder.path()).unwrap(), Taken::Held(_)));
    }
}
