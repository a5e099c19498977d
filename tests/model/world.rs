//! The modelled world: one candidate's ref, the ledger, two places where runs of it take place one after another, and one
//! recoverer; each with its own clock, each with at most one request between it and the store.
//!
//! What runs inside is the real code: `Owner::step`, the transitions, the takeover test. What is modelled is what surrounds
//! it: that a request arrives or is lost, that its answer arrives or is lost, that time passes, that a process dies.

use std::rc::Rc;

use git_discern::claim::Record;
use git_discern::claim::invariant::Watch;
use git_discern::claim::lease::Sighting;
use git_discern::claim::owner::{Effect, Ended, Input, Owner, Seen, Written};
use git_discern::claim::record::{EndedBy, Outcome, Purpose};
use git_discern::id::{AttemptId, Nonce, ObjectId, RecordId, Token};

use super::mutation::Mutation;
use crate::claim::sample;

/// One tick of the model, in milliseconds: a third of a lease, and longer than every retry.
pub(crate) const TICK_MS: u64 = 20_000;

/// The recoverer's clock in [`World::clocks`]; the places of runs are 0 and 1.
pub(crate) const RECOVERER: usize = 2;

/// How much may happen.
#[derive(Debug, Clone)]
pub(crate) struct Bounds {
    /// What this configuration is about.
    pub(crate) name: &'static str,
    /// What the runs at each place are for.
    pub(crate) purposes: [Purpose; 2],
    /// How many runs each place may see; more than one is a restart.
    pub(crate) runs: [u8; 2],
    /// There is a recoverer.
    pub(crate) recoverer: bool,
    /// It is on another boot and can only observe.
    pub(crate) other_boot: bool,
    /// The private folder with its high-water mark survives.
    pub(crate) high_water: bool,
    pub(crate) ticks: u8,
    /// Requests and replies lost, busy locks, unreadable records, failed absorptions.
    pub(crate) faults: u8,
    /// Ticks at which one clock stands still, runs double or jumps.
    pub(crate) clock_faults: u8,
    pub(crate) deaths: u8,
    pub(crate) interrupts: u8,
    pub(crate) removals: u8,
    pub(crate) mutation: Option<Mutation>,
}

/// How much has happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Spent {
    pub(crate) ticks: u8,
    pub(crate) faults: u8,
    pub(crate) clock_faults: u8,
    pub(crate) deaths: u8,
    pub(crate) interrupts: u8,
    pub(crate) removals: u8,
}

/// What the ref names.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) id: RecordId,
    pub(crate) record: Rc<Record>,
}

/// What the ledger keeps of one attempt.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) attempt: AttemptId,
    pub(crate) generation: u32,
    pub(crate) ended: Ended,
    pub(crate) receipts: usize,
    pub(crate) proven: bool,
}

/// How far a run's own work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Stage {
    Unborn,
    Reserving,
    Planning,
    Binding,
    Bound,
    Checking,
    Running,
    /// Its job has ended; the receipt is to be published, or is.
    Finishing,
    Settling,
    Over,
    Dead,
}

/// What is between an actor and the store.
#[derive(Debug, Clone)]
pub(crate) enum Flight<Question, Answer> {
    Idle,
    Sent(Rc<Question>),
    Landed(Rc<Answer>),
}

/// One place where runs take place.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    /// How many runs began here; the last one is the present one.
    pub(crate) born: u8,
    pub(crate) stage: Stage,
    pub(crate) owner: Rc<Owner>,
    pub(crate) flight: Flight<Effect, Input>,
    /// A request that outlived its sender: its git child goes on.
    pub(crate) orphan: Option<Rc<Effect>>,
    /// Its job ended, and a receipt was handed to the owner.
    pub(crate) produced: bool,
    /// That receipt says that the job failed.
    pub(crate) failed: bool,
    /// It renewed later than a lease after the renewal before.
    pub(crate) stalled: bool,
    /// A request of its settlement met a fault.
    pub(crate) settling_failed: bool,
    /// The record as it last saw it, for mutations that do not look again.
    pub(crate) last_seen: Option<Stored>,
}

/// What the recoverer asks.
#[derive(Debug, Clone)]
pub(crate) enum Recovery {
    Look,
    Retire { expected: RecordId, record: Rc<Record> },
}

/// What it is told.
#[derive(Debug, Clone)]
pub(crate) enum Told {
    Seen(Option<Stored>),
    Written(Written),
}

#[derive(Debug, Clone)]
pub(crate) struct Recoverer {
    pub(crate) flight: Flight<Recovery, Told>,
    pub(crate) sighting: Option<Sighting>,
}

/// A state of everything.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) spent: Spent,
    /// In ticks.
    pub(crate) clocks: [u64; 3],
    /// The last nonce given out.
    pub(crate) nonces: u128,
    pub(crate) record: Option<Stored>,
    pub(crate) ledger: Rc<Vec<Entry>>,
    /// The high-water mark that this machine keeps.
    pub(crate) mark: (u32, u64),
    pub(crate) runs: [Run; 2],
    pub(crate) recoverer: Recoverer,
    pub(crate) watch: Rc<Watch>,
    /// Proofs published outside a record; only a mutation does that.
    pub(crate) stray_proofs: Vec<AttemptId>,
}

/// What record and ledger say about an attempt.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Truth {
    Holding,
    Ended { ended: Ended, receipts: usize, proven: bool },
    Unknown,
}

impl World {
    /// Nobody has begun anything.
    pub(crate) fn new(bounds: &Bounds) -> Self {
        let run = |place: usize| Run {
            born: 0,
            stage: Stage::Unborn,
            owner: Rc::new(owner(place, 0, bounds)),
            flight: Flight::Idle,
            orphan: None,
            produced: false,
            failed: false,
            stalled: false,
            settling_failed: false,
            last_seen: None,
        };
        Self {
            spent: Spent::default(),
            // Another boot's clock shows something else altogether.
            clocks: [0, 0, if bounds.other_boot { 50 } else { 0 }],
            nonces: 0,
            record: None,
            ledger: Rc::default(),
            mark: (0, 0),
            runs: [run(0), run(1)],
            recoverer: Recoverer { flight: Flight::Idle, sighting: None },
            watch: Rc::default(),
            stray_proofs: Vec::new(),
        }
    }

    /// A place's clock, in milliseconds.
    pub(crate) fn now_ms(&self, actor: usize) -> u64 {
        self.clocks[actor] * TICK_MS
    }

    /// What is known of an attempt, by record first and ledger second.
    pub(crate) fn truth(&self, attempt: AttemptId, token: Token) -> Truth {
        if let Some(Stored { record, .. }) = &self.record
            && record.attempt.id == attempt
        {
            return match record.state.finish() {
                Some(finish) => Truth::Ended {
                    ended: ended(record).unwrap_or_else(|| unreachable!("it is finished")),
                    receipts: record.receipts.len(),
                    proven: finish.proof.is_some(),
                },
                None if record.state.claim().is_some_and(|claim| claim.token == token) => Truth::Holding,
                None => Truth::Unknown,
            };
        }
        let entry = self.ledger.iter().find(|entry| entry.attempt == attempt);
        entry.map_or(Truth::Unknown, |entry| Truth::Ended {
            ended: entry.ended.clone(),
            receipts: entry.receipts,
            proven: entry.proven,
        })
    }

    /// Whether the ledger has this finished record, receipts and all.
    pub(crate) fn is_absorbed(&self, record: &Record) -> bool {
        self.ledger.iter().any(|entry| {
            entry.attempt == record.attempt.id
                && Some(&entry.ended) == ended(record).as_ref()
                && entry.receipts == record.receipts.len()
        })
    }

    /// Copies a finished record into the ledger.
    pub(crate) fn absorb(&mut self, record: &Record) {
        let Some(ended) = ended(record) else { return };
        if !self.ledger.iter().any(|entry| entry.attempt == record.attempt.id) {
            let entry = Entry {
                attempt: record.attempt.id,
                generation: record.attempt.generation,
                ended,
                receipts: record.receipts.len(),
                proven: record.state.finish().is_some_and(|finish| finish.proof.is_some()),
            };
            Rc::make_mut(&mut self.ledger).push(entry);
        }
    }

    /// Whether the process that runs this attempt lives.
    pub(crate) fn is_alive(&self, attempt: AttemptId) -> bool {
        self.runs.iter().any(|run| run.is_alive() && run.owner.fence().attempt == attempt)
    }
}

impl Run {
    pub(crate) fn is_alive(&self) -> bool {
        self.stage > Stage::Unborn && self.stage < Stage::Over
    }

    /// Whether its attempt may be in the record.
    pub(crate) fn thinks_it_holds(&self) -> bool {
        self.stage > Stage::Reserving && self.stage < Stage::Over
    }
}

/// The owner of the `born`th run at a place.
pub(crate) fn owner(place: usize, born: u8, bounds: &Bounds) -> Owner {
    let number = match bounds.mutation {
        Some(Mutation::EqualBytes) => born,
        _ => place as u8 * 4 + born,
    };
    let mut fence = sample::fence(number);
    if bounds.mutation == Some(Mutation::ReusesToken) {
        fence.token = sample::fence(0).token;
    }
    let mut attempt = sample::attempt(number);
    attempt.purpose = bounds.purposes[place];
    attempt.tree = None;
    attempt.executor.machine.clear();
    attempt.executor.worktree.clear();
    attempt.executor.branch = None;
    attempt.executor.journal = None;
    Owner::new(fence, attempt)
}

/// How a finished record ended.
pub(crate) fn ended(record: &Record) -> Option<Ended> {
    let finish = record.state.finish()?;
    Some(Ended { outcome: finish.outcome, by: finish.by.clone(), exit_status: finish.exit_status })
}

/// Whether it was the owner that ended it, with a pass.
pub(crate) fn settled_as_passed(ended: &Ended) -> bool {
    ended.outcome == Outcome::Passed && matches!(ended.by, EndedBy::Owner { .. })
}

/// The id of a record: equal for equal bytes, and only for those.
pub(crate) fn record_id(record: &Record) -> RecordId {
    let mut bytes = [0; 20];
    bytes[..16].copy_from_slice(&record.nonce.0.as_u128().to_be_bytes());
    bytes[16..].copy_from_slice(&(record.sequence as u32).to_be_bytes());
    RecordId(ObjectId::from_bytes(&bytes).unwrap_or_else(|_| unreachable!("20 bytes are an object id")))
}

/// A nonce by its number.
pub(crate) fn nonce(number: u128) -> Nonce {
    Nonce(uuid::Uuid::from_u128(number))
}

/// A record as the store answers it.
pub(crate) fn as_seen(stored: Option<&Stored>) -> Seen {
    stored.map_or(Seen::Absent, |stored| Seen::Record(stored.id, Box::new(Record::clone(&stored.record))))
}
