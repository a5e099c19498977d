//! `git discern stop`: asks a run's own loop to cancel and settle.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::Global;
use super::completions::Offered;
use crate::exit::Exit;

/// The arguments of `git discern stop`.
#[derive(Debug, Args)]
pub struct Stop {
    /// The operation; the run of this worktree unless given
    #[arg(value_name = "HANDLE", add = ArgValueCandidates::new(Offered::Handles))]
    pub handle: Option<String>,
}

/// See the module's documentation.
pub fn run(_global: &Global, _args: &Stop) -> anyhow::Result<Exit> {
    Err(super::not_built("stop"))
}
