//! A place where jobs run under real supervisors: a folder, a token that all their processes carry, and patience with limits.

use std::ffi::OsString;
use std::fs;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use git_discern::config::Command;
use git_discern::engine::job::{JobLaunch, RunningJob, StartError};
use git_discern::engine::job_end::{Exit, JobEnd};
use git_discern::engine::log::{self, Tail};
use git_discern::id::{AttemptId, Name};
use git_discern::os::clock::{Clock, SystemClock};
use git_discern::os::environment::{self, Inheritance, Marks};
use git_discern::os::process::{ProcessEnd, wait_readable};
use git_discern::os::random::{Random, SystemRandom};

/// How long anything may take, in milliseconds.
pub(crate) const LIMIT_MS: u64 = 60_000;

/// The tool's own binary.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_git-discern");

/// One test's folder, its attempt and its token.
pub(crate) struct Stage {
    folder: PathBuf,
    _owned: Option<tempfile::TempDir>,
    pub(crate) attempt: AttemptId,
    token: String,
    logs: AtomicU32,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let owned = tempfile::tempdir().unwrap();
        let attempt = SystemRandom.attempt(SystemClock.now().wall);
        Self {
            folder: owned.path().to_owned(),
            _owned: Some(owned),
            attempt,
            token: format!("actor-{attempt}"),
            logs: AtomicU32::new(0),
        }
    }

    /// The stage of another process, to play on in this one.
    pub(crate) fn shared(folder: &Path, attempt: AttemptId) -> Self {
        let token = format!("actor-{attempt}");
        Self { folder: folder.to_owned(), _owned: None, attempt, token, logs: AtomicU32::new(0) }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The command that plays `part`.
    pub(crate) fn actor(&self, part: &str) -> Command {
        let mut words = vec![actor_binary().to_str().unwrap().to_owned(), self.token.clone()];
        words.extend(part.split(' ').map(str::to_owned));
        Command::List(words)
    }

    /// Starts `command`; its output goes to a log of its own.
    pub(crate) fn start(&self, command: &Command) -> Job {
        let log = self.folder.join(format!("log-{}", self.logs.fetch_add(1, Ordering::Relaxed)));
        self.start_with(command, &log, None, &[]).unwrap()
    }

    pub(crate) fn start_with(
        &self,
        command: &Command,
        log: &Path,
        input: Option<BorrowedFd<'_>>,
        hold: &[BorrowedFd<'_>],
    ) -> Result<Job, StartError> {
        let name: Name = "job".parse().unwrap();
        let marks = Marks {
            attempt: self.attempt,
            candidate: None,
            job: &name,
            workspace: &self.folder,
            repository: &self.folder,
        };
        let inherited = environment::inherited();
        let environment = environment::job_environment(&inherited, Inheritance::Everything, &[], &marks);
        let launch = JobLaunch {
            name: &name,
            command,
            directory: &self.folder,
            environment: &environment,
            log,
            input,
            hold,
            supervisor: Path::new(BINARY),
        };
        let running = RunningJob::start(&launch, now_ms())?;
        Ok(Job { running, log: log.to_owned(), end: None })
    }

    /// Runs `command` to its end.
    pub(crate) fn run(&self, command: &Command) -> (JobEnd, Job) {
        let mut job = self.start(command);
        (job.finish(), job)
    }

    /// The command lines of the actors that are still there; the stopped ones and no dead ones.
    pub(crate) fn survivors(&self) -> Vec<String> {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
        lines.filter(|line| line.contains(&self.token)).collect()
    }

    /// Fails if anybody is left.
    #[track_caller]
    pub(crate) fn assert_empty(&self) {
        assert_eq!(self.survivors(), Vec::<String>::new(), "nobody may be left");
    }
}

/// A job and how to watch it.
pub(crate) struct Job {
    pub(crate) running: RunningJob,
    pub(crate) log: PathBuf,
    end: Option<JobEnd>,
}

impl Job {
    /// Waits for the end of it.
    #[track_caller]
    pub(crate) fn finish(&mut self) -> JobEnd {
        let deadline = now_ms() + LIMIT_MS;
        while self.end.is_none() {
            assert!(now_ms() < deadline, "the job did not end; its log: {}", self.output());
            wait_readable([self.running.fd()], Some(100));
            self.end = self.running.advance();
        }
        self.end.clone().unwrap()
    }

    /// Waits until its log holds `text`.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        wait_until(&format!("`{text}` in the log"), || self.output().contains(text));
    }

    /// Waits until its own process runs.
    #[track_caller]
    pub(crate) fn wait_started(&mut self) -> i32 {
        wait_until("the job's start", || {
            self.end = self.running.advance();
            self.running.pid().is_some()
        });
        self.running.pid().unwrap()
    }

    pub(crate) fn output(&self) -> String {
        fs::read(&self.log).map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    pub(crate) fn last_lines(&self, count: usize) -> Tail {
        log::last_lines(&self.log, count).expect("its log is there")
    }
}

pub(crate) fn shell(text: &str) -> Command {
    Command::Shell(text.to_owned())
}

/// The end of a job that exited with `code`.
pub(crate) fn exited(code: i32) -> Exit {
    Exit::Process(ProcessEnd::Code(code))
}

/// The end of a job that was killed by signal `number`.
pub(crate) fn killed_by(number: i32) -> Exit {
    Exit::Process(ProcessEnd::Signal(number))
}

pub(crate) fn now_ms() -> u64 {
    SystemClock.now().monotonic_ms
}

/// Waits until `holds`, at most [`LIMIT_MS`].
#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = now_ms() + LIMIT_MS;
    while !holds() {
        assert!(now_ms() < deadline, "waited in vain for {what}");
        wait_readable([], Some(2));
    }
}

/// The state letter of process `pid` (proc_pid_stat(5)); `None` once it is gone.
pub(crate) fn state_of(pid: i32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat[stat.rfind(')')? + 2..].chars().next()
}

/// The parent of process `pid`: of a job, its supervisor.
pub(crate) fn parent_of(pid: i32) -> i32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat[stat.rfind(')').unwrap() + 2..].split(' ').nth(1).unwrap().parse().unwrap()
}

pub(crate) fn kill(pid: i32, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// The actor, built beside the tests; built now if only they were.
#[expect(clippy::disallowed_methods, reason = "asks cargo for the fixture that it did not build with the tests")]
pub(crate) fn actor_binary() -> PathBuf {
    let folder = Path::new(BINARY).parent().unwrap();
    let actor = folder.join("actor");
    if !actor.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let built = std::process::Command::new(cargo).args(["build", "--quiet", "--package", "actor"]).status();
        assert!(built.unwrap().success(), "the actor could not be built");
    }
    actor
}
