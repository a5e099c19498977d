//! A pseudo-terminal with somebody who looks and types.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::Winsize;

use super::{Outcome, Place, Running, wait_for};

/// A terminal. Dropping it is closing its window: whoever runs in it gets SIGHUP.
pub(crate) struct Terminal {
    controller: File,
    name: String,
    /// Everything that was written to it so far.
    seen: Vec<u8>,
}

impl Terminal {
    /// A terminal of that size.
    pub(crate) fn new(columns: u16, rows: u16) -> Self {
        let controller: OwnedFd =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a pseudo-terminal");
        grantpt(&controller).and_then(|()| unlockpt(&controller)).expect("it is ours");
        let name = ptsname(&controller, Vec::new()).expect("it has a name").into_string().expect("ASCII");
        rustix::io::ioctl_fionbio(&controller, true).expect("it can be read without waiting");
        let terminal = Self { controller: File::from(controller), name, seen: Vec::new() };
        terminal.resize(columns, rows);
        terminal
    }

    /// Makes the window another size, which whoever runs in it is told.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&self.controller, size).expect("it is a terminal");
    }

    /// Starts `git-discern` as the leader of the terminal's session, as a window manager would.
    pub(crate) fn start(&self, place: &Place, arguments: &[&str]) -> Running {
        let words: Vec<&str> = std::iter::once("git-discern").chain(arguments.iter().copied()).collect();
        self.start_program(place, &words)
    }

    /// The same for any program.
    pub(crate) fn start_program(&self, place: &Place, words: &[&str]) -> Running {
        // A session leader without a terminal gets the first one that it opens.
        let script = "exec 0<>\"$0\" 1>&0 2>&0; exec \"$@\"";
        let arguments = [&["sh", "-c", script, &self.name], words].concat();
        place.begin(place.command("setsid", &arguments))
    }

    /// Types.
    pub(crate) fn enter(&mut self, bytes: &[u8]) {
        self.controller.write_all(bytes).expect("there is room for a few bytes");
    }

    /// Everything that was written to it so far.
    pub(crate) fn text(&mut self) -> String {
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = self.controller.read(&mut bytes) {
            self.seen.extend_from_slice(&bytes[..read]);
        }
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    /// Waits until `text` was written to it `times` times.
    pub(crate) fn wait_for(&mut self, text: &str, times: usize) {
        wait_for(text, || self.text().matches(text).count() >= times);
    }

    /// Waits for the end of what runs in it, and reads all the while.
    pub(crate) fn follow(&mut self, mut running: Running) -> Outcome {
        wait_for("the end of what runs in a terminal", || {
            self.text();
            running.has_ended()
        });
        self.text();
        running.wait()
    }
}
