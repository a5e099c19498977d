//! Starting processes other than git, and learning how they ended.
//!
//! Nothing here decides what is started; that is the engine's. `posix_spawn` is used throughout (no code of ours runs
//! between fork and exec), which is quick and needs nothing unsafe. What a child must hold is handed over in a message.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, WaitOptions, WaitStatus};
use serde::{Deserialize, Serialize};

use super::environment::Variables;
use super::hooks;

/// The running binary, also when its file was replaced or removed since: a gate may well build the gate.
#[cfg(target_os = "linux")]
pub const OWN_BINARY: &str = "/proc/self/exe";

/// The installed binary, found by `PATH`: here nothing names the running one.
#[cfg(not(target_os = "linux"))]
pub const OWN_BINARY: &str = "git-discern";

/// The hidden subcommand that supervises one job.
pub const SUPERVISE: &str = "supervise";

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessEnd {
    /// It exited with this status.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

impl ProcessEnd {
    fn of(status: WaitStatus) -> Option<Self> {
        status.exit_status().map(Self::Code).or_else(|| status.terminating_signal().map(Self::Signal))
    }
}

impl std::fmt::Display for ProcessEnd {
    /// A sentence's end: `exited with status 3`, `was killed by SIGKILL (signal 9)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Code(code) => write!(f, "exited with status {code}"),
            Self::Signal(number) => write!(f, "was killed by {} (signal {number})", super::signal::name(number)),
        }
    }
}

/// Starts `binary supervise`, in `directory`, with exactly `environment`; `channel` is its standard input, `log` its output.
///
/// `argv[0]` and the arguments name the tool and the job, and nothing of the job's command, so that a job which looks for
/// processes by command line (`pkill -f`) does not find its own supervisor.
#[expect(clippy::disallowed_methods, reason = "the one place that starts processes other than git")]
pub fn start_supervisor(
    binary: &Path,
    job: &str,
    directory: &Path,
    environment: &Variables,
    channel: OwnedFd,
    log: File,
) -> io::Result<Child> {
    let errors = log.try_clone()?;
    Command::new(binary)
        .arg0("git-discern")
        .args([SUPERVISE, job])
        .current_dir(directory)
        .env_clear()
        .envs(environment)
        .envs(hooks::points())
        .stdin(channel)
        .stdout(log)
        .stderr(errors)
        .spawn()
}

/// Starts this very binary with `arguments`, in a process group of its own, so that signals reach it through [`signal`] alone.
/// Its standard output is `output`; what it says on standard error is not kept.
#[expect(clippy::disallowed_methods, reason = "the one place that starts processes other than git")]
pub fn start_self(arguments: &[String], output: File) -> io::Result<Child> {
    let mut command = Command::new(OWN_BINARY);
    command.arg0("git-discern").args(arguments).process_group(0);
    command.stdin(Stdio::null()).stdout(output).stderr(Stdio::null()).spawn()
}

/// Starts this program with `arguments` as a process that nobody waits for: silent, and in a group of its own, so that a Ctrl-C
/// meant for its parent does not end it.
///
/// # Errors
/// It can't be started.
#[expect(clippy::disallowed_methods, reason = "the one place that starts processes other than git")]
pub fn start_self_alone(arguments: &[&str]) -> io::Result<()> {
    let mut command = Command::new(OWN_BINARY);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.spawn().map(drop)
}

/// Sends `signal` to a child that was not waited for yet. One that has ended does not mind.
pub fn signal(child: &Child, signal: super::signal::Signal) {
    if let Some(signal) = rustix::process::Signal::from_named_raw(signal.raw()) {
        let _ = rustix::process::kill_process(Pid::from_child(child), signal);
    }
}

/// Starts a job's command in a process group of its own, with this process's directory, environment and standard output
/// (which also becomes its standard error). The caller learns of its end by [`reap`].
#[expect(clippy::disallowed_methods, reason = "the one place that starts processes other than git")]
pub fn start_job(program: &str, arguments: &[&str], input: Option<OwnedFd>) -> io::Result<i32> {
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let mut command = Command::new(program);
    hooks::points().for_each(|(name, _)| _ = command.env_remove(name));
    let child = command
        .args(arguments)
        .process_group(0)
        .stdin(input.map_or_else(Stdio::null, Stdio::from))
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()?;
    let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
    super::descendants::follow(pid);
    Ok(pid)
}

/// Starts a pager, a shell command as git has it, that shows what is written to its standard input.
#[expect(clippy::disallowed_methods, reason = "the one place that starts processes other than git")]
pub fn start_pager(command: &OsStr, variables: &Variables) -> io::Result<Child> {
    Command::new("sh").arg("-c").arg(command).envs(variables).stdin(Stdio::piped()).spawn()
}

/// Puts this process into a session of its own, without a terminal, and makes it the parent of every descendant whose own
/// parent ends: double forks and `setsid` don't get away from it.
pub fn lead_session() -> io::Result<()> {
    // Fails only for a process that leads its group already, which is as good.
    let _ = rustix::process::setsid();
    adopt_orphans()
}

/// Makes this process the parent of every descendant whose own parent ends.
pub fn adopt_orphans() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

/// What [`reap`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaped {
    /// This child has ended.
    Ended(i32, ProcessEnd),
    /// There are children and none of them has ended.
    Running,
    /// There is no child, hence (in a subreaper) no descendant.
    Nobody,
}

/// Takes leave of one child of this process that has ended, whichever.
pub fn reap(patience: Patience) -> Reaped {
    let options = match patience {
        Patience::None => WaitOptions::NOHANG,
        Patience::UntilOneEnds => WaitOptions::empty(),
    };
    loop {
        match rustix::process::wait(options) {
            Ok(Some((pid, status))) => {
                if let Some(end) = ProcessEnd::of(status) {
                    return Reaped::Ended(pid.as_raw_nonzero().get(), end);
                }
            }
            Ok(None) => return Reaped::Running,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Reaped::Nobody,
        }
    }
}

/// Whether [`reap`] blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// It never does.
    None,
    /// It does until a child ends.
    UntilOneEnds,
}

/// Takes leave of the child `pid`, if it is one and has ended. Other children (git's) are left to who started them.
#[cfg(target_os = "linux")]
pub(super) fn reap_one(pid: Pid) {
    let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
}

/// Waits until one of `fds` is readable (or its other end closed), at most `limit_ms`. Returns which are, in their order.
pub fn wait_readable<const N: usize>(fds: [BorrowedFd<'_>; N], limit_ms: Option<u64>) -> [bool; N] {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut polled = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    let limit = limit_ms.map(|ms| Timespec { tv_sec: (ms / 1000) as i64, tv_nsec: (ms % 1000 * 1_000_000) as i64 });
    // An interrupted poll is one in which nothing was readable.
    let _ = poll(&mut polled, limit.as_ref());
    polled.map(|fd| !fd.revents().is_empty())
}

/// Waits until any of `fds` is readable (or its other end closed), at most `limit_ms`. A signal ends the wait as well.
pub fn wait_any(fds: &[BorrowedFd<'_>], limit_ms: u64) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut polled: Vec<PollFd<'_>> = fds.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    let limit = Timespec {
        tv_sec: i64::try_from(limit_ms / 1000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(limit_ms % 1000 * 1_000_000).unwrap_or(0),
    };
    // Whatever ends the wait early, the caller looks at everything anyway.
    let _ = poll(&mut polled, Some(&limit));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_said_in_words() {
        assert_eq!(ProcessEnd::Code(3).to_string(), "exited with status 3");
        assert_eq!(ProcessEnd::Signal(9).to_string(), "was killed by SIGKILL (signal 9)");
    }
}
