//! The simulated machine that one actor runs on: what the engine asks for, answered from the world.

use git_discern::claim::Record;
use git_discern::claim::lease::{ExecutorState, Sighting};
use git_discern::claim::owner::{Ended, Input, Loss, Over, Owner, Said, Seen, Written};
use git_discern::claim::record::EndedBy;
use git_discern::claim::transition::{History, Pen};
use git_discern::engine::claims::Claims;
use git_discern::engine::driver::{self, Desk};
use git_discern::engine::recovery::Witness;
use git_discern::engine::stage::{Ending, EndingSignal, ExecutionEnd, ExecutionHow, Happening, Stage, TreeState};
use git_discern::event::What;
use git_discern::evidence::RequirementKey;
use git_discern::id::{AttemptId, CommitId, RecordId};
use git_discern::plan::Start;
use git_discern::store::{Found, RecordStore as _, Swap, memory};
use git_discern::time::Reading;

use super::check::{Answer, Asked, Operation};
use super::schedule::{Status, Turns};
use super::world::State;
use crate::claim::sample;

/// An execution that runs.
struct Job {
    start: Start,
    /// On this actor's monotonic clock.
    ends_ms: u64,
    began_ms: u64,
    how: ExecutionHow,
}

/// One actor's machine.
pub(crate) struct Machine<'t> {
    pub(crate) turns: &'t Turns,
    pub(crate) actor: usize,
    jobs: Vec<Job>,
}

impl<'t> Machine<'t> {
    pub(crate) fn new(turns: &'t Turns, actor: usize) -> Self {
        Self { turns, actor, jobs: Vec::new() }
    }

    /// Sends a request and waits for its answer; others go on before it arrives and before its answer does.
    fn request<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        self.turns.pass(self.actor, Status::Ready);
        let answer = work(&mut self.turns.state());
        self.turns.pass(self.actor, Status::Ready);
        answer
    }

    /// The same, for the history that is checked afterwards.
    fn noted<T>(
        &self,
        candidate: &CommitId,
        asked: Asked,
        work: impl FnOnce(&mut State) -> T,
        answer: impl FnOnce(&T) -> Answer,
    ) -> T {
        let at = {
            let mut state = self.turns.state();
            state.moments += 1;
            let invoked = state.moments;
            let operation =
                Operation { candidate: *candidate, asked, invoked, returned: u64::MAX, answer: Answer::Unknown };
            state.operations.push(operation);
            state.operations.len() - 1
        };
        let told = self.request(work);
        let mut state = self.turns.state();
        state.moments += 1;
        state.operations[at].returned = state.moments;
        state.operations[at].answer = answer(&told);
        told
    }

    /// Waits on its own clock.
    pub(crate) fn rest(&self, millis: u64) {
        let until_ms = self.now().monotonic_ms + millis;
        self.turns.pass(self.actor, Status::Until(until_ms));
    }

    /// What an owner says must be what record and ledger say (protocol section 9).
    fn check(&self, owner: &Owner, said: &Said) {
        let mut state = self.turns.state();
        let fence = owner.fence();
        let standing = state.standing(&fence.candidate).filter(|record| record.attempt.id == fence.attempt);
        let holding = standing.as_ref().is_some_and(|record| fence.owns(record));
        let recorded = standing.as_ref().and_then(|record| record.state.finish()).map(|finish| Ended {
            outcome: finish.outcome,
            by: finish.by.clone(),
            exit_status: finish.exit_status,
        });
        let kept = state.ledger.iter().find(|entry| entry.attempt == fence.attempt).map(|entry| entry.ended.clone());
        let truth = recorded.or(kept);
        let wrong = match said {
            Said::Over(Over::Settled(ended)) => truth.as_ref() != Some(ended) || !by_owner(ended),
            Said::Over(Over::Lost(Loss::Retired(ended))) => truth.as_ref() != Some(ended) || by_owner(ended),
            Said::Over(Over::Lost(Loss::Replaced(_))) => holding || truth.is_some(),
            Said::Over(Over::NotReserved(_)) => {
                (holding || truth.is_some()) && state.setting.store_faults + state.setting.ledger_faults == 0
            }
            Said::Over(Over::Unsettled(_)) => state.setting.store_faults + state.setting.ledger_faults == 0,
            Said::Over(Over::SettleRefused(_)) | Said::BindRefused(_) | Said::PublishRefused(_) => true,
            _ => false,
        };
        if wrong {
            state.blame(|| format!("an owner says {said:?}; holding: {holding}, recorded: {truth:?}"));
        }
    }
}

fn by_owner(ended: &Ended) -> bool {
    matches!(ended.by, EndedBy::Owner { .. })
}

impl Claims for Machine<'_> {
    fn look(&mut self, candidate: &CommitId) -> Seen {
        let mark = self.turns.state().marks.get(candidate).copied().unwrap_or_default();
        let read = |state: &mut State| {
            let fault = state.fault();
            state.store.inject([fault]);
            state.store.read(candidate)
        };
        let answer = |found: &Result<Found, _>| match found {
            Ok(Found::Absent) => Answer::Read(None),
            Ok(Found::Record { id, .. }) => Answer::Read(Some(*id)),
            _ => Answer::Unknown,
        };
        match self.noted(candidate, Asked::Read, read, answer) {
            Ok(Found::Absent) => Seen::Absent,
            Ok(Found::Record { id, bytes }) => match Record::decode(&bytes, candidate) {
                Ok(record) => {
                    let seen = (record.attempt.generation, record.sequence);
                    let mut state = self.turns.state();
                    if seen < mark {
                        state.blame(|| format!("a record went back: {seen:?} after {mark:?}"));
                    }
                    let kept = state.marks.entry(*candidate).or_default();
                    *kept = seen.max(*kept);
                    Seen::Record(id, Box::new(record))
                }
                Err(error) => Seen::Unreadable(error.to_string()),
            },
            Ok(Found::Unreadable(why)) => Seen::Unreadable(why.to_string()),
            Err(error) => Seen::Unreadable(error.to_string()),
        }
    }

    fn history(&mut self, candidate: &CommitId, seen: &Seen) -> Result<History, String> {
        self.request(|state| {
            if state.ledger_fails() {
                return Err("the ledger can't be read".to_owned());
            }
            let of_candidate = state.ledger.iter().filter(|entry| entry.candidate == *candidate);
            let ledger_generation = of_candidate.map(|entry| entry.generation).max().unwrap_or(0);
            let absorbed = matches!(
                seen,
                Seen::Record(_, record) if state.ledger.iter().any(|entry| entry.attempt == record.attempt.id)
            );
            let high_water = state.marks.get(candidate).copied().unwrap_or_default();
            Ok(History { absorbed, ledger_generation, high_water })
        })
    }

    fn absorb(&mut self, record: &Record) -> Result<(), String> {
        self.request(|state| {
            // It may fail before or after it was written.
            let written = !state.ledger_fails();
            if written {
                state.absorb(record);
            }
            if written && !state.ledger_fails() { Ok(()) } else { Err("the ledger can't be written".to_owned()) }
        })
    }

    fn ended(&mut self, _: &CommitId, attempt: AttemptId) -> Result<Option<Ended>, String> {
        self.request(|state| {
            if state.ledger_fails() {
                return Err("the ledger can't be read".to_owned());
            }
            Ok(state.ledger.iter().find(|entry| entry.attempt == attempt).map(|entry| entry.ended.clone()))
        })
    }

    fn swap(&mut self, candidate: &CommitId, expected: Option<RecordId>, record: &Record) -> Written {
        let bytes = record.encode();
        let asked = Asked::Swap { expected, new: memory::record_id(&bytes) };
        let write = |state: &mut State| {
            let before = state.standing(candidate);
            let fault = state.fault();
            state.store.inject([fault]);
            state.met.swaps += 1;
            let current = before.as_ref().map(|before| memory::record_id(&before.encode()));
            let named = if state.setting.blind { current } else { expected };
            let swapped = state.store.swap(candidate, named, &bytes);
            if state.standing(candidate) != before {
                state.ref_changed(candidate, before);
            }
            swapped
        };
        let answer = |swapped: &Swap| match swapped {
            Swap::Applied(_) => Answer::Applied,
            Swap::Stale(_) => Answer::Stale,
            Swap::Unknown(_) => Answer::Unknown,
        };
        match self.noted(candidate, asked, write, answer) {
            Swap::Applied(id) => Written::Applied(id),
            Swap::Stale(_) => Written::Stale,
            Swap::Unknown(why) => Written::Unknown(why),
        }
    }
}

impl Desk for Machine<'_> {
    fn pen(&mut self) -> Pen {
        let mut state = self.turns.state();
        let nonce = state.nonce();
        Pen { now: state.reading(self.actor), nonce, writer: None }
    }
}

impl Witness for Machine<'_> {
    fn boot(&self) -> String {
        let elsewhere = self.turns.state().setting.other_boot && self.actor == 2;
        if elsewhere { "another boot".to_owned() } else { sample::BOOT.to_owned() }
    }

    fn sighting(&mut self, candidate: &CommitId, record: RecordId, now_ms: u64) -> Option<Sighting> {
        let boot = self.boot();
        let mut state = self.turns.state();
        let key = (boot == sample::BOOT, *candidate);
        let known = state.sightings.get(&key).filter(|sighting| sighting.record == record).cloned();
        if known.is_none() {
            state.sightings.insert(key, Sighting { boot, record, monotonic_ms: now_ms });
        }
        known
    }

    fn executor(&mut self, record: &Record) -> ExecutorState {
        self.request(|state| {
            let gone = !state.is_alive(record.attempt.id);
            let provable = state.random().chance(700);
            if gone && provable { ExecutorState::Gone } else { ExecutorState::Unknown }
        })
    }

    fn end_leftovers(&mut self, _: AttemptId) -> usize {
        0
    }
}

impl Stage for Machine<'_> {
    fn drive(&mut self, owner: &mut Owner, input: Input) -> Vec<Said> {
        let said = driver::drive(owner, input, self);
        said.iter().for_each(|said| self.check(owner, said));
        said
    }

    fn now(&self) -> Reading {
        self.turns.state().reading(self.actor)
    }

    fn tell(&mut self, what: What) {
        if matches!(what, What::RenewedLate { .. }) {
            self.turns.state().met.late += 1;
        }
        // A terminal takes its time, and the loop with it (C14).
        self.turns.pass(self.actor, Status::Ready);
    }

    fn take_slots(&mut self, wanted: usize) -> usize {
        let mut state = self.turns.state();
        if state.is_calm() { wanted } else { state.random().below(wanted as u64 + 1) as usize }
    }

    fn start(&mut self, start: &Start) {
        let began_ms = self.now().monotonic_ms;
        let mut state = self.turns.state();
        let long = state.random().chance(200);
        let lasts_ms = 50 + state.random().below(if long { 200_000 } else { 5_000 });
        let fails = !state.is_calm() && state.random().chance(120);
        let how = ExecutionHow::Exited { code: i32::from(fails), why: String::new() };
        self.jobs.push(Job { start: start.clone(), began_ms, ends_ms: began_ms + lasts_ms, how });
    }

    fn end_executions(&mut self, how: Ending) {
        let now_ms = self.now().monotonic_ms;
        let grace_ms = if how == Ending::Gently { self.turns.state().random().below(5_000) } else { 0 };
        for job in &mut self.jobs {
            if job.ends_ms > now_ms {
                (job.ends_ms, job.how) = (now_ms + grace_ms, ExecutionHow::Ended);
            }
        }
    }

    fn running(&self) -> usize {
        self.jobs.len()
    }

    fn wait(&mut self, until_ms: Option<u64>) -> Vec<Happening> {
        let now_ms = self.now().monotonic_ms;
        let job_ms = self.jobs.iter().map(|job| job.ends_ms).min();
        let wake_ms = until_ms.into_iter().chain(job_ms).min().unwrap_or(now_ms + 1_000);
        self.turns.pass(self.actor, Status::Until(wake_ms));
        let now = self.now();
        let (over, running) =
            std::mem::take(&mut self.jobs).into_iter().partition(|job| job.ends_ms <= now.monotonic_ms);
        self.jobs = running;
        let ended = |job: Job| {
            Happening::Ended(ExecutionEnd {
                start: job.start,
                at: now.wall,
                how: job.how,
                duration_ms: now.monotonic_ms - job.began_ms,
                log_bytes: 0,
                output_lost: None,
                log: None,
                readings: Vec::new(),
                artifacts: Vec::new(),
            })
        };
        let mut happenings: Vec<Happening> = over.into_iter().map(ended).collect();
        if std::mem::take(&mut self.turns.state().actors[self.actor].signalled) {
            happenings.push(Happening::Signal(EndingSignal::Interrupt));
        }
        happenings
    }

    fn look_at_tree(&mut self, _: &[RequirementKey]) -> TreeState {
        let mut state = self.turns.state();
        let calm = state.is_calm();
        if !calm && state.random().chance(10) {
            return TreeState::Changed(vec!["src/lib.rs was changed".to_owned()]);
        }
        TreeState::Same
    }
}
