//! The one door to the git command line.
//!
//! Each child gets an environment from which everything that locates or redirects a repository was removed; the repository
//! is named by `--git-dir` and `--work-tree` alone. What the user passed with `git -c` stays: those settings are meant for
//! the user's own repository. No pager, no prompt, no optional lock, no lazy fetch, no replaced objects, no file-system
//! monitor, messages in English. A child's output is read until the *process* ends, not until the pipe does, because a
//! program that it started may keep the pipe (B098). Nothing is ever decided by the wording of a message.

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use bstr::ByteSlice as _;
use rustix::event::{PollFd, PollFlags, Timespec};

use super::error::GitError;
use crate::os::clock::{Clock, SystemClock};

/// The oldest git that will do: `update-ref --stdin` with symbolic-ref safety and reftable.
pub const GIT_MINIMUM: (u32, u32) = (2, 45);

/// How long a git child may take unless told otherwise, in milliseconds.
pub const LIMIT_MS: u64 = 60_000;

/// Variables that never reach a git child of ours: `git rev-parse --local-env-vars` but for `-c` settings, and what else
/// would change an answer.
const REMOVED: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DEFAULT_REF_FORMAT",
    "GIT_DIR",
    "GIT_GLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INDEX_VERSION",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REF_PARANOIA",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_TRACE",
    "GIT_TRACE2",
    "GIT_TRACE2_EVENT",
    "GIT_TRACE2_PERF",
    "GIT_WORK_TREE",
    "LANGUAGE",
];

/// Variables that every git child of ours gets.
const SET: &[(&str, &str)] = &[
    ("GIT_ADVICE", "0"),
    // What lists commits would write each line by itself, and wake us for it.
    ("GIT_FLUSH", "0"),
    // Grafts would make another history, and so another merge base, as replaced objects would.
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

/// How git is started for one repository (or for none).
#[derive(Debug, Clone)]
pub struct Git {
    front: Vec<OsString>,
    directory: PathBuf,
}

/// A git child that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Its command line, abridged, for messages.
    pub command: String,
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it said.
    pub stderr: Vec<u8>,
}

/// A git child that runs while we do something else. Dropped unheard, it ends.
#[derive(Debug)]
pub struct Running {
    child: Child,
    command: String,
    deadline_ms: u64,
    limit_ms: u64,
}

/// What is done with what a child prints while it runs; it takes away what it has done with, and may want no more.
type Printed<'p, B> = dyn FnMut(&mut Vec<u8>) -> ControlFlow<B> + 'p;

/// How a child ended, what it printed and what it said.
type Ended = (ExitStatus, Vec<u8>, Vec<u8>);

impl Git {
    /// git without a repository, started in `directory`.
    pub fn anywhere(directory: &Path) -> Self {
        Self { front: vec!["-c".into(), "core.fsmonitor=false".into()], directory: directory.to_owned() }
    }

    /// git for one repository, started in its worktree's top (the git directory when there is none).
    pub fn at(git_dir: &Path, worktree: Option<&Path>) -> Self {
        let mut git = Self::anywhere(worktree.unwrap_or(git_dir));
        git.front.push(joined("--git-dir=", git_dir));
        git.front.extend(worktree.map(|top| joined("--work-tree=", top)));
        git
    }

    /// The same with one more setting, which wins over the user's.
    #[must_use]
    pub fn with_setting(mut self, setting: &str) -> Self {
        self.front.extend(["-c".into(), setting.into()]);
        self
    }

    /// The command with its environment, ready for arguments and streams.
    pub(crate) fn command(&self) -> Command {
        #[expect(clippy::disallowed_methods, reason = "the one door to the git command line")]
        let mut command = Command::new("git");
        command.args(&self.front).current_dir(&self.directory);
        for name in REMOVED {
            command.env_remove(name);
        }
        command.envs(SET.iter().copied());
        command
    }

    /// Starts a child with `arguments` and nothing on its input.
    pub fn start<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Running, GitError> {
        self.spawn(arguments, Stdio::null(), LIMIT_MS)
    }

    /// Starts a child that may take `limit_ms` milliseconds.
    pub fn start_within<A: AsRef<OsStr>>(&self, arguments: &[A], limit_ms: u64) -> Result<Running, GitError> {
        self.spawn(arguments, Stdio::null(), limit_ms)
    }

    /// Runs a child to its end. A status other than 0 is no error here.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Finished, GitError> {
        self.start(arguments)?.finish()
    }

    /// Runs a child to its end and returns what it printed; a status other than 0 is an error.
    pub fn ask<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Vec<u8>, GitError> {
        self.run(arguments)?.success()
    }

    /// Runs a child for as long as it takes and hands each line that it prints to `take`, without its end and while it still
    /// runs, until that says to stop; the child is ended then. A status other than 0 is an error.
    pub fn each_line<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        mut take: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), GitError> {
        let mut printed = |bytes: &mut Vec<u8>| {
            let whole = bytes.rfind_byte(b'\n').map_or(0, |end| end + 1);
            let taken = bytes[..whole].lines().try_for_each(&mut take);
            bytes.drain(..whole);
            taken
        };
        match self.spawn(arguments, Stdio::null(), u64::MAX)?.finish_with(&[], &mut printed)? {
            ControlFlow::Break(()) => Ok(()),
            ControlFlow::Continue(finished) => {
                let rest = finished.success()?;
                let _ = (!rest.is_empty()).then(|| take(&rest));
                Ok(())
            }
        }
    }

    /// As [`Git::run`], with `input` on its standard input.
    pub fn feed<A: AsRef<OsStr>>(&self, arguments: &[A], input: &[u8]) -> Result<Finished, GitError> {
        self.spawn(arguments, Stdio::piped(), LIMIT_MS)?.finish_fed(input)
    }

    /// The version that is installed: the text, and its first two numbers.
    pub fn version(&self) -> Result<(String, (u32, u32)), GitError> {
        let finished = self.run(&["version"])?;
        let command = finished.command.clone();
        let text = String::from_utf8_lossy(&finished.success()?).trim().to_owned();
        let text = text.strip_prefix("git version ").unwrap_or(&text).to_owned();
        let mut numbers = text.split('.').map_while(|part| part.parse().ok());
        match (numbers.next(), numbers.next()) {
            (Some(major), Some(minor)) => Ok((text, (major, minor))),
            _ => Err(GitError::Answer { command, why: format!("`{text}` is no version") }),
        }
    }

    fn spawn<A: AsRef<OsStr>>(&self, arguments: &[A], input: Stdio, limit_ms: u64) -> Result<Running, GitError> {
        let line: Vec<String> = arguments.iter().take(6).map(|word| word.as_ref().to_string_lossy().into()).collect();
        let command = format!("git {}", line.join(" "));
        let child = self
            .command()
            .args(arguments)
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(GitError::io(format!("start `{command}`")))?;
        Ok(Running { child, command, deadline_ms: now_ms().saturating_add(limit_ms), limit_ms })
    }
}

impl Finished {
    /// What it printed, if it ended with status 0.
    pub fn success(self) -> Result<Vec<u8>, GitError> {
        if self.status.success() { Ok(self.stdout) } else { Err(self.into_error()) }
    }

    /// The error that this end is, where a status other than 0 is one.
    pub fn into_error(self) -> GitError {
        GitError::Command { status: in_words(self.status), stderr: self.said(), command: self.command }
    }

    /// What it said, as text, at most 2 KiB of it.
    pub fn said(&self) -> String {
        let shown = &self.stderr[..self.stderr.len().min(2048)];
        String::from_utf8_lossy(shown).trim().to_owned()
    }
}

impl Running {
    /// Waits for its end.
    pub fn finish(self) -> Result<Finished, GitError> {
        self.finish_fed(&[])
    }

    fn finish_fed(self, input: &[u8]) -> Result<Finished, GitError> {
        match self.finish_with(input, &mut |_| ControlFlow::<Infallible>::Continue(()))? {
            ControlFlow::Continue(finished) => Ok(finished),
            ControlFlow::Break(never) => match never {},
        }
    }

    /// Waits for its end, unless `printed` ends it. That is called with what was printed, again and again while it still runs; what
    /// it leaves is in the answer.
    fn finish_with<B>(
        mut self,
        input: &[u8],
        printed: &mut Printed<'_, B>,
    ) -> Result<ControlFlow<B, Finished>, GitError> {
        let conversation = self.converse(input, printed);
        let command = std::mem::take(&mut self.command);
        match conversation {
            Ok(ControlFlow::Continue((status, stdout, stderr))) => {
                Ok(ControlFlow::Continue(Finished { command, status, stdout, stderr }))
            }
            Ok(ControlFlow::Break(why)) => Ok(ControlFlow::Break(why)),
            Err(source) if source.kind() == std::io::ErrorKind::TimedOut => {
                Err(GitError::TimedOut { command, limit_ms: self.limit_ms })
            }
            Err(source) => Err(GitError::io(format!("talk to `{command}`"))(source)),
        }
    }

    /// Writes the input and reads both outputs until the process ends, or `printed` wants no more; then takes what is still in the
    /// pipes.
    fn converse<B>(
        &mut self,
        mut input: &[u8],
        printed: &mut Printed<'_, B>,
    ) -> std::io::Result<ControlFlow<B, Ended>> {
        let mut stdin = self.child.stdin.take();
        let (mut stdout, mut stderr) = (self.child.stdout.take(), self.child.stderr.take());
        if let Some(pipe) = &stdin {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        for pipe in [stdout.as_ref().map(AsFd::as_fd), stderr.as_ref().map(AsFd::as_fd)].into_iter().flatten() {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let ended = end_of(&self.child);
        let status = loop {
            if let Some(pipe) = &mut stdin {
                match pipe.write(input) {
                    Ok(written) => input = &input[written..],
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    // The child went away or closed its input; how it ended says why.
                    Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => stdin = None,
                    Err(error) => return Err(error),
                }
            }
            // Before anything is waited for: a child that has answered what it was given says nothing more until it sees the end.
            if input.is_empty() {
                stdin = None;
            }
            take_what_is_there(&mut stdout, &mut out)?;
            take_what_is_there(&mut stderr, &mut err)?;
            if let ControlFlow::Break(why) = printed(&mut out) {
                return Ok(ControlFlow::Break(why));
            }
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            let left = self.deadline_ms.checked_sub(now_ms()).filter(|&left| left > 0);
            let left = left.ok_or(std::io::ErrorKind::TimedOut)?;
            let writing = stdin.as_ref().filter(|_| !input.is_empty()).map(AsFd::as_fd);
            let reading = [stdout.as_ref().map(AsFd::as_fd), stderr.as_ref().map(AsFd::as_fd)];
            // Where the process's end can't be awaited, look every 10 ms.
            wait_for(writing, &reading, ended.as_ref(), left, 10)?;
        };
        take_what_is_there(&mut stdout, &mut out)?;
        take_what_is_there(&mut stderr, &mut err)?;
        Ok(match printed(&mut out) {
            ControlFlow::Continue(()) => ControlFlow::Continue((status, out, err)),
            ControlFlow::Break(why) => ControlFlow::Break(why),
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A descriptor that becomes readable when the process ends, where the system has one.
#[cfg(target_os = "linux")]
pub(super) fn end_of(child: &Child) -> Option<OwnedFd> {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

/// A descriptor that becomes readable when the process ends: this system has none.
#[cfg(not(target_os = "linux"))]
pub(super) fn end_of(_: &Child) -> Option<OwnedFd> {
    None
}

/// Waits until one of the descriptors can be used, at most `left_ms` (`unended_ms` where the process's end is not awaited).
pub(super) fn wait_for(
    writing: Option<BorrowedFd<'_>>,
    reading: &[Option<BorrowedFd<'_>>],
    ended: Option<&OwnedFd>,
    left_ms: u64,
    unended_ms: u64,
) -> std::io::Result<()> {
    let limit = if ended.is_some() { left_ms } else { left_ms.min(unended_ms) };
    let limit = Timespec { tv_sec: (limit / 1000) as i64, tv_nsec: (limit % 1000 * 1_000_000) as _ };
    let mut polled: Vec<PollFd<'_>> = Vec::with_capacity(4);
    polled.extend(writing.map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::OUT)));
    polled.extend(reading.iter().flatten().map(|pipe| PollFd::from_borrowed_fd(*pipe, PollFlags::IN)));
    polled.extend(ended.map(|end| PollFd::new(end, PollFlags::IN)));
    match rustix::event::poll(&mut polled, Some(&limit)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Appends what can be read without waiting; closes the pipe at its end.
fn take_what_is_there<R: Read>(pipe: &mut Option<R>, into: &mut Vec<u8>) -> std::io::Result<()> {
    let Some(open) = pipe else { return Ok(()) };
    let mut chunk = [0; 65_536];
    loop {
        match open.read(&mut chunk) {
            Ok(0) => {
                *pipe = None;
                return Ok(());
            }
            Ok(length) => into.extend_from_slice(&chunk[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown status".to_owned(),
    }
}

fn joined(option: &str, path: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(path);
    word
}

/// Lets `ms` milliseconds pass: the pause between two tries for a lock that another process holds.
pub(super) fn pause_ms(ms: u64) {
    let _ = wait_for(None, &[], None, ms, ms);
}

pub(super) fn now_ms() -> u64 {
    SystemClock.now().monotonic_ms
}
