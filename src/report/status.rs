//! The page of `status`: one screen.

use super::diagnostic::hint;
use super::line::{Line, Role};
use super::phrase;
use super::story::between;
use crate::document::{
    ClaimReport, ClaimState, CommitStanding, Diagnostic, Expected, ExpectedRequirement, RequirementReport, Standing,
    StatusDocument,
};
use crate::time::Timestamp;

/// More claims than this are counted, not listed.
const CLAIMS_SHOWN_MAX: usize = 20;

/// More paths than this are counted, not listed.
const PATHS_SHOWN_MAX: usize = 5;

/// More names than this are counted, not listed.
const NAMES_SHOWN_MAX: usize = 8;

/// The width of the first column: the longest word that stands there.
const WORD_COLUMNS: usize = 13;

/// The answer for people.
pub fn page(document: &StatusDocument, now: Timestamp) -> Vec<Line> {
    let mut lines = vec![headline(document)];
    lines.extend(facts(document, now));
    let paths = &document.in_the_way;
    lines.extend(
        paths.iter().take(PATHS_SHOWN_MAX).map(|path| word(Role::Caution, "in the way").with(Role::Plain, path)),
    );
    if let Some(more) = paths.len().checked_sub(PATHS_SHOWN_MAX).filter(|more| *more > 0) {
        lines.push(word(Role::Plain, "").with(Role::Faint, format!("and {more} more")));
    }
    lines.extend(notes(&document.diagnostics));
    if let Some(why) = &document.unguarded {
        lines.push(word(Role::Faint, "unguarded").with(Role::Faint, format!("no hook of ours looks at a push: {why}")));
    }
    lines.extend(document.claims.iter().take(CLAIMS_SHOWN_MAX).flat_map(|one| claim(one, now)));
    if let Some(more) = document.claims.len().checked_sub(CLAIMS_SHOWN_MAX).filter(|more| *more > 0) {
        lines.push(word(Role::Plain, "").with(Role::Faint, format!("and {more} more runs; `--json` has them all")));
    }
    lines.extend(document.hints.iter().map(|command| hint(command)));
    lines
}

/// What is to be known besides, with what helps where that is no command. What is wrong with a configuration has a page of its
/// own, on standard error.
fn notes(diagnostics: &[Diagnostic]) -> Vec<Line> {
    let (of_config, others): (Vec<&Diagnostic>, Vec<&Diagnostic>) =
        diagnostics.iter().partition(|one| one.code == "config-invalid");
    let counted = match of_config.len() {
        0 => None,
        1 => Some("its `discern.toml` can't be used: 1 problem".to_owned()),
        all => Some(format!("its `discern.toml` can't be used: {all} problems")),
    };
    let said = others.into_iter().map(|one| {
        let place = if one.place.is_empty() { String::new() } else { format!(" ({})", one.place.join(", ")) };
        let advice = one.advice.as_ref().map_or(String::new(), |advice| format!(": {advice}"));
        format!("{}{place}{advice}", one.message)
    });
    counted.into_iter().chain(said).map(|text| word(Role::Caution, "note").with(Role::Plain, text)).collect()
}

fn word(role: Role, text: &str) -> Line {
    Line::new().column(role, text, WORD_COLUMNS)
}

fn headline(document: &StatusDocument) -> Line {
    let (role, said) = match document.standing {
        _ if document.candidate.is_none() => (Role::Caution, "no commit"),
        CommitStanding::Proven => (Role::Good, "proven"),
        CommitStanding::Failed => (Role::Bad, "failed"),
        CommitStanding::Running => (Role::Caution, "running"),
        CommitStanding::None | CommitStanding::Unknown => (Role::Caution, "not proven"),
    };
    let line = word(role, said);
    match &document.candidate {
        Some(candidate) => {
            let summary = document.summary.as_deref().unwrap_or_default();
            line.with(Role::Caution, candidate.commit.short())
                .with(Role::Plain, format!(" {summary}"))
                .with(Role::Faint, phrase::standing_on(candidate))
        }
        None => line.with(Role::Plain, "nothing is committed yet"),
    }
}

/// What the newest outcome says, in a few lines.
fn facts(document: &StatusDocument, now: Timestamp) -> Vec<Line> {
    let ago = document.attempt.as_ref().and_then(|attempt| attempt.finished_at);
    let ago = ago.map_or(String::new(), |at| format!(", {} ago", phrase::roughly(between(at, now))));
    match document.standing {
        CommitStanding::Proven => {
            let kinds = document.requirements.iter().map(|one| one.kind);
            let flaky: Vec<&str> =
                document.requirements.iter().filter(|one| one.flaky).map(|one| one.name.as_str()).collect();
            let line = word(Role::Plain, "").with(Role::Plain, format!("{}{ago}", phrase::requirements(kinds)));
            vec![if flaky.is_empty() {
                line
            } else {
                line.with(Role::Caution, format!(", flaky: {}", flaky.join(", ")))
            }]
        }
        CommitStanding::Failed => {
            let failed = document.requirements.iter().filter(|one| one.verdict == Standing::Failed);
            failed.map(|one| failure(one, &ago)).collect()
        }
        CommitStanding::None => expected(&document.expected),
        CommitStanding::Running | CommitStanding::Unknown => Vec::new(),
    }
}

/// What a run would reuse, and what it would run.
fn expected(expected: &[ExpectedRequirement]) -> Vec<Line> {
    let those = |would: Expected| expected.iter().filter(move |one| one.would == would);
    let names = |would: Expected| {
        let names: Vec<&str> = those(would).map(|one| one.name.as_str()).collect();
        let more = names.len().saturating_sub(NAMES_SHOWN_MAX);
        let shown = names.iter().take(NAMES_SHOWN_MAX).copied().collect::<Vec<_>>().join(", ");
        if more > 0 { format!("{shown} and {more} more") } else { shown }
    };
    let mut lines = Vec::new();
    for (would, said) in [(Expected::Run, "would run"), (Expected::Reuse, "known"), (Expected::Fail, "would fail")] {
        if those(would).next().is_none() {
            continue;
        }
        let line = word(Role::Faint, said).with(Role::Plain, names(would));
        // Each took that long by itself; how many run together is up to the run.
        let took: Option<u64> = those(would).map(|one| one.took_ms).sum();
        lines.push(match took.filter(|took| *took >= 1000 && would == Expected::Run) {
            Some(millis) => line.with(Role::Faint, format!("  {} of work", phrase::roughly(millis))),
            None => line,
        });
    }
    lines
}

fn failure(requirement: &RequirementReport, ago: &str) -> Line {
    let why = requirement.reason.as_deref().map_or(String::new(), |reason| format!(": {reason}"));
    word(Role::Plain, "").with(Role::Strong, requirement.name.as_str()).with(Role::Faint, ago).with(Role::Plain, why)
}

/// One run: what it works on and where, how long and how far; then what to type.
fn claim(claim: &ClaimReport, now: Timestamp) -> Vec<Line> {
    let goes_on = claim.state == ClaimState::Running && !claim.suspended;
    let (role, said) = match claim.state {
        ClaimState::Running if claim.suspended => (Role::Caution, "suspended"),
        ClaimState::Running => (Role::Good, "running"),
        ClaimState::Recoverable => (Role::Caution, "abandoned"),
        ClaimState::Unreadable => (Role::Bad, "unreadable"),
    };
    let mut line = word(role, said);
    match &claim.candidate {
        Some(commit) => line = line.with(Role::Caution, commit.short()),
        None => line = line.with(Role::Plain, "`git discern run`"),
    }
    if let Some(summary) = &claim.summary {
        line = line.with(Role::Plain, format!(" {summary}"));
    }
    let mut facts = Vec::new();
    if let Some(worktree) = &claim.worktree {
        let branch = claim.branch.as_deref().map_or(String::new(), |full| format!(" on {}", phrase::branch(full)));
        facts.push(format!("in {}{branch}", phrase::worktree(worktree)));
    }
    if let Some(since) = claim.since {
        facts.push(format!("for {}", phrase::roughly(between(since, now))));
    }
    facts.extend(claim.why.clone());
    match claim.state {
        ClaimState::Running if claim.suspended => facts.push("`fg` in its terminal lets it go on, or".to_owned()),
        _ if claim.suspended => facts.push("its process is suspended".to_owned()),
        _ => {}
    }
    let mut lines = vec![line.with(Role::Faint, format!("  {}", facts.join(", ")))];
    if let Some(progress) = claim.progress.as_ref().filter(|progress| progress.total > 0) {
        let mut text = format!("{} of {} done", progress.done, progress.total);
        if !progress.failed.is_empty() {
            let failed: Vec<&str> = progress.failed.iter().map(crate::id::Name::as_str).collect();
            text.push_str(&format!(", failed: {}", failed.join(", ")));
        }
        if !progress.running.is_empty() {
            let running: Vec<&str> = progress.running.iter().map(crate::id::Name::as_str).collect();
            let runs = if goes_on { "running" } else { "begun" };
            text.push_str(&format!(", {runs}: {}", running.join(", ")));
        }
        if let Some(left) = progress.remaining_ms.filter(|left| *left > 0 && goes_on) {
            text.push_str(&format!(", about {} left", phrase::roughly(left)));
        }
        lines.push(word(Role::Plain, "").with(Role::Plain, text));
    }
    lines.push(word(Role::Plain, "").with(Role::Command, &claim.command));
    lines
}
