//! Ending the processes of a job where there is neither `/proc` nor a subreaper (macOS): its process group, and nothing more.
//!
//! Untested. What leaves the group, by a session or group of its own, is not found again, and neither is the job of a
//! supervisor that was itself killed.

use std::io;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::{Pid, Signal};

use super::process::{Patience, ProcessEnd, Reaped, reap};
use crate::id::AttemptId;

/// The group of the one job that this process supervises; 0 before it was started.
static GROUP: AtomicI32 = AtomicI32::new(0);

/// A process, by its number alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {}

impl Process {
    /// The child `pid` of this process.
    pub fn child(_pid: i32) -> Option<Self> {
        Some(Self {})
    }
}

/// Whether a process is suspended: not known here.
pub fn is_suspended(_pid: u32, _file: &std::fs::Metadata) -> bool {
    false
}

/// How ending processes went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ending {
    /// How many were ended.
    pub ended: usize,
    /// How many could not be.
    pub out_of_reach: usize,
}

/// Notes whose group is to be ended.
pub fn follow(job: i32) {
    GROUP.store(job, Ordering::Relaxed);
}

/// Sends `signal` to the job's group; false if nobody is left in it.
fn signal_group(signal: Signal) -> bool {
    let group = Pid::from_raw(GROUP.load(Ordering::Relaxed));
    group.is_some_and(|group| rustix::process::kill_process_group(group, signal).is_ok())
}

/// Kills the job's group and waits for its children, telling `reaped` how each ended.
pub fn end_descendants(mut reaped: impl FnMut(i32, ProcessEnd)) -> Ending {
    let mut ended = usize::from(signal_group(Signal::KILL));
    while let Reaped::Ended(pid, end) = reap(Patience::UntilOneEnds) {
        ended += usize::from(end == ProcessEnd::Signal(Signal::KILL.as_raw()));
        reaped(pid, end);
    }
    Ending { ended, out_of_reach: 0 }
}

/// Kills who is left in the group of a job that has ended; whether anybody was.
pub fn end_strays() -> Ending {
    Ending { ended: usize::from(signal_group(Signal::KILL)), out_of_reach: 0 }
}

/// Asks the job's group to end (SIGTERM), the stopped ones too.
pub fn terminate_descendants() {
    signal_group(Signal::TERM);
    signal_group(Signal::CONT);
}

/// Stops the job's group (SIGSTOP).
pub fn pause_descendants() -> Vec<Process> {
    signal_group(Signal::STOP);
    Vec::new()
}

/// Lets the job's group go on (SIGCONT).
pub fn resume(_paused: &[Process]) {
    signal_group(Signal::CONT);
}

/// Nothing: a killed supervisor's job goes to the system's first process.
pub fn end_orphans_of(_supervisor: &Process) -> Ending {
    Ending::default()
}

/// Nothing: environments of others can't be read here.
pub fn end_leftovers(_attempt: AttemptId) -> Ending {
    Ending::default()
}

/// There is no table to be read.
pub fn table_is_readable() -> io::Result<()> {
    Ok(())
}
