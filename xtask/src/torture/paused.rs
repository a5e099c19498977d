//! A run of the test build that pauses at a named point (`os::hooks`).

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Command, ExitStatus};

use anyhow::ensure;
use rustix::fs::{Mode, OFlags};
use rustix::process::Pid;

use super::ground::Ground;
use super::processes::{end, wait_until};
use crate::process;

/// A run that pauses at a point, or went on to its end without coming to it.
pub(super) struct Paused {
    run: Child,
    folder: tempfile::TempDir,
    pub(super) is_there: bool,
}

impl Paused {
    /// Starts `done` in a place and waits until it pauses or has ended.
    pub(super) fn start(ground: &Ground, place: &str, point: &str) -> anyhow::Result<Self> {
        Self::start_as(ground, ground.discern_command(place, &["done"]), point)
    }

    /// The same with a command that was made ready.
    pub(super) fn start_as(ground: &Ground, mut command: Command, point: &str) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let pipe = folder.path().join("go");
        ensure!(process::command("mkfifo").arg(&pipe).status()?.success(), "no pipe could be made");
        command.env("DISCERN_TEST_PAUSE_AT", point).env("DISCERN_TEST_FOLDER", folder.path());
        let run = ground.begin(command)?;
        let mut paused = Self { run, folder, is_there: false };
        wait_until("a pause or an end", || {
            paused.is_there = paused.folder.path().join("paused").exists();
            Ok(paused.is_there || paused.run.try_wait()?.is_some())
        })?;
        Ok(paused)
    }

    pub(super) fn pid(&self) -> Pid {
        Pid::from_child(&self.run)
    }

    /// Lets it go on, if it still can, and waits for its end.
    pub(super) fn go_on(mut self) -> anyhow::Result<ExitStatus> {
        // Whoever was killed reads nothing any more; who has only just come to the point does not read yet.
        let go = self.folder.path().join("go");
        let is_read = || rustix::fs::open(&go, OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty()).is_ok();
        wait_until("it goes on", || Ok(is_read() || self.run.try_wait()?.is_some()))?;
        end(&mut self.run)
    }
}

/// The points that a `done` in a place comes to, it and its supervisors, each once and with a number: the first time is 1.
pub(super) fn points(ground: &Ground, place: &str) -> anyhow::Result<Vec<String>> {
    let trace = ground.note("trace");
    let shown = trace.to_string_lossy().into_owned();
    let status = end(&mut ground.start(place, &["done"], &[("DISCERN_TEST_TRACE", &shown)])?)?;
    ensure!(status.success(), "a `done` that is let alone ended with {status}");
    let lines = fs::read_to_string(&trace)?;
    Ok(BTreeSet::from_iter(lines.lines().map(str::to_owned)).into_iter().collect())
}
