//! The command line, defined once: the parser, `-h`, `--help`, the man pages and the completions all come from here.

use std::ffi::OsString;
use std::num::NonZeroU32;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser};

use crate::report::{Answer, ColorWhen, Detail, Story, Wishes};

use super::{
    completions, doctor, done, explain, gc, hook, init, log, manual, recover, run, show, standards, status, stop,
    verify, wait,
};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Yellow.on_default().bold())
    .usage(AnsiColor::Yellow.on_default().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Green.on_default());

/// What `--help` and each manual page say of the exit status.
pub const EXIT_STATUS: &str = "\
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

/// A number of seconds, as given on the command line.
///
/// # Errors
/// It is none; what was expected.
pub fn seconds(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected a whole number of seconds".to_owned())
}

/// A number of which there has to be one, as given on the command line.
///
/// # Errors
/// It is none; what was expected.
pub fn at_least_one(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| format!("expected a whole number from 1 to {}", u32::MAX))
}

/// Every subcommand, in the order in which help lists them: proving, following, asking, setting up.
#[derive(Debug, clap::Subcommand)]
pub enum Subcommand {
    /// Prove HEAD: reuse what is known, run the rest, record the Proof
    ///
    /// The candidate is the commit, not the worktree: uncommitted changes are refused, for they would be tested and not
    /// proven. Jobs whose inputs did not change since they last passed are not run again. One commit has one run at a time: a
    /// second one is told who has it (exit status 3) and can follow it.
    Done(done::Done),
    /// Run jobs on the tree as it stands, without claim, record or Proof
    ///
    /// For the time between two commits: nothing has to be committed and nothing is recorded, so nothing is reused, either.
    Run(run::Run),
    /// Measure the standards: numbers that may only improve
    ///
    /// Readings that are known are reused. A standard that is looser than trunk's fails before anything runs.
    Standards(standards::Standards),
    /// Show this commit's Proof or what is missing, and every claim in the repository
    ///
    /// It writes nothing and runs nothing of the project. Every run of every worktree is listed with its progress and what
    /// it may still take, as far as earlier runs tell; what was abandoned stands there with the command that takes it over.
    Status(status::Status),
    /// Follow a running operation to its end, and exit as it did
    ///
    /// Its story is shown as if it were one's own, from any terminal, worktree or container that shares the repository.
    /// Ctrl-C ends the following, not the run.
    Wait(wait::Wait),
    /// Ask a running operation to cancel and to give its claim back
    ///
    /// The run itself ends its jobs and settles; this waits until it has.
    Stop(stop::Stop),
    /// Retire abandoned claims and end what they left behind
    ///
    /// Only what is provably over is touched: a claim whose run is gone or whose lease lapsed, processes that it left, locks
    /// whose writer is dead. Whatever can't be decided by itself is named with the option that decides it.
    Recover(recover::Recover),
    /// Exit 0 if each commit is proven under its own configuration
    ///
    /// It looks and executes nothing: for hooks, for CI, for scripts. Exit status 1 if any of them is not proven.
    Verify(verify::Verify),
    /// Show the Proof of a commit
    ///
    /// Of a commit that failed: what failed, with the end of its log, and what passed beside it. It exits as the run did that
    /// is shown.
    Show(show::Show),
    /// List commits with proven, failed, flaky, running or none
    Log(log::Log),
    /// Show what decides a job's verdict, and what differs from the last one
    ///
    /// It executes nothing: where a toolchain command's output is part of what decides, the one that was recorded last is
    /// taken, and said.
    Explain(explain::Explain),
    /// The pre-push hook: let only proven commits leave
    ///
    /// Which remote branches ask for Proofs stands in `[push]` of trunk's `discern.toml`. `git push --no-verify` is the way
    /// past it.
    Hook(hook::Hook),
    /// Look at the project and write a discern.toml that works
    ///
    /// What was guessed is said, and a file that is there is never overwritten.
    Init(init::Init),
    /// Check configuration, commands, hooks, store and versions
    ///
    /// Each finding stands with its remedy. Exit status 2 if anything is broken.
    Doctor(doctor::Doctor),
    /// Drop what retention no longer keeps
    ///
    /// Runs do that by themselves, now and then. Logs stay seven days, receipts and outcomes thirty, and as long as the Proof
    /// of a reachable commit needs them.
    Gc(gc::Gc),
    /// Print shell completions
    ///
    /// Job names, handles and revisions are those of the place where TAB is pressed; where the shell completes git, `git
    /// discern` is completed, too.
    Completions(completions::Completions),
    /// Put the manual pages where `man` and `git help` find them
    ///
    /// A package does that for its users; this is for whoever built the binary. `man` looks beside each folder of PATH, so the
    /// pages go to `../share/man` as seen from this binary, unless another folder is given.
    Manual(manual::Manual),
}

/// One subcommand with the options of every command, and nothing of the others.
#[derive(Debug, Parser)]
struct Alone<T: Args> {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(flatten)]
    args: T,
}

/// The words that name a subcommand, and how a command line that begins with one is parsed without building the rest.
macro_rules! subcommands {
    ($($word:literal => $variant:ident),* $(,)?) => {
        /// The subcommands by name.
        const WORDS: &[&str] = &[$($word),*];

        fn alone(word: &str, arguments: &[OsString]) -> Option<Cli> {
            match word {
                $($word => Alone::try_parse_from(arguments)
                    .map(|Alone { global, args }| Cli { global, command: Subcommand::$variant(args) })
                    .ok(),)*
                _ => None,
            }
        }
    };
}

subcommands! {
    "done" => Done,
    "run" => Run,
    "standards" => Standards,
    "status" => Status,
    "wait" => Wait,
    "stop" => Stop,
    "recover" => Recover,
    "verify" => Verify,
    "show" => Show,
    "log" => Log,
    "explain" => Explain,
    "hook" => Hook,
    "init" => Init,
    "doctor" => Doctor,
    "gc" => Gc,
    "completions" => Completions,
    "manual" => Manual,
}

/// Whether there is a subcommand of that name.
pub fn is_subcommand(word: &str) -> bool {
    WORDS.contains(&word)
}

/// The command that `arguments` (with the program's name first) ask for.
///
/// A command line that begins with its subcommand and is in order, as nearly all are, is parsed against that subcommand
/// alone: building the definition of all the others would take longer than the shortest commands have. Anything else gets
/// its answer from the whole definition.
///
/// # Errors
/// Help was asked for, or the arguments make no command.
pub fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let word = arguments.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    match alone(word, arguments.get(1..).unwrap_or_default()) {
        Some(cli) => Ok(cli),
        None => Cli::try_parse_from(arguments),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_subcommand_is_known_by_name() {
        let defined = Cli::command();
        let names: Vec<&str> = defined.get_subcommands().map(clap::Command::get_name).collect();
        assert_eq!(names, WORDS);
    }

    #[test]
    fn the_quick_way_and_the_whole_definition_agree() {
        let lines = [
            "done",
            "done --json -v",
            "done HEAD~1 --rerun lint test -k",
            "done --rerun -- main..topic",
            "done --wait=30 --plain",
            "run a b --color never",
            "standards --pin coverage",
            "wait R1-7000-0000-0E",
            "recover --forget HEAD",
            "hook pre-push origin url",
            "completions bash",
            "done --no-such",
            "done --wait=soon",
            "done -q -v",
            "done -h",
            "recover --forget HEAD --break-lock x",
            "--json done",
            "hook",
            "dome",
            "",
        ];
        for line in lines {
            let words = std::iter::once("git-discern").chain(line.split_whitespace());
            let arguments: Vec<OsString> = words.map(OsString::from).collect();
            let said = |answer: Result<Cli, clap::Error>| match answer {
                Ok(cli) => format!("{cli:?}"),
                Err(error) => error.to_string(),
            };
            assert_eq!(said(parse(&arguments)), said(Cli::try_parse_from(&arguments)), "{line}");
        }
    }
}
