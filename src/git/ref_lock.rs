//! The lock file of a ref, and whether whoever made it has ended (C25).
//!
//! Each git child that writes a ref inherits a locked descriptor of its writer's file, `<common>/discern/git/<token>`, and
//! so do its successors; this process keeps one as well. So a free lock on that file proves that every process which could
//! hold a ref's lock file under this token has ended (hazard 9). Which lock file that is, is told by the object id in it;
//! and, as a reftable's is empty, by a note in the writer's file: between git's *prepared* and our *commit* its lock is
//! looked at, and its identity written down.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use super::refs::Refs;
use super::repository::{RefFormat, Sharing};
use crate::id::{ObjectId, Token};
use crate::os::clock::{Clock as _, SystemClock};
use crate::os::files;
use crate::os::random::{Random as _, SystemRandom};

/// The largest file of a writer: the boot, and the lock that its child had.
const WRITER_BYTES_MAX: u64 = 256;

/// The file of one writer of refs, locked by it and by each of its children for as long as they live.
pub(super) struct WriterFile {
    token: Token,
    file: File,
}

impl WriterFile {
    /// Makes and locks one.
    pub(super) fn create(common_dir: &Path, sharing: Sharing) -> std::io::Result<Self> {
        let folder = writers(common_dir);
        files::create_dir_durably(&folder, sharing.directory_mode())?;
        let token = SystemRandom.token();
        let mut file = files::create_locked(&folder.join(token.to_string()), sharing.file_mode())?;
        writeln!(file, "{}", boot_id())?;
        Ok(Self { token, file })
    }

    /// Its name, which stands in what the writer writes.
    pub(super) fn token(&self) -> Token {
        self.token
    }

    /// The locked descriptor, for a child.
    pub(super) fn descriptor(&self) -> std::io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }

    /// Writes down which lock file a child has. Without the note a lock without content is never provably dead.
    pub(super) fn note(&self, lock: &LockIdentity) {
        let _ = self.file.write_all_at(lock.line().as_bytes(), boot_id().len() as u64 + 1);
    }

    /// Removes it: none of the children lives.
    pub(super) fn remove(self, common_dir: &Path) {
        let _ = std::fs::remove_file(writers(common_dir).join(self.token.to_string()));
    }
}

/// The folder of the writers' files.
fn writers(common_dir: &Path) -> PathBuf {
    common_dir.join("discern").join("git")
}

/// Which file a lock file is: its inode, and when that was made, so that another file that got the same inode later is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LockIdentity {
    device: u64,
    inode: u64,
    born_nanos: u128,
}

impl LockIdentity {
    /// Nothing where the file system does not say when a file was made.
    pub(super) fn of(meta: &std::fs::Metadata) -> Option<Self> {
        let born = meta.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(Self { device: meta.dev(), inode: meta.ino(), born_nanos: born.as_nanos() })
    }

    /// One line of always the same length, so that it can be written over.
    fn line(&self) -> String {
        format!("lock {:>20} {:>20} {:>39}\n", self.device, self.inode, self.born_nanos)
    }
}

/// What is known of a ref's lock file (C25).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftoverLock {
    /// There is no lock.
    None,
    /// Every process that could hold it has provably ended: it may be removed.
    Dead {
        /// The lock file.
        path: PathBuf,
    },
    /// Nothing proves that its owner has ended.
    Unknown {
        /// The lock file.
        path: PathBuf,
        /// How old it is, in seconds.
        age_seconds: u64,
    },
}

/// Looks at the lock file of the ref `name`. `writer_of` finds the writer's token in the object that the lock holds.
pub(crate) fn leftover_lock(
    refs: &Refs,
    common_dir: &Path,
    name: &str,
    writer_of: impl FnOnce(ObjectId) -> Option<Token>,
) -> std::io::Result<LeftoverLock> {
    let path = lock_of(refs, name);
    let meta = match std::fs::symlink_metadata(&path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(LeftoverLock::None),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return Ok(LeftoverLock::None),
        Err(error) => return Err(error),
    };
    let content = files::read_bounded(&path, 256).ok().flatten().unwrap_or_default();
    let id = std::str::from_utf8(&content).ok().and_then(|text| text.trim().parse::<ObjectId>().ok());
    let writer = id.and_then(writer_of).or_else(|| writer_that_noted(common_dir, &LockIdentity::of(&meta)?));
    let dead = writer.is_some_and(|token| has_ended(common_dir, token));
    if dead {
        return Ok(LeftoverLock::Dead { path });
    }
    let now = SystemClock.now().wall.as_millis() / 1000;
    Ok(LeftoverLock::Unknown { path, age_seconds: u64::try_from(now - meta.mtime()).unwrap_or(0) })
}

/// Removes the lock file of the ref `name` if it is provably dead; true if it was.
///
/// Looking and removing happen under a lock of our own, so that two who both found it dead can't remove, the second of
/// them, the lock of a writer that came in between.
pub(crate) fn remove_dead_lock(
    refs: &Refs,
    common_dir: &Path,
    name: &str,
    writer_of: impl Fn(ObjectId) -> Option<Token>,
) -> std::io::Result<bool> {
    let folder = common_dir.join("discern");
    // Where there is nothing to remove, nothing has to be writable.
    if !folder.is_dir() || !matches!(leftover_lock(refs, common_dir, name, &writer_of)?, LeftoverLock::Dead { .. }) {
        return Ok(false);
    }
    let guard = File::options().create(true).append(true).open(folder.join("breaking"))?;
    guard.lock()?;
    match leftover_lock(refs, common_dir, name, writer_of)? {
        LeftoverLock::Dead { path } => std::fs::remove_file(path).map(|()| true),
        LeftoverLock::None | LeftoverLock::Unknown { .. } => Ok(false),
    }
}

/// The lock file of a ref.
pub(crate) fn lock_of(refs: &Refs, name: &str) -> PathBuf {
    match refs.format() {
        RefFormat::Files => {
            let mut path = refs.place_of(name).into_os_string();
            path.push(".lock");
            path.into()
        }
        RefFormat::Reftable => refs.place_of(name).join("tables.list.lock"),
    }
}

/// The token of the writer whose child had that lock file.
fn writer_that_noted(common_dir: &Path, lock: &LockIdentity) -> Option<Token> {
    let folder = writers(common_dir);
    let mut tokens = std::fs::read_dir(&folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let noted = |token: &String| {
        let content = files::read_bounded(&folder.join(token), WRITER_BYTES_MAX).ok().flatten().unwrap_or_default();
        content.ends_with(lock.line().as_bytes())
    };
    tokens.find(noted)?.parse().ok()
}

/// Whether every process that held the file of that token has ended: it was written on this boot, lies on a local file
/// system, and its lock is free. Anything else proves nothing.
fn has_ended(common_dir: &Path, token: Token) -> bool {
    let path = writers(common_dir).join(token.to_string());
    let Ok(Some(content)) = files::read_bounded(&path, WRITER_BYTES_MAX) else { return false };
    let boot = boot_id();
    let Ok(file) = File::open(&path) else { return false };
    !boot.is_empty()
        && content.split(|byte| *byte == b'\n').next() == Some(boot.as_bytes())
        && files::is_local(&file)
        && files::is_locked(&file).is_ok_and(|locked| !locked)
}

/// The kernel's name for this boot; empty where it has none.
fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}
