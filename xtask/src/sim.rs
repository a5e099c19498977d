//! `cargo xtask sim`: the real loop on simulated machines, seed after seed.

use clap::Args;

use crate::{model, process};

/// Its arguments.
#[derive(Debug, Args)]
pub(crate) struct Sim {
    /// The first seed; a failure names the one to repeat
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// How many seeds [default: as many as fit into the time]
    #[arg(long)]
    pub(crate) seeds: Option<u64>,
    /// For how long [default: until --seeds are done, or a minute]
    #[arg(long)]
    pub(crate) seconds: Option<u64>,
}

/// Runs it.
pub(crate) fn run(args: &Sim) -> anyhow::Result<()> {
    let seconds = args.seconds.unwrap_or(if args.seeds.is_some() { u64::MAX } else { 60 });
    let words = [&model::OPTIMISED[..], &["--", "sim::for_as_long", "--nocapture"]].concat();
    let mut command = process::command(words[0]);
    command.args(&words[1..]).env("DISCERN_SIM_SEED", args.seed.to_string());
    command.env("DISCERN_SIM_SECONDS", seconds.to_string());
    command.env("DISCERN_SIM_SEEDS", args.seeds.unwrap_or(u64::MAX).to_string());
    anyhow::ensure!(command.status()?.success(), "the simulation failed");
    Ok(())
}
