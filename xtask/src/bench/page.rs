//! The table, on the terminal and in `docs/performance.md`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use sha2::Digest as _;

use super::{Measured, Row};
use crate::process;

/// Between these lines the page is written by `cargo xtask bench`; the rest is by hand.
const BEGIN: &str = "<!-- measured: begin -->";
const END: &str = "<!-- measured: end -->";

/// One line for the terminal.
pub(crate) fn line(measured: &Measured) -> String {
    match measured {
        Measured::Row(row) => {
            let Row { what, measured, limit, unit, formula, .. } = row;
            let verdict = if row.passes() { "ok  " } else { "OVER" };
            format!("{verdict} {what}: {} {unit}, at most {} ({formula})", number(*measured), number(*limit))
        }
        Measured::Failed { name, why } => format!("FAILED {name}: {why}"),
    }
}

/// What the figures were taken with, and on.
pub(crate) struct Circumstances {
    text: String,
}

impl Circumstances {
    /// As they are now. A binary that was `given` may come from any commit: its digest says which it is.
    pub(crate) fn now(binary: &Path, given: bool) -> anyhow::Result<Self> {
        let ask = |words: &[&str]| process::capture(words, Path::new(".")).map(|text| text.trim().to_owned());
        let commit = ask(&["git", "rev-parse", "--short=10", "HEAD"])?;
        let other = [":/", ":!docs/performance.md"];
        let changed = !ask(&[&["git", "status", "--porcelain", "--"][..], &other].concat())?.is_empty();
        let digest = git_discern::id::hex(&sha2::Sha256::digest(std::fs::read(binary)?));
        let source = match (given, changed) {
            (true, _) => format!("a binary that was given (SHA-256 `{}…`), in a checkout of", &digest[..16]),
            (false, true) => "the release build, with changes that were not committed, of".to_owned(),
            (false, false) => "the release build of".to_owned(),
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let processor = processor.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        // It costs every attempt a look-up.
        let filter = std::fs::read_to_string("/etc/gitconfig").is_ok_and(|text| text.contains("[filter"));
        let text = format!(
            "Measured in one run that began {} with {source} commit `{commit}`; {}, {}, {cores} cores ({}), samples on {}, \
             {} configured for the whole machine. Load average when it began: {}",
            ask(&["date", "-u", "+%F %R UTC"])?,
            ask(&["git", "--version"])?,
            ask(&["uname", "-sr"])?,
            processor.map_or("of an unknown kind", |(_, name)| name),
            ask(&["stat", "-f", "-c", "%T", "target"])?,
            if filter { "a filter" } else { "no filter" },
            load(),
        );
        Ok(Self { text })
    }
}

/// The load of the last minute.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// Puts the table into the page.
pub(crate) fn write(results: &[Measured], circumstances: &Circumstances, page: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(page)?;
    let (before, rest) = text.split_once(BEGIN).context("the page has no place for the table")?;
    let (_, after) = rest.split_once(END).context("the page has no end of the table")?;
    let mut table = format!("{BEGIN}\n\n{}, when it ended: {}.\n\n", circumstances.text, load());
    table += "| what | measured | at most | how the limit comes about | |\n| --- | ---: | ---: | --- | --- |\n";
    for measured in results {
        let _ = match measured {
            Measured::Row(row) => {
                let Row { what, measured, limit, unit, formula, .. } = row;
                let verdict = if row.passes() { "reached" } else { "**over**" };
                let (measured, limit) = (number(*measured), number(*limit));
                writeln!(table, "| {what} | {measured} {unit} | {limit} {unit} | {formula} | {verdict} |")
            }
            Measured::Failed { name, why } => {
                writeln!(table, "| {name} | | | {} | **not measured** |", why.replace(['|', '\n'], " "))
            }
        };
    }
    std::fs::write(page, format!("{before}{table}\n{END}{after}"))?;
    Ok(())
}

/// Three significant digits are all that a median is good for.
fn number(value: f64) -> String {
    match value.abs() {
        0.0..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
