//! Finding processes and ending them, to the last.
//!
//! The kernel's table (`/proc`) is read, never remembered: what a job starts is found by who its parent is, and a subreaper
//! inherits whoever loses theirs, so nothing that a job started can leave the tree. A process is named by its id *and* the
//! instant it started, looked at again after a handle on it was opened, so that nobody is ever signalled who merely got a
//! dead process's number.
//!
//! SIGKILL in passes until a pass finds nobody: a process with a SIGKILL pending cannot complete a fork, so each pass ends
//! everybody it saw and only their youngest children are left for the next.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

use super::process::{Patience, ProcessEnd, Reaped, reap, reap_one, wait_readable};
use crate::id::AttemptId;
use crate::os::clock::{Clock, SystemClock};

/// How long ending others' processes is tried, in milliseconds: only an uninterruptible one takes any time.
const END_LIMIT_MS: u64 = 2000;

/// How many passes look for new processes while a tree is being stopped.
const PAUSE_PASSES_MAX: usize = 100;

/// One line of the kernel's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    pid: i32,
    parent: i32,
    session: i32,
    state: u8,
    /// When it started, in the kernel's ticks since boot.
    started: u64,
}

impl Process {
    /// The child `pid` of this process, also one that has ended and was not taken leave of.
    pub fn child(pid: i32) -> Option<Self> {
        Self::parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The process `pid`, unless it is gone or has ended.
    fn find(pid: i32) -> Option<Self> {
        Self::child(pid).filter(Self::lives)
    }

    /// Reads `/proc/<pid>/stat` (proc_pid_stat(5)). The name in brackets may hold anything, brackets and newlines too.
    fn parse(stat: &[u8]) -> Option<Self> {
        let name_ends = stat.iter().rposition(|&byte| byte == b')')?;
        let pid = std::str::from_utf8(&stat[..stat.iter().position(|&byte| byte == b' ')?]).ok()?;
        let rest = std::str::from_utf8(stat.get(name_ends + 2..)?).ok()?;
        let fields: Vec<&str> = rest.split(' ').collect();
        Some(Self {
            pid: pid.parse().ok()?,
            state: *fields.first()?.as_bytes().first()?,
            parent: fields.get(1)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }

    fn lives(&self) -> bool {
        !matches!(self.state, b'Z' | b'X')
    }

    fn is_stopped(&self) -> bool {
        self.state == b'T'
    }

    /// Its environment, as it was when its program started; nothing where that can't be read.
    fn environment(&self) -> Vec<u8> {
        fs::read(format!("/proc/{}/environ", self.pid)).unwrap_or_default()
    }

    /// Sends `signal` to exactly this process.
    fn signal(&self, signal: Signal) -> Sent {
        let Some(pid) = Pid::from_raw(self.pid) else { return Sent::Gone };
        let handle = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
            Ok(handle) => Some(handle),
            Err(Errno::SRCH) => return Sent::Gone,
            // No handles to be had (an old kernel, a sandbox, no descriptor left): the number has to do.
            Err(_) => None,
        };
        // The handle may be on a successor: compare now that it can't change any more.
        if !self.is_still_there() {
            return Sent::Gone;
        }
        let sent = match &handle {
            Some(handle) => rustix::process::pidfd_send_signal(handle, signal),
            None => rustix::process::kill_process(pid, signal),
        };
        match sent {
            Ok(()) => Sent::To(handle),
            Err(Errno::SRCH) => Sent::Gone,
            Err(_) => Sent::Refused,
        }
    }

    fn is_still_there(&self) -> bool {
        Self::find(self.pid).is_some_and(|now| now.started == self.started)
    }
}

/// Whether the process `pid` is suspended (Ctrl-Z, SIGSTOP) and has `file` open. What can't be looked at is not said to be: the
/// number may be another process's by now, or belong to another user or container.
pub fn is_suspended(pid: u32, file: &fs::Metadata) -> bool {
    let process = i32::try_from(pid).ok().and_then(Process::find);
    let opened = || fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let is_it = |opened: fs::Metadata| (opened.dev(), opened.ino()) == (file.dev(), file.ino());
    process.is_some_and(|process| process.is_stopped())
        && opened().any(|entry| fs::metadata(entry.path()).is_ok_and(is_it))
}

/// What became of a signal.
#[derive(Debug)]
enum Sent {
    /// It was sent; the handle, where there is one, becomes readable when the process has ended.
    To(Option<OwnedFd>),
    /// The process is gone.
    Gone,
    /// It belongs to another user.
    Refused,
}

/// Everything that runs, at about one instant.
struct Table {
    processes: Vec<Process>,
}

impl Table {
    fn read() -> Self {
        let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        Self { processes: pids.filter_map(Process::find).collect() }
    }

    /// Those that `is_root` names and all that descend from them, parents first.
    fn trees(&self, is_root: impl Fn(&Process) -> bool) -> Vec<Process> {
        let mut children: HashMap<i32, Vec<&Process>> = HashMap::new();
        for process in &self.processes {
            children.entry(process.parent).or_default().push(process);
        }
        let mut found: Vec<Process> = self.processes.iter().filter(|process| is_root(process)).copied().collect();
        let mut seen: HashSet<i32> = found.iter().map(|process| process.pid).collect();
        let mut at = 0;
        while at < found.len() {
            for child in children.get(&found[at].pid).into_iter().flatten() {
                if seen.insert(child.pid) {
                    found.push(**child);
                }
            }
            at += 1;
        }
        found
    }

    /// `pid` and its parents, up to the first process.
    fn ancestry(&self, pid: i32) -> HashSet<i32> {
        let parents: HashMap<i32, i32> = self.processes.iter().map(|process| (process.pid, process.parent)).collect();
        let mut line = HashSet::new();
        let mut next = Some(pid);
        while let Some(pid) = next.filter(|&pid| pid > 0 && line.insert(pid)) {
            next = parents.get(&pid).copied();
        }
        line
    }
}

/// This process's id.
fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// The living descendants of this process.
fn own_descendants() -> Vec<Process> {
    let own = own_pid();
    Table::read().trees(|process| process.parent == own)
}

/// How ending processes went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ending {
    /// How many were ended.
    pub ended: usize,
    /// How many could not be: another user's (a job ran `sudo`), or stuck in the kernel.
    pub out_of_reach: usize,
}

/// Kills every descendant of this process, a subreaper, and waits until the last is gone, telling `reaped` how each child
/// ended. Blocks for as long as one is stuck in the kernel.
pub fn end_descendants(mut reaped: impl FnMut(i32, ProcessEnd)) -> Ending {
    let mut ended = 0;
    loop {
        kill_children();
        let mut killed_children = 0;
        let mut out_of_reach = 0;
        for process in own_descendants() {
            match process.signal(Signal::KILL) {
                Sent::To(_) => killed_children += usize::from(process.parent == own_pid()),
                Sent::Gone => {}
                Sent::Refused => out_of_reach += 1,
            }
        }
        // Each killed child ends and is a child until it was reaped, so this many can be waited for without hanging.
        let patience = std::iter::repeat_n(Patience::UntilOneEnds, killed_children);
        for patience in patience.chain(std::iter::repeat(Patience::None)) {
            match reap(patience) {
                Reaped::Ended(pid, end) => {
                    ended += usize::from(end == ProcessEnd::Signal(Signal::KILL.as_raw()));
                    reaped(pid, end);
                }
                Reaped::Nobody => return Ending { ended, out_of_reach: 0 },
                Reaped::Running if out_of_reach > 0 && killed_children == 0 => return Ending { ended, out_of_reach },
                Reaped::Running => break,
            }
        }
    }
}

/// Nothing to do: every descendant of a subreaper is found without knowing where it began.
pub fn follow(_job: i32) {}

/// Nothing to do: once a subreaper has no child it has no descendant.
pub fn end_strays() -> Ending {
    Ending::default()
}

/// Kills this process's own children straight from the kernel's list of them. It takes microseconds where the whole table
/// takes milliseconds, so that a chain of processes that each fork and exit can't keep ahead for long. A child's number is
/// its own until it is reaped, so no handle is needed.
fn kill_children() {
    let listed = fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    for pid in listed.split_ascii_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

/// Asks every descendant of this process to end (SIGTERM), the stopped ones too.
pub fn terminate_descendants() {
    for process in own_descendants() {
        process.signal(Signal::TERM);
        process.signal(Signal::CONT);
    }
}

/// Stops every descendant of this process (SIGSTOP) and returns those that were running until then.
pub fn pause_descendants() -> Vec<Process> {
    let mut paused: Vec<Process> = Vec::new();
    for _ in 0..PAUSE_PASSES_MAX {
        let known: HashSet<i32> = paused.iter().map(|process| process.pid).collect();
        let running = own_descendants().into_iter().filter(|one| !one.is_stopped() && !known.contains(&one.pid));
        let stopped: Vec<Process> = running.filter(|one| matches!(one.signal(Signal::STOP), Sent::To(_))).collect();
        if stopped.is_empty() {
            break;
        }
        paused.extend(stopped);
    }
    paused
}

/// Lets `paused` go on (SIGCONT), as far as they still exist.
pub fn resume(paused: &[Process]) {
    for process in paused {
        process.signal(Signal::CONT);
    }
}

/// Kills what a supervisor that was itself killed has left to this process, a subreaper.
///
/// They are the children of this process that it did not start: later than the supervisor, in a session that is not ours
/// (a supervisor leaves our session before it starts anything, and no process can join one), no supervisor, and no daemon
/// of git's. Our own git children run in our session and are never touched.
pub fn end_orphans_of(supervisor: &Process) -> Ending {
    let own = own_pid();
    let Some(own_session) = Process::find(own).map(|process| process.session) else { return Ending::default() };
    end_each(|table| {
        table.trees(|process| {
            process.parent == own
                && process.session != own_session
                && process.started >= supervisor.started
                && !is_supervisor(process)
                && !is_daemon_of_git(process)
        })
    })
}

fn is_supervisor(process: &Process) -> bool {
    let line = fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default();
    line.split(|&byte| byte == 0).nth(1) == Some(super::process::SUPERVISE.as_bytes())
}

/// A daemon that one of our git children left in the background carries no mark of a job.
fn is_daemon_of_git(process: &Process) -> bool {
    let name = fs::read(format!("/proc/{}/comm", process.pid)).unwrap_or_default();
    name.starts_with(b"git") && !process.environment().split(|&byte| byte == 0).any(|set| set == b"DISCERN=1")
}

/// Kills whatever carries `DISCERN_ATTEMPT=<attempt>`, and what descends from it: for recovery, when a run and its
/// supervisors were all killed (C25). Never this process or one that it descends from.
pub fn end_leftovers(attempt: AttemptId) -> Ending {
    let mark = format!("DISCERN_ATTEMPT={attempt}").into_bytes();
    end_each(|table| {
        let spared = table.ancestry(own_pid());
        let carries_mark = |process: &Process| process.environment().split(|&byte| byte == 0).any(|set| set == mark);
        let mut found = table.trees(|process| !spared.contains(&process.pid) && carries_mark(process));
        found.retain(|process| !spared.contains(&process.pid));
        found
    })
}

/// Kills whom `find` finds, until it finds nobody or [`END_LIMIT_MS`] have passed.
fn end_each(find: impl Fn(&Table) -> Vec<Process>) -> Ending {
    let mut ended = HashSet::new();
    let began = SystemClock.now().monotonic_ms;
    loop {
        let found = find(&Table::read());
        let mut killed = None;
        for process in &found {
            if let Sent::To(handle) = process.signal(Signal::KILL) {
                ended.insert(process.pid);
                killed = Some(handle);
            }
        }
        match &killed {
            Some(Some(handle)) => _ = wait_readable([handle.as_fd()], Some(100)),
            Some(None) => _ = wait_readable([], Some(10)),
            None => {}
        }
        for pid in found.iter().filter_map(|process| Pid::from_raw(process.pid)) {
            reap_one(pid);
        }
        if killed.is_none() || SystemClock.now().monotonic_ms - began > END_LIMIT_MS {
            let out_of_reach = found.iter().filter(|process| process.is_still_there()).count();
            return Ending { ended: ended.len(), out_of_reach };
        }
    }
}

/// Refuses to supervise where the kernel's table can't be read: nothing could be found again.
pub fn table_is_readable() -> io::Result<()> {
    fs::metadata("/proc/self/stat").map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_table_is_read_whatever_the_process_calls_itself() {
        let mut line = b"17 (a) b\n(c) S 5 16 15 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9876 0 0\n".to_vec();
        let process = Process::parse(&line).unwrap();
        assert_eq!((process.pid, process.parent, process.session, process.started), (17, 5, 15, 9876));
        assert!(process.lives());
        line[4] = 0xff;
        assert_eq!(Process::parse(&line), Some(process));
        assert_eq!(Process::parse(b"17 (cut"), None);
        assert_eq!(Process::parse(b""), None);
    }

    #[test]
    fn a_tree_is_found_parents_first_and_a_loop_in_the_table_ends() {
        let process = |pid, parent| Process { pid, parent, session: 1, state: b'S', started: 1 };
        let table =
            Table { processes: vec![process(4, 3), process(3, 2), process(2, 1), process(9, 1), process(1, 4)] };
        let pids = |found: Vec<Process>| found.iter().map(|process| process.pid).collect::<Vec<_>>();
        assert_eq!(pids(table.trees(|process| process.pid == 3)), [3, 4, 1, 2, 9]);
        assert_eq!(table.ancestry(4), HashSet::from([4, 3, 2, 1]));
    }

    #[test]
    fn a_number_that_now_belongs_to_another_process_is_not_signalled() {
        let own = Process::find(own_pid()).unwrap();
        let predecessor = Process { started: own.started - 1, ..own };
        assert!(matches!(predecessor.signal(Signal::CONT), Sent::Gone));
        assert!(matches!(own.signal(Signal::CONT), Sent::To(_)));
    }
}
