//! What kept checkouts there are, how much they take up, and the end of those that nobody needs.
//!
//! A checkout goes when nobody used it for a month, or when its number is above `[gate] pool`; never while a run has it. What
//! is removed is a cache: the next run that needs a checkout makes one.

use std::collections::HashSet;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::worktree_lock::{Taken, WorktreeLock};
use crate::git::Repository;
use crate::os::files::{self, Durability};
use crate::time::Timestamp;

/// Unused for longer, a checkout goes; in milliseconds.
const UNUSED_MS_MAX: i64 = 30 * 24 * 60 * 60 * 1000;

/// The longest path of a checkout, in bytes.
const PATH_BYTES_MAX: u64 = 16 * 1024;

/// A kept checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its number, from 1.
    pub number: u32,
    /// Where it is.
    pub path: PathBuf,
    /// When a run took it last.
    pub used_at: Timestamp,
}

impl Kept {
    /// What it takes up on disk, in bytes, with what jobs left in it. Walks all of it.
    pub fn bytes(&self) -> u64 {
        bytes_in(&self.path, &mut HashSet::new())
    }

    /// Whether nobody needs it: unused for too long, or more than `pool` asks for, if that is known.
    pub fn is_surplus(&self, pool: Option<u32>, now: Timestamp) -> bool {
        pool.is_some_and(|pool| self.number > pool) || now.millis_since(self.used_at) > UNUSED_MS_MAX
    }

    /// Removes it, unless a run has it; whether it did.
    ///
    /// # Errors
    /// It can't be removed.
    pub fn remove(&self, repository: &Repository) -> io::Result<bool> {
        let marks = marks_of(repository, self.number);
        let Taken::Held(_lock) = WorktreeLock::try_take(&marks)? else { return Ok(false) };
        open_registration(repository, &self.path)?;
        // git forgets it as well; where it does not know it, the folder goes all the same.
        let _ = repository.remove_checkout(&self.path);
        remove_tree(&self.path)?;
        std::fs::remove_file(marks.join("place")).map(|()| true)
    }
}

/// The kept checkouts of `repository`, by number.
pub fn all(repository: &Repository) -> Vec<Kept> {
    let entries = std::fs::read_dir(folder_of(repository));
    let numbers = entries.into_iter().flatten().flatten().filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    let mut kept: Vec<Kept> = numbers.filter_map(|number| kept(repository, number)).collect();
    kept.sort_by_key(|kept| kept.number);
    kept
}

fn kept(repository: &Repository, number: u32) -> Option<Kept> {
    let marks = marks_of(repository, number);
    let place = files::read_bounded(&marks.join("place"), PATH_BYTES_MAX).ok().flatten()?;
    // Each run that takes it writes its name into the lock's file.
    let used = std::fs::metadata(marks.join("discern.lock")).ok()?;
    let path = PathBuf::from(std::ffi::OsString::from_vec(place));
    Some(Kept { number, path, used_at: Timestamp::from_millis(used.mtime() * 1000) })
}

/// Notes where checkout `number` is.
pub(super) fn note(repository: &Repository, number: u32, path: &Path) -> io::Result<()> {
    let place = marks_of(repository, number).join("place");
    files::replace(&place, path.as_os_str().as_bytes(), 0o600, Durability::Advisory)
}

/// The folder with the lock and the marks of checkout `number`.
pub(super) fn marks_of(repository: &Repository, number: u32) -> PathBuf {
    folder_of(repository).join(number.to_string())
}

/// The folder with what is known of all of them.
pub(super) fn folder_of(repository: &Repository) -> PathBuf {
    repository.private_dir().join("checkout")
}

/// What is below `folder`; a file with several names counts once, as builds link their products.
fn bytes_in(folder: &Path, linked: &mut HashSet<(u64, u64)>) -> u64 {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(meta) = entry.metadata() else { continue };
        if meta.is_dir() {
            bytes += meta.blocks() * 512 + bytes_in(&entry.path(), linked);
        } else if meta.nlink() == 1 || linked.insert((meta.dev(), meta.ino())) {
            bytes += meta.blocks() * 512;
        }
    }
    bytes
}

/// Removes a folder and all in it, also where folders in it may not be written to. One that is not there is fine.
pub(super) fn remove_tree(folder: &Path) -> io::Result<()> {
    let gone = |error: io::Error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) };
    match std::fs::symlink_metadata(folder) {
        Err(error) => return gone(error),
        Ok(meta) if !meta.is_dir() => return std::fs::remove_file(folder),
        Ok(_) => {}
    }
    if std::fs::remove_dir_all(folder).is_ok() {
        return Ok(());
    }
    make_writable(folder)?;
    std::fs::remove_dir_all(folder).or_else(gone)
}

/// Opens what git keeps of a worktree at `folder` to its owner, where a job closed it: git could neither read nor forget it.
pub(super) fn open_registration(repository: &Repository, folder: &Path) -> io::Result<()> {
    let name = folder.file_name().unwrap_or_default().as_bytes();
    // git appends a number to a name that is taken.
    let is_its = |entry: &std::fs::DirEntry| entry.file_name().as_bytes().starts_with(name);
    let is_closed = |entry: &std::fs::DirEntry| entry.metadata().is_ok_and(|meta| meta.mode() & 0o700 != 0o700);
    let entries = std::fs::read_dir(repository.common_dir().join("worktrees"));
    let mut closed = entries.into_iter().flatten().flatten().filter(|entry| is_its(entry) && is_closed(entry));
    closed.try_for_each(|entry| make_writable(&entry.path()))
}

fn make_writable(folder: &Path) -> io::Result<()> {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_two_names_takes_up_its_space_once() {
        let folder = tempfile::tempdir().unwrap();
        let (deps, product) = (folder.path().join("deps"), folder.path().join("product"));
        std::fs::create_dir(&deps).unwrap();
        std::fs::write(&product, vec![1; 1 << 20]).unwrap();
        let bytes = || bytes_in(folder.path(), &mut HashSet::new());
        let once = bytes();
        assert!(once >= 1 << 20, "{once}");
        std::fs::hard_link(&product, deps.join("product")).unwrap();
        assert_eq!(bytes(), once);
    }
}
