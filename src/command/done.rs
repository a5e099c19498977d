//! `git discern done`: proves a commit.

use clap::Args;

use super::Global;
use crate::exit::Exit;

/// The arguments of `git discern done`.
#[derive(Debug, Args)]
pub struct Done {
    /// The commit to prove; HEAD unless given
    #[arg(value_name = "REV|RANGE")]
    pub revision: Option<String>,
    /// Run again instead of reusing verdicts: everything, or the jobs named
    #[arg(long, value_name = "JOB", num_args = 0..)]
    pub rerun: Option<Vec<String>>,
    /// Wait until the claim is free, for at most SECS seconds, and then go on
    #[arg(long, value_name = "SECS", num_args = 0..=1, require_equals = true)]
    pub wait: Option<Option<u64>>,
    /// After a failure, still start whatever does not need what failed
    #[arg(short, long)]
    pub keep_going: bool,
}

/// See the module's documentation.
pub fn run(_global: &Global, _args: &Done) -> anyhow::Result<Exit> {
    Err(super::not_built("done"))
}
