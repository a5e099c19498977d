use test_case::test_case;

use super::*;
use crate::evidence::samples::{failed, name, reading, receipt, subject};
use crate::standard::Direction;

pub(super) fn job(text: &str, byte: u8, needs: &[&str]) -> Requirement {
    Requirement {
        key: RequirementKey::job(name(text)),
        subject: subject(byte),
        execution: subject(byte).0,
        command: text.to_owned(),
        needs: needs.iter().map(|need| name(need)).collect(),
        after: Vec::new(),
        from: None,
        retries: 0,
        inputs_declared: true,
        limit: None,
        demanded: true,
        expected_ms: None,
    }
}

pub(super) fn standard(text: &str, byte: u8, limit: &str) -> Requirement {
    let own = limit.parse().expect("a decimal");
    let limit = Some(Limit { direction: Direction::Down, own, trunk: None, scale: None });
    Requirement { key: RequirementKey::standard(name(text)), limit, ..job(text, byte, &[]) }
}

fn from(requirement: Requirement, source: &str) -> Requirement {
    Requirement { from: Some(name(source)), ..requirement }
}

fn idle(requirement: Requirement) -> Requirement {
    Requirement { demanded: false, ..requirement }
}

pub(super) fn known(receipts: Vec<Receipt>) -> Known {
    let mut by_subject: BTreeMap<Subject, Vec<Receipt>> = BTreeMap::new();
    for receipt in receipts {
        by_subject.entry(receipt.subject).or_default().push(receipt);
    }
    Known { receipts: by_subject, ..Known::nothing(Place::InPlace) }
}

fn left_here(known: Known, what: &[(&str, u8)]) -> Known {
    Known { left_here: what.iter().map(|&(text, byte)| (name(text), subject(byte))).collect(), ..known }
}

/// Each requirement with what is decided, in words.
fn decided(requirements: &[Requirement], known: &Known) -> Vec<String> {
    let plan = plan(requirements.to_vec(), known);
    let words = |item: &PlanItem| {
        let decision = match &item.decision {
            Decision::Reuse(receipt) => format!("reuse {}", receipt.attempt.to_string().split_at(2).0),
            Decision::Replay(receipt) => format!("replay {}", receipt.attempt.to_string().split_at(2).0),
            Decision::Run(why) => format!("run: {why}"),
            Decision::NotNeeded => "not needed".to_owned(),
        };
        let flaky = if item.flaky { ", flaky" } else { "" };
        format!("{}: {decision}{flaky}", item.requirement.key)
    };
    plan.items.iter().map(words).collect()
}

#[test]
fn what_is_unknown_runs_and_says_what_differs() {
    let mut known = known(vec![]);
    known.differences.insert(RequirementKey::job(name("test")), "`src/lib.rs` changed".into());
    let requirements = [job("lint", 1, &[]), job("test", 2, &[])];
    assert_eq!(decided(&requirements, &known), ["lint: run: first time", "test: run: `src/lib.rs` changed"]);
}

#[test]
fn only_the_newest_verdict_counts() {
    let requirements = [job("test", 1, &[])];
    let (pass, fail) = (|at| receipt(subject(1), at), |at| failed(subject(1), at, Failure::Exit));
    assert_eq!(decided(&requirements, &known(vec![pass(1)])), ["test: reuse 01"]);
    assert_eq!(decided(&requirements, &known(vec![fail(1)])), ["test: replay 01"]);
    assert_eq!(decided(&requirements, &known(vec![fail(2), pass(1)])), ["test: replay 02, flaky"]);
    assert_eq!(decided(&requirements, &known(vec![fail(1), pass(2)])), ["test: reuse 02, flaky"]);
}

#[test]
fn a_standards_receipt_is_none_for_a_job_of_the_same_subject() {
    assert_eq!(decided(&[job("size", 1, &[])], &known(vec![reading(subject(1), 1, "5")])), ["size: run: first time"]);
}

#[test_case(Failure::Timeout, "the last run was ended by its timeout")]
#[test_case(Failure::Signal, "the last run was ended by a signal")]
#[test_case(Failure::NotStarted, "the last run may have missed a program")]
#[test_case(Failure::OutputLost, "the last run's output was lost")]
fn a_failure_of_the_machine_is_not_replayed(failure: Failure, why: &str) {
    let receipts = vec![failed(subject(1), 1, failure)];
    assert_eq!(decided(&[job("test", 1, &[])], &known(receipts)), [format!("test: run: {why}")]);
    // Nor does an older pass count again.
    let receipts = vec![receipt(subject(1), 1), failed(subject(1), 2, failure)];
    assert_eq!(decided(&[job("test", 1, &[])], &known(receipts)), [format!("test: run: {why}")]);
}

#[test]
fn a_rerun_reuses_nothing_of_what_it_names() {
    let requirements = [job("lint", 1, &[]), job("test", 2, &[])];
    let receipts = vec![failed(subject(1), 1, Failure::Exit), receipt(subject(2), 2)];
    let all = Known { rerun: Rerun::All, ..known(receipts.clone()) };
    assert_eq!(decided(&requirements, &all), ["lint: run: --rerun", "test: run: --rerun"]);
    let one = Known { rerun: Rerun::Named([name("lint")].into()), ..known(receipts) };
    assert_eq!(decided(&requirements, &one), ["lint: run: --rerun", "test: reuse 02"]);
}

#[test]
fn the_needs_of_what_runs_run_first_receipt_or_not() {
    let requirements = [job("gen", 1, &[]), job("build", 2, &["gen"]), job("test", 3, &["build"]), job("lint", 4, &[])];
    let receipts = vec![receipt(subject(1), 1), receipt(subject(2), 1), receipt(subject(4), 1)];
    assert_eq!(
        decided(&requirements, &known(receipts)),
        ["gen: run: needed by build", "build: run: needed by test", "test: run: first time", "lint: reuse 01"]
    );
}

#[test]
fn a_need_that_passed_last_in_this_checkout_with_the_equal_subject_is_not_repeated() {
    let requirements = [job("build", 2, &[]), job("test", 3, &["build"])];
    let receipts = || known(vec![receipt(subject(2), 1)]);
    assert_eq!(
        decided(&requirements, &left_here(receipts(), &[("build", 2)])),
        ["build: reuse 01", "test: run: first time"]
    );
    assert_eq!(
        decided(&requirements, &left_here(receipts(), &[("build", 9)])),
        ["build: run: needed by test", "test: run: first time"],
        "another subject was left here"
    );
    assert_eq!(
        decided(&requirements, &left_here(known(vec![]), &[("build", 2)])),
        ["build: run: first time", "test: run: first time"],
        "no receipt counts"
    );
}

#[test]
fn a_need_that_failed_is_replayed_and_not_tried_again_for_another_jobs_sake() {
    let requirements = [job("build", 2, &[]), job("test", 3, &["build"])];
    let receipts = known(vec![failed(subject(2), 1, Failure::Exit)]);
    assert_eq!(decided(&requirements, &receipts), ["build: replay 01", "test: run: first time"]);
}

#[test]
fn a_job_that_nobody_asks_for_runs_only_where_it_is_needed() {
    let requirements = [idle(job("build", 2, &[])), idle(job("lint", 3, &[])), job("size", 4, &["build"])];
    assert_eq!(
        decided(&requirements, &known(vec![])),
        ["build: run: first time", "lint: not needed", "size: run: first time"]
    );
    let with_pass = known(vec![receipt(subject(2), 1)]);
    assert_eq!(decided(&requirements, &with_pass)[0], "build: run: needed by size");
    let with_failure = known(vec![failed(subject(2), 1, Failure::Exit)]);
    assert_eq!(decided(&requirements, &with_failure)[0], "build: replay 01");
    let reused = known(vec![receipt(subject(4), 1)]);
    assert_eq!(decided(&requirements, &reused), ["build: not needed", "lint: not needed", "size: reuse 01"]);
    let here = left_here(known(vec![receipt(subject(2), 1)]), &[("build", 2)]);
    assert_eq!(decided(&requirements, &here)[0], "build: not needed");
    let failed_since = vec![receipt(subject(2), 1), failed(subject(2), 2, Failure::Exit)];
    let failed_since = left_here(known(failed_since), &[("build", 2)]);
    assert_eq!(decided(&requirements, &failed_since)[0], "build: replay 02, flaky");
    let again = Known { rerun: Rerun::All, ..here };
    assert_eq!(decided(&requirements, &again)[0], "build: run: --rerun");
}

#[test]
fn a_measured_job_runs_only_where_its_output_is_gone() {
    let requirements = [idle(job("test", 1, &[])), from(standard("size", 2, "9"), "test")];
    let mut known = known(vec![receipt(subject(1), 1)]);
    assert_eq!(
        decided(&requirements, &known),
        ["test: run: measured by size, and its output is gone", "size: run: first time"]
    );
    known.outputs_kept.insert(name("test"));
    assert_eq!(decided(&requirements, &known), ["test: reuse 01", "size: run: first time"]);
    known.receipts.insert(subject(2), vec![reading(subject(2), 2, "5")]);
    assert_eq!(decided(&requirements, &known), ["test: not needed", "size: reuse 02"]);
}

#[test]
fn what_measures_a_job_that_runs_is_measured_again() {
    let requirements = [job("test", 1, &[]), from(standard("size", 2, "9"), "test")];
    let known = Known {
        rerun: Rerun::Named([name("test")].into()),
        ..known(vec![receipt(subject(1), 1), reading(subject(2), 2, "5")])
    };
    assert_eq!(
        decided(&requirements, &known),
        ["test: run: --rerun", "size: run: test, whose output it measures, runs"]
    );
}

#[test]
fn a_worktrees_verdict_serves_an_isolated_run_only_with_declared_inputs() {
    let known = |place, receipts| Known { place, ..known(receipts) };
    let undeclared = [Requirement { inputs_declared: false, ..job("test", 1, &[]) }];
    let in_place = receipt(subject(1), 1);
    let isolated = Receipt { place: Place::Isolated, ..in_place.clone() };
    assert_eq!(
        decided(&undeclared, &known(Place::Isolated, vec![in_place.clone()])),
        ["test: run: it passed only in a worktree, and its inputs are not declared"]
    );
    assert_eq!(decided(&[job("test", 1, &[])], &known(Place::Isolated, vec![in_place])), ["test: reuse 01"]);
    for place in [Place::Isolated, Place::InPlace] {
        assert_eq!(decided(&undeclared, &known(place, vec![isolated.clone()])), ["test: reuse 01"]);
    }
}

#[test]
fn a_tightened_limit_is_not_met_by_an_old_reading() {
    let known = known(vec![reading(subject(1), 1, "5")]);
    for (limit, verdict) in [("5", Verdict::Passed), ("4.9", Verdict::Failed)] {
        let plan = plan(vec![standard("size", 1, limit)], &known);
        assert_eq!(plan.items[0].verdict(), Some(verdict), "{limit}");
        assert!(plan.is_answered(), "nothing is measured again");
    }
}

#[test_case(Receipt { exit_code: Some(1), ..receipt(subject(1), 1) }; "a pass with exit code 1")]
#[test_case(Receipt { tries: 0, ..receipt(subject(1), 1) }; "no try")]
fn a_hostile_receipt_is_as_good_as_none(hostile: Receipt) {
    assert_eq!(decided(&[job("test", 1, &[])], &known(vec![hostile])), ["test: run: first time"]);
}

#[test]
fn a_reading_that_can_not_be_compared_is_measured_again() {
    let mut hostile = reading(subject(1), 1, "5");
    hostile.reading.as_mut().expect("a reading").per = Some("0".into());
    assert_eq!(decided(&[standard("size", 1, "9")], &known(vec![hostile])), ["size: run: first time"]);
}

#[test]
fn a_cycle_that_no_configuration_may_have_does_not_hang_the_plan() {
    let requirements = [job("a", 1, &["b"]), job("b", 2, &["a"])];
    let known = known(vec![receipt(subject(2), 1)]);
    assert_eq!(decided(&requirements, &known), ["a: run: first time", "b: run: needed by a"]);
}
