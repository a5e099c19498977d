//! Our own standard streams and the terminal behind them, if there is one.
//!
//! Writing is synchronous and goes straight to the descriptor: a terminal that stops reading stops the writer, and with it
//! the whole run and its renewals (C14). A stream that somebody else switched to non-blocking is waited for, so that
//! nothing is lost. What is gone (`EPIPE`, `EIO`) is an error for the caller to drop.

use std::ffi::OsString;
use std::io;
use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags};

/// Standard output or standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standard {
    /// Standard output: results.
    Output,
    /// Standard error: the story.
    Error,
}

/// The size of a terminal in character cells, as it is right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Cells in a line.
    pub columns: usize,
    /// Lines.
    pub rows: usize,
}

impl Standard {
    fn descriptor(self) -> BorrowedFd<'static> {
        match self {
            Self::Output => rustix::stdio::stdout(),
            Self::Error => rustix::stdio::stderr(),
        }
    }

    /// Whether a terminal is behind it.
    pub fn is_terminal(self) -> bool {
        rustix::termios::isatty(self.descriptor())
    }

    /// Whether what is written to both can be read in one place: the same terminal, pipe or file is behind them.
    fn is_as(self, other: Self) -> bool {
        let file = |standard: Self| rustix::fs::fstat(standard.descriptor());
        let same =
            |one: rustix::fs::Stat, other: rustix::fs::Stat| one.st_dev == other.st_dev && one.st_ino == other.st_ino;
        file(self).is_ok_and(|one| file(other).is_ok_and(|other| same(one, other)))
    }

    /// The size of the terminal behind it; nothing if there is none. Terminals that do not know say 0 × 0.
    pub fn size(self) -> Option<Size> {
        let size = rustix::termios::tcgetwinsize(self.descriptor()).ok()?;
        Some(Size { columns: usize::from(size.ws_col), rows: usize::from(size.ws_row) })
    }
}

impl io::Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let descriptor = self.descriptor();
        loop {
            match rustix::io::write(descriptor, bytes) {
                Err(rustix::io::Errno::AGAIN) => {
                    let mut ready = [PollFd::new(&descriptor, PollFlags::OUT)];
                    rustix::event::poll(&mut ready, None)?;
                }
                answer => return answer.map_err(io::Error::from),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the environment says about how to show things.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Standard output is a terminal.
    pub output_is_terminal: bool,
    /// Standard error is a terminal.
    pub error_is_terminal: bool,
    /// `TERM` is unset, empty or `dumb`: the terminal can't move its cursor.
    pub dumb: bool,
    /// `NO_COLOR` is set to anything (no-color.org).
    pub no_color: bool,
    /// `CI` is set to anything but `false`.
    pub ci: bool,
    /// The locale's encoding is UTF-8.
    pub utf8: bool,
    /// What is written to both streams can be read in one place: a terminal, a log.
    pub streams_are_one: bool,
}

impl Surroundings {
    /// What `variable` and the streams say now.
    pub fn look(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let text = |name: &str| variable(name).filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(text).unwrap_or_default();
        let locale = locale.to_string_lossy().to_ascii_lowercase();
        Self {
            // A pager that git started stands for the terminal behind it.
            output_is_terminal: Standard::Output.is_terminal()
                || text("GIT_PAGER_IN_USE").is_some_and(|value| value == "true"),
            error_is_terminal: Standard::Error.is_terminal(),
            dumb: text("TERM").is_none_or(|term| term == "dumb"),
            no_color: text("NO_COLOR").is_some(),
            ci: text("CI").is_some_and(|value| value != "false"),
            utf8: locale.contains("utf-8") || locale.contains("utf8"),
            streams_are_one: Standard::Output.is_as(Standard::Error),
        }
    }
}
