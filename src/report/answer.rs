//! How a run ended, for people: the last lines of what failed, then the verdict as the very last line.
//!
//! Every outcome has its sentence here, and only here; `done`, `standards`, `run` and `wait` say it in the same words (C17).

use super::line::{Line, Role};
use super::phrase;
use super::settings::Detail;
use super::standards::{self, Row};
use super::story::{between, retirement, standing};
use crate::document::{Cancelled, LOOSER, Pending, RequirementReport, RunDocument, Source, Standing};
use crate::engine::log::Tail;
use crate::engine::prepare;
use crate::evidence::{Proof, RequirementKind};
use crate::exit::{Exit, OutcomeWord};
use crate::id::CommitId;
use crate::time::Timestamp;

/// Lines of a failed job's log that are shown.
pub const TAIL_LINES_MAX: usize = 20;

/// The width of the word before a note, as in the story.
const NOTE_COLUMNS: usize = 10;

/// How an answer is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answering {
    /// How much.
    pub detail: Detail,
    /// With colour.
    pub color: bool,
    /// How long the run took, in milliseconds, if there was one.
    pub took_ms: Option<u64>,
    /// When it is told: ages count from here.
    pub now: Timestamp,
}

/// The answer as it is written to standard output. `tail` gives the last lines of a log, if it can be read.
pub fn text(document: &RunDocument, answering: Answering, tail: &dyn Fn(&str) -> Option<Tail>) -> Vec<u8> {
    let Answering { detail, color, took_ms, now } = answering;
    let mut bytes = Vec::new();
    if detail == Detail::Quiet && document.ok {
        return bytes;
    }
    for requirement in document.requirements.iter().filter(|one| one.verdict == Standing::Failed) {
        let commit = document.candidate.as_ref().map(|candidate| candidate.commit);
        failure(&mut bytes, requirement, (commit, document.again.as_deref()), answering, tail);
    }
    let rows: Vec<Row<'_>> = document.requirements.iter().filter_map(Row::of_report).collect();
    let table = if document.command() == "standards" { standards::table(&rows) } else { Vec::new() };
    for line in table.into_iter().chain(document.pinned.iter().flat_map(standards::pinned)) {
        write_line(&mut bytes, &line, color);
    }
    // A run has told this already, in its story.
    for text in document.proof.iter().filter(|_| took_ms.is_none()).flat_map(departures) {
        let note = Line::new().column(Role::Caution, "note", NOTE_COLUMNS).with(Role::Plain, text);
        write_line(&mut bytes, &note, color);
    }
    for line in verdict(document, took_ms, now) {
        write_line(&mut bytes, &line, color);
    }
    bytes
}

/// How a Proof departs from trunk, a sentence each.
fn departures(proof: &Proof) -> impl Iterator<Item = &String> {
    proof.departures.iter().chain(&proof.loosened)
}

fn write_line(bytes: &mut Vec<u8>, line: &Line, color: bool) {
    bytes.extend_from_slice(line.paint(color).as_bytes());
    bytes.push(b'\n');
}

/// What failed, the end of what it printed, where all of it is, and the command that repeats it.
fn failure(
    bytes: &mut Vec<u8>,
    requirement: &RequirementReport,
    (commit, again): (Option<CommitId>, Option<&str>),
    Answering { color, now, .. }: Answering,
    tail: &dyn Fn(&str) -> Option<Tail>,
) {
    write_line(bytes, &failure_headline(requirement, commit, now), color);
    let shown = requirement.log.as_deref().and_then(tail);
    for line in shown.iter().flat_map(|tail| &tail.lines) {
        bytes.extend_from_slice(b"  | ");
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    let mut faint = |label: &str, role: Role, value: &str| {
        write_line(bytes, &Line::new().with(Role::Faint, label).with(role, value), color);
    };
    if let Some(log) = &requirement.log {
        match &shown {
            Some(tail) if tail.cut => faint("  all of it: ", Role::Plain, log),
            Some(tail) if tail.lines.is_empty() => faint("  it printed nothing: ", Role::Plain, log),
            Some(_) => faint("  log: ", Role::Plain, log),
            None => faint("  log, no longer there: ", Role::Plain, log),
        }
    }
    let again = match (requirement.kind, again) {
        // Preparing happens in a kept checkout, and nowhere else.
        (RequirementKind::Job, _) if prepare::is_it(&requirement.name) => {
            let commit = commit.map_or(String::new(), |commit| format!(" {}", commit.short()));
            format!("git discern done --isolated{commit}")
        }
        (_, Some(again)) => format!("{again} {}", requirement.name),
        (RequirementKind::Job, None) => format!("git discern run {}", requirement.name),
        (RequirementKind::Standard, None) => format!("git discern standards {}", requirement.name),
    };
    faint("  again: ", Role::Command, &again);
}

/// The reason comes last: it may be long, and have clauses of its own.
fn failure_headline(requirement: &RequirementReport, commit: Option<CommitId>, now: Timestamp) -> Line {
    let mut line =
        Line::new().with(Role::Bad, "failed").with(Role::Plain, "  ").with(Role::Strong, requirement.name.as_str());
    let facts = [
        requirement.duration_ms.map(|millis| format!(" after {}", phrase::duration(millis))),
        requirement.reused_from.as_ref().map(|from| {
            let elsewhere = commit.is_none_or(|commit| commit != from.commit);
            let on = if elsewhere { format!(" on {}", from.commit.short()) } else { String::new() };
            format!("{on}, {} ago", phrase::roughly(between(from.at, now)))
        }),
    ];
    line = line.with(Role::Faint, facts.into_iter().flatten().collect::<String>());
    if requirement.flaky {
        line = line.with(Role::Caution, ", flaky");
    }
    match requirement.reason.clone().or_else(|| ended_how(requirement)) {
        Some(reason) => line.with(Role::Plain, format!(": {reason}")),
        None => line,
    }
}

fn ended_how(requirement: &RequirementReport) -> Option<String> {
    let by_signal = requirement.signal.as_ref().map(|signal| format!("killed by {signal}"));
    by_signal.or_else(|| requirement.exit_code.map(|code| format!("exit status {code}")))
}

/// How it ended, in one line, or more where there is a command to type.
fn verdict(document: &RunDocument, took_ms: Option<u64>, now: Timestamp) -> Vec<Line> {
    let what = document.candidate.as_ref().map_or("the tree as it stands".to_owned(), |it| it.commit.short());
    let took = took_ms.map_or(String::new(), |millis| format!("  in {}", phrase::duration(millis)));
    match document.outcome {
        OutcomeWord::Passed => vec![passed(document, &what).with(Role::Faint, took)],
        OutcomeWord::Failed => vec![failed(document, &what).with(Role::Faint, took)],
        OutcomeWord::Pending => document.pending.as_ref().map_or_else(Vec::new, |pending| held(pending, &what, now)),
        OutcomeWord::Cancelled => vec![cancelled(document, &what, took_ms)],
        OutcomeWord::StoreError => {
            let text = format!("{what}: the store could not be read or written{}", obtained(document));
            vec![Line::new().with(Role::Bad, "not recorded").with(Role::Plain, format!("  {text}"))]
        }
        OutcomeWord::InternalError => {
            vec![Line::new().with(Role::Bad, "internal error").with(Role::Plain, format!("  {what} is not proven"))]
        }
        OutcomeWord::Refused => Vec::new(),
    }
}

fn passed(document: &RunDocument, what: &str) -> Line {
    let word = if document.command() == "done" || document.proof.is_some() { "proven" } else { "passed" };
    let kinds = document.requirements.iter().map(|one| one.kind);
    let mut text = format!("  {what}: {}", phrase::requirements(kinds));
    let reused = document.requirements.iter().filter(|one| one.source == Some(Source::Reused)).count();
    match reused {
        0 => {}
        all if all == document.requirements.len() => text.push_str(", nothing had to run"),
        some => text.push_str(&format!(", {some} reused")),
    }
    let line = Line::new().with(Role::Good, word).with(Role::Plain, text);
    let flaky: Vec<&str> = document.requirements.iter().filter(|one| one.flaky).map(|one| one.name.as_str()).collect();
    if flaky.is_empty() { line } else { line.with(Role::Caution, format!(", flaky: {}", flaky.join(", "))) }
}

fn failed(document: &RunDocument, what: &str) -> Line {
    let word = if document.command() == "done" { "not proven" } else { "failed" };
    let named = |standing: Standing| {
        let those = document.requirements.iter().filter(move |one| one.verdict == standing);
        those.map(|one| one.name.as_str()).collect::<Vec<&str>>()
    };
    let mut facts = Vec::new();
    for (verb, names) in [("failed", named(Standing::Failed)), ("not run", named(Standing::Unrun))] {
        if !names.is_empty() {
            facts.push(format!("{} of {} {verb} ({})", names.len(), document.requirements.len(), names.join(", ")));
        }
    }
    if document.diagnostics.iter().any(|it| it.code == LOOSER) {
        facts.push("looser than trunk, nothing was run".to_owned());
    }
    let text = if facts.is_empty() { format!("  {what}") } else { format!("  {what}: {}", facts.join(", ")) };
    Line::new().with(Role::Bad, word).with(Role::Plain, text)
}

/// One pending cause (C26): who has it; where, for how long, until when; and the command that reconnects.
fn held(pending: &Pending, what: &str, now: Timestamp) -> Vec<Line> {
    let mut text = match (&pending.attempt, pending.checkouts) {
        (Some(attempt), _) => format!("  {what} is claimed by attempt {attempt}"),
        (None, Some(checkouts)) => format!("  {}", phrase::all_in_use(checkouts)),
        (None, None) => "  the worktree is taken by another run".to_owned(),
    };
    if let Some(handle) = &pending.operation {
        text.push_str(&format!(" ({handle})"));
    }
    let mut facts = Vec::new();
    if pending.checkouts.is_none() {
        let branch = pending.branch.as_deref().map_or(String::new(), |full| format!(" on {}", phrase::branch(full)));
        facts.push(format!("in {}{branch}", phrase::worktree(&pending.worktree)));
    }
    facts.extend(pending.since.map(|since| format!("for {}", phrase::roughly(between(since, now)))));
    facts.extend(pending.lease_expires_at.map(|expires| match between(now, expires) {
        0 => "its lease is over".to_owned(),
        left => format!("its lease ends in {} unless it is renewed", phrase::roughly(left)),
    }));
    let label = if pending.reconnect.ends_with(" recover") { "  take it over: " } else { "  follow it: " };
    vec![
        Line::new().with(Role::Caution, "pending").with(Role::Plain, text),
        Line::new().with(Role::Faint, format!("  {}", facts.join(", "))),
        Line::new().with(Role::Faint, label).with(Role::Command, &pending.reconnect),
    ]
}

fn cancelled(document: &RunDocument, what: &str, took_ms: Option<u64>) -> Line {
    let why = match &document.cancelled {
        Some(cancelled) => cancellation(cancelled, Some(document.exit)),
        None => "stopped".to_owned(),
    };
    let after = took_ms.map_or(String::new(), |millis| format!(" after {}", phrase::duration(millis)));
    Line::new()
        .with(Role::Caution, "cancelled")
        .with(Role::Plain, format!("  {what}"))
        .with(Role::Faint, after)
        .with(Role::Plain, format!(": {why}"))
}

/// What ended a run before its time, as half a sentence.
pub fn cancellation(cancelled: &Cancelled, exit: Option<Exit>) -> String {
    if let Some(by) = &cancelled.by {
        let handle = cancelled.operation.as_ref().map_or(String::new(), |handle| format!(" ({handle})"));
        let place =
            cancelled.worktree.as_deref().map_or(String::new(), |name| format!(" in {}", phrase::worktree(name)));
        return format!("retired by attempt {by}{handle}{place}, because {}", retirement(&cancelled.reason));
    }
    match cancelled.reason.as_str() {
        "signal" => match exit {
            Some(Exit::Interrupted) => "interrupted (SIGINT)".to_owned(),
            Some(Exit::Terminated) => "ended by SIGTERM".to_owned(),
            Some(Exit::Hangup) => "the terminal went away (SIGHUP)".to_owned(),
            _ => "stopped by a signal".to_owned(),
        },
        "stopped" => "stopped by `git discern stop`".to_owned(),
        "refused" => "it was refused before anything ran; its own output says why".to_owned(),
        "tree-changed" => "the candidate moved or its files changed while it ran".to_owned(),
        "worktree-gone" => "the worktree was deleted while it ran".to_owned(),
        "store" => "the store could not be written".to_owned(),
        "internal" => "an internal error".to_owned(),
        "lease-lapsed" | "executor-gone" => {
            format!("retired by another run, because {}", retirement(&cancelled.reason))
        }
        other => other.to_owned(),
    }
}

/// The verdicts that were obtained before the store failed.
fn obtained(document: &RunDocument) -> String {
    let ran = document.requirements.iter().filter(|one| matches!(one.verdict, Standing::Passed | Standing::Failed));
    let said: Vec<String> = ran.map(|one| format!("{} {}", one.name, standing(one).1)).collect();
    if said.is_empty() { String::new() } else { format!("; obtained: {}", said.join(", ")) }
}
