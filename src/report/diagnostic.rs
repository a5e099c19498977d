//! Diagnostics as sentences: what happened, where, and the one command that helps.
//!
//! ```text
//! error: the worktree has changes that are not committed
//!   at src/lib.rs
//!   at notes.txt
//! hint: git stash --include-untracked
//! ```

use super::line::{Line, Role};
use crate::document::Diagnostic;

/// More places than this are counted, not listed.
const PLACES_SHOWN_MAX: usize = 20;

/// `diagnostic` for people. A message of several lines keeps them.
pub fn lines(diagnostic: &Diagnostic) -> Vec<Line> {
    let mut message = diagnostic.message.lines();
    let first = message.next().unwrap_or_default();
    let mut lines = vec![Line::new().with(Role::Bad, "error").with(Role::Strong, format!(": {first}"))];
    lines.extend(message.map(|line| Line::text(format!("  {line}"))));
    let places = &diagnostic.place;
    lines.extend(
        places
            .iter()
            .take(PLACES_SHOWN_MAX)
            .map(|place| Line::new().with(Role::Faint, "  at ").with(Role::Plain, place)),
    );
    if let Some(more) = places.len().checked_sub(PLACES_SHOWN_MAX).filter(|more| *more > 0) {
        lines.push(Line::new().with(Role::Faint, format!("  and {more} more")));
    }
    if let Some(path) = &diagnostic.output_path {
        lines.push(Line::new().with(Role::Faint, "  more in ").with(Role::Plain, path));
    }
    lines.extend(diagnostic.advice.as_deref().map(advice));
    lines.extend(diagnostic.fix.as_deref().map(hint));
    lines
}

/// What helps, in words.
pub fn advice(words: &str) -> Line {
    Line::new().with(Role::Caution, "advice").with(Role::Plain, format!(": {words}"))
}

/// A command that helps.
pub fn hint(command: &str) -> Line {
    Line::new().with(Role::Caution, "hint").with(Role::Plain, ": ").with(Role::Command, command)
}
