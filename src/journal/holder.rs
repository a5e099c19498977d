//! Is the executor gone? The one question that a journal can prove an answer to (C20).

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::{FORMAT, Header, LINE_BYTES_MAX};
use crate::claim::lease::ExecutorState;
use crate::claim::record::JournalRef;

/// What is known about the executor that a record names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// The process that held that very file has ended.
    Gone,
    /// Somebody holds it. That proves nothing about a claim: a process that does not renew loses it all the same.
    Running,
    /// It can't be known.
    Unknown,
}

impl From<Holder> for ExecutorState {
    fn from(holder: Holder) -> Self {
        match holder {
            Holder::Gone => Self::Gone,
            Holder::Running | Holder::Unknown => Self::Unknown,
        }
    }
}

/// What the file at `path` proves about the executor whose record names `journal`, for an observer on the boot `boot`.
pub(super) fn of(path: &Path, journal: &JournalRef, boot: &str) -> Holder {
    look(path, journal, boot).unwrap_or(Holder::Unknown)
}

fn look(path: &Path, journal: &JournalRef, boot: &str) -> io::Result<Holder> {
    // Never created here, never followed through a link, never waited for (a FIFO in its place).
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.ino() != journal.inode || !is_local(&file) {
        return Ok(Holder::Unknown);
    }
    // The executor locks first and writes this line second: a file with its token has been locked by it.
    let header = read_header(&file)?;
    if header.format != FORMAT || header.token != journal.token || header.boot != boot {
        return Ok(Holder::Unknown);
    }
    // Shared, so that two observers do not take each other for the executor.
    match file.try_lock_shared() {
        Ok(()) => Ok(Holder::Gone),
        Err(TryLockError::WouldBlock) => Ok(Holder::Running),
        Err(TryLockError::Error(problem)) => Err(problem),
    }
}

fn read_header(file: &File) -> io::Result<Header> {
    let mut line = Vec::new();
    BufReader::new(file.take(LINE_BYTES_MAX)).read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line)?)
}

/// Whether locks on this file are this kernel's own. Only file systems known to be local count: on others a lock may be
/// forgotten by a server, or not be seen by another machine, and "free" would prove nothing.
#[cfg(target_os = "linux")]
fn is_local(file: impl AsFd) -> bool {
    const LOCAL: [u32; 13] = [
        0x0000_ef53, // ext2, ext3, ext4
        0x5846_5342, // xfs
        0x9123_683e, // btrfs
        0x0102_1994, // tmpfs
        0x794c_7630, // overlayfs
        0xf2f5_2010, // f2fs
        0x2fc1_2fc1, // zfs
        0xca45_1a4e, // bcachefs
        0x8584_58f6, // ramfs
        0x3153_464a, // jfs
        0x5265_4973, // reiserfs
        0x0000_4d44, // vfat
        0x2011_bab0, // exfat
    ];
    // The field's width differs between platforms; the magic numbers have 32 bits.
    rustix::fs::fstatfs(file).is_ok_and(|system| LOCAL.contains(&(system.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn is_local(_file: impl AsFd) -> bool {
    false
}
