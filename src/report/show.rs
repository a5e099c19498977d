//! The page of `show`: a Proof on the terminal.

use super::line::{Line, Role};
use super::phrase;
use super::story::{between, standing};
use crate::document::{RequirementReport, RunDocument, Source};
use crate::evidence::Proof;
use crate::time::Timestamp;

/// The width of the first column.
const WORD_COLUMNS: usize = 10;
/// Names longer than this push the rest of their line to the right.
const NAME_COLUMNS_MAX: usize = 24;

/// The Proof of a commit as a page.
pub fn page(document: &RunDocument, summary: &str, now: Timestamp) -> Vec<Line> {
    let mut lines = vec![headline(document, summary)];
    let columns = document.requirements.iter().map(|one| one.name.as_str().len()).max();
    let columns = columns.unwrap_or(0).min(NAME_COLUMNS_MAX);
    lines.extend(document.requirements.iter().map(|one| requirement(one, columns, now)));
    if let Some(proof) = &document.proof {
        lines.extend(circumstances(proof, now));
    }
    lines
}

fn headline(document: &RunDocument, summary: &str) -> Line {
    let (role, said) = match (document.ok, &document.proof) {
        (true, Some(_)) => (Role::Good, "proven"),
        _ => (Role::Bad, "not proven"),
    };
    let line = Line::new().with(role, said).with(Role::Plain, "  ");
    match &document.candidate {
        Some(candidate) => line
            .with(Role::Caution, candidate.commit.to_string())
            .with(Role::Plain, format!(" {summary}"))
            .with(Role::Faint, phrase::standing_on(candidate)),
        None => line,
    }
}

fn requirement(report: &RequirementReport, columns: usize, now: Timestamp) -> Line {
    let (role, said) = standing(report);
    let mut line = Line::new().column(role, said, WORD_COLUMNS).column(Role::Strong, report.name.as_str(), columns);
    if let Some(millis) = report.duration_ms {
        line = line.with(Role::Plain, format!("  {}", phrase::duration(millis)));
    }
    if let Some(value) = &report.value {
        line = line.with(Role::Plain, format!("  {}", number(value, report)));
    }
    if report.tries > 1 {
        line = line.with(Role::Caution, format!("  on try {}", report.tries));
    }
    if report.flaky {
        line = line.with(Role::Caution, "  flaky");
    }
    match (report.source, &report.reused_from) {
        (Some(Source::Reused), Some(from)) => {
            let age = phrase::roughly(between(from.at, now));
            line.with(Role::Faint, format!("  reused from {}, {age} ago", from.commit.short()))
        }
        _ => line,
    }
}

/// A standard's number with everything that it was held against.
pub fn number(value: &str, report: &RequirementReport) -> String {
    let mut facts = Vec::new();
    facts.extend(report.limit.as_ref().map(|limit| format!("limit {limit}")));
    facts.extend(report.trunk_limit.as_ref().map(|limit| format!("trunk {limit}")));
    facts.extend(report.distance.as_ref().map(|distance| match distance.strip_prefix('-') {
        Some(missing) => format!("missed by {missing}"),
        None => format!("{distance} to spare"),
    }));
    if facts.is_empty() { value.to_owned() } else { format!("{value} ({})", facts.join(", ")) }
}

/// When and with what it was proven, and what it was compared with.
fn circumstances(proof: &Proof, now: Timestamp) -> Vec<Line> {
    let fact = |text: String| Line::new().column(Role::Faint, "", WORD_COLUMNS).with(Role::Faint, text);
    let took = between(proof.started_at, proof.finished_at);
    let age = phrase::roughly(between(proof.finished_at, now));
    let mut lines = vec![
        fact(format!("{}, {age} ago, in {}", proof.finished_at, phrase::duration(took))),
        fact(format!("attempt {}", proof.attempt)),
        fact(format!(
            "git-discern {}, git {}, {}/{}",
            proof.tool_version, proof.git_version, proof.platform.os, proof.platform.arch
        )),
    ];
    if let Some(trunk) = &proof.trunk {
        lines.push(fact(format!("compared with {} at {}", trunk.name, trunk.merge_base.short())));
    }
    let word = |text: &str| Line::new().column(Role::Caution, "note", WORD_COLUMNS).with(Role::Plain, text);
    lines.extend(proof.departures.iter().map(|one| word(one)));
    lines.extend(proof.loosened.iter().map(|one| word(one)));
    lines
}
