//! The supervisor of one job: the hidden subcommand that a run starts for each.
//!
//! It leads a session without a terminal and adopts every descendant that loses its parent, so that nothing a job starts can
//! leave it. It holds what the run handed over (the worktree's lock, C28) until the last descendant is gone, and no job
//! inherits that. When the run's end of the socket closes, however the run died, it kills everything at once (C25).
//!
//! It decides no verdict and knows no claim. It must never outlive its job, nor leave one behind. A supervisor that is itself
//! stopped (SIGSTOP) or killed can do neither: the run, which adopts its orphans, or recovery does it then.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::job_clock::JobClock;
use super::job_end::in_brief;
use super::order::{Command, JobExit, Report, receive_order, send_report};
use crate::os::clock::{Clock, SystemClock};
use crate::os::descendants::{self, Ending, Process};
use crate::os::hooks;
use crate::os::process::{self, Patience, ProcessEnd, Reaped};
use crate::os::signal::{Signal, Signals};

/// How long a job's remaining processes may take to end by themselves, in milliseconds: `exec > >(tee log)` is no leak.
const FAREWELL_MS: u64 = 200;

/// Runs the job that is ordered on standard input. The status is for whoever looks; the run reads the reports.
pub fn main() -> u8 {
    // Also after a fault of ours nothing may be left running.
    match catch_unwind(AssertUnwindSafe(supervise)) {
        Ok(Ok(())) => 0,
        Ok(Err(_)) | Err(_) => {
            descendants::end_descendants(|_, _| {});
            70
        }
    }
}

fn supervise() -> io::Result<()> {
    process::lead_session()?;
    descendants::table_is_readable()?;
    let channel = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (order, mut held) = receive_order(&channel)?;
    let input = (order.has_input && !held.is_empty()).then(|| held.remove(0));
    // Before the job: it might end at once.
    let signals = Signals::install(&Signal::SUPERVISOR)?;
    let clock = JobClock::started(now_ms());
    let started = start(&order.words, input);
    let mut supervision = Supervision {
        channel,
        signals,
        grace_ms: order.grace_ms,
        job: started.as_ref().ok().copied(),
        clock,
        phase: Phase::Working,
        paused: Vec::new(),
        left_behind: Ending::default(),
        is_over: false,
    };
    match started {
        Ok(pid) => {
            hooks::at("supervisor started a job");
            supervision.report(&Report::Started { pid });
            supervision.work();
            supervision.left_behind.ended += descendants::end_strays().ended;
        }
        Err(exit) => supervision.report(&Report::Exited { exit, duration_ms: 0, by_order: false }),
    }
    supervision.report_done();
    // Nothing is left: the locks may go.
    drop(held);
    Ok(())
}

fn start(words: &[String], input: Option<OwnedFd>) -> Result<i32, JobExit> {
    let mut words = words.iter().map(String::as_str);
    let program = words.next().unwrap_or_default();
    let arguments: Vec<&str> = words.collect();
    process::start_job(program, &arguments, input).map_err(|error| JobExit::NotStarted {
        program: program.to_owned(),
        errno: error.raw_os_error().unwrap_or_default(),
    })
}

/// Where the job is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Its process runs.
    Working,
    /// Its process has ended by itself; the rest has until `kill_at_ms`.
    Leaving { kill_at_ms: u64 },
    /// It was told to end, and has until `kill_at_ms`.
    Terminating { kill_at_ms: u64 },
}

impl Phase {
    fn kill_at_ms(self) -> Option<u64> {
        match self {
            Self::Working => None,
            Self::Leaving { kill_at_ms } | Self::Terminating { kill_at_ms } => Some(kill_at_ms),
        }
    }
}

/// One job, from its start to the end of its last descendant.
struct Supervision {
    channel: UnixStream,
    signals: Signals,
    grace_ms: u64,
    /// The job's own process, until it was reaped.
    job: Option<i32>,
    clock: JobClock,
    phase: Phase,
    /// Whom we stopped.
    paused: Vec<Process>,
    left_behind: Ending,
    /// Everybody was killed who can be.
    is_over: bool,
}

impl Supervision {
    /// Returns when no descendant is left, or none that can be ended.
    fn work(&mut self) {
        while self.reap_all() && !self.is_over {
            let patience_ms = self.phase.kill_at_ms().map(|at| at.saturating_sub(now_ms()));
            let [orders, signals] = process::wait_readable([self.channel.as_fd(), self.signals.fd()], patience_ms);
            if signals {
                self.hear_signals();
            }
            if orders {
                self.hear_orders();
            }
            if self.phase.kill_at_ms().is_some_and(|at| at <= now_ms()) {
                self.kill();
            }
        }
    }

    /// Takes leave of every child that has ended; false when no descendant is left.
    fn reap_all(&mut self) -> bool {
        loop {
            match process::reap(Patience::None) {
                Reaped::Ended(pid, end) => self.ended(pid, end),
                Reaped::Running => return true,
                Reaped::Nobody => return false,
            }
        }
    }

    /// Notes the end of a child. If it is the job's own process, the run learns it at once, so that it counts as finished
    /// and not as overdue (C15) while the rest is being ended.
    fn ended(&mut self, pid: i32, end: ProcessEnd) {
        if self.job != Some(pid) {
            return;
        }
        self.job = None;
        let by_order = matches!(self.phase, Phase::Terminating { .. });
        let duration_ms = self.clock.elapsed_ms(now_ms());
        hooks::at("supervisor reports an end");
        self.report(&Report::Exited { exit: JobExit::Ended(end), duration_ms, by_order });
        if !by_order {
            self.phase = Phase::Leaving { kill_at_ms: now_ms() + FAREWELL_MS };
        }
    }

    fn hear_signals(&mut self) {
        let ends = |signal: &Signal| matches!(signal, Signal::Interrupt | Signal::Terminate | Signal::Hangup);
        if self.signals.drain().iter().any(ends) {
            self.terminate();
        }
    }

    fn hear_orders(&mut self) {
        let mut bytes = [0; 64];
        match self.channel.read(&mut bytes) {
            Ok(read @ 1..) => {
                bytes[..read].iter().filter_map(|&byte| Command::from_byte(byte)).for_each(|it| self.obey(it));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // The run is gone: so is the reason for all this.
            Ok(_) | Err(_) => self.kill(),
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Terminate => self.terminate(),
            Command::Kill => {
                self.phase = Phase::Terminating { kill_at_ms: now_ms() };
                self.kill();
            }
            Command::Pause => {
                self.clock.pause(now_ms());
                self.paused.extend(descendants::pause_descendants());
            }
            Command::Resume => {
                descendants::resume(&std::mem::take(&mut self.paused));
                self.clock.resume(now_ms());
            }
        }
    }

    /// SIGTERM for all; told twice, the first grace counts. What a job left behind has had its own farewell.
    fn terminate(&mut self) {
        if self.phase == Phase::Working {
            self.phase = Phase::Terminating { kill_at_ms: now_ms() + self.grace_ms };
            descendants::terminate_descendants();
            self.paused.clear();
            self.clock.resume(now_ms());
        }
    }

    /// SIGKILL for all; nobody is left then, but for other users' processes.
    fn kill(&mut self) {
        let mut ended = Vec::new();
        let ending = descendants::end_descendants(|pid, end| ended.push((pid, end)));
        if matches!(self.phase, Phase::Leaving { .. }) {
            self.left_behind.ended += ending.ended;
        }
        self.left_behind.out_of_reach = ending.out_of_reach;
        ended.into_iter().for_each(|(pid, end)| self.ended(pid, end));
        self.is_over = true;
    }

    /// A run that can't be told is gone, and the next look at the socket shows it.
    fn report(&mut self, report: &Report) {
        let _ = send_report(&self.channel, report);
    }

    fn report_done(&mut self) {
        let log = io::stdout().as_fd().try_clone_to_owned().map(File::from);
        let output_lost = log.as_ref().map_or_else(|error| Some(in_brief(error)), probe);
        let log_bytes = log.and_then(|log| log.metadata()).map_or(0, |metadata| metadata.len());
        let Ending { ended: left_behind, out_of_reach } = self.left_behind;
        self.report(&Report::Done { left_behind, out_of_reach, output_lost, log_bytes });
    }
}

/// Whether the log still takes output: why not, otherwise.
///
/// The job wrote to it directly, and whether it looked at the result is its own affair. Newlines for more than one block are
/// appended and cut off again; they are nothing that a reader would mistake for output if this process dies in between.
fn probe(mut log: &File) -> Option<String> {
    const PROBE: [u8; 4097] = [b'\n'; 4097];
    let is_file = log.metadata().is_ok_and(|metadata| metadata.is_file());
    let size = log.metadata().map_or(0, |metadata| metadata.len());
    let written = log.write_all(&PROBE);
    if is_file {
        let _ = log.set_len(size);
    }
    written.err().map(|error| in_brief(&error))
}

fn now_ms() -> u64 {
    SystemClock.now().monotonic_ms
}
