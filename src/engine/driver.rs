//! Drives the owner's state machine against the store: performs each effect and feeds its answer back, until the owner asks
//! for nothing more.
//!
//! Everything happens on the calling thread. A store that takes long stalls the loop, and with it the renewals; that is what
//! the lease is for (C14).

use std::collections::VecDeque;

use super::claims::Claims;
use crate::claim::owner::{Effect, Input, Owner, Said, Seen};
use crate::claim::transition::{History, Pen};
use crate::id::CommitId;
use crate::os::hooks;

/// What an owner needs besides the store: clocks and fresh nonces.
pub trait Desk {
    /// A pen stamped now.
    fn pen(&mut self) -> Pen;
}

/// Takes `input` in, performs whatever it leads to, and returns what the owner has to say, in order.
pub fn drive<S: Claims + Desk>(owner: &mut Owner, input: Input, store: &mut S) -> Vec<Said> {
    let candidate = owner.fence().candidate;
    let mut said = Vec::new();
    let mut inputs = VecDeque::from([input]);
    while let Some(input) = inputs.pop_front() {
        for effect in owner.step(input, store.pen()) {
            match effect {
                Effect::Say(words) => said.push(words),
                question => inputs.push_back(answer(&question, &candidate, owner, store)),
            }
        }
    }
    said
}

/// Asks the store one question.
fn answer(question: &Effect, candidate: &CommitId, owner: &Owner, claims: &mut dyn Claims) -> Input {
    hooks::before(question.name());
    match question {
        Effect::Survey => {
            let seen = claims.look(candidate);
            match claims.history(candidate, &seen) {
                Ok(history) => Input::Surveyed(seen, history),
                Err(problem) => Input::Surveyed(Seen::Unreadable(problem), History::default()),
            }
        }
        Effect::Absorb(record) => Input::Absorbed(claims.absorb(record)),
        Effect::Read => Input::Read(claims.look(candidate)),
        Effect::LookInLedger => Input::InLedger(claims.ended(candidate, owner.fence().attempt)),
        Effect::Swap { expected, record } => Input::Written(claims.swap(candidate, *expected, record)),
        Effect::Say(_) => Input::Tick,
    }
}
