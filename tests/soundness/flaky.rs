//! Both verdicts for one subject, retries and reruns: a verdict that is not certain is never shown as one that is.

use super::scene::{Then, ask, expect, play, requirement, scene};
use Then::{Ran, Replayed, Reused};

const LUCK: &str = "gate; job t 'test -e ../luck'; save";

#[test]
fn a_failed_verdict_is_given_again_until_a_rerun() {
    let bench = scene(LUCK);
    expect(&bench, &[], Ran(1));
    play(&bench, "touch ../luck");
    expect(&bench, &[], Replayed);
    expect(&bench, &["--rerun"], Ran(0));
    expect(&bench, &[], Reused);
}

#[test]
fn a_failed_verdict_is_given_again_on_another_commit_with_the_same_subject() {
    let bench = scene(LUCK);
    expect(&bench, &[], Ran(1));
    play(&bench, "touch ../luck; git commit -q --amend -m other");
    expect(&bench, &[], Replayed);
}

#[test]
fn both_verdicts_for_one_subject_are_flaky_from_then_on() {
    let bench = scene(LUCK);
    let first = expect(&bench, &[], Ran(1));
    assert_eq!(requirement(&first, "t")["flaky"], false);
    play(&bench, "touch ../luck");
    let second = expect(&bench, &["--rerun"], Ran(0));
    assert_eq!(requirement(&second, "t")["flaky"], true, "{second:#}");
    assert_eq!(second["proof"]["requirements"][0]["flaky"], true, "{second:#}");
    let third = expect(&bench, &[], Reused);
    assert_eq!(requirement(&third, "t")["flaky"], true, "{third:#}");
    play(&bench, "rm ../luck");
    let fourth = expect(&bench, &["--rerun"], Ran(1));
    assert_eq!(requirement(&fourth, "t")["flaky"], true, "{fourth:#}");
    bench.discern(&["verify"]).exits(1).stdout.clear();
}

#[test]
fn a_failed_rerun_of_a_proven_commit_makes_it_not_proven() {
    let bench = scene("touch ../luck; gate; job t 'test -e ../luck'; save");
    expect(&bench, &[], Ran(0));
    play(&bench, "rm ../luck");
    expect(&bench, &["--rerun"], Ran(1));
    let (outcome, document) = ask(&bench, &[]);
    assert_eq!((outcome.status, &document["proof"]), (1, &serde_json::Value::Null), "{}", outcome.shown());
}

#[test]
fn a_verdict_on_another_commit_never_unproves_this_one() {
    let bench = scene("touch ../luck; gate; job t 'test -e ../luck'; save");
    expect(&bench, &[], Ran(0));
    play(&bench, "rm ../luck; git commit -q --amend -m other");
    expect(&bench, &["--rerun"], Ran(1));
    play(&bench, "git reset -q --hard HEAD@{1}");
    expect(&bench, &[], Reused);
}

#[test]
fn a_pass_is_not_reused_where_the_newest_verdict_failed() {
    let bench = scene("touch ../luck; gate; job t 'test -e ../luck'; save");
    expect(&bench, &[], Ran(0));
    play(&bench, "rm ../luck");
    expect(&bench, &["--rerun"], Ran(1));
    play(&bench, "git commit -q --amend -m other");
    expect(&bench, &[], Replayed);
}

#[test]
fn a_rerun_of_some_leaves_the_others_reused() {
    let bench = scene("gate; job t true; job u true; save");
    expect(&bench, &[], Ran(0));
    let document = expect(&bench, &["--rerun", "t"], Ran(0));
    assert_eq!(requirement(&document, "u")["source"], "reused");
    let (outcome, document) = ask(&bench, &["--rerun", "nobody"]);
    assert_eq!(
        (outcome.status, &document["diagnostics"][0]["code"]),
        (2, &"unknown-name".into()),
        "{}",
        outcome.shown()
    );
}

#[test]
fn a_pass_on_a_later_try_is_flaky_and_says_so() {
    let bench = scene("gate; job t 'test -e ../luck || { touch ../luck; exit 1; }' 'retries = 2'; save");
    let document = expect(&bench, &[], Ran(0));
    let entry = requirement(&document, "t");
    assert_eq!((&entry["flaky"], &entry["tries"]), (&true.into(), &2.into()), "{document:#}");
    assert_eq!(document["proof"]["requirements"][0]["flaky"], true);
    // Whoever reuses it is told, too.
    play(&bench, "git commit -q --amend -m other");
    let document = expect(&bench, &[], Reused);
    assert_eq!(requirement(&document, "t")["flaky"], true, "{document:#}");
}

#[test]
fn retries_of_the_gate_hold_for_each_job_and_are_no_more_than_declared() {
    let bench = scene("gate 'retries = 2'; job t 'echo >> ../tries; false'; save");
    let document = expect(&bench, &[], Ran(1));
    assert_eq!(requirement(&document, "t")["tries"], 3, "{document:#}");
    assert_eq!(bench.read("../tries").len(), 3);
}

#[test]
fn what_the_machine_did_is_neither_replayed_nor_flaky() {
    for (before, change) in [
        ("job t 'test -e ../luck || kill -9 $$'", "touch ../luck"),
        ("job t 'no-such-program'", "mkdir ../b; ln -s /bin/true ../b/no-such-program"),
        ("job t 'test -e ../luck || sleep 60' 'timeout = 1'", "touch ../luck"),
    ] {
        let bench = scene(&format!("gate; {before}; save"));
        expect(&bench, &[], Ran(1));
        play(&bench, change);
        let path = format!("{}/b:{}", bench.root().display(), bench.sh("echo $PATH").stdout.trim());
        let document = expect(&bench.with_variable("PATH", &path), &[], Ran(0));
        assert_eq!(requirement(&document, "t")["flaky"], false, "{document:#}");
    }
}

#[test]
fn a_raised_timeout_runs_again_what_was_too_slow() {
    let bench = scene("gate; job t 'sleep 1.5' 'timeout = 1'; save");
    expect(&bench, &[], Ran(1));
    play(&bench, "sed -i 's/timeout = 1/timeout = 60/' discern.toml; save");
    expect(&bench, &[], Ran(0));
}

#[test]
fn a_clock_that_was_set_back_makes_no_old_verdict_the_newest() {
    // A receipt of a day in the future, as a machine with a wrong clock would have left it.
    let bench = scene("touch ../luck; gate; job t 'test -e ../luck'; save");
    expect(&bench, &[], Ran(0));
    super::store::rewrite_ledger(&bench, |line| line.replace(r#""finished_at":"2"#, r#""finished_at":"9"#));
    play(&bench, "rm ../luck; git commit -q --amend -m other");
    expect(&bench, &["--rerun"], Ran(1));
    play(&bench, "git commit -q --amend -m another");
    expect(&bench, &[], Replayed);
}

#[test]
fn a_failed_verdict_that_could_not_be_absorbed_counts_from_the_next_run_on() {
    let bench = scene("gate; job t 'test ! -e ../bad || { : > .git/refs/discern/ledger.lock; false; }'; save");
    expect(&bench, &[], Ran(0));
    // The record of the rerun has the failure, and the ledger can't take it: it is locked.
    play(&bench, "touch ../bad");
    let (outcome, _) = ask(&bench, &["--rerun"]);
    assert_ne!(outcome.status, 0, "{}", outcome.shown());
    play(&bench, "rm ../bad .git/refs/discern/ledger.lock; save other");
    expect(&bench, &[], Replayed);
}

#[test]
fn a_failure_that_is_given_again_is_told_with_all_that_was_to_be_checked() {
    let bench = scene("gate; job a true; job t false; job z 'true # z' 'after = [\"t\"]'; save");
    expect(&bench, &[], Ran(1));
    let document = expect(&bench, &[], Replayed);
    let standing = |name| requirement(&document, name)["verdict"].as_str().map(str::to_owned);
    let all = ["a", "t", "z"].map(standing).map(Option::unwrap_or_default);
    assert_eq!(all, ["passed", "failed", "unrun"], "{document:#}");
    let said = bench.discern(&["done"]).exits(1).stdout;
    assert!(said.contains("1 of 3 failed (t), 1 of 3 not run (z)"), "{said}");
}
