//! `standards` under the protocol: pending, retirement, reuse and stops, in the words of `done`.

use rustix::process::Signal;
use serde_json::Value;

use super::report;
use crate::support::{Bench, Place, Running, wait_for};

/// A standard that tells that it runs, and waits to be let go.
const SLOW: &str = "echo x >> .git/measured; while ! test -e .git/go; do sleep 0.02; done; echo DISCERN_METRIC n 5";

fn slow_standard(bench: &Bench) {
    bench.gate();
    bench.standard("n", "down", "9", SLOW);
    bench.save("c");
}

/// A run of `standards` whose command runs by now.
fn measuring(place: &Place) -> Running {
    let running = place.start(&["standards", "--json"]);
    wait_for("the command runs", || place.has(".git/measured"));
    running
}

fn times_measured(bench: &Bench) -> usize {
    bench.read(".git/measured").lines().count()
}

#[test]
fn a_live_measurement_is_pending_for_others_and_its_reading_is_reused_afterwards() {
    let bench = Bench::new();
    slow_standard(&bench);
    let running = measuring(&bench);
    for command in ["standards", "done"] {
        let pending = bench.discern(&[command, "--json"]).exits(3).json();
        let reconnect = pending["pending"]["reconnect"].as_str().expect("a command");
        assert!(reconnect.starts_with("git discern wait R1-"), "{pending:#}");
        assert_eq!(pending["outcome"], "pending");
    }
    let waiting = bench.start(&["standards", "--wait", "--json"]);
    bench.write(".git/go", "");
    let measured = running.wait().exits(0).json();
    assert_eq!(measured["proof"], Value::Null);
    let waited = waiting.wait().exits(0).json();
    let proven = bench.discern(&["done", "--json"]).exits(0).json();
    for document in [waited, proven] {
        assert_eq!(report(&document, "n")["source"], "reused");
    }
    assert_eq!(times_measured(&bench), 1);
}

#[test]
fn a_killed_measurement_is_retired_by_the_next_run() {
    let bench = Bench::new();
    slow_standard(&bench);
    let running = measuring(&bench);
    running.signal(Signal::KILL);
    let _ = running.wait().exits(137);
    bench.write(".git/go", "");
    let measured = bench.discern(&["standards", "--json"]).exits(0);
    assert!(measured.stderr.contains("its process is gone"), "{}", measured.shown());
    assert_eq!(report(&measured.json(), "n")["value"], "5");
}

#[test]
fn an_interrupted_measurement_settles_as_cancelled() {
    let bench = Bench::new();
    slow_standard(&bench);
    let running = measuring(&bench);
    running.signal(Signal::INT);
    let cancelled = running.wait().exits(130).json();
    assert_eq!((&cancelled["outcome"], &cancelled["cancelled"]["reason"]), (&"cancelled".into(), &"signal".into()));
    bench.write(".git/go", "");
    let measured = bench.discern(&["standards", "--json"]).exits(0);
    assert!(!measured.stderr.contains("retired"), "{}", measured.shown());
}

#[test]
fn waiting_on_a_measurement_ends_as_it_does() {
    let bench = Bench::new();
    slow_standard(&bench);
    let running = measuring(&bench);
    let waiting = bench.start(&["wait", "--json"]);
    bench.write(".git/go", "");
    let _ = running.wait().exits(0);
    let waited = waiting.wait().exits(0).json();
    assert_eq!(waited["outcome"], "passed");
}

#[test]
fn a_measurement_that_changes_the_tree_measures_nothing() {
    let bench = Bench::new();
    bench.gate();
    bench.standard("n", "down", "9", "echo more >> discern.toml; echo DISCERN_METRIC n 5");
    bench.save("c");
    let cancelled = bench.discern(&["standards", "--json"]).exits(2).json();
    assert_eq!(cancelled["cancelled"]["reason"], "tree-changed");
    bench.git(&["checkout", "-q", "discern.toml"]);
    let history = bench.discern(&["standards", "--history", "--json"]).exits(0).json();
    assert_eq!(history["standards"][0]["points"].as_array().map(Vec::len), Some(0));
}
