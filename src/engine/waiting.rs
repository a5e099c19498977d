//! Waiting for another run: told once, ended by a signal, and for so long and no longer.
//!
//! Whoever waits has nothing of its own to settle, so that a signal ends it at once.

use super::stage::EndingSignal;
use crate::document::Pending;
use crate::event::{Audience, Event, What};
use crate::os::process;
use crate::os::signal::{Signal, Signals};
use crate::time::Reading;

/// How long a run waits for its worktree before it answers *pending*, in milliseconds (C28).
pub(super) const WORKTREE_WAIT_MS: u64 = 10_000;

/// How often a waiting run looks again, in milliseconds.
const LOOK_AGAIN_MS: u64 = 100;

/// One run's waiting for others, however many there are one after the other.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Since when, on the monotonic clock.
    since_ms: Option<u64>,
    is_told: bool,
}

/// What a moment of waiting came to.
pub(super) enum Waited {
    /// It is time to look again.
    AMoment,
    /// The signal that ends it.
    Signal(EndingSignal),
    /// As long as it may: the answer is that others are at work.
    Enough,
}

impl Waiting {
    /// Counts from `since_ms` on, unless it has begun.
    pub(super) fn begin(&mut self, since_ms: u64) {
        self.since_ms.get_or_insert(since_ms);
    }

    /// Whether this run has waited.
    pub(super) fn has_begun(&self) -> bool {
        self.since_ms.is_some()
    }

    /// Waits a moment for what `pending` names, unless that would be longer than `limit_ms` in all.
    pub(super) fn wait(
        &mut self,
        pending: &Pending,
        limit_ms: u64,
        now: Reading,
        signals: Option<&mut Signals>,
        audience: &mut dyn Audience,
    ) -> Waited {
        let since_ms = *self.since_ms.get_or_insert(now.monotonic_ms);
        if now.monotonic_ms.saturating_sub(since_ms) >= limit_ms {
            return Waited::Enough;
        }
        if !std::mem::replace(&mut self.is_told, true) {
            audience.event(&Event { at: now.wall, what: What::Waiting { pending: pending.clone() } });
        }
        audience.tick(now.wall);
        wait_a_moment(signals, audience, LOOK_AGAIN_MS).map_or(Waited::AMoment, Waited::Signal)
    }
}

/// Waits for at most `limit_ms`, and stands still where Ctrl-Z asks for it; the signal that ends the waiting, if one came.
pub(super) fn wait_a_moment(
    signals: Option<&mut Signals>,
    audience: &mut dyn Audience,
    limit_ms: u64,
) -> Option<EndingSignal> {
    let Some(signals) = signals else {
        process::wait_any(&[], limit_ms);
        return None;
    };
    process::wait_any(&[signals.fd()], limit_ms);
    for signal in signals.drain() {
        if signal == Signal::Suspend {
            audience.pause();
            signals.stand_still();
        } else if let Some(ending) = EndingSignal::of(signal) {
            return Some(ending);
        }
    }
    None
}
