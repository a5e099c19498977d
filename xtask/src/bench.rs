//! `cargo xtask bench`.

use clap::Args;

/// Its arguments.
#[derive(Debug, Args)]
pub(crate) struct Bench {}

/// Runs it.
pub(crate) fn run(_args: &Bench) -> anyhow::Result<()> {
    anyhow::bail!("`cargo xtask bench` is not built yet")
}
