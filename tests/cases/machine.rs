//! The machine around it.

use crate::soundness::scene::{ask, scene};

#[test]
fn b097_gits_refusal_of_anothers_checkout_is_passed_on_and_explained() {
    let bench = scene("gate; job ok true; save");
    let outcome = bench.with_variable("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1").discern(&["done"]);
    assert_ne!(outcome.status, 0);
    assert!(outcome.stderr.contains("safe.directory"), "{}", outcome.shown());
    assert!(!outcome.stderr.contains("not a git repository"), "{}", outcome.shown());
}

#[test]
fn b098_a_monitor_that_keeps_a_pipe_open_hangs_nothing() {
    let bench = scene(
        "gate; job ok true; save; printf '#!/bin/sh\\nsleep 30 &\\nexit 1\\n' > ../mon; chmod +x ../mon; git config core.fsmonitor \"$PWD/../mon\"",
    );
    let (outcome, _) = ask(&bench, &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.shown());
}

#[test]
fn b100_a_clone_without_blobs_needs_no_network() {
    let bench = scene(
        "gate; job t true; save; for i in 1 2 3; do echo $i > f; save; done; git config uploadpack.allowFilter true
        git clone -q --filter=blob:none \"file://$PWD\" ../c; git -C ../c remote set-url origin file:///nowhere",
    );
    let clone = bench.at("../c");
    let (outcome, _) = ask(&clone.with_variable("GIT_NO_LAZY_FETCH", "1"), &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.shown());
    assert_eq!(clone.discern(&["verify"]).status, 0);
}
