//! Wall clocks that were set (C13): neither an owner's nor an observer's decides about a claim; the monotonic clock does.
//!
//! The test build shows a process a wall clock that is off by so much, and clocks that are both ahead.

use rustix::process::Signal;
use test_case::test_case;

use crate::support::{Bench, Place, Running, wait_for};

const HOUR: i64 = 60 * 60 * 1000;
const DAY: i64 = 24 * HOUR;
const TEN_YEARS: i64 = 3652 * DAY;

/// A repository whose job waits for a file, and another worktree on the same commit.
fn bench() -> (Bench, Place) {
    let bench = Bench::new();
    bench.gate();
    bench.job("t", "touch ../there; while test ! -e ../go; do sleep 0.05; done");
    bench.save("first");
    let other = bench.worktree("other");
    (bench, other)
}

fn off_by(place: &Place, wall_ms: i64) -> Place {
    place.with_variable("DISCERN_TEST_WALL_AHEAD_MS", &wall_ms.to_string())
}

fn start_and_wait_for_its_job(place: &Place) -> Running {
    let run = place.start(&["done"]);
    wait_for("the job", || place.has("../there"));
    run
}

#[test_case(HOUR; "an hour ahead")]
#[test_case(-HOUR; "an hour behind")]
#[test_case(DAY; "a day ahead")]
#[test_case(-DAY; "a day behind")]
#[test_case(TEN_YEARS; "ten years ahead")]
#[test_case(-TEN_YEARS; "ten years behind")]
fn a_wall_clock_that_was_set_retires_nobody_and_keeps_nobody(wall_ms: i64) {
    for (owner_ms, observer_ms) in [(wall_ms, 0), (0, wall_ms)] {
        let (bench, other) = bench();
        let (owner, observer) = (off_by(&bench, owner_ms), off_by(&other, observer_ms));
        let run = start_and_wait_for_its_job(&owner);
        // It lives: nobody takes it over, however long ago it seems to have renewed.
        let _ = observer.discern(&["recover"]).exits(0);
        let _ = observer.discern(&["done"]).exits(3);
        bench.write("../go", "");
        let _ = run.wait().exits(0);
        let _ = observer.discern(&["verify"]).exits(0);
        let _ = observer.discern(&["done"]).exits(0);
        let _ = observer.discern(&["done", "--rerun"]).exits(0);
    }
}

#[test_case(TEN_YEARS; "ten years ahead")]
#[test_case(-TEN_YEARS; "ten years behind")]
fn an_abandoned_claim_lapses_on_the_monotonic_clock_whatever_the_wall_clock_shows(wall_ms: i64) {
    let (bench, other) = bench();
    let observer = off_by(&other, wall_ms);
    let run = start_and_wait_for_its_job(&bench);
    // Nothing proves that it is gone: only the lease counts.
    let _ = bench.sh("for file in .git/discern/run/*/journal; do rm $file; done").exits(0);
    run.signal(Signal::KILL);
    let _ = run.wait();
    bench.write("../go", "");
    let _ = observer.discern(&["done"]).exits(3);
    let later = observer.with_variable("DISCERN_TEST_CLOCK_AHEAD_MS", "61000");
    let taken = later.discern(&["done"]).exits(0);
    assert!(taken.stderr.contains("retired"), "{}", taken.shown());
}
