//! What the file system says of files without reading them, and how far that can be relied on.

use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use bstr::{BStr, ByteSlice};

use super::error::GitError;
use super::index::Tracked;
use super::tree::MODE_LINK;

/// How many files are worth a thread.
const FILES_PER_THREAD: usize = 1_000;
/// The most threads that look at files.
const THREADS_MAX: usize = 8;

/// A file is dated by the clock's last tick, 10 ms ago at most; some file systems round that down to as much again.
const TICK_NS: i64 = 50_000_000;
/// Some know whole seconds only, or every second one.
const COARSE_TICK_NS: i64 = 2_050_000_000;

/// A time as files have it: seconds since the epoch, and nanoseconds.
pub(super) type FileTime = (i64, i64);

/// What the system's clock shows, by which it dates files.
pub(super) fn file_time_now() -> FileTime {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    (now.tv_sec, now.tv_nsec)
}

/// What tells one state of a file from another. All zero for a file that is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) size: u64,
    inode: u64,
    mtime: FileTime,
    ctime: FileTime,
    pub(super) mode: u32,
}

impl Stat {
    /// Of the file at `path`, below the folder that is open as `top`; a link is not followed.
    pub(super) fn of(top: impl AsFd, path: &BStr) -> Self {
        // The types of these fields differ from system to system.
        #[expect(clippy::unnecessary_cast, reason = "see above")]
        rustix::fs::statat(top, path.as_bytes(), rustix::fs::AtFlags::SYMLINK_NOFOLLOW).map_or_else(
            |_| Self::default(),
            |meta| Self {
                size: meta.st_size as u64,
                inode: meta.st_ino as u64,
                mtime: (meta.st_mtime as i64, meta.st_mtime_nsec as i64),
                ctime: (meta.st_ctime as i64, meta.st_ctime_nsec as i64),
                mode: meta.st_mode as u32,
            },
        )
    }

    /// As [`Stat::of`], by the full path.
    pub(super) fn of_file(path: &Path) -> Self {
        Self::of(rustix::fs::CWD, path.as_os_str().as_bytes().as_bstr())
    }

    pub(super) fn is_file(&self) -> bool {
        self.mode & 0o170_000 == 0o100_000
    }

    /// Whether it is a file that git would record with `mode`.
    pub(super) fn is_file_of_mode(&self, mode: u32) -> bool {
        self.is_file() && mode == if self.mode & 0o100 != 0 { 0o100_755 } else { 0o100_644 }
    }

    /// Whether both are the same folder, whatever was put into it meanwhile.
    pub(super) fn is_same_folder(&self, other: &Self) -> bool {
        let is_folder = |stat: &Self| stat.mode & 0o170_000 == 0o040_000;
        is_folder(self) && is_folder(other) && self.inode == other.inode
    }

    /// Whether a change that is made at `time` or later gets another ctime than this one.
    pub(super) fn is_settled_at(&self, time: FileTime) -> bool {
        let tick_ns = if self.ctime.1 == 0 { COARSE_TICK_NS } else { TICK_NS };
        let apart_ns = i128::from(time.0 - self.ctime.0) * 1_000_000_000 + i128::from(time.1 - self.ctime.1);
        apart_ns > i128::from(tick_ns)
    }

    /// Whether it is that of the file which git compared with `entry`, in an index with the stat data `index`: older than that
    /// index, and the same since.
    pub(super) fn is_recorded(&self, entry: &Tracked<'_>, index: &Self) -> bool {
        let recorded = entry.stat;
        let time = |time: gix::index::entry::stat::Time| (i64::from(time.secs), i64::from(time.nsecs));
        let is_kind = match entry.mode {
            MODE_LINK => self.mode & 0o170_000 == 0o120_000,
            mode => self.is_file_of_mode(mode),
        };
        is_kind
            && self.mtime == time(recorded.mtime)
            && self.ctime == time(recorded.ctime)
            // As git has them: the lower half.
            && self.inode as u32 == recorded.ino
            && self.size as u32 == recorded.size
            && self.mtime.max(self.ctime) < index.mtime
    }
}

/// Looks at files, in several threads when there are many. Names are looked up from `top`, not from the root.
pub(super) fn stat_all(top: &Path, paths: &[&BStr]) -> Result<Vec<Stat>, GitError> {
    let mut stats = vec![Stat::default(); paths.len()];
    let top = std::fs::File::open(top).map_err(GitError::io(format!("open `{}`", top.display())))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let threads = (paths.len() / FILES_PER_THREAD).clamp(1, cores);
    let share = paths.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        for (paths, stats) in paths.chunks(share).zip(stats.chunks_mut(share)) {
            let top = &top;
            let look = move || paths.iter().zip(stats).for_each(|(path, stat)| *stat = Stat::of(top, path));
            if threads == 1 { look() } else { drop(scope.spawn(look)) }
        }
    });
    Ok(stats)
}
