//! What can happen next, and what it leads to.

use std::rc::Rc;

use git_discern::claim::Record;
use git_discern::claim::lease;
use git_discern::claim::owner::{Effect, Input, Said, Seen, Written};
use git_discern::claim::record::{EndedBy, Outcome, OwnReason, Purpose};
use git_discern::claim::transition::{History, Pen, Settlement};
use git_discern::id::RecordId;

use super::goal::{Goal, Goals};
use super::mutation::{Mutation, renews, tamper_said};
use super::property;
use super::world::{Bounds, Flight, Recovery, Stage, Stored, Told, World, as_seen, nonce, owner, record_id};
use crate::claim::sample;

/// Why a write did nothing and its sender can't know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    RequestLost,
    Busy,
    Unreadable,
}

/// One step of the world. The number is the place of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Time passes alike for all.
    Tick,
    /// Time passes, and one actor's clock advances by another number of ticks.
    OddTick {
        actor: usize,
        by: u64,
    },
    Start(usize),
    /// The run's own work goes on: plan, check, job, settlement; the flag says whether the job passed.
    Work(usize, bool),
    Interrupt(usize),
    /// The owner's timer.
    Wake(usize),
    Die(usize),
    Land(usize),
    Fail(usize, Failure),
    Answer(usize),
    LoseAnswer(usize),
    /// The store tried twice and reports the comparison that its second try lost against its first.
    AnswerStale(usize),
    LandOrphan(usize),
    DropOrphan(usize),
    Look,
    LandRecovery,
    FailRecovery,
    /// The recoverer is answered; the flag says whether a dead executor can be proven gone.
    AnswerRecovery {
        provable: bool,
    },
    LoseRecoveryAnswer,
    Absorb,
    Remove,
}

type Outcomes = Result<(), String>;

impl World {
    /// Everything that can happen now.
    pub(crate) fn actions(&self, bounds: &Bounds) -> Vec<Action> {
        let mut actions = Vec::with_capacity(24);
        for place in 0..2 {
            self.actions_of_run(place, bounds, &mut actions);
        }
        self.actions_of_recoverer(bounds, &mut actions);
        if let Some(Stored { record, .. }) = &self.record
            && record.is_finished()
        {
            if !self.is_absorbed(record) {
                actions.push(Action::Absorb);
            } else if self.spent.removals < bounds.removals && !self.creation_is_under_way() {
                actions.push(Action::Remove);
            }
        }
        if self.spent.ticks < bounds.ticks {
            actions.push(Action::Tick);
            if self.spent.clock_faults < bounds.clock_faults {
                let odd = |actor| [0, 2, 6].map(|by| Action::OddTick { actor, by });
                actions.extend((0..3).flat_map(odd));
            }
        }
        actions
    }

    fn actions_of_run(&self, place: usize, bounds: &Bounds, actions: &mut Vec<Action>) {
        let run = &self.runs[place];
        let may_fail = self.spent.faults < bounds.faults;
        if run.orphan.is_some() {
            actions.extend([Action::LandOrphan(place), Action::DropOrphan(place)]);
        }
        if !run.is_alive() {
            // Only a mutation still has something to say after its end.
            if matches!(run.flight, Flight::Sent(_)) {
                actions.push(Action::Land(place));
            }
            if run.born < bounds.runs[place] {
                actions.push(Action::Start(place));
            }
            return;
        }
        if self.spent.deaths < bounds.deaths {
            actions.push(Action::Die(place));
        }
        match &run.flight {
            Flight::Idle => {
                if run.owner.wakes_at_ms().is_some_and(|at_ms| at_ms <= self.now_ms(place)) {
                    actions.push(Action::Wake(place));
                }
            }
            Flight::Sent(question) => {
                actions.push(Action::Land(place));
                if may_fail {
                    actions.push(Action::Fail(place, Failure::RequestLost));
                    if matches!(**question, Effect::Swap { .. }) {
                        actions.push(Action::Fail(place, Failure::Busy));
                        actions.push(Action::Fail(place, Failure::Unreadable));
                    }
                }
            }
            Flight::Landed(answer) => {
                actions.push(Action::Answer(place));
                if may_fail {
                    actions.push(Action::LoseAnswer(place));
                    if matches!(**answer, Input::Written(Written::Applied(_))) {
                        actions.push(Action::AnswerStale(place));
                    }
                }
            }
        }
        match run.stage {
            Stage::Planning | Stage::Bound | Stage::Finishing => actions.push(Action::Work(place, true)),
            Stage::Running => actions.extend([Action::Work(place, true), Action::Work(place, false)]),
            _ => {}
        }
        if self.spent.interrupts < bounds.interrupts {
            actions.push(Action::Interrupt(place));
        }
    }

    fn actions_of_recoverer(&self, bounds: &Bounds, actions: &mut Vec<Action>) {
        let may_fail = self.spent.faults < bounds.faults;
        match &self.recoverer.flight {
            Flight::Idle => {
                if bounds.recoverer && self.record.as_ref().is_some_and(|stored| !stored.record.is_finished()) {
                    actions.push(Action::Look);
                }
            }
            Flight::Sent(_) => {
                actions.push(Action::LandRecovery);
                if may_fail {
                    actions.push(Action::FailRecovery);
                }
            }
            Flight::Landed(told) => {
                actions.push(Action::AnswerRecovery { provable: false });
                if matches!(**told, Told::Seen(Some(_))) {
                    actions.push(Action::AnswerRecovery { provable: true });
                }
                if may_fail {
                    actions.push(Action::LoseRecoveryAnswer);
                }
            }
        }
    }

    /// A request to create the ref is on its way. Retention removes nothing younger than a day, so it never meets one.
    fn creation_is_under_way(&self) -> bool {
        let creates = |effect: &Effect| matches!(effect, Effect::Swap { expected: None, .. } | Effect::Survey);
        self.runs.iter().any(|run| {
            let sent = match &run.flight {
                Flight::Sent(question) => creates(question),
                // It was told that there is no ref, or is about to be.
                Flight::Landed(answer) => matches!(**answer, Input::Surveyed(..)),
                Flight::Idle => false,
            };
            sent || run.orphan.as_ref().is_some_and(|orphan| creates(orphan))
        })
    }

    /// The world after `action`, with the goals that were reached on the way.
    ///
    /// # Errors
    /// What must never happen did; the text says what.
    pub(crate) fn after(&self, action: Action, bounds: &Bounds) -> Result<(Self, Goals), String> {
        let mut world = self.clone();
        let mut goals = Goals::default();
        world.act(action, bounds, &mut goals)?;
        property::holds(&world)?;
        Ok((world, goals))
    }

    pub(super) fn act(&mut self, action: Action, bounds: &Bounds, goals: &mut Goals) -> Outcomes {
        match action {
            Action::Tick => {
                self.spent.ticks += 1;
                self.clocks = self.clocks.map(|clock| clock + 1);
            }
            Action::OddTick { actor, by } => {
                self.spent.ticks += 1;
                self.spent.clock_faults += 1;
                for (number, clock) in self.clocks.iter_mut().enumerate() {
                    *clock += if number == actor { by } else { 1 };
                }
            }
            Action::Start(place) => {
                let run = &mut self.runs[place];
                run.owner = Rc::new(owner(place, run.born, bounds));
                run.born += 1;
                run.stage = Stage::Reserving;
                (run.produced, run.failed, run.stalled, run.settling_failed) = (false, false, false, false);
                self.step(place, Input::Reserve, bounds, goals)?;
            }
            Action::Work(place, passed) => self.work(place, passed, bounds, goals)?,
            Action::Interrupt(place) => {
                self.spent.interrupts += 1;
                let settlement = Settlement {
                    outcome: Outcome::Cancelled,
                    reason: Some(OwnReason::Signal),
                    exit_status: 130,
                    proof: None,
                    failed: Vec::new(),
                };
                self.settle(place, settlement, 2_000, bounds, goals)?;
            }
            Action::Wake(place) => self.step(place, Input::Tick, bounds, goals)?,
            Action::Die(place) => {
                self.spent.deaths += 1;
                let run = &mut self.runs[place];
                run.stage = Stage::Dead;
                if let Flight::Sent(question) = std::mem::replace(&mut run.flight, Flight::Idle)
                    && matches!(*question, Effect::Swap { .. })
                {
                    run.orphan = Some(question);
                }
            }
            Action::Land(place) => self.land(place, bounds)?,
            Action::Fail(place, failure) => self.fail(place, failure),
            Action::Answer(place) => {
                if let Flight::Landed(answer) = std::mem::replace(&mut self.runs[place].flight, Flight::Idle) {
                    self.step(place, Input::clone(&answer), bounds, goals)?;
                }
            }
            Action::LoseAnswer(place) => self.answer_with_failure(place, bounds, goals)?,
            Action::AnswerStale(place) => {
                self.spent.faults += 1;
                self.runs[place].flight = Flight::Idle;
                self.step(place, Input::Written(Written::Stale), bounds, goals)?;
            }
            Action::LandOrphan(place) => {
                if let Some(orphan) = self.runs[place].orphan.take()
                    && let Effect::Swap { expected, record } = &*orphan
                {
                    self.swap(*expected, record)?;
                }
            }
            Action::DropOrphan(place) => self.runs[place].orphan = None,
            Action::Look => self.recoverer.flight = Flight::Sent(Rc::new(Recovery::Look)),
            Action::LandRecovery => self.land_recovery(bounds, goals)?,
            Action::FailRecovery | Action::LoseRecoveryAnswer => {
                self.spent.faults += 1;
                self.recoverer.flight = Flight::Idle;
            }
            Action::AnswerRecovery { provable } => self.answer_recovery(provable, bounds)?,
            Action::Absorb => {
                if let Some(Stored { record, .. }) = self.record.clone() {
                    self.absorb(&record);
                    goals.reach_if(Goal::RetiredReceiptsKept, retired_with_receipts(&record));
                }
            }
            Action::Remove => {
                self.spent.removals += 1;
                if let Some(Stored { record, .. }) = self.record.take() {
                    property::nothing_is_lost(self, &record)?;
                }
                Rc::make_mut(&mut self.watch).see_removed().map_err(|violation| violation.to_string())?;
                goals.reach(Goal::Removed);
            }
        }
        Ok(())
    }

    /// The run's own work, one step on.
    fn work(&mut self, place: usize, passed: bool, bounds: &Bounds, goals: &mut Goals) -> Outcomes {
        let plan = &sample::plan()[..1];
        let attempt = self.runs[place].owner.fence().attempt;
        let run = &mut self.runs[place];
        match run.stage {
            Stage::Planning => {
                run.stage = Stage::Binding;
                self.step(place, Input::Bind(plan.to_vec()), bounds, goals)
            }
            Stage::Bound => {
                run.stage = Stage::Checking;
                self.step(place, Input::Check, bounds, goals)
            }
            Stage::Running => {
                run.stage = Stage::Finishing;
                run.produced = true;
                run.failed = !passed;
                let mut receipt = sample::receipt(0, &plan[0]);
                receipt.attempt = attempt;
                if !passed {
                    receipt.verdict = git_discern::evidence::Verdict::Failed;
                }
                self.step(place, Input::Publish(vec![receipt]), bounds, goals)
            }
            _ => {
                let failed = run.failed;
                let mut settlement = if failed { sample::failed() } else { sample::passed(0, plan) };
                if bounds.purposes[place] == Purpose::Standards {
                    settlement.proof = None;
                }
                if let Some(proof) = &mut settlement.proof {
                    proof.attempt = attempt;
                }
                self.settle(place, settlement, lease::LEASE_MS, bounds, goals)
            }
        }
    }

    fn settle(
        &mut self,
        place: usize,
        settlement: Settlement,
        within_ms: u64,
        bounds: &Bounds,
        goals: &mut Goals,
    ) -> Outcomes {
        self.runs[place].stage = self.runs[place].stage.max(Stage::Settling);
        let input = Input::Settle { settlement: Box::new(settlement), within_ms };
        if bounds.mutation == Some(Mutation::RenewalAcrossSettlement)
            && let Flight::Sent(question) = self.runs[place].flight.clone()
            && renews(&question, self.record.as_ref())
        {
            self.runs[place].orphan = Some(question);
            self.runs[place].flight = Flight::Idle;
            self.step(place, Input::Written(Written::Stale), bounds, goals)?;
            self.runs[place].flight = Flight::Idle;
        }
        self.step(place, input, bounds, goals)
    }

    /// One step of the real owner, and what follows from what it says.
    fn step(&mut self, place: usize, input: Input, bounds: &Bounds, goals: &mut Goals) -> Outcomes {
        let input = self.tamper_input(place, input, bounds);
        let now = sample::at(self.now_ms(place));
        let number = match bounds.mutation {
            Some(Mutation::EqualBytes) => 1000 + self.clocks[place] as u128,
            _ => self.nonces + 1,
        };
        let pen = Pen { now, nonce: nonce(number), writer: None };
        let before = self.runs[place].stage;
        if let Input::Read(Seen::Record(id, record)) = &input
            && bounds.mutation.is_some()
        {
            self.runs[place].last_seen = Some(Stored { id: *id, record: Rc::new(Record::clone(record)) });
        }
        let effects = match self.instead_of_step(place, &input, pen, bounds) {
            Some(effects) => effects,
            None => Rc::make_mut(&mut self.runs[place].owner).step(input.clone(), pen),
        };
        for effect in effects {
            match effect {
                Effect::Say(said) => {
                    let said = tamper_said(said, &input, bounds);
                    self.heard(place, before, &said, &input, goals)?;
                }
                question => {
                    if matches!(question, Effect::Swap { .. }) {
                        self.nonces += 1;
                    }
                    self.runs[place].flight = self.tamper_question(place, question, bounds);
                }
            }
        }
        if self.runs[place].stage == Stage::Over && bounds.mutation.is_none() {
            self.runs[place].flight = Flight::Idle;
        }
        Ok(())
    }

    /// Takes note of what an owner said.
    fn heard(&mut self, place: usize, before: Stage, said: &Said, input: &Input, goals: &mut Goals) -> Outcomes {
        property::said(self, place, said, input)?;
        goals.heard(self, place, said, input);
        let run = &mut self.runs[place];
        match said {
            Said::Reserved { .. } => run.stage = run.stage.max(Stage::Planning),
            Said::Bound => run.stage = run.stage.max(Stage::Bound),
            Said::MayStart => run.stage = run.stage.max(Stage::Running),
            Said::Renewed { after_ms } => run.stalled |= *after_ms >= lease::LEASE_MS,
            Said::Over(_) => run.stage = Stage::Over,
            Said::Published { .. } | Said::BindRefused(_) | Said::PublishRefused(_) | Said::Trouble { .. } => {}
        }
        debug_assert!(before <= run.stage);
        Ok(())
    }

    /// The store carries a request out.
    fn land(&mut self, place: usize, bounds: &Bounds) -> Outcomes {
        let Flight::Sent(question) = std::mem::replace(&mut self.runs[place].flight, Flight::Idle) else {
            return Ok(());
        };
        let answer = match &*question {
            Effect::Survey => Input::Surveyed(as_seen(self.record.as_ref()), self.history(bounds)),
            Effect::Absorb(record) => {
                self.absorb(record);
                Input::Absorbed(Ok(()))
            }
            Effect::Read => Input::Read(as_seen(self.record.as_ref())),
            Effect::LookInLedger => {
                let attempt = self.runs[place].owner.fence().attempt;
                let entry = self.ledger.iter().find(|entry| entry.attempt == attempt);
                Input::InLedger(Ok(entry.map(|entry| entry.ended.clone())))
            }
            Effect::Swap { expected, record } => {
                let blind = bounds.mutation == Some(Mutation::SettlesWithoutComparing) && record.is_finished()
                    || matches!(
                        bounds.mutation,
                        Some(Mutation::RenewsFinishedRecord | Mutation::PublishesAfterRetirement)
                    ) && self.runs[place].stage == Stage::Over;
                let current = self.record.as_ref().map(|stored| stored.id);
                let written = self.swap(if blind { current } else { *expected }, record)?;
                if bounds.mutation.is_some() && matches!(written, Written::Applied(_)) {
                    self.runs[place].last_seen = self.record.clone();
                }
                Input::Written(written)
            }
            Effect::Say(_) => return Ok(()),
        };
        if self.runs[place].is_alive() {
            self.runs[place].flight = Flight::Landed(Rc::new(answer));
        }
        Ok(())
    }

    fn history(&mut self, bounds: &Bounds) -> History {
        let absorbed = self.record.as_ref().is_none_or(|stored| self.is_absorbed(&stored.record));
        if let Some(Stored { record, .. }) = &self.record
            && bounds.high_water
        {
            self.mark = self.mark.max((record.attempt.generation, record.sequence));
        }
        let ledger_generation = self.ledger.iter().map(|entry| entry.generation).max().unwrap_or(0);
        match bounds.mutation {
            Some(Mutation::GenerationRestarts) => History { absorbed, ..History::default() },
            Some(Mutation::ReservesOverUnabsorbed) => {
                History { absorbed: true, ledger_generation, high_water: self.mark }
            }
            _ => History { absorbed, ledger_generation, high_water: self.mark },
        }
    }

    /// Compare and swap, as git does it: creating what is there already with equal bytes reads as success.
    pub(super) fn swap(&mut self, expected: Option<RecordId>, record: &Record) -> Result<Written, String> {
        let id = record_id(record);
        let current = self.record.as_ref().map(|stored| stored.id);
        if current == Some(id) {
            return Ok(Written::Applied(id));
        }
        if current != expected {
            return Ok(Written::Stale);
        }
        if let Some(Stored { record: old, .. }) = &self.record
            && old.attempt.id != record.attempt.id
        {
            property::nothing_is_lost(self, old)?;
        }
        Rc::make_mut(&mut self.watch).see(record).map_err(|violation| violation.to_string())?;
        self.record = Some(Stored { id, record: Rc::new(record.clone()) });
        Ok(Written::Applied(id))
    }

    /// A request fails; for a write its sender can't tell.
    fn fail(&mut self, place: usize, failure: Failure) {
        self.spent.faults += 1;
        let run = &mut self.runs[place];
        run.settling_failed |= run.stage == Stage::Settling;
        let why = format!("{failure:?}");
        if let Flight::Sent(question) = &run.flight {
            run.flight = Flight::Landed(Rc::new(failed_answer(question, why)));
        }
    }

    fn answer_with_failure(&mut self, place: usize, bounds: &Bounds, goals: &mut Goals) -> Outcomes {
        self.spent.faults += 1;
        let run = &mut self.runs[place];
        run.settling_failed |= run.stage == Stage::Settling;
        let Flight::Landed(answer) = std::mem::replace(&mut run.flight, Flight::Idle) else { return Ok(()) };
        let why = "the answer was lost".to_owned();
        let failed = match &*answer {
            Input::Surveyed(..) => Input::Surveyed(Seen::Unreadable(why), History::default()),
            Input::Absorbed(_) => Input::Absorbed(Err(why)),
            Input::Read(_) => Input::Read(Seen::Unreadable(why)),
            Input::InLedger(_) => Input::InLedger(Err(why)),
            _ => Input::Written(Written::Unknown(why)),
        };
        self.step(place, failed, bounds, goals)
    }
}

fn retired_with_receipts(record: &Record) -> bool {
    !record.receipts.is_empty() && record.state.finish().is_some_and(|finish| matches!(finish.by, EndedBy::Run { .. }))
}

fn failed_answer(question: &Effect, why: String) -> Input {
    match question {
        Effect::Survey => Input::Surveyed(Seen::Unreadable(why), History::default()),
        Effect::Absorb(_) => Input::Absorbed(Err(why)),
        Effect::Read => Input::Read(Seen::Unreadable(why)),
        Effect::LookInLedger => Input::InLedger(Err(why)),
        Effect::Swap { .. } | Effect::Say(_) => Input::Written(Written::Unknown(why)),
    }
}
