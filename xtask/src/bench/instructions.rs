//! How many instructions the five commonest paths take, by `valgrind --tool=callgrind`, against the figures in
//! `xtask/instructions.txt`. Unlike times, these differ hardly at all from machine to machine; a path that got half as long
//! again has got something that it did not need.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, ensure};

use super::sample::{Sample, Shape, jobs};
use crate::process;

/// The figures: a line for each path, its name and its instructions.
const FIGURES: &str = "xtask/instructions.txt";

/// A path may take so many times its figure.
const BOUND: f64 = 1.5;

/// The paths: the arguments, and what is on standard input.
const PATHS: &[(&str, &[&str])] = &[
    ("version", &["--version"]),
    ("done", &["done"]),
    ("status", &["status"]),
    ("verify", &["verify"]),
    ("pre-push", &["hook", "pre-push", "origin", "elsewhere"]),
];

/// Compares; with `write`, writes the figures anew. Without valgrind it says so and does nothing.
pub(crate) fn check(binary: &Path, write: bool) -> anyhow::Result<()> {
    if process::command("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        println!("instructions: valgrind is not installed, nothing was counted");
        return Ok(());
    }
    let folder = tempfile::Builder::new().prefix("bench-").tempdir_in("target")?;
    let sample = Sample::new(std::fs::canonicalize(folder.path())?.join("sample"), binary.to_owned());
    sample.make(Shape { files: 2_000, commits: 300, refs: "files", config: &jobs(3, "true", "") })?;
    sample.discern(&["done"], 0)?;
    let mut counted = Vec::new();
    for (name, arguments) in PATHS {
        counted.push((*name, count(&sample, binary, arguments)?));
    }
    if write {
        let text: String = counted.iter().map(|(name, count)| format!("{name} {count}\n")).collect();
        return Ok(std::fs::write(FIGURES, text)?);
    }
    let figures = std::fs::read_to_string(FIGURES)?;
    let mut longer = Vec::new();
    for (name, count) in counted {
        let figure = figure(&figures, name).with_context(|| format!("{FIGURES} has no figure for `{name}`"))?;
        let ratio = count as f64 / figure as f64;
        println!("instructions: {name}: {count}, {ratio:.2} × the figure");
        longer.extend((ratio > BOUND).then_some(name));
    }
    ensure!(longer.is_empty(), "more than {BOUND} × their figures: {}", longer.join(", "));
    Ok(())
}

/// Instructions of our own process; git's are its own.
fn count(sample: &Sample, binary: &Path, arguments: &[&str]) -> anyhow::Result<u64> {
    let out: PathBuf = sample.folder().join(".git/callgrind.out");
    let lines = sample.folder().join(".git/lines");
    let head = sample.git(&["rev-parse", "HEAD"])?;
    let head = head.trim();
    std::fs::write(&lines, format!("refs/heads/main {head} refs/heads/new {}\n", "0".repeat(head.len())))?;
    let mut command = process::command("valgrind");
    command.args(["--tool=callgrind", "--quiet"]).arg(format!("--callgrind-out-file={}", out.display()));
    command.arg(binary).args(arguments).current_dir(sample.folder());
    let status = command.stdin(std::fs::File::open(&lines)?).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    ensure!(status.success(), "{arguments:?} ended with {status} under valgrind");
    let text = std::fs::read_to_string(&out)?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: ").or(line.strip_prefix("summary: ")));
    Ok(total.context("callgrind wrote no total")?.trim().parse()?)
}

/// The figure of a path.
fn figure(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_found_by_its_whole_name() {
        assert_eq!(figure("verify 12\nversion 34\n", "version"), Some(34));
        assert_eq!(figure("version 34\n", "ver"), None);
    }
}
