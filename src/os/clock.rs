//! Two clocks, read together.

pub use crate::time::Reading;
use crate::time::Timestamp;

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
        let reading = Reading { wall: wall_now(), monotonic_ms };
        #[cfg(feature = "test-hooks")]
        let reading = moved(reading, super::hooks::clock_ahead_ms(), super::hooks::wall_ahead_ms());
        reading
    }
}

#[cfg(feature = "test-hooks")]
fn moved(reading: Reading, ahead_ms: u64, wall_ahead_ms: i64) -> Reading {
    let wall = reading.wall.plus_millis(ahead_ms.cast_signed()).plus_millis(wall_ahead_ms);
    Reading { wall, monotonic_ms: reading.monotonic_ms + ahead_ms }
}

/// The wall clock, in whole milliseconds so that what is stored reads back equal.
fn wall_now() -> Timestamp {
    let since_epoch = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    let millis = since_epoch.tv_sec * 1000 + since_epoch.tv_nsec / 1_000_000;
    Timestamp::from_millis(millis)
}
