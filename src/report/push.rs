//! A push that is stopped, for people.
//!
//! ```text
//! git discern: this push is stopped: 1 commit is not proven
//!   none     2b7c91d0aa  parse the door: it was never proven
//!     for refs/heads/topic
//!     prove it: git discern done
//! ```

use super::commits;
use super::line::{Line, Role};
use super::phrase;
use crate::document::{HookDocument, PushedCommit};

/// More commits than this are counted, not listed.
const COMMITS_SHOWN_MAX: usize = 20;
/// More refs of one commit than this are counted, not listed.
const REFS_SHOWN_MAX: usize = 10;

/// What is said about a push; nothing where all of it is proven.
pub fn lines(document: &HookDocument) -> Vec<Line> {
    let mut lines: Vec<Line> = document
        .told
        .iter()
        .map(|told| Line::new().with(Role::Caution, "git discern: ").with(Role::Plain, told))
        .collect();
    let stopped = &document.unproven;
    if stopped.is_empty() {
        return lines;
    }
    let verb = if stopped.len() == 1 { "is" } else { "are" };
    let text = format!("this push is stopped: {} {verb} not proven", phrase::count(stopped.len(), "commit"));
    lines.push(Line::new().with(Role::Bad, "git discern: ").with(Role::Strong, text));
    lines.extend(stopped.iter().take(COMMITS_SHOWN_MAX).flat_map(commit));
    if let Some(more) = stopped.len().checked_sub(COMMITS_SHOWN_MAX).filter(|more| *more > 0) {
        lines.push(Line::new().with(Role::Faint, format!("  and {more} more")));
    }
    lines.push(Line::new().with(Role::Faint, "  `git push --no-verify` goes past this and every other pre-push hook"));
    lines
}

fn commit(pushed: &PushedCommit) -> Vec<Line> {
    let mut lines = vec![commits::line_with_reason(&pushed.report).indented(2)];
    if !pushed.refs.is_empty() {
        let mut refs = pushed.refs.iter().take(REFS_SHOWN_MAX).cloned().collect::<Vec<_>>().join(", ");
        if let Some(more) = pushed.refs.len().checked_sub(REFS_SHOWN_MAX).filter(|more| *more > 0) {
            refs.push_str(&format!(" and {more} more"));
        }
        lines.push(Line::new().with(Role::Faint, "    for ").with(Role::Plain, refs));
    }
    match commits::running(&pushed.report) {
        Some(running) => lines.push(running.indented(2)),
        None => lines.push(Line::new().with(Role::Faint, "    mend it: ").with(Role::Command, &pushed.fix)),
    }
    lines
}
