//! Each event as lines: the story for people, told as it happens.
//!
//! [`lines`] is the whole rendering, a function of the event and of how much is to be told. The live view shows the same
//! lines above its moving part; there only, the start of a job needs none, because the moving part shows it.

use super::line::{Line, Role};
use super::phrase;
use super::settings::{Detail, Story};
use crate::document::{Pending, RequirementReport, Standing};
use crate::event::{Decision, Event, PlannedRequirement, What};
use crate::time::Timestamp;

/// The width of the first column: the longest word that stands there.
pub const WORD_COLUMNS: usize = 10;
/// Names longer than this push the rest of their line to the right.
const NAME_COLUMNS_MAX: usize = 24;

/// What a line's form depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Telling {
    /// How much is told.
    pub detail: Detail,
    /// Whether running jobs are shown by a live view.
    pub story: Story,
    /// Whether the answer, which says why something failed, follows in the same place.
    pub answer_follows: bool,
    /// The width of the column of names, once the plan is known.
    pub name_columns: usize,
}

/// The width that the names of `requirements` need.
pub fn name_columns(requirements: &[PlannedRequirement]) -> usize {
    let longest = requirements.iter().map(|planned| planned.name.as_str().len()).max();
    longest.unwrap_or(0).min(NAME_COLUMNS_MAX)
}

/// The lines that tell `event`; none where it is not worth one at this detail.
pub fn lines(event: &Event, telling: Telling) -> Vec<Line> {
    let verbose = telling.detail == Detail::Verbose;
    match &event.what {
        What::Began { command, candidate, summary } => {
            let line = word(Role::Strong, command).with(Role::Caution, candidate.commit.short());
            vec![line.with(Role::Plain, format!(" {summary}")).with(Role::Faint, phrase::standing_on(candidate))]
        }
        What::Waiting { pending } => vec![waiting(pending, event.at)],
        What::Reserved { attempt, handle, generation } if verbose => {
            let handle = handle.as_ref().map_or("no handle".to_owned(), |handle| format!("operation {handle}"));
            vec![inside("reserved").with(Role::Faint, format!("attempt {generation}, {attempt}, {handle}"))]
        }
        What::Retired { candidate, attempt, worktree, why } => {
            let of = format!("the abandoned claim on {} in {}", candidate.short(), phrase::worktree(worktree));
            let line = word(Role::Caution, "retired").with(Role::Plain, format!("{of}: {}", retirement(why)));
            vec![if verbose { line.with(Role::Faint, format!(", attempt {attempt}")) } else { line }]
        }
        What::Planned { requirements } => planned(requirements, event.at, telling),
        What::SlotAwaited { name } => vec![
            word(Role::Faint, "waiting")
                .column(Role::Strong, name.as_str(), telling.name_columns)
                .with(Role::Faint, "  for a free slot on this machine"),
        ],
        What::Started { name, tries, log, .. } if verbose || telling.story == Story::Plain => {
            let mut line = word(Role::Faint, "started").column(Role::Strong, name.as_str(), telling.name_columns);
            if *tries > 1 {
                line = line.with(Role::Plain, format!("  try {tries}"));
            }
            match log.as_ref().filter(|_| verbose) {
                Some(log) => vec![line.with(Role::Faint, format!("  {log}"))],
                None => vec![line],
            }
        }
        What::Finished { requirement } => vec![finished(requirement, telling)],
        What::Retrying { name, tries } => vec![
            word(Role::Caution, "retrying")
                .column(Role::Strong, name.as_str(), telling.name_columns)
                .with(Role::Plain, format!("  try {tries}")),
        ],
        What::LeftBehind { name, processes } => vec![
            word(Role::Caution, "ended")
                .with(Role::Plain, format!("{} that ", phrase::processes(*processes)))
                .with(Role::Strong, name.as_str())
                .with(Role::Plain, " left behind"),
        ],
        What::Published { receipts } if verbose => {
            vec![inside("published").with(Role::Faint, phrase::count(*receipts, "receipt"))]
        }
        What::StoreTrouble { doing, problem } => {
            vec![
                word(Role::Caution, "store")
                    .with(Role::Plain, format!("could not {doing}: {problem}; the run goes on")),
            ]
        }
        What::RenewedLate { after_ms } => {
            let late = format!("the claim was renewed late, after {}; it still holds", phrase::duration(*after_ms));
            vec![word(Role::Caution, "renewed").with(Role::Plain, late)]
        }
        What::Interrupted { by, times } => vec![interrupted(by, *times)],
        What::Resumed { after_ms } => {
            let stood = format!("after standing still for {}", phrase::duration(*after_ms));
            vec![word(Role::Faint, "resumed").with(Role::Plain, stood)]
        }
        What::Note { text } => vec![word(Role::Caution, "note").with(Role::Plain, text)],
        What::Reserved { .. } | What::Started { .. } | What::Published { .. } | What::Ended { .. } => Vec::new(),
    }
}

fn word(role: Role, text: &str) -> Line {
    Line::new().column(role, text, WORD_COLUMNS)
}

/// A line about what goes on inside, which only `-v` shows.
fn inside(text: &str) -> Line {
    word(Role::Faint, text)
}

fn waiting(pending: &Pending, now: Timestamp) -> Line {
    let place = match pending.checkouts {
        Some(checkouts) => phrase::all_in_use(checkouts),
        None => format!("for the run in {}", phrase::worktree(&pending.worktree)),
    };
    let mut line = word(Role::Caution, "waiting").with(Role::Plain, place);
    if let Some(since) = pending.since {
        line = line.with(Role::Plain, format!(", which began {} ago", phrase::roughly(between(since, now))));
    }
    line.with(Role::Faint, "; follow it: ").with(Role::Command, &pending.reconnect)
}

fn interrupted(by: &str, times: u32) -> Line {
    let by = if by == "stop" { "`git discern stop`" } else { by };
    let what = if times > 1 { "ending the jobs now" } else { "stopping the jobs and giving the claim back" };
    word(Role::Caution, "stopping").with(Role::Plain, format!("{by}: {what}"))
}

/// The reason of a retirement, as half a sentence.
pub fn retirement(why: &str) -> &str {
    match why {
        "executor-gone" => "its process is gone",
        "lease-lapsed" => "its lease lapsed",
        other => other,
    }
}

/// One line for what is reused; in detail also one for each that runs, with the reason.
fn planned(requirements: &[PlannedRequirement], now: Timestamp, telling: Telling) -> Vec<Line> {
    let mut lines = Vec::new();
    for planned in requirements {
        let name = |word: Line| word.column(Role::Strong, planned.name.as_str(), telling.name_columns);
        match &planned.decision {
            Decision::Reuse { commit, at, .. } => {
                let age = phrase::roughly(between(*at, now));
                let from = format!("  from {}, {age} ago", commit.short());
                lines.push(name(word(Role::Good, "reused")).with(Role::Faint, from));
            }
            Decision::Run { why, .. } if telling.detail == Detail::Verbose => {
                lines.push(name(inside("to run")).with(Role::Faint, format!("  {why}: {}", planned.command)));
            }
            Decision::Run { why, despite: true } => {
                lines.push(name(inside("to run")).with(Role::Faint, format!("  {why}")));
            }
            Decision::Run { .. } => {}
        }
    }
    lines
}

fn finished(requirement: &RequirementReport, telling: Telling) -> Line {
    let (role, said) = standing(requirement);
    let mut line = word(role, said).column(Role::Strong, requirement.name.as_str(), telling.name_columns);
    if let Some(millis) = requirement.duration_ms {
        line = line.with(Role::Plain, format!("  {}", phrase::duration(millis)));
    }
    if let Some(value) = &requirement.value {
        let limit = requirement.limit.as_ref().map_or(String::new(), |limit| format!(" (limit {limit})"));
        line = line.with(Role::Plain, format!("  {value}{limit}"));
    }
    if requirement.flaky {
        line = line.with(Role::Caution, "  flaky");
    }
    let told = match requirement.verdict {
        Standing::Passed => false,
        Standing::Failed => !telling.answer_follows,
        Standing::Cancelled | Standing::Unrun => true,
    };
    match requirement.reason.as_ref().filter(|_| told) {
        Some(reason) => line.with(Role::Plain, format!("  {reason}")),
        None => line,
    }
}

/// A requirement's standing in one word.
pub fn standing(requirement: &RequirementReport) -> (Role, &'static str) {
    match requirement.verdict {
        Standing::Passed if requirement.flaky => (Role::Caution, "passed"),
        Standing::Passed => (Role::Good, "passed"),
        Standing::Failed => (Role::Bad, "failed"),
        Standing::Cancelled => (Role::Caution, "cancelled"),
        Standing::Unrun => (Role::Faint, "not run"),
    }
}

/// Milliseconds from `earlier` to `later`; 0 if the wall clock was set back between them.
pub fn between(earlier: Timestamp, later: Timestamp) -> u64 {
    u64::try_from(later.millis_since(earlier)).unwrap_or(0)
}
