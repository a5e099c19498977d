//! A process in the background.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal};

use super::{LIMIT, Outcome, wait_for};

/// A process in the background. Its output goes to files, so that it can print as much as it likes and whoever is left of
/// its children can keep them open. It is killed when this is dropped.
#[must_use = "it is killed when this is dropped"]
pub(crate) struct Running {
    child: Child,
    command: String,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Running {
    pub(super) fn start(command: &mut Command, streams: [Option<Stdio>; 2], root: &Path, number: u32) -> Self {
        let (stdout, stderr) = (root.join(format!("{number}.stdout")), root.join(format!("{number}.stderr")));
        let [to_stdout, to_stderr] = streams;
        let file = |path: &Path| Stdio::from(File::create(path).expect("a file"));
        let (own_stdout, own_stderr) = (file(&stdout), file(&stderr));
        command.stdout(to_stdout.unwrap_or(own_stdout)).stderr(to_stderr.unwrap_or(own_stderr));
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
        let program = Path::new(&words[0]).file_name().map(|name| name.to_string_lossy().into_owned());
        let text = [&[program.unwrap_or_default()], &words[1..]].concat().join(" ");
        let child = command.spawn().unwrap_or_else(|problem| panic!("{text}: {problem}"));
        Self { child, command: text, stdout, stderr }
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        rustix::process::kill_process(self.pid(), signal).expect("it is not waited for yet, so it is there");
    }

    /// What it printed to standard output so far.
    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.stdout).unwrap_or_default()).into_owned()
    }

    /// What it printed to standard error so far.
    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.stderr).unwrap_or_default()).into_owned()
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it is ours").is_some()
    }

    /// Waits for its end; the test fails if that takes longer than [`LIMIT`].
    #[must_use = "look at how it ended"]
    pub(crate) fn wait(mut self) -> Outcome {
        if !self.has_ended() {
            self.wait_until_ended();
        }
        let status = self.child.wait().expect("it is ours");
        let read = |path: &Path| fs::read(path).expect("it was created");
        Outcome::new(self.command.clone(), status, read(&self.stdout), &read(&self.stderr))
    }

    fn wait_until_ended(&self) {
        let pidfd = rustix::process::pidfd_open(self.pid(), rustix::process::PidfdFlags::empty()).expect("it is ours");
        let mut ended = [rustix::event::PollFd::new(&pidfd, rustix::event::PollFlags::IN)];
        let limit = rustix::event::Timespec { tv_sec: LIMIT.as_secs().cast_signed(), tv_nsec: 0 };
        let answered = rustix::event::poll(&mut ended, Some(&limit)).unwrap_or(0);
        assert!(answered == 1, "`{}` did not end within {LIMIT:?}\n{}\n{}", self.command, self.stdout(), self.stderr());
    }

    /// Waits until its standard error contains `text`.
    pub(crate) fn wait_for_stderr(&mut self, text: &str) {
        wait_for(text, || {
            let seen = self.stderr();
            assert!(seen.contains(text) || !self.has_ended(), "`{}` ended without `{text}`:\n{seen}", self.command);
            seen.contains(text)
        });
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only if it has ended already, which is what is wanted.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
