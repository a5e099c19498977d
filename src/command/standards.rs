//! `git discern standards`: measures the committed standards under a claim.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::completions::Offered;
use super::{Global, done};
use crate::claim::record::Purpose;
use crate::engine::gate::Request;
use crate::engine::requirements::Chosen;
use crate::exit::Exit;
use crate::id::Name;
use crate::plan::Rerun;

/// The arguments of `git discern standards`.
#[derive(Debug, Args)]
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
    #[arg(long, value_name = "SECS", num_args = 0..=1, require_equals = true)]
    pub wait: Option<Option<u64>>,
    /// After a failure, still start whatever does not need what failed
    #[arg(short, long)]
    pub keep_going: bool,
}

/// See the module's documentation.
pub fn run(global: &Global, args: &Standards) -> anyhow::Result<Exit> {
    if args.pin {
        return Err(super::not_built("standards --pin"));
    }
    let names: Vec<Name> = args.names.iter().map(|name| done::parse_name(name)).collect::<Result<_, _>>()?;
    let request = Request {
        purpose: Purpose::Standards,
        chosen: if names.is_empty() { Chosen::All } else { Chosen::Named(names) },
        rerun: if args.rerun { Rerun::All } else { Rerun::None },
        wait: args.wait,
        keep_going: args.keep_going,
    };
    done::carry_out(global, &request)
}
