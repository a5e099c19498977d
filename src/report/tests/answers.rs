//! The sentence of every outcome.

use super::super::answer::{self, Answering};
use super::super::diagnostic;
use super::super::settings::Detail;
use super::*;
use crate::document::{Cancelled, Diagnostic, ReusedFrom, RunDocument};
use crate::engine::log::Tail;
use crate::exit::{Exit, OutcomeWord};

fn document(command: &str, exit: Exit) -> RunDocument {
    RunDocument { candidate: Some(candidate()), ..RunDocument::new(command, exit) }
}

fn told(document: &RunDocument) -> String {
    let tail = |path: &str| match path {
        "/gone" => None,
        "/silent" => Some(Tail::default()),
        "/long" => Some(Tail { lines: vec![b"the last line".into()], cut: true }),
        _ => Some(Tail { lines: vec![b"assertion failed".into(), b"  left: 1".into()], cut: false }),
    };
    let answering = Answering { detail: Detail::Normal, color: false, took_ms: None, now: instant(0) };
    String::from_utf8(answer::text(document, answering, &tail)).expect("UTF-8")
}

fn cancelled(reason: &str, exit: Exit) -> RunDocument {
    let cancelled = Cancelled { by: None, operation: None, worktree: None, reason: reason.into() };
    RunDocument { cancelled: Some(cancelled), outcome: OutcomeWord::Cancelled, ..document("done", exit) }
}

#[test]
fn a_pass_is_one_line() {
    let passed = |text: &str| requirement(text, Standing::Passed);
    let reused = |text: &str| RequirementReport { source: Some(Source::Reused), ..passed(text) };
    let flaky = RequirementReport { flaky: true, ..passed("e2e") };
    let with = |command: &str, requirements: Vec<RequirementReport>| {
        told(&RunDocument { requirements, ..document(command, Exit::Success) })
    };
    insta::assert_snapshot!(with("done", vec![passed("lint")]), @"proven  9f9f9f9f9f: 1 job");
    insta::assert_snapshot!(with("done", vec![passed("lint"), reused("build"), flaky]), @"proven  9f9f9f9f9f: 3 jobs, 1 reused, flaky: e2e");
    insta::assert_snapshot!(with("done", vec![reused("lint"), reused("build")]), @"proven  9f9f9f9f9f: 2 jobs, nothing had to run");
    insta::assert_snapshot!(with("standards", vec![passed("lint")]), @"passed  9f9f9f9f9f: 1 job");
    let run = RunDocument { requirements: vec![passed("lint")], ..RunDocument::new("run", Exit::Success) };
    insta::assert_snapshot!(told(&run), @"passed  the tree as it stands: 1 job");
}

#[test]
fn a_failure_shows_the_end_of_its_log_the_file_and_the_command_that_repeats_it() {
    let failed =
        |text: &str, log: &str| RequirementReport { log: Some(log.into()), ..requirement(text, Standing::Failed) };
    let requirements = vec![
        RequirementReport { exit_code: Some(101), ..failed("test", "/l/test.1.log") },
        RequirementReport { signal: Some("SIGKILL".into()), ..failed("fuzz", "/silent") },
        RequirementReport { reason: Some("`no-such-tool` was not found".into()), ..failed("tool", "/gone") },
        RequirementReport {
            kind: RequirementKind::Standard,
            reason: Some("80.1 is below the limit 81.5".into()),
            value: Some("80.1".into()),
            limit: Some("81.5".into()),
            ..failed("coverage", "/long")
        },
        RequirementReport {
            source: Some(Source::Reused),
            duration_ms: None,
            exit_code: Some(1),
            reused_from: Some(ReusedFrom { commit: commit(0x3d), attempt: attempt(3), at: instant(0) }),
            ..requirement("lint", Standing::Failed)
        },
        requirement("build", Standing::Passed),
        requirement("deploy", Standing::Unrun),
    ];
    insta::assert_snapshot!("failed", told(&RunDocument { requirements, ..document("done", Exit::Failed) }));
}

#[test]
fn pending_names_one_cause_and_the_command_that_reconnects() {
    let held = |pending| told(&RunDocument { pending: Some(pending), ..document("done", Exit::Pending) });
    insta::assert_snapshot!(held(pending()), @"
    pending  9f9f9f9f9f is claimed by attempt 00000000-0000-0000-0000-000000000007 (R1-7000-0000-0E)
      in worktree `other` on other, for 2 min, its lease ends in 42 s unless it is renewed
      follow it: git discern wait R1-7000-0000-0E
    ");
    let by_a_run = Pending { attempt: None, lease_expires_at: None, branch: None, ..pending() };
    insta::assert_snapshot!(held(by_a_run), @"
    pending  the worktree is taken by another run (R1-7000-0000-0E)
      in worktree `other`, for 2 min
      follow it: git discern wait R1-7000-0000-0E
    ");
}

#[test]
fn a_cancelled_run_says_who_or_what_ended_it() {
    let retired = Cancelled {
        by: Some(attempt(9)),
        operation: Some(handle(9)),
        worktree: Some("other".into()),
        reason: "lease-lapsed".into(),
    };
    let retired = RunDocument { cancelled: Some(retired), ..document("done", Exit::Retired) };
    insta::assert_snapshot!(told(&retired), @"cancelled  9f9f9f9f9f: retired by attempt 00000000-0000-0000-0000-000000000009 (R1-9000-0000-0J) in worktree `other`, because its lease lapsed");
    let standards = RunDocument { schema: "discern/standards/1".into(), ..retired.clone() };
    assert_eq!(told(&standards), told(&retired), "both say it the same way (C17)");
    insta::assert_snapshot!(told(&cancelled("signal", Exit::Interrupted)), @"cancelled  9f9f9f9f9f: interrupted (SIGINT)");
    insta::assert_snapshot!(told(&cancelled("signal", Exit::Hangup)), @"cancelled  9f9f9f9f9f: the terminal went away (SIGHUP)");
    insta::assert_snapshot!(told(&cancelled("stopped", Exit::Terminated)), @"cancelled  9f9f9f9f9f: stopped by `git discern stop`");
    insta::assert_snapshot!(told(&cancelled("tree-changed", Exit::Refused)), @"cancelled  9f9f9f9f9f: the candidate moved or its files changed while it ran");
}

#[test]
fn a_store_that_failed_is_no_failed_check_and_shows_the_verdicts_obtained() {
    let requirements = vec![requirement("lint", Standing::Passed), requirement("test", Standing::Unrun)];
    let text = told(&RunDocument { requirements, ..document("done", Exit::Store) });
    insta::assert_snapshot!(text, @"not recorded  9f9f9f9f9f: the store could not be read or written; obtained: lint passed");
}

#[test]
fn a_diagnostic_says_what_where_and_the_command_that_helps() {
    let many = (0..23).map(|number| format!("src/file{number}.rs"));
    let mut dirty =
        Diagnostic::new("dirty-tree", "the worktree has changes\nthat are not committed").fix("git stash -u");
    dirty.place.extend(many);
    dirty.output_path = Some("/l/status".into());
    let text: Vec<String> = diagnostic::lines(&dirty).iter().map(|line| line.paint(false)).collect();
    insta::assert_snapshot!("diagnostic", text.join("\n"));
}
