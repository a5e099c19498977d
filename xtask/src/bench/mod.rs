//! `cargo xtask bench`: how long things take, against git's own commands in the same run.
//!
//! Every figure is the median of rounds in which the thing measured and its floors take turns, so that whatever else the
//! machine does hits both. What can't be measured is a line of its own, and the rest is measured all the same. Floors: **R** `git rev-parse HEAD`, **C** `git status --porcelain`, **S** one durable swap of a ref
//! ([`floors`]), **k** cores. `--short` is for the build machine: small, and nothing fails for a time.

mod floors;
pub(crate) mod instructions;
mod page;
mod rivals;
mod rows;
mod sample;
mod stopwatch;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use clap::Args;

use crate::process;
use sample::Sample;

/// Its arguments.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Few rounds and small samples; writes nothing, and no time fails it
    #[arg(long)]
    pub(crate) short: bool,
    /// Only the rows whose name has this in it; writes nothing
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,
    /// Count instructions instead, and compare with the figures that are kept
    #[arg(long, conflicts_with_all = ["short", "only"])]
    pub(crate) instructions: bool,
    /// Measure other tools that are on PATH beside ours instead, and print a table
    #[arg(long, conflicts_with_all = ["only", "instructions"])]
    pub(crate) rivals: bool,
    /// Write those figures anew
    #[arg(long, requires = "instructions")]
    pub(crate) write: bool,
    /// The binary to measure; builds one unless given (with --instructions a debug build)
    #[arg(long, value_name = "FILE")]
    pub(crate) binary: Option<PathBuf>,
}

/// One line of the table.
pub(crate) struct Row {
    /// What was done.
    what: &'static str,
    /// What it came to.
    measured: f64,
    /// What it may come to.
    limit: f64,
    /// Of both.
    unit: &'static str,
    /// How the limit comes about, with the floors' values.
    formula: String,
}

impl Row {
    fn passes(&self) -> bool {
        self.measured <= self.limit
    }
}

/// What came of one thing that was to be measured.
pub(crate) enum Measured {
    Row(Row),
    /// It could not be.
    Failed {
        name: &'static str,
        why: String,
    },
}

impl Measured {
    fn passes(&self) -> bool {
        matches!(self, Self::Row(row) if row.passes())
    }
}

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    /// Rounds of what takes milliseconds.
    rounds: usize,
    /// Rounds of what takes longer.
    few: usize,
    /// Files of the large sample.
    files_large: u32,
    /// Commits of a range, outcomes in the ledger; five times as many receipts.
    many_commits: u32,
    many_outcomes: u32,
    /// Bytes that a job prints.
    output_bytes: u64,
}

const WHOLE: Extent = Extent {
    rounds: 41,
    few: 9,
    files_large: 100_000,
    many_commits: 1_000,
    many_outcomes: 10_000,
    output_bytes: 1 << 30,
};
const SHORT: Extent =
    Extent { rounds: 5, few: 3, files_large: 5_000, many_commits: 20, many_outcomes: 200, output_bytes: 1 << 24 };

/// What rows are measured with.
pub(crate) struct Place {
    extent: Extent,
    binary: PathBuf,
    /// A folder on disk, and one in memory.
    disk: PathBuf,
    memory: PathBuf,
}

impl Place {
    fn sample(&self, name: &str) -> Sample {
        Sample::new(self.disk.join(name), self.binary.clone())
    }
}

/// Runs it.
pub(crate) fn run(args: &Bench) -> anyhow::Result<()> {
    if args.instructions {
        let built = if args.binary.is_none() { Some(process::binary()?) } else { None };
        let binary = built.as_ref().map(|(_, binary)| binary).or(args.binary.as_ref()).context("a binary")?;
        return instructions::check(&std::fs::canonicalize(binary)?, args.write);
    }
    if cfg!(debug_assertions) {
        // What is measured in this process must not be slowed down by being a debug build.
        let own: Vec<String> = std::env::args().skip(1).collect();
        let words = ["cargo", "run", "--quiet", "--release", "--package", "xtask", "--"];
        return process::run(&words.into_iter().chain(own.iter().map(String::as_str)).collect::<Vec<_>>());
    }
    let binary = binary_of(args)?;
    let disk = tempfile::Builder::new().prefix("bench-").tempdir_in("target")?;
    let memory = tempfile::Builder::new().prefix("discern-bench-").tempdir_in(memory_folder())?;
    let extent = if args.short { SHORT } else { WHOLE };
    let place = Place { extent, binary, disk: std::fs::canonicalize(disk.path())?, memory: memory.path().to_owned() };
    if args.rivals {
        return rivals::run(&place);
    }
    let begin = page::Circumstances::now(&place.binary, args.binary.is_some())?;
    let mut results = Vec::new();
    for (name, measure) in rows::ALL {
        if args.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        eprintln!("measuring: {name}");
        let mut measured = Ok(Vec::new());
        let ms = stopwatch::time(|| {
            measured = measure(&place);
            Ok(())
        })?;
        // One thing that can't be measured is said, and takes nothing else with it.
        let new = match measured {
            Ok(rows) => rows.into_iter().map(Measured::Row).collect(),
            Err(error) => vec![Measured::Failed { name, why: format!("{error:#}") }],
        };
        new.iter().for_each(|measured| println!("{}", page::line(measured)));
        eprintln!("{name} took {:.0} s", ms / 1000.0);
        results.extend(new);
        if !args.short && args.only.is_none() {
            page::write(&results, &begin, Path::new("docs/performance.md"))?;
        }
    }
    let missed = results.iter().filter(|measured| !measured.passes()).count();
    println!("{} rows, {} within their limit", results.len(), results.len() - missed);
    let failed = results.iter().filter(|measured| matches!(measured, Measured::Failed { .. })).count();
    ensure!(failed == 0, "{failed} could not be measured");
    ensure!(args.short || missed == 0, "{missed} rows are over their limit");
    Ok(())
}

/// The binary that is measured.
fn binary_of(args: &Bench) -> anyhow::Result<PathBuf> {
    if let Some(binary) = &args.binary {
        return Ok(std::fs::canonicalize(binary)?);
    }
    process::run(&["cargo", "build", "--release", "--locked", "--bin", "git-discern"])?;
    Ok(std::fs::canonicalize("target/release/git-discern")?)
}

fn memory_folder() -> &'static Path {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory } else { Path::new("target") }
}
