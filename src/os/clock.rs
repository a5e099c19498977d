//! Two clocks, read together.

use crate::time::Timestamp;

/// What both clocks showed at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The wall clock, for people and for records of format version 1. It may be set at any time.
    pub wall: Timestamp,
    /// Milliseconds on the clock that cannot be set and that stands still while the machine sleeps (C13).
    pub monotonic_ms: u64,
}

/// A source of [`Reading`]s.
pub trait Clock {
    /// What the clocks show now.
    fn now(&self) -> Reading;
}

/// The clocks of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Reading {
        let awake = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let monotonic_ms = awake.tv_sec as u64 * 1000 + awake.tv_nsec as u64 / 1_000_000;
        Reading { wall: wall_now(), monotonic_ms }
    }
}

/// The wall clock, in whole milliseconds so that what is stored reads back equal.
fn wall_now() -> Timestamp {
    let since_epoch = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    let millis = since_epoch.tv_sec * 1000 + since_epoch.tv_nsec / 1_000_000;
    Timestamp::from_millis(millis)
}
