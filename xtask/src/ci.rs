//! `cargo xtask ci`: the same here and on the build machine, the quickest first.

use anyhow::Context as _;
use clap::Args;

use crate::process;

/// Its arguments.
#[derive(Debug, Args)]
pub(crate) struct Ci {
    /// Leave the tests out: what remains takes seconds
    #[arg(long)]
    pub(crate) quick: bool,
}

/// How many seeds are simulated for each change.
const SIMULATED_SEEDS: u64 = 20_000;

/// How many real runs are killed at named points for each change; the other trials in proportion. A minute and a half.
const KILLED_RUNS: u32 = 24;

/// Runs it.
pub(crate) fn run(args: &Ci) -> anyhow::Result<()> {
    process::run(&["cargo", "fmt", "--all", "--check"])?;
    crate::tidy::run()?;
    process::run(&[
        "cargo",
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--locked",
        "--",
        "-D",
        "warnings",
    ])?;
    crate::r#gen::run(&crate::r#gen::Gen { check: true })?;
    if args.quick {
        return Ok(());
    }
    let readme = std::fs::read_to_string("README.md")?;
    let tests = test_command(&readme).context("README.md names no `cargo test …`")?;
    process::run(&tests.split_whitespace().collect::<Vec<&str>>())?;
    crate::model::run()?;
    crate::sim::run(&crate::sim::Sim { seed: 1, seeds: Some(SIMULATED_SEEDS), seconds: None })?;
    let (_folder, binary) = process::binary()?;
    crate::bench::instructions::check(&binary, false)?;
    crate::torture::run(&crate::torture::Torture { rounds: KILLED_RUNS, seed: 1, trial: None })
}

/// The command that README.md gives for running the tests: the one place where it is written.
fn test_command(readme: &str) -> Option<&str> {
    readme.lines().map(|line| line.trim().trim_start_matches("$ ")).find(|line| line.starts_with("cargo test "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_command_is_read_from_the_readme() {
        assert_eq!(test_command("# T\n\n```console\n$ cargo test --workspace\n```\n"), Some("cargo test --workspace"));
        assert_eq!(test_command("run `cargo test`"), None);
    }
}
