//! `cargo xtask bench --rivals`: other tools beside ours, in the same sample with the same three jobs that do nothing.
//!
//! Warm is the second run when nothing has changed, as a multiple of R taken in the same turns; cold is a run on a new commit,
//! less three shells. Only tools that are on `PATH` are measured; `docs/performance.md` says how to put them there.

use std::path::Path;
use std::process::Stdio;

use super::Place;
use super::sample::{Sample, Shape, file_name, jobs};
use super::stopwatch::{Turn, command, in_turns, silently, time};
use crate::process;

/// A tool, and how it is told to run three jobs.
struct Rival {
    name: &'static str,
    /// What tells its version.
    probe: &'static [&'static str],
    /// Its configuration, committed.
    files: &'static [(&'static str, &'static str)],
    /// What is done once.
    setup: &'static [&'static str],
    run: &'static [&'static str],
}

const RIVALS: &[Rival] = &[
    Rival {
        name: "Turborepo",
        probe: &["turbo", "--version"],
        files: &[
            (
                "package.json",
                r#"{"name": "sample", "private": true, "packageManager": "npm@10.0.0",
 "scripts": {"a": "true", "b": "true", "c": "true"}}"#,
            ),
            ("turbo.json", r#"{"tasks": {"a": {}, "b": {}, "c": {}}}"#),
            (".gitignore", ".turbo\nnode_modules\n"),
        ],
        setup: &[],
        run: &["turbo", "run", "a", "b", "c"],
    },
    Rival {
        name: "lefthook (keeps no results)",
        probe: &["lefthook", "version"],
        files: &[(
            "lefthook.yml",
            "check:\n  parallel: true\n  commands:\n    a: {run: 'true'}\n    b: {run: 'true'}\n    c: {run: 'true'}\n",
        )],
        setup: &[],
        run: &["lefthook", "run", "check"],
    },
    Rival {
        name: "pre-commit (keeps no results)",
        probe: &["pre-commit", "--version"],
        files: &[(
            ".pre-commit-config.yaml",
            "repos:\n- repo: local\n  hooks:\n  \
             - {id: a, name: a, entry: 'true', language: system, always_run: true, pass_filenames: false}\n  \
             - {id: b, name: b, entry: 'true', language: system, always_run: true, pass_filenames: false}\n  \
             - {id: c, name: c, entry: 'true', language: system, always_run: true, pass_filenames: false}\n",
        )],
        setup: &[],
        run: &["pre-commit", "run", "--all-files"],
    },
    Rival {
        name: "git-test",
        probe: &["git-test", "--help"],
        files: &[],
        setup: &["git-test", "add", "true && true && true"],
        run: &["git-test", "run", "HEAD"],
    },
];

/// Measures each, and prints a table.
pub(super) fn run(place: &Place) -> anyhow::Result<()> {
    println!("| tool | nothing changed | new commit, less three shells |\n| --- | ---: | ---: |");
    let binary = place.binary.to_string_lossy().into_owned();
    let ours = vec![binary.as_str(), "done"];
    let config = jobs(3, "true", "");
    measure(place, "git discern", &[("discern.toml", &config)], &[], &ours)?;
    for rival in RIVALS {
        let Rival { name, probe, files, setup, run } = rival;
        let there = process::command(probe[0]).args(&probe[1..]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        if there.is_err() {
            println!("| {name} | not installed | |");
            continue;
        }
        if let Err(error) = measure(place, name, files, setup, run) {
            println!("| {name} | not measured: {error:#} | |");
        }
    }
    Ok(())
}

fn measure(place: &Place, name: &str, files: &[(&str, &str)], setup: &[&str], run: &[&str]) -> anyhow::Result<()> {
    let sample = place.sample(&format!("rival-{}", run[0].replace('/', "-")));
    sample.make(Shape { files: 2_000, commits: 300, refs: "files", config: "" })?;
    for (file, content) in files {
        sample.write(file, content)?;
    }
    sample.commit()?;
    if !setup.is_empty() {
        silently(in_sample(&sample, setup), 0)?;
    }
    let mut number = 0;
    let new_commit = |number: &mut u32| -> anyhow::Result<()> {
        *number += 1;
        // What every job of every tool looks at.
        (0..3).try_for_each(|job| sample.write(&file_name(job), &format!("{name} {number}\n")))?;
        sample.commit()
    };
    let cold: Turn<'_> = Box::new(|| {
        new_commit(&mut number)?;
        time(|| silently(in_sample(&sample, run), 0))
    });
    let shells: Turn<'_> =
        Box::new(|| time(|| (0..3).try_for_each(|_| silently(in_sample(&sample, &["/bin/sh", "-c", "true"]), 0))));
    // The warm run comes after the cold one of the same commit.
    let [r, shells, cold, warm] = in_turns(
        place.extent.few,
        [
            command(|| sample.git_command(&["rev-parse", "HEAD"]), 0),
            shells,
            cold,
            command(|| in_sample(&sample, run), 0),
        ],
    )?;
    println!("| {name} | {:.1} R ({warm:.1} ms; R = {r:.2}) | {:.0} ms |", warm / r, cold - shells);
    Ok(())
}

fn in_sample(sample: &Sample, words: &[&str]) -> std::process::Command {
    let mut command = process::command(Path::new(words[0]));
    command.args(&words[1..]).current_dir(sample.folder());
    command
}
