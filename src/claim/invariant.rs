//! What must always be true of a candidate's record, as code: for properties, the model and the simulation.

use std::collections::HashSet;

use super::record::{EndedBy, Outcome, Purpose, Record, State, StateKind};
use crate::id::{AttemptId, Nonce, Token};

/// A history that the protocol does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("record {sequence} of attempt {attempt}: {what}")]
pub struct Violation {
    /// The attempt of the later record.
    pub attempt: AttemptId,
    /// Its sequence number.
    pub sequence: u64,
    /// What is wrong.
    pub what: &'static str,
}

/// The successive values of one candidate's ref, checked as they come.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    last: Option<Record>,
    /// The ref was removed since: the next record need not know the sequence numbers before it.
    removed: bool,
    nonces: HashSet<Nonce>,
    tokens: HashSet<Token>,
}

impl Watch {
    /// Takes note of the ref's next value.
    pub fn see(&mut self, next: &Record) -> Result<(), Violation> {
        let wrong = |what| Violation { attempt: next.attempt.id, sequence: next.sequence, what };
        if !self.nonces.insert(next.nonce) {
            return Err(wrong("its nonce was used before"));
        }
        stands_alone(next).map_err(wrong)?;
        match &self.last {
            Some(last) if last.attempt.id == next.attempt.id => follows(last, next).map_err(wrong)?,
            last => {
                if let Some(last) = last {
                    supersedes(last, next, self.removed).map_err(wrong)?;
                }
                begins(next).map_err(wrong)?;
                if next.state.claim().is_some_and(|claim| !self.tokens.insert(claim.token)) {
                    return Err(wrong("its token was used before"));
                }
            }
        }
        self.last = Some(next.clone());
        self.removed = false;
        Ok(())
    }

    /// The ref was removed, which only happens to a finished record.
    pub fn see_removed(&mut self) -> Result<(), Violation> {
        match &self.last {
            Some(last) if !last.is_finished() => {
                Err(Violation { attempt: last.attempt.id, sequence: last.sequence, what: "it was removed unfinished" })
            }
            _ => {
                self.removed = true;
                Ok(())
            }
        }
    }
}

/// What one record must be by itself.
fn stands_alone(record: &Record) -> Result<(), &'static str> {
    let finish = record.state.finish();
    let proven = finish.is_some_and(|finish| finish.proof.is_some());
    let settled_as_passed =
        finish.is_some_and(|finish| finish.outcome == Outcome::Passed && matches!(finish.by, EndedBy::Owner { .. }));
    if proven != (settled_as_passed && record.attempt.purpose == Purpose::Done) {
        return Err("a Proof exists exactly where a `done` was settled as passed by its owner");
    }
    if finish.is_some_and(|finish| matches!(finish.by, EndedBy::Run { .. }) && finish.outcome != Outcome::Cancelled) {
        return Err("a retirement is always a cancellation");
    }
    let bound = |receipt: &crate::evidence::Receipt| {
        record.requirements.iter().any(|bound| bound.name == receipt.name && bound.subject == receipt.subject)
    };
    if !record.receipts.iter().all(bound) {
        return Err("a receipt is for a subject that was not bound");
    }
    Ok(())
}

/// What the first record of an attempt must be.
fn begins(next: &Record) -> Result<(), &'static str> {
    match next.state {
        State::Planning(_) if next.receipts.is_empty() && next.requirements.is_empty() => Ok(()),
        _ => Err("an attempt begins with planning, and with nothing published"),
    }
}

/// What a new attempt's first record must be over the one before it.
fn supersedes(last: &Record, next: &Record, removed: bool) -> Result<(), &'static str> {
    if !last.is_finished() {
        return Err("an unfinished attempt was replaced");
    }
    if next.attempt.generation <= last.attempt.generation {
        return Err("the generation did not go up");
    }
    if next.sequence <= last.sequence && !removed {
        return Err("the sequence did not go up");
    }
    Ok(())
}

/// What a later record of the same attempt must be.
fn follows(last: &Record, next: &Record) -> Result<(), &'static str> {
    if last.is_finished() {
        return Err("a finished record was replaced by its own attempt");
    }
    if next.sequence != last.sequence + 1 {
        return Err("the sequence is not one above the last");
    }
    if next.attempt != last.attempt || next.previous != last.previous {
        return Err("the attempt's identity changed");
    }
    let legal = matches!(
        (last.state.kind(), next.state.kind()),
        (StateKind::Planning, _) | (StateKind::Claimed, StateKind::Claimed | StateKind::Finished)
    );
    if !legal {
        return Err("the state went back");
    }
    if let (Some(before), Some(after)) = (last.state.claim(), next.state.claim())
        && before.token != after.token
    {
        return Err("the token changed within an attempt");
    }
    let binds = (last.state.kind(), next.state.kind()) == (StateKind::Planning, StateKind::Claimed);
    if !binds && last.requirements != next.requirements {
        return Err("what was bound changed");
    }
    let retired = next.state.finish().is_some_and(|finish| matches!(finish.by, EndedBy::Run { .. }));
    if retired && last.receipts != next.receipts {
        return Err("a retirement changed what was published");
    }
    if !next.receipts.starts_with(&last.receipts) && !published_again_shorter(last, next) {
        return Err("a published receipt was lost");
    }
    Ok(())
}

/// Whether the receipts are the same ones, some with a shorter reason: a full record makes room that way.
fn published_again_shorter(last: &Record, next: &Record) -> bool {
    let same = |(before, after): (&crate::evidence::Receipt, &crate::evidence::Receipt)| {
        (before.subject, before.attempt, before.verdict, before.tries)
            == (after.subject, after.attempt, after.verdict, after.tries)
    };
    last.receipts.len() <= next.receipts.len() && last.receipts.iter().zip(&next.receipts).all(same)
}
