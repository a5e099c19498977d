//! `git discern show`: the Proof of a commit as a page.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::completions::Offered;
use super::{Global, done};
use crate::document::{Diagnostic, Refusal};
use crate::engine::forecast;
use crate::engine::history::history;
use crate::engine::log;
use crate::engine::session::Session;
use crate::engine::shown::{self, Found, Log, Shown};
use crate::exit::Exit;
use crate::id::{CommitId, Name};
use crate::report::html::{self, Besides};
use crate::report::line::{Line, Role};
use crate::report::{Answer, Reporter, show};
use crate::time::Timestamp;

/// What its help ends with.
const EXAMPLES: &str = "\
Examples:
  git discern show                     the Proof of HEAD, or why there is none
  git discern show --log test          all that `test` printed
  git discern show --html page.html    a page for a browser";

/// The arguments of `git discern show`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Show {
    /// The commit; HEAD unless given
    #[arg(value_name = "REV", add = ArgValueCandidates::new(Offered::Revisions))]
    pub revision: Option<String>,
    /// Print the log of this job
    #[arg(long, value_name = "JOB", conflicts_with = "html", add = ArgValueCandidates::new(Offered::Requirements))]
    pub log: Option<String>,
    /// Write one self-contained page to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Lines of a failed job's log on the page.
const LOG_LINES_MAX: usize = 200;

/// Commits whose standards' values are drawn on the page.
const HISTORY_COMMITS_MAX: usize = 60;

/// So much of a log is in memory at a time, in bytes.
const PIECE_BYTES: usize = 64 * 1024;

/// Looks the commit's newest outcome up, and shows it.
pub fn run(global: &Global, args: &Show) -> anyhow::Result<Exit> {
    let repository = super::here::repository()?;
    let commit = super::here::commit(&repository, args.revision.as_deref().unwrap_or("HEAD"), |meant| {
        format!("git discern show --log {}", meant.name)
    })?;
    let mut session = Session::reading(&repository);
    let mut reporter = global.reporter();
    if let Some(name) = &args.log {
        if global.settings.answer == Answer::Json {
            let message = "`--log` prints the log itself, which is no JSON document; `show --json` names its file";
            return Err(Refusal::new(Diagnostic::new("usage", message).fix("git discern show --json")).into());
        }
        return log(&done::parse_name(name)?, commit, prove(args), &mut session, &mut reporter);
    }
    let shown = match shown::find(commit, &mut session).map_err(done::cause)? {
        Found::Outcome(shown) => *shown,
        Found::Running(document) => {
            reporter.finish(&document);
            return Ok(Exit::Pending);
        }
        Found::Nothing => {
            let message = format!("no run has decided about {} yet", commit.short());
            let fix = super::here::provable(&repository).map_or_else(str::to_owned, |()| prove(args));
            return Err(Refusal::new(Diagnostic::new("nothing-known", message).fix(fix)).into());
        }
    };
    if let Some(path) = &args.html {
        let page = html::page(&shown.document, &besides(&shown, &session));
        std::fs::write(path, page).map_err(|error| {
            let lacks = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
            let why = match lacks {
                Some(folder) => format!("there is no folder `{}`", folder.display()),
                None => error.to_string(),
            };
            Refusal::new(Diagnostic::new("unwritable", format!("could not write `{}`: {why}", path.display())))
        })?;
        reporter.tell(&[Line::new().with(Role::Good, "wrote").with(Role::Plain, format!("  {}", path.display()))]);
    }
    answer(&shown, session.now().wall, global, &mut reporter);
    Ok(shown.document.exit)
}

/// The command that would decide about the commit that was asked about.
fn prove(args: &Show) -> String {
    args.revision.as_ref().map_or("git discern done".to_owned(), |revision| format!("git discern done {revision}"))
}

/// A Proof is a page; a failure is told as `done` tells it.
fn answer(shown: &Shown, now: Timestamp, global: &Global, reporter: &mut Reporter) {
    let document = &shown.document;
    if document.proof.is_some() && global.settings.answer == Answer::Text {
        reporter.diagnostics(&document.diagnostics);
        reporter.answer(document, |document| show::page(document, &shown.summary, now));
    } else {
        reporter.finish(document);
    }
}

/// Prints a log as it is, whatever its size.
fn log(
    name: &Name,
    commit: CommitId,
    prove: String,
    session: &mut Session<'_>,
    reporter: &mut Reporter,
) -> anyhow::Result<Exit> {
    let path = match shown::log_of(name, commit, session).map_err(done::cause)? {
        Log::At(path) => path,
        Log::Gone => {
            let message = format!("the log of `{name}` is no longer kept: logs stay seven days");
            let again = format!("{prove} --rerun");
            return Err(Refusal::new(Diagnostic::new("log-gone", message).fix(again)).into());
        }
        Log::None => {
            forecast::declaring(name, commit, session).map_err(done::cause)?;
            let message = format!("`{name}` has no log for {}", commit.short());
            return Err(Refusal::new(Diagnostic::new("no-log", message).fix(prove)).into());
        }
    };
    let unreadable =
        |error: std::io::Error| Refusal::store(Diagnostic::new("log-unreadable", error.to_string()).at(&path));
    let mut file = File::open(&path).map_err(unreadable)?;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match file.read(&mut piece).map_err(unreadable)? {
            0 => return Ok(Exit::Success),
            read => reporter.raw(&piece[..read]),
        }
    }
}

/// What the page shows besides the document.
fn besides(shown: &Shown, session: &Session<'_>) -> Besides {
    let reports = &shown.document.requirements;
    let standards: Vec<Name> =
        reports.iter().filter(|report| report.value.is_some()).map(|report| report.name.clone()).collect();
    let tip = shown.document.candidate.as_ref().map(|candidate| candidate.commit);
    let histories = tip
        .filter(|_| !standards.is_empty())
        .and_then(|tip| history(session.repository, tip, &standards, HISTORY_COMMITS_MAX).ok());
    let log = |path: &String| log::last_lines(Path::new(path), LOG_LINES_MAX).ok();
    Besides {
        summary: shown.summary.clone(),
        finished_at: shown.receipts.iter().map(|it| it.as_ref().map(|receipt| receipt.finished_at)).collect(),
        logs: reports.iter().map(|report| report.log.as_ref().and_then(log)).collect(),
        histories: histories.map(|history| history.standards).unwrap_or_default(),
    }
}
