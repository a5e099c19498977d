//! What must never happen (protocol section 9), beyond what `claim::invariant` sees in the ref's successive values.

use git_discern::claim::Record;
use git_discern::claim::lease::LEASE_MS;
use git_discern::claim::owner::{Effect, Input, Loss, NotReserved, Over, Said};
use git_discern::claim::record::{EndedBy, TakeoverReason};

use super::action::Action;
use super::goal::Goals;
use super::world::{Bounds, Flight, Stage, TICK_MS, Truth, World, settled_as_passed};
use crate::claim::sample;

type Holds = Result<(), String>;

fn never(what: &str) -> Holds {
    Err(what.to_owned())
}

/// Of a state as such.
pub(crate) fn holds(world: &World) -> Holds {
    for attempt in &world.stray_proofs {
        // A stray Proof's attempt has no token of interest.
        let truth = world.truth(*attempt, sample::fence(0).token);
        if !matches!(&truth, Truth::Ended { ended, .. } if settled_as_passed(ended)) {
            return never("a Proof exists for an attempt that was not settled as passed by its owner");
        }
    }
    for run in &world.runs {
        // An orphan of the run before this one is not this owner's.
        let own = |orphan: &Effect| match orphan {
            Effect::Swap { record, .. } => record.attempt.id == run.owner.fence().attempt,
            _ => false,
        };
        if run.is_alive() && run.orphan.as_ref().is_some_and(|orphan| own(orphan)) {
            return never("an owner has two requests under way (C16)");
        }
    }
    let [one, other] = &world.runs;
    if one.thinks_it_holds() && other.thinks_it_holds() && one.owner.fence() == other.owner.fence() {
        return never("two runs hold one claim");
    }
    Ok(())
}

/// A finished record is about to go: outcome and receipts must be in the ledger.
pub(crate) fn nothing_is_lost(world: &World, record: &Record) -> Holds {
    if world.is_absorbed(record) {
        return Ok(());
    }
    never("a finished record was replaced or removed before the ledger had it")
}

/// A retirement landed: it must have been permitted.
pub(crate) fn retirement_was_permitted(world: &World, replaced: &Record, retired: &Record) -> Holds {
    let Some(EndedBy::Run { reason, .. }) = retired.state.finish().map(|finish| &finish.by) else {
        return never("a retirement does not name the retiring run");
    };
    let attempt = replaced.attempt.id;
    match reason {
        TakeoverReason::ExecutorGone if world.is_alive(attempt) => never("a live executor was declared gone"),
        TakeoverReason::ExecutorGone => Ok(()),
        TakeoverReason::LeaseLapsed if world.spent.clock_faults > 0 => Ok(()),
        TakeoverReason::LeaseLapsed => {
            let place = world.runs.iter().position(|run| run.owner.fence().attempt == attempt);
            let renewed = replaced.state.claim().map(|claim| claim.lease.expiry_for_report().as_millis());
            let (Some(place), Some(expires_ms)) = (place, renewed) else { return Ok(()) };
            let now_ms = sample::EPOCH_MS + world.now_ms(place) as i64;
            if now_ms < expires_ms {
                return never("a record that its owner renewed on time was retired by the clock");
            }
            Ok(())
        }
    }
}

/// What an owner says must be what record and ledger say.
pub(crate) fn said(world: &World, place: usize, said: &Said, input: &Input) -> Holds {
    let run = &world.runs[place];
    let fence = run.owner.fence();
    let truth = world.truth(fence.attempt, fence.token);
    match said {
        Said::MayStart if !matches!(input, Input::Read(_) | Input::InLedger(_)) => {
            never("a job was let start without a look at the record")
        }
        Said::Over(Over::Settled(ended)) => match truth {
            Truth::Ended { ended: recorded, .. } if recorded != *ended => {
                never("an outcome was reported that the record contradicts")
            }
            Truth::Ended { receipts: 0, .. } if run.produced => never("a receipt was lost"),
            Truth::Ended { .. } => Ok(()),
            Truth::Holding | Truth::Unknown => never("a settlement was reported that nothing records"),
        },
        Said::Over(Over::Lost(Loss::Retired(ended))) => match truth {
            Truth::Ended { ended: recorded, .. } if recorded == *ended => Ok(()),
            _ => never("a retirement was reported that nothing records"),
        },
        Said::Over(Over::Lost(Loss::Replaced(_))) => match truth {
            Truth::Holding => never("a claim was given up while it was held"),
            Truth::Ended { .. } => never("a cancellation was reported for an attempt whose end is recorded"),
            Truth::Unknown => never("an attempt was replaced without a trace"),
        },
        Said::Over(Over::NotReserved(NotReserved::Held(..))) if truth == Truth::Unknown => Ok(()),
        Said::Over(Over::NotReserved(_)) if truth != Truth::Unknown => {
            never("a run gave up reserving although its attempt is recorded")
        }
        Said::Over(Over::Unsettled(_)) if !run.settling_failed => {
            never("the store was blamed for a settlement that met no fault")
        }
        Said::Over(Over::SettleRefused(_)) | Said::BindRefused(_) | Said::PublishRefused(_) => {
            never("a transition was refused for what it says")
        }
        _ => Ok(()),
    }
}

/// Without further faults every run comes to its end, and whoever holds a claim that nobody retires settles it.
pub(crate) fn completes(world: &World, bounds: &Bounds) -> Holds {
    let mut world = world.clone();
    let holding: Vec<usize> = (0..2)
        .filter(|&place| {
            let run = &world.runs[place];
            let fence = run.owner.fence();
            run.is_alive() && !run.settling_failed && world.truth(fence.attempt, fence.token) == Truth::Holding
        })
        .collect();
    let mut goals = Goals::default();
    for _ in 0..400 {
        let Some(action) = next_fair_action(&world) else { break };
        world.act(action, bounds, &mut goals)?;
        holds(&world)?;
    }
    if world.runs.iter().any(|run| run.is_alive()) {
        return never("a run does not come to an end although nothing fails");
    }
    for place in holding {
        let fence = world.runs[place].owner.fence();
        let truth = world.truth(fence.attempt, fence.token);
        if !matches!(&truth, Truth::Ended { ended, .. } if matches!(ended.by, EndedBy::Owner { .. })) {
            return never("an owner that nobody retired did not settle");
        }
    }
    Ok(())
}

fn next_fair_action(world: &World) -> Option<Action> {
    for (place, run) in world.runs.iter().enumerate().filter(|(_, run)| run.is_alive()) {
        match run.flight {
            Flight::Sent(_) => return Some(Action::Land(place)),
            Flight::Landed(_) => return Some(Action::Answer(place)),
            Flight::Idle => {}
        }
        if matches!(run.stage, Stage::Planning | Stage::Bound | Stage::Running | Stage::Finishing) {
            return Some(Action::Work(place, true));
        }
        if run.owner.wakes_at_ms().is_some_and(|at_ms| at_ms <= world.now_ms(place)) {
            return Some(Action::Wake(place));
        }
    }
    world.runs.iter().any(|run| run.is_alive()).then_some(Action::Tick)
}

/// An abandoned claim can be taken over one lease after it was first seen, at the latest.
pub(crate) fn can_be_recovered(world: &World, bounds: &Bounds) -> Holds {
    let Some(stored) = &world.record else { return Ok(()) };
    if stored.record.is_finished() || world.is_alive(stored.record.attempt.id) {
        return Ok(());
    }
    let mut world = world.clone();
    let mut goals = Goals::default();
    let mut recover = |world: &mut World| {
        while !matches!(world.recoverer.flight, Flight::Idle) {
            let action = match world.recoverer.flight {
                Flight::Sent(_) => Action::LandRecovery,
                _ => Action::AnswerRecovery { provable: false },
            };
            world.act(action, bounds, &mut goals)?;
        }
        Ok::<(), String>(())
    };
    recover(&mut world)?;
    world.recoverer.flight = Flight::Sent(std::rc::Rc::new(super::world::Recovery::Look));
    recover(&mut world)?;
    world.clocks = world.clocks.map(|clock| clock + LEASE_MS / TICK_MS);
    world.recoverer.flight = Flight::Sent(std::rc::Rc::new(super::world::Recovery::Look));
    recover(&mut world)?;
    if world.record.is_some_and(|stored| stored.record.is_finished()) {
        return Ok(());
    }
    never("an abandoned claim can't be taken over a lease after it was seen")
}
