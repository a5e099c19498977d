//! What a run that did not end well leaves behind: nothing that was published is lost, and nothing else counts.

use rustix::process::Signal;

use super::scene::{Then, expect, play, requirement, scene};
use crate::support::{Place, wait_for};
use Then::{Ran, Reused};

/// Job `t` passes at once; `slow`, after it, says that it is there and waits for a file.
const SLOW: &str = "gate; job t 'echo >> ../ran'; job slow 'touch ../there; while test ! -e ../go; do sleep 0.05; done' 'after = [\"t\"]'; save";

fn interrupted_while_slow_runs(place: &Place, signal: Signal) {
    let run = place.start(&["done"]);
    wait_for("the second job", || place.has("../there"));
    run.signal(signal);
    assert_ne!(run.wait().status, 0);
    play(place, "touch ../go");
}

#[test]
fn an_interrupted_run_loses_nothing_and_proves_nothing() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL] {
        let bench = scene(SLOW);
        interrupted_while_slow_runs(&bench, signal);
        assert_eq!(bench.discern(&["verify"]).status, 1);
        let (outcome, document) = super::scene::ask(&bench, &[]);
        assert_eq!(outcome.status, 0, "{}", outcome.shown());
        assert_eq!(requirement(&document, "t")["source"], "reused", "{signal:?} {document:#}");
        assert_eq!(requirement(&document, "slow")["source"], "ran", "{signal:?} {document:#}");
        assert_eq!(bench.read("../ran").len(), 1, "{signal:?}: `t` ran once");
    }
}

#[test]
fn a_cancelled_rerun_changes_nothing_about_a_proven_commit() {
    let bench = scene(SLOW);
    play(&bench, "touch ../go");
    expect(&bench, &[], Ran(0));
    play(&bench, "rm ../go ../there");
    let run = bench.start(&["done", "--rerun", "slow"]);
    wait_for("the second job", || bench.has("../there"));
    // While it runs, the old answer stands.
    assert_eq!(bench.discern(&["verify"]).status, 0);
    run.signal(Signal::INT);
    assert_eq!(run.wait().status, 130);
    expect(&bench, &[], Reused);
}

#[test]
fn a_need_that_was_interrupted_has_left_nothing_behind() {
    let bench = scene(
        "echo out > .gitignore; touch ../go; gate
        job build 'rm -f out; touch ../there; while test ! -e ../go; do sleep 0.05; done; touch out'
        job t 'test -e out' 'needs = [\"build\"]'; save",
    );
    expect(&bench, &[], Ran(0));
    play(&bench, "rm ../go ../there");
    let run = bench.start(&["done", "--rerun", "build"]);
    wait_for("the build", || bench.has("../there"));
    run.signal(Signal::KILL);
    assert_ne!(run.wait().status, 0);
    play(&bench, "touch ../go");
    let document = expect(&bench, &["--rerun", "t"], Ran(0));
    assert_eq!(requirement(&document, "build")["source"], "ran");
}

#[test]
fn two_worktrees_share_verdicts_and_no_products() {
    let bench =
        scene("echo out > .gitignore; gate; job build 'touch out'; job t 'test -e out' 'needs = [\"build\"]'; save");
    expect(&bench, &[], Ran(0));
    let linked = bench.worktree("wt");
    play(&linked, "git commit -q --amend -m other");
    expect(&linked, &[], Reused);
    let document = expect(&linked, &["--rerun", "t"], Ran(0));
    assert_eq!(requirement(&document, "build")["source"], "ran");
}

#[test]
fn a_record_that_its_own_job_deletes_proves_nothing() {
    let bench = scene(
        "gate; job t 'test -e ../go || { git update-ref -d refs/discern/attempt/$(git rev-parse HEAD); touch ../there; sleep 60; }'; save",
    );
    let run = bench.start(&["done"]);
    wait_for("the job", || bench.has("../there"));
    // Without the signal it looks for its record for a minute more, and ends with status 5.
    run.signal(Signal::INT);
    let outcome = run.wait().exits(130);
    assert!(outcome.stderr.contains("its record is gone"), "{}", outcome.shown());
    assert_eq!(bench.discern(&["verify"]).status, 1);
    play(&bench, "touch ../go");
    expect(&bench, &[], Ran(0));
}
