//! The six transitions: record in, record or refusal out.
//!
//! Each returns the whole record that the next compare-and-swap would write, with a fresh nonce and a sequence number one
//! above the last (C2). None of them reads a clock: the instant comes in with the [`Pen`], stamped before the write is sent,
//! and is only ever written down, never compared.

use super::lease::{Fence, Lease, Permit};
use super::record::{
    Attempt, Bound, Claim, EndedBy, Finish, Outcome, OwnReason, PREVIOUS_MAX, Previous, Purpose, RECORD_BYTES_MAX,
    Record, RetiringRun, State, StateKind, Transition,
};
use super::wire;
use crate::evidence::proof::ProofRequirement;
use crate::evidence::{Proof, Receipt, Verdict};
use crate::id::{Nonce, Token};
use crate::time::Reading;

/// What one write needs that is not a function of its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pen {
    /// The clocks, read before the write is sent.
    pub now: Reading,
    /// Used in no other write, ever.
    pub nonce: Nonce,
    /// The token of the locked file that the writing git child holds.
    pub writer: Option<Token>,
}

/// Why a transition is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The record was finished by another or names another token (C6).
    #[error("claim-lost")]
    ClaimLost,
    /// A receipt or Proof does not match what the attempt bound; says nothing about the claim (C6).
    #[error("not-bound: {0}")]
    NotBound(String),
    /// The attempt was bound already, or not yet.
    #[error("wrong state: the attempt is {0:?}")]
    WrongState(StateKind),
    /// The record would not fit.
    #[error("the record would have {bytes} bytes; {max} are allowed", max = RECORD_BYTES_MAX)]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// The candidate's attempt is unfinished.
    #[error("another attempt holds the claim")]
    Held,
    /// The finished record was not found in the ledger and would be lost.
    #[error("the finished attempt is not in the ledger")]
    NotAbsorbed,
    /// The permit is for another attempt, or there is nothing to retire.
    #[error("a takeover is not permitted")]
    NotPermitted,
}

/// What is known about a candidate's earlier attempts besides its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct History {
    /// Whether the finished record that was found is in the ledger, by looking there.
    pub absorbed: bool,
    /// The highest generation in the ledger.
    pub ledger_generation: u32,
    /// The highest (generation, sequence) that this machine has seen.
    pub high_water: (u32, u64),
}

/// Reserve: a new attempt's first record, over none or over a finished one that is safe in the ledger.
///
/// The generation given in `attempt` is replaced by one above the highest known.
pub fn reserve(
    found: Option<&Record>,
    history: History,
    attempt: Attempt,
    token: Token,
    pen: Pen,
) -> Result<Record, Refusal> {
    let mut previous = Vec::new();
    if let Some(record) = found {
        let last = record.as_previous().ok_or(Refusal::Held)?;
        if !history.absorbed {
            return Err(Refusal::NotAbsorbed);
        }
        previous = record.previous.iter().cloned().chain([last]).collect();
        previous.drain(..previous.len().saturating_sub(PREVIOUS_MAX));
    }
    let (found_generation, found_sequence) =
        found.map_or((0, 0), |record| (record.attempt.generation, record.sequence));
    let generation = 1 + found_generation.max(history.ledger_generation).max(history.high_water.0);
    let claim = Claim { token, lease: Lease::fresh(pen.now) };
    Ok(Record {
        nonce: pen.nonce,
        sequence: 1 + found_sequence.max(history.high_water.1),
        writer: pen.writer,
        attempt: Attempt { generation, ..attempt },
        state: State::Planning(claim),
        requirements: Vec::new(),
        receipts: Vec::new(),
        transitions: vec![Transition { to: StateKind::Planning, at: pen.now.wall }],
        previous,
    })
}

/// Bind: the planned requirements and their subjects, once.
pub fn bind(record: &Record, fence: &Fence, requirements: Vec<Bound>, pen: Pen) -> Result<Record, Refusal> {
    own(record, fence)?;
    let State::Planning(claim) = &record.state else {
        return Err(Refusal::WrongState(record.state.kind()));
    };
    let mut next = successor(record, pen);
    next.state = State::Claimed(claim.clone());
    next.requirements = requirements;
    enter(&mut next, pen);
    let bytes = wire::encode(&next).len() + next.requirements.len() * wire::REQUIREMENT_BYTES_MAX;
    if bytes > RECORD_BYTES_MAX {
        return Err(Refusal::TooLarge { bytes });
    }
    Ok(next)
}

/// Renew: only the lease. An owner that stalled for any time and was not retired renews like any other (C10).
pub fn renew(record: &Record, fence: &Fence, pen: Pen) -> Result<Record, Refusal> {
    own(record, fence)?;
    let mut next = successor(record, pen);
    if let State::Planning(claim) | State::Claimed(claim) = &mut next.state {
        claim.lease = claim.lease.renewed(pen.now);
    }
    Ok(next)
}

/// Publish: receipts, each for a subject that the attempt bound.
pub fn publish(record: &Record, fence: &Fence, receipts: Vec<Receipt>, pen: Pen) -> Result<Record, Refusal> {
    own(record, fence)?;
    if !matches!(record.state, State::Claimed(_)) {
        return Err(Refusal::WrongState(record.state.kind()));
    }
    receipts_belong(record, fence, &receipts)?;
    let mut next = successor(record, pen);
    next.receipts.extend(receipts);
    within_limit(next)
}

/// How an owner ends its own attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// How.
    pub outcome: Outcome,
    /// Why, when it did not simply come to its end.
    pub reason: Option<OwnReason>,
    /// What `wait` hands on.
    pub exit_status: u8,
    /// The requirements whose verdict is failed.
    pub failed: Vec<Bound>,
    /// With `passed` and purpose `done`, required; otherwise none.
    pub proof: Option<Proof>,
}

/// Settle: finished, by its owner. A pass of a `done` carries its Proof in the same update (C3); receipts that could not be
/// published before go with it (C7).
pub fn settle(
    record: &Record,
    fence: &Fence,
    unpublished: Vec<Receipt>,
    settlement: Settlement,
    pen: Pen,
) -> Result<Record, Refusal> {
    own(record, fence)?;
    proof_belongs(record, &settlement, &unpublished)?;
    receipts_belong(record, fence, &unpublished)?;
    let mut next = successor(record, pen);
    next.receipts.extend(unpublished);
    next.state = State::Finished(Box::new(Finish {
        outcome: settlement.outcome,
        at: pen.now.wall,
        by: EndedBy::Owner { reason: settlement.reason },
        exit_status: settlement.exit_status,
        failed: settlement.failed,
        proof: settlement.proof,
    }));
    enter(&mut next, pen);
    within_limit(next)
}

/// Retire: another run finishes the attempt as cancelled; all else is kept, receipts included (C24).
pub fn retire(record: &Record, permit: Permit, by: RetiringRun, pen: Pen) -> Result<Record, Refusal> {
    if !permit.is_for(record) {
        return Err(Refusal::NotPermitted);
    }
    let mut next = successor(record, pen);
    next.state = State::Finished(Box::new(Finish {
        outcome: Outcome::Cancelled,
        at: pen.now.wall,
        by: EndedBy::Run { run: by, reason: permit.reason() },
        exit_status: crate::exit::Exit::Retired.code(),
        failed: Vec::new(),
        proof: None,
    }));
    enter(&mut next, pen);
    Ok(next)
}

/// What an owner finds out about an attempt that is no longer its record's: its own entry in `previous` (C8).
pub fn outcome_in_previous<'r>(record: &'r Record, fence: &Fence) -> Option<&'r Previous> {
    record.previous.iter().find(|previous| previous.id == fence.attempt)
}

/// The ownership test as a refusal.
fn own(record: &Record, fence: &Fence) -> Result<(), Refusal> {
    if fence.owns(record) { Ok(()) } else { Err(Refusal::ClaimLost) }
}

/// The record that follows, with nothing changed yet but what every write changes (C2).
fn successor(record: &Record, pen: Pen) -> Record {
    Record { nonce: pen.nonce, sequence: record.sequence + 1, writer: pen.writer, ..record.clone() }
}

/// Notes a change of state.
fn enter(record: &mut Record, pen: Pen) {
    record.transitions.push(Transition { to: record.state.kind(), at: pen.now.wall });
}

/// Each receipt is this attempt's, for a requirement and subject that it bound.
fn receipts_belong(record: &Record, fence: &Fence, receipts: &[Receipt]) -> Result<(), Refusal> {
    let belongs = |receipt: &&Receipt| {
        let bound =
            |bound: &Bound| (bound.kind, &bound.name, bound.subject) == (receipt.kind, &receipt.name, receipt.subject);
        receipt.attempt == fence.attempt && record.requirements.iter().any(bound)
    };
    match receipts.iter().find(|receipt| !belongs(receipt)) {
        None => Ok(()),
        Some(stray) => {
            Err(Refusal::NotBound(format!("receipt of `{}` for subject {}", stray.name, stray.subject.short())))
        }
    }
}

/// A Proof is there exactly when a `done` passed, and speaks of what was bound, in that order. What was bound besides, such
/// as making a kept checkout ready, has passed.
fn proof_belongs(record: &Record, settlement: &Settlement, unpublished: &[Receipt]) -> Result<(), Refusal> {
    let demanded = settlement.outcome == Outcome::Passed && record.attempt.purpose == Purpose::Done;
    let Some(proof) = &settlement.proof else {
        return if demanded { Err(Refusal::NotBound("a pass without its Proof".to_owned())) } else { Ok(()) };
    };
    let passed = |bound: &Bound| {
        let of_it = |it: &&Receipt| (it.kind, it.subject) == (bound.kind, bound.subject);
        let last = record.receipts.iter().chain(unpublished).rfind(of_it);
        last.is_some_and(|receipt| receipt.verdict == Verdict::Passed)
    };
    let mut proven = proof.requirements.iter().peekable();
    let covers = record.requirements.iter().all(|bound| {
        let same = |it: &&ProofRequirement| (it.kind, &it.name, it.subject) == (bound.kind, &bound.name, bound.subject);
        proven.next_if(same).is_some() || passed(bound)
    });
    let belongs = demanded
        && matches!(record.state, State::Claimed(_))
        && proof.attempt == record.attempt.id
        && proof.commit == record.attempt.commit
        && covers
        && proven.next().is_none();
    if belongs { Ok(()) } else { Err(Refusal::NotBound("a Proof of something else".to_owned())) }
}

/// Shortens what receipts say, longest first, until the record fits: what they establish is never cut.
fn within_limit(mut record: Record) -> Result<Record, Refusal> {
    let mut bytes = wire::encode(&record).len();
    for reason_max in [512, 128, 0] {
        if bytes <= RECORD_BYTES_MAX {
            return Ok(record);
        }
        for receipt in &mut record.receipts {
            shorten(&mut receipt.reason, reason_max);
        }
        bytes = wire::encode(&record).len();
    }
    if bytes <= RECORD_BYTES_MAX { Ok(record) } else { Err(Refusal::TooLarge { bytes }) }
}

/// Cuts a text to at most `max` bytes, at a character's edge; an empty one is dropped.
fn shorten(text: &mut Option<String>, max: usize) {
    if let Some(text) = text.as_mut().filter(|text| text.len() > max) {
        text.truncate(text.floor_char_boundary(max));
    }
    *text = text.take().filter(|text| !text.is_empty());
}
