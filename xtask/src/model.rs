//! `cargo xtask model`: the protocol, exhaustively.

use crate::process;

/// The tests' binary with our own code optimised: the searches are all arithmetic. Dependencies stay as they are built.
pub(crate) const OPTIMISED: [&str; 6] =
    ["cargo", "test", "--locked", "--config", "profile.dev.package.git-discern.opt-level=2", "--test=suite"];

/// Runs it.
pub(crate) fn run() -> anyhow::Result<()> {
    let words = [&OPTIMISED[..], &["--", "model::", "--nocapture"]].concat();
    let mut command = process::command(words[0]);
    command.args(&words[1..]).env("DISCERN_MODEL_WHOLE", "1");
    anyhow::ensure!(command.status()?.success(), "the model found something");
    Ok(())
}
