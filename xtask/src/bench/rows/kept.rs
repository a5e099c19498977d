//! What a large ledger costs us, and what it costs the user's own git.

use std::process::Command;

use anyhow::Context as _;
use git_discern::claim::record::{EndedBy, Outcome, Purpose};
use git_discern::config::Config;
use git_discern::evidence::Receipt;
use git_discern::git::{Folders, Pathspecs};
use git_discern::id::{AttemptId, CommitId, Digest, Subject, hex};
use git_discern::ledger::{Additions, Ledger, OutcomeEntry};
use git_discern::time::Timestamp;
use sha2::Digest as _;

use super::super::sample::{Sample, Shape, jobs};
use super::super::stopwatch::{Turn, command, in_turns, time};
use super::super::{Place, Row};
use crate::process;

fn digest(number: u32) -> [u8; 32] {
    sha2::Sha256::digest(number.to_be_bytes()).into()
}

fn attempt(number: u32) -> anyhow::Result<AttemptId> {
    Ok(format!("01989000-0000-7000-8000-{number:012x}").parse()?)
}

/// What one run of `receipts` receipts leaves, as run `number`.
fn additions(number: u32, receipts: u32) -> anyhow::Result<Additions> {
    let commit: CommitId = hex(&digest(number)[..20]).parse()?;
    let outcome = OutcomeEntry {
        commit,
        generation: 1,
        attempt: attempt(number)?,
        purpose: Purpose::Done,
        outcome: Outcome::Passed,
        by: EndedBy::Owner { reason: None },
        exit_status: 0,
        started_at: Timestamp::from_millis(0),
        finished_at: Timestamp::from_millis(1),
        worktree: String::new(),
        branch: None,
        failed: Vec::new(),
        bound: Vec::new(),
        measured: Vec::new(),
        proof: None,
    };
    let text = std::fs::read("fixtures/receipts/v1-job.json")?;
    let sample = Receipt::from_line(text.trim_ascii())?;
    let receipts = (0..receipts).map(|at| {
        let subject = Subject(Digest(digest(number.wrapping_mul(1_000).wrapping_add(at))));
        Ok(Receipt { subject, attempt: attempt(number)?, ..sample.clone() })
    });
    Ok(Additions { outcomes: vec![outcome], receipts: receipts.collect::<anyhow::Result<_>>()? })
}

/// Puts `outcomes` outcomes with five receipts each into the ledger, and packs the repository.
pub(super) fn fill(sample: &Sample, outcomes: u32) -> anyhow::Result<()> {
    let mut all = Additions::default();
    for number in 0..outcomes {
        let more = additions(number, 5)?;
        all.outcomes.extend(more.outcomes);
        all.receipts.extend(more.receipts);
    }
    let repository = sample.open()?;
    Ledger::new(&repository).absorb(&all)?;
    drop(repository);
    sample.git(&["gc", "-q"]).map(drop)
}

/// Ours: looking up and adding, with few and with many entries.
pub(super) fn ledger(place: &Place) -> anyhow::Result<Vec<Row>> {
    let make = |name: &str, outcomes: u32| -> anyhow::Result<Sample> {
        let sample = place.sample(name);
        sample.make(Shape { files: 2_000, commits: 300, refs: "files", config: &jobs(3, "true", "") })?;
        sample.discern(&["done"], 0)?;
        fill(&sample, outcomes)?;
        // As after any look of the user's: the index is older than no file, so that git need not read them all again.
        sample.git(&["status"])?;
        Ok(sample)
    };
    let (few, many) = (make("ledger-few", 10)?, make("ledger-many", place.extent.many_outcomes)?);
    let (mut at_few, mut at_many) = (50_000_000, 60_000_000);
    let absorb_few: Turn<'_> = Box::new(|| absorb(&few, &mut at_few));
    let absorb_many: Turn<'_> = Box::new(|| absorb(&many, &mut at_many));
    let [answer_few, answer_many, few_ms, many_ms] = in_turns(
        place.extent.rounds,
        [
            command(|| few.discern_command(&["done"]), 0),
            command(|| many.discern_command(&["done"]), 0),
            absorb_few,
            absorb_many,
        ],
    )?;
    Ok(vec![
        Row {
            what: "`done` on a proven commit, 10,000 outcomes and 50,000 receipts against ten",
            measured: answer_many / answer_few,
            limit: 1.3,
            unit: "×",
            formula: format!("{answer_few:.2} ms with ten, {answer_many:.2} ms with many"),
        },
        Row {
            what: "absorbing a run of four, 10,000 outcomes and 50,000 receipts against ten",
            measured: many_ms / few_ms,
            limit: 3.0,
            unit: "×",
            formula: format!("{few_ms:.2} ms with ten, {many_ms:.2} ms with many"),
        },
    ])
}

fn absorb(sample: &Sample, number: &mut u32) -> anyhow::Result<f64> {
    *number += 1;
    let more = additions(*number, 4)?;
    let repository = sample.open()?;
    time(|| Ok(Ledger::new(&repository).absorb(&more)?))
}

/// The user's git, with and without our data in the repository, packed.
pub(super) fn users_git(place: &Place) -> anyhow::Result<Vec<Row>> {
    let (with, without) = (place.sample("git-with"), place.sample("git-without"));
    for sample in [&with, &without] {
        sample.make(Shape { files: 2_000, commits: 300, refs: "files", config: &jobs(3, "true", "") })?;
    }
    fill(&with, place.extent.many_outcomes)?;
    let log = ["log", "--all", "--oneline"];
    let [status_without, status_with, log_without, log_with] = in_turns(
        place.extent.rounds,
        [
            command(|| without.git_command(&["status"]), 0),
            command(|| with.git_command(&["status"]), 0),
            command(|| without.git_command(&log), 0),
            command(|| with.git_command(&log), 0),
        ],
    )?;
    let [gc_without, gc_with, fsck_without, fsck_with] = in_turns(
        3,
        [
            command(|| without.git_command(&["gc", "-q"]), 0),
            command(|| with.git_command(&["gc", "-q"]), 0),
            command(|| without.git_command(&["fsck"]), 0),
            command(|| with.git_command(&["fsck"]), 0),
        ],
    )?;
    let row = |what, with: f64, without: f64, limit: f64, how: &str| Row {
        what,
        measured: with,
        limit,
        unit: "ms",
        formula: format!("{how}; {without:.1} without our data"),
    };
    let little = |without: f64| (1.05 * without).max(without + 0.5);
    let how = "1.05 × or 0.5 ms more";
    Ok(vec![
        row("the user's `git status`, 10,000 outcomes", status_with, status_without, little(status_without), how),
        row("the user's `git log --all`", log_with, log_without, little(log_without), how),
        row("the user's `git gc`", gc_with, gc_without, gc_without + 500.0, "0.5 s more"),
        row("the user's `git fsck`", fsck_with, fsck_without, fsck_without + 500.0, "0.5 s more"),
    ])
}

/// A push of one proven branch, and of many, against a hook that does nothing.
pub(super) fn push(place: &Place) -> anyhow::Result<Vec<Row>> {
    let sample = place.sample("push");
    sample.make(Shape { files: 100, commits: 30, refs: "files", config: &jobs(1, "true", "") })?;
    sample.discern(&["done"], 0)?;
    let remote = place.disk.join("remote.git");
    sample.git(&["init", "-q", "--bare", &remote.to_string_lossy()])?;
    sample.git(&["remote", "add", "origin", &remote.to_string_lossy()])?;
    let hooks = sample.folder().join("hooks-of-nobody");
    std::fs::create_dir_all(&hooks)?;
    sample.git(&["push", "-q", "--no-verify", "origin", "main~1:refs/heads/main"])?;
    std::fs::write(sample.folder().join(".git/info/exclude"), "hooks-of-nobody\n")?;
    let nothing = hooks.join("pre-push");
    std::fs::write(&nothing, "#!/bin/sh\ncat > /dev/null\n")?;
    process::run(&["chmod", "+x", &nothing.to_string_lossy()])?;
    sample.discern(&["hook", "install"], 0)?;
    let mut rows = Vec::new();
    for (count, what) in [(1, "pushing one proven branch"), (place.extent.many_commits, "pushing 1,000 proven refs")] {
        let refspecs: Vec<String> = (0..count).map(|number| format!("main:refs/heads/topic-{number}")).collect();
        let deletions: Vec<String> = (0..count).map(|number| format!(":refs/heads/topic-{number}")).collect();
        let push = |setting: &str| -> anyhow::Result<f64> {
            let run = |words: &[String]| -> anyhow::Result<()> {
                let mut git = process::command("git");
                git.current_dir(sample.folder()).args(setting.split_whitespace()).args(["push", "-q", "origin"]);
                super::super::stopwatch::silently(with_words(git, words), 0)
            };
            let ms = time(|| run(&refspecs))?;
            let mut git = process::command("git");
            git.current_dir(sample.folder()).args(["push", "-q", "--no-verify", "origin"]);
            super::super::stopwatch::silently(with_words(git, &deletions), 0)?;
            Ok(ms)
        };
        let idle = format!("-c core.hooksPath={}", hooks.display());
        let turns: [Turn<'_>; 2] = [Box::new(|| push(&idle)), Box::new(|| push(""))];
        // Many refs take seconds a time, most of it the deletions that no figure counts.
        let rounds = if count == 1 { place.extent.few } else { 3 };
        let [without, with] = in_turns(rounds, turns)?;
        let (limit, how) = if count == 1 { (2.0 * without, "2 ×") } else { (1.2 * without + 20.0, "1.2 × + 20") };
        let formula = format!("{how} a hook that does nothing, {without:.1}");
        rows.push(Row { what, measured: with, limit, unit: "ms", formula });
    }
    Ok(rows)
}

fn with_words(mut command: Command, words: &[String]) -> Command {
    command.args(words);
    command
}

/// Evaluates the inputs of every job of the sample's configuration, as planning does.
pub(super) fn plan_of(sample: &Sample) -> anyhow::Result<f64> {
    let repository = sample.open()?;
    let text = std::fs::read(sample.folder().join("discern.toml"))?;
    let config = Config::parse(&text, "discern.toml").ok().context("the sample's configuration")?;
    let tree = repository.head()?.tree;
    time(|| {
        let trees = repository.trees()?;
        for job in &config.jobs {
            let inputs = job.influences.inputs.iter().flatten();
            let specs: Vec<String> = inputs.map(|spec| spec.as_str().to_owned()).collect();
            let specs = Pathspecs::parse(&specs)?;
            trees.select(tree, &specs, Folders::Whole)?;
        }
        Ok(())
    })
}
