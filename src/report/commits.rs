//! Commits for people: one line each, the word first.
//!
//! ```text
//! proven   f2c81e0a3b41  parse the door
//! failed   77ab01c9d2e3  a slip: `test` failed, flaky: test
//! ```

use super::line::{Line, Role};
use super::phrase;
use super::story::between;
use crate::document::{CommitReport, CommitStanding, FlakyRequirement};
use crate::evidence::RequirementKind;
use crate::time::Timestamp;

/// The width of the longest word and a gap.
const WORD_COLUMNS: usize = 9;

/// One commit, as `log` has it.
pub fn line(report: &CommitReport) -> Line {
    with_claim(known(report), report)
}

/// One commit with the reason why it is not proven, as `verify` has it.
pub fn line_with_reason(report: &CommitReport) -> Line {
    let line = known(report);
    let line = match &report.reason {
        Some(reason) => line.with(Role::Plain, format!(": {reason}")),
        None => line,
    };
    with_claim(line, report)
}

/// What is known of a commit, whoever has its claim.
fn known(report: &CommitReport) -> Line {
    let line = Line::new()
        .column(role(report.standing), report.standing.word(), WORD_COLUMNS)
        .with(Role::Faint, report.commit.short())
        .with(Role::Plain, format!("  {}", report.summary));
    marked(line, report)
}

/// With the claim on it, where the standing does not say so already.
fn with_claim(line: Line, report: &CommitReport) -> Line {
    match (&report.running, report.standing) {
        (Some(_), CommitStanding::Running) => line,
        (Some(_), _) => line.with(Role::Caution, "  running again"),
        (None, _) if report.abandoned => line.with(Role::Caution, "  abandoned"),
        (None, _) => line,
    }
}

/// The run at work on a commit, and the command that follows it, or takes over what it abandoned; nothing where there is none.
pub fn running(report: &CommitReport, now: Timestamp) -> Option<Line> {
    if report.abandoned {
        let text = "  its run is gone; take its claim over: ";
        return Some(Line::new().with(Role::Faint, text).with(Role::Command, "git discern recover"));
    }
    let pending = report.running.as_ref()?;
    let since = pending.since.map_or(String::new(), |since| format!(", for {}", phrase::roughly(between(since, now))));
    let place = phrase::worktree(&pending.worktree);
    let text = format!("  being checked in {place}{since}; follow it: ");
    Some(Line::new().with(Role::Faint, text).with(Role::Command, &pending.reconnect))
}

/// How a commit's Proof departs from trunk, one line for each way.
pub fn departures(report: &CommitReport) -> Vec<Line> {
    let note = |text| Line::text("  ").with(Role::Caution, "note").with(Role::Plain, format!("  {text}"));
    report.departures.iter().map(note).collect()
}

fn role(standing: CommitStanding) -> Role {
    match standing {
        CommitStanding::Proven => Role::Good,
        CommitStanding::Failed | CommitStanding::Unknown => Role::Bad,
        CommitStanding::Running => Role::Caution,
        CommitStanding::None => Role::Faint,
    }
}

fn marked(line: Line, report: &CommitReport) -> Line {
    if report.flaky.is_empty() {
        return line;
    }
    let names: Vec<String> = report.flaky.iter().map(flaky).collect();
    line.with(Role::Caution, format!("  flaky: {}", names.join(", ")))
}

/// `test`, `test (failed 2 of 5 times)`.
fn flaky(requirement: &FlakyRequirement) -> String {
    let kind = match requirement.kind {
        RequirementKind::Job => "",
        RequirementKind::Standard => "standard ",
    };
    match requirement.how_often {
        None => format!("{kind}{}", requirement.name),
        Some(often) => format!("{kind}{} (failed {} of {} times)", requirement.name, often.failed, often.tries),
    }
}
