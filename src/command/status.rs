//! `git discern status`: this commit, and every claim in the repository; read-only.

use clap::Args;

use super::Global;
use crate::exit::Exit;

/// The arguments of `git discern status`.
#[derive(Debug, Args)]
pub struct Status {}

/// See the module's documentation.
pub fn run(_global: &Global, _args: &Status) -> anyhow::Result<Exit> {
    Err(super::not_built("status"))
}
