//! `git discern run`: runs jobs on the tree as it stands, the inner loop.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::Global;
use super::completions::Offered;
use crate::exit::Exit;

/// The arguments of `git discern run`.
#[derive(Debug, Args)]
pub struct Run {
    /// The jobs to run, with what they need; all unless given
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(Offered::Requirements))]
    pub names: Vec<String>,
    /// After a failure, still start whatever does not need what failed
    #[arg(short, long)]
    pub keep_going: bool,
}

/// See the module's documentation.
pub fn run(_global: &Global, _args: &Run) -> anyhow::Result<Exit> {
    Err(super::not_built("run"))
}
