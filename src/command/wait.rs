//! `git discern wait`: follows a running operation to its end and exits as it did.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::completions::Offered;
use super::{Global, done};
use crate::config::Config;
use crate::document::{Candidate, Diagnostic, Pending, Refusal, RunDocument};
use crate::engine::candidate::committed_config;
use crate::engine::follow::{self, Followed, Following};
use crate::engine::known;
use crate::engine::no_answer::NoAnswer;
use crate::engine::session::Session;
use crate::exit::{Exit, OutcomeWord};
use crate::os::signal::{Signal, Signals};
use crate::report::answer;
use crate::report::diagnostic::hint;
use crate::report::line::{Line, Role};
use crate::report::phrase;
use crate::report::story::retirement;

/// What its help ends with.
const EXAMPLES: &str = "\
Examples:
  git discern wait                      the run of this worktree
  git discern wait HEAD && git push     push once it is proven";

/// The arguments of `git discern wait`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Wait {
    /// The operation, or a commit; the run of this worktree unless given
    #[arg(value_name = "HANDLE|REV", add = ArgValueCandidates::new(Offered::Targets))]
    pub target: Option<String>,
}

/// Shows the other run's story as if it were this one's, and answers with its outcome.
pub fn run(global: &Global, args: &Wait) -> anyhow::Result<Exit> {
    let repository = super::here::repository()?;
    let mut session = Session::new(&repository);
    let mut reporter = global.reporter();
    let target = follow::target(&session, args.target.as_deref()).map_err(done::cause)?;
    let mut signals = Signals::install(&Signal::OWNER).ok();
    let (followed, seen) = {
        let mut following = Following::begin(&target, &mut session, &mut reporter).map_err(done::cause)?;
        let followed = following.follow(u64::MAX, signals.as_mut()).map_err(done::cause)?;
        let candidate = following.commit().and_then(|commit| following.candidate(commit));
        (followed, Seen { candidate: candidate.map(|(candidate, _)| candidate), reports: following.reports })
    };
    let document = match followed {
        Followed::Left(pending, signal) => {
            let document = left(*pending, signal.exit(), seen);
            reporter.answer(&document, goes_on);
            document
        }
        followed => {
            let document = document(followed, seen, &session).map_err(done::cause)?;
            reporter.finish(&document);
            document
        }
    };
    Ok(document.exit)
}

/// A signal ended the following, and not the run.
fn left(pending: Pending, exit: Exit, seen: Seen) -> RunDocument {
    let mut document = RunDocument::new("wait", exit);
    document.hints.push(pending.reconnect.clone());
    (document.pending, document.candidate, document.requirements) = (Some(pending), seen.candidate, seen.reports);
    document
}

fn goes_on(document: &RunDocument) -> Vec<Line> {
    let run = document.pending.as_ref().and_then(|pending| pending.operation.as_ref());
    let run = run.map_or("the run".to_owned(), ToString::to_string);
    let line = Line::new().with(Role::Caution, "left").with(Role::Plain, format!("  {run} goes on"));
    [line].into_iter().chain(document.hints.iter().map(|command| hint(command))).collect()
}

/// What was seen of a run besides its end.
struct Seen {
    candidate: Option<Candidate>,
    reports: Vec<crate::document::RequirementReport>,
}

fn document(followed: Followed, seen: Seen, session: &Session<'_>) -> Result<RunDocument, NoAnswer> {
    let mut document = match followed {
        Followed::Ended(outcome) => {
            let config = committed(seen.candidate.as_ref(), session);
            let mut document = known::as_document("wait", session, &outcome, config.as_ref())?;
            document.requirements.iter_mut().for_each(|report| known::obtained_here(report, &outcome));
            document.candidate = seen.candidate.map(|candidate| Candidate {
                branch: outcome.branch.clone(),
                worktree: outcome.worktree.clone(),
                ..candidate
            });
            document
        }
        Followed::Replaced(previous) => {
            let mut document = RunDocument::new("wait", previous.exit_status.into());
            document.candidate = seen.candidate;
            document.cancelled = (document.outcome == OutcomeWord::Cancelled).then(|| known::cancelled(&previous.by));
            document
        }
        Followed::EndedUnclaimed { exit } => RunDocument::new("wait", exit.into()),
        Followed::Abandoned { pending, reason } => {
            let mut document = RunDocument::new("wait", Exit::Pending);
            let message =
                format!("it does not go on: {}, and nobody has taken its claim over yet", retirement(reason.word()));
            document.diagnostics.push(Diagnostic::new("abandoned", message));
            (document.pending, document.candidate) = (Some(*pending), seen.candidate);
            document
        }
        Followed::Running(pending) | Followed::Left(pending, _) => {
            let mut document = RunDocument::new("wait", Exit::Pending);
            (document.pending, document.candidate) = (Some(*pending), seen.candidate);
            document
        }
        Followed::Gone => {
            let message = "its process is gone and said nothing about its end; it holds no claim";
            return Err(Refusal::new(Diagnostic::new("gone", message).fix("git discern status")).into());
        }
        Followed::Nothing => {
            let what = seen.candidate.map_or("this commit".to_owned(), |candidate| candidate.commit.short());
            let message = format!("there is nothing to wait for: no run has ever worked on {what}");
            let fix = super::here::provable(session.repository).map_or_else(|fix| fix, |()| "git discern done");
            return Err(Refusal::new(Diagnostic::new("nothing-to-wait-for", message).fix(fix)).into());
        }
    };
    if document.requirements.is_empty() {
        document.requirements = seen.reports;
    }
    // A refusal says nothing by itself; what ended the run does.
    if let (OutcomeWord::Refused, Some(cancelled)) = (document.outcome, &document.cancelled) {
        let why = answer::cancellation(cancelled, None);
        let handle = document.attempt.as_ref().and_then(|attempt| attempt.operation.as_ref());
        let handle = handle.map_or(String::new(), |handle| format!(" {handle}"));
        let on = document
            .candidate
            .as_ref()
            .map_or(String::new(), |it| format!(" on {} in {}", it.commit.short(), phrase::worktree(&it.worktree)));
        let message = format!("the run{handle}{on} was cancelled: {why}");
        document.diagnostics.push(Diagnostic::new(&cancelled.reason, message).fix("git discern status"));
    }
    Ok(document)
}

/// The configuration that counted for it, as far as it can be read here.
fn committed(candidate: Option<&Candidate>, session: &Session<'_>) -> Option<Config> {
    let head = session.repository.detached(candidate?.commit).ok()?;
    committed_config(session.repository, &head).ok()
}
