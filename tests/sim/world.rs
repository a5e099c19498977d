//! The simulated world: store, ledger, clocks, and what befalls the actors.

use std::collections::BTreeMap;
use std::sync::Arc;

use git_discern::claim::Record;
use git_discern::claim::invariant::Watch;
use git_discern::claim::lease::Sighting;
use git_discern::claim::owner::Ended;
use git_discern::claim::record::EndedBy;
use git_discern::id::{AttemptId, CommitId, Nonce, ObjectId, Token};
use git_discern::store::memory::{Fault, MemoryStore};
use git_discern::time::{Reading, Timestamp};

use super::Met;
use super::actor;
use super::check::Operation;
use super::schedule::{Status, Turns};
use crate::claim::sample::EPOCH_MS;

/// How many actors a world has: two at one candidate, one at another.
pub(crate) const ACTORS: usize = 3;

/// Random numbers from a seed (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// True in `per_mille` of a thousand cases.
    pub(crate) fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }
}

/// What a seed decides beforehand. Chances are per mille.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) random: Random,
    pub(crate) store_faults: u64,
    pub(crate) ledger_faults: u64,
    pub(crate) stalls: u64,
    pub(crate) kills: u64,
    pub(crate) signals: u64,
    /// Clocks may stand still, run double, jump; wall clocks may be set.
    pub(crate) clock_faults: u64,
    /// The third actor is on another boot.
    pub(crate) other_boot: bool,
    /// The store swaps without comparing: a planted mistake.
    pub(crate) blind: bool,
    /// How many runs each actor makes at most.
    pub(crate) runs: u64,
}

impl Setting {
    pub(crate) fn of(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let mut one_of = |choices: &[u64]| choices[random.below(choices.len() as u64) as usize];
        let store_faults = one_of(&[0, 0, 30, 100, 300]);
        let ledger_faults = one_of(&[0, 0, 50, 300]);
        let stalls = one_of(&[0, 5, 20, 60]);
        let kills = one_of(&[0, 0, 4, 15]);
        let signals = one_of(&[0, 0, 10]);
        let clock_faults = one_of(&[0, 0, 10, 40]);
        let other_boot = one_of(&[0, 1]) == 1;
        let runs = one_of(&[1, 2, 3]);
        Self {
            random,
            store_faults,
            ledger_faults,
            stalls,
            kills,
            signals,
            clock_faults,
            other_boot,
            blind: false,
            runs,
        }
    }
}

/// An actor as the world sees it.
#[derive(Debug)]
pub(crate) struct Actor {
    pub(crate) status: Status,
    pub(crate) killed: bool,
    /// A signal is pending.
    pub(crate) signalled: bool,
    /// Its monotonic clock, in milliseconds; advances `rate` halves for each true millisecond.
    reading_ms: u64,
    rate: u64,
    wall_offset_ms: i64,
    /// The attempt that it runs.
    pub(crate) attempt: Option<AttemptId>,
}

/// What the ledger keeps of one attempt.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) candidate: CommitId,
    pub(crate) attempt: AttemptId,
    pub(crate) generation: u32,
    pub(crate) ended: Ended,
    pub(crate) receipts: usize,
    pub(crate) proven: bool,
}

/// Everything; only the holder of the turn touches it.
pub(crate) struct State {
    pub(crate) setting: Setting,
    pub(crate) turn: usize,
    pub(crate) actors: Vec<Actor>,
    /// The true time, in milliseconds.
    pub(crate) now_ms: u64,
    pub(crate) store: MemoryStore,
    pub(crate) ledger: Vec<Entry>,
    pub(crate) marks: BTreeMap<CommitId, (u32, u64)>,
    /// By boot and candidate.
    pub(crate) sightings: BTreeMap<(bool, CommitId), Sighting>,
    pub(crate) watches: BTreeMap<CommitId, Watch>,
    pub(crate) operations: Vec<Operation>,
    /// Counts requests and answers: the order that all can agree on.
    pub(crate) moments: u64,
    pub(crate) met: Met,
    pub(crate) wrong: Option<String>,
    /// From here on nothing fails any more, so that everything comes to its end.
    calm: bool,
}

impl State {
    pub(crate) fn random(&mut self) -> &mut Random {
        &mut self.setting.random
    }

    /// The first thing that went wrong counts.
    pub(crate) fn blame(&mut self, what: impl FnOnce() -> String) {
        if self.wrong.is_none() {
            self.wrong = Some(what());
        }
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.calm
    }

    pub(crate) fn reading(&self, actor: usize) -> Reading {
        let Actor { reading_ms, wall_offset_ms, .. } = self.actors[actor];
        let wall = Timestamp::from_millis(EPOCH_MS + self.now_ms as i64 + wall_offset_ms);
        Reading { wall, monotonic_ms: reading_ms }
    }

    pub(crate) fn nonce(&mut self) -> Nonce {
        Nonce(self.uuid())
    }

    pub(crate) fn token(&mut self) -> Token {
        Token(self.uuid())
    }

    pub(crate) fn uuid(&mut self) -> uuid::Uuid {
        let (high, low) = (self.random().next(), self.random().next());
        uuid::Uuid::from_u64_pair(high, low)
    }

    /// What goes wrong with the next request to the store.
    pub(crate) fn fault(&mut self) -> Fault {
        let chance = if self.calm { 0 } else { self.setting.store_faults };
        if !self.random().chance(chance) {
            return Fault::None;
        }
        self.met.faults += 1;
        let faults = [Fault::RequestLost, Fault::ReplyLost, Fault::Busy, Fault::Unreadable, Fault::Failure];
        faults[self.random().below(faults.len() as u64) as usize]
    }

    pub(crate) fn ledger_fails(&mut self) -> bool {
        let chance = if self.calm { 0 } else { self.setting.ledger_faults };
        self.random().chance(chance)
    }

    /// Chance befalls an actor that gives the turn away.
    pub(crate) fn something_happens(&mut self, actor: usize) {
        let spent = self.random().below(40);
        self.advance(spent);
        if self.calm {
            return;
        }
        let Setting { stalls, kills, signals, clock_faults, .. } = self.setting;
        if self.random().chance(stalls) {
            let long = self.random().below(150_000);
            self.actors[actor].status = Status::Stopped(self.now_ms + long);
        }
        if self.actors[actor].attempt.is_some() && self.random().chance(kills) {
            self.actors[actor].killed = true;
        }
        if self.random().chance(signals) {
            self.actors[actor].signalled = true;
        }
        if self.random().chance(clock_faults) {
            let which = self.random().below(ACTORS as u64) as usize;
            let what = self.random().below(6);
            let hour_ms = 3_600_000;
            match what {
                0 => self.actors[which].rate = 0,
                1 => self.actors[which].rate = 4,
                2 => self.actors[which].reading_ms += 90_000,
                3 => self.actors[which].wall_offset_ms += hour_ms,
                4 => self.actors[which].wall_offset_ms -= 24 * hour_ms,
                _ => self.actors[which].wall_offset_ms += 10 * 365 * 24 * hour_ms,
            }
        }
        if self.random().chance(100) {
            self.actors.iter_mut().for_each(|actor| actor.rate = 2);
        }
    }

    fn advance(&mut self, millis: u64) {
        self.now_ms += millis;
        for actor in &mut self.actors {
            actor.reading_ms += millis * actor.rate / 2;
        }
    }

    fn is_due(&self, actor: &Actor) -> bool {
        match actor.status {
            Status::Ready => true,
            Status::Until(reading_ms) => reading_ms <= actor.reading_ms || actor.killed || actor.signalled,
            Status::Stopped(true_ms) => true_ms <= self.now_ms,
            Status::Done => false,
        }
    }

    /// Who goes on; time passes until somebody can.
    pub(crate) fn next_turn(&mut self) -> usize {
        loop {
            let due: Vec<usize> = (0..self.actors.len()).filter(|&at| self.is_due(&self.actors[at])).collect();
            if !due.is_empty() {
                return due[self.random().below(due.len() as u64) as usize];
            }
            let waits = self.actors.iter().filter_map(|actor| match actor.status {
                Status::Until(reading_ms) if actor.rate > 0 => {
                    Some((reading_ms.saturating_sub(actor.reading_ms)).saturating_mul(2).div_ceil(actor.rate))
                }
                Status::Stopped(true_ms) => Some(true_ms.saturating_sub(self.now_ms)),
                _ => None,
            });
            match waits.min() {
                Some(millis) => self.advance(millis.max(1)),
                // Every clock that anybody waits for stands still.
                None => self.actors.iter_mut().for_each(|actor| actor.rate = 2),
            }
        }
    }

    /// Whether the process that runs this attempt lives.
    pub(crate) fn is_alive(&self, attempt: AttemptId) -> bool {
        self.actors.iter().any(|actor| actor.attempt == Some(attempt))
    }

    pub(crate) fn standing(&self, candidate: &CommitId) -> Option<Record> {
        let bytes = self.store.bytes(candidate)?;
        Record::decode(bytes, candidate).ok()
    }

    /// Copies a finished record into the ledger.
    pub(crate) fn absorb(&mut self, record: &Record) {
        let Some(finish) = record.state.finish() else { return };
        if self.ledger.iter().any(|entry| entry.attempt == record.attempt.id) {
            return;
        }
        self.ledger.push(Entry {
            candidate: record.attempt.commit,
            attempt: record.attempt.id,
            generation: record.attempt.generation,
            ended: Ended { outcome: finish.outcome, by: finish.by.clone(), exit_status: finish.exit_status },
            receipts: record.receipts.len(),
            proven: finish.proof.is_some(),
        });
    }

    /// The ref of `candidate` changed from `before` to what it holds now.
    pub(crate) fn ref_changed(&mut self, candidate: &CommitId, before: Option<Record>) {
        if let Some(before) = &before
            && before.is_finished()
        {
            let kept = self
                .ledger
                .iter()
                .any(|entry| entry.attempt == before.attempt.id && entry.receipts == before.receipts.len());
            if !kept {
                self.blame(|| "a finished record went before the ledger had it".to_owned());
            }
        }
        let watch = self.watches.entry(*candidate).or_default();
        let seen = match self.store.bytes(candidate).map(|bytes| Record::decode(bytes, candidate)) {
            None => watch.see_removed().map_err(|violation| violation.to_string()),
            Some(Err(error)) => Err(error.to_string()),
            Some(Ok(next)) => {
                let seen = watch.see(&next).map_err(|violation| violation.to_string());
                self.retired_in_time(before.as_ref(), &next);
                seen
            }
        };
        if let Err(wrong) = seen {
            self.blame(|| wrong);
        }
    }

    /// With clocks that go right, no live owner is declared gone and no record renewed on time is retired.
    fn retired_in_time(&mut self, before: Option<&Record>, next: &Record) {
        use git_discern::claim::record::TakeoverReason;
        let Some(EndedBy::Run { reason, .. }) = next.state.finish().map(|finish| &finish.by) else { return };
        if *reason == TakeoverReason::ExecutorGone && self.is_alive(next.attempt.id) {
            self.blame(|| "a live executor was declared gone".to_owned());
        }
        let Some(before) = before.and_then(|before| before.state.claim()) else { return };
        let stamped_ms = before.lease.expiry_for_report().as_millis() - EPOCH_MS - 60_000;
        let early = (self.now_ms as i64) < stamped_ms + 60_000;
        if *reason == TakeoverReason::LeaseLapsed && self.setting.clock_faults == 0 && early {
            self.blame(|| "a record renewed on time was retired by the clock".to_owned());
        }
    }
}

/// A world that has ended.
pub(crate) struct World {
    state: State,
}

impl World {
    /// Runs a whole world on threads of its own, then lets it come to rest.
    pub(crate) fn run(setting: &Setting) -> Self {
        let actor = |number: u64| Actor {
            status: Status::Ready,
            killed: false,
            signalled: false,
            reading_ms: 1_000_000 * (1 + number * u64::from(setting.other_boot && number == 2)),
            rate: 2,
            wall_offset_ms: 0,
            attempt: None,
        };
        let state = State {
            setting: setting.clone(),
            turn: 0,
            actors: (0..ACTORS as u64).map(actor).collect(),
            now_ms: 0,
            store: MemoryStore::new(),
            ledger: Vec::new(),
            marks: BTreeMap::new(),
            sightings: BTreeMap::new(),
            watches: BTreeMap::new(),
            operations: Vec::new(),
            moments: 0,
            met: Met { seeds: 1, ..Met::default() },
            wrong: None,
            calm: false,
        };
        let turns = Arc::new(Turns::new(state, ACTORS));
        std::thread::scope(|scope| {
            for number in 0..ACTORS {
                let turns = Arc::clone(&turns);
                scope.spawn(move || actor::live(&turns, number));
            }
        });
        // Then peace: one actor, no faults, a lease later. Whatever was left behind must be recovered and proven.
        {
            let mut state = turns.state();
            state.calm = true;
            state.advance(61_000);
            state.turn = 0;
            for actor in &mut state.actors[1..] {
                actor.attempt = None;
            }
            let me = &mut state.actors[0];
            (me.status, me.killed, me.signalled, me.rate, me.attempt) = (Status::Ready, false, false, 2, None);
        }
        actor::come_to_rest(&turns);
        let turns = Arc::into_inner(turns).unwrap_or_else(|| unreachable!("every thread has ended"));
        Self { state: turns.into_state() }
    }

    pub(crate) fn met(&self) -> Met {
        self.state.met
    }

    pub(crate) fn wrong(&self) -> Option<String> {
        self.state.wrong.clone()
    }

    pub(crate) fn operations(&self) -> Vec<Operation> {
        self.state.operations.clone()
    }
}

/// The candidate that an actor works on.
pub(crate) fn candidate_of(actor: usize) -> CommitId {
    let byte = if actor == 2 { 0xc1 } else { 0xc0 };
    CommitId(ObjectId::from_bytes(&[byte; 20]).unwrap_or_else(|_| unreachable!("20 bytes are an object id")))
}
