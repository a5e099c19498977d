//! Typed values out of TOML tables. Each reading method answers with the value or notes a problem and answers with
//! nothing, so that reading goes on and finds the other problems as well.

use std::num::NonZeroU32;
use std::ops::Range;

use toml_edit::{Document, Item, TableLike, Value};

use super::keys::{self, Kind, Table};
use super::problem::nearest;
use super::{BYTES_MAX, Command, Invalid, Pathspec, Position, Problem};
use crate::id::Name;
use crate::standard::Decimal;

/// The file while it is read, and what was found wrong so far.
pub(super) struct Reader {
    pub(super) source: String,
    pub(super) problems: Vec<Problem>,
}

/// One table of the file.
#[derive(Clone, Copy)]
pub(super) struct Section<'a> {
    pub(super) table: Table,
    pub(super) items: &'a dyn TableLike,
    /// How messages name it: `[jobs.test]`.
    pub(super) title: &'a str,
}

/// A value with the place that it was read from.
#[derive(Debug, Clone)]
pub(super) struct Placed<T> {
    pub(super) value: T,
    pub(super) span: Range<usize>,
}

impl Reader {
    /// Reads bytes as TOML; what is no TOML is one problem.
    pub(super) fn new(bytes: &[u8], file: &str) -> Result<(Self, Document<String>), Invalid> {
        let refuse = |source: String, problem: Problem| Err(Invalid::new(file, source, vec![problem]));
        if bytes.len() > BYTES_MAX {
            let message = format!("the file has {} bytes; at most {BYTES_MAX} are read", bytes.len());
            return refuse(String::new(), problem("too-long", message, 0..0));
        }
        let source = match std::str::from_utf8(bytes) {
            // A line ends as git would end it, whatever an editor wrote: a shell takes the other sign for a part of the command.
            Ok(source) => source.replace("\r\n", "\n"),
            Err(error) => {
                let at = error.valid_up_to();
                let mut bad = problem(
                    "not-utf8",
                    format!("byte 0x{:02x} is not UTF-8", bytes[at]),
                    at..at + '\u{fffd}'.len_utf8(),
                );
                let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
                let is = if utf16 { "it begins as UTF-16 does; " } else { "" };
                bad.help = Some(format!("{is}TOML is UTF-8: have the editor save the file so"));
                return refuse(String::from_utf8_lossy(bytes).into_owned(), bad);
            }
        };
        match Document::parse(source.clone()) {
            Ok(document) => Ok((Self { source, problems: Vec::new() }, document)),
            Err(error) => {
                let bad = no_toml(&source, &error);
                refuse(source, bad)
            }
        }
    }

    pub(super) fn position(&self, span: &Range<usize>) -> Position {
        Position::of(&self.source, span.start)
    }

    /// Notes a problem, to be completed.
    pub(super) fn note(&mut self, code: &'static str, message: String, span: Range<usize>) -> &mut Problem {
        self.problems.push(problem(code, message, span));
        self.problems.last_mut().expect("one was just pushed")
    }

    /// Notes each key of the section that there is no such key, with the nearest one.
    pub(super) fn check_keys(&mut self, section: Section<'_>) {
        for (name, _) in section.items.iter() {
            if keys::find(section.table, name).is_none() {
                let known: Vec<&str> = keys::of(section.table).map(|key| key.name).collect();
                let place = format!("in `{}`", section.title);
                self.unknown_key(name, &place, key_span(section.items, name), &known);
            }
        }
    }

    /// Notes that `name` is no key at `place` ("in `[gate]`"), with the nearest of `known`.
    pub(super) fn unknown_key(&mut self, name: &str, place: &str, span: Range<usize>, known: &[&str]) {
        let help = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                format!("known keys: {}", known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", "))
            }
        };
        let problem = self.note("unknown-key", format!("unknown key `{name}` {place}"), span);
        problem.label = "unknown key".into();
        problem.help = Some(help);
    }

    /// Notes that a value has another type than `key` wants.
    fn wrong_type(&mut self, key: &str, expected: &str, item: &Item, at: Range<usize>) {
        let found = match item.type_name() {
            kind @ ("array" | "integer" | "array of tables" | "inline table") => format!("an {kind}"),
            kind => format!("a {kind}"),
        };
        let problem = self.note("wrong-type", format!("`{key}` is {found}, not {expected}"), at);
        problem.label = format!("expected {expected}");
    }

    fn kind(section: Section<'_>, key: &str) -> Kind {
        keys::find(section.table, key).expect("every key that is read is in the table of keys").kind
    }

    /// One string.
    pub(super) fn text(&mut self, section: Section<'_>, key: &str) -> Option<Placed<String>> {
        let item = section.items.get(key)?;
        let span = value_span(section.items, key);
        match item.as_str() {
            Some("") => {
                let problem = self.note("empty", format!("`{key}` is empty"), span);
                problem.help = Some("leave the key out to have the default".into());
                None
            }
            Some(text) => Some(Placed { value: text.to_owned(), span }),
            None => {
                self.wrong_type(key, &Self::kind(section, key).words(), item, span);
                None
            }
        }
    }

    /// The strings of a list, none of them empty. A list without any is refused: it would say less than leaving it out.
    pub(super) fn texts(&mut self, section: Section<'_>, key: &str) -> Option<Vec<Placed<String>>> {
        let item = section.items.get(key)?;
        let span = value_span(section.items, key);
        let expected = Self::kind(section, key).words();
        let Some(list) = item.as_array() else {
            self.wrong_type(key, &expected, item, span.clone());
            if let (Some(problem), true) = (self.problems.last_mut(), item.is_str()) {
                problem.help = Some(format!("write `{key} = [{}]`", &self.source[span]));
            }
            return None;
        };
        if list.is_empty() {
            let problem = self.note("empty", format!("`{key}` is an empty list"), span);
            problem.help = Some("leave the key out to have the default".into());
            return None;
        }
        list.iter().map(|value| self.list_element(key, &expected, value, &span)).collect()
    }

    fn list_element(
        &mut self,
        key: &str,
        expected: &str,
        value: &Value,
        list: &Range<usize>,
    ) -> Option<Placed<String>> {
        let span = value.span().unwrap_or(list.clone());
        match value.as_str() {
            Some(text) if !text.trim().is_empty() => Some(Placed { value: text.to_owned(), span }),
            Some(_) => {
                self.note("empty", format!("`{key}` holds an empty string"), span);
                None
            }
            None => {
                let problem = self.note("wrong-type", format!("`{key}` holds something that is no string"), span);
                problem.label = format!("expected {expected}");
                None
            }
        }
    }

    /// A command: not blank.
    pub(super) fn command(&mut self, section: Section<'_>, key: &str) -> Option<Placed<Command>> {
        let item = section.items.get(key)?;
        let span = value_span(section.items, key);
        let command = match item {
            Item::Value(Value::String(line)) => Command::Shell(line.value().clone()),
            Item::Value(Value::Array(words)) => {
                match words.iter().map(|word| word.as_str().map(str::to_owned)).collect() {
                    Some(words) => Command::List(words),
                    None => {
                        self.note("wrong-type", format!("`{key}` holds something that is no string"), span);
                        return None;
                    }
                }
            }
            _ => {
                self.wrong_type(key, &Kind::Command.words(), item, span);
                return None;
            }
        };
        let (blank, nul) = match &command {
            Command::Shell(line) => (line.trim().is_empty(), line.contains('\0')),
            Command::List(words) => (
                words.first().is_none_or(|program| program.trim().is_empty()),
                words.iter().any(|word| word.contains('\0')),
            ),
        };
        if blank {
            self.note("empty-command", format!("`{key}` of `{}` runs nothing", section.title), span);
            return None;
        }
        if nul {
            self.note("bad-command", format!("`{key}` holds a NUL character, which no program can be given"), span);
            return None;
        }
        Some(Placed { value: command, span })
    }

    /// A whole number within the limits of the table of keys.
    pub(super) fn whole(&mut self, section: Section<'_>, key: &str) -> Option<u32> {
        let item = section.items.get(key)?;
        let span = value_span(section.items, key);
        let kind = Self::kind(section, key);
        let Kind::Whole { min, max, .. } = kind else { unreachable!("`{key}` is no whole number") };
        match item.as_integer() {
            Some(number) if (min..=max).contains(&number) => u32::try_from(number).ok(),
            Some(number) => {
                let problem = self.note("out-of-range", format!("`{key}` is {number}"), span);
                problem.label = format!("expected {}", kind.words());
                None
            }
            None => {
                self.wrong_type(key, &kind.words(), item, span);
                None
            }
        }
    }

    /// As [`Self::whole`], with 0 for "none".
    pub(super) fn cap(&mut self, section: Section<'_>, key: &str) -> Option<NonZeroU32> {
        self.whole(section, key).and_then(NonZeroU32::new)
    }

    /// One of the words that the table of keys allows.
    pub(super) fn choice(&mut self, section: Section<'_>, key: &str) -> Option<&'static str> {
        let kind = Self::kind(section, key);
        let Kind::Choice(words) = kind else { unreachable!("`{key}` is no choice") };
        let Placed { value, span } = self.text(section, key)?;
        let found = words.iter().copied().find(|&word| word == value);
        if found.is_none() {
            let problem = self.note("unknown-value", format!("`{key}` can't be `{value}`"), span);
            problem.label = format!("expected {}", kind.words());
            problem.help = nearest(&value, words.iter().copied()).map(|near| format!("did you mean `\"{near}\"`?"));
        }
        found
    }

    /// An exact decimal, as it is written.
    pub(super) fn decimal(&mut self, section: Section<'_>, key: &str) -> Option<Placed<Decimal>> {
        let item = section.items.get(key)?;
        let span = value_span(section.items, key);
        if !(item.is_integer() || item.is_float()) {
            self.wrong_type(key, &Kind::Decimal.words(), item, span.clone());
            let number = item.as_str().and_then(|text| Decimal::from_toml(text).ok());
            if let (Some(problem), Some(number)) = (self.problems.last_mut(), number) {
                problem.help = Some(format!("write it without quotes: `{key} = {number}`"));
            }
            return None;
        }
        match Decimal::from_toml(&self.source[span.clone()]) {
            Ok(value) => Some(Placed { value, span }),
            Err(fault) => {
                let problem = self.note("bad-number", format!("`{key}` is no decimal number: {fault}"), span);
                problem.label = "expected a number such as `81.5`".into();
                None
            }
        }
    }

    /// git pathspecs.
    pub(super) fn pathspecs(&mut self, section: Section<'_>, key: &str) -> Option<Vec<Pathspec>> {
        self.texts(section, key)?.into_iter().map(|text| self.pathspec(text)).collect()
    }

    fn pathspec(&mut self, Placed { value, span }: Placed<String>) -> Option<Pathspec> {
        let at = self.position(&span);
        Pathspec::parse(&value)
            .map(|pathspec| pathspec.written(at, span.clone()))
            .map_err(|fault| self.note("bad-pathspec", format!("pathspec `{value}` {fault}"), span))
            .ok()
    }

    /// A path below the top directory, `/` between its parts.
    pub(super) fn path(&mut self, Placed { value, span }: Placed<String>) -> Option<String> {
        let below = value.split('/').all(|part| !matches!(part, "" | "." | "..")) && !value.contains('\0');
        if !below {
            let problem = self.note("bad-path", format!("`{value}` is no path below the top directory"), span);
            problem.help =
                Some("parts separated by single `/`, without `.` and `..`, not absolute, no `/` at the end".into());
        }
        below.then_some(value)
    }

    /// Paths below the top directory.
    pub(super) fn paths(&mut self, section: Section<'_>, key: &str) -> Option<Vec<String>> {
        self.texts(section, key)?.into_iter().map(|text| self.path(text)).collect()
    }

    /// The name of something.
    pub(super) fn name(&mut self, text: Placed<String>) -> Option<Placed<Name>> {
        let Placed { value, span } = text;
        match value.parse() {
            Ok(name) => Some(Placed { value: name, span }),
            Err(_) => {
                self.bad_name(&value, span);
                None
            }
        }
    }

    /// Notes that text is no name.
    pub(super) fn bad_name(&mut self, text: &str, span: Range<usize>) {
        let problem = self.note("bad-name", format!("`{text}` is no name"), span);
        problem.help =
            Some("names have letters, digits, `.`, `_` and `-`, at most 64, the first a letter or a digit".into());
    }

    /// Names of jobs, not yet looked up.
    pub(super) fn names(&mut self, section: Section<'_>, key: &str) -> Vec<Placed<Name>> {
        let texts = self.texts(section, key).unwrap_or_default();
        texts.into_iter().filter_map(|text| self.name(text)).collect()
    }
}

fn problem(code: &'static str, message: String, span: Range<usize>) -> Problem {
    Problem { code, message, span, label: String::new(), help: None }
}

/// What the TOML parser met, in words that fit the usual slips.
fn no_toml(source: &str, error: &toml_edit::TomlError) -> Problem {
    let span = error.span().unwrap_or(source.len()..source.len());
    let text = source.get(span.clone()).unwrap_or_default();
    let said = error.message().lines().collect::<Vec<_>>().join(", ");
    if said == "duplicate key" {
        let mut twice = problem("duplicate-name", format!("`{text}` is written twice"), span);
        twice.label = "it is there already".into();
        twice.help =
            Some("quotes and dots make no other key of it: `jobs.x`, `[jobs.x]` and `[jobs.\"x\"]` are one".into());
        return twice;
    }
    if said.starts_with("string values must be quoted") && text.is_empty() {
        return problem("syntax", "a value is missing".into(), span);
    }
    if said.ends_with("overflowed") {
        return problem("bad-number", format!("`{text}` is too large"), span);
    }
    let mut problem = problem("syntax", format!("this is no TOML: {said}"), span.clone());
    let line_before = source.get(..span.start).unwrap_or_default().lines().last().unwrap_or_default();
    let digit = |sign: Option<char>| sign.is_some_and(|sign| sign.is_ascii_digit());
    let comma = source.get(span.start..).unwrap_or_default().strip_prefix(',');
    if comma.is_some_and(|after| digit(after.chars().next())) && digit(line_before.chars().last()) {
        problem.help = Some("numbers have a decimal point, not a comma".into());
    }
    problem
}

/// Where the key `name` is written.
pub(super) fn key_span(items: &dyn TableLike, name: &str) -> Range<usize> {
    items.key(name).and_then(toml_edit::Key::span).unwrap_or_default()
}

/// Where the value of the key `name` is written.
pub(super) fn value_span(items: &dyn TableLike, name: &str) -> Range<usize> {
    items.get(name).and_then(Item::span).unwrap_or_else(|| key_span(items, name))
}
