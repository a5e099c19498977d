//! Named points of a run, for tests alone: behind the feature `test-hooks` a process pauses there, and its clocks can be moved.
//!
//! No released binary has any of this: without the feature a point is nothing. A test says through the environment where a
//! process pauses: before the step of that number, counted from 1 (`DISCERN_TEST_PAUSE_AT=7`), or where it comes to a point for
//! the so-and-so-manieth time (`=ref locked#2`). There it writes the point's name to `paused` in the folder given and waits
//! until somebody opens the pipe `go` beside it. Supervisors and other children have the same environment: whichever process
//! comes there first pauses, and no other. With `DISCERN_TEST_TRACE` each point that is come to is a line of that file.

#[cfg(feature = "test-hooks")]
pub use hooked::{clock_ahead_ms, points, wall_ahead_ms};

/// A point of a run that has a name.
#[cfg(feature = "test-hooks")]
pub fn at(point: &'static str) {
    hooked::at(point);
}

/// A point of a run that has a name.
#[cfg(not(feature = "test-hooks"))]
#[inline]
pub fn at(_point: &'static str) {}

/// A step that depends on the claim: a point that has a number, too.
#[cfg(feature = "test-hooks")]
pub fn before(step: &'static str) {
    hooked::before(step);
}

/// A step that depends on the claim: a point that has a number, too.
#[cfg(not(feature = "test-hooks"))]
#[inline]
pub fn before(_step: &'static str) {}

/// The variables that say where to pause, for a child that has points of its own; a job's environment is the job's.
#[cfg(not(feature = "test-hooks"))]
#[inline]
pub fn points() -> impl Iterator<Item = (&'static str, std::ffi::OsString)> {
    std::iter::empty()
}

#[cfg(feature = "test-hooks")]
mod hooked {
    use std::collections::BTreeMap;
    use std::io::Write as _;
    use std::path::PathBuf;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

    use crate::os::environment;

    static STEPS: AtomicU64 = AtomicU64::new(0);
    static TIMES: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());

    pub(super) fn before(step: &'static str) {
        let number = STEPS.fetch_add(1, Ordering::Relaxed) + 1;
        if variable("DISCERN_TEST_PAUSE_AT").is_some_and(|at| at == number.to_string()) {
            pause(step);
        }
        at(step);
    }

    pub(super) fn at(point: &'static str) {
        let Ok(mut times) = TIMES.lock() else { return };
        let times_here = times.entry(point).or_default();
        *times_here += 1;
        let name = format!("{point}#{times_here}");
        if let Some(trace) = variable("DISCERN_TEST_TRACE") {
            let file = std::fs::File::options().create(true).append(true).open(trace);
            let _ = file.and_then(|mut file| writeln!(file, "{name}"));
        }
        if variable("DISCERN_TEST_PAUSE_AT").is_some_and(|at| at == name) {
            pause(point);
        }
    }

    fn pause(point: &str) {
        let folder = variable("DISCERN_TEST_FOLDER").map(PathBuf::from).unwrap_or_default();
        // A test that is gone lets the process go on.
        let first = std::fs::File::create_new(folder.join("paused"));
        if first.and_then(|mut file| file.write_all(point.as_bytes())).is_ok() {
            let _ = std::fs::File::open(folder.join("go"));
        }
    }

    /// The variables that say where to pause, for a child that has points of its own; a job's environment is the job's.
    pub fn points() -> impl Iterator<Item = (&'static str, std::ffi::OsString)> {
        let names = ["DISCERN_TEST_PAUSE_AT", "DISCERN_TEST_FOLDER", "DISCERN_TEST_TRACE"];
        names.into_iter().filter_map(|name| Some((name, environment::variable(name)?)))
    }

    /// How far both clocks of this process are ahead, in milliseconds.
    pub fn clock_ahead_ms() -> u64 {
        number("DISCERN_TEST_CLOCK_AHEAD_MS").unwrap_or(0).unsigned_abs()
    }

    /// How far this process' wall clock alone is ahead, in milliseconds; below 0 it is behind.
    pub fn wall_ahead_ms() -> i64 {
        number("DISCERN_TEST_WALL_AHEAD_MS").unwrap_or(0)
    }

    fn number(name: &str) -> Option<i64> {
        variable(name)?.parse().ok()
    }

    fn variable(name: &str) -> Option<String> {
        environment::variable(name)?.into_string().ok()
    }
}
