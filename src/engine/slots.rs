//! Capacity shared by all runs on the machine: `[gate] slots`.
//!
//! Each slot is a locked file in one folder per user. The lock vanishes with its holder, whatever kills it, so nothing has to
//! be cleaned up; it says nothing about any claim. A supervisor inherits its job's slot.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::num::NonZeroU32;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

/// The slots of this machine, as one configuration counts them.
#[derive(Debug)]
pub struct Slots {
    folder: PathBuf,
    count: u32,
    /// Where the next search begins, so that runs that look at once do not all try the same one.
    next: u32,
}

/// One slot, held until it and every copy of its descriptor is dropped.
#[derive(Debug)]
pub struct Slot {
    file: File,
}

impl Slot {
    /// The descriptor that a supervisor inherits.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl Slots {
    /// The `count` slots under `runtime_dir`, a folder of the user's that all runs on the machine share.
    pub fn new(runtime_dir: PathBuf, count: NonZeroU32) -> Self {
        Self { folder: runtime_dir.join("git-discern-slots"), count: count.get(), next: std::process::id() }
    }

    /// Takes a slot, if one is free. Never waits.
    ///
    /// # Errors
    /// The folder or a file in it can't be made.
    pub fn try_take(&mut self) -> io::Result<Option<Slot>> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        for offset in 0..self.count {
            let number = self.next.wrapping_add(offset) % self.count;
            let mut options = OpenOptions::new();
            let options = options.write(true).create(true).truncate(false).mode(0o600);
            let file = options.open(self.folder.join(number.to_string()))?;
            if file.try_lock().is_ok() {
                self.next = number;
                return Ok(Some(Slot { file }));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_slots_are_held_at_once_than_there_are() {
        let folder = tempfile::tempdir().unwrap();
        let two = NonZeroU32::new(2).unwrap();
        let mut one_run = Slots::new(folder.path().to_owned(), two);
        let mut another = Slots::new(folder.path().to_owned(), two);
        let first = one_run.try_take().unwrap();
        let second = another.try_take().unwrap();
        assert!(first.is_some() && second.is_some());
        assert!(one_run.try_take().unwrap().is_none());
        drop(second);
        assert!(one_run.try_take().unwrap().is_some());
    }
}
