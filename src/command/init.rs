//! `git discern init`: looks at the project and writes a `discern.toml` that works.

use clap::Args;

use super::Global;
use crate::exit::Exit;

/// The arguments of `git discern init`.
#[derive(Debug, Args)]
pub struct Init {
    /// Install the pre-push hook as well
    #[arg(long)]
    pub hook: bool,
}

/// See the module's documentation.
pub fn run(_global: &Global, _args: &Init) -> anyhow::Result<Exit> {
    Err(super::not_built("init"))
}
