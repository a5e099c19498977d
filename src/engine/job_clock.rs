//! How long a job has run.

/// A clock that counts awake time and can be paused. Instants are milliseconds of the monotonic clock, given by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobClock {
    /// Milliseconds counted before `since`.
    counted_ms: u64,
    /// When it began to count again; `None` while paused.
    since_ms: Option<u64>,
}

impl JobClock {
    /// A clock that runs from `now_ms` on.
    pub fn started(now_ms: u64) -> Self {
        Self { counted_ms: 0, since_ms: Some(now_ms) }
    }

    /// Stands still from `now_ms` on.
    pub fn pause(&mut self, now_ms: u64) {
        self.counted_ms = self.elapsed_ms(now_ms);
        self.since_ms = None;
    }

    /// Goes on from `now_ms` on; nothing to do for one that runs.
    pub fn resume(&mut self, now_ms: u64) {
        self.since_ms.get_or_insert(now_ms);
    }

    /// What it shows at `now_ms`.
    pub fn elapsed_ms(&self, now_ms: u64) -> u64 {
        self.counted_ms + self.since_ms.map_or(0, |since| now_ms.saturating_sub(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paused_time_does_not_count_however_often_it_is_asked_for() {
        let mut clock = JobClock::started(1000);
        clock.resume(1500);
        assert_eq!(clock.elapsed_ms(2000), 1000);
        clock.pause(2000);
        clock.pause(9000);
        assert_eq!(clock.elapsed_ms(50_000), 1000);
        clock.resume(60_000);
        assert_eq!(clock.elapsed_ms(60_001), 1001);
    }
}
