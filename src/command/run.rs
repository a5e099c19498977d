//! `git discern run`: runs jobs on the tree as it stands, the inner loop.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::completions::Offered;
use super::{Global, done};
use crate::engine::inner_loop::{self, Request};
use crate::engine::session::Session;
use crate::exit::Exit;
use crate::plan::AfterFailure;

/// What its help ends with.
const EXAMPLES: &str = "\
Examples:
  git discern run              every job, on the tree as it stands
  git discern run test lint    these, and what they need";

/// The arguments of `git discern run`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Run {
    /// The jobs to run, with what they need; all unless given
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(Offered::Jobs))]
    pub names: Vec<String>,
    /// After a failure, still start whatever does not need what failed
    #[arg(short, long)]
    pub keep_going: bool,
}

/// Runs the jobs under the worktree's own configuration, committed or not.
pub fn run(global: &Global, args: &Run) -> anyhow::Result<Exit> {
    let repository = super::here::repository()?;
    let mut session = Session::new(&repository);
    let mut reporter = global.reporter();
    let names = args.names.iter().map(|name| done::parse_name(name)).collect::<Result<_, _>>()?;
    let after_failure = if args.keep_going { AfterFailure::KeepGoing } else { AfterFailure::StartNothing };
    let request = Request { names, after_failure };
    let document = inner_loop::run(&request, &mut session, &mut reporter).map_err(done::cause)?;
    reporter.finish(&document);
    Ok(document.exit)
}
