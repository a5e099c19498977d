//! `git discern gc`: retention, now.

use clap::Args;

use super::Global;
use crate::exit::Exit;

/// The arguments of `git discern gc`.
#[derive(Debug, Args)]
pub struct Gc {
    /// Say what would be dropped, and drop nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// See the module's documentation.
pub fn run(_global: &Global, _args: &Gc) -> anyhow::Result<Exit> {
    Err(super::not_built("gc"))
}
