//! For tests alone, behind the feature `test-hooks`: pauses before the steps of a claim, and a clock that is ahead.
//!
//! No released binary has any of this. A test says through the environment at which step, counted from 1, a process pauses;
//! there it writes the step's name to `paused` in the folder given and waits until somebody opens the pipe `go` beside it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::os::environment;

static STEPS: AtomicU64 = AtomicU64::new(0);

/// Called before each step that depends on the claim.
pub fn before(step: &str) {
    let number = STEPS.fetch_add(1, Ordering::Relaxed) + 1;
    if given("DISCERN_TEST_PAUSE_AT") != Some(number) {
        return;
    }
    let folder = environment::variable("DISCERN_TEST_FOLDER").map(PathBuf::from).unwrap_or_default();
    // A test that is gone lets the process go on.
    let _ = std::fs::write(folder.join("paused"), step);
    let _ = std::fs::File::open(folder.join("go"));
}

/// How far both clocks of this process are ahead, in milliseconds.
pub fn clock_ahead_ms() -> u64 {
    given("DISCERN_TEST_CLOCK_AHEAD_MS").unwrap_or(0)
}

fn given(name: &str) -> Option<u64> {
    environment::variable(name)?.to_str()?.parse().ok()
}
