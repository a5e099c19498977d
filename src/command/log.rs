//! `git discern log`: commits with proven, failed, flaky, running or none.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::Global;
use super::completions::Offered;
use crate::exit::Exit;

/// The arguments of `git discern log`.
#[derive(Debug, Args)]
pub struct Log {
    /// The commits; the history of HEAD unless given
    #[arg(value_name = "RANGE", add = ArgValueCandidates::new(Offered::Revisions))]
    pub range: Option<String>,
    /// Only commits with flaky verdicts, with how often
    #[arg(long)]
    pub flaky: bool,
}

/// See the module's documentation.
pub fn run(_global: &Global, _args: &Log) -> anyhow::Result<Exit> {
    Err(super::not_built("log"))
}
