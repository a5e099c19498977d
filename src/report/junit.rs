//! JUnit XML: each requirement is a test case, each commit a test suite.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use crate::document::{Diagnostic, RequirementReport, RunDocument, Standing};
use crate::engine::log::Tail;
use crate::evidence::RequirementKind;
use crate::exit::OutcomeWord;

/// The report's name, and that of the suite of a single commit.
const NAME: &str = "git discern";

/// The document as JUnit XML. `tail` gives the last lines of a log, if it can be read.
///
/// # Errors
/// The XML can't be made.
pub fn of_document(document: &RunDocument, tail: &dyn Fn(&str) -> Option<Tail>) -> Result<String, SerializeError> {
    in_report([suite(NAME, document, tail)])
}

/// The documents of a range's commits as JUnit XML, a suite for each, called by its commit.
///
/// # Errors
/// The XML can't be made.
pub fn of_range(documents: &[RunDocument], tail: &dyn Fn(&str) -> Option<Tail>) -> Result<String, SerializeError> {
    let name = |document: &RunDocument| document.candidate.as_ref().map_or(NAME.to_owned(), |it| it.commit.to_string());
    in_report(documents.iter().map(|document| suite(&name(document), document, tail)))
}

fn suite(name: &str, document: &RunDocument, tail: &dyn Fn(&str) -> Option<Tail>) -> TestSuite {
    let mut suite = TestSuite::new(name);
    if let Some(candidate) = &document.candidate {
        suite.add_property(("commit", candidate.commit.to_string().as_str()));
        suite.add_property(("worktree", candidate.worktree.as_str()));
    }
    suite.add_test_cases(document.requirements.iter().map(|requirement| case(requirement, tail)));
    if document.requirements.iter().all(|requirement| requirement.verdict == Standing::Passed) && !document.ok {
        suite.add_test_case(not_run(&document.diagnostics, word(document.outcome)));
    }
    suite
}

/// A run that was refused, as JUnit XML: one case, in error.
///
/// # Errors
/// The XML can't be made.
pub fn of_refusal(diagnostics: &[Diagnostic]) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new(NAME);
    suite.add_test_case(not_run(diagnostics, "refused"));
    in_report([suite])
}

fn in_report(suites: impl IntoIterator<Item = TestSuite>) -> Result<String, SerializeError> {
    let mut report = Report::new(NAME);
    report.add_test_suites(suites);
    report.to_string()
}

fn case(requirement: &RequirementReport, tail: &dyn Fn(&str) -> Option<Tail>) -> TestCase {
    let mut status = match requirement.verdict {
        Standing::Passed => TestCaseStatus::success(),
        Standing::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Standing::Cancelled | Standing::Unrun => TestCaseStatus::skipped(),
    };
    let reason = requirement.reason.clone().or(requirement.exit_code.map(|code| format!("exit status {code}")));
    if requirement.verdict != Standing::Passed {
        status.set_message(reason.unwrap_or_default());
    }
    if requirement.verdict == Standing::Failed {
        let shown = requirement.log.as_deref().and_then(tail).unwrap_or_default();
        let lines: Vec<String> = shown.texts().collect();
        status.set_description(lines.join("\n"));
    }
    let mut case = TestCase::new(requirement.name.as_str(), status);
    case.set_classname(match requirement.kind {
        RequirementKind::Job => "job",
        RequirementKind::Standard => "standard",
    });
    if let Some(millis) = requirement.duration_ms {
        case.set_time(Duration::from_millis(millis));
    }
    if requirement.flaky {
        case.add_property(("flaky", "true"));
    }
    case
}

fn word(outcome: OutcomeWord) -> &'static str {
    match outcome {
        OutcomeWord::Passed => "passed",
        OutcomeWord::Failed => "failed",
        OutcomeWord::Cancelled => "cancelled",
        OutcomeWord::Pending => "pending: another run has it",
        OutcomeWord::Refused => "refused",
        OutcomeWord::StoreError => "the store could not be read or written",
        OutcomeWord::InternalError => "an internal error",
    }
}

/// What stands for a run that has no failed requirement and did not pass.
fn not_run(diagnostics: &[Diagnostic], outcome: &str) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_message(diagnostics.first().map_or(outcome, |first| first.message.as_str()));
    let mut case = TestCase::new("git discern done", status);
    case.set_classname("run");
    case
}
