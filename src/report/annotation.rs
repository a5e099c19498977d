//! Annotations for GitHub Actions: what failed, at the file and line that the output names.
//!
//! A line of output names a place if some word of it is `path:line`, `path:line:column`, `path(line,column)` or Python's
//! `File "path", line N`, and the path is a file of the worktree. ESLint's form, the path on a line of its own and the
//! places below, is known, too. Nothing of a log is handed on but text that was escaped.

use std::path::{Path, PathBuf};

use crate::document::{RequirementReport, RunDocument, Standing};
use crate::engine::log;

/// GitHub shows ten errors of one step; more of one requirement would hide the next.
const OF_ONE_MAX: usize = 10;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    path: String,
    line: u32,
    column: Option<u32>,
}

/// Something to show at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    place: Place,
    message: String,
}

/// The workflow commands for what failed, each on its own line; empty where nothing did. `log` gives a log's text; `is_file` says
/// whether a path from the worktree's top is a file there; `tops` are that top and those of kept
/// checkouts, so that a path is shown as in the repository wherever the job ran.
pub fn commands(
    document: &RunDocument,
    log: &dyn Fn(&str) -> Option<Vec<u8>>,
    is_file: &dyn Fn(&str) -> bool,
    tops: &[PathBuf],
) -> String {
    let mut text = String::new();
    for requirement in document.requirements.iter().filter(|one| one.verdict == Standing::Failed) {
        let title = format!("{} failed", requirement.name);
        let output = requirement.log.as_deref().and_then(log).unwrap_or_default();
        let found = find(&output, is_file, tops);
        if found.is_empty() {
            text.push_str(&format!("::error title={}::{}\n", property(&title), data(&why(requirement))));
        }
        for Found { place, message } in found {
            let column = place.column.map_or(String::new(), |column| format!(",col={column}"));
            let (file, title) = (property(&place.path), property(&title));
            text.push_str(&format!(
                "::error file={file},line={}{column},title={title}::{}\n",
                place.line,
                data(&message)
            ));
        }
    }
    text
}

fn why(requirement: &RequirementReport) -> String {
    let ended = requirement.exit_code.map(|code| format!("exit status {code}"));
    let reason = requirement.reason.clone().or(ended).unwrap_or_else(|| "failed".to_owned());
    format!("{}: {reason}", requirement.command)
}

/// The places that a log names, each once, in its order.
fn find(log: &[u8], is_file: &dyn Fn(&str) -> bool, tops: &[PathBuf]) -> Vec<Found> {
    let lines: Vec<String> =
        log.split(|&byte| byte == b'\n').map(|line| String::from_utf8_lossy(&log::shown(line)).into_owned()).collect();
    let known = |path: &str| {
        let path = path.strip_prefix("./").unwrap_or(path);
        let below = tops.iter().find_map(|top| Path::new(path).strip_prefix(top).ok()?.to_str());
        let path = below.unwrap_or(path);
        (!path.is_empty() && !path.starts_with('/') && is_file(path)).then(|| path.to_owned())
    };
    let mut found: Vec<Found> = Vec::new();
    let mut header: Option<String> = None;
    for (at, line) in lines.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |before| lines[before].trim());
        let after = lines.get(at + 1).map_or("", |after| after.trim());
        if let Some(path) = known(line.trim()) {
            header = Some(path);
            continue;
        }
        let listed = header.as_ref().and_then(|path| below_header(line, path));
        let Some((place, said)) = listed.or_else(|| in_line(line, &known)) else {
            header = header.filter(|_| !line.trim().is_empty());
            continue;
        };
        // Of a stack the first frame that is ours will do; a warning fails nothing.
        let frame_again = line.trim_start().starts_with("at ") && before.starts_with("at ");
        let message = [said.as_str(), if line.trim_start().starts_with("-->") { before } else { after }, before]
            .into_iter()
            .find(|text| !text.is_empty())
            .unwrap_or(line.trim())
            .to_owned();
        let is_warning = message.starts_with("warning") || said.starts_with("note:");
        if !frame_again && !is_warning && !found.iter().any(|known| known.place == place) {
            found.push(Found { place, message });
        }
        if found.len() == OF_ONE_MAX {
            break;
        }
    }
    found
}

/// `  12:3  error  what is wrong`, below the path on a line of its own.
fn below_header(line: &str, path: &str) -> Option<(Place, String)> {
    let (numbers, said) = line.trim_start().split_once(' ').filter(|_| line.starts_with(' '))?;
    let (number, column) = numbers.split_once(':')?;
    let place = Place { path: path.to_owned(), line: number.parse().ok()?, column: column.parse().ok() };
    Some((place, said.trim().to_owned()))
}

/// The first word of a line that names a place, and what is said after it.
fn in_line(line: &str, known: &dyn Fn(&str) -> Option<String>) -> Option<(Place, String)> {
    if let Some(rest) = line.trim_start().strip_prefix("File \"") {
        let (path, rest) = rest.split_once("\", line ")?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        return Some((Place { path: known(path)?, line: digits.parse().ok()?, column: None }, String::new()));
    }
    let mut from = 0;
    for word in line.split_whitespace() {
        let at = from + line[from..].find(word)?;
        from = at + word.len();
        let start = word.len() - word.trim_start_matches(['(', '[', '\'', '"', '`']).len();
        let word = &word[start..];
        let Some((path, line_number, column, length)) = place_in(word) else { continue };
        let Some(path) = known(path) else { continue };
        let said = line[at + start + length..].trim_start_matches([':', ')', ',', ' ', '\'', '"', '`', ']']).trim();
        return Some((Place { path, line: line_number, column }, said.to_owned()));
    }
    None
}

/// `path:12:3`, `path:12` or `path(12,3)` at a word's beginning: path, line, column, and the length of all that.
fn place_in(word: &str) -> Option<(&str, u32, Option<u32>, usize)> {
    let number = |text: &str| {
        let digits = text.len() - text.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
        text[..digits].parse::<u32>().ok().map(|number| (number, digits))
    };
    for (at, sign) in word.char_indices().filter(|&(at, sign)| at > 0 && (sign == ':' || sign == '(')) {
        let Some((line, digits)) = number(&word[at + 1..]) else { continue };
        let end = at + 1 + digits;
        let mut rest = word[end..].chars();
        let separator = if sign == ':' { ':' } else { ',' };
        let column = (rest.next() == Some(separator)).then(|| number(rest.as_str())).flatten();
        let length = column.map_or(end, |(_, digits)| end + 1 + digits);
        return Some((&word[..at], line, column.map(|(column, _)| column), length));
    }
    None
}

/// Text as the data of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Text as a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    fn found(log: &str) -> Vec<(String, u32, Option<u32>, String)> {
        let is_file = |path: &str| ["src/a.rs", "a b.c", "t/x.py", "x_test.go", "web/a.ts", "lib/y.js"].contains(&path);
        let found = find(log.as_bytes(), &is_file, &["/k/discern-1".into(), "/w".into()]);
        found.into_iter().map(|it| (it.place.path, it.place.line, it.place.column, it.message)).collect()
    }

    #[test_case("error[E0308]: mismatched types\n  --> src/a.rs:12:5\n", "src/a.rs", 12, Some(5), "error[E0308]: mismatched types"; "rustc")]
    #[test_case("thread 'x' (1) panicked at src/a.rs:7:9:\nassertion failed\n", "src/a.rs", 7, Some(9), "assertion failed"; "a panic in Rust")]
    #[test_case("\x1b[1msrc/a.rs:3:1: error:\x1b[0m expected ;\n", "src/a.rs", 3, Some(1), "error: expected ;"; "a C compiler, in colour")]
    #[test_case("t/x.py:4: AssertionError\n", "t/x.py", 4, None, "AssertionError"; "pytest")]
    #[test_case("  File \"/w/t/x.py\", line 9, in f\n    boom()\n", "t/x.py", 9, None, "boom()"; "a traceback in Python")]
    #[test_case("    x_test.go:31: got 1, want 2\n", "x_test.go", 31, None, "got 1, want 2"; "go test")]
    #[test_case("web/a.ts(8,2): error TS1005: ',' expected.\n", "web/a.ts", 8, Some(2), "error TS1005: ',' expected."; "tsc")]
    #[test_case("/w/web/a.ts\n  5:7  error  no-var\n", "web/a.ts", 5, Some(7), "error  no-var"; "eslint")]
    #[test_case("Error: no\n    at f (/w/lib/y.js:3:4)\n    at g (/w/lib/y.js:9:9)\n", "lib/y.js", 3, Some(4), "at g (/w/lib/y.js:9:9)"; "a stack in JavaScript")]
    #[test_case("/k/discern-1/src/a.rs:2:1: error: no ;\n", "src/a.rs", 2, Some(1), "error: no ;"; "a path in a kept checkout")]
    fn a_place_is_found(log: &str, path: &str, line: u32, column: Option<u32>, message: &str) {
        assert_eq!(found(log), [(path.to_owned(), line, column, message.to_owned())]);
    }

    #[test]
    fn warnings_other_peoples_files_and_clock_times_are_no_places() {
        let log = "warning: unused\n  --> src/a.rs:1:1\nat 12:30:05 https://x.y:80/ /usr/lib/z.py:3: no\nnone.rs:1:1\n";
        assert_eq!(found(log), []);
    }

    #[test]
    fn a_place_is_named_once_and_ten_are_enough() {
        let log: String = (1..30).map(|line| format!("src/a.rs:{}: no\n", line / 2 + 1)).collect();
        let lines: Vec<u32> = found(&log).into_iter().map(|(_, line, ..)| line).collect();
        assert_eq!(lines, (1..=10).collect::<Vec<u32>>());
    }

    #[test]
    fn what_would_end_a_command_is_escaped() {
        assert_eq!(data("100%\n::error::x"), "100%25%0A::error::x");
        assert_eq!(property("a,b:c"), "a%2Cb%3Ac");
    }
}
