//! One job as its run sees it: start it, follow it, end it.
//!
//! Nothing here blocks (but for the moment that it takes to end what a killed supervisor left) and nothing starts a thread:
//! a [`RunningJob`] is a descriptor to poll and an [`advance`](RunningJob::advance) to call. Claims, order and time limits
//! are the owner's affair. Whatever ends the run closes the socket, and the supervisor ends the job.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};

use super::job_clock::JobClock;
use super::job_end::{Exit, JobEnd};
use super::order::{self, JobExit, Order, Report, next_report, send_order};
use crate::config::Command;
use crate::id::Name;
use crate::os::descendants::{self, Process};
use crate::os::environment::Variables;
use crate::os::process;

/// How long a job that is told to end has until it is killed, in milliseconds.
pub const GRACE_MS: u64 = 5000;

/// Everything that a job needs to start.
#[derive(Debug, Clone, Copy)]
pub struct JobLaunch<'a> {
    /// Its name, as the process list shows it.
    pub name: &'a Name,
    /// What it executes.
    pub command: &'a Command,
    /// The directory it runs in: the worktree's top.
    pub directory: &'a Path,
    /// All of its environment ([`crate::os::environment::job_environment`]).
    pub environment: &'a Variables,
    /// Where its output is appended; created, readable by its owner alone, unless it exists.
    pub log: &'a Path,
    /// Its standard input; `/dev/null` without one.
    pub input: Option<BorrowedFd<'a>>,
    /// What stays open until its last descendant is gone: the worktree's lock (C28), a capacity slot. At most 15.
    pub hold: &'a [BorrowedFd<'a>],
    /// The binary whose `supervise` runs it: [`process::OWN_BINARY`], but for tests.
    pub supervisor: &'a Path,
}

/// Why no job was started. None of these is a failed check.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The worktree is gone.
    #[error("the directory `{path}` can't be entered")]
    Directory {
        /// It.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// There is nowhere to write to.
    #[error("the log `{path}` can't be opened")]
    Log {
        /// It.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// Its supervisor can't be started.
    #[error("the supervisor of a job can't be started")]
    Supervisor(#[from] io::Error),
}

/// A job under its supervisor. Dropping it kills the job.
#[derive(Debug)]
pub struct RunningJob {
    channel: UnixStream,
    supervisor: Child,
    /// The supervisor as the kernel's table has it; it may be dead already.
    process: Option<Process>,
    received: Vec<u8>,
    clock: JobClock,
    pid: Option<i32>,
    exited: Option<(JobExit, u64, bool)>,
    done: Option<Done>,
}

#[derive(Debug, Default)]
struct Done {
    left_behind: usize,
    out_of_reach: usize,
    output_lost: Option<String>,
    log_bytes: u64,
}

impl RunningJob {
    /// Starts `launch` at `now_ms` (monotonic).
    pub fn start(launch: &JobLaunch<'_>, now_ms: u64) -> Result<Self, StartError> {
        // If a supervisor is killed, what it supervised must come to us and not to the system's first process.
        process::adopt_orphans()?;
        let in_directory = |source| StartError::Directory { path: launch.directory.to_owned(), source };
        std::fs::read_dir(launch.directory).map_err(in_directory)?;
        let log = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(launch.log)
            .map_err(|source| StartError::Log { path: launch.log.to_owned(), source })?;
        let (channel, theirs) = UnixStream::pair()?;
        channel.set_nonblocking(true)?;
        let order = Order { words: words(launch.command), has_input: launch.input.is_some(), grace_ms: GRACE_MS };
        let descriptors: Vec<BorrowedFd<'_>> = launch.input.into_iter().chain(launch.hold.iter().copied()).collect();
        send_order(&channel, &order, &descriptors)?;
        let name = launch.name.as_str();
        let theirs = OwnedFd::from(theirs);
        let supervisor =
            process::start_supervisor(launch.supervisor, name, launch.directory, launch.environment, theirs, log)?;
        let process = i32::try_from(supervisor.id()).ok().and_then(Process::child);
        Ok(Self {
            channel,
            supervisor,
            process,
            received: Vec::new(),
            clock: JobClock::started(now_ms),
            pid: None,
            exited: None,
            done: None,
        })
    }

    /// Becomes readable when there is something to [`advance`](Self::advance) by.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }

    /// Takes in what the supervisor said. Returns how the job ended once nothing is left of it, and is not called after.
    pub fn advance(&mut self) -> Option<JobEnd> {
        let mut bytes = [0; 4096];
        let is_over = loop {
            match self.channel.read(&mut bytes) {
                Ok(0) => break true,
                Ok(read) => self.received.extend_from_slice(&bytes[..read]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break true,
            }
        };
        while let Some(report) = next_report(&mut self.received) {
            self.note(report);
        }
        is_over.then(|| self.end())
    }

    fn note(&mut self, report: Report) {
        match report {
            Report::Started { pid } => self.pid = Some(pid),
            Report::Exited { exit, duration_ms, by_order } => self.exited = Some((exit, duration_ms, by_order)),
            Report::Done { left_behind, out_of_reach, output_lost, log_bytes } => {
                self.done = Some(Done { left_behind, out_of_reach, output_lost, log_bytes });
            }
        }
    }

    /// The supervisor has closed its end: it is exiting, or was killed and its descendants are now ours.
    fn end(&mut self) -> JobEnd {
        let status = self.supervisor.wait();
        let done = self.done.take().unwrap_or_else(|| self.end_orphans());
        let (exit, duration_ms, by_order) = match self.exited.take() {
            Some((JobExit::Ended(end), duration_ms, by_order)) => (Exit::Process(end), duration_ms, by_order),
            Some((JobExit::NotStarted { program, errno }, ..)) => (Exit::NotStarted { program, errno }, 0, false),
            None => (Exit::Unknown { why: unknown(status, &done) }, 0, false),
        };
        let Done { left_behind, out_of_reach, output_lost, log_bytes } = done;
        JobEnd { exit, duration_ms, by_order, left_behind, out_of_reach, output_lost, log_bytes }
    }

    fn end_orphans(&self) -> Done {
        let ending = self.process.map(|supervisor| descendants::end_orphans_of(&supervisor)).unwrap_or_default();
        Done { left_behind: ending.ended, out_of_reach: ending.out_of_reach, ..Done::default() }
    }

    /// The id of the job's own process, once it was started.
    pub fn pid(&self) -> Option<i32> {
        self.pid
    }

    /// Whether the job's own process has ended. It is not overdue any more then (C15), though what it left behind may
    /// still have to be ended.
    pub fn has_exited(&self) -> bool {
        self.exited.is_some()
    }

    /// How long the job has run at `now_ms`, without the time that it was paused; milliseconds of awake time. For time
    /// limits: look at [`has_exited`](Self::has_exited) first.
    pub fn elapsed_ms(&self, now_ms: u64) -> u64 {
        match &self.exited {
            Some((_, duration_ms, _)) => *duration_ms,
            None => self.clock.elapsed_ms(now_ms),
        }
    }

    /// Tells all of it to end: SIGTERM, [`GRACE_MS`], SIGKILL.
    pub fn terminate(&mut self) {
        self.tell(order::Command::Terminate);
    }

    /// Ends all of it at once.
    pub fn kill(&mut self) {
        self.tell(order::Command::Kill);
    }

    /// Stops all of it, and its clock.
    pub fn pause(&mut self, now_ms: u64) {
        self.clock.pause(now_ms);
        self.tell(order::Command::Pause);
    }

    /// Lets it go on.
    pub fn resume(&mut self, now_ms: u64) {
        self.clock.resume(now_ms);
        self.tell(order::Command::Resume);
    }

    /// A supervisor that does not listen any more has ended or is about to; `advance` sees it.
    fn tell(&mut self, command: order::Command) {
        let _ = self.channel.write(&[command.byte()]);
    }
}

/// The program that a command line starts, and its arguments.
fn words(command: &Command) -> Vec<String> {
    match command {
        Command::Shell(line) => vec!["/bin/sh".to_owned(), "-c".to_owned(), line.clone()],
        Command::List(words) => words.clone(),
    }
}

/// What is known where nobody said how the job ended.
fn unknown(supervisor: io::Result<ExitStatus>, done: &Done) -> String {
    use std::os::unix::process::ExitStatusExt;
    if done.out_of_reach > 0 {
        return "it runs as another user and could not be ended".to_owned();
    }
    let end = supervisor.ok().and_then(|status| {
        let killed = status.signal().map(process::ProcessEnd::Signal);
        killed.or_else(|| status.code().map(process::ProcessEnd::Code))
    });
    end.map_or_else(|| "its supervisor is gone".to_owned(), |end| format!("its supervisor {end}"))
}
