//! What is wrong with a configuration, as data, and the page that shows it.
//!
//! Reading goes on after a problem, so that one look mends them all. A problem points at bytes of the file; positions in
//! lines and columns are made from them here and nowhere else.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::document::{Diagnostic, Refusal};
use crate::exit::Exit;

/// More problems than this are counted, not shown.
const SHOWN_MAX: usize = 20;

/// A place in a file, as editors count: both from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

impl Position {
    /// The place of byte `offset` of `source`; the end when it lies behind it.
    pub fn of(source: &str, offset: usize) -> Self {
        let before = &source[..boundary_before(source, offset)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// A stable word for its kind: `unknown-key`, `cycle`.
    pub code: &'static str,
    /// What is wrong, a lower-case fragment with values in backticks.
    pub message: String,
    /// The bytes of the source that it points at.
    pub span: Range<usize>,
    /// A few words for beside the underlined text; may be empty.
    pub label: String,
    /// What would be right.
    pub help: Option<String>,
}

/// A configuration that can't be used, with every problem found in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{file}` has {} problem(s), the first: {}", problems.len(), problems.first().map_or("", |first| &first.message))]
pub struct Invalid {
    /// What the file is called in messages: `discern.toml`, `main:discern.toml`.
    pub file: String,
    /// Its text; bytes that are no UTF-8 are replaced.
    pub text: String,
    /// At least one, in the order of the file.
    pub problems: Vec<Problem>,
}

/// Whether the page may hold colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Escape sequences for a terminal.
    Ansi,
    /// Bare text.
    None,
}

impl Invalid {
    /// `problems` in the order of the file.
    pub(crate) fn new(file: &str, text: String, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.span.start);
        Self { file: file.to_owned(), text, problems }
    }

    /// Where `problem` begins.
    pub fn position(&self, problem: &Problem) -> Position {
        Position::of(&self.text, problem.span.start)
    }

    /// Where `problem` begins, with the file: `discern.toml:3:7`.
    pub fn place(&self, problem: &Problem) -> String {
        format!("{}:{}", self.file, self.position(problem))
    }

    /// The same as a command's refusal: exit status 2, a page for people, one diagnostic for each problem.
    pub fn refusal(&self, colour: Colour) -> Refusal {
        let diagnostic = |problem: &Problem| {
            let found = Diagnostic::new("config-invalid", problem.message.as_str()).at(self.place(problem));
            Diagnostic { advice: problem.help.clone(), ..found }
        };
        let diagnostics = self.problems.iter().map(diagnostic).collect();
        Refusal { exit: Exit::Refused, diagnostics, page: Some(self.render(colour)) }
    }

    /// Every problem as compilers show them: file, line, column, the text underlined, what would be right. Ends with a
    /// newline.
    pub fn render(&self, colour: Colour) -> String {
        let renderer = match colour {
            Colour::Ansi => Renderer::styled(),
            Colour::None => Renderer::plain(),
        };
        let mut page = String::new();
        for problem in self.problems.iter().take(SHOWN_MAX) {
            page.push_str(&renderer.render(&[self.group(problem)]));
            page.push_str("\n\n");
        }
        page.truncate(page.trim_end().len());
        page.push('\n');
        if let Some(more) = self.problems.len().checked_sub(SHOWN_MAX).filter(|&more| more > 0) {
            page.push_str(&format!("\n… and {more} more problem(s) in `{}`\n", self.file));
        }
        page
    }

    fn group<'a>(&'a self, problem: &'a Problem) -> Group<'a> {
        let mut annotation = AnnotationKind::Primary.span(self.visible(&problem.span));
        if !problem.label.is_empty() {
            annotation = annotation.label(problem.label.as_str());
        }
        let snippet = Snippet::source(self.text.as_str()).path(self.file.as_str()).annotation(annotation);
        let group = Level::ERROR.primary_title(problem.message.as_str()).id(problem.code).element(snippet);
        match &problem.help {
            Some(help) => group.element(Level::HELP.message(help.as_str())),
            None => group,
        }
    }

    /// `span` on character boundaries within the source.
    fn visible(&self, span: &Range<usize>) -> Range<usize> {
        let start = boundary_before(&self.text, span.start);
        let end = (span.end..self.text.len()).find(|&at| self.text.is_char_boundary(at)).unwrap_or(self.text.len());
        start..end.max(start)
    }
}

/// The last boundary between characters that is not behind `offset`.
fn boundary_before(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// The one of `known` that `word` was probably meant to be: at most a third of its letters differ.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|&(distance, candidate)| distance <= (candidate.chars().count().max(3)) / 3)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// What is said of a name that nothing has: the one that was probably meant, or else all that there are. `kind` is what was
/// looked for, `place` where: "job", "in `discern.toml`".
pub fn names_nothing<'a>(unknown: &str, kind: &str, place: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let other = match (nearest(unknown, known.iter().copied()), &known[..]) {
        (Some(meant), _) => format!("did you mean `{meant}`?"),
        (None, []) => "there is none at all".to_owned(),
        (None, [only]) => format!("the only one is `{only}`"),
        (None, all) => {
            format!("there are {}", all.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
        }
    };
    format!("there is no {kind} `{unknown}` {place}; {other}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_nothing_has_is_said_with_the_one_that_was_meant() {
        let said = |unknown: &str, known: &[&str]| names_nothing(unknown, "job", "here", known.iter().copied());
        assert_eq!(said("lnit", &["lint", "test"]), "there is no job `lnit` here; did you mean `lint`?");
        assert_eq!(said("docs", &["lint", "test"]), "there is no job `docs` here; there are `lint`, `test`");
        assert_eq!(said("docs", &["lint"]), "there is no job `docs` here; the only one is `lint`");
        assert_eq!(said("docs", &[]), "there is no job `docs` here; there is none at all");
    }

    #[test]
    fn columns_count_characters_and_lines_count_newlines() {
        let source = "a\nä = 1\n";
        assert_eq!(Position::of(source, 0), Position { line: 1, column: 1 });
        assert_eq!(Position::of(source, 5), Position { line: 2, column: 3 });
        assert_eq!(Position::of(source, 99), Position { line: 3, column: 1 });
    }

    #[test]
    fn a_slip_of_the_finger_is_recognised_and_another_word_is_not() {
        let known = ["timeout", "inputs", "env"];
        assert_eq!(nearest("timout", known), Some("timeout"));
        assert_eq!(nearest("Inputs", known), Some("inputs"));
        assert_eq!(nearest("environment", known), None);
        assert_eq!(nearest("evn", known), Some("env"));
    }
}
