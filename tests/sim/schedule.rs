//! One actor at a time, and which one is next is a matter of the seed.
//!
//! Each actor is a thread that runs only while it holds the turn. It gives the turn away before and after each request to the
//! store and whenever it waits, so that everything that can happen in between does, in an order that the seed repeats.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::world::State;

/// What unwinds an actor that was killed.
pub(crate) struct Killed;

/// The turn, and everything that only its holder touches.
pub(crate) struct Turns {
    state: Mutex<State>,
    awake: Vec<Condvar>,
}

/// What an actor is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// It goes on as soon as it is its turn.
    Ready,
    /// It goes on when its own clock shows this.
    Until(u64),
    /// It is stopped, or asleep, until the true time.
    Stopped(u64),
    Done,
}

impl Turns {
    pub(crate) fn new(state: State, actors: usize) -> Self {
        Self { state: Mutex::new(state), awake: (0..actors).map(|_| Condvar::new()).collect() }
    }

    /// Whoever holds the turn may look and change.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the first turn.
    pub(crate) fn begin(&self, actor: usize) {
        let mut state = self.state();
        while state.turn != actor {
            state = self.awake[actor].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives the turn away and waits for the next one. Unwinds when the actor was killed meanwhile.
    pub(crate) fn pass(&self, actor: usize, status: Status) {
        let mut state = self.state();
        state.actors[actor].status = status;
        state.something_happens(actor);
        let next = state.next_turn();
        state.turn = next;
        if next != actor {
            self.awake[next].notify_one();
            while state.turn != actor {
                state = self.awake[actor].wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        let me = &mut state.actors[actor];
        me.status = Status::Ready;
        if std::mem::take(&mut me.killed) {
            drop(state);
            std::panic::resume_unwind(Box::new(Killed));
        }
    }

    /// The actor is done; somebody else goes on, if anybody is left.
    pub(crate) fn end(&self, actor: usize) {
        let mut state = self.state();
        state.actors[actor].status = Status::Done;
        if state.actors.iter().any(|actor| actor.status != Status::Done) {
            let next = state.next_turn();
            state.turn = next;
            self.awake[next].notify_one();
        }
    }
}

impl Turns {
    /// What is left when every actor has ended.
    pub(crate) fn into_state(self) -> State {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
