//! Commands that run nothing: they answer from what is known.

use git_discern::claim::record::{Attempt, Executor, Purpose};
use git_discern::claim::transition::{self, History, Pen};
use git_discern::git::revision::Listed;
use git_discern::id::{AttemptId, Nonce, Token};
use git_discern::os::boot;
use git_discern::os::clock::{Clock as _, SystemClock};
use git_discern::os::random::{Random as _, SystemRandom};
use git_discern::store::refs::RefStore;
use git_discern::store::{RecordStore as _, Swap};

use super::super::sample::{Sample, Shape, jobs};
use super::super::stopwatch::{command, in_turns};
use super::super::{Place, Row};
use super::kept;
use crate::process;

/// `done` on a commit that is proven.
pub(super) fn proven(place: &Place) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for refs in ["files", "reftable"] {
        let sample = place.sample(&format!("proven-{refs}"));
        sample.make(Shape { files: 2_000, commits: 300, refs, config: &jobs(3, "true", "") })?;
        sample.discern(&["done"], 0)?;
        let [r, c, done] = in_turns(
            place.extent.rounds,
            [
                command(|| sample.git_command(&["rev-parse", "HEAD"]), 0),
                command(|| sample.git_command(&["status", "--porcelain"]), 0),
                command(|| sample.discern_command(&["done"]), 0),
            ],
        )?;
        let is_files = refs == "files";
        let factor = if is_files { 1.5 } else { 3.0 };
        rows.push(Row {
            what: if is_files {
                "`done` on a proven commit, 2,000 files"
            } else {
                "`done` on a proven commit, 2,000 files, reftable"
            },
            measured: done,
            limit: factor * r + c,
            unit: "ms",
            formula: format!("{factor} R + C; R = {r:.2}, C = {c:.2}"),
        });
        rows.push(Row {
            what: if is_files { "its part beside C, files" } else { "its part beside C, reftable" },
            measured: done - c,
            limit: factor * r,
            unit: "ms",
            formula: format!("{factor} R; R = {r:.2}, C = {c:.2}"),
        });
    }
    Ok(rows)
}

/// The same where looking at the worktree is all that counts.
pub(super) fn large(place: &Place) -> anyhow::Result<Vec<Row>> {
    let sample = place.sample("large");
    sample.make(Shape { files: place.extent.files_large, commits: 3, refs: "files", config: &jobs(50, "true", "") })?;
    sample.discern(&["done"], 0)?;
    let [r, c, done, status] = in_turns(
        place.extent.few,
        [
            command(|| sample.git_command(&["rev-parse", "HEAD"]), 0),
            command(|| sample.git_command(&["status", "--porcelain"]), 0),
            command(|| sample.discern_command(&["done"]), 0),
            command(|| sample.discern_command(&["status"]), 0),
        ],
    )?;
    let [list, plan] = in_turns(
        place.extent.few,
        [command(|| sample.git_command(&["ls-tree", "-r", "HEAD"]), 0), Box::new(|| kept::plan_of(&sample))],
    )?;
    Ok(vec![
        Row {
            what: "`done` on a proven commit, 100,000 files: the cleanliness check and all else",
            measured: done,
            limit: 1.1 * c,
            unit: "ms",
            formula: format!("1.1 C; C = {c:.0}"),
        },
        Row {
            what: "`status`, 100,000 files",
            measured: status,
            limit: 3.0 * r + c,
            unit: "ms",
            formula: format!("3 R + C; R = {r:.2}, C = {c:.0}"),
        },
        Row {
            what: "subjects of 50 jobs over 100,000 files",
            measured: plan,
            limit: 2.0 * list,
            unit: "ms",
            formula: format!("2 × `git ls-tree -r HEAD`, {list:.0}"),
        },
    ])
}

/// `status` with many claims and a large ledger, and where nothing else takes time: on a branch that has parted from trunk.
pub(super) fn status(place: &Place) -> anyhow::Result<Vec<Row>> {
    let sample = place.sample("status");
    sample.make(Shape { files: 2_000, commits: 300, refs: "files", config: &jobs(3, "true", "") })?;
    sample.discern(&["done"], 0)?;
    kept::fill(&sample, place.extent.many_outcomes)?;
    claim_fifty(&sample)?;
    let parted = place.sample("status-parted");
    parted.make(Shape { files: 10, commits: 3, refs: "files", config: &jobs(3, "true", "") })?;
    parted.discern(&["done"], 0)?;
    parted.git(&["checkout", "-q", "-b", "topic", "HEAD~1"])?;
    parted.commit()?;
    parted.git(&["status"])?;
    Ok(vec![
        status_row(place, &sample, "`status`, 50 live claims, 10,000 outcomes")?,
        status_row(place, &parted, "`status`, ten files, a branch that has parted from trunk")?,
    ])
}

fn status_row(place: &Place, sample: &Sample, what: &'static str) -> anyhow::Result<Row> {
    let [r, c, status] = in_turns(
        place.extent.rounds,
        [
            command(|| sample.git_command(&["rev-parse", "HEAD"]), 0),
            command(|| sample.git_command(&["status", "--porcelain"]), 0),
            command(|| sample.discern_command(&["status"]), 0),
        ],
    )?;
    let formula = format!("3 R + C; R = {r:.2}, C = {c:.2}");
    Ok(Row { what, measured: status, limit: 3.0 * r + c, unit: "ms", formula })
}

/// Puts a live claim on fifty commits, as fifty runs would.
fn claim_fifty(sample: &Sample) -> anyhow::Result<()> {
    let repository = sample.open()?;
    let mut store = RefStore::new(&repository);
    let mut random = SystemRandom;
    for Listed { id: commit, tree, .. } in repository.commits("HEAD~50..HEAD")? {
        if matches!(store.read(&commit)?, git_discern::store::Found::Record { .. }) {
            continue;
        }
        let now = SystemClock.now();
        let executor = Executor {
            machine: boot::machine_identity(),
            boot: boot::boot_identity(),
            pid: std::process::id(),
            worktree: "elsewhere".to_owned(),
            branch: None,
            started_at: now.wall,
            journal: None,
        };
        let id: AttemptId = random.attempt(now.wall);
        let tree = Some(tree);
        let attempt = Attempt { id, generation: 0, purpose: Purpose::Done, rerun_of: None, commit, tree, executor };
        let pen = Pen { now, nonce: Nonce(random.uuid()), writer: None };
        let record = transition::reserve(None, History::default(), attempt, Token(random.uuid()), pen)?;
        anyhow::ensure!(matches!(store.swap(&commit, None, &record.encode()), Swap::Applied(_)), "a claim");
    }
    Ok(())
}

/// `verify` and the pre-push look-up.
pub(super) fn verify(place: &Place) -> anyhow::Result<Vec<Row>> {
    let sample = place.sample("verify");
    let commits = place.extent.many_commits;
    sample.make(Shape { files: 10, commits: 2, refs: "files", config: &jobs(1, "true", "") })?;
    for _ in 0..commits {
        sample.discern(&["done"], 0)?;
        sample.commit()?;
    }
    sample.discern(&["done"], 0)?;
    sample.git(&["gc", "-q"])?;
    let range = format!("HEAD~{commits}..HEAD");
    let remote = sample.folder().join(".git");
    let line =
        format!("refs/heads/main {} refs/heads/new {}\n", sample.git(&["rev-parse", "HEAD"])?.trim(), "0".repeat(40));
    let lines = sample.folder().join(".git/lines");
    std::fs::write(&lines, line)?;
    let push = || {
        let mut command = process::command("sh");
        let binary = place.binary.display();
        let words = format!("exec {binary} hook pre-push origin {} < {}", remote.display(), lines.display());
        command.args(["-c", &words]).current_dir(sample.folder());
        command
    };
    let empty = || {
        let mut command = process::command("sh");
        command.args(["-c", "exec git rev-parse HEAD"]).current_dir(sample.folder());
        command
    };
    let [r, one, many, shell, hook] = in_turns(
        place.extent.rounds,
        [
            command(|| sample.git_command(&["rev-parse", "HEAD"]), 0),
            command(|| sample.discern_command(&["verify"]), 0),
            command(|| sample.discern_command(&["verify", &range]), 0),
            command(empty, 0),
            command(push, 0),
        ],
    )?;
    let limit = format!("1.5 R; R = {r:.2}");
    Ok(vec![
        Row { what: "`verify`, one commit", measured: one, limit: 1.5 * r, unit: "ms", formula: limit },
        Row {
            what: "`verify`, 1,000 commits",
            measured: many,
            limit: 1.5 * r + 20.0,
            unit: "ms",
            formula: format!("1.5 R + 20; R = {r:.2}"),
        },
        Row {
            what: "`hook pre-push`, one branch, from a shell",
            measured: hook,
            limit: 1.5 * shell,
            unit: "ms",
            formula: format!("1.5 R from a shell, {shell:.2}"),
        },
    ])
}

/// The binary's start.
pub(super) fn start(place: &Place) -> anyhow::Result<Vec<Row>> {
    let sample = place.sample("start");
    let here = |program: &std::path::Path| {
        let mut command = process::command(program);
        command.arg("--version").current_dir(&place.disk);
        command
    };
    drop(sample);
    let [git, ours] =
        in_turns(place.extent.rounds * 2, [command(|| here("git".as_ref()), 0), command(|| here(&place.binary), 0)])?;
    Ok(vec![Row {
        what: "`--version`",
        measured: ours,
        limit: 1.5 * git,
        unit: "ms",
        formula: format!("1.5 × `git --version`, {git:.2}"),
    }])
}

/// The binary's size.
pub(super) fn binary(place: &Place) -> anyhow::Result<Vec<Row>> {
    let bytes = std::fs::metadata(&place.binary)?.len();
    Ok(vec![Row {
        what: "the stripped binary",
        measured: bytes as f64 / 1e6,
        limit: 12.0,
        unit: "MB",
        formula: String::new(),
    }])
}
