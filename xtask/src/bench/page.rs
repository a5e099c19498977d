//! The table, on the terminal and in `docs/performance.md`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;

use super::Row;
use crate::process;

/// Between these lines the page is written by `cargo xtask bench`; the rest is by hand.
const BEGIN: &str = "<!-- measured: begin -->";
const END: &str = "<!-- measured: end -->";

/// One row for the terminal.
pub(crate) fn line(row: &Row) -> String {
    let verdict = if row.passes() { "ok  " } else { "OVER" };
    let Row { what, measured, limit, unit, formula, .. } = row;
    format!("{verdict} {what}: {} {unit}, at most {} ({formula})", number(*measured), number(*limit))
}

/// Puts the table into the page.
pub(crate) fn write(rows: &[Row], page: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(page)?;
    let (before, rest) = text.split_once(BEGIN).context("the page has no place for the table")?;
    let (_, after) = rest.split_once(END).context("the page has no end of the table")?;
    let here = Path::new(".");
    let git = process::capture(&["git", "--version"], here)?;
    let commit = process::capture(&["git", "rev-parse", "--short", "HEAD"], here)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut table = format!(
        "{BEGIN}\n\nMeasured at commit {} with {}, {cores} cores, {}.\n\n",
        commit.trim(),
        git.trim(),
        std::env::consts::OS
    );
    table += "| what | measured | at most | how the limit comes about | |\n| --- | ---: | ---: | --- | --- |\n";
    for row in rows {
        let Row { what, measured, limit, unit, formula, .. } = row;
        let verdict = if row.passes() { "reached" } else { "**over**" };
        let (measured, limit) = (number(*measured), number(*limit));
        let _ = writeln!(table, "| {what} | {measured} {unit} | {limit} {unit} | {formula} | {verdict} |");
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
