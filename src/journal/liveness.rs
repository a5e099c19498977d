//! Is the executor gone? The one question that a journal can prove an answer to (C20).

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::{FORMAT, Header, LINE_BYTES_MAX};
use crate::claim::lease::ExecutorState;
use crate::claim::record::JournalRef;
use crate::os::{descendants, files};

/// What is known about the executor that a record names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// The process that held that very file has ended.
    Gone,
    /// Somebody holds it. That proves nothing about a claim: a process that does not renew loses it all the same.
    Running,
    /// It can't be known.
    Unknown,
}

impl From<Liveness> for ExecutorState {
    fn from(liveness: Liveness) -> Self {
        match liveness {
            Liveness::Gone => Self::Gone,
            Liveness::Running | Liveness::Unknown => Self::Unknown,
        }
    }
}

/// What the file at `path` proves about the executor whose record names `journal`, for an observer on the boot `boot`.
pub(super) fn of(path: &Path, journal: &JournalRef, boot: &str) -> Liveness {
    look(path, journal, boot).unwrap_or(Liveness::Unknown)
}

/// The process that holds the journal at `path`, if it is seen to be suspended on the boot `boot`.
pub(super) fn suspended(path: &Path, boot: &str) -> Option<u32> {
    let file = open(path).ok()?;
    let metadata = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let header = read_header(&file).ok()?;
    (header.boot == boot && descendants::is_suspended(header.pid, &metadata)).then_some(header.pid)
}

/// Never created here, never followed through a link, never waited for (a FIFO in its place).
fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

fn look(path: &Path, journal: &JournalRef, boot: &str) -> io::Result<Liveness> {
    let file = open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.ino() != journal.inode || !files::is_local(&file) {
        return Ok(Liveness::Unknown);
    }
    // The executor locks first and writes this line second: a file with its token has been locked by it.
    let header = read_header(&file)?;
    if header.format != FORMAT || header.token != journal.token || header.boot != boot {
        return Ok(Liveness::Unknown);
    }
    // Shared, so that two observers do not take each other for the executor.
    match file.try_lock_shared() {
        Ok(()) => Ok(Liveness::Gone),
        Err(TryLockError::WouldBlock) => Ok(Liveness::Running),
        Err(TryLockError::Error(problem)) => Err(problem),
    }
}

fn read_header(file: &File) -> io::Result<Header> {
    let mut line = Vec::new();
    BufReader::new(file.take(LINE_BYTES_MAX)).read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line)?)
}
