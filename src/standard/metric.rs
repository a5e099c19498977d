//! Metric lines: `DISCERN_METRIC <name> <number>`, at the beginning of a line of a command's output.
//!
//! [`Scanner`] takes the output in pieces of any size and shape and keeps a bounded amount: of each line at most
//! [`LINE_BYTES_MAX`] bytes, and of all lines one number for each name. Everything else is ignored, also where it mentions
//! the marker in the middle of a line. Nothing is guessed: a missing, malformed or contradictory line is an error that
//! quotes it.

use std::collections::BTreeMap;

use bstr::ByteSlice as _;

use super::decimal::{Decimal, NotADecimal, TEXT_BYTES_MAX};
use crate::evidence::quote::printable;
use crate::id::Name;

/// What a metric line begins with.
pub const MARKER: &str = "DISCERN_METRIC";
/// The longest line that can be a metric line, in bytes: marker, name, number, and blanks to spare.
pub const LINE_BYTES_MAX: usize = MARKER.len() + 64 + TEXT_BYTES_MAX + 64;
/// The most metrics that one output may hold.
pub const METRICS_MAX: usize = 1024;
/// The longest part of a line that a message quotes, in bytes.
const QUOTED_BYTES_MAX: usize = 120;

/// Why an output has no reading for a metric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoMetric {
    /// No line names it.
    #[error(
        "no line begins with `{MARKER} {metric}`; the command must print one itself, also when there is nothing to count: \
         `{MARKER} {metric} 0`"
    )]
    Missing {
        /// The metric.
        metric: Name,
    },
    /// A line names it and holds no number.
    #[error("`{line}` holds no finite decimal number: {why}")]
    NotANumber {
        /// The line, at most its beginning.
        line: String,
        /// What is wrong with the number.
        why: NotADecimal,
    },
    /// A line begins with the marker and can't be read.
    #[error("`{line}` is not `{MARKER} <name> <number>`")]
    Malformed {
        /// The line, at most its beginning.
        line: String,
    },
    /// Two lines name it with different numbers.
    #[error("`{first}` and `{second}` disagree")]
    Disagree {
        /// The first line.
        first: String,
        /// The first one that disagrees with it.
        second: String,
    },
    /// There are more metrics than one output may hold.
    #[error("the output names more than {METRICS_MAX} metrics")]
    TooMany,
}

/// Reads metric lines out of an output that comes in pieces.
#[derive(Debug, Clone, Default)]
pub struct Scanner {
    line: Line,
    metrics: BTreeMap<Name, Result<Decimal, NoMetric>>,
    /// What is wrong with the output as a whole, and so with each metric.
    broken: Option<NoMetric>,
}

/// The line that is being read.
#[derive(Debug, Clone, Default)]
struct Line {
    /// Its beginning, as long as it may be a metric line; at most [`LINE_BYTES_MAX`] bytes.
    kept: Vec<u8>,
    state: LineState,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum LineState {
    /// It may still be a metric line.
    #[default]
    Possible,
    /// It begins with the marker and is longer than any metric line.
    TooLong,
    /// It is none.
    Ordinary,
}

impl Scanner {
    /// A scanner at the beginning of an output.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece.
    pub fn feed(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() {
            let end = piece.find_byte(b'\n');
            self.line.extend(&piece[..end.unwrap_or(piece.len())]);
            let Some(end) = end else { return };
            self.end_line();
            piece = &piece[end + 1..];
        }
    }

    /// What the whole output says; its last line needs no line feed.
    pub fn finish(mut self) -> Metrics {
        self.end_line();
        Metrics { metrics: self.metrics, broken: self.broken }
    }

    fn end_line(&mut self) {
        let Line { kept, state } = std::mem::take(&mut self.line);
        match state {
            LineState::Ordinary => {}
            LineState::TooLong => self.broken_by(NoMetric::Malformed { line: quoted(&kept) }),
            LineState::Possible => self.read_line(kept.strip_suffix(b"\r").unwrap_or(&kept)),
        }
        // The buffer is used again for the next line.
        self.line.kept = kept;
        self.line.kept.clear();
    }

    fn read_line(&mut self, line: &[u8]) {
        let Some(rest) = line.strip_prefix(MARKER.as_bytes()) else { return };
        if rest.first().is_some_and(|byte| !byte.is_ascii_whitespace()) {
            // Another word that begins like the marker.
            return;
        }
        let malformed = || NoMetric::Malformed { line: quoted(line) };
        let Ok(rest) = std::str::from_utf8(rest) else { return self.broken_by(malformed()) };
        let mut words = rest.split_ascii_whitespace();
        let Some(Ok(name)) = words.next().map(str::parse::<Name>) else { return self.broken_by(malformed()) };
        let number = words.next().unwrap_or_default().parse::<Decimal>();
        let found = match number {
            _ if words.next().is_some() => Err(malformed()),
            Err(why) => Err(NoMetric::NotANumber { line: quoted(line), why }),
            Ok(number) => Ok(number),
        };
        self.record(name, found);
    }

    fn record(&mut self, name: Name, found: Result<Decimal, NoMetric>) {
        if let Some(known) = self.metrics.get_mut(&name) {
            *known = match (&*known, found) {
                (Ok(one), Ok(two)) if *one != two => {
                    let line = |number: &Decimal| quoted(format!("{MARKER} {name} {number}").as_bytes());
                    Err(NoMetric::Disagree { first: line(one), second: line(&two) })
                }
                (Ok(_), Err(problem)) => Err(problem),
                _ => return,
            };
        } else if self.metrics.len() < METRICS_MAX {
            self.metrics.insert(name, found);
        } else {
            self.broken_by(NoMetric::TooMany);
        }
    }

    /// The first problem of the whole output is the one that is told.
    fn broken_by(&mut self, problem: NoMetric) {
        self.broken.get_or_insert(problem);
    }
}

impl Line {
    fn extend(&mut self, bytes: &[u8]) {
        if self.state != LineState::Possible {
            return;
        }
        let room = LINE_BYTES_MAX - self.kept.len();
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        let marker = MARKER.as_bytes();
        let same = self.kept.len().min(marker.len());
        if self.kept[..same] != marker[..same] || self.kept.get(marker.len()).is_some_and(|b| !b.is_ascii_whitespace())
        {
            self.state = LineState::Ordinary;
        } else if bytes.len() > room {
            self.state = LineState::TooLong;
        }
    }
}

/// What an output says about every metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metrics {
    metrics: BTreeMap<Name, Result<Decimal, NoMetric>>,
    broken: Option<NoMetric>,
}

impl Metrics {
    /// The number of `metric`, with the text of the line that named it first.
    pub fn get(&self, metric: &Name) -> Result<&Decimal, NoMetric> {
        if let Some(problem) = &self.broken {
            return Err(problem.clone());
        }
        match self.metrics.get(metric) {
            None => Err(NoMetric::Missing { metric: metric.clone() }),
            Some(found) => found.as_ref().map_err(Clone::clone),
        }
    }
}

/// The beginning of a line, as text that can be shown: control characters are written out.
fn quoted(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(QUOTED_BYTES_MAX)]);
    let shown = printable(text.trim_end());
    if line.len() > QUOTED_BYTES_MAX { shown + "…" } else { shown }
}

#[cfg(test)]
#[path = "metric_tests.rs"]
mod tests;
