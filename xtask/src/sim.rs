//! `cargo xtask sim`.

use clap::Args;

/// Its arguments.
#[derive(Debug, Args)]
pub(crate) struct Sim {}

/// Runs it.
pub(crate) fn run(_args: &Sim) -> anyhow::Result<()> {
    anyhow::bail!("`cargo xtask sim` is not built yet")
}
