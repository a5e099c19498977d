//! Runs of jobs.

use std::process::Stdio;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, ensure};

use super::super::floors;
use super::super::sample::{Sample, Shape, file_name, jobs};
use super::super::stopwatch::{Turn, command, in_turns, median, silently, time};
use super::super::{Place, Row};
use crate::process;

/// What a run may take beside its syncs and looks, in milliseconds.
const REST_MS: f64 = 10.0;

/// A new commit, all verdicts reused.
pub(super) fn reused(place: &Place) -> anyhow::Result<Vec<Row>> {
    let sample = place.sample("reused");
    sample.make(Shape { files: 2_000, commits: 300, refs: "files", config: &jobs(20, "true", "") })?;
    sample.discern(&["done"], 0)?;
    let done: Turn<'_> = Box::new(|| {
        sample.commit()?;
        time(|| sample.discern(&["done"], 0))
    });
    let [s, c, done] = in_turns(
        place.extent.rounds,
        [floors::swap(&sample, 4096)?, command(|| sample.git_command(&["status", "--porcelain"]), 0), done],
    )?;
    Ok(vec![Row {
        what: "`done`, new commit, all 20 verdicts reused",
        measured: done,
        limit: 4.0 * s + 2.0 * c + REST_MS,
        unit: "ms",
        formula: format!("4 S + 2 C + 10; S = {s:.2}, C = {c:.2}"),
    }])
}

/// Every job runs, and does nothing.
pub(super) fn cold(place: &Place) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (count, what) in [(3, "cold run of 3 jobs, beside its jobs"), (50, "cold run of 50 jobs, beside its jobs")] {
        let sample = place.sample(&format!("cold-{count}"));
        sample.make(Shape { files: 2_000, commits: 300, refs: "files", config: &jobs(count, "true", "") })?;
        let mut batches = Vec::new();
        // In the state that the run will find: git reads again what is as young as the index, as often as it is asked.
        let look: Turn<'_> = Box::new(|| {
            // Every job's inputs change.
            for number in 0..50 {
                sample.write(&file_name(number), &format!("{:?}\n", now()))?;
            }
            sample.commit()?;
            let mut status = sample.git_command(&["status", "--porcelain"]);
            // It must not change that state.
            status.env("GIT_OPTIONAL_LOCKS", "0");
            time(|| silently(status, 0))
        });
        let done: Turn<'_> = Box::new(|| {
            let ms = time(|| sample.discern(&["done"], 0))?;
            batches.push(publications(&sample)? as f64);
            Ok(ms)
        });
        let alone: Turn<'_> = Box::new(|| time(|| bare_jobs(count)));
        let rounds = if count == 3 { place.extent.rounds } else { place.extent.few };
        let [s, alone, c, done] = in_turns(rounds, [floors::swap(&sample, 4096)?, alone, look, done])?;
        let b = median(batches)?;
        rows.push(Row {
            what,
            measured: done - alone,
            limit: (b + 4.0) * s + (b + 2.0) * c + REST_MS,
            unit: "ms",
            formula: format!("(b + 4) S + (b + 2) C + 10; b = {b}, S = {s:.2}, C = {c:.2}"),
        });
    }
    Ok(rows)
}

/// The same jobs, as many at a time, with nothing around them.
fn bare_jobs(count: u32) -> anyhow::Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let shell = || {
        let mut command = process::command("/bin/sh");
        command.args(["-c", "true"]);
        command
    };
    let share = count.div_ceil(cores as u32);
    std::thread::scope(|scope| {
        let lanes: Vec<_> =
            (0..cores).map(|_| scope.spawn(move || (0..share).try_for_each(|_| silently(shell(), 0)))).collect();
        lanes.into_iter().try_for_each(|lane| lane.join().unwrap_or(Ok(())))
    })
}

/// How often the newest run published receipts, from its journal.
fn publications(sample: &Sample) -> anyhow::Result<usize> {
    let runs = std::fs::read_dir(sample.folder().join(".git/discern/run"))?;
    let journals = runs.filter_map(|run| Some(run.ok()?.path().join("journal")));
    let newest = journals.max_by_key(|journal| journal.metadata().and_then(|meta| meta.modified()).ok());
    let text = std::fs::read_to_string(newest.context("a journal")?)?;
    Ok(text.lines().filter(|line| line.contains("\"event\":\"published\"")).count())
}

/// From the start of the next `done` to its first job, after a run was killed.
pub(super) fn takeover(place: &Place) -> anyhow::Result<Vec<Row>> {
    let sample = place.sample("takeover");
    let hold = sample.folder().join(".git/hold");
    let began = sample.folder().join(".git/began");
    let run = format!("touch {1}; while test -e {0}; do sleep 0.05; done", hold.display(), began.display());
    sample.make(Shape { files: 2_000, commits: 300, refs: "files", config: &jobs(1, &run, "") })?;
    let mut times = Vec::new();
    for _ in 0..place.extent.few {
        sample.commit()?;
        let _ = std::fs::remove_file(&began);
        std::fs::write(&hold, "")?;
        let mut first = sample.discern_command(&["done", "--rerun"]);
        let mut child = first.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        wait_until(|| began.exists())?;
        child.kill()?;
        child.wait()?;
        std::fs::remove_file(&hold)?;
        std::fs::remove_file(&began)?;
        let start = now();
        sample.discern(&["done", "--rerun"], 0)?;
        let first_job = std::fs::metadata(&began)?.modified()?;
        times.push(first_job.duration_since(start).unwrap_or_default().as_secs_f64() * 1000.0);
    }
    Ok(vec![Row {
        what: "takeover after a proven death, to the first job",
        measured: median(times)?,
        limit: 100.0,
        unit: "ms",
        formula: String::new(),
    }])
}

/// A job that prints a gigabyte.
pub(super) fn output(place: &Place) -> anyhow::Result<Vec<Row>> {
    let bytes = place.extent.output_bytes;
    let run = format!("head -c {bytes} /dev/zero");
    let sample = Sample::new(place.memory.join("output"), place.binary.clone());
    sample.make(Shape { files: 100, commits: 3, refs: "files", config: &jobs(1, &run, "") })?;
    let file = place.memory.join("plain");
    let (mut plain, mut ours) = (Vec::new(), Vec::new());
    let forget = || std::fs::remove_dir_all(sample.folder().join(".git/discern/run"));
    for _ in 0..3 {
        let mut command = process::command("/bin/sh");
        command.args(["-c", &run]).stdout(std::fs::File::create(&file)?);
        plain.push(time(|| ensure_success(command.status()?))?);
        std::fs::remove_file(&file)?;
        sample.discern(&["done", "--rerun"], 0)?;
        ours.push(job_ms(&sample)?);
        forget()?;
    }
    // In a run of its own: whoever looks at a process every two milliseconds slows it down.
    let anonymous = anonymous_kib(&sample)?;
    forget()?;
    let (plain, ours) = (median(plain)?, median(ours)?);
    Ok(vec![
        Row {
            what: "a job that prints 1 GB, in memory, against `> file`",
            measured: ours / plain,
            limit: 1.0 / 0.9,
            unit: "×",
            formula: format!("0.9 of the throughput; alone {plain:.0} ms, as a job {ours:.0} ms"),
        },
        Row {
            what: "anonymous memory of that run",
            measured: anonymous as f64 / 1024.0,
            limit: 25.0,
            unit: "MiB",
            formula: "the largest of all its processes at any time".to_owned(),
        },
    ])
}

fn ensure_success(status: std::process::ExitStatus) -> anyhow::Result<()> {
    ensure!(status.success(), "it ended with {status}");
    Ok(())
}

/// Runs `done --rerun` and looks at it and its supervisor meanwhile: the most anonymous memory that either had, in KiB.
fn anonymous_kib(sample: &Sample) -> anyhow::Result<u64> {
    let mut command = sample.discern_command(&["done", "--rerun"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let (own, mut most) = (child.id(), 0);
    let names = [sample.binary_name(), "exe".to_owned()];
    let status = loop {
        let children = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
        let supervisors = children.split_whitespace().filter_map(|pid| pid.parse().ok());
        most = std::iter::once(own).chain(supervisors).filter_map(|pid| anonymous_of(pid, &names)).fold(most, u64::max);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        pause();
    };
    ensure_success(status)?;
    ensure!(most > 0, "its processes were not found");
    Ok(most)
}

/// Nothing for a process that is not ours, or not yet: the first instant of a child is a copy of its parent.
fn anonymous_of(pid: u32, names: &[String]) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let name = text.lines().next()?.strip_prefix("Name:\t")?;
    if !names.iter().any(|ours| ours == name) {
        return None;
    }
    text.lines().find_map(|line| line.strip_prefix("RssAnon:"))?.split_whitespace().next()?.parse().ok()
}

/// How long the job took, as its run has it in its journal.
fn job_ms(sample: &Sample) -> anyhow::Result<f64> {
    let run = std::fs::read_dir(sample.folder().join(".git/discern/run"))?.next().context("a run")??;
    let text = std::fs::read_to_string(run.path().join("journal"))?;
    let mut lines = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let ended = lines.rfind(|line| line["event"] == "finished").context("an end in the journal")?;
    ended["requirement"]["duration_ms"].as_f64().context("a duration")
}

fn wait_until(condition: impl Fn() -> bool) -> anyhow::Result<()> {
    let start = now();
    while !condition() {
        ensure!(start.elapsed().unwrap_or_default() < Duration::from_secs(60), "nothing happened for a minute");
        pause();
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the bench looks at processes that tell nobody what they do")]
fn pause() {
    std::thread::sleep(Duration::from_millis(2));
}

#[expect(clippy::disallowed_methods, reason = "compared with the times of files")]
fn now() -> SystemTime {
    SystemTime::now()
}
