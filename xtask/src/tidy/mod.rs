//! `cargo xtask tidy`: what a reader of this code can rely on, checked.
//!
//! Each check is a function of a file's name and text, so that it can be tested on a small string.

mod layers;
mod leftovers;
mod sizes;

use std::fs;
use std::path::Path;

use anyhow::bail;

use crate::process;

/// At most so many packages stand in the lock file.
const PACKAGES_MAX: usize = 300;

/// Something that must be mended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The file, and the line if there is one.
    pub(crate) place: String,
    /// What is wrong.
    pub(crate) what: String,
}

impl Finding {
    /// A finding in line `line` (from 0) of `file`.
    fn at(file: &str, line: usize, what: impl Into<String>) -> Self {
        Self { place: format!("{file}:{}", line + 1), what: what.into() }
    }
}

/// A tracked file.
pub(crate) struct Source<'a> {
    /// Its path in the repository.
    pub(crate) path: &'a str,
    /// Its text.
    pub(crate) text: &'a str,
}

impl Source<'_> {
    /// Whether it holds tests and nothing else.
    fn is_tests(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        self.path.starts_with("tests/")
            || self.path.contains("/tests/")
            || name == "tests.rs"
            || name.ends_with("_tests.rs")
    }

    /// The lines that are not tests: up to a `#[cfg(test)]` with a module in it; none of a file of tests.
    pub(crate) fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines: Vec<&str> = self.text.lines().collect();
        let inline = lines.windows(2).position(|pair| pair[0] == "#[cfg(test)]" && pair[1] == "mod tests {");
        let end = if self.is_tests() { 0 } else { inline.unwrap_or(lines.len()) };
        lines.into_iter().take(end).enumerate()
    }
}

/// Runs every check on every tracked file.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut findings = Vec::new();
    let listed = process::capture(&["git", "ls-files", "-z"], Path::new("."))?;
    for path in listed.split_terminator('\0') {
        // What is not text has no line to look at.
        let Ok(text) = fs::read_to_string(path) else { continue };
        let source = Source { path, text: &text };
        findings.extend(leftovers::check(&source));
        if path.ends_with(".rs") {
            findings.extend(sizes::check(&source));
            findings.extend(layers::check(&source));
        }
    }
    let packages = fs::read_to_string("Cargo.lock")?.matches("[[package]]").count();
    if packages > PACKAGES_MAX {
        let what = format!("{packages} packages, more than {PACKAGES_MAX}");
        findings.push(Finding { place: "Cargo.lock".into(), what });
    }
    for finding in &findings {
        println!("{}: {}", finding.place, finding.what);
    }
    if findings.is_empty() {
        println!("tidy: nothing to mend");
        return Ok(());
    }
    bail!("tidy: {} to mend", findings.len())
}
