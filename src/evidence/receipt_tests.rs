use proptest::prelude::*;
use test_case::test_case;

use super::*;
use crate::evidence::samples::{attempt, failed, reading, receipt, subject};

const JOB: &str = include_str!("../../fixtures/receipts/v1-job.json");
const STANDARD: &str = include_str!("../../fixtures/receipts/v1-standard.json");
const FAILED: &str = include_str!("../../fixtures/receipts/v1-failed.json");
const NEWER: &str = include_str!("../../fixtures/receipts/v2-from-the-future.json");

#[test_case(JOB; "a job that passed on its second try")]
#[test_case(STANDARD; "a rate")]
#[test_case(FAILED; "a job that was killed")]
fn a_stored_receipt_is_read_and_written_again_byte_for_byte(line: &str) {
    let line = line.trim_end();
    let receipt = Receipt::from_line(line.as_bytes()).expect("a receipt");
    assert_eq!(receipt.to_line().expect("a line"), line);
}

#[test]
fn what_was_stored_is_what_is_read() {
    let job = Receipt::from_line(JOB.as_bytes()).expect("a receipt");
    assert_eq!((job.kind, job.name.as_str(), job.verdict), (RequirementKind::Job, "test", Verdict::Passed));
    assert_eq!((job.tries, job.flaky, job.exit_code, job.duration_ms), (2, true, Some(0), 61_234));
    assert_eq!(job.parts.environment.len(), 2);
    let standard = Receipt::from_line(STANDARD.as_bytes()).expect("a receipt");
    let read = Reading { value: "0.333333".into(), metric: "1".into(), per: Some("3".into()) };
    assert_eq!(standard.reading, Some(read));
    let failed = Receipt::from_line(FAILED.as_bytes()).expect("a receipt");
    assert_eq!((failed.failure, failed.signal.as_deref()), (Some(Failure::Signal), Some("SIGSEGV")));
}

#[test]
fn a_receipt_of_a_newer_version_is_newer_and_not_corrupt() {
    assert_eq!(Receipt::from_line(NEWER.as_bytes()), Err(Unreadable::Newer { found: 2, known: 1 }));
}

#[test]
fn an_unknown_field_of_the_same_version_is_ignored() {
    let line = JOB.replacen('{', "{\"some_day\":[1],", 1);
    assert!(Receipt::from_line(line.as_bytes()).is_ok());
}

#[test_case(""; "nothing")]
#[test_case("{}"; "no version")]
#[test_case("{\"version\":0}"; "version 0")]
#[test_case("{\"version\":\"1\"}"; "a version that is text")]
#[test_case("{\"version\":1}"; "only a version")]
#[test_case("[1]"; "a list")]
#[test_case("{\"version\":1"; "half a line")]
fn what_is_no_receipt_is_corrupt(line: &str) {
    assert!(matches!(Receipt::from_line(line.as_bytes()), Err(Unreadable::Corrupt(_))));
}

proptest! {
    #[test]
    fn a_receipt_cut_short_is_never_taken_for_one(cut in 0..JOB.trim_end().len()) {
        prop_assert!(matches!(Receipt::from_line(&JOB.as_bytes()[..cut]), Err(Unreadable::Corrupt(_))));
    }

    #[test]
    fn a_reason_is_cut_at_a_character_and_fits(text in "[a€𝄞]{0,900}") {
        let reason = Receipt::reason_from(&text);
        prop_assert!(reason.len() <= REASON_BYTES_MAX);
        prop_assert_eq!(reason == text, text.len() <= REASON_BYTES_MAX);
        prop_assert!(text.starts_with(reason.strip_suffix('…').unwrap_or(&reason)));
    }
}

#[test]
fn a_receipt_that_contradicts_itself_is_refused() {
    let good = receipt(subject(1), 1);
    let bad = failed(subject(1), 1, Failure::Exit);
    let read = reading(subject(1), 1, "5");
    let not_a_number = reading(subject(1), 1, "NaN");
    let cases = [
        (Receipt { failure: Some(Failure::Exit), ..good.clone() }, Contradiction::PassedWithFailure),
        (Receipt { exit_code: Some(1), ..good.clone() }, Contradiction::PassedWithFailure),
        (Receipt { signal: Some("SIGKILL".into()), ..good.clone() }, Contradiction::PassedWithFailure),
        (Receipt { failure: None, ..bad }, Contradiction::FailedWithoutFailure),
        (Receipt { reading: read.reading.clone(), ..good.clone() }, Contradiction::JobWithReading),
        (Receipt { reading: None, ..read.clone() }, Contradiction::ReadingAgainstVerdict),
        (
            Receipt { verdict: Verdict::Failed, failure: Some(Failure::Reading), ..read },
            Contradiction::ReadingAgainstVerdict,
        ),
        (not_a_number, Contradiction::ReadingNotANumber),
        (Receipt { tries: 0, ..good.clone() }, Contradiction::NoTry),
        (Receipt { reason: Some("x".repeat(REASON_BYTES_MAX + 1)), ..good.clone() }, Contradiction::ReasonTooLong),
    ];
    assert_eq!(good.check(), Ok(()));
    for (receipt, why) in cases {
        assert_eq!(receipt.check(), Err(why));
        let line = receipt.to_line().expect("a line");
        assert_eq!(Receipt::from_line(line.as_bytes()), Err(Unreadable::Corrupt(why.to_string())));
    }
}

#[test]
fn the_newest_receipt_counts_in_whatever_order_they_come() {
    let receipts = [receipt(subject(1), 1), failed(subject(1), 3, Failure::Exit), receipt(subject(1), 2)];
    assert_eq!(newest(&receipts), Some(&receipts[1]));
    assert_eq!(newest(receipts.iter().rev()), Some(&receipts[1]));
    let later_try = Receipt { tries: 2, ..receipts[1].clone() };
    assert_eq!(newest([&later_try, &receipts[1]]).map(|it| it.tries), Some(2));
    let later_attempt = Receipt { attempt: attempt(200), ..receipts[1].clone() };
    assert_eq!(newest([&later_attempt, &receipts[1]]).map(|it| it.attempt), Some(attempt(200)));
    assert_eq!(newest([]), None);
}

#[test]
fn both_verdicts_for_one_subject_are_flaky() {
    let (good, bad) = (receipt(subject(1), 1), failed(subject(1), 2, Failure::Exit));
    assert!(flaky([&good, &bad]) && flaky([&bad, &good]));
    assert!(!flaky([&good, &good]) && !flaky([&bad, &bad]) && !flaky([]));
}

#[test]
fn a_pass_on_a_later_try_is_flaky_by_itself() {
    assert!(flaky([&Receipt { flaky: true, tries: 2, ..receipt(subject(1), 1) }]));
}

#[test_case(Failure::Timeout)]
#[test_case(Failure::Signal)]
#[test_case(Failure::NotStarted)]
#[test_case(Failure::OutputLost)]
fn what_is_not_replayed_makes_nothing_flaky(failure: Failure) {
    assert!(!failed(subject(1), 1, failure).may_be_replayed());
    assert!(!flaky([&failed(subject(1), 1, failure), &receipt(subject(1), 2)]));
}
