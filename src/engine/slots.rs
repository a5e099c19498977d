//! Capacity shared by all runs on the machine: `[gate] slots`.
//!
//! Each slot is a locked file in one folder per user. The lock vanishes with its holder, whatever kills it, so nothing has to
//! be cleaned up; it says nothing about any claim. A supervisor inherits its job's slot.
//!
//! Whoever finds none free stands in line: a small file that carries the instant of the last look. A slot goes to the one
//! who waits longest, so that a run with many short jobs can't keep all others out. A waiter that has not looked for
//! [`FRESH_MS`] (stopped, stalled, dead) is passed over.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::num::NonZeroU32;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// How old a waiter's last look may be for it to keep its place, in milliseconds.
const FRESH_MS: u64 = 2_000;

/// After this long without a look the place is cleared away, in milliseconds.
const FORGOTTEN_MS: u64 = 60_000;

/// The slots of this machine, as one configuration counts them.
#[derive(Debug)]
pub struct Slots {
    folder: PathBuf,
    count: u32,
    /// Where the next search begins, so that runs that look at once do not all try the same one.
    next: u32,
    place: Option<InLine>,
}

/// One slot, held until it and every copy of its descriptor is dropped.
#[derive(Debug)]
pub struct Slot {
    file: File,
}

/// A place in the line, given up when dropped. The file's name has since when, whose, and of how many slots any will do.
#[derive(Debug)]
struct InLine {
    file: PathBuf,
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
        let folder = runtime_dir.join("git-discern-slots");
        Self { folder, count: count.get(), next: std::process::id(), place: None }
    }

    /// Takes a slot, if there is a free one that nobody waits for longer. Never waits, but stands in line from then on; `now_ms`
    /// is the machine's monotonic clock. To be called a few times a second.
    ///
    /// # Errors
    /// The folder or a file in it can't be made, or it is another user's.
    pub fn try_take(&mut self, now_ms: u64) -> io::Result<Option<Slot>> {
        let line = self.folder.join("line");
        DirBuilder::new().recursive(true).mode(0o700).create(&line)?;
        if fs::metadata(&self.folder)?.uid() != rustix::process::getuid().as_raw() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let taken_by_others = self.claimed_by_those_before(&line, now_ms)?;
        for offset in 0..self.count {
            let number = self.next.wrapping_add(offset) % self.count;
            if number < taken_by_others {
                continue;
            }
            let mut options = OpenOptions::new();
            let options = options.write(true).create(true).truncate(false).mode(0o600);
            let file = options.open(self.folder.join(number.to_string()))?;
            if file.try_lock().is_ok() {
                self.next = number;
                self.place = None;
                return Ok(Some(Slot { file }));
            }
        }
        self.stand_in_line(&line, now_ms)?;
        Ok(None)
    }

    /// So many slots, from the first on, are for those who wait for longer than we do.
    fn claimed_by_those_before(&self, line: &Path, now_ms: u64) -> io::Result<u32> {
        let own = self.place.as_ref().and_then(|place| place.file.file_name());
        let mut claimed = 0;
        for entry in fs::read_dir(line)?.flatten() {
            let name = entry.file_name();
            if own.is_some_and(|own| *name >= *own) {
                continue;
            }
            // One that is being written, or is just given up, is as good as none.
            let looked_ms = fs::read_to_string(entry.path()).ok().and_then(|text| text.parse::<u64>().ok());
            let Some(since_ms) = looked_ms.map(|looked_ms| now_ms.abs_diff(looked_ms)) else { continue };
            if since_ms > FORGOTTEN_MS {
                let _ = fs::remove_file(entry.path());
            }
            let count = name.to_str().and_then(|name| name.rsplit('-').next()?.parse().ok());
            if since_ms <= FRESH_MS {
                claimed = claimed.max(count.unwrap_or(0));
            }
        }
        Ok(claimed)
    }

    fn stand_in_line(&mut self, line: &Path, now_ms: u64) -> io::Result<()> {
        let count = self.count;
        let make = || InLine { file: line.join(format!("{now_ms:020}-{}-{count}", uuid::Uuid::new_v4().simple())) };
        fs::write(&self.place.get_or_insert_with(make).file, now_ms.to_string())
    }

    /// No slot is wanted at present.
    pub fn leave_line(&mut self) {
        self.place = None;
    }
}

impl Drop for InLine {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(folder: &Path, count: u32) -> Slots {
        Slots::new(folder.to_owned(), NonZeroU32::new(count).unwrap())
    }

    #[test]
    fn no_more_slots_are_held_at_once_than_there_are() {
        let folder = tempfile::tempdir().unwrap();
        let (mut one_run, mut another) = (slots(folder.path(), 2), slots(folder.path(), 2));
        let first = one_run.try_take(0).unwrap();
        let second = another.try_take(0).unwrap();
        assert!(first.is_some() && second.is_some());
        assert!(one_run.try_take(0).unwrap().is_none());
        drop(second);
        assert!(one_run.try_take(1).unwrap().is_some());
    }

    #[test]
    fn a_slot_goes_to_who_waits_longest_and_not_back_to_who_had_it() {
        let folder = tempfile::tempdir().unwrap();
        let [mut busy, mut second, mut third] = [(); 3].map(|()| slots(folder.path(), 1));
        let held = busy.try_take(0).unwrap();
        assert!(second.try_take(10).unwrap().is_none() && third.try_take(20).unwrap().is_none());
        drop(held);
        assert!(busy.try_take(30).unwrap().is_none());
        assert!(third.try_take(40).unwrap().is_none());
        let held = second.try_take(50).unwrap();
        assert!(held.is_some());
        drop(held);
        assert!(busy.try_take(60).unwrap().is_none());
        assert!(third.try_take(70).unwrap().is_some());
    }

    #[test]
    fn a_waiter_that_stands_still_is_passed_over_and_keeps_its_age() {
        let folder = tempfile::tempdir().unwrap();
        let [mut busy, mut stopped, mut other] = [(); 3].map(|()| slots(folder.path(), 1));
        let held = busy.try_take(0).unwrap();
        assert!(stopped.try_take(10).unwrap().is_none());
        drop(held);
        assert!(other.try_take(10 + FRESH_MS).unwrap().is_none());
        let held = other.try_take(11 + FRESH_MS).unwrap();
        assert!(held.is_some() && stopped.try_take(9_000).unwrap().is_none());
        drop(held);
        assert!(other.try_take(9_010).unwrap().is_none(), "it is older, and there again");
        assert!(stopped.try_take(9_020).unwrap().is_some());
    }

    #[test]
    fn nobody_waits_for_slots_that_an_older_waiter_may_not_use() {
        let folder = tempfile::tempdir().unwrap();
        let (mut narrow, mut wide) = (slots(folder.path(), 1), slots(folder.path(), 3));
        let _held = narrow.try_take(0).unwrap();
        assert!(narrow.try_take(1).unwrap().is_none());
        let others = [wide.try_take(2).unwrap(), wide.try_take(2).unwrap()];
        assert!(others.iter().all(Option::is_some));
        assert!(wide.try_take(3).unwrap().is_none());
    }

    #[test]
    fn who_wants_none_any_more_holds_nobody_up() {
        let folder = tempfile::tempdir().unwrap();
        let [mut busy, mut content, mut other] = [(); 3].map(|()| slots(folder.path(), 1));
        let held = busy.try_take(0).unwrap();
        assert!(content.try_take(1).unwrap().is_none());
        content.leave_line();
        drop(held);
        assert!(other.try_take(2).unwrap().is_some());
    }
}
