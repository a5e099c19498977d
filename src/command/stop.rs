//! `git discern stop`: asks a run's own loop to cancel and settle.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::completions::Offered;
use super::{Global, done, status};
use crate::claim::owner::Seen;
use crate::document::{Diagnostic, Refusal, StopDocument};
use crate::engine::claims::Claims as _;
use crate::engine::follow::{self, Followed, Following, Target};
use crate::engine::session::Session;
use crate::event::Nobody;
use crate::exit::Exit;
use crate::id::OperationHandle;
use crate::journal::Journals;
use crate::report::diagnostic::hint;
use crate::report::line::{Line, Role};

/// What its help ends with.
const EXAMPLES: &str = "\
Examples:
  git discern stop             this worktree's run";

/// The arguments of `git discern stop`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Stop {
    /// The operation; the run of this worktree unless given
    #[arg(value_name = "HANDLE", add = ArgValueCandidates::new(Offered::Handles))]
    pub handle: Option<String>,
}

/// How long the run is waited for, in milliseconds: its jobs get five seconds, its settlement two.
const SETTLE_MS: u64 = 15_000;

/// Writes the request beside the run's journal, waits until the run has settled, and says so.
pub fn run(global: &Global, args: &Stop) -> anyhow::Result<Exit> {
    let repository = super::here::repository()?;
    let mut session = Session::new(&repository);
    let handle = handle(args.handle.as_deref(), &mut session)?;
    let mut nobody = Nobody;
    let target = Target::Operation(handle.clone());
    let journals = session.journals.clone();
    let mut following = Following::begin(&target, &mut session, &mut nobody).map_err(done::cause)?;
    if following.header().is_none() {
        let message = format!("the run {handle} has no journal here, so that it can't be asked");
        return Err(Refusal::new(Diagnostic::new("no-journal", message).fix("git discern status")).into());
    }
    if let Some(pid) = journals.suspended(&handle) {
        request(&journals, &handle)?;
        return Ok(suspended(global, handle, pid));
    }
    if let Some(over) = over(following.follow(0, None).map_err(done::cause)?, &handle)? {
        let message = format!("the run {handle} had ended before, with exit status {over}");
        return Err(Refusal::new(Diagnostic::new("ended-before", message).fix("git discern status")).into());
    }
    request(&journals, &handle)?;
    let ended_with = over(following.follow(SETTLE_MS, None).map_err(done::cause)?, &handle)?;
    let exit = if ended_with.is_some() { Exit::Success } else { Exit::Pending };
    let document = StopDocument {
        schema: "discern/stop/1".to_owned(),
        ok: exit == Exit::Success,
        outcome: exit.outcome(),
        exit,
        hints: if ended_with.is_none() { vec![format!("git discern wait {handle}")] } else { Vec::new() },
        operation: handle,
        ended_with,
        diagnostics: Vec::new(),
    };
    global.reporter().answer(&document, page);
    Ok(exit)
}

fn request(journals: &Journals, handle: &OperationHandle) -> Result<(), Refusal> {
    journals.request_stop(handle).map_err(|error| {
        let message = format!("the request could not be written: {error}");
        Refusal::store(Diagnostic::new("unwritable", message).at(journals.run_folder(handle).to_string_lossy()))
    })
}

/// The answer of a run that hears nothing before it goes on: the request stays, and waiting for it would be in vain.
fn suspended(global: &Global, operation: OperationHandle, pid: u32) -> Exit {
    let exit = Exit::Pending;
    let message = format!("the run {operation} is suspended (Ctrl-Z) and stops as soon as it goes on");
    let diagnostic =
        Diagnostic::new("suspended", message).fix(status::lets_go_on(pid)).advice("`fg` in its terminal lets it go on");
    let document = StopDocument {
        schema: "discern/stop/1".to_owned(),
        ok: false,
        outcome: exit.outcome(),
        exit,
        hints: vec![status::lets_go_on(pid)],
        operation,
        ended_with: None,
        diagnostics: vec![diagnostic],
    };
    global.reporter().answer(&document, page);
    exit
}

/// The run that is meant: the one named, or this worktree's, or the one that has `HEAD`'s claim.
fn handle(text: Option<&str>, session: &mut Session<'_>) -> anyhow::Result<OperationHandle> {
    let commit = match follow::target(session, text).map_err(done::cause)? {
        Target::Operation(handle) => return Ok(handle),
        Target::Commit(commit) => commit,
    };
    let journal = match session.look(&commit) {
        Seen::Record(_, record) if !record.is_finished() => record.attempt.executor.journal,
        _ => None,
    };
    journal.map(|journal| journal.handle).ok_or_else(|| {
        let message = format!("there is nothing to stop: no run works on {} that could be asked", commit.short());
        Refusal::new(Diagnostic::new("nothing-to-stop", message).fix("git discern status")).into()
    })
}

/// The run's exit status, if it is over; nothing while it runs.
fn over(followed: Followed, handle: &OperationHandle) -> Result<Option<u8>, Refusal> {
    match followed {
        Followed::Ended(outcome) => Ok(Some(outcome.exit_status)),
        Followed::Replaced(previous) => Ok(Some(previous.exit_status)),
        Followed::EndedUnclaimed { exit } => Ok(Some(exit)),
        Followed::Running(_) | Followed::Left(..) => Ok(None),
        Followed::Abandoned { .. } => {
            let message = format!("the run {handle} does not listen: its process is gone or stands still");
            Err(Refusal::new(Diagnostic::new("abandoned", message).fix("git discern recover")))
        }
        Followed::Gone | Followed::Nothing => {
            let message = format!("there is nothing to stop: the process of {handle} is gone");
            Err(Refusal::new(Diagnostic::new("gone", message).fix("git discern status")))
        }
    }
}

/// The answer for people.
fn page(document: &StopDocument) -> Vec<Line> {
    let terminated = Exit::Terminated.code();
    let line = match document.ended_with {
        Some(status) if status == terminated => Line::new()
            .with(Role::Good, "stopped")
            .with(Role::Plain, format!("  {}: it gave its claim back", document.operation)),
        Some(status) => {
            let text = format!("  {} came to its own end first, with exit status {status}", document.operation);
            Line::new().with(Role::Caution, "ended").with(Role::Plain, text)
        }
        None if !document.diagnostics.is_empty() => {
            let text = format!(
                "  {} is suspended (Ctrl-Z) and stops as soon as it goes on: `fg` in its terminal, or",
                document.operation
            );
            Line::new().with(Role::Caution, "asked").with(Role::Plain, text)
        }
        None => {
            let text =
                format!("  {} was asked and has not settled yet, after {} s", document.operation, SETTLE_MS / 1000);
            Line::new().with(Role::Caution, "asked").with(Role::Plain, text)
        }
    };
    [line].into_iter().chain(document.hints.iter().map(|command| hint(command))).collect()
}
