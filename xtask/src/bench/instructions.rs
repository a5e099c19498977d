//! How many instructions the five commonest paths take, by `valgrind --tool=callgrind`, against the figures in
//! `xtask/instructions.txt`. Unlike times, these differ hardly at all from run to run; a path that got half as long again has
//! got something that it did not need.
//!
//! The debug build is counted: it is there in CI anyway (a release build takes minutes more), and what makes the one longer
//! makes the other longer, too. Instructions of git and of other children are their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, ensure};

use super::sample::{Sample, Shape, jobs};
use crate::process;

/// The figures: a line for each path, its name and its instructions.
const FIGURES: &str = "xtask/instructions.txt";

/// A path may take so many times its figure: compilers and C libraries differ, too.
const BOUND: f64 = 1.5;

/// The paths: the arguments of each, and whether a commit is made before, whose verdicts are all known.
const PATHS: &[(&str, &[&str], bool)] = &[
    ("done-proven", &["done"], false),
    ("status", &["status"], false),
    ("verify", &["verify"], false),
    ("pre-push", &["hook", "pre-push", "origin", "elsewhere"], false),
    ("done-reused", &["done"], true),
];

/// Counts and compares; with `write`, writes the figures anew. Without valgrind it says so and does nothing.
///
/// # Errors
/// A path takes more than [`BOUND`] times its figure, or can't be counted.
pub(crate) fn check(binary: &Path, write: bool) -> anyhow::Result<()> {
    if process::command("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        println!("instructions: not counted, because valgrind is not installed");
        return Ok(());
    }
    let folder = tempfile::Builder::new().prefix("bench-").tempdir_in("target")?;
    let sample = Sample::new(std::fs::canonicalize(folder.path())?.join("sample"), binary.to_owned());
    sample.make(Shape { files: 2_000, commits: 300, refs: "files", config: &jobs(3, "true", "") })?;
    // Where a filter is configured, what it could convert is looked up. Many machines have one for every repository, so that
    // the sample has one as well: the counts are the same everywhere then.
    sample.git(&["config", "filter.of-nothing.clean", "cat"])?;
    sample.discern(&["done"], 0)?;
    let mut counted = BTreeMap::new();
    for (name, arguments, new_commit) in PATHS {
        if *new_commit {
            sample.commit()?;
        }
        counted.insert(*name, count(&sample, binary, arguments)?);
    }
    if write {
        let text: String = counted.iter().map(|(name, count)| format!("{name} {count}\n")).collect();
        return Ok(std::fs::write(FIGURES, text)?);
    }
    let longer = longer(&counted, &std::fs::read_to_string(FIGURES)?)?;
    ensure!(
        longer.is_empty(),
        "more than {BOUND} × the instructions in {FIGURES}: {}. If they are needed: cargo xtask bench --instructions --write",
        longer.join(", ")
    );
    Ok(())
}

/// The paths that take too long, by the figures in `text`.
fn longer(counted: &BTreeMap<&'static str, u64>, text: &str) -> anyhow::Result<Vec<&'static str>> {
    let mut longer = Vec::new();
    for (name, count) in counted {
        let figure = figure(text, name).with_context(|| format!("{FIGURES} has no figure for `{name}`"))?;
        let ratio = *count as f64 / figure as f64;
        println!("instructions: {name}: {count}, {ratio:.2} × the figure");
        longer.extend((ratio > BOUND).then_some(*name));
    }
    Ok(longer)
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
    fn only_what_exceeds_its_figure_by_more_than_the_bound_is_too_long() {
        let counted = BTreeMap::from([("a", 150), ("b", 151)]);
        assert_eq!(longer(&counted, "a 100\nb 100\n").ok(), Some(vec!["b"]));
        assert!(longer(&counted, "a 100\n").is_err(), "a figure that is missing is not a pass");
    }

    #[test]
    fn a_figure_is_found_by_its_whole_name() {
        assert_eq!(figure("verify 12\nversion 34\n", "version"), Some(34));
        assert_eq!(figure("version 34\n", "ver"), None);
    }
}
