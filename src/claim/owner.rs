//! The owner's state machine: `step(state, input) → effects`.
//!
//! The same `step` runs in the real loop, in the exhaustive model and in the simulation. It holds no second memory of "I own
//! it": before each write the record is read, and the one ownership test (C5) decides what happens next. What an owner wants is
//! a set of wishes (bind, publish, check, settle), and a renewal when it is due. Whenever no request is under way and
//! something is wanted, it asks for the record, and the answer decides. At most one request is under way, so a renewal can
//! never be in flight when the owner settles (C16).
//!
//! Only a record that was read successfully and was finished by another, or names another token, ends the run (C6, C17). A
//! busy lock, a lost comparison, a missing or an unreadable record prove nothing (C7): a renewal waits for its next
//! interval, receipts go with the next write, and only settlement, after trying for up to one lease, reports the store.
//!
//! A write whose answer was lost is recognised by what the record then says, not by remembering what was sent: the token and
//! the attempt's id are this owner's alone, so a record that names them and is bound, carries the receipt or is settled
//! says that the write happened. Each wish is therefore looked up in the record before it is written (again).

mod reservation;
mod vocabulary;

use reservation::RESERVE_MS_MAX;
pub use vocabulary::{Effect, Ended, Input, Loss, NotReserved, Over, Said, Seen, Written};

use super::lease::{self, Fence};
use super::record::{Attempt, Bound, EndedBy, Record, State};
use super::transition::{self, Pen, Settlement};
use crate::evidence::Receipt;
use crate::id::RecordId;

/// How long after a failed settlement or reservation the next one is tried, in milliseconds.
const RETRY_MS: u64 = 250;

/// How long after a failed publication the next one is tried, in milliseconds; jobs go on meanwhile.
const PUBLISH_RETRY_MS: u64 = 2_000;

/// How many lost comparisons in a row are answered by reading again at once.
const STALE_IN_A_ROW_MAX: u32 = 16;

/// What a swap under way would change.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    Reserve { generation: u32 },
    Bind,
    Publish(Vec<Receipt>),
    Renew,
    Settle(Ended),
}

impl Change {
    fn doing(&self) -> &'static str {
        match self {
            Self::Reserve { .. } => "reserve the claim",
            Self::Bind => "record the plan",
            Self::Publish(_) => "record receipts",
            Self::Renew => "renew the claim",
            Self::Settle(_) => "settle the attempt",
        }
    }
}

/// The one request that may be under way.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Request {
    Survey,
    Absorb,
    Read,
    /// With the attempt that was found in this one's place, if any.
    LookInLedger(Option<Box<Attempt>>),
    Swap(Change),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    New,
    Reserving,
    Holding,
    Over,
}

/// What an owner wants to do to its record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Wishes {
    bind: Option<Vec<Bound>>,
    check: bool,
    publish: Vec<Receipt>,
    settle: Option<Settlement>,
}

impl Wishes {
    fn any(&self) -> bool {
        self.bind.is_some() || self.check || !self.publish.is_empty() || self.settle.is_some()
    }
}

/// A run's side of its claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    fence: Fence,
    attempt: Attempt,
    phase: Phase,
    under_way: Option<Request>,
    wishes: Wishes,
    /// The monotonic reading stamped into the write sent last.
    sent_ms: u64,
    /// The monotonic reading stamped into the last renewal that happened.
    renewed_ms: u64,
    next_renewal_ms: u64,
    /// Not before this reading is a failed write tried again.
    retry_at_ms: u64,
    settle_until_ms: u64,
    /// What the store said to the settlement that was sent last, unless it was answered.
    settle_problem: Option<String>,
    /// No reservation is sent after this reading.
    reserve_until_ms: u64,
    /// What the store said when a reservation was last tried.
    reserve_problem: Option<String>,
    /// When the question under way was asked.
    asked_ms: u64,
    stale_in_a_row: u32,
    surveys: u32,
    /// A reservation was sent: until record or ledger say that it did not happen, no other may be sent, for the attempt may
    /// have been recorded, retired, absorbed and removed before its answer came (C7: never re-create it).
    in_doubt: bool,
}

/// By what tells two owners apart: a receipt by its requirement, subject and try, a settlement by how it ends.
impl std::hash::Hash for Owner {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        let receipt = |receipt: &Receipt| (receipt.kind, receipt.subject, receipt.tries, receipt.verdict);
        (self.fence, self.phase, self.in_doubt, self.surveys, self.stale_in_a_row).hash(state);
        (self.sent_ms, self.renewed_ms, self.next_renewal_ms, self.retry_at_ms, self.settle_until_ms).hash(state);
        (self.asked_ms, self.reserve_until_ms, self.reserve_problem.is_some(), self.settle_problem.is_some())
            .hash(state);
        let Wishes { bind, check, publish, settle } = &self.wishes;
        (bind.as_ref().map(Vec::len), check).hash(state);
        publish.iter().map(receipt).collect::<Vec<_>>().hash(state);
        settle.as_ref().map(|wish| (wish.outcome, wish.exit_status, wish.proof.is_some())).hash(state);
        self.under_way.as_ref().map(std::mem::discriminant).hash(state);
        match &self.under_way {
            Some(Request::LookInLedger(in_my_place)) => in_my_place.as_ref().map(|attempt| attempt.id).hash(state),
            Some(Request::Swap(change)) => {
                std::mem::discriminant(change).hash(state);
                match change {
                    Change::Reserve { generation } => generation.hash(state),
                    Change::Publish(receipts) => receipts.iter().map(receipt).collect::<Vec<_>>().hash(state),
                    Change::Settle(ended) => (ended.outcome, ended.exit_status).hash(state),
                    Change::Bind | Change::Renew => {}
                }
            }
            Some(Request::Survey | Request::Absorb | Request::Read) | None => {}
        }
    }
}

impl Owner {
    /// An owner that holds nothing yet. The generation in `attempt` is decided when it reserves.
    pub fn new(fence: Fence, attempt: Attempt) -> Self {
        Self {
            fence,
            attempt,
            phase: Phase::New,
            under_way: None,
            wishes: Wishes::default(),
            sent_ms: 0,
            renewed_ms: 0,
            next_renewal_ms: u64::MAX,
            retry_at_ms: 0,
            settle_until_ms: 0,
            settle_problem: None,
            reserve_until_ms: 0,
            reserve_problem: None,
            asked_ms: 0,
            stale_in_a_row: 0,
            surveys: 0,
            in_doubt: false,
        }
    }

    /// Which record is this run's own.
    pub fn fence(&self) -> &Fence {
        &self.fence
    }

    /// Whether anything is still to be expected of it.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// When it wants an [`Input::Tick`], on the monotonic clock; nothing before it reserves, while an answer is due, and once
    /// it is over.
    pub fn wakes_at_ms(&self) -> Option<u64> {
        match self.phase {
            Phase::New | Phase::Over => None,
            // The answer wakes it.
            _ if self.under_way.is_some() => None,
            Phase::Reserving => Some(self.retry_at_ms),
            Phase::Holding if self.wishes.any() => Some(self.retry_at_ms.min(self.next_renewal_ms)),
            Phase::Holding => Some(self.next_renewal_ms),
        }
    }

    /// One step. `pen` is stamped with the clocks as they stand now; its nonce goes into at most one record.
    pub fn step(&mut self, input: Input, pen: Pen) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.phase != Phase::Over {
            self.take(input, pen, &mut effects);
            self.ask(pen, &mut effects);
        }
        effects
    }

    /// Takes an input in; what it calls for at once goes into `effects`.
    fn take(&mut self, input: Input, pen: Pen, effects: &mut Vec<Effect>) {
        match (input, self.under_way.take()) {
            (Input::Surveyed(seen, history), Some(Request::Survey)) => self.surveyed(seen, history, pen, effects),
            (Input::Absorbed(Ok(())), Some(Request::Absorb)) => {}
            (Input::Absorbed(Err(problem)), Some(Request::Absorb)) => {
                self.not_reserved(NotReserved::LedgerUnwritable(problem), effects);
            }
            (Input::Read(seen), Some(Request::Read)) => self.read(seen, pen, effects),
            (Input::InLedger(found), Some(Request::LookInLedger(in_my_place))) => {
                self.in_ledger(found, in_my_place, pen, effects);
            }
            (Input::Written(written), Some(Request::Swap(change))) => self.written(change, written, pen, effects),
            (input, under_way) => {
                self.under_way = under_way;
                self.wish(input, pen);
            }
        }
    }

    /// Notes what is wished for. An answer to a question that is not open says nothing.
    fn wish(&mut self, input: Input, pen: Pen) {
        match input {
            Input::Reserve => {
                self.phase = Phase::Reserving;
                self.reserve_until_ms = pen.now.monotonic_ms.saturating_add(RESERVE_MS_MAX);
            }
            Input::Bind(requirements) => self.wishes.bind = Some(requirements),
            Input::Check => self.wishes.check = true,
            Input::Publish(receipts) => self.wishes.publish.extend(receipts),
            Input::Settle { settlement, within_ms } => {
                self.settle_until_ms = pen.now.monotonic_ms.saturating_add(within_ms);
                self.retry_at_ms = 0;
                self.wishes.settle = Some(*settlement);
            }
            Input::Tick
            | Input::Surveyed(..)
            | Input::Absorbed(_)
            | Input::Read(_)
            | Input::InLedger(_)
            | Input::Written(_) => {}
        }
    }

    /// Sends the next request, if none is under way and there is something to ask for.
    fn ask(&mut self, pen: Pen, effects: &mut Vec<Effect>) {
        if self.under_way.is_some() {
            return;
        }
        let may_retry = pen.now.monotonic_ms >= self.retry_at_ms;
        let now = self.wishes.check || self.renewal_is_due(pen) || self.wishes.any() && may_retry;
        let (request, effect) = match self.phase {
            Phase::Reserving if may_retry => (Request::Survey, Effect::Survey),
            Phase::Holding if now => (Request::Read, Effect::Read),
            _ => return,
        };
        self.asked_ms = pen.now.monotonic_ms;
        self.under_way = Some(request);
        effects.push(effect);
    }

    fn renewal_is_due(&self, pen: Pen) -> bool {
        pen.now.monotonic_ms >= self.next_renewal_ms
    }

    /// The record was read while the claim is held, or thought to be.
    fn read(&mut self, seen: Seen, pen: Pen, effects: &mut Vec<Effect>) {
        match seen {
            Seen::Record(id, record) if self.fence.owns(&record) => self.grant(id, &record, pen, effects),
            Seen::Record(_, record) => match self.ended_in(&record) {
                Some(ended) => self.ended(ended, effects),
                None => self.look_in_ledger(Some(Box::new(record.attempt)), effects),
            },
            Seen::Absent => self.look_in_ledger(None, effects),
            Seen::Unreadable(problem) => self.unanswered("read the record", problem, pen, effects),
        }
    }

    /// The record is this run's own: does the most important thing that is wished for and not yet in it.
    fn grant(&mut self, id: RecordId, record: &Record, pen: Pen, effects: &mut Vec<Effect>) {
        if std::mem::take(&mut self.wishes.check) {
            effects.push(Effect::Say(Said::MayStart));
        }
        self.fulfil(record, effects);
        // A settlement stops renewal (C16); an overdue renewal comes before everything else (C15).
        if let Some(settlement) = self.wishes.settle.clone() {
            match self.settle_problem.take() {
                // It was sent in the end, after the time for trying, and the record says that it did not happen.
                Some(problem) if self.sent_ms >= self.settle_until_ms => self.over(Over::Unsettled(problem), effects),
                _ => self.try_settle(id, record, settlement, pen, effects),
            }
        } else if self.renewal_is_due(pen) {
            match transition::renew(record, &self.fence, pen) {
                Ok(next) => self.swap(Change::Renew, Some(id), next, pen, effects),
                Err(refusal) => self.nothing_proven(Change::Renew.doing(), refusal.to_string(), pen, effects),
            }
        } else if let Some(requirements) = self.wishes.bind.clone() {
            match transition::bind(record, &self.fence, requirements, pen) {
                Ok(next) => self.swap(Change::Bind, Some(id), next, pen, effects),
                Err(refusal) => {
                    self.wishes.bind = None;
                    effects.push(Effect::Say(Said::BindRefused(refusal)));
                }
            }
        } else if !self.wishes.publish.is_empty() {
            let receipts = self.wishes.publish.clone();
            match transition::publish(record, &self.fence, receipts.clone(), pen) {
                Ok(next) => self.swap(Change::Publish(receipts), Some(id), next, pen, effects),
                Err(refusal) => {
                    self.wishes.publish.clear();
                    effects.push(Effect::Say(Said::PublishRefused(refusal)));
                }
            }
        }
    }

    /// Strikes out what the record already says: a write whose answer was lost did happen.
    fn fulfil(&mut self, record: &Record, effects: &mut Vec<Effect>) {
        if matches!(record.state, State::Claimed(_)) && self.wishes.bind.take().is_some() {
            effects.push(Effect::Say(Said::Bound));
        }
        let wished = self.wishes.publish.len();
        let published = |receipt: &Receipt| {
            let key = |receipt: &Receipt| (receipt.kind, receipt.name.clone(), receipt.subject, receipt.tries);
            let same = |known: &Receipt| key(known) == key(receipt);
            record.receipts.iter().any(same)
        };
        self.wishes.publish.retain(|receipt| !published(receipt));
        let receipts = wished - self.wishes.publish.len();
        if receipts > 0 {
            effects.push(Effect::Say(Said::Published { receipts }));
        }
    }

    fn try_settle(
        &mut self,
        id: RecordId,
        record: &Record,
        settlement: Settlement,
        pen: Pen,
        effects: &mut Vec<Effect>,
    ) {
        let ended = Ended {
            outcome: settlement.outcome,
            by: EndedBy::Owner { reason: settlement.reason },
            exit_status: settlement.exit_status,
        };
        match transition::settle(record, &self.fence, self.wishes.publish.clone(), settlement, pen) {
            Ok(next) => self.swap(Change::Settle(ended), Some(id), next, pen, effects),
            Err(refusal) if self.wishes.publish.is_empty() => self.over(Over::SettleRefused(refusal), effects),
            // Receipts that do not belong must not keep the attempt from being settled.
            Err(refusal) => {
                self.wishes.publish.clear();
                effects.push(Effect::Say(Said::PublishRefused(refusal)));
            }
        }
    }

    fn look_in_ledger(&mut self, in_my_place: Option<Box<Attempt>>, effects: &mut Vec<Effect>) {
        self.under_way = Some(Request::LookInLedger(in_my_place));
        effects.push(Effect::LookInLedger);
    }

    fn in_ledger(
        &mut self,
        found: Result<Option<Ended>, String>,
        in_my_place: Option<Box<Attempt>>,
        pen: Pen,
        effects: &mut Vec<Effect>,
    ) {
        match (found, in_my_place) {
            (Ok(Some(ended)), _) => self.ended(ended, effects),
            // The reservation in doubt was never recorded; the next survey may send another.
            (Ok(None), _) if self.phase == Phase::Reserving => self.in_doubt = false,
            (Ok(None), Some(attempt)) => self.over(Over::Lost(Loss::Replaced(attempt)), effects),
            (Ok(None), None) => {
                let problem = "its record is gone, and the ledger has no outcome of it".to_owned();
                self.unanswered("read the record", problem, pen, effects);
            }
            (Err(problem), _) => self.unanswered("look in the ledger", problem, pen, effects),
        }
    }

    /// How this attempt ended, if `record` says so: it is this attempt's own, finished, or names it in `previous` (C8).
    fn ended_in(&self, record: &Record) -> Option<Ended> {
        if record.attempt.id == self.fence.attempt {
            let finish = record.state.finish()?;
            return Some(Ended { outcome: finish.outcome, by: finish.by.clone(), exit_status: finish.exit_status });
        }
        let previous = transition::outcome_in_previous(record, &self.fence)?;
        Some(Ended { outcome: previous.outcome, by: previous.by.clone(), exit_status: previous.exit_status })
    }

    /// The attempt is over: by its own settlement, or by another run.
    fn ended(&mut self, ended: Ended, effects: &mut Vec<Effect>) {
        let over = match ended.by {
            EndedBy::Owner { .. } => Over::Settled(ended),
            EndedBy::Run { .. } => Over::Lost(Loss::Retired(ended)),
        };
        self.over(over, effects);
    }

    fn written(&mut self, change: Change, written: Written, pen: Pen, effects: &mut Vec<Effect>) {
        match written {
            Written::Applied(_) => self.applied(change, effects),
            // It has not happened: read again and decide again.
            Written::Stale if self.stale_in_a_row < STALE_IN_A_ROW_MAX => {
                self.stale_in_a_row += 1;
            }
            Written::Stale => {
                self.written(change, Written::Unknown("others keep writing it".to_owned()), pen, effects);
            }
            Written::Unknown(problem) => {
                match &change {
                    Change::Reserve { .. } => self.reserve_problem = Some(problem.clone()),
                    Change::Settle(_) => self.settle_problem = Some(problem.clone()),
                    Change::Bind | Change::Publish(_) | Change::Renew => {}
                }
                self.nothing_proven(change.doing(), problem, pen, effects);
            }
        }
    }

    fn applied(&mut self, change: Change, effects: &mut Vec<Effect>) {
        self.stale_in_a_row = 0;
        let said = match change {
            Change::Reserve { generation } => return self.reserved(generation, effects),
            Change::Settle(ended) => return self.over(Over::Settled(ended), effects),
            Change::Bind => {
                self.wishes.bind = None;
                Said::Bound
            }
            Change::Publish(receipts) => {
                self.wishes.publish.retain(|receipt| !receipts.contains(receipt));
                Said::Published { receipts: receipts.len() }
            }
            Change::Renew => {
                let after_ms = self.sent_ms.saturating_sub(self.renewed_ms);
                self.renewed();
                Said::Renewed { after_ms }
            }
        };
        effects.push(Effect::Say(said));
    }

    /// The lease counts from the instant that was stamped into the write, not from its answer.
    fn renewed(&mut self) {
        self.renewed_ms = self.sent_ms;
        self.next_renewal_ms = lease::next_renewal_ms(self.sent_ms);
    }

    fn swap(
        &mut self,
        change: Change,
        expected: Option<RecordId>,
        record: Record,
        pen: Pen,
        effects: &mut Vec<Effect>,
    ) {
        self.sent_ms = pen.now.monotonic_ms;
        self.under_way = Some(Request::Swap(change));
        effects.push(Effect::Swap { expected, record: Box::new(record) });
    }

    /// Nothing is known about the claim (C7): the run goes on, and what was wished for is tried again later.
    fn nothing_proven(&mut self, doing: &'static str, problem: String, pen: Pen, effects: &mut Vec<Effect>) {
        let now_ms = pen.now.monotonic_ms;
        self.stale_in_a_row = 0;
        if self.renewal_is_due(pen) {
            self.next_renewal_ms = lease::next_renewal_ms(now_ms);
        }
        let somebody_waits =
            self.phase == Phase::Reserving || self.wishes.bind.is_some() || self.wishes.settle.is_some();
        self.retry_at_ms = now_ms + if somebody_waits { RETRY_MS } else { PUBLISH_RETRY_MS };
        effects.push(Effect::Say(Said::Trouble { doing, problem }));
    }

    /// A question about the record was not answered. Only this ends a settlement that was tried for long enough: a write
    /// whose answer was lost is first looked for (C7), and a stall is not taken for trying: the last try begins after it.
    fn unanswered(&mut self, doing: &'static str, problem: String, pen: Pen, effects: &mut Vec<Effect>) {
        if self.wishes.settle.is_some() && self.asked_ms >= self.settle_until_ms {
            return self.over(Over::Unsettled(problem), effects);
        }
        if std::mem::take(&mut self.wishes.check) {
            effects.push(Effect::Say(Said::MayStart));
        }
        self.nothing_proven(doing, problem, pen, effects);
    }

    fn over(&mut self, over: Over, effects: &mut Vec<Effect>) {
        self.phase = Phase::Over;
        self.under_way = None;
        effects.push(Effect::Say(Said::Over(over)));
    }
}
