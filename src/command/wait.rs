//! `git discern wait`: follows a running operation to its end and exits as it did.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::Global;
use super::completions::Offered;
use crate::exit::Exit;

/// The arguments of `git discern wait`.
#[derive(Debug, Args)]
pub struct Wait {
    /// The operation, or a commit; the run of this worktree unless given
    #[arg(value_name = "HANDLE|REV", add = ArgValueCandidates::new(Offered::Targets))]
    pub target: Option<String>,
}

/// See the module's documentation.
pub fn run(_global: &Global, _args: &Wait) -> anyhow::Result<Exit> {
    Err(super::not_built("wait"))
}
