//! The answer of `done` to a range, for people: the commits themselves were told as they ended.

use super::line::{Line, Role};
use super::phrase;
use crate::document::RangeDocument;
use crate::exit::OutcomeWord;

/// How a range ended, in a line or two.
pub fn page(document: &RangeDocument) -> Vec<Line> {
    let count = |outcome: OutcomeWord| document.commits.iter().filter(|one| one.outcome == outcome).count();
    let proven = count(OutcomeWord::Passed);
    let failed = count(OutcomeWord::Failed);
    let facts = [
        (proven, "proven"),
        (failed, "not proven"),
        (document.commits.len() - proven - failed, "without an answer"),
        (document.unrun.len(), "not looked at"),
    ];
    let facts = facts.iter().filter(|(number, _)| *number > 0);
    let facts: Vec<String> = facts.map(|(number, what)| format!("{number} {what}")).collect();
    let role = if document.ok { Role::Good } else { Role::Bad };
    let all = phrase::count(document.commits.len() + document.unrun.len(), "commit");
    let text = if facts.is_empty() {
        format!(": {all}, the right side has none that the left has not")
    } else {
        format!(": {all}, {}", facts.join(", "))
    };
    let mut lines = vec![Line::new().with(role, &document.range).with(Role::Plain, text)];
    if let Some(first) = &document.first_failed {
        let shown = Line::new().with(Role::Plain, format!("  the first that fails is {}: ", first.short()));
        lines.push(shown.with(Role::Command, format!("git discern show {}", first.short())));
    }
    lines
}
