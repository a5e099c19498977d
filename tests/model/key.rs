//! When two states are the same: equal in everything but the names of their nonces.
//!
//! Nonces are only ever compared, so they are numbered in the order in which a state mentions them. Sequence numbers are
//! counted from the record's. Everything else is taken as it is.

use std::hash::{DefaultHasher, Hash, Hasher};

use git_discern::claim::Record;
use git_discern::claim::owner::{Effect, Input, Seen, Written};
use git_discern::claim::record::{EndedBy, TakeoverReason};
use git_discern::id::RecordId;

use super::world::{Flight, Recovery, Stored, Told, World};

/// 128 bits of a state: with ten million states two different ones share theirs with a probability of 2 in 10^25.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key(u64, u64);

struct Writer {
    bytes: Vec<u8>,
    nonces: Vec<u128>,
    sequence: u64,
}

/// Takes in what `Hash` feeds, verbatim.
struct Verbatim<'w>(&'w mut Vec<u8>);

impl Hasher for Verbatim<'_> {
    fn finish(&self) -> u64 {
        0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

impl Writer {
    fn put(&mut self, value: impl Hash) {
        value.hash(&mut Verbatim(&mut self.bytes));
    }

    fn nonce(&mut self, nonce: u128) {
        let number = self.nonces.iter().position(|&known| known == nonce).unwrap_or_else(|| {
            self.nonces.push(nonce);
            self.nonces.len() - 1
        });
        self.bytes.push(number as u8);
    }

    fn id(&mut self, id: RecordId) {
        let mut nonce = [0; 16];
        nonce.copy_from_slice(&id.0.as_bytes()[..16]);
        self.nonce(u128::from_be_bytes(nonce));
    }

    fn record(&mut self, record: &Record) {
        self.nonce(record.nonce.0.as_u128());
        self.put((record.sequence.wrapping_sub(self.sequence), record.attempt.id, record.attempt.generation));
        self.put((record.state.kind(), record.requirements.len(), record.receipts.len()));
        if let Some(claim) = record.state.claim() {
            self.put((claim.token, claim.lease.expiry_for_report()));
        }
        if let Some(finish) = record.state.finish() {
            self.put((finish.outcome, by(&finish.by), finish.exit_status, finish.proof.is_some()));
        }
        for previous in &record.previous {
            self.nonce(previous.nonce.0.as_u128());
            self.put((previous.id, previous.outcome, by(&previous.by)));
        }
    }

    fn stored(&mut self, stored: Option<&Stored>) {
        self.put(stored.is_some());
        if let Some(stored) = stored {
            self.record(&stored.record);
        }
    }

    fn seen(&mut self, seen: &Seen) {
        self.put(std::mem::discriminant(seen));
        if let Seen::Record(_, record) = seen {
            self.record(record);
        }
    }

    fn question(&mut self, question: &Effect) {
        self.put(std::mem::discriminant(question));
        match question {
            Effect::Swap { expected, record } => {
                self.put(expected.is_some());
                if let Some(expected) = expected {
                    self.id(*expected);
                }
                self.record(record);
            }
            Effect::Absorb(record) => self.record(record),
            Effect::Survey | Effect::Read | Effect::LookInLedger | Effect::Say(_) => {}
        }
    }

    fn answer(&mut self, answer: &Input) {
        self.put(std::mem::discriminant(answer));
        match answer {
            Input::Surveyed(seen, history) => {
                self.seen(seen);
                self.put(history);
            }
            Input::Read(seen) => self.seen(seen),
            Input::Absorbed(absorbed) => self.put(absorbed.is_ok()),
            Input::InLedger(found) => {
                self.put(found.as_ref().map(|found| found.as_ref().map(|ended| (ended.outcome, by(&ended.by)))).ok());
            }
            Input::Written(written) => {
                self.put(std::mem::discriminant(written));
                if let Written::Applied(id) = written {
                    self.id(*id);
                }
            }
            _ => {}
        }
    }

    fn recovery(&mut self, flight: &Flight<Recovery, Told>) {
        self.put(std::mem::discriminant(flight));
        match flight {
            Flight::Idle => {}
            Flight::Sent(question) => match &**question {
                Recovery::Look => self.put(0u8),
                Recovery::Retire { expected, record } => {
                    self.put(1u8);
                    self.id(*expected);
                    self.record(record);
                }
            },
            Flight::Landed(told) => match &**told {
                Told::Seen(stored) => {
                    self.put(2u8);
                    self.stored(stored.as_ref());
                }
                Told::Written(written) => self.put((3u8, std::mem::discriminant(written))),
            },
        }
    }
}

fn by(by: &EndedBy) -> u8 {
    match by {
        EndedBy::Owner { reason: None } => 0,
        EndedBy::Owner { reason: Some(_) } => 1,
        EndedBy::Run { reason: TakeoverReason::LeaseLapsed, .. } => 2,
        EndedBy::Run { reason: TakeoverReason::ExecutorGone, .. } => 3,
    }
}

/// The key of a state. `scratch` saves an allocation.
pub(crate) fn key(world: &World, scratch: &mut Vec<u8>) -> Key {
    let mut bytes = std::mem::take(scratch);
    bytes.clear();
    let sequence = world.record.as_ref().map_or(0, |stored| stored.record.sequence);
    let mut writer = Writer { bytes, nonces: Vec::with_capacity(8), sequence };
    writer.put((world.spent, world.clocks, world.mark.0));
    writer.stored(world.record.as_ref());
    for entry in world.ledger.iter() {
        writer.put((entry.attempt, entry.generation, entry.ended.outcome, by(&entry.ended.by), entry.receipts));
    }
    for run in &world.runs {
        writer.put((run.born, run.stage, run.produced, run.failed, run.stalled, run.settling_failed));
        if run.is_alive() {
            writer.put(&*run.owner);
        }
        writer.put(std::mem::discriminant(&run.flight));
        match &run.flight {
            Flight::Idle => {}
            Flight::Sent(question) => writer.question(question),
            Flight::Landed(answer) => writer.answer(answer),
        }
        writer.put(run.orphan.is_some());
        if let Some(orphan) = &run.orphan {
            writer.question(orphan);
        }
        if run.last_seen.is_some() {
            writer.stored(run.last_seen.as_ref());
        }
    }
    writer.recovery(&world.recoverer.flight);
    writer.put(world.recoverer.sighting.is_some());
    if let Some(sighting) = &world.recoverer.sighting {
        writer.id(sighting.record);
        writer.put(sighting.monotonic_ms);
    }
    writer.put(world.stray_proofs.len());
    let mut hashers = [DefaultHasher::new(), DefaultHasher::new()];
    hashers[1].write_u8(1);
    let [one, other] = hashers.each_mut().map(|hasher| {
        hasher.write(&writer.bytes);
        hasher.finish()
    });
    *scratch = writer.bytes;
    Key(one, other)
}
