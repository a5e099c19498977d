//! `git discern recover`: retires every claim whose takeover is permitted (C22) and ends leftovers.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::Global;
use super::completions::Offered;
use crate::exit::Exit;

/// The arguments of `git discern recover`.
#[derive(Debug, Args)]
pub struct Recover {
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Remove the unreadable record of this commit, after keeping its bytes
    #[arg(long, value_name = "REV", conflicts_with = "break_lock", add = ArgValueCandidates::new(Offered::Revisions))]
    pub forget: Option<String>,
    /// Remove the lock file that a killed git left on this ref
    #[arg(long, value_name = "REF")]
    pub break_lock: Option<String>,
}

/// See the module's documentation.
pub fn run(_global: &Global, _args: &Recover) -> anyhow::Result<Exit> {
    Err(super::not_built("recover"))
}
