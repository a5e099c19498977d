//! `git discern standards`: measures the committed standards under a claim.

use std::num::NonZeroU32;

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::arguments::{at_least_one, seconds};
use super::completions::Offered;
use super::{Global, done};
use crate::claim::record::Purpose;
use crate::document::{Diagnostic, Refusal};
use crate::engine::gate;
use crate::engine::history;
use crate::engine::pinning::{self, PinError};
use crate::engine::request::Request;
use crate::engine::requirements::Chosen;
use crate::engine::session::Session;
use crate::exit::Exit;
use crate::id::Name;
use crate::plan::Rerun;
use crate::report::standards;

/// What its help ends with.
const EXAMPLES: &str = "\
Examples:
  git discern standards               measure them all at HEAD
  git discern standards --pin         tighten the limits that improved
  git discern standards --history     their values over the last commits";

/// The arguments of `git discern standards`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Standards {
    /// The standards to measure; all unless given
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(Offered::Standards))]
    pub names: Vec<String>,
    /// Tighten the limits that improved, by editing discern.toml in place
    #[arg(long)]
    pub pin: bool,
    /// Measure again instead of reusing readings
    #[arg(long)]
    pub rerun: bool,
    /// Wait until the claim is free, for at most SECS seconds, and then go on
    #[arg(long, value_name = "SECS", num_args = 0..=1, require_equals = true, value_parser = seconds)]
    pub wait: Option<Option<u64>>,
    /// After a failure, still start whatever does not need what failed
    #[arg(short, long)]
    pub keep_going: bool,
    /// Show the values over the commits of a branch, as receipts have them; nothing is measured
    #[arg(long, conflicts_with_all = ["pin", "rerun", "wait", "keep_going"])]
    pub history: bool,
    /// The branch or commit whose history to show; HEAD unless given
    #[arg(long, value_name = "REV", requires = "history", add = ArgValueCandidates::new(Offered::Revisions))]
    pub on: Option<String>,
    /// How many commits to look at, each the first parent of the one before
    #[arg(
        long,
        value_name = "COUNT",
        requires = "history",
        default_value = "100",
        allow_negative_numbers = true,
        value_parser = at_least_one
    )]
    pub commits: NonZeroU32,
}

/// See the module's documentation.
pub fn run(global: &Global, args: &Standards) -> anyhow::Result<Exit> {
    let names: Vec<Name> = args.names.iter().map(|name| done::parse_name(name)).collect::<Result<_, _>>()?;
    if args.history {
        return show_history(global, args, &names);
    }
    let request = Request {
        purpose: Purpose::Standards,
        chosen: match (args.pin, names.is_empty()) {
            (true, _) => Chosen::ForPin(names.clone()),
            (false, true) => Chosen::All,
            (false, false) => Chosen::Named(names.clone()),
        },
        rerun: if args.rerun { Rerun::All } else { Rerun::None },
        wait: args.wait,
        keep_going: args.keep_going,
        commit: None,
        isolated: false,
    };
    if args.pin { measure_and_pin(global, &request) } else { done::carry_out(global, &request, None) }
}

/// Shows what is known of the commits of a branch.
fn show_history(global: &Global, args: &Standards, names: &[Name]) -> anyhow::Result<Exit> {
    let repository = super::here::repository()?;
    let tip = repository.resolve(args.on.as_deref().unwrap_or("HEAD"))?;
    let document = history::history(&repository, tip, names, args.commits.get() as usize).map_err(done::cause)?;
    global.reporter().answer(&document, |document| standards::history(document, global.settings.unicode));
    Ok(Exit::Success)
}

/// Measures, reusing what is known, and tightens limits if everything is green.
fn measure_and_pin(global: &Global, request: &Request) -> anyhow::Result<Exit> {
    let repository = super::here::repository()?;
    let mut session = Session::new(&repository);
    let mut reporter = global.reporter();
    let mut document = gate::run(request, &mut session, &mut reporter).map_err(done::cause)?;
    if document.ok {
        document.pinned = Some(pinning::pin(&repository, &document, request.chosen.names()).map_err(pin_error)?);
    } else if document.exit == Exit::Failed {
        let message = "no limit is pinned while a standard is red";
        document.diagnostics.push(Diagnostic::new("not-pinned", message));
    }
    reporter.finish(&document);
    Ok(document.exit)
}

/// The cause itself, for which the edge has a sentence.
fn pin_error(error: PinError) -> anyhow::Error {
    match error {
        PinError::Refused(refusal) => refusal.into(),
        PinError::Git(error) => error.into(),
        PinError::NotPinned(_) | PinError::Io { .. } => {
            Refusal::new(Diagnostic::new("not-pinned", error.to_string())).into()
        }
    }
}
