//! Retiring what was abandoned (C22 to C25).
//!
//! Each unfinished attempt whose takeover is permitted is retired by comparison with the record just read, whichever candidate it
//! is for; then its receipts are absorbed, and whatever still carries its id is ended. Nothing here takes a claim.

use super::claims::Claims;
use super::driver::Desk;
use crate::claim::Record;
use crate::claim::lease::{self, ExecutorState, Observer, Sighting, Takeover};
use crate::claim::owner::{Seen, Written};
use crate::claim::record::{RetiringRun, TakeoverReason};
use crate::claim::transition;
use crate::id::{AttemptId, CommitId, RecordId};
use crate::os::hooks;

/// What an observer knows besides the record.
pub trait Witness {
    /// The identity of this boot, as records write it.
    fn boot(&self) -> String;

    /// Since when this machine has seen `candidate`'s ref hold `record`; notes it, if it is new.
    fn sighting(&mut self, candidate: &CommitId, record: RecordId, now_ms: u64) -> Option<Sighting>;

    /// What the journal that the record names proves (C20).
    fn executor(&mut self, record: &Record) -> ExecutorState;

    /// Ends what a retired attempt left running; how many processes that was (C25).
    fn end_leftovers(&mut self, attempt: AttemptId) -> usize;
}

/// One candidate's claim, as recovery found or left it.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspected {
    /// The candidate.
    pub candidate: CommitId,
    /// What was found, and done.
    pub what: Finding,
}

/// What recovery found at one candidate.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// Nothing, or a finished record.
    Free,
    /// A claim that may not be taken over yet.
    Live {
        /// Its record.
        record: Box<Record>,
        /// Milliseconds until it may be, unless it is renewed.
        remaining_ms: u64,
    },
    /// A claim that may be taken over, and was not, since only looking was asked for.
    Abandoned {
        /// Its record.
        record: Box<Record>,
        /// Why it may be.
        reason: TakeoverReason,
    },
    /// It was retired.
    Retired {
        /// Its record, before.
        record: Box<Record>,
        /// Why that was permitted.
        reason: TakeoverReason,
        /// How many leftover processes were ended.
        leftovers: usize,
        /// The receipts could not be copied into the ledger yet; the finished record still holds them.
        unabsorbed: Option<String>,
    },
    /// It may be taken over, and the retirement could not be written.
    NotRetired {
        /// Its record.
        record: Box<Record>,
        /// What was said.
        problem: String,
    },
    /// It can't be read (C27).
    Unreadable(String),
}

/// How to go about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Only look.
    Look,
    /// Retire what may be.
    Retire,
}

/// Looks at one candidate's claim and, if so asked, retires it where that is permitted.
pub fn inspect<S: Claims + Witness + Desk>(
    candidate: CommitId,
    session: &mut S,
    by: &RetiringRun,
    mode: Mode,
) -> Inspected {
    loop {
        if let Some(what) = look(candidate, session, by, mode) {
            return Inspected { candidate, what };
        }
    }
}

/// One look; nothing where the record was written anew meanwhile, so that what was found holds no more.
fn look<S: Claims + Witness + Desk>(
    candidate: CommitId,
    session: &mut S,
    by: &RetiringRun,
    mode: Mode,
) -> Option<Finding> {
    let (id, record) = match session.look(&candidate) {
        Seen::Absent => return Some(Finding::Free),
        Seen::Unreadable(why) => return Some(Finding::Unreadable(why)),
        Seen::Record(_, record) if record.is_finished() => return Some(Finding::Free),
        Seen::Record(id, record) => (id, record),
    };
    hooks::at("claim looked at");
    let now = session.pen().now;
    let sighting = session.sighting(&candidate, id, now.monotonic_ms);
    let executor = session.executor(&record);
    let observer = Observer { boot: session.boot(), now };
    match lease::takeover(&record, id, &observer, sighting.as_ref(), executor) {
        Takeover::Finished => Some(Finding::Free),
        Takeover::NotYet { remaining_ms } => Some(Finding::Live { record, remaining_ms }),
        Takeover::Permitted(permit) if mode == Mode::Retire => retire(id, record, permit, session, by),
        // An executor that settled and then ended is gone, too, and has abandoned nothing.
        Takeover::Permitted(permit) => match session.look(&candidate) {
            Seen::Record(now, _) if now == id => Some(Finding::Abandoned { record, reason: permit.reason() }),
            _ => None,
        },
    }
}

/// Retires `record`, which was read as `id`; exactly one of this, a renewal and a settlement lands first (C23). Nothing where
/// another was faster.
fn retire<S: Claims + Witness + Desk>(
    id: RecordId,
    record: Box<Record>,
    permit: lease::Permit,
    session: &mut S,
    by: &RetiringRun,
) -> Option<Finding> {
    let candidate = record.attempt.commit;
    let retired = match transition::retire(&record, permit, by.clone(), session.pen()) {
        Ok(retired) => retired,
        Err(refusal) => return Some(Finding::NotRetired { record, problem: refusal.to_string() }),
    };
    match session.swap(&candidate, Some(id), &retired) {
        Written::Applied(_) => {}
        Written::Stale => return None,
        Written::Unknown(problem) if !happened(&retired, session) => {
            return Some(Finding::NotRetired { record, problem });
        }
        Written::Unknown(_) => {}
    }
    hooks::at("retired");
    let leftovers = session.end_leftovers(record.attempt.id);
    let unabsorbed = session.absorb(&retired).err();
    Some(Finding::Retired { record, reason: permit.reason(), leftovers, unabsorbed })
}

/// Whether a retirement whose answer was lost is what the ref holds (C7).
fn happened(retired: &Record, claims: &mut dyn Claims) -> bool {
    matches!(claims.look(&retired.attempt.commit), Seen::Record(_, record) if record.nonce == retired.nonce)
}
