//! `git discern doctor`: checks configuration, commands, hooks, store and versions.

use clap::Args;

use super::Global;
use crate::exit::Exit;

/// The arguments of `git discern doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Mend what is ours
    #[arg(long)]
    pub fix: bool,
}

/// See the module's documentation.
pub fn run(_global: &Global, _args: &Doctor) -> anyhow::Result<Exit> {
    Err(super::not_built("doctor"))
}
