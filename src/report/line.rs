//! A line of text with roles instead of colours.
//!
//! Whoever makes a line says what each piece *is*; whether that becomes a colour is decided when it is painted. A colour
//! never carries meaning alone: the words must do without it. Text from outside (commit messages, paths, output of jobs)
//! passes through here, so here control characters are taken out of it.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What a piece of a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Ordinary text.
    Plain,
    /// The subject of the line.
    Strong,
    /// It went well.
    Good,
    /// It did not.
    Bad,
    /// Worth a look.
    Caution,
    /// Less important than the rest.
    Faint,
    /// A command to type.
    Command,
}

impl Role {
    fn style(self) -> Style {
        let color = |color: AnsiColor| Style::new().fg_color(Some(color.into()));
        match self {
            Self::Plain => Style::new(),
            Self::Strong => Style::new().bold(),
            Self::Good => color(AnsiColor::Green).bold(),
            Self::Bad => color(AnsiColor::Red).bold(),
            Self::Caution => color(AnsiColor::Yellow),
            Self::Faint => Style::new().dimmed(),
            Self::Command => color(AnsiColor::Cyan),
        }
    }
}

/// One line, without its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    pieces: Vec<(Role, String)>,
}

impl Line {
    /// An empty line.
    pub fn new() -> Self {
        Self::default()
    }

    /// A line of ordinary text.
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::new().with(Role::Plain, text)
    }

    /// The line with another piece at its end.
    #[must_use]
    pub fn with(mut self, role: Role, text: impl AsRef<str>) -> Self {
        self.pieces.push((role, without_controls(text.as_ref())));
        self
    }

    /// The line with another one at its end.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.pieces.extend(other.pieces);
        self
    }

    /// The line with another piece at its end, filled with blanks to `columns`.
    #[must_use]
    pub fn column(self, role: Role, text: impl AsRef<str>, columns: usize) -> Self {
        let text = without_controls(text.as_ref());
        let blanks = " ".repeat(columns.saturating_sub(text.width()));
        self.with(role, text).with(Role::Plain, blanks)
    }

    /// The line with blanks before it.
    #[must_use]
    pub fn indented(mut self, columns: usize) -> Self {
        self.pieces.insert(0, (Role::Plain, " ".repeat(columns)));
        self
    }

    /// How many cells it takes.
    pub fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| text.width()).sum()
    }

    /// The line cut to `columns` cells, with `mark` as the last of them if anything was cut off.
    #[must_use]
    pub fn cut(self, columns: usize, mark: char) -> Self {
        if self.width() <= columns {
            return self;
        }
        let mut room = columns.saturating_sub(mark.width().unwrap_or(1));
        let mut pieces = Vec::new();
        for (role, text) in self.pieces {
            let kept = beginning(&text, room);
            room -= kept.width();
            let whole = kept.len() == text.len();
            pieces.push((role, kept.to_owned()));
            if !whole {
                break;
            }
        }
        if columns > 0 {
            pieces.push((Role::Faint, mark.to_string()));
        }
        Self { pieces }
    }

    /// The line as text, with escape codes for its roles if `color`, without blanks at its end.
    pub fn paint(&self, color: bool) -> String {
        let mut painted = String::new();
        let last = self.pieces.iter().rposition(|(_, text)| !text.trim_end().is_empty());
        for (at, (role, text)) in self.pieces.iter().enumerate().take(last.map_or(0, |at| at + 1)) {
            let text = if Some(at) == last { text.trim_end() } else { text };
            let style = role.style();
            let drawn = if color && style != Style::new() {
                write!(painted, "{style}{text}{style:#}")
            } else {
                write!(painted, "{text}")
            };
            debug_assert!(drawn.is_ok(), "a String takes everything");
        }
        painted
    }
}

/// As much of the beginning of `text` as fits into `columns` cells.
fn beginning(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, letter) in text.char_indices() {
        used += letter.width().unwrap_or(0);
        if used > columns {
            return &text[..at];
        }
    }
    text
}

/// `text` with each control character replaced by a blank, so that nothing from outside can move the cursor.
fn without_controls(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_cut_is_never_wider_than_asked() {
        let line = Line::text("日本語 test").with(Role::Good, " passed").with(Role::Faint, " in 3 s");
        for columns in 0..30 {
            assert!(line.clone().cut(columns, '…').width() <= columns, "{columns}");
        }
        assert_eq!(line.clone().cut(8, '…').paint(false), "日本語 …");
        assert_eq!(line.clone().cut(100, '…'), line);
    }

    #[test]
    fn text_from_outside_cannot_move_the_cursor() {
        let line = Line::text("a\x1b[2Jb\u{9b}2Jc\rd\ne");
        assert_eq!(line.paint(true), "a [2Jb 2Jc d e");
    }

    #[test]
    fn a_line_without_color_has_no_escape_codes_and_no_blanks_at_its_end() {
        let line = Line::new().with(Role::Bad, "failed").column(Role::Plain, "x", 9).with(Role::Faint, "");
        assert_eq!(line.paint(false), "failedx");
        assert_eq!(line.paint(true), "\x1b[1m\x1b[31mfailed\x1b[0mx");
    }
}
