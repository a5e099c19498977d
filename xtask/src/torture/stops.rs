//! Runs that are stopped (SIGSTOP) as a whole, and go on later.

use std::process::{Child, ExitStatus};
use std::time::Duration;

use anyhow::ensure;
use rustix::process::{Pid, Signal};

use super::Setting;
use super::crowds::on_both_formats;
use super::ground::Ground;
use super::processes::{end, pause};

/// More than a lease, for an observer whose clocks are ahead.
const A_LEASE_AHEAD: (&str, &str) = ("DISCERN_TEST_CLOCK_AHEAD_MS", "61000");

/// A run that stands still, at a random instant of its life.
struct Stopped {
    run: Child,
    commit: String,
}

impl Stopped {
    fn start(ground: &Ground, number: u32, setting: &mut Setting) -> anyhow::Result<Self> {
        let commit = ground.commit("r", &format!("{number}"))?;
        let run = ground.start("r", &["done"], &[])?;
        // Long enough to have its claim more often than not.
        pause(Duration::from_micros(80_000 + setting.random.below(300_000)));
        let stopped = Self { run, commit };
        stopped.signal(Signal::STOP);
        Ok(stopped)
    }

    fn signal(&self, signal: Signal) {
        // It may have ended.
        let _ = rustix::process::kill_process(Pid::from_child(&self.run), signal);
    }

    fn go_on(mut self) -> anyhow::Result<ExitStatus> {
        self.signal(Signal::CONT);
        end(&mut self.run)
    }
}

/// Stopped, looked at by a run of another worktree that finds it live, and continued: it finishes.
pub(super) fn alone(setting: &mut Setting) -> anyhow::Result<()> {
    on_both_formats(setting, |ground, number, setting| {
        let stopped = Stopped::start(ground, number, setting)?;
        let (commit, claimed) = (stopped.commit.clone(), ground.is_claimed(&stopped.commit));
        ground.commit("other", &format!("other {number}"))?;
        // On reftable it may hold the lock of all refs where it stands still.
        let by = ground.discern("other", &["done"])?;
        let through = by.status.success() || by.status.code() == Some(5);
        ensure!(through, "the other run ended with {}", by.status);
        ensure!(!claimed || ground.is_claimed(&commit), "a live claim was retired");
        setting.meet(if claimed { "stopped with its claim" } else { "stopped without a claim" });
        finishes(ground, stopped, &commit)
    })
}

/// Stopped, retired by a run whose clocks are a lease ahead, and continued: it reports the retirement.
pub(super) fn retired(setting: &mut Setting) -> anyhow::Result<()> {
    on_both_formats(setting, |ground, number, setting| {
        let stopped = Stopped::start(ground, number, setting)?;
        retire(ground, number, stopped, &[A_LEASE_AHEAD], setting)
    })
}

/// Both, with a lease that passes in real time.
pub(super) fn real_time(setting: &mut Setting) -> anyhow::Result<()> {
    on_both_formats(setting, |ground, number, setting| {
        let stopped = Stopped::start(ground, number, setting)?;
        pause(Duration::from_secs(62));
        if number.is_multiple_of(2) {
            return retire(ground, number, stopped, &[], setting);
        }
        let commit = stopped.commit.clone();
        setting.meet("stopped for a lease and not retired");
        finishes(ground, stopped, &commit)
    })
}

fn finishes(ground: &Ground, stopped: Stopped, commit: &str) -> anyhow::Result<()> {
    let status = stopped.go_on()?;
    ensure!(status.success(), "continued, it ended with {status}");
    ensure!(ground.discern("r", &["verify", commit])?.status.success(), "it recorded its Proof");
    ground.nothing_is_made_up(commit)?;
    ground.is_sound()
}

fn retire(
    ground: &Ground,
    number: u32,
    stopped: Stopped,
    variables: &[(&str, &str)],
    setting: &mut Setting,
) -> anyhow::Result<()> {
    let commit = stopped.commit.clone();
    let (claimed, published) = (ground.is_claimed(&commit), ground.published(&commit));
    ground.commit("other", &format!("other {number}"))?;
    let mut by = ground.start("other", &["done"], variables)?;
    let by = end(&mut by)?;
    // Its git lived on: it may have settled the attempt for a tool that stood still.
    let retired = claimed && ground.record(&commit).is_some_and(|record| record["state"]["outcome"] == "cancelled");
    let settled = !retired && !ground.is_claimed(&commit);
    let status = stopped.go_on()?;
    setting.meet(format!("claimed: {claimed}, retired: {retired}: ended with {status}"));
    // A store that a stopped git keeps locked can't be written by anybody: then nothing was retired.
    ensure!(by.success() || by.code() == Some(5), "the other run ended with {by}");
    ensure!(retired || settled || !claimed || by.code() == Some(5), "a lapsed claim was not retired");
    ensure!(status.code() == Some(if retired { 4 } else { 0 }), "continued, it ended with {status}");
    ensure!(!retired || !ground.discern("r", &["verify", &commit])?.status.success(), "a Proof outlived a retirement");
    ground.nobody_is_left(&commit)?;
    ground.nothing_is_lost(&commit, &published)?;
    ground.goes_on(&["r"], setting)?;
    ground.is_sound()
}
