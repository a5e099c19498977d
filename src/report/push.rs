//! A push that is stopped, for people.
//!
//! ```text
//! git discern: this push is stopped: 1 commit is not proven
//!   none     2b7c91d0aa  parse the door: it was never proven
//!     for refs/heads/topic
//!     mend it: git discern done
//! ```

use super::commits;
use super::line::{Line, Role};
use super::phrase;
use crate::document::{CommitStanding, HookDocument, PushedCommit};
use crate::time::Timestamp;

/// More commits than this are counted, not listed.
const COMMITS_SHOWN_MAX: usize = 20;
/// More refs of one commit than this are counted, not listed.
const REFS_SHOWN_MAX: usize = 10;

/// What is said about a push; nothing where all of it is proven.
pub fn lines(document: &HookDocument, now: Timestamp) -> Vec<Line> {
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
    lines.extend(stopped.iter().take(COMMITS_SHOWN_MAX).flat_map(|one| commit(one, now)));
    if let Some(more) = stopped.len().checked_sub(COMMITS_SHOWN_MAX).filter(|more| *more > 0) {
        lines.push(Line::new().with(Role::Faint, format!("  and {more} more")));
    }
    for command in &document.hints {
        lines.push(Line::new().with(Role::Faint, "  all at once: ").with(Role::Command, command));
    }
    lines.push(Line::new().with(Role::Faint, "  `git push --no-verify` goes past this and every other pre-push hook"));
    lines
}

fn commit(pushed: &PushedCommit, now: Timestamp) -> Vec<Line> {
    let mut lines = vec![commits::line_with_reason(&pushed.report).indented(2)];
    if !pushed.refs.is_empty() {
        let mut refs = pushed.refs.iter().take(REFS_SHOWN_MAX).cloned().collect::<Vec<_>>().join(", ");
        if let Some(more) = pushed.refs.len().checked_sub(REFS_SHOWN_MAX).filter(|more| *more > 0) {
            refs.push_str(&format!(" and {more} more"));
        }
        lines.push(Line::new().with(Role::Faint, "    for ").with(Role::Plain, refs));
    }
    let helps = |label: &str, command: &str| Line::new().with(Role::Faint, label).with(Role::Command, command);
    match commits::running(&pushed.report, now) {
        Some(running) => lines.push(running.indented(2)),
        None if pushed.report.standing == CommitStanding::Failed => {
            lines.push(helps("    what failed: ", &pushed.fix));
            let again = format!("git discern done {} --rerun", pushed.report.commit.short());
            lines.push(helps("    commit what mends it, or try again: ", &again));
        }
        None => lines.push(helps("    mend it: ", &pushed.fix)),
    }
    lines
}
