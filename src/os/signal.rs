//! Signals, as something to poll.
//!
//! A signal's handler writes one byte into a socket and does nothing else; the owner's loop reads it when it gets round
//! to it (C14). Nothing is ever interrupted in the middle of a write. A signal that was ignored when the process started
//! stays ignored (C18): that is how `nohup` and a shell's `&` ask for it.

use std::fmt;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use rustix::process::Signal as Raw;
use signal_hook::SigId;

/// A signal that somebody here cares about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal is gone.
    Hangup,
    /// SIGTSTP: Ctrl-Z.
    Suspend,
    /// SIGCONT: `fg`, `bg`.
    Continue,
    /// SIGWINCH: the window has another size.
    Resize,
    /// SIGCHLD: a child ended or stopped.
    Child,
    /// SIGXFSZ: a file reached `ulimit -f`. Caught so that the write fails instead.
    FileSize,
}

impl Signal {
    /// What the owner of a run listens to.
    pub const OWNER: [Self; 7] =
        [Self::Interrupt, Self::Terminate, Self::Hangup, Self::Suspend, Self::Continue, Self::Resize, Self::Child];

    /// What a job's supervisor listens to.
    pub const SUPERVISOR: [Self; 5] = [Self::Interrupt, Self::Terminate, Self::Hangup, Self::Child, Self::FileSize];

    pub(super) fn raw(self) -> i32 {
        let raw = match self {
            Self::Interrupt => Raw::INT,
            Self::Terminate => Raw::TERM,
            Self::Hangup => Raw::HUP,
            Self::Suspend => Raw::TSTP,
            Self::Continue => Raw::CONT,
            Self::Resize => Raw::WINCH,
            Self::Child => Raw::CHILD,
            Self::FileSize => Raw::XFSZ,
        };
        raw.as_raw()
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name(self.raw()))
    }
}

/// The name of signal `number`: `SIGKILL`; `signal 40` where it has none.
pub fn name(number: i32) -> String {
    signal_hook::low_level::signal_name(number).map_or_else(|| format!("signal {number}"), str::to_owned)
}

/// Signals that are caught for as long as this lives; afterwards they have no effect unless another of these hears them.
#[derive(Debug)]
pub struct Signals {
    /// Readable when any of them came in.
    wake: UnixStream,
    /// One byte for each delivery.
    deliveries: Vec<(Signal, UnixStream)>,
    /// What is registered with the process's handlers.
    registered: Vec<SigId>,
}

impl Drop for Signals {
    fn drop(&mut self) {
        for registered in self.registered.drain(..) {
            signal_hook::low_level::unregister(registered);
        }
    }
}

impl Signals {
    /// Catches `signals`, except those that are ignored. SIGPIPE needs nothing: Rust's start-up ignores it, and gives it
    /// back to every child.
    pub fn install(signals: &[Signal]) -> io::Result<Self> {
        let ignored = ignored_at_start();
        let (wake, waker) = socket()?;
        let mut caught = Self { wake, deliveries: Vec::with_capacity(signals.len()), registered: Vec::new() };
        for &signal in signals {
            if ignored & (1 << (signal.raw() - 1)) != 0 {
                continue;
            }
            let (receiver, sender) = socket()?;
            // In this order, so that whoever is woken finds the delivery.
            for end in [sender, waker.try_clone()?] {
                caught.registered.push(signal_hook::low_level::pipe::register(signal.raw(), end)?);
            }
            caught.deliveries.push((signal, receiver));
        }
        Ok(caught)
    }

    /// Becomes readable when a signal came in.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// What came in since the last call, each delivery once; grouped by signal, not in the order of arrival. Never blocks.
    pub fn drain(&mut self) -> Vec<Signal> {
        count(&mut self.wake);
        let mut caught = Vec::new();
        for (signal, receiver) in &mut self.deliveries {
            let times = count(receiver);
            caught.extend(std::iter::repeat_n(*signal, times));
        }
        // As the kernel has it: a SIGCONT takes a stop back that nobody has acted on.
        if caught.contains(&Signal::Continue) {
            caught.retain(|signal| *signal != Signal::Suspend);
        }
        caught
    }

    /// Stops this process as Ctrl-Z would have, until SIGCONT; not at all, if that came in meanwhile. The caller has paused its
    /// jobs and restored the terminal.
    pub fn stand_still(&mut self) {
        let continues = self.deliveries.iter_mut().filter(|(signal, _)| *signal == Signal::Continue);
        if continues.map(|(_, receiver)| count(receiver)).sum::<usize>() == 0 {
            // Fails for no process of its own.
            let _ = rustix::process::kill_process(rustix::process::getpid(), Raw::STOP);
        }
    }
}

/// Two ends that never block.
fn socket() -> io::Result<(UnixStream, UnixStream)> {
    let (receiver, sender) = UnixStream::pair()?;
    receiver.set_nonblocking(true)?;
    sender.set_nonblocking(true)?;
    Ok((receiver, sender))
}

/// Reads `socket` empty and counts.
fn count(socket: &mut UnixStream) -> usize {
    let mut total = 0;
    let mut bytes = [0; 64];
    while let Ok(read @ 1..) = socket.read(&mut bytes) {
        total += read;
    }
    total
}

/// The signals that this process ignores, one bit each (bit 0 is signal 1). None where `/proc` cannot say.
fn ignored_at_start() -> u64 {
    std::fs::read_to_string("/proc/self/status").map_or(0, |status| ignored_in(&status))
}

fn ignored_in(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_delivery_is_seen_once_and_wakes_a_poll() {
        let mut signals = Signals::install(&[Signal::Resize]).unwrap();
        assert!(signals.drain().is_empty());
        for _ in 0..2 {
            signal_hook::low_level::raise(Raw::WINCH.as_raw()).unwrap();
        }
        let mut fds = [rustix::event::PollFd::from_borrowed_fd(signals.fd(), rustix::event::PollFlags::IN)];
        assert_eq!(rustix::event::poll(&mut fds, Some(&rustix::event::Timespec::default())).unwrap(), 1);
        assert_eq!(signals.drain(), [Signal::Resize, Signal::Resize]);
        assert!(signals.drain().is_empty());
    }

    #[test]
    fn what_is_dropped_leaves_nothing_behind_for_the_next() {
        let open = || std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let before = open();
        for _ in 0..200 {
            drop(Signals::install(&Signal::SUPERVISOR).unwrap());
        }
        // Other tests open files meanwhile.
        assert!(open() < before + 200, "each would leave ten");
    }

    #[test]
    fn a_stop_that_was_taken_back_is_none() {
        let mut signals = Signals::install(&[Signal::Suspend, Signal::Continue]).unwrap();
        let raise = |raw: Raw| signal_hook::low_level::raise(raw.as_raw()).unwrap();
        raise(Raw::TSTP);
        assert_eq!(signals.drain(), [Signal::Suspend]);
        // This would stop the test for ever.
        raise(Raw::CONT);
        signals.stand_still();
        raise(Raw::TSTP);
        raise(Raw::CONT);
        assert_eq!(signals.drain(), [Signal::Continue]);
    }

    #[test]
    fn the_mask_of_ignored_signals_is_read_from_the_kernel() {
        let status = "Name:\tx\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001003\n";
        assert_eq!(ignored_in(status), 1 << (Raw::HUP.as_raw() - 1) | 1 << (Raw::INT.as_raw() - 1) | 1 << 12);
        assert_eq!(ignored_in("nothing"), 0);
    }

    #[test]
    fn signals_have_names() {
        assert_eq!(Signal::Interrupt.to_string(), "SIGINT");
        assert_eq!(name(9), "SIGKILL");
        assert_eq!(name(40), "signal 40");
    }
}
