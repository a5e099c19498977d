use proptest::prelude::*;
use std::collections::BTreeSet;

use super::*;
use crate::evidence::samples::{failed, name, receipt, subject};
use crate::plan::tests::{job, known, standard};
use crate::plan::{Requirement, plan};

fn schedule(requirements: Vec<Requirement>, after_failure: AfterFailure) -> Schedule {
    Schedule::new(&plan(requirements, &known(vec![])), after_failure)
}

fn after(requirement: Requirement, before: &str) -> Requirement {
    Requirement { after: vec![name(before)], ..requirement }
}

fn retried(requirement: Requirement, retries: u32) -> Requirement {
    Requirement { retries, ..requirement }
}

fn key(text: &str) -> RequirementKey {
    RequirementKey::job(name(text))
}

/// What starts, in words: `test`, `test (2)` for a second try.
fn starts(schedule: &mut Schedule, free: usize) -> Vec<String> {
    let words = |start: Start| {
        let serves: Vec<String> = start.serves.iter().map(ToString::to_string).collect();
        let tries = if start.tries == 1 { String::new() } else { format!(" ({})", start.tries) };
        serves.join("+") + &tries
    };
    schedule.start(free).into_iter().map(words).collect()
}

const FAILED: Ended = Ended::Failed(Failure::Exit);

#[test]
fn what_needs_nothing_starts_in_the_files_order_as_slots_are_free() {
    let mut it = schedule(vec![job("a", 1, &[]), job("b", 2, &[]), job("c", 3, &["a"])], AfterFailure::StartNothing);
    assert_eq!(starts(&mut it, 1), ["a"]);
    assert_eq!(starts(&mut it, 5), ["b"]);
    assert_eq!((it.running(), it.waiting(), it.is_over()), (2, 1, false));
    assert_eq!(it.finished(&key("a"), Ended::Passed), Next::Settled);
    assert_eq!(starts(&mut it, 5), ["c"]);
    it.finished(&key("b"), Ended::Passed);
    it.finished(&key("c"), Ended::Passed);
    assert!(it.is_over() && !it.has_failure() && it.unrun().is_empty());
}

#[test]
fn what_holds_up_most_starts_first() {
    let slow = |requirement: Requirement, ms| Requirement { expected_ms: Some(ms), ..requirement };
    let jobs = vec![
        slow(job("alone", 1, &[]), 500),
        slow(job("build", 2, &[]), 100),
        slow(job("test", 3, &["build"]), 900),
        job("unknown", 4, &[]),
    ];
    assert_eq!(starts(&mut schedule(jobs, AfterFailure::StartNothing), 9), ["build", "alone", "unknown"]);
}

#[test]
fn after_a_failure_nothing_starts_and_what_runs_is_let_finish() {
    let jobs = vec![job("a", 1, &[]), job("b", 2, &[]), job("c", 3, &[]), job("d", 4, &["a"])];
    let mut it = schedule(jobs, AfterFailure::StartNothing);
    assert_eq!(starts(&mut it, 2), ["a", "b"]);
    it.finished(&key("a"), FAILED);
    assert!(starts(&mut it, 9).is_empty());
    assert!(!it.is_over(), "b still runs");
    it.finished(&key("b"), Ended::Passed);
    assert!(it.is_over());
    assert_eq!(it.unrun(), [(key("c"), None), (key("d"), Some(key("a")))]);
}

#[test]
fn keep_going_starts_whatever_does_not_need_what_failed() {
    let jobs = vec![
        job("a", 1, &[]),
        job("b", 2, &["a"]),
        job("c", 3, &["b"]),
        after(job("d", 4, &[]), "c"),
        job("e", 5, &[]),
    ];
    let mut it = schedule(jobs, AfterFailure::KeepGoing);
    assert_eq!(starts(&mut it, 1), ["a"]);
    it.finished(&key("a"), FAILED);
    assert_eq!(starts(&mut it, 9), ["d", "e"], "d only comes after what will never start");
    it.finished(&key("d"), Ended::Passed);
    it.finished(&key("e"), Ended::Passed);
    assert!(it.is_over());
    assert_eq!(it.unrun(), [(key("b"), Some(key("a"))), (key("c"), Some(key("a")))]);
}

#[test]
fn after_only_orders() {
    let mut it = schedule(vec![after(job("a", 1, &[]), "b"), job("b", 2, &[])], AfterFailure::KeepGoing);
    assert_eq!(starts(&mut it, 9), ["b"]);
    it.finished(&key("b"), FAILED);
    assert_eq!(starts(&mut it, 9), ["a"]);
}

#[test]
fn a_failed_job_is_tried_again_as_often_as_it_may() {
    let mut it = schedule(vec![retried(job("a", 1, &[]), 1), job("b", 2, &["a"])], AfterFailure::StartNothing);
    assert_eq!(starts(&mut it, 9), ["a"]);
    assert_eq!(it.finished(&key("a"), FAILED), Next::Retry);
    assert!(!it.is_over() && !it.has_failure());
    assert_eq!(starts(&mut it, 9), ["a (2)"]);
    let mut passed = it.clone();
    assert_eq!(passed.finished(&key("a"), Ended::Passed), Next::Settled);
    assert_eq!(starts(&mut passed, 9), ["b"]);
    assert_eq!(it.finished(&key("a"), FAILED), Next::Settled);
    assert!(it.is_over() && it.has_failure());
}

#[test]
fn a_try_that_is_due_is_made_although_something_else_failed_meanwhile() {
    let mut it = schedule(vec![retried(job("a", 1, &[]), 1), job("b", 2, &[])], AfterFailure::StartNothing);
    starts(&mut it, 9);
    it.finished(&key("a"), FAILED);
    it.finished(&key("b"), FAILED);
    assert_eq!(starts(&mut it, 9), ["a (2)"]);
}

#[test]
fn what_another_try_can_not_help_is_not_tried_again() {
    for ended in [Ended::Failed(Failure::NotStarted), Ended::Failed(Failure::OutputLost), Ended::BeyondLimit] {
        let mut it = schedule(vec![retried(job("a", 1, &[]), 3)], AfterFailure::StartNothing);
        starts(&mut it, 1);
        assert_eq!(it.finished(&key("a"), ended), Next::Settled);
        assert!(it.is_over());
    }
}

#[test]
fn after_a_stop_nothing_starts_not_even_a_due_try() {
    let mut it =
        schedule(vec![retried(job("a", 1, &[]), 3), job("b", 2, &[]), job("c", 3, &[])], AfterFailure::KeepGoing);
    starts(&mut it, 2);
    it.finished(&key("a"), FAILED);
    it.stop();
    assert!(starts(&mut it, 9).is_empty());
    assert!(!it.is_over(), "b still runs");
    assert_eq!(it.finished(&key("b"), FAILED), Next::Settled);
    assert!(it.is_over());
}

#[test]
fn standards_of_one_execution_run_once() {
    let shared = |text: &str, byte| Requirement { execution: subject(9).0, ..standard(text, byte, "5") };
    let all = vec![shared("a", 1), shared("b", 2), after(shared("c", 3), "d"), job("d", 9, &[])];
    let mut it = schedule(all, AfterFailure::StartNothing);
    assert_eq!(starts(&mut it, 9), ["a+b", "d"], "c comes after d and can't join");
    it.finished(&RequirementKey::standard(name("b")), FAILED);
    assert!(it.has_failure());
}

#[test]
fn a_verdict_that_the_plan_knows_counts_from_the_start() {
    let jobs = || vec![job("a", 1, &[]), job("b", 2, &["a"]), job("c", 3, &[])];
    let passed = plan(jobs(), &known(vec![receipt(subject(1), 1), receipt(subject(2), 1)]));
    assert_eq!(starts(&mut Schedule::new(&passed, AfterFailure::StartNothing), 9), ["c"]);
    let failed = plan(jobs(), &known(vec![failed(subject(1), 1, Failure::Exit)]));
    let mut it = Schedule::new(&failed, AfterFailure::StartNothing);
    assert!(starts(&mut it, 9).is_empty() && it.is_over());
    assert_eq!(starts(&mut Schedule::new(&failed, AfterFailure::KeepGoing), 9), ["c"]);
}

#[test]
fn the_end_of_what_does_not_run_changes_nothing() {
    let mut it = schedule(vec![job("a", 1, &[])], AfterFailure::StartNothing);
    it.finished(&key("a"), FAILED);
    it.finished(&key("z"), FAILED);
    assert_eq!(starts(&mut it, 9), ["a"]);
}

#[test]
fn a_cycle_is_over_at_once() {
    for mode in [AfterFailure::StartNothing, AfterFailure::KeepGoing] {
        let mut it = schedule(vec![job("a", 1, &["b"]), job("b", 2, &["a"])], mode);
        assert!(starts(&mut it, 9).is_empty() && it.is_over());
        assert_eq!(it.unrun().len(), 2);
    }
}

/// Up to eight jobs and standards, most of them waiting for earlier ones, some for later ones.
fn requirements() -> impl Strategy<Value = Vec<Requirement>> {
    let links = || prop::collection::vec(0_usize..8, 0..3);
    let one = (links(), links(), 0_u32..3, any::<bool>(), 0_u8..3, prop::option::of(0_u64..50));
    (prop::collection::vec(one, 1..8), prop::bool::weighted(0.1)).prop_map(|(ones, cyclic)| {
        let names = |at: usize, links: Vec<usize>| {
            let links = links.into_iter().filter(move |&link| cyclic || link < at);
            links.map(|link| name(&format!("j{link}"))).collect::<Vec<_>>()
        };
        let build = |(at, (needs, after, retries, is_job, execution, expected_ms)): (usize, _)| {
            let text = format!("j{at}");
            let one = if is_job { job(&text, at as u8, &[]) } else { standard(&text, at as u8, "5") };
            let execution = if is_job { one.execution } else { subject(100 + execution).0 };
            let (needs, after) = (names(at, needs), names(at, after));
            Requirement { needs, after, retries, execution, expected_ms, ..one }
        };
        ones.into_iter().enumerate().map(build).collect()
    })
}

fn ended() -> impl Strategy<Value = Ended> {
    let failure = prop_oneof![Just(Failure::Exit), Just(Failure::Timeout), Just(Failure::NotStarted)];
    prop_oneof![4 => Just(Ended::Passed), 2 => failure.prop_map(Ended::Failed), 1 => Just(Ended::BeyondLimit)]
}

/// What was seen of a run from outside.
#[derive(Default)]
struct Seen {
    running: Vec<RequirementKey>,
    passed: BTreeSet<Name>,
    settled: BTreeSet<Name>,
    tries: BTreeMap<RequirementKey, u32>,
    failed: bool,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn nothing_starts_too_early_or_too_often_and_every_run_ends(
        requirements in requirements(),
        ends in prop::collection::vec((any::<prop::sample::Index>(), ended()), 32),
        slots in 1_usize..4,
        keep_going: bool,
        stop_at in prop::option::of(0_usize..12),
    ) {
        let mode = if keep_going { AfterFailure::KeepGoing } else { AfterFailure::StartNothing };
        let mut schedule = schedule(requirements.clone(), mode);
        let mut twin = schedule.clone();
        let find = |key: &RequirementKey| requirements.iter().find(|it| it.key == *key).expect("known");
        let mut seen = Seen::default();
        let mut stopped = false;
        // 7 requirements with 3 tries each end at most 21 times.
        for (round, (which, ended)) in ends.into_iter().enumerate() {
            if stop_at == Some(round) {
                schedule.stop();
                twin.stop();
                stopped = true;
            }
            let starts = schedule.start(slots - seen.running.len());
            prop_assert_eq!(&starts, &twin.start(slots - seen.running.len()), "not deterministic");
            prop_assert!(starts.is_empty() || !stopped);
            prop_assert!(seen.running.len() + starts.len() <= slots);
            for start in starts {
                for key in &start.serves {
                    let requirement = find(key);
                    let doomed: BTreeSet<Name> =
                        schedule.unrun().into_iter().filter(|(_, why)| why.is_some()).map(|(key, _)| key.name).collect();
                    let known = |name: &&Name| requirements.iter().any(|it| it.key.name == **name);
                    prop_assert!(requirement.needs.iter().filter(known).all(|need| seen.passed.contains(need)));
                    let settled = |before: &Name| seen.settled.contains(before) || doomed.contains(before);
                    prop_assert!(requirement.after.iter().filter(known).all(settled));
                    prop_assert!(keep_going || !seen.failed || start.tries > 1);
                    let tries = seen.tries.entry(key.clone()).or_default();
                    *tries += 1;
                    prop_assert_eq!(*tries, start.tries);
                    prop_assert!(start.serves.len() > 1 || *tries <= 1 + requirement.retries);
                }
                seen.running.push(start.serves[0].clone());
            }
            prop_assert_eq!(schedule.running(), seen.running.len());
            if seen.running.is_empty() {
                prop_assert!(schedule.is_over(), "hangs: {:?}", schedule);
                return Ok(());
            }
            let key = seen.running.swap_remove(which.index(seen.running.len()));
            let next = schedule.finished(&key, ended);
            prop_assert_eq!(next, twin.finished(&key, ended));
            let serves = |other: &&Requirement| {
                other.key == key || (other.key.kind == RequirementKind::Standard && key.kind == other.key.kind
                    && other.execution == find(&key).execution && other.needs == find(&key).needs
                    && other.after == find(&key).after)
            };
            if next == Next::Settled {
                for other in requirements.iter().filter(serves) {
                    seen.settled.insert(other.key.name.clone());
                    if ended == Ended::Passed {
                        seen.passed.insert(other.key.name.clone());
                    }
                }
                seen.failed |= ended != Ended::Passed;
            }
        }
        prop_assert!(schedule.is_over(), "32 ends were not enough");
    }
}
