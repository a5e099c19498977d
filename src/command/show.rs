//! `git discern show`: the Proof of a commit as a page.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::Global;
use super::completions::Offered;
use crate::exit::Exit;

/// The arguments of `git discern show`.
#[derive(Debug, Args)]
pub struct Show {
    /// The commit; HEAD unless given
    #[arg(value_name = "REV", add = ArgValueCandidates::new(Offered::Revisions))]
    pub revision: Option<String>,
    /// Print the log of this job
    #[arg(long, value_name = "JOB", add = ArgValueCandidates::new(Offered::Requirements))]
    pub log: Option<String>,
}

/// See the module's documentation.
pub fn run(_global: &Global, _args: &Show) -> anyhow::Result<Exit> {
    Err(super::not_built("show"))
}
