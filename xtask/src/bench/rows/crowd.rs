//! Many at once.

use std::process::Stdio;

use anyhow::ensure;

use super::super::sample::{Sample, Shape, jobs};
use super::super::stopwatch::{median, time};
use super::super::{Place, Row};

/// How many ask for one commit at once.
const ASKING: usize = 64;

/// How many worktrees work at once.
const WORKTREES: usize = 20;

/// The same commit, asked for by many at once: one runs it, the others are told who.
#[expect(clippy::zombie_processes, reason = "a benchmark that fails ends, and its children with their worktree")]
pub(super) fn one_commit(place: &Place) -> anyhow::Result<Vec<Row>> {
    let sample = place.sample("crowd");
    let hold = sample.folder().join(".git/hold");
    let runs = sample.folder().join(".git/runs");
    let run = format!("echo x >> {}; while test -e {}; do sleep 0.05; done", runs.display(), hold.display());
    sample.make(Shape { files: 2_000, commits: 300, refs: "files", config: &jobs(1, &run, "") })?;
    std::fs::write(&hold, "")?;
    let mut children = Vec::new();
    let all = time(|| {
        for _ in 0..ASKING {
            let mut command = sample.discern_command(&["done"]);
            children.push(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
        }
        // All but one end by themselves.
        while children.len() > 1 {
            let mut at = 0;
            while at < children.len() {
                match children[at].try_wait()? {
                    Some(status) => {
                        ensure!(status.code() == Some(3), "it ended with {status}, not as pending");
                        children.swap_remove(at);
                    }
                    None => at += 1,
                }
            }
            std::thread::yield_now();
        }
        Ok(())
    })?;
    let alone = (0..place.extent.few).map(|_| time(|| sample.discern(&["done"], 3))).collect::<Result<Vec<_>, _>>()?;
    std::fs::remove_file(&hold)?;
    for mut child in children {
        ensure!(child.wait()?.success(), "the one that ran it failed");
    }
    let times = std::fs::read_to_string(&runs)?.lines().count();
    ensure!(times == 1, "the job ran {times} times");
    let alone = median(alone)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    Ok(vec![Row {
        what: "64 `done` at once on one commit: the job runs once, the last of the others is answered",
        measured: all,
        limit: 3.0 * (ASKING as f64 / cores).max(1.0) * alone,
        unit: "ms",
        formula: format!("3 × (64 / k) × one alone; {alone:.1} alone, k = {cores}"),
    }])
}

/// Twenty worktrees, each with a commit of its own.
pub(super) fn worktrees(place: &Place) -> anyhow::Result<Vec<Row>> {
    let sample = place.sample("worktrees");
    sample.make(Shape { files: 2_000, commits: 300, refs: "files", config: &jobs(1, "true", "") })?;
    let mut trees = Vec::new();
    for number in 0..WORKTREES {
        let folder = place.disk.join(format!("worktree-{number}"));
        sample.git(&["worktree", "add", "-q", "-b", &format!("topic-{number}"), &folder.to_string_lossy()])?;
        trees.push(Sample::new(folder, place.binary.clone()));
    }
    let mut single = Vec::new();
    for tree in trees.iter().cycle().take(place.extent.few) {
        tree.commit()?;
        single.push(time(|| tree.discern(&["done", "--rerun"], 0))?);
    }
    let mut together = Vec::new();
    for _ in 0..3 {
        trees.iter().try_for_each(Sample::commit)?;
        together.push(time(|| {
            let start = |tree: &Sample| {
                let mut command = tree.discern_command(&["done", "--rerun"]);
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
            };
            let children = trees.iter().map(start).collect::<Result<Vec<_>, _>>()?;
            for mut child in children {
                let status = child.wait()?;
                ensure!(status.success(), "one of twenty ended with {status}");
            }
            Ok(())
        })?);
    }
    let (single, together) = (median(single)?, median(together)?);
    Ok(vec![Row {
        what: "20 worktrees at once, no contention failure",
        measured: together,
        limit: 1.2 * WORKTREES as f64 * single,
        unit: "ms",
        formula: format!("1.2 × 20 × one alone, {single:.0}"),
    }])
}
