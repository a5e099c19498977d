//! `git discern completions`: shell completions, from the one definition and from what there is in the repository.
//!
//! The script that is printed asks this binary at each `<TAB>`, so that jobs, handles and revisions are those of the place.
//! It completes `git-discern` and, where the shell completes git itself, `git discern` as well.

use std::ffi::OsString;
use std::path::Path;

use clap::{Args, CommandFactory as _, ValueEnum};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate, ValueCandidates};
use clap_complete::env::Shells;

use super::Global;
use super::arguments::Cli;
use crate::config::Config;
use crate::exit::Exit;
use crate::git::Repository;
use crate::journal::Journals;
use crate::os::clock::{Clock as _, SystemClock};
use crate::report::phrase;

/// Set by the scripts that are printed here, to the name of their shell. No name that another tool may have set.
pub const VARIABLE: &str = "DISCERN_COMPLETE";

/// At most so many revisions are offered.
const REVISIONS_MAX: usize = 500;

/// What its help ends with.
const EXAMPLES: &str = "\
Examples:
  source <(git-discern completions bash)    in ~/.bashrc
  source <(git-discern completions zsh)     in ~/.zshrc, after compinit
  git-discern completions fish > ~/.config/fish/completions/git-discern.fish";

/// The arguments of `git discern completions`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}

/// The shells that can be completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// For ~/.bashrc: source <(git-discern completions bash)
    Bash,
    /// For ~/.zshrc, after compinit: source <(git-discern completions zsh)
    Zsh,
    /// For ~/.config/fish/completions/git-discern.fish
    Fish,
}

impl Shell {
    fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }

    /// What makes `git discern <TAB>` work, where git's own completion is there.
    fn for_git(self) -> &'static str {
        match self {
            // git's completion calls this with `words` and `cword` from `git` on.
            Self::Bash => {
                "\
_git_discern() {
    local at=${__git_cmd_idx:-1}
    local -a COMP_WORDS=(git-discern \"${words[@]:at+1}\")
    local COMP_CWORD=$((cword - at))
    _clap_complete_git_discern git-discern \"${COMP_WORDS[COMP_CWORD]}\"
}
"
            }
            // zsh's calls this with `words` from `discern` on.
            Self::Zsh => "_git-discern() { _clap_dynamic_completer_git_discern }\n",
            Self::Fish => {
                "\
complete --command git --condition '__fish_seen_subcommand_from discern' --keep-order --exclusive \
--arguments '(DISCERN_COMPLETE=fish git-discern -- git-discern (commandline --current-process --tokenize --cut-at-cursor)[3..] (commandline --current-token))'
"
            }
        }
    }
}

/// Prints the script.
pub fn run(global: &Global, args: &Completions) -> anyhow::Result<Exit> {
    global.reporter().raw(&script(args.shell)?);
    Ok(Exit::Success)
}

/// The script for `shell`.
///
/// # Errors
/// It can't be generated: a fault of ours.
pub fn script(shell: Shell) -> std::io::Result<Vec<u8>> {
    let mut script = Vec::new();
    if let Some(known) = Shells::builtins().completer(shell.name()) {
        known.write_registration(VARIABLE, "git-discern", "git-discern", "git-discern", &mut script)?;
    }
    script.extend_from_slice(shell.for_git().as_bytes());
    Ok(script)
}

/// What may stand at the cursor, as `shell` wants it, for the words after `--` in `arguments`; nothing for a shell that is
/// not known.
pub fn candidates(shell: &str, arguments: &[OsString]) -> Vec<u8> {
    let mut answer = Vec::new();
    let here = std::env::current_dir().ok();
    let words: Vec<OsString> = arguments.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
    if let Some(shell) = Shells::builtins().completer(shell).filter(|_| !words.is_empty()) {
        // A completion that can't be made completes nothing; it must not write into the user's prompt.
        drop(shell.write_complete(&mut command(&words), words, here.as_deref(), &mut answer));
    }
    answer
}

/// The definition to complete by. After `done --rerun` come names alone: a revision there would be taken for one.
fn command(words: &[OsString]) -> clap::Command {
    let before = words.split_last().map_or(words, |(_, before)| before);
    let last_option = before.iter().rfind(|word| word.as_encoded_bytes().starts_with(b"-"));
    if last_option.is_none_or(|option| option != "--rerun") {
        return Cli::command();
    }
    let nothing = ArgValueCandidates::new(Vec::<CompletionCandidate>::new);
    Cli::command().mut_subcommand("done", |done| done.mut_arg("revision", |revision| revision.add(nothing)))
}

/// What can stand in a place of the command line, looked up in the repository.
#[derive(Debug, Clone, Copy)]
pub enum Offered {
    /// Jobs of the worktree's `discern.toml`.
    Jobs,
    /// Standards of the worktree's `discern.toml`.
    Standards,
    /// Both.
    Requirements,
    /// Runs whose journal is there.
    Handles,
    /// Branches, tags and remote-tracking branches.
    Revisions,
    /// Handles and revisions.
    Targets,
}

impl ValueCandidates for Offered {
    fn candidates(&self) -> Vec<CompletionCandidate> {
        let Ok(repository) = super::here::repository() else { return Vec::new() };
        match self {
            Self::Jobs => jobs(&repository),
            Self::Standards => standards(&repository),
            Self::Requirements => jobs(&repository).into_iter().chain(standards(&repository)).collect(),
            Self::Handles => handles(&repository),
            Self::Revisions => revisions(&repository),
            Self::Targets => handles(&repository).into_iter().chain(revisions(&repository)).collect(),
        }
    }
}

fn configuration(repository: &Repository) -> Option<Config> {
    let file = Path::new("discern.toml");
    let bytes = std::fs::read(repository.worktree().ok()?.join(file)).ok()?;
    Config::parse(&bytes, "discern.toml").ok()
}

fn jobs(repository: &Repository) -> Vec<CompletionCandidate> {
    let jobs = configuration(repository).map(|config| config.jobs).unwrap_or_default();
    jobs.into_iter().map(|job| CompletionCandidate::new(job.name.as_str())).collect()
}

fn standards(repository: &Repository) -> Vec<CompletionCandidate> {
    let standards = configuration(repository).map(|config| config.standards).unwrap_or_default();
    standards.into_iter().map(|standard| CompletionCandidate::new(standard.name.as_str())).collect()
}

fn handles(repository: &Repository) -> Vec<CompletionCandidate> {
    let runs = Journals::new(&repository.private_dir(), repository.sharing()).list().unwrap_or_default();
    let now = SystemClock.now().wall;
    let described = runs.into_iter().map(|run| {
        let help = format!(
            "{} in {}, {} ago",
            run.command,
            run.directory.display(),
            phrase::roughly(now.millis_since(run.started_at).max(0).unsigned_abs())
        );
        CompletionCandidate::new(run.handle.as_str()).help(Some(help.into()))
    });
    described.collect()
}

fn revisions(repository: &Repository) -> Vec<CompletionCandidate> {
    let count = format!("--count={REVISIONS_MAX}");
    let question = ["for-each-ref", &count, "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes"];
    let listed = repository.git().ask(&question).unwrap_or_default();
    let names = String::from_utf8_lossy(&listed).into_owned();
    std::iter::once("HEAD").chain(names.lines()).map(CompletionCandidate::new).collect()
}
