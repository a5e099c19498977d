//! What is known of a commit before anything runs: its newest `done` outcome, and who has its claim.

use super::claims::Claims as _;
use super::evaluate;
use super::machine::log_file;
use super::no_answer::{NoAnswer, unreadable};
use super::session::Session;
use super::trunk::{self, Comparison};
use crate::claim::Record;
use crate::claim::owner::Seen;
use crate::claim::record::{Bound, EndedBy, Outcome, OwnReason};
use crate::config::{Config, Measure};
use crate::document::{
    AttemptSummary, Cancelled, Pending, RequirementReport, ReusedFrom, RunDocument, Source, Standing,
};
use crate::evidence::{Proof, ProofRequirement, Receipt, RequirementKey, RequirementKind, Verdict, flaky, newest};
use crate::exit::Exit;
use crate::id::{CommitId, Name};
use crate::ledger::{LedgerError, OutcomeEntry};
use crate::standard::Limit;

/// The newest passed or failed `done` outcome of a commit, in its record or in the ledger: the one that decides everywhere.
///
/// # Errors
/// The ledger can't be read. A record that can't be read is refused: it may hold the newest outcome (C27).
pub fn newest_outcome(session: &mut Session<'_>, commit: CommitId) -> Result<Option<OutcomeEntry>, NoAnswer> {
    let in_record = match session.look(&commit) {
        Seen::Record(_, record) => OutcomeEntry::from_record(&record).filter(OutcomeEntry::decides),
        Seen::Absent => None,
        Seen::Unreadable(why) => return Err(unreadable(commit, &why).into()),
    };
    let in_ledger = session.ledger.newest_done_outcome(commit)?;
    Ok([in_record, in_ledger].into_iter().flatten().max_by_key(|outcome| outcome.generation))
}

/// The requirements that a Proof of a commit must answer.
pub fn demanded(config: &Config) -> Vec<RequirementKey> {
    let jobs = config.jobs.iter().map(|job| RequirementKey::job(job.name.clone()));
    let standards = config.standards.iter().filter(|standard| standard.measure == Measure::Gate);
    jobs.chain(standards.map(|standard| RequirementKey::standard(standard.name.clone()))).collect()
}

/// The answer that a commit's newest outcome gives by itself: its Proof, or its failure where every failed verdict may be
/// given again; nothing where a run is needed.
///
/// `comparison` compares with trunk, and is asked only to say how far a reading missed its limits. A failure needs no trunk
/// to stand: the limit that counts is the commit's own, because what is looser than trunk is never measured.
///
/// # Errors
/// The ledger or the repository can't be read.
pub fn answer(
    session: &mut Session<'_>,
    commit: CommitId,
    config: &Config,
    comparison: &dyn Fn() -> Result<Comparison, NoAnswer>,
) -> Result<Option<RunDocument>, NoAnswer> {
    let Some(outcome) = newest_outcome(session, commit)? else { return Ok(None) };
    let counts = match (outcome.outcome, &outcome.proof) {
        (Outcome::Passed, Some(proof)) => {
            proof.commit == commit
                && proof.answers(config.digest, &demanded(config)).is_ok()
                && trunk::misplaced(session.repository, proof)?.is_none()
        }
        (Outcome::Failed, _) => {
            !outcome.failed.is_empty() && outcome.failed.iter().all(|failed| failed.may_be_replayed)
        }
        _ => false,
    };
    if !counts {
        return Ok(None);
    }
    let mut document = as_document("done", session, &outcome, Some(config))?;
    if let Some(proof) = &outcome.proof {
        document.requirements.iter_mut().zip(&proof.requirements).for_each(|(report, of)| was_known(report, proof, of));
    }
    let measured = document.requirements.iter().any(|report| report.reading.is_some());
    if outcome.outcome == Outcome::Failed && measured {
        hold_against_limits(&mut document.requirements, config, &comparison()?);
    }
    Ok(Some(document))
}

/// What a finished attempt amounts to, as the answer of `command`. Commands that no receipt names, and how far a reading missed
/// its own limit, are taken from `config`.
///
/// # Errors
/// The ledger can't be read.
pub fn as_document(
    command: &str,
    session: &Session<'_>,
    outcome: &OutcomeEntry,
    config: Option<&Config>,
) -> Result<RunDocument, LedgerError> {
    let mut document = RunDocument::new(command, Exit::from(outcome.exit_status));
    match (outcome.outcome, &outcome.proof) {
        (Outcome::Passed, Some(proof)) => {
            document.requirements = proof.requirements.iter().map(|it| proven(config, it)).collect();
            document.proof = Some(proof.clone());
        }
        (Outcome::Passed, None) | (Outcome::Failed, _) => {
            document.requirements = checked(config, session, outcome)?;
            if let Some(config) = config {
                hold_against_limits(&mut document.requirements, config, &Comparison::default());
            }
        }
        (Outcome::Cancelled, _) => document.cancelled = Some(cancelled(&outcome.by)),
    }
    document.attempt = Some(summary(outcome));
    Ok(document)
}

/// What ended an attempt before its time, as documents name it.
pub fn cancelled(by: &EndedBy) -> Cancelled {
    match by {
        EndedBy::Owner { reason } => {
            let reason = reason.map_or("replaced", OwnReason::word).to_owned();
            Cancelled { by: None, operation: None, worktree: None, reason }
        }
        EndedBy::Run { run, reason } => Cancelled {
            by: run.attempt,
            operation: run.operation.clone(),
            worktree: Some(run.worktree.clone()),
            reason: reason.word().to_owned(),
        },
    }
}

/// Says how each reading stands against the limits.
pub fn hold_against_limits(reports: &mut [RequirementReport], config: &Config, comparison: &Comparison) {
    for report in reports.iter_mut().filter(|report| report.kind == RequirementKind::Standard) {
        if let Some(standard) = config.standard(&report.name) {
            let limit = Limit::of(standard, comparison.limits.get(&report.name));
            evaluate::hold_against(report, &limit);
        }
    }
}

/// The attempt that an outcome ended.
pub fn summary(outcome: &OutcomeEntry) -> AttemptSummary {
    AttemptSummary {
        id: outcome.attempt,
        generation: outcome.generation,
        operation: None,
        started_at: outcome.started_at,
        finished_at: Some(outcome.finished_at),
    }
}

/// To whoever looks at an outcome, what its own attempt obtained ran; only what came from elsewhere was reused.
pub fn obtained_here(report: &mut RequirementReport, outcome: &OutcomeEntry) {
    if report.reused_from.as_ref().is_some_and(|from| from.attempt == outcome.attempt) {
        report.source = Some(Source::Ran);
        report.reused_from = None;
    }
}

/// The command that `config` has for a requirement; empty where it has none.
pub fn command_of(config: Option<&Config>, kind: RequirementKind, name: &Name) -> String {
    let command = config.and_then(|config| match kind {
        RequirementKind::Job => config.job(name).map(|job| job.run.to_string()),
        RequirementKind::Standard => config.standard(name).map(|standard| standard.source.to_string()),
    });
    command.unwrap_or_default()
}

/// To whoever asks again, everything in a Proof was known before.
fn was_known(report: &mut RequirementReport, proof: &Proof, requirement: &ProofRequirement) {
    report.source = Some(Source::Reused);
    report.reused_from = Some(ReusedFrom {
        commit: requirement.obtained_on,
        attempt: if requirement.reused { requirement.attempt } else { proof.attempt },
        at: requirement.obtained_at,
    });
}

/// The report of one requirement of a Proof, as its own run saw it.
fn proven(config: Option<&Config>, requirement: &ProofRequirement) -> RequirementReport {
    RequirementReport {
        kind: requirement.kind,
        name: requirement.name.clone(),
        verdict: Standing::Passed,
        source: Some(if requirement.reused { Source::Reused } else { Source::Ran }),
        duration_ms: Some(requirement.duration_ms),
        reason: None,
        command: command_of(config, requirement.kind, &requirement.name),
        log: None,
        flaky: requirement.flaky,
        subject: Some(requirement.subject),
        reused_from: requirement.reused.then_some(ReusedFrom {
            commit: requirement.obtained_on,
            attempt: requirement.attempt,
            at: requirement.obtained_at,
        }),
        exit_code: Some(0),
        signal: None,
        tries: 1,
        value: requirement.reading.as_ref().map(|reading| reading.value.clone()),
        limit: requirement.limit.clone(),
        trunk_limit: requirement.trunk_limit.clone(),
        distance: requirement.distance.clone(),
        reading: requirement.reading.clone(),
    }
}

/// The reports of what an attempt without a Proof was to check: what failed, and what is known of the rest.
fn checked(
    config: Option<&Config>,
    session: &Session<'_>,
    outcome: &OutcomeEntry,
) -> Result<Vec<RequirementReport>, LedgerError> {
    let failed = |bound: &Bound| {
        outcome.failed.iter().any(|it| (it.kind, &it.name, it.subject) == (bound.kind, &bound.name, bound.subject))
    };
    let all = outcome.bound();
    all.iter()
        .map(|bound| {
            let found = session.ledger.receipts(bound.subject)?;
            let of_kind = || found.receipts.iter().filter(|receipt| receipt.kind == bound.kind);
            let receipt = newest(of_kind());
            let standing = match receipt {
                _ if failed(bound) => Standing::Failed,
                Some(receipt) if receipt.verdict == Verdict::Passed => Standing::Passed,
                _ => Standing::Unrun,
            };
            let mut report = of_bound(session, bound, standing, receipt.filter(|_| standing != Standing::Unrun));
            if report.command.is_empty() {
                report.command = command_of(config, bound.kind, &bound.name);
            }
            report.flaky |= flaky(of_kind());
            Ok(report)
        })
        .collect()
}

fn of_bound(session: &Session<'_>, bound: &Bound, verdict: Standing, receipt: Option<&Receipt>) -> RequirementReport {
    let key = RequirementKey { kind: bound.kind, name: bound.name.clone() };
    let mut report = evaluate::unrun(&key, String::new(), None);
    report.verdict = verdict;
    report.source = (verdict != Standing::Unrun).then_some(Source::Reused);
    report.subject = Some(bound.subject);
    let Some(receipt) = receipt else { return report };
    report.command.clone_from(&receipt.parts.command);
    report.duration_ms = Some(receipt.duration_ms);
    report.reason.clone_from(&receipt.reason);
    report.log = receipt.log.as_ref().and_then(|log| log_file(session, log));
    report.flaky = receipt.flaky;
    report.exit_code = receipt.exit_code;
    report.signal.clone_from(&receipt.signal);
    report.tries = receipt.tries;
    report.reading.clone_from(&receipt.reading);
    let (commit, attempt, at) = (receipt.commit, receipt.attempt, receipt.finished_at);
    report.reused_from = Some(ReusedFrom { commit, attempt, at });
    report
}

/// Who holds a claim, as a pending answer names it (C26).
pub fn pending(record: &Record) -> Pending {
    let executor = &record.attempt.executor;
    let operation = executor.journal.as_ref().map(|journal| journal.handle.clone());
    let followed = operation.as_ref().map_or_else(|| record.attempt.commit.to_string(), ToString::to_string);
    Pending {
        attempt: Some(record.attempt.id),
        operation,
        worktree: executor.worktree.clone(),
        branch: executor.branch.clone(),
        since: Some(executor.started_at),
        lease_expires_at: record.state.claim().map(|claim| claim.lease.expiry_for_report()),
        checkouts: None,
        reconnect: format!("git discern wait {followed}"),
    }
}
