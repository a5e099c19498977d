//! `cargo xtask torture`.

use clap::Args;

/// Its arguments.
#[derive(Debug, Args)]
pub(crate) struct Torture {}

/// Runs it.
pub(crate) fn run(_args: &Torture) -> anyhow::Result<()> {
    anyhow::bail!("`cargo xtask torture` is not built yet")
}
