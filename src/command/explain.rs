//! `git discern explain`: the parts of a job's subject, and what differs from the nearest receipt.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::completions::Offered;
use super::{Global, done};
use crate::document::{ComparedWith, Diagnostic, ExplainDocument};
use crate::engine::forecast::{self, Forecast};
use crate::engine::no_answer::NoAnswer;
use crate::engine::session::Session;
use crate::evidence::Verdict;
use crate::evidence::subject::Salt;
use crate::exit::Exit;
use crate::id::{CommitId, Name};
use crate::report::line::{Line, Role};
use crate::report::phrase;
use crate::report::story::between;
use crate::time::Timestamp;

/// The width of the column of labels.
const LABEL_COLUMNS: usize = 11;

/// What its help ends with.
const EXAMPLES: &str = "\
Examples:
  git discern explain test                    why `test` would run again
  git discern explain test HEAD~1 HEAD        what differs for it between two commits";

/// The arguments of `git discern explain`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Explain {
    /// The job or standard
    #[arg(value_name = "JOB", add = ArgValueCandidates::new(Offered::Requirements))]
    pub name: String,
    /// The commit; HEAD unless given. With a second one: what differs from the first to the second
    #[arg(value_name = "REV", num_args = 0..=2, add = ArgValueCandidates::new(Offered::Revisions))]
    pub revisions: Vec<String>,
}

/// Finds out what decides the verdict, and what differs, without executing anything of the project.
pub fn run(global: &Global, args: &Explain) -> anyhow::Result<Exit> {
    let repository = super::here::repository()?;
    let session = Session::reading(&repository);
    let name = done::parse_name(&args.name)?;
    let last = args.revisions.last().map_or("HEAD", String::as_str);
    let commit = repository.resolve(last)?;
    // Two commits are compared as they are committed.
    let (on_disk, about) = if args.revisions.len() < 2 {
        forecast::on_disk(commit, &session).map_err(done::cause)?
    } else {
        (Vec::new(), None)
    };
    let forecast = forecast::forecast(&name, commit, &on_disk, &session).map_err(done::cause)?;
    let beyond_us = forecast::is_beyond_us(&forecast, &session).map_err(done::cause)?;
    let mut diagnostics: Vec<Diagnostic> = about.map(|text| Diagnostic::new("dirty-tree", text)).into_iter().collect();
    if beyond_us {
        let text = "a newer git-discern recorded a verdict of it that this one can't read; it would run".to_owned();
        diagnostics.push(Diagnostic::new("newer-receipt", text));
    }
    let (compared_with, differences, salt) = match &args.revisions[..] {
        [first, _] => with_commit(&name, repository.resolve(first)?, &forecast, &session).map_err(done::cause)?,
        _ => with_receipt(&forecast, &session).map_err(done::cause)?,
    };
    let document = ExplainDocument {
        schema: "discern/explain/1".to_owned(),
        ok: true,
        outcome: Exit::Success.outcome(),
        exit: Exit::Success,
        kind: forecast.key.kind,
        name,
        commit: forecast.commit,
        subject: forecast.subject(),
        parts: forecast.parts(salt),
        recorded: forecast.recorded,
        unknown: forecast.unknown,
        compared_with,
        differences,
        diagnostics,
        hints: Vec::new(),
    };
    let now = session.now().wall;
    global.reporter().answer(&document, |document| page(document, now));
    Ok(Exit::Success)
}

type Compared = (Option<ComparedWith>, Vec<String>, Salt);

/// Values of variables are shown under fresh salt, unless a published one has to be compared with.
fn fresh_salt() -> Salt {
    Salt(*uuid::Uuid::new_v4().as_bytes())
}

/// Compares with the same requirement of another commit.
fn with_commit(
    name: &Name,
    commit: CommitId,
    forecast: &Forecast,
    session: &Session<'_>,
) -> Result<Compared, NoAnswer> {
    let first = forecast::forecast(name, commit, &[], session)?;
    let salt = fresh_salt();
    let differences = forecast::differences(&first.parts(salt), forecast, session)?;
    let compared = ComparedWith { commit, subject: first.subject(), attempt: None, verdict: None, at: None };
    Ok((Some(compared), differences, salt))
}

/// Compares with the nearest receipt.
fn with_receipt(forecast: &Forecast, session: &Session<'_>) -> Result<Compared, NoAnswer> {
    let Some(receipt) = forecast::nearest(forecast, session)? else { return Ok((None, Vec::new(), fresh_salt())) };
    let differences = if forecast.subject() == Some(receipt.subject) {
        Vec::new()
    } else {
        forecast::differences(&receipt.parts, forecast, session)?
    };
    let compared = ComparedWith {
        commit: receipt.commit,
        subject: Some(receipt.subject),
        attempt: Some(receipt.attempt),
        verdict: Some(receipt.verdict),
        at: Some(receipt.finished_at),
    };
    Ok((Some(compared), differences, receipt.parts.salt().unwrap_or_else(fresh_salt)))
}

/// The answer for people.
fn page(document: &ExplainDocument, now: Timestamp) -> Vec<Line> {
    let mut lines = vec![
        Line::new()
            .with(Role::Strong, document.name.as_str())
            .with(Role::Plain, " of ")
            .with(Role::Caution, document.commit.short()),
    ];
    lines.extend(parts(document));
    let note = |text: &str| Line::new().with(Role::Caution, "note").with(Role::Plain, format!("  {text}"));
    lines.extend(document.diagnostics.iter().map(|it| note(&it.message)));
    if document.diagnostics.iter().all(|it| it.code != "newer-receipt") {
        lines.extend(comparison(document, now));
    }
    lines
}

fn fact(label: &str, text: impl AsRef<str>) -> Line {
    Line::text("  ").column(Role::Faint, label, LABEL_COLUMNS).with(Role::Plain, text)
}

fn parts(document: &ExplainDocument) -> Vec<Line> {
    let parts = &document.parts;
    let mut lines = vec![fact("command", &parts.command)];
    if parts.inputs_digest.is_some() {
        lines.push(fact("inputs", parts.inputs.join(" ")));
    } else {
        lines.push(fact("inputs", format!("the whole tree, {}", parts.tree.short())));
    }
    lines.extend(parts.per.as_ref().map(|per| fact("counted", per.pathspecs.join(" "))));
    lines.extend(parts.from.as_ref().map(|(name, _)| fact("measures", format!("the output of {name}"))));
    if !parts.needs.is_empty() {
        let names: Vec<&str> = parts.needs.iter().map(|(name, _)| name.as_str()).collect();
        lines.push(fact("needs", names.join(", ")));
    }
    for (name, value) in &parts.environment {
        lines.push(fact("variable", format!("{name} {}", if value.is_some() { "is set" } else { "is not set" })));
    }
    for part in &parts.toolchain {
        let says = part.says.lines().next().unwrap_or_default();
        lines.push(fact("toolchain", format!("{}: {says} (recorded last, not asked now)", part.command)));
    }
    lines.extend(document.unknown.iter().map(|command| fact("toolchain", format!("{command}: no answer is recorded"))));
    lines.push(fact("platform", format!("{}/{}", parts.platform.os, parts.platform.arch)));
    match &document.subject {
        Some(subject) => lines.push(fact("subject", subject.to_string())),
        None => lines.push(fact("subject", "not known before a toolchain command is asked again")),
    }
    lines
}

fn comparison(document: &ExplainDocument, now: Timestamp) -> Vec<Line> {
    let Some(with) = &document.compared_with else {
        return vec![Line::text("no receipt of that name is known: it would run for the first time")];
    };
    let verdict = match with.verdict {
        Some(Verdict::Passed) => "passed on ",
        Some(Verdict::Failed) => "failed on ",
        None => "",
    };
    let age = with.at.map_or(String::new(), |at| format!(", {} ago", phrase::roughly(between(at, now))));
    let what = format!("{verdict}{}{age}", with.commit.short());
    if document.differences.is_empty() {
        let same = match with.verdict {
            Some(_) => format!("nothing differs from what {what}: that verdict counts"),
            None => format!("nothing differs from {what}: they share a verdict"),
        };
        return vec![Line::text(same)];
    }
    let label =
        if with.verdict.is_some() { format!("differs from what {what}") } else { format!("differs from {what}") };
    let heading = Line::new().with(Role::Strong, label);
    let each = document.differences.iter().map(|one| Line::text(format!("  {one}")));
    [heading].into_iter().chain(each).collect()
}
