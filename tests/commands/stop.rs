//! `stop`: a run's own loop ends it.

use rustix::process::Signal;

use super::{begun, gated, handle, open};
use crate::support::Bench;

#[test]
fn a_run_that_is_asked_to_stop_settles_as_if_it_had_got_sigterm() {
    let bench = gated();
    let done = begun(&bench, &["done"]);
    let handle = handle(&bench);
    let other = bench.worktree("other");
    let stopped = other.discern(&["stop", &handle]).exits(0);
    assert!(stopped.stdout.starts_with(&format!("stopped  {handle}")), "{}", stopped.shown());
    let ended = done.wait().exits(143);
    assert!(ended.stdout.contains("stopped by `git discern stop`"), "{}", ended.shown());
    let again = bench.discern(&["stop", &handle]).exits(2);
    assert!(again.stderr.contains("had ended before"), "{}", again.shown());
    let nothing = bench.discern(&["stop"]).exits(2);
    assert!(nothing.stderr.contains("there is nothing to stop"), "{}", nothing.shown());
}

#[test]
fn without_a_handle_it_is_this_worktrees_run() {
    let bench = gated();
    let run = begun(&bench, &["run", "gated"]);
    let other = bench.worktree("other");
    let elsewhere = begun(&other, &["done"]);
    let document = bench.discern(&["stop", "--json"]).exits(0).json();
    assert_eq!(document["schema"], "discern/stop/1");
    assert_eq!(document["ended_with"], 143);
    run.wait().exits(143);
    open(&bench);
    elsewhere.wait().exits(0);
}

#[test]
fn where_nothing_runs_nothing_can_be_stopped() {
    let bench = Bench::proven_by_true();
    bench.discern(&["stop"]).exits(2);
    bench.discern(&["stop", "R1-7000-0000-0E"]).exits(2);
}

#[test]
fn a_run_that_is_suspended_is_said_to_be_at_once_and_stops_when_it_goes_on() {
    let bench = gated();
    let done = begun(&bench, &["done"]);
    let handle = handle(&bench);
    done.signal(Signal::STOP);
    crate::support::wait_for("a suspended run", || {
        bench.discern(&["status", "--json"]).exits(0).json()["claims"][0]["suspended"] == true
    });
    let asked = bench.discern(&["stop"]).exits(3);
    let goes_on = format!("kill -CONT {}", done.pid().as_raw_nonzero());
    for said in [&format!("asked  {handle} is suspended"), &goes_on] {
        assert!(asked.stdout.contains(said.as_str()), "{said}: {}", asked.shown());
    }
    let document = bench.discern(&["stop", &handle, "--json"]).exits(3).json();
    assert_eq!(document["diagnostics"][0]["code"], "suspended");
    assert_eq!(document["diagnostics"][0]["fix"], goes_on);
    done.signal(Signal::CONT);
    done.wait().exits(143);
}
