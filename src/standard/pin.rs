//! Tightening limits where they are written.
//!
//! [`pin`] computes each new limit, the reading less the standard's margin, and replaces exactly the bytes of the old
//! number: comments, order and formatting can't change. It only ever tightens, it keeps the number's style, and it refuses
//! while a standard is red. What was not measured stays as it is.

use std::fmt;
use std::ops::Range;

use super::decimal::{Decimal, NotADecimal, Rounding};
use super::limit::{Direction, Limit};
use crate::config::{Config, Standard};
use crate::evidence::Reading;
use crate::id::Name;

/// The digits behind the point of a pinned rate, unless limit or margin have more: rates rarely end.
const RATE_PLACES: u32 = 2;

/// The unchanged lines that a diff shows around a change.
const CONTEXT_LINES: usize = 3;

/// A configuration with tighter limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// The whole file.
    pub text: String,
    /// What changed, in the file's order; empty if nothing improved enough.
    pub changes: Vec<Change>,
}

impl Pinned {
    /// The change as a unified diff of `path`, which had the text `before`: pinning replaces numbers inside lines, so that
    /// lines correspond one to one. Empty if nothing changed.
    pub fn diff(&self, before: &str, path: &str) -> String {
        let lines: Vec<(&str, &str)> = before.split_inclusive('\n').zip(self.text.split_inclusive('\n')).collect();
        let changed: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].0 != lines[at].1).collect();
        let mut text = if changed.is_empty() { String::new() } else { format!("--- a/{path}\n+++ b/{path}\n") };
        let mut rest = changed.as_slice();
        while let Some(&first) = rest.first() {
            // Changes whose context would touch share a hunk.
            let together = rest.windows(2).take_while(|pair| pair[1] - pair[0] <= 2 * CONTEXT_LINES).count() + 1;
            let end = (rest[together - 1] + CONTEXT_LINES + 1).min(lines.len());
            text.push_str(&hunk(&lines, first.saturating_sub(CONTEXT_LINES)..end));
            rest = &rest[together..];
        }
        text
    }
}

/// One hunk of a diff in which each line of `within` stands for itself or is replaced by one line.
fn hunk(lines: &[(&str, &str)], within: Range<usize>) -> String {
    let (start, count) = (within.start + 1, within.len());
    let mut text = format!("@@ -{start},{count} +{start},{count} @@\n");
    let mut push = |mark: char, line: &str| {
        text.push(mark);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    };
    let mut added = Vec::new();
    for &(old, new) in &lines[within] {
        if old != new {
            push('-', old);
            added.push(new);
            continue;
        }
        added.drain(..).for_each(|line| push('+', line));
        push(' ', old);
    }
    added.into_iter().for_each(|line| push('+', line));
    text
}

/// One tightened limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The standard.
    pub name: Name,
    /// The limit before, as written.
    pub from: String,
    /// The limit now, as written.
    pub to: String,
    /// Its line in the file, from 1.
    pub line: usize,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "standard `{}`: limit {} becomes {} (line {})", self.name, self.from, self.to, self.line)
    }
}

/// Why nothing is pinned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPinned {
    /// A standard does not meet its limit.
    #[error("standard `{name}` reads {value}, beyond its limit {limit}")]
    Red {
        /// The standard.
        name: Name,
        /// Its reading.
        value: String,
        /// The limit that it does not meet.
        limit: String,
    },
    /// A number can't be used.
    #[error("standard `{name}`: {why}")]
    Number {
        /// The standard.
        name: Name,
        /// What is wrong.
        why: NotADecimal,
    },
    /// The file is not the one that was parsed.
    #[error("the limit of standard `{0}` is not to be found in the file")]
    NotFound(Name),
}

/// What was measured of one standard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measurement {
    /// The standard.
    pub name: Name,
    /// Its reading.
    pub reading: Reading,
    /// Its limits.
    pub limit: Limit,
}

/// `text`, the configuration that was parsed as `config`, with the limits of the measured standards tightened.
///
/// Refuses if any measurement, also one that is not `selected`, is red.
pub fn pin(
    text: &str,
    config: &Config,
    measurements: &[Measurement],
    selected: impl Fn(&Name) -> bool,
) -> Result<Pinned, NotPinned> {
    for measurement in measurements {
        refuse_red(measurement)?;
    }
    let document = toml_edit::Document::parse(text).ok();
    let mut edits: Vec<(Range<usize>, Change)> = Vec::new();
    for standard in config.standards.iter().filter(|standard| selected(&standard.name)) {
        let name = &standard.name;
        let Some(measurement) = measurements.iter().find(|it| it.name == *name) else { continue };
        let found = document.as_ref().and_then(|document| limit_span(document, name));
        let span = found.ok_or_else(|| NotPinned::NotFound(name.clone()))?;
        let from = text[span.clone()].to_owned();
        let to =
            tightened(standard, measurement, &from).map_err(|why| NotPinned::Number { name: name.clone(), why })?;
        if let Some(to) = to {
            edits.push((span, Change { name: name.clone(), from, to, line: standard.limit_at.line }));
        }
    }
    edits.sort_by_key(|(span, _)| span.start);
    let mut pinned = text.to_owned();
    for (span, change) in edits.iter().rev() {
        pinned.replace_range(span.clone(), &change.to);
    }
    Ok(Pinned { text: pinned, changes: edits.into_iter().map(|(_, change)| change).collect() })
}

fn refuse_red(measurement: &Measurement) -> Result<(), NotPinned> {
    let Measurement { name, reading, limit } = measurement;
    let judgement = limit.judge(reading).map_err(|why| NotPinned::Number { name: name.clone(), why })?;
    if judgement.passes {
        return Ok(());
    }
    Err(NotPinned::Red { name: name.clone(), value: reading.value.clone(), limit: limit.effective().to_string() })
}

/// Where the number is written that `standards.<name>.limit` has, in whatever form the tables are.
fn limit_span(document: &toml_edit::Document<&str>, name: &Name) -> Option<Range<usize>> {
    let standards = document.get("standards")?.as_table_like()?;
    standards.get(name.as_str())?.as_table_like()?.get("limit")?.as_value()?.span()
}

/// The new limit in the old one's style, if it is tighter.
fn tightened(standard: &Standard, measurement: &Measurement, old: &str) -> Result<Option<String>, NotADecimal> {
    let limit = &measurement.limit;
    let margin = standard.margin.clone().unwrap_or_else(|| Decimal::from(0));
    // A rate is rounded towards the loose side, so that the reading that it was pinned to still passes.
    let loose = match limit.direction {
        Direction::Up => Rounding::Down,
        Direction::Down => Rounding::Up,
    };
    let value = match &measurement.reading.per {
        None => measurement.reading.value.parse()?,
        Some(per) => {
            let places = [&limit.own, &margin].map(Decimal::places).into_iter().fold(RATE_PLACES, u32::max);
            let metric: Decimal = measurement.reading.metric.parse()?;
            let scaled = limit.scale.as_ref().map_or_else(|| metric.clone(), |scale| metric.times(scale));
            scaled.divided_by(&per.parse()?, places, loose).ok_or(NotADecimal::Malformed)?
        }
    };
    let new = match limit.direction {
        Direction::Up => value.minus(&margin),
        Direction::Down => value.plus(&margin),
    };
    let tighter = new != limit.own && limit.direction.meets(&new, &limit.own);
    if !tighter {
        return Ok(None);
    }
    let text = in_style(&new, old);
    // What is written must read back as what was meant, and be a number that a configuration may hold.
    let written = Decimal::from_toml(&text)?;
    if written == new { Ok(Some(text)) } else { Err(NotADecimal::TooLarge) }
}

/// `number` as `old` is written: `82.0` beside `81.5`, `82` beside `81`, `1_234_567` beside `2_000_000`.
fn in_style(number: &Decimal, old: &str) -> String {
    // Computed numbers have no needless zeros; a measured one is as it was printed (`1e3`, `.5`).
    let plain = number.times(&Decimal::from(1)).to_string();
    let (sign, unsigned) = plain.strip_prefix('-').map_or(("", plain.as_str()), |rest| ("-", rest));
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let old_places = old.split_once('.').map(|(_, fraction)| fraction.bytes().take_while(u8::is_ascii_digit).count());
    let whole = if old.contains('_') && !whole.contains('e') { grouped(whole) } else { whole.to_owned() };
    match old_places {
        Some(places) if !plain.contains('e') => format!("{sign}{whole}.{fraction:0<places$}"),
        _ if fraction.is_empty() => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{fraction}"),
    }
}

/// Digits in groups of three.
fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
#[path = "pin_tests.rs"]
mod tests;
