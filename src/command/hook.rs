//! `git discern hook`: the pre-push hook, beside whatever hook is there already.

use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Global, here, verify};
use crate::config;
use crate::document::{CommitStanding, Diagnostic, HookDocument, PushedCommit, Refusal};
use crate::engine::hook::push::{self, Request, Unproven};
use crate::engine::hook::{self, HookError, HookState, Installed, update};
use crate::engine::session::Session;
use crate::exit::Exit;
use crate::git::{GitError, Repository, with_causes};
use crate::id::CommitId;
use crate::os::clock::{Clock as _, SystemClock};
use crate::os::{environment, program};
use crate::report::Answer;
use crate::report::line::Line;

/// More bytes than this are not read from git: a million refs take half of it.
const LINES_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// What its help ends with.
const EXAMPLES: &str = "\
Examples:
  git discern hook install      put the pre-push hook beside what is there
  git discern hook uninstall    take it away again, every byte as it was";

/// The arguments of `git discern hook`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Hook {
    /// What to do.
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with the hook.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Put the hook in place, beside whatever is there
    Install,
    /// Take it out again and restore what was there
    Uninstall,
    /// Decide about a push; git's hook calls this with its lines on standard input
    PrePush {
        /// The remote's name.
        remote: Option<String>,
        /// The remote's URL.
        url: Option<String>,
    },
}

/// See the module's documentation.
pub fn run(global: &Global, args: &Hook) -> anyhow::Result<Exit> {
    match &args.action {
        Action::Install => {
            let repository = here::repository()?;
            answer(global, install(&repository)?, &repository)
        }
        Action::Uninstall => {
            let repository = here::repository()?;
            let done = hook::uninstall(&repository).map_err(cause)?;
            global.reporter().answer(&document(done), page);
            Ok(Exit::Success)
        }
        Action::PrePush { remote, url } => Ok(pre_push(global, remote.as_deref(), url.as_deref())),
    }
}

/// Puts the hook in place.
pub fn install(repository: &Repository) -> anyhow::Result<Installed> {
    hook::install(repository, &own_program(repository)?).map_err(cause)
}

/// Says what was done, and whether git will run it.
fn answer(global: &Global, installed: Installed, repository: &Repository) -> anyhow::Result<Exit> {
    let mut document = document(installed);
    if let HookState::NotEffective { why } = hook::effective(repository)? {
        document.diagnostics.push(Diagnostic::new("hook-not-effective", format!("no hook of ours runs here: {why}")));
        let HookDocument { file, told, diagnostics, .. } = document;
        document = HookDocument { file, told, diagnostics, ..HookDocument::new(Exit::Refused) };
    }
    let mut reporter = global.reporter();
    reporter.answer(&document, page);
    reporter.diagnostics(&document.diagnostics);
    Ok(document.exit)
}

fn document(done: Installed) -> HookDocument {
    HookDocument { file: Some(done.file.display().to_string()), told: done.told, ..HookDocument::new(Exit::Success) }
}

fn page(document: &HookDocument) -> Vec<Line> {
    document.told.iter().map(Line::text).collect()
}

/// The path that the hook names: as `PATH` finds this very program, so that an update leaves it right; else the program itself.
fn own_program(repository: &Repository) -> anyhow::Result<String> {
    let own = std::env::current_exe().and_then(|own| own.canonicalize());
    let search = environment::variable("PATH").unwrap_or_default();
    let top = repository.worktree().unwrap_or(repository.git_dir());
    let mut found = std::env::split_paths(&search).filter(|folder| folder.is_absolute()).filter_map(|folder| {
        let file = folder.join("git-discern");
        program::is_there(&file.to_string_lossy(), None, top).then_some(file)
    });
    let same = |file: &PathBuf| own.as_ref().is_ok_and(|own| file.canonicalize().is_ok_and(|file| file == *own));
    let chosen = found.find(same).or(own.ok());
    let chosen = chosen.and_then(|path| path.to_str().map(str::to_owned));
    Ok(chosen.ok_or_else(|| {
        let message = "the path of this program can't be found out, so that the hook could not name it";
        Refusal::new(Diagnostic::new("no-program", message))
    })?)
}

/// What a hook that can't be put in place or taken out comes to.
fn cause(error: HookError) -> anyhow::Error {
    let error = match error {
        HookError::Git(error) => return error.into(),
        other => other,
    };
    let (code, fix) = match &error {
        HookError::Git(_) => ("git-refused", None),
        HookError::Io { .. } => return Refusal::new(Diagnostic::new("hook-file", with_causes(&error))).into(),
        HookError::TurnedOff { .. } => ("hooks-turned-off", Some("git config --unset core.hooksPath".to_owned())),
        HookError::NoShellScript { .. } => ("hook-not-chained", None),
        HookError::Mangled { .. } => ("hook-mangled", None),
        HookError::InTheWay { .. } => ("hook-in-the-way", None),
    };
    let message = match &error {
        HookError::NoShellScript { .. } => {
            format!(
                "{error}: have it run `git discern hook pre-push \"$@\"` with its standard input, and stop when that fails"
            )
        }
        _ => error.to_string(),
    };
    let mut diagnostic = Diagnostic::new(code, message);
    diagnostic.fix = fix;
    if let HookError::InTheWay { .. } = error {
        diagnostic.advice = Some("look at what it is, and move it away".to_owned());
    }
    Refusal::new(diagnostic).into()
}

/// 0 lets the push go on, 1 stops it: also where nothing can be known.
fn pre_push(global: &Global, remote: Option<&str>, url: Option<&str>) -> Exit {
    let document = match judge(remote.unwrap_or_default(), url.unwrap_or_default()) {
        Ok(document) => document,
        Err(error) => {
            let refusal = super::refusal(&error);
            let mut document = HookDocument::new(Exit::Failed);
            document.told.push("this push is stopped, because it could not be judged".to_owned());
            document.diagnostics = refusal.diagnostics;
            document
        }
    };
    let mut reporter = global.reporter();
    reporter.tell(&crate::report::push::lines(&document, SystemClock.now().wall));
    reporter.diagnostics(&document.diagnostics);
    if global.settings.answer == Answer::Json {
        reporter.answer(&document, |_| Vec::new());
    }
    document.exit
}

fn judge(remote: &str, url: &str) -> anyhow::Result<HookDocument> {
    let updates = update::parse(&lines_of_git()?).map_err(|strange| {
        Refusal::new(Diagnostic::new("strange-line", format!("{strange}; this command is for git's pre-push hook")))
    })?;
    let repository = here::repository()?;
    repository.refs().remember(&["refs/"])?;
    let mut session = Session::reading(&repository);
    let request = Request { remote: remote.to_owned(), url: url.to_owned(), updates };
    let decided = push::decide(&mut session, &request).map_err(verify::cause)?;
    let exit = if decided.unproven.is_empty() { Exit::Success } else { Exit::Failed };
    let mut document = HookDocument { told: decided.told, ..HookDocument::new(exit) };
    if !decided.unproven.is_empty() {
        document.hints.extend(all_at_once(&repository, &decided.unproven)?);
        let pushed = decided.unproven.into_iter().map(|unproven| pushed(&repository, unproven));
        document.unproven = pushed.collect::<Result<_, GitError>>()?;
    }
    Ok(document)
}

/// The command that proves all of several commits on the way to one ref; the newest comes first.
fn all_at_once(repository: &Repository, unproven: &[Unproven]) -> Result<Option<String>, GitError> {
    let [newest, .., oldest] = unproven else { return Ok(None) };
    let one_way = !newest.refs.is_empty() && unproven.iter().all(|one| one.refs == newest.refs);
    let before = repository.objects()?.commit(oldest.report.commit)?.parents.first().copied();
    let range = |before: CommitId| format!("git discern done {}..{}", before.short(), newest.report.commit.short());
    Ok(before.filter(|_| one_way).map(range))
}

/// Everything that git wrote; from a terminal nothing, because nobody pushes there.
fn lines_of_git() -> anyhow::Result<Vec<u8>> {
    let mut lines = Vec::new();
    let input = std::io::stdin();
    if input.is_terminal() {
        return Ok(lines);
    }
    input.take(LINES_BYTES_MAX + 1).read_to_end(&mut lines)?;
    anyhow::ensure!(lines.len() as u64 <= LINES_BYTES_MAX, "git wrote more than {LINES_BYTES_MAX} bytes");
    Ok(lines)
}

/// The commit with the one command that helps: it moves nothing, wherever the commit is checked out. What failed is first
/// looked at, because proving it again only tells the failure again.
fn pushed(repository: &Repository, unproven: Unproven) -> Result<PushedCommit, GitError> {
    let commit = unproven.report.commit;
    let is_here = repository.worktree().is_ok() && repository.head_position().is_ok_and(|(_, head)| head == commit);
    let named = if is_here { String::new() } else { format!(" {}", commit.short()) };
    let tree = repository.objects()?.commit(commit)?.tree;
    let fix = match unproven.report.standing {
        // Only a commit that has a configuration can be proven.
        _ if repository.file_at(tree, config::FILE)?.is_none() => "git discern init".to_owned(),
        CommitStanding::Failed => format!("git discern show{named}"),
        _ => format!("git discern done{named}"),
    };
    Ok(PushedCommit { report: unproven.report, refs: unproven.refs, fix })
}
