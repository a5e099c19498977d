//! All arithmetic on time, the ownership test and the takeover test.
//!
//! A claim is held while its record is unfinished and names the fence's token. The lease only says from when on another run
//! *may* retire it: a lapse ends nothing (C10), and nothing in the owner's own steps looks at it (C5). The fields are
//! private so that no other module can compare them with a clock (C11).

use super::record::{Record, TakeoverReason};
use crate::id::{AttemptId, CommitId, Nonce, RecordId, Token};
use crate::time::{Reading, Timestamp};

/// How long a claim is protected after its last renewal, in milliseconds (C9). A constant: no timeout and no size of
/// project changes it.
pub const LEASE_MS: u64 = 60_000;

/// How often a running owner renews, in milliseconds (C9).
pub const RENEWAL_INTERVAL_MS: u64 = 20_000;

/// A bounded, renewable protection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub(super) acquired_at: Timestamp,
    pub(super) renewed_at: Option<Timestamp>,
    pub(super) expires_at: Timestamp,
    /// Absent in a record of version 1, which is compared on the wall clock.
    pub(super) renewed_monotonic_ms: Option<u64>,
}

impl Lease {
    /// A lease taken now.
    pub(super) fn fresh(now: Reading) -> Self {
        Self {
            acquired_at: now.wall,
            renewed_at: Some(now.wall),
            expires_at: now.wall.plus_millis(LEASE_MS as i64),
            renewed_monotonic_ms: Some(now.monotonic_ms),
        }
    }

    /// The same lease, renewed now.
    pub(super) fn renewed(&self, now: Reading) -> Self {
        Self { acquired_at: self.acquired_at, ..Self::fresh(now) }
    }

    /// When the protection ends unless it is renewed, on the wall clock: to be reported, never to be compared.
    pub fn expiry_for_report(&self) -> Timestamp {
        self.last_sign_of_life().plus_millis(LEASE_MS as i64).min(self.expires_at)
    }

    /// The last instant at which its owner is known to have lived.
    fn last_sign_of_life(&self) -> Timestamp {
        self.renewed_at.unwrap_or(self.acquired_at)
    }
}

/// What a running owner carries: which record is its own, and the token that says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fence {
    /// The candidate, and with it the ref.
    pub candidate: CommitId,
    /// The attempt.
    pub attempt: AttemptId,
    /// The fencing token.
    pub token: Token,
}

impl Fence {
    /// The only ownership test there is: the record is unfinished and names this token (C5). No clock takes part.
    pub fn owns(&self, record: &Record) -> bool {
        record.state.claim().is_some_and(|claim| claim.token == self.token)
    }
}

/// Who looks at a claim, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observer {
    /// The observer's boot identity; equal to the record's, both read the same monotonic clock.
    pub boot: String,
    /// What its clocks show.
    pub now: Reading,
}

/// That this machine saw a record unchanged since some reading of its own monotonic clock (C13).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// The boot identity that the reading belongs to.
    pub boot: String,
    /// What the ref named.
    pub record: RecordId,
    /// When it was first seen to name that.
    pub monotonic_ms: u64,
}

/// What a journal proves about the executor that wrote it (C20).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExecutorState {
    /// The process that held that very file has ended, on this boot.
    Gone,
    /// Nothing is proven; the lease decides.
    Unknown,
}

/// The right to retire one attempt; only the takeover test makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permit {
    attempt: AttemptId,
    /// The very record that was tested: a renewal since then voids the permit.
    nonce: Nonce,
    reason: TakeoverReason,
}

impl Permit {
    /// Why.
    pub fn reason(&self) -> TakeoverReason {
        self.reason
    }

    /// Whether it was given for exactly this record.
    pub(super) fn is_for(&self, record: &Record) -> bool {
        !record.is_finished() && (self.attempt, self.nonce) == (record.attempt.id, record.nonce)
    }
}

/// The answer of the takeover test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takeover {
    /// It may be retired now.
    Permitted(Permit),
    /// Not before this many milliseconds of the observer's awake time have passed without a renewal.
    NotYet {
        /// Milliseconds.
        remaining_ms: u64,
    },
    /// There is nothing to take over.
    Finished,
}

/// The takeover test (C12): the executor is proven gone, or the lease has lapsed on the clock that C13 names.
///
/// `seen` is the ref's value; `sighting` is what this machine noted about it before.
pub fn takeover(
    record: &Record,
    seen: RecordId,
    observer: &Observer,
    sighting: Option<&Sighting>,
    executor: ExecutorState,
) -> Takeover {
    let Some(claim) = record.state.claim() else {
        return Takeover::Finished;
    };
    let permitted = |reason| Takeover::Permitted(Permit { attempt: record.attempt.id, nonce: record.nonce, reason });
    if executor == ExecutorState::Gone {
        return permitted(TakeoverReason::ExecutorGone);
    }
    let unrenewed_ms =
        compared_ms(&claim.lease, record, observer).unwrap_or_else(|| observed_ms(seen, observer, sighting));
    match LEASE_MS.checked_sub(unrenewed_ms) {
        None | Some(0) => permitted(TakeoverReason::LeaseLapsed),
        Some(remaining_ms) => Takeover::NotYet { remaining_ms },
    }
}

/// Milliseconds since the last sign of life, where the observer's clock can be compared with the record's: the same
/// boot's monotonic clock; for a record of version 1 the wall clock. Nothing where the sign lies in the future.
fn compared_ms(lease: &Lease, record: &Record, observer: &Observer) -> Option<u64> {
    match lease.renewed_monotonic_ms {
        Some(renewed) if record.attempt.executor.boot == observer.boot => {
            observer.now.monotonic_ms.checked_sub(renewed)
        }
        Some(_) => None,
        None => {
            let since_life = observer.now.wall.millis_since(lease.last_sign_of_life());
            // An expiry nearer than a lease counts as if its owner had last lived a lease before it; one farther away
            // counts for nothing (C12).
            let before_expiry = observer.now.wall.millis_since(lease.expires_at.plus_millis(-(LEASE_MS as i64)));
            u64::try_from(since_life).ok().map(|elapsed| elapsed.max(u64::try_from(before_expiry).unwrap_or(0)))
        }
    }
}

/// Milliseconds for which this machine has seen the very same record, on its own awake clock.
fn observed_ms(seen: RecordId, observer: &Observer, sighting: Option<&Sighting>) -> u64 {
    sighting
        .filter(|sighting| sighting.boot == observer.boot && sighting.record == seen)
        .and_then(|sighting| observer.now.monotonic_ms.checked_sub(sighting.monotonic_ms))
        .unwrap_or(0)
}

/// When a renewal that was last made at `renewed_ms` is due again, on the owner's monotonic clock.
pub fn next_renewal_ms(renewed_ms: u64) -> u64 {
    renewed_ms.saturating_add(RENEWAL_INTERVAL_MS)
}

/// Whether a renewal made `after_ms` after the one before came so late that the claim could have been taken over.
pub fn was_late(after_ms: u64) -> bool {
    after_ms >= LEASE_MS
}
