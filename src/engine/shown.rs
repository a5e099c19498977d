//! What `show` shows: a commit's newest outcome with the receipts that it rests on.

use super::candidate::committed_config;
use super::claims::Claims as _;
use super::evaluate;
use super::known;
use super::measure;
use super::no_answer::NoAnswer;
use super::recovery::{self, Finding, Mode};
use super::session::Session;
use super::trunk::Comparison;
use crate::claim::Record;
use crate::claim::owner::Seen;
use crate::claim::record::{Bound, Outcome};
use crate::config::Config;
use crate::document::{Candidate, Diagnostic, Pending, RequirementReport, ReusedFrom, RunDocument, Source, Standing};
use crate::evidence::{Receipt, RequirementKey, Verdict, newest};
use crate::exit::Exit;
use crate::git::Head;
use crate::id::{CommitId, Name};
use crate::ledger::{LedgerError, OutcomeEntry};

/// A commit's newest outcome.
#[derive(Debug)]
pub struct Shown {
    /// The answer of `show`.
    pub document: RunDocument,
    /// The first line of the commit's message.
    pub summary: String,
    /// The receipt behind each requirement of the document, where it is still kept.
    pub receipts: Vec<Option<Receipt>>,
}

/// What is known of a commit.
#[derive(Debug)]
pub enum Found {
    /// An outcome that decides.
    Outcome(Box<Shown>),
    /// None yet, and a run has claimed it: the answer of `show`.
    Running(Box<RunDocument>),
    /// Nothing.
    Nothing,
}

/// Looks at `commit`.
///
/// # Errors
/// The repository or the ledger can't be read.
pub fn find(commit: CommitId, session: &mut Session<'_>) -> Result<Found, NoAnswer> {
    let read = session.repository.objects()?.commit(commit)?;
    let Some(outcome) = known::newest_outcome(session, commit)? else {
        let by = session.retiring_run("show", None);
        let pending = match recovery::inspect(commit, session, &by, Mode::Look).what {
            Finding::Live { record, .. } => known::pending(&record),
            Finding::Abandoned { record, .. } => {
                Pending { reconnect: "git discern recover".to_owned(), ..known::pending(&record) }
            }
            _ => return Ok(Found::Nothing),
        };
        let (branch, worktree) = (pending.branch.clone(), pending.worktree.clone());
        let mut document = RunDocument::new("show", Exit::Pending);
        document.candidate = Some(Candidate { commit, tree: read.tree, branch, worktree });
        document.pending = Some(pending);
        return Ok(Found::Running(Box::new(document)));
    };
    let head = Head { commit, tree: read.tree, branch: None, summary: read.summary.clone() };
    let config = committed_config(session.repository, &head).ok();
    let mut document = known::as_document("show", session, &outcome, config.as_ref())?;
    document.candidate =
        Some(Candidate { commit, tree: read.tree, branch: outcome.branch.clone(), worktree: outcome.worktree.clone() });
    check(&mut document, &outcome, config.as_ref());
    let own = match session.look(&commit) {
        Seen::Record(_, record) => {
            if outcome.outcome == Outcome::Failed && record.attempt.id == outcome.attempt {
                complete_failure(&mut document, &record, config.as_ref(), session)?;
            }
            record.receipts
        }
        Seen::Absent | Seen::Unreadable(_) => Vec::new(),
    };
    document.requirements.iter_mut().for_each(|report| known::obtained_here(report, &outcome));
    if let Some(config) = config.as_ref().filter(|_| outcome.outcome == Outcome::Failed) {
        known::hold_against_limits(&mut document.requirements, config, &Comparison::default());
    }
    let mut receipts = Vec::new();
    for report in &mut document.requirements {
        let receipt = receipt_of(report, &outcome, &own, session)?;
        if let Some(receipt) = &receipt {
            complete(report, receipt, session);
        }
        receipts.push(receipt);
    }
    Ok(Found::Outcome(Box::new(Shown { document, summary: read.summary, receipts })))
}

/// A Proof counts only where it answers what the commit's own configuration demands.
fn check(document: &mut RunDocument, outcome: &OutcomeEntry, config: Option<&Config>) {
    let (Outcome::Passed, Some(proof)) = (outcome.outcome, &outcome.proof) else { return };
    let problem = match config.map(|config| proof.answers(config.digest, &known::demanded(config))) {
        Some(Ok(())) => return,
        Some(Err(why)) => why.to_string(),
        None => "this commit has no `discern.toml` that could be read".to_owned(),
    };
    (document.ok, document.exit, document.outcome) = (false, Exit::Failed, Exit::Failed.outcome());
    let message = format!("the recorded Proof does not count: {problem}");
    document.diagnostics.push(Diagnostic::new("proof-does-not-answer", message));
}

/// An outcome in the ledger names what failed. As long as its record is kept, it also says what else was demanded: what
/// passed, and what was not run. The answer has them in the record's order.
fn complete_failure(
    document: &mut RunDocument,
    record: &Record,
    config: Option<&Config>,
    session: &Session<'_>,
) -> Result<(), LedgerError> {
    let mut failed = std::mem::take(&mut document.requirements);
    for bound in &record.requirements {
        let is_it = |report: &RequirementReport| report.kind == bound.kind && report.name == bound.name;
        let report = match failed.iter().position(is_it) {
            Some(at) => failed.remove(at),
            None => of_bound(bound, record, config, session)?,
        };
        document.requirements.push(report);
    }
    document.requirements.append(&mut failed);
    Ok(())
}

/// The report of a requirement that did not fail: passed where a receipt says so, otherwise not run.
fn of_bound(
    bound: &Bound,
    record: &Record,
    config: Option<&Config>,
    session: &Session<'_>,
) -> Result<RequirementReport, LedgerError> {
    let key = RequirementKey { kind: bound.kind, name: bound.name.clone() };
    let mut report = evaluate::unrun(&key, known::command_of(config, bound.kind, &bound.name), None);
    report.subject = Some(bound.subject);
    let in_ledger = session.ledger.receipts(bound.subject)?.receipts;
    let known =
        in_ledger.iter().chain(&record.receipts).filter(|it| it.kind == bound.kind && it.subject == bound.subject);
    let Some(receipt) = newest(known.filter(|receipt| receipt.verdict == Verdict::Passed)) else { return Ok(report) };
    report.verdict = Standing::Passed;
    report.source = Some(Source::Reused);
    report.command.clone_from(&receipt.parts.command);
    report.duration_ms = Some(receipt.duration_ms);
    report.flaky = receipt.flaky;
    report.tries = receipt.tries;
    report.reading.clone_from(&receipt.reading);
    report.reused_from = Some(ReusedFrom { commit: receipt.commit, attempt: receipt.attempt, at: receipt.finished_at });
    Ok(report)
}

/// The receipt that a report rests on: the one that it names, or the newest that agrees with it.
fn receipt_of(
    report: &RequirementReport,
    outcome: &OutcomeEntry,
    own: &[Receipt],
    session: &Session<'_>,
) -> Result<Option<Receipt>, NoAnswer> {
    let Some(subject) = report.subject else { return Ok(None) };
    let attempt = report.reused_from.as_ref().map_or(outcome.attempt, |from| from.attempt);
    let in_ledger = session.ledger.receipts(subject)?.receipts;
    let mut of_its_kind: Vec<&Receipt> =
        in_ledger.iter().chain(own).filter(|it| it.kind == report.kind && it.subject == subject).collect();
    let named = of_its_kind.iter().find(|receipt| receipt.attempt == attempt).copied();
    of_its_kind.retain(|receipt| (receipt.verdict == Verdict::Passed) == (report.verdict == Standing::Passed));
    Ok(named.or_else(|| newest(of_its_kind)).cloned())
}

/// What the receipt knows and the outcome does not.
fn complete(report: &mut RequirementReport, receipt: &Receipt, session: &Session<'_>) {
    if report.command.is_empty() {
        report.command.clone_from(&receipt.parts.command);
    }
    report.log = receipt.log.as_ref().and_then(|log| super::machine::log_file(session, log));
    report.tries = receipt.tries;
    report.exit_code = receipt.exit_code;
    report.signal.clone_from(&receipt.signal);
    if receipt.verdict == Verdict::Failed {
        report.reason.clone_from(&receipt.reason);
    }
}

/// The log of `name` that counts for a commit: of the receipt behind its outcome, or of the run that is at work on it.
///
/// # Errors
/// The repository or the ledger can't be read.
pub fn log_of(name: &Name, commit: CommitId, session: &mut Session<'_>) -> Result<Log, NoAnswer> {
    let found = find(commit, session)?;
    if let Found::Outcome(shown) = &found
        && let Some(at) = shown.document.requirements.iter().position(|report| report.name == *name)
    {
        return Ok(match (&shown.document.requirements[at].log, &shown.receipts[at]) {
            (Some(path), _) => Log::At(path.clone()),
            (None, _) => Log::Gone,
        });
    }
    // A job that passed in a run that failed, or in one that is at work, is in no outcome.
    if let Seen::Record(_, record) = session.look(&commit) {
        let own = newest(record.receipts.iter().filter(|receipt| receipt.name == *name));
        if let Some(log) = own.and_then(|receipt| receipt.log.as_ref()) {
            return Ok(super::machine::log_file(session, log).map_or(Log::Gone, Log::At));
        }
        let handle = record.attempt.executor.journal.map(|journal| journal.handle);
        let running = handle.and_then(|handle| measure::latest_log(&session.journals.run_folder(&handle), name));
        if let Some(path) = running {
            return Ok(Log::At(path.to_string_lossy().into_owned()));
        }
    }
    Ok(Log::None)
}

/// Where a log is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Log {
    /// There.
    At(String),
    /// It was written, and is not kept any more.
    Gone,
    /// There never was one for this commit.
    None,
}
