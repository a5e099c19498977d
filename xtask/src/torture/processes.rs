//! Processes: who descends from whom, who still carries a candidate, and waiting for them with a limit.

use std::fs;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use rustix::process::{Pid, Signal};

/// How long anything may take before it counts as stuck: a run that can't write tries to settle for a whole lease (C7).
const LIMIT: Duration = Duration::from_secs(100);

/// Who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Victim {
    Tool,
    Supervisors,
    Git,
    All,
}

impl Victim {
    pub(super) const EACH: [Self; 4] = [Self::Tool, Self::All, Self::Git, Self::Supervisors];

    /// How it is named in what is counted.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tool => "the tool",
            Self::Supervisors => "its supervisors",
            Self::Git => "its git children",
            Self::All => "all of them",
        }
    }

    /// Whether the tool itself dies.
    pub(super) fn ends_the_tool(self) -> bool {
        matches!(self, Self::Tool | Self::All)
    }

    /// Kills them; how many there were.
    pub(super) fn kill(self, tool: Pid) -> usize {
        let named = |pid: &Pid, name: &str| {
            let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(name)
        };
        let below = descendants(tool);
        let victims: Vec<Pid> = match self {
            Self::Tool => vec![tool],
            Self::Supervisors => below.into_iter().filter(|pid| named(pid, "supervise")).collect(),
            Self::Git => below.into_iter().filter(|pid| named(pid, "update-ref") || named(pid, "git\0")).collect(),
            Self::All => std::iter::once(tool).chain(below).collect(),
        };
        victims.into_iter().filter(|pid| rustix::process::kill_process(*pid, Signal::KILL).is_ok()).count()
    }
}

/// Every descendant of a process.
pub(super) fn descendants(of: Pid) -> Vec<Pid> {
    let raw = of.as_raw_nonzero();
    let children = fs::read_to_string(format!("/proc/{raw}/task/{raw}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|child| Pid::from_raw(child.parse().ok()?));
    children.flat_map(|child| std::iter::once(child).chain(descendants(child))).collect()
}

/// Whether any process has this candidate in its environment.
pub(super) fn carries(commit: &str) -> bool {
    let wanted = format!("DISCERN_CANDIDATE={commit}");
    let Ok(processes) = fs::read_dir("/proc") else { return false };
    processes.flatten().any(|process| {
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    })
}

/// Waits for a process, and kills it when it is stuck.
pub(super) fn end(child: &mut Child) -> anyhow::Result<ExitStatus> {
    let mut status = None;
    let ended = wait_until("a process ends", || {
        status = child.try_wait()?;
        Ok(status.is_some())
    });
    if ended.is_err() {
        child.kill()?;
    }
    ended?;
    status.context("it ended")
}

/// Waits until something holds.
#[expect(clippy::disallowed_methods, reason = "real processes take real time")]
pub(super) fn wait_until(what: &str, mut holds: impl FnMut() -> anyhow::Result<bool>) -> anyhow::Result<()> {
    let began = Instant::now();
    while !holds()? {
        ensure!(began.elapsed() < LIMIT, "{what}: not within {LIMIT:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// Lets time pass: a random instant, or a lease.
#[expect(clippy::disallowed_methods, reason = "time is what this is about")]
pub(super) fn pause(time: Duration) {
    std::thread::sleep(time);
}
