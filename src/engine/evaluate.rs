//! From the end of an execution to receipts, and from receipts to what is reported.

use std::collections::{BTreeMap, BTreeSet};

use super::prepare;
use super::requirements::Detailed;
use super::run::Evaluate;
use super::stage::{ExecutionEnd, ExecutionHow};
use crate::document::{RequirementReport, ReusedFrom, Source, Standing};
use crate::event::What;
use crate::evidence::subject::Salt;
use crate::evidence::{Failure, LogRef, Place, Receipt, RequirementKey, RequirementKind, Verdict};
use crate::id::{AttemptId, CommitId, Name, OperationHandle, Subject};
use crate::plan::{Decision, Ended, PlanItem};
use crate::standard::{Decimal, Limit};
use crate::time::Timestamp;

/// Makes receipts for one attempt.
pub struct Evaluator<'e> {
    /// Every requirement that may run.
    pub details: &'e BTreeMap<RequirementKey, Detailed>,
    /// The attempt.
    pub attempt: AttemptId,
    /// The candidate.
    pub commit: CommitId,
    /// Where its executions run.
    pub place: Place,
    /// The jobs of which a requirement uses products that an earlier run left here.
    pub left_over: &'e dyn Fn(&RequirementKey) -> BTreeSet<Name>,
    /// When the newest receipt that was known for a subject says that it was obtained.
    pub newest: &'e dyn Fn(&Subject) -> Option<Timestamp>,
    /// The run that keeps the logs.
    pub handle: Option<OperationHandle>,
    /// Fresh random bytes for each receipt.
    pub salt: &'e mut dyn FnMut() -> Salt,
    /// The full path of a log.
    pub log_path: &'e dyn Fn(&LogRef) -> Option<String>,
}

impl Evaluate for Evaluator<'_> {
    fn evaluate(&mut self, end: &ExecutionEnd) -> (Ended, Vec<Receipt>) {
        let mut receipts = Vec::new();
        let mut ended = Ended::Passed;
        for key in &end.start.serves {
            let Some(detailed) = self.details.get(key) else { continue };
            let receipt = self.receipt(detailed, end);
            if let Some(failure) = receipt.failure {
                ended = Ended::Failed(failure);
            } else if ended == Ended::Passed && !within_limit(detailed, &receipt) {
                ended = Ended::BeyondLimit;
            }
            receipts.push(receipt);
        }
        (ended, receipts)
    }

    fn finished(&self, receipt: &Receipt) -> What {
        let requirement = match self.details.get(&receipt.key()) {
            Some(detailed) => self.report(detailed, receipt),
            None => unrun(&receipt.key(), String::new(), None),
        };
        What::Finished { requirement }
    }
}

impl Evaluator<'_> {
    fn receipt(&mut self, detailed: &Detailed, end: &ExecutionEnd) -> Receipt {
        let key = &detailed.requirement.key;
        let reading = end.readings.iter().find(|(of, _)| of == key).map(|(_, reading)| reading);
        let by_itself = failure(key, end, reading.is_some_and(Result::is_ok));
        let mut reason = by_itself.map(|failure| reason(failure, end, reading.and_then(|it| it.as_ref().err())));
        let left_over = (self.left_over)(key);
        let failure =
            by_itself.map(|it| if it.may_be_replayed() && !left_over.is_empty() { Failure::Leftovers } else { it });
        if let (Some(Failure::Leftovers), Some(reason)) = (failure, &mut reason) {
            let jobs: Vec<String> = left_over.iter().map(|job| format!("`{job}`")).collect();
            reason.push_str(&format!(
                ", on what an earlier run of {} had left here; the next run makes it anew",
                jobs.join(", ")
            ));
        }
        let log = end.log.as_ref().zip(self.handle.as_ref());
        Receipt {
            kind: key.kind,
            name: key.name.clone(),
            subject: detailed.requirement.subject,
            parts: detailed.input.parts((self.salt)()),
            verdict: if failure.is_none() { Verdict::Passed } else { Verdict::Failed },
            reading: if failure.is_none() { reading.and_then(|it| it.as_ref().ok().cloned()) } else { None },
            failure,
            tries: end.start.tries,
            flaky: failure.is_none() && end.start.tries > 1,
            exit_code: match end.how {
                ExecutionHow::Exited { code, .. } => Some(code),
                ExecutionHow::NotStarted { code, .. } => code,
                _ => None,
            },
            signal: match &end.how {
                ExecutionHow::Signalled { signal, .. } => Some(signal.clone()),
                _ => None,
            },
            duration_ms: end.duration_ms,
            place: self.place,
            attempt: self.attempt,
            commit: self.commit,
            finished_at: self.instant(detailed.requirement.subject, end.at),
            log: log.map(|(file, handle)| LogRef { handle: handle.clone(), file: file.clone(), bytes: end.log_bytes }),
            artifacts: end.artifacts.clone(),
            reason: reason.map(|text| Receipt::reason_from(&text)),
        }
    }

    /// When a receipt for `subject` was obtained: now, and later than every other that is known. The newest verdict counts, and a
    /// wall clock that was set back must not make an old one the newest.
    fn instant(&self, subject: Subject, now: Timestamp) -> Timestamp {
        let after = (self.newest)(&subject).map(|newest| newest.plus_millis(1));
        after.map_or(now, |after| now.max(after))
    }

    fn report(&self, detailed: &Detailed, receipt: &Receipt) -> RequirementReport {
        let log = receipt.log.as_ref().and_then(|log| (self.log_path)(log));
        of_receipt(detailed, receipt, Source::Ran, log)
    }
}

/// Why the verdict is failed, if it is. A good line before a bad end is no reading.
fn failure(key: &RequirementKey, end: &ExecutionEnd, has_reading: bool) -> Option<Failure> {
    match &end.how {
        ExecutionHow::TimedOut(_) => Some(Failure::Timeout),
        ExecutionHow::NotStarted { .. } => Some(Failure::NotStarted),
        ExecutionHow::Signalled { .. } | ExecutionHow::Unseen(_) | ExecutionHow::Ended => Some(Failure::Signal),
        ExecutionHow::Exited { .. } if end.output_lost.is_some() => Some(Failure::OutputLost),
        ExecutionHow::Exited { code: 0, .. } if key.kind == RequirementKind::Standard && !has_reading => {
            Some(Failure::Reading)
        }
        ExecutionHow::Exited { code: 0, .. } => None,
        ExecutionHow::Exited { .. } if prepare::is_it(&key.name) => Some(Failure::Unprepared),
        ExecutionHow::Exited { .. } => Some(Failure::Exit),
    }
}

/// What there is to say about a failure.
fn reason(failure: Failure, end: &ExecutionEnd, unread: Option<&String>) -> String {
    match (&end.how, failure) {
        (_, Failure::Reading) => unread.cloned().unwrap_or_default(),
        (_, Failure::OutputLost) => {
            format!("its output could not be stored: {}", end.output_lost.as_deref().unwrap_or_default())
        }
        (ExecutionHow::Exited { why, .. } | ExecutionHow::Signalled { why, .. }, _) => why.clone(),
        (ExecutionHow::NotStarted { why, .. }, _) => why.clone(),
        (ExecutionHow::TimedOut(why) | ExecutionHow::Unseen(why), _) => why.clone(),
        (ExecutionHow::Ended, _) => "it was ended with its run".to_owned(),
    }
}

/// Whether a standard's reading meets its limit; a job has none.
fn within_limit(detailed: &Detailed, receipt: &Receipt) -> bool {
    match (&detailed.requirement.limit, &receipt.reading) {
        (Some(limit), Some(reading)) => limit.judge(reading).is_ok_and(|judgement| judgement.passes),
        _ => true,
    }
}

/// The report of a requirement whose verdict is `receipt`'s.
pub fn of_receipt(detailed: &Detailed, receipt: &Receipt, source: Source, log: Option<String>) -> RequirementReport {
    let requirement = &detailed.requirement;
    let mut report = RequirementReport {
        kind: receipt.kind,
        name: requirement.key.name.clone(),
        verdict: if receipt.verdict == Verdict::Passed { Standing::Passed } else { Standing::Failed },
        source: Some(source),
        duration_ms: Some(receipt.duration_ms),
        reason: receipt.reason.clone(),
        command: requirement.command.clone(),
        log,
        flaky: receipt.flaky,
        subject: Some(receipt.subject),
        reused_from: (source == Source::Reused).then_some(ReusedFrom {
            commit: receipt.commit,
            attempt: receipt.attempt,
            at: receipt.finished_at,
        }),
        exit_code: receipt.exit_code,
        signal: receipt.signal.clone(),
        tries: receipt.tries,
        value: None,
        limit: None,
        trunk_limit: None,
        distance: None,
        reading: receipt.reading.clone(),
    };
    if let Some(limit) = &requirement.limit {
        hold_against(&mut report, limit);
    }
    report
}

/// Judges the reading in a standard's report, if there is one, against `limit`: verdict, value, limits, distance, and the
/// reason where it fails.
pub fn hold_against(report: &mut RequirementReport, limit: &Limit) {
    report.limit = Some(limit.own.plain());
    report.trunk_limit = limit.trunk.as_ref().map(Decimal::plain);
    let Some(reading) = &report.reading else { return };
    report.value = Some(reading.value.clone());
    // What can't be judged passes nothing; planning lets no such reading count.
    let judgement = limit.judge(reading).ok();
    report.distance = judgement.as_ref().map(|judgement| judgement.distance.to_string());
    if judgement.is_some_and(|judgement| judgement.passes) {
        report.verdict = Standing::Passed;
    } else {
        report.verdict = Standing::Failed;
        report.reason = Some(format!("{} is {} {}", reading.value, limit.direction.miss(), limit.effective()));
    }
}

/// The report of a requirement without a verdict.
pub fn unrun(key: &RequirementKey, command: String, reason: Option<String>) -> RequirementReport {
    RequirementReport {
        kind: key.kind,
        name: key.name.clone(),
        verdict: Standing::Unrun,
        source: None,
        duration_ms: None,
        reason,
        command,
        log: None,
        flaky: false,
        subject: None,
        reused_from: None,
        exit_code: None,
        signal: None,
        tries: 0,
        value: None,
        limit: None,
        trunk_limit: None,
        distance: None,
        reading: None,
    }
}

/// The receipt that answers a requirement before anything runs, if one does.
pub fn known_receipt(item: &PlanItem) -> Option<&Receipt> {
    match &item.decision {
        Decision::Reuse(receipt) | Decision::Replay(receipt) => Some(receipt),
        Decision::Run(_) | Decision::NotNeeded => None,
    }
}
