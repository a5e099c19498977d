//! The command line, defined once: the parser, `-h`, `--help`, the man pages and the completions all come from here.

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, CommandFactory as _, Parser};

use crate::report::{Answer, ColorWhen, Detail, Story, Wishes};

use super::{
    completions, doctor, done, explain, gc, hook, init, log, recover, run, show, standards, status, stop, verify, wait,
};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Yellow.on_default().bold())
    .usage(AnsiColor::Yellow.on_default().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Green.on_default());

const EXIT_STATUS: &str = "\
Exit status:
  0    proven, passed, verified
  1    failed: a verdict is failed, or a standard is looser than trunk's (verify: not proven)
  2    refused: usage, configuration or precondition; or the candidate changed while it ran
  3    pending: another run holds the claim or the worktree
  4    cancelled: another run retired this one
  5    the store could not be read or written
  70   an internal error
  129, 130, 143   stopped by SIGHUP, SIGINT, SIGTERM";

/// Proves commits: runs the project's own checks on the exact committed tree and records a Proof.
///
/// A commit is proven when every job and every standard that its committed `discern.toml` demands has passed on exactly
/// that tree. Verdicts are kept and reused wherever nothing that decides them has changed.
#[derive(Debug, Parser)]
#[command(
    name = "git-discern",
    bin_name = "git discern",
    version,
    styles = STYLES,
    after_long_help = EXIT_STATUS,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub struct Cli {
    /// What holds for every subcommand.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// The subcommand.
    #[command(subcommand)]
    pub command: Subcommand,
}

/// Options of every subcommand.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct GlobalArgs {
    /// Say only what went wrong
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more: reasons, commands, what goes on inside
    #[arg(short, long, global = true)]
    verbose: bool,
    /// When to use colour; `auto` respects NO_COLOR
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_default_value = true)]
    color: ColorArg,
    /// One plain line for each thing that happens, nothing redrawn, no colour
    #[arg(long, global = true)]
    plain: bool,
    /// Print exactly one JSON document on standard output
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ColorArg {
    Auto,
    Always,
    Never,
}

impl GlobalArgs {
    /// The same, as the words that `report` knows.
    pub fn wishes(&self) -> Wishes {
        Wishes {
            detail: match (self.quiet, self.verbose) {
                (true, _) => Detail::Quiet,
                (_, true) => Detail::Verbose,
                _ => Detail::Normal,
            },
            color: match self.color {
                ColorArg::Auto => ColorWhen::Auto,
                ColorArg::Always => ColorWhen::Always,
                ColorArg::Never => ColorWhen::Never,
            },
            story: self.plain.then_some(Story::Plain),
            answer: if self.json { Answer::Json } else { Answer::Text },
        }
    }
}

/// Every subcommand, in the order in which help lists them: proving, following, asking, setting up.
#[derive(Debug, clap::Subcommand)]
pub enum Subcommand {
    /// Prove HEAD: reuse what is known, run the rest, record the Proof
    Done(done::Done),
    /// Run jobs on the tree as it stands, without claim, record or Proof
    Run(run::Run),
    /// Measure the standards: numbers that may only improve
    Standards(standards::Standards),
    /// Show this commit's Proof or what is missing, and every claim in the repository
    Status(status::Status),
    /// Follow a running operation to its end, and exit as it did
    Wait(wait::Wait),
    /// Ask a running operation to cancel and to give its claim back
    Stop(stop::Stop),
    /// Retire abandoned claims and end what they left behind
    Recover(recover::Recover),
    /// Exit 0 if each commit is proven under its own configuration
    Verify(verify::Verify),
    /// Show the Proof of a commit
    Show(show::Show),
    /// List commits with proven, failed, flaky, running or none
    Log(log::Log),
    /// Show what decides a job's verdict, and what differs from the last one
    Explain(explain::Explain),
    /// The pre-push hook: let only proven commits leave
    Hook(hook::Hook),
    /// Look at the project and write a discern.toml that works
    Init(init::Init),
    /// Check configuration, commands, hooks, store and versions
    Doctor(doctor::Doctor),
    /// Drop what retention no longer keeps
    Gc(gc::Gc),
    /// Print shell completions
    Completions(completions::Completions),
}

/// Whether there is a subcommand of that name.
pub fn is_subcommand(word: &str) -> bool {
    Cli::command().find_subcommand(word).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }
}
