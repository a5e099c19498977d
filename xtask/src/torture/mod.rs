//! `cargo xtask torture`: real runs that are killed, stopped, crowded and starved, in repositories where others are at work.
//!
//! Each trial of [`TRIALS`] tries one thing, again and again, and looks each time whether everything is as it should be.
//! `--rounds` says how often; a trial whose round takes long does fewer of them. What a trial needs and the machine does not
//! permit (mounts, namespaces) is said, and left out.

mod crowds;
mod elsewhere;
mod full;
mod ground;
mod kills;
mod paused;
mod processes;
mod stops;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use clap::Args;

use crate::process;

/// Its arguments.
#[derive(Debug, Args)]
pub(crate) struct Torture {
    /// How many runs are killed; the other trials do as many rounds as take about as long
    #[arg(long, default_value_t = 100)]
    pub(crate) rounds: u32,
    /// What decides about instants, victims and company
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// One trial instead of all; `--trial list` lists them
    #[arg(long)]
    pub(crate) trial: Option<String>,
}

/// One thing that is tried.
struct Trial {
    name: &'static str,
    what: &'static str,
    /// A round of it takes as long as so many killed runs.
    weighs: u32,
    run: fn(&mut Setting) -> anyhow::Result<()>,
}

/// Everything that is tried.
const TRIALS: [Trial; 13] = [
    Trial { name: "points", what: "killed at each named point", weighs: 1, run: kills::points },
    Trial { name: "supervisors", what: "killed at each point of a supervisor", weighs: 1, run: kills::supervisors },
    Trial { name: "instants", what: "killed at a random instant", weighs: 3, run: kills::instants },
    Trial { name: "crowd", what: "64 `done` together on one commit", weighs: 24, run: crowds::one_commit },
    Trial { name: "worktrees", what: "20 worktrees at once on 20 commits", weighs: 24, run: crowds::many_worktrees },
    Trial { name: "gone", what: "the worktree is removed under a job", weighs: 12, run: crowds::removed_worktree },
    Trial { name: "full", what: "the disk is full at a write", weighs: 8, run: full::full_disk },
    Trial { name: "read-only", what: "nothing can be written", weighs: 24, run: full::read_only },
    Trial { name: "stopped", what: "SIGSTOP, and nobody retires", weighs: 12, run: stops::alone },
    Trial { name: "stopped-retired", what: "SIGSTOP, and another run retires", weighs: 12, run: stops::retired },
    Trial { name: "lease", what: "SIGSTOP for longer than a lease, in real time", weighs: 120, run: stops::real_time },
    Trial {
        name: "pid-namespace",
        what: "owner and recoverer in two pid namespaces",
        weighs: 24,
        run: elsewhere::pids,
    },
    Trial { name: "time-namespace", what: "owner and recoverer on two clocks", weighs: 24, run: elsewhere::clocks },
];

/// What a trial works with.
struct Setting {
    binary: PathBuf,
    rounds: u32,
    random: Random,
    met: BTreeMap<String, u32>,
}

impl Setting {
    /// Counts something that was met.
    fn meet(&mut self, what: impl Into<String>) {
        *self.met.entry(what.into()).or_default() += 1;
    }
}

/// Runs it.
pub(crate) fn run(args: &Torture) -> anyhow::Result<()> {
    let wanted = |trial: &&Trial| args.trial.as_ref().is_none_or(|name| name == trial.name);
    let trials: Vec<&Trial> = TRIALS.iter().filter(wanted).collect();
    if trials.is_empty() {
        TRIALS.iter().for_each(|trial| println!("{:<16} {}", trial.name, trial.what));
        ensure!(args.trial.as_deref() == Some("list"), "there is no such trial");
        return Ok(());
    }
    let (_folder, binary) = process::binary_with(&["--features", "test-hooks"])?;
    for trial in trials {
        let began = began();
        // A trial that is asked for by its name does all the rounds that are asked for.
        let rounds = if args.trial.is_some() { args.rounds } else { args.rounds / trial.weighs };
        if rounds == 0 {
            println!("torture {}: left out with so few rounds", trial.name);
            continue;
        }
        let mut setting = Setting { binary: binary.clone(), rounds, random: Random(args.seed), met: BTreeMap::new() };
        (trial.run)(&mut setting).with_context(|| format!("trial {} of seed {}", trial.name, args.seed))?;
        let seconds = began.elapsed().as_secs();
        println!("torture {}: {}: {rounds} rounds from seed {} in {seconds} s", trial.name, trial.what, args.seed);
        setting.met.iter().for_each(|(what, times)| println!("  {times:>6}  {what}"));
    }
    println!("torture: all as it should be");
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "how long a trial took is told")]
fn began() -> Instant {
    Instant::now()
}

/// Random numbers from a seed (splitmix64, shortened).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)) % limit
    }

    /// One of them.
    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }
}

/// Keeps what a failed round left, for a look at it.
fn kept(error: anyhow::Error, folder: &Path) -> anyhow::Error {
    error.context(format!("the repository is kept at {}", folder.display()))
}
