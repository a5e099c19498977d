//! `git discern explain`: the parts of a job's subject, and what differs from the nearest receipt.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::Global;
use super::completions::Offered;
use crate::exit::Exit;

/// The arguments of `git discern explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// The job or standard
    #[arg(value_name = "JOB", add = ArgValueCandidates::new(Offered::Requirements))]
    pub name: String,
    /// The commit; HEAD unless given
    #[arg(value_name = "REV", add = ArgValueCandidates::new(Offered::Revisions))]
    pub revision: Option<String>,
}

/// See the module's documentation.
pub fn run(_global: &Global, _args: &Explain) -> anyhow::Result<Exit> {
    Err(super::not_built("explain"))
}
