//! `git discern completions`: shell completions, generated from the one definition.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::Global;
use super::arguments::Cli;
use crate::exit::Exit;

/// The arguments of `git discern completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}

/// Prints the script.
pub fn run(global: &Global, args: &Completions) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "git-discern", &mut script);
    global.reporter().raw(&script);
    Ok(Exit::Success)
}
