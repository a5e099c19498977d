//! `cargo xtask truth`: a file that decides a verdict is changed and put back, a thousand times, while jobs run.

use crate::process;

/// Runs it.
pub(crate) fn run() -> anyhow::Result<()> {
    let words = ["cargo", "test", "--locked", "--test", "suite", "--", "isolated::truth", "--nocapture"];
    let mut command = process::command(words[0]);
    command.args(&words[1..]).env("DISCERN_TRUTH_WHOLE", "1");
    anyhow::ensure!(command.status()?.success(), "a verdict was wrong");
    Ok(())
}
