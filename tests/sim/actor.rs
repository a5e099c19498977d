//! What an actor does: runs, one after another, in the order that `done` goes (protocol section 8).

use std::panic::{AssertUnwindSafe, catch_unwind};

use git_discern::claim::lease::Fence;
use git_discern::claim::owner::{Over, Owner, Seen};
use git_discern::claim::record::{Bound, Outcome};
use git_discern::engine::claims::Claims as _;
use git_discern::engine::recovery::{self, Finding, Mode};
use git_discern::engine::run::{Evaluate, Run, Unreserved};
use git_discern::engine::stage::{ExecutionEnd, ExecutionHow};
use git_discern::event::What;
use git_discern::evidence::{Failure, Place, Proof, Receipt, RequirementKey, Verdict};
use git_discern::exit::Exit;
use git_discern::id::{AttemptId, CommitId};
use git_discern::plan::{AfterFailure, Ended, Known, Requirement, Schedule, plan};
use git_discern::store::RecordStore as _;

use super::machine::Machine;
use super::schedule::{Killed, Turns};
use super::world::candidate_of;
use crate::claim::sample;

/// An actor's whole life.
pub(crate) fn live(turns: &Turns, actor: usize) {
    turns.begin(actor);
    let runs = turns.state().setting.runs;
    for _ in 0..runs {
        let life = catch_unwind(AssertUnwindSafe(|| {
            let mut machine = Machine::new(turns, actor);
            let pause = turns.state().random().below(30_000);
            machine.rest(pause);
            run_once(&mut machine, candidate_of(actor));
        }));
        let mut state = turns.state();
        state.actors[actor].attempt = None;
        match life {
            Ok(()) => {}
            Err(payload) if payload.is::<Killed>() => state.met.killed += 1,
            Err(payload) => {
                let what = payload.downcast_ref::<String>().cloned();
                let what = what.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                state.blame(|| format!("a run panicked: {}", what.unwrap_or_default()));
            }
        }
    }
    turns.end(actor);
}

/// With no more faults: every claim that was left behind can be recovered, and every candidate proven.
pub(crate) fn come_to_rest(turns: &Turns) {
    let mut machine = Machine::new(turns, 0);
    for candidate in [candidate_of(0), candidate_of(2)] {
        for _ in 0..2 {
            recover(&mut machine);
            machine.rest(60_000);
        }
        let over = run_once(&mut machine, candidate);
        let proven = matches!(&over, Some(Over::Settled(ended)) if ended.outcome == Outcome::Passed);
        if !proven {
            turns.state().blame(|| format!("when all is quiet, a run ends with {over:?}"));
        }
    }
}

/// Retires what may be, whichever candidate it is for (C22).
fn recover(machine: &mut Machine<'_>) -> Vec<(CommitId, Finding)> {
    let inspect =
        |candidate| (candidate, recovery::inspect(candidate, machine, &sample::retiring(), Mode::Retire).what);
    [candidate_of(0), candidate_of(2)].map(inspect).into()
}

/// One run of `done`, from recovery to the end; how its attempt is over, if it made one.
fn run_once(machine: &mut Machine<'_>, candidate: CommitId) -> Option<Over> {
    for (found, what) in recover(machine) {
        if found == candidate && matches!(what, Finding::Live { .. } | Finding::NotRetired { .. }) {
            machine.turns.state().met.pending += 1;
            machine.rest(30_000);
            return None;
        }
    }
    let (turns, actor) = (machine.turns, machine.actor);
    let fence = {
        let mut state = turns.state();
        let id = AttemptId(state.uuid());
        state.actors[actor].attempt = Some(id);
        Fence { candidate, attempt: id, token: state.token() }
    };
    let mut attempt = sample::attempt(0);
    (attempt.id, attempt.commit) = (fence.attempt, candidate);
    attempt.executor.boot = recovery::Witness::boot(machine);
    let over = work(machine, fence, Owner::new(fence, attempt));
    count(turns, over.as_ref());
    absorb_and_remove(machine, candidate);
    turns.state().actors[actor].attempt = None;
    over
}

fn work(machine: &mut Machine<'_>, fence: Fence, owner: Owner) -> Option<Over> {
    let mut run = Run::new(machine, owner);
    match run.reserve().map_err(|unreserved| *unreserved) {
        Ok(_) => {}
        Err(Unreserved::Lost(loss)) => return Some(Over::Lost(loss)),
        Err(Unreserved::Not(why)) => return Some(Over::NotReserved(why)),
    }
    let bound = sample::plan();
    let mut evaluator = Evaluator { fence };
    let mut receipts = Vec::new();
    if run.bind(bound.clone()).is_ok() {
        receipts = run.work(schedule(&bound), 2, &mut evaluator).receipts;
        run.look_once_more();
    }
    let complete = receipts.len() == bound.len();
    let passed = complete && receipts.iter().all(|receipt: &Receipt| receipt.verdict == Verdict::Passed);
    let (outcome, exit) = if passed { (Outcome::Passed, Exit::Success) } else { (Outcome::Failed, Exit::Failed) };
    let proof = passed.then(|| prove(fence, &bound));
    Some(run.settle(outcome, exit, Vec::new(), proof).0)
}

fn prove(fence: Fence, bound: &[Bound]) -> Proof {
    let mut proof = sample::proof(0, bound);
    (proof.attempt, proof.commit) = (fence.attempt, fence.candidate);
    proof
}

/// Two jobs, the second of which needs the first.
fn schedule(bound: &[Bound]) -> Schedule {
    let requirement = |bound: &Bound| Requirement {
        key: RequirementKey { kind: bound.kind, name: bound.name.clone() },
        subject: bound.subject,
        execution: bound.subject.0,
        command: String::new(),
        needs: Vec::new(),
        after: Vec::new(),
        from: None,
        retries: 1,
        inputs_declared: true,
        limit: None,
        demanded: true,
        expected_ms: None,
    };
    let known = Known::nothing(Place::InPlace);
    Schedule::new(&plan(bound.iter().map(requirement).collect(), &known), AfterFailure::StartNothing)
}

struct Evaluator {
    fence: Fence,
}

impl Evaluate for Evaluator {
    fn evaluate(&mut self, end: &ExecutionEnd) -> (Ended, Vec<Receipt>) {
        let passed = matches!(end.how, ExecutionHow::Exited { code: 0, .. });
        let ended = if passed { Ended::Passed } else { Ended::Failed(Failure::Exit) };
        let bound = sample::plan().into_iter().filter(|bound| bound.name == end.key().name);
        let receipts = bound.map(|bound| {
            let mut receipt = sample::receipt(0, &bound);
            (receipt.attempt, receipt.commit, receipt.tries) =
                (self.fence.attempt, self.fence.candidate, end.start.tries);
            if !passed {
                (receipt.verdict, receipt.failure, receipt.exit_code) = (Verdict::Failed, Some(Failure::Exit), Some(1));
            }
            receipt
        });
        (ended, receipts.collect())
    }

    fn finished(&self, receipt: &Receipt) -> What {
        What::Note { text: receipt.name.to_string() }
    }
}

fn count(turns: &Turns, over: Option<&Over>) {
    let mut state = turns.state();
    let met = &mut state.met;
    let counter = match over {
        Some(Over::Settled(ended)) => match ended.outcome {
            Outcome::Passed => &mut met.proven,
            Outcome::Failed => &mut met.failed,
            Outcome::Cancelled => &mut met.interrupted,
        },
        Some(Over::Lost(_)) => &mut met.retired,
        Some(Over::Unsettled(_) | Over::SettleRefused(_)) => &mut met.unsettled,
        Some(Over::NotReserved(_)) | None => &mut met.not_reserved,
    };
    *counter += 1;
}

/// The end of a run: its record goes into the ledger, and surplus refs go. Retention waits for a day, so nobody is about to
/// create one.
fn absorb_and_remove(machine: &mut Machine<'_>, candidate: CommitId) {
    let Seen::Record(id, record) = machine.look(&candidate) else { return };
    if !record.is_finished() || machine.absorb(&record).is_err() {
        return;
    }
    let (turns, actor) = (machine.turns, machine.actor);
    let mut state = turns.state();
    let alone = state.actors.iter().enumerate().all(|(other, it)| other == actor || it.attempt.is_none());
    if alone && state.random().chance(300) {
        state.moments += 1;
        let moment = state.moments;
        let before = state.standing(&candidate);
        let removed = state.store.remove(&candidate, id) == Ok(true);
        state.moments += 1;
        if removed {
            state.operations.push(super::check::Operation::removal(candidate, id, moment));
            state.ref_changed(&candidate, before);
        }
    }
}
