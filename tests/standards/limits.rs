//! A receipt holds the reading; the limits that count now judge it.

use super::report;
use crate::support::Bench;

/// A standard `n` whose receipt does not depend on the limit, and which leaves a mark for each measurement.
fn measured_on_its_inputs(bench: &Bench, limit: &str) {
    bench.gate();
    bench.standard("n", "down", limit, "echo x >> .git/measured; cat n");
    bench.configure("inputs = [\"n\"]");
}

fn times_measured(bench: &Bench) -> usize {
    bench.read(".git/measured").lines().count()
}

#[test]
fn a_tightened_limit_is_never_met_by_an_old_pass() {
    let bench = Bench::new();
    bench.write("n", "DISCERN_METRIC n 9\n");
    measured_on_its_inputs(&bench, "9");
    bench.save("at the limit");
    let _ = bench.discern(&["done"]).exits(0);
    measured_on_its_inputs(&bench, "8.99");
    bench.save("tighter");
    for command in ["done", "standards", "done"] {
        let document = bench.discern(&[command, "--json"]).exits(1).json();
        let n = report(&document, "n");
        assert_eq!((&n["source"], &n["value"], &n["limit"]), (&"reused".into(), &"9".into(), &"8.99".into()));
        assert_eq!((&n["reason"], &n["distance"]), (&"9 is above the limit 8.99".into(), &"-0.01".into()));
    }
    assert_eq!(times_measured(&bench), 1);
}

#[test]
fn a_limit_that_is_loosened_on_trunk_judges_old_readings_anew() {
    let bench = Bench::new();
    bench.write("n", "DISCERN_METRIC n 9\n");
    measured_on_its_inputs(&bench, "8");
    bench.save("too much");
    let _ = bench.discern(&["done"]).exits(1);
    measured_on_its_inputs(&bench, "10");
    bench.save("more room");
    let _ = bench.discern(&["done"]).exits(0);
    assert_eq!(times_measured(&bench), 1);
}

#[test]
fn a_failure_beyond_the_limit_is_answered_with_value_limits_and_distance() {
    let bench = Bench::new();
    bench.write("n", "DISCERN_METRIC n 9\n");
    measured_on_its_inputs(&bench, "9");
    bench.save("trunk");
    bench.git(&["checkout", "-q", "-b", "topic"]);
    measured_on_its_inputs(&bench, "5");
    bench.save("strict");
    let failed = bench.discern(&["done", "--json"]).exits(1).json();
    let again = bench.discern(&["done", "--json"]).exits(1).json();
    // Answered from the outcome: there is no new attempt.
    assert_eq!(again["attempt"]["id"], failed["attempt"]["id"]);
    for document in [failed, again] {
        let n = report(&document, "n");
        let numbers = ["value", "limit", "trunk_limit", "distance"].map(|key| n[key].as_str().unwrap_or("none"));
        assert_eq!(numbers, ["9", "5", "9", "-4"]);
        assert_eq!(n["reason"], "9 is above the limit 5");
    }
    assert_eq!(times_measured(&bench), 1);
}

#[test]
fn equal_text_and_equal_numbers_are_never_a_rise() {
    let bench = Bench::new();
    bench.gate();
    bench.standard("c", "down", "0.1", "cat m");
    for (text, status) in [("0.1", 0), ("0.10", 0), (".1", 0), ("1e-1", 0), ("0.1000000000000000055", 1)] {
        bench.write("m", format!("DISCERN_METRIC c {text}\n"));
        bench.save(text);
        let document = bench.discern(&["standards", "--json"]).exits(status).json();
        assert_eq!(report(&document, "c")["value"], text);
    }
}
