//! Files that survive a power cut, and locks that vanish with their holder.
//!
//! A file is on disk when it *and the directory that names it* are synced; each directory created on the way counts too.
//! Replacing a file goes through a temporary one in the same folder and a rename, so that a reader sees the old or the
//! new content and never a part.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Syncs a directory: the names in it are on disk afterwards.
pub fn sync_dir(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Creates `directory` and what is missing above it with `mode`, syncing the parent of each one created. Already there
/// is fine.
pub fn create_dir_durably(directory: &Path, mode: u32) -> io::Result<()> {
    match DirBuilder::new().mode(mode & 0o1777).create(directory) {
        Ok(()) => {
            // Whatever the umask takes away, and the bit that makes new files inherit the group.
            std::fs::set_permissions(directory, std::fs::Permissions::from_mode(mode))?;
            directory.parent().map_or(Ok(()), sync_dir)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parent = directory.parent().ok_or(error)?;
            create_dir_durably(parent, mode)?;
            create_dir_durably(directory, mode)
        }
        Err(error) => Err(error),
    }
}

/// Whether a file's content must survive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// File and directory are synced before this returns.
    Synced,
    /// Losing it is harmless: advisory files.
    Advisory,
}

/// Puts `content` in place of `file` in one step.
pub fn replace(file: &Path, content: &[u8], mode: u32, durability: Durability) -> io::Result<()> {
    let folder = file.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut temporary = tempfile::Builder::new().prefix(".tmp-").tempfile_in(folder)?;
    temporary.write_all(content)?;
    if mode != 0o600 {
        temporary.as_file().set_permissions(std::fs::Permissions::from_mode(mode))?;
    }
    if durability == Durability::Synced {
        temporary.as_file().sync_all()?;
    }
    temporary.persist(file).map_err(|error| error.error)?;
    if durability == Durability::Synced { sync_dir(folder) } else { Ok(()) }
}

/// Removes a file; one that is not there is fine.
pub fn remove_if_there(file: &Path) -> io::Result<()> {
    match std::fs::remove_file(file) {
        // A file system that can't be written says so first, whether there is such a file or not.
        Err(error) if error.kind() != io::ErrorKind::NotFound && file.symlink_metadata().is_ok() => Err(error),
        _ => Ok(()),
    }
}

/// The content of a file, or nothing if there is none. More than `bytes_max` bytes is an error, and so is what could be waited for
/// for ever: a pipe, a device.
pub fn read_bounded(file: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let at_once = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let open = match File::options().read(true).custom_flags(at_once).open(file) {
        Ok(open) => open,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let kind = open.metadata()?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
    }
    let mut content = Vec::new();
    open.take(bytes_max + 1).read_to_end(&mut content)?;
    if content.len() as u64 > bytes_max {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {bytes_max} bytes")));
    }
    Ok(Some(content))
}

/// Creates a file that must not exist yet and locks it for as long as the returned descriptor, or any copy of it, is open.
pub fn create_locked(file: &Path, mode: u32) -> io::Result<File> {
    let created = OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(file)?;
    created.set_permissions(std::fs::Permissions::from_mode(mode))?;
    created.try_lock().map_err(io::Error::from)?;
    Ok(created)
}

/// Waits for the lock of a file, which is made if it is not there; held for as long as the returned descriptor is open.
pub fn lock(file: &Path) -> io::Result<File> {
    let opened = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(file)?;
    opened.lock()?;
    Ok(opened)
}

/// Whether somebody holds the lock of an existing file. It is taken for an instant to find out.
pub fn is_locked(file: &File) -> io::Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => file.unlock().map(|()| false),
        Err(std::fs::TryLockError::WouldBlock) => Ok(true),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Removes the files in `folder` whose name `chosen` picks and whose content is older than `age_seconds`; how many.
pub fn remove_older(folder: &Path, age_seconds: u64, chosen: impl Fn(&str) -> bool) -> io::Result<usize> {
    let mut removed = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if !name.to_str().is_some_and(&chosen) {
            continue;
        }
        let old = entry
            .metadata()
            .and_then(|meta| meta.modified())
            .is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age.as_secs() >= age_seconds));
        removed += usize::from(old && std::fs::remove_file(entry.path()).is_ok());
    }
    Ok(removed)
}

/// Whether locks on this file are this kernel's own. Only file systems known to be local count: on others a lock may be
/// forgotten by a server, or not be seen by another machine, and "free" would prove nothing.
#[cfg(target_os = "linux")]
pub fn is_local(file: &File) -> bool {
    // From linux/magic.h.
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

/// Whether a file lies on a local file system: not known here.
#[cfg(not(target_os = "linux"))]
pub fn is_local(_: &File) -> bool {
    false
}
