//! `cargo xtask stall`.

use clap::Args;

/// Its arguments.
#[derive(Debug, Args)]
pub(crate) struct Stall {}

/// Runs it.
pub(crate) fn run(_args: &Stall) -> anyhow::Result<()> {
    anyhow::bail!("`cargo xtask stall` is not built yet")
}
