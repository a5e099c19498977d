//! `git discern hook`: the pre-push hook, beside whatever hook is there already.

use clap::{Args, Subcommand};

use super::Global;
use crate::exit::Exit;

/// The arguments of `git discern hook`.
#[derive(Debug, Args)]
pub struct Hook {
    /// What to do.
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with the hook.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Put the hook in place, beside whatever is there
    Install,
    /// Take it out again and restore what was there
    Uninstall,
    /// Decide about a push; git's hook calls this with its lines on standard input
    PrePush {
        /// The remote's name.
        remote: Option<String>,
        /// The remote's URL.
        url: Option<String>,
    },
}

/// See the module's documentation.
pub fn run(_global: &Global, _args: &Hook) -> anyhow::Result<Exit> {
    Err(super::not_built("hook"))
}
