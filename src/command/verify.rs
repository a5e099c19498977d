//! `git discern verify`: exit 0 if each commit is proven under its own committed configuration.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::Global;
use super::completions::Offered;
use crate::exit::Exit;

/// The arguments of `git discern verify`.
#[derive(Debug, Args)]
pub struct Verify {
    /// Commits or ranges; HEAD unless given
    #[arg(value_name = "REV", add = ArgValueCandidates::new(Offered::Revisions))]
    pub revisions: Vec<String>,
    /// Read commits from standard input, one to a line
    #[arg(long, conflicts_with = "revisions")]
    pub stdin: bool,
}

/// See the module's documentation.
pub fn run(_global: &Global, _args: &Verify) -> anyhow::Result<Exit> {
    Err(super::not_built("verify"))
}
