//! One attempt of a real run: journal, reservation, plan, loop, settlement, report (steps 6 to 10 of the story).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::candidate::Subject;
use super::claims::Claims as _;
use super::evaluate::{self, Evaluator, known_receipt};
use super::machine::{Ground, Machine, Parts, Work, log_file};
use super::no_answer::{NoAnswer, unreadable};
use super::planning;
use super::request::Request;
use super::requirements::{self, Unplanned};
use super::run::{Run, Stopped, Unreserved, Worked};
use super::session::Session;
use super::stage::Stage as _;
use super::trunk::Comparison;
use super::worktree_lock::Occupant;
use crate::claim::lease::Fence;
use crate::claim::owner::{Loss, NotReserved, Over, Owner, Seen};
use crate::claim::record::{Attempt, Bound, Executor, Outcome, Purpose};
use crate::document::{
    AttemptSummary, Cancelled, Diagnostic, Refusal, RequirementReport, RunDocument, Source, Standing, plain,
};
use crate::event::{Audience, What};
use crate::evidence::proof::Occasion;
use crate::evidence::subject::{Platform, Salt};
use crate::evidence::{LogRef, Proof, Receipt, RequirementKey, flaky};
use crate::exit::Exit;
use crate::git::with_causes;
use crate::id::{AttemptId, CommitId};
use crate::journal::{Header, Journal};
use crate::os::random::Random as _;
use crate::os::signal::Signals;
use crate::os::{boot, hooks};
use crate::plan::{AfterFailure, Decision, Plan, Schedule};
use crate::store::StoreError;
use crate::time::Timestamp;

/// What became of a try to make an attempt.
pub enum Attempted {
    /// It is over, and this is its answer.
    Over(Box<RunDocument>),
    /// Another run reserved in the same instant; nothing was left behind.
    Beaten,
}

/// What a run has made ready before it reserves.
pub struct Setup<'h> {
    /// Where its jobs run.
    pub ground: Ground<'h>,
    /// The signals that are caught, unless none can be.
    pub signals: Option<&'h mut Signals>,
    /// What to do once nothing of this run looks at its ground any more, though it is not over.
    pub leave: &'h mut dyn FnMut(),
}

/// Makes the attempt `id` at `subject`, from its journal to its report.
///
/// # Errors
/// Nothing was reserved, or the candidate's record can't be read.
pub fn make(
    request: &Request,
    subject: &Subject,
    id: AttemptId,
    setup: Setup<'_>,
    session: &mut Session<'_>,
    reporter: &mut dyn Audience,
) -> Result<Attempted, NoAnswer> {
    let store = |doing: &str, problem: String| StoreError { doing: doing.to_owned(), problem };
    let Setup { mut ground, signals, leave } = setup;
    let top = ground.repository.worktree()?.to_owned();
    let git_version = session.repository.git_version()?;
    let started_at = session.now().wall;
    let described = (request.command(), Some(id), Some(subject.head.commit));
    let (journal, journal_problem) = match open_journal(session, described, &top, started_at) {
        Ok(journal) => (Some(journal), None),
        Err(error) => (None, Some(no_journal(session, &error))),
    };
    hooks::at("journal begun");
    ground.lock.describe(&Occupant {
        command: request.command().to_owned(),
        pid: std::process::id(),
        since: started_at,
        operation: journal.as_ref().map(|journal| journal.handle().clone()),
        candidate: Some(subject.head.commit),
    });
    let attempt = describe(request, subject, id, started_at, session, journal.as_ref());
    let fence = Fence { candidate: subject.head.commit, attempt: id, token: session.random().token() };
    let commit = subject.head.commit;
    let parts = Parts { session, reporter, journal, signals, ground, attempt: id, commit: Some(commit), top };
    let mut machine = Machine::new(parts).map_err(|error| store("make room for logs", error.to_string()))?;
    if let Some(text) = journal_problem {
        machine.tell(What::Note { text });
    }
    let handle = machine.handle();
    let mut run = Run::new(&mut machine, Owner::new(fence, attempt));
    let generation = match run.reserve().map_err(|unreserved| *unreserved) {
        Ok(generation) => generation,
        Err(Unreserved::Lost(loss)) => return Ok(Attempted::Over(Box::new(lost(request, &loss)))),
        Err(Unreserved::Not(why)) => {
            let problem = match why {
                NotReserved::Held(..) => return Ok(Attempted::Beaten),
                NotReserved::Unreadable(why) => NoAnswer::from(unreadable(commit, &why)),
                NotReserved::LedgerUnwritable(problem) => store("write the ledger", problem).into(),
                NotReserved::Store(problem) => store("reserve the claim", problem).into(),
            };
            // What can't be read may be the ledger, and that has a remedy of its own.
            machine.session.ledger.outcomes(commit)?;
            return Err(problem);
        }
    };
    run.stage().tell(What::Reserved { attempt: id, handle: handle.clone(), generation });
    let story = Story { request, subject, id, started_at, git_version };
    let done = story.carry_out(run, leave);
    let summary =
        AttemptSummary { id, generation, operation: handle, started_at, finished_at: Some(machine.session.now().wall) };
    let document = story.report(&mut machine, done, summary);
    Ok(Attempted::Over(Box::new(document)))
}

/// Starts the journal of a run of `command`, for an attempt and a candidate if there are such, with `top` as its directory.
pub(super) fn open_journal(
    session: &mut Session<'_>,
    (command, attempt, candidate): (&str, Option<AttemptId>, Option<CommitId>),
    top: &Path,
    started_at: Timestamp,
) -> std::io::Result<Journal> {
    let (handle, token) = (session.random().handle(), session.random().token());
    let mut header = Header::new(handle, token, command, boot::boot_identity(), started_at);
    header.attempt = attempt;
    header.candidate = candidate;
    header.worktree = session.repository.worktree_name();
    header.directory = top.to_owned();
    session.journals.create(&header)
}

/// That a run has no journal, and why.
pub(super) fn no_journal(session: &Session<'_>, error: &std::io::Error) -> String {
    let folder = session.journals.folder().display();
    plain(&format!("no journal could be made in `{folder}` ({error}); this run has no handle"))
}

fn describe(
    request: &Request,
    subject: &Subject,
    id: AttemptId,
    started_at: Timestamp,
    session: &Session<'_>,
    journal: Option<&Journal>,
) -> Attempt {
    Attempt {
        id,
        generation: 0,
        purpose: request.purpose,
        rerun_of: None,
        commit: subject.head.commit,
        tree: Some(subject.head.tree),
        executor: Executor {
            machine: boot::machine_identity(),
            boot: boot::boot_identity(),
            pid: std::process::id(),
            worktree: session.repository.worktree_name(),
            branch: subject.head.branch.clone(),
            started_at,
            journal: journal.map(|journal| journal.reference().clone()),
        },
    }
}

/// What does not change while an attempt runs.
struct Story<'s> {
    request: &'s Request,
    subject: &'s Subject,
    id: AttemptId,
    started_at: Timestamp,
    git_version: String,
}

/// How an attempt went.
struct Done {
    over: Over,
    stopped: Option<Stopped>,
    refusal: Option<Refusal>,
    worked: Worked,
    exit: Exit,
    proof: Option<Proof>,
}

impl Story<'_> {
    /// Plans, binds, works and settles. A panic on the way is settled like any other end (C18).
    fn carry_out(&self, mut run: Run<'_, Machine<'_, '_>>, leave: &mut dyn FnMut()) -> Done {
        let mut refusal = None;
        let worked = catch_unwind(AssertUnwindSafe(|| self.plan_and_work(&mut run, &mut refusal)));
        let worked = worked.unwrap_or_else(|panic| {
            let what = panic.downcast_ref::<String>().cloned();
            let what = what.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            run.stop(Stopped::Internal(what.unwrap_or_else(|| "a panic".to_owned())));
            Worked::default()
        });
        let failed = self.failed(run.stage(), &worked.receipts);
        let complete = run.stage().work().is_some();
        let passes = failed.is_empty() && complete && !self.lacks_a_verdict(run.stage(), &worked.receipts);
        if passes {
            run.look_once_more();
        }
        let mut proof = None;
        if passes && run.stopped().is_none() && self.request.purpose == Purpose::Done {
            match self.prove(run.stage(), &worked.receipts) {
                Ok(assembled) => proof = Some(assembled),
                Err(problem) => run.stop(Stopped::Internal(problem)),
            }
        }
        if run.stopped().is_none() {
            leave();
        }
        let (outcome, exit) = if passes { (Outcome::Passed, Exit::Success) } else { (Outcome::Failed, Exit::Failed) };
        hooks::at("work over");
        let (over, stopped) = run.settle(outcome, exit, failed, proof.clone());
        hooks::at("settled");
        Done { over, stopped, refusal, worked, exit, proof }
    }

    fn plan_and_work(&self, run: &mut Run<'_, Machine<'_, '_>>, refusal: &mut Option<Refusal>) -> Worked {
        match planning::make(self.request, self.subject, run) {
            Ok(work) => run.stage().take_up(work),
            Err(Unplanned::Refused(why)) => {
                *refusal = Some(why);
                run.stop(Stopped::Refused);
            }
            Err(Unplanned::Git(error)) => run.stop(Stopped::Store(with_causes(&error))),
        }
        let Some(work) = run.stage().work() else { return Worked::default() };
        let plan = work.plan.clone();
        let details = work.details.clone();
        let known = work.known.clone();
        let parallel = work.config.gate.parallel.map_or_else(cores, |it| it.get() as usize);
        let Comparison { departures, loosened, notes, moved_on, .. } = &self.subject.comparison;
        let moved_on = moved_on.iter().filter(|_| self.request.purpose == Purpose::Standards);
        for text in departures.iter().chain(loosened).chain(notes).chain(moved_on) {
            run.stage().tell(What::Note { text: text.clone() });
        }
        run.stage().tell(What::Planned { requirements: planning::as_event(&plan) });
        match run.bind(bound(&plan)) {
            Ok(()) => {}
            Err(why) => {
                let message = format!("the plan does not fit into an attempt record: {why}");
                *refusal = Some(Refusal::new(Diagnostic::new("plan-too-large", message)));
                run.stop(Stopped::Refused);
            }
        }
        let after_failure = if self.request.keep_going { AfterFailure::KeepGoing } else { AfterFailure::StartNothing };
        let schedule = Schedule::new(&plan, after_failure);
        let handle = run.stage().handle();
        let (logs, place) = (run.stage().logs().to_owned(), run.stage().place());
        let mut evaluator = Evaluator {
            details: &details,
            attempt: self.id,
            commit: self.subject.head.commit,
            place,
            left_over: &|key| plan.left_over_for(key),
            newest: &|subject| known.get(subject)?.iter().map(|receipt| receipt.finished_at).max(),
            handle,
            salt: &mut || Salt(*uuid::Uuid::new_v4().as_bytes()),
            log_path: &|log: &LogRef| Some(logs.join(&log.file).to_string_lossy().into_owned()),
        };
        run.work(schedule, parallel, &mut evaluator)
    }

    /// The requirements whose verdict is failed: known before, or found out now.
    fn failed(&self, machine: &Machine<'_, '_>, receipts: &[Receipt]) -> Vec<Bound> {
        let Some(work) = machine.work() else { return Vec::new() };
        let reports = self.verdicts(machine, work, receipts, &[]);
        let failed = reports.iter().filter(|report| report.verdict == Standing::Failed);
        failed.filter_map(|it| Some(Bound { kind: it.kind, name: it.name.clone(), subject: it.subject? })).collect()
    }

    fn lacks_a_verdict(&self, machine: &Machine<'_, '_>, receipts: &[Receipt]) -> bool {
        let Some(work) = machine.work() else { return true };
        self.verdicts(machine, work, receipts, &[]).iter().any(|report| report.verdict != Standing::Passed)
    }

    /// Every requirement with what is known of it now. `cut_short` ran when the run was ended.
    fn verdicts(
        &self,
        machine: &Machine<'_, '_>,
        work: &Work,
        receipts: &[Receipt],
        cut_short: &[RequirementKey],
    ) -> Vec<RequirementReport> {
        work.plan
            .needed()
            .map(|item| {
                let key = &item.requirement.key;
                let log = |receipt: &Receipt| receipt.log.as_ref().and_then(|log| log_file(machine.session, log));
                let detailed = work.details.get(key);
                let obtained = receipts.iter().rev().find(|receipt| receipt.key() == *key);
                let mut report = match (detailed, obtained, known_receipt(item)) {
                    (Some(detailed), Some(receipt), _) => {
                        evaluate::of_receipt(detailed, receipt, Source::Ran, log(receipt))
                    }
                    (Some(detailed), None, Some(receipt)) => {
                        evaluate::of_receipt(detailed, receipt, Source::Reused, log(receipt))
                    }
                    _ => evaluate::unrun(key, item.requirement.command.clone(), None),
                };
                if report.verdict == Standing::Unrun && cut_short.contains(key) {
                    report.verdict = Standing::Cancelled;
                }
                if let (Decision::Run(why), None) = (&item.decision, &report.reason) {
                    report.reason = Some(why.to_string());
                }
                report.flaky |= flaky(work.known_for(&item.requirement).chain(obtained));
                report.subject = Some(item.requirement.subject);
                report
            })
            .collect()
    }

    fn prove(&self, machine: &Machine<'_, '_>, receipts: &[Receipt]) -> Result<Proof, String> {
        let work = machine.work().ok_or("there is no plan")?;
        let all: Vec<Receipt> = work.known.values().flatten().chain(receipts).cloned().collect();
        let demands = requirements::demands(&work.details_in_order());
        let occasion = Occasion {
            commit: self.subject.head.commit,
            tree: self.subject.head.tree,
            configuration: self.subject.config.digest,
            trunk: work.comparison.compared.clone(),
            departures: work.comparison.departures.clone(),
            loosened: work.comparison.loosened.clone(),
            attempt: self.id,
            started_at: self.started_at,
            finished_at: machine.session.now().wall,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            git_version: self.git_version.clone(),
            platform: Platform::current(),
        };
        Proof::assemble(occasion, &demands, &all).map_err(|lacking| {
            let lacking: Vec<String> = lacking.iter().map(|it| format!("{} {}", it.key, it.why)).collect();
            format!("no Proof could be assembled: {}", lacking.join("; "))
        })
    }

    /// The answer, from how the attempt is over; then what is left to do is done.
    fn report(&self, machine: &mut Machine<'_, '_>, done: Done, summary: AttemptSummary) -> RunDocument {
        let Done { over, stopped, refusal, worked, exit, proof } = done;
        let mut document = match over {
            Over::Settled(ended) if ended.outcome == Outcome::Cancelled => {
                let stopped = stopped.unwrap_or(Stopped::Internal("it was cancelled".to_owned()));
                cancelled(self.request, &stopped, refusal)
            }
            Over::Settled(ended) => {
                let mut document = RunDocument::new(self.request.command(), exit);
                document.proof = proof.filter(|_| ended.outcome == Outcome::Passed);
                document
            }
            Over::Lost(loss) => lost(self.request, &loss),
            Over::Unsettled(problem) => unsettled(self.request, stopped.as_ref(), &problem),
            Over::SettleRefused(refusal) => {
                let mut document = RunDocument::new(self.request.command(), Exit::Internal);
                document.diagnostics.push(Diagnostic::new("internal-error", refusal.to_string()));
                document
            }
            Over::NotReserved(_) => RunDocument::new(self.request.command(), Exit::Store),
        };
        document.attempt = Some(summary);
        if let Some(work) = machine.work() {
            document.requirements = self.verdicts(machine, work, &worked.receipts, &worked.cut_short);
        }
        if let Some(problem) = self.absorb(machine) {
            let message =
                format!("the ledger could not be written ({problem}); the next run does it, the outcome stands");
            machine.tell(What::Note { text: message });
        }
        hooks::at("absorbed");
        let duration_ms = machine.session.now().wall.millis_since(self.started_at).max(0).unsigned_abs();
        let (outcome, exit) = (document.outcome, document.exit.code());
        machine.tell(What::Ended { outcome, exit, duration_ms });
        document
    }

    /// Copies the finished record into the ledger; why that could not be done, if so.
    fn absorb(&self, machine: &mut Machine<'_, '_>) -> Option<String> {
        match machine.session.look(&self.subject.head.commit) {
            Seen::Record(_, record) if record.is_finished() && record.attempt.id == self.id => {
                let problem = machine.session.absorb(&record).err();
                if problem.is_none() {
                    // What can't be removed now is surplus the next time, too.
                    let _ = super::retention::trim(machine.session);
                }
                problem
            }
            _ => None,
        }
    }
}

fn bound(plan: &Plan) -> Vec<Bound> {
    plan.needed()
        .map(|item| {
            let key = item.requirement.key.clone();
            Bound { kind: key.kind, name: key.name, subject: item.requirement.subject }
        })
        .collect()
}

pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The answer of a run that ended itself before its end.
pub fn cancelled(request: &Request, stopped: &Stopped, refusal: Option<Refusal>) -> RunDocument {
    let mut document = RunDocument::new(request.command(), stopped.exit());
    let reason = stopped.reason().word().to_owned();
    document.cancelled = Some(Cancelled { by: None, operation: None, worktree: None, reason });
    match stopped {
        Stopped::TreeChanged(what) => {
            let message = "the worktree changed while the run worked, so that nothing was proven";
            let mut diagnostic = Diagnostic::new("tree-changed", message).fix("git status");
            diagnostic.place.clone_from(what);
            document.diagnostics.push(diagnostic);
        }
        Stopped::WorktreeGone => {
            document
                .diagnostics
                .push(Diagnostic::new("worktree-gone", "the worktree was removed while the run worked"));
        }
        Stopped::Store(problem) => document.diagnostics.push(Diagnostic::new("store-error", problem.clone())),
        Stopped::Internal(problem) => document.diagnostics.push(Diagnostic::new("internal-error", problem.clone())),
        Stopped::Refused => {
            if let Some(Refusal { diagnostics, page, .. }) = refusal {
                document.diagnostics.extend(diagnostics);
                document.page = page;
            }
        }
        Stopped::Signal(_) | Stopped::Requested => document.hints.push(request.again()),
    }
    document
}

/// The answer of a run that another one retired (C17): the same words whatever step found it.
fn lost(request: &Request, loss: &Loss) -> RunDocument {
    let mut document = RunDocument::new(request.command(), Exit::Retired);
    document.cancelled = Some(match loss {
        Loss::Retired(ended) => super::known::cancelled(&ended.by),
        Loss::Replaced(attempt) => Cancelled {
            by: Some(attempt.id),
            operation: attempt.executor.journal.as_ref().map(|journal| journal.handle.clone()),
            worktree: Some(attempt.executor.worktree.clone()),
            reason: "replaced".to_owned(),
        },
    });
    document.hints.push(request.again());
    document
}

/// The answer of a run that could not record how it ended: what ended it comes first, the store is added (C18).
fn unsettled(request: &Request, stopped: Option<&Stopped>, problem: &str) -> RunDocument {
    let exit = stopped.map_or(Exit::Store, Stopped::exit);
    let mut document = match stopped {
        Some(stopped) => cancelled(request, stopped, None),
        None => RunDocument::new(request.command(), exit),
    };
    let message = format!(
        "the attempt could not be settled ({problem}); what is left of its claim lapses by itself within a minute"
    );
    document.diagnostics.push(Diagnostic::new("not-settled", message));
    document
}
