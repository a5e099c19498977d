//! `cargo xtask demo`: a sample repository, and in it a cold run, an answer from the Proof, a reuse, a failure and its mending.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use clap::Args;

use crate::process;

/// Its arguments.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Make the sample repository here and leave it there; a temporary folder unless given
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keep: Option<PathBuf>,
}

/// The sample project: three jobs in plain `sh`, so that it runs wherever git does, and one standard.
const CONFIGURATION: &str = r#"# What every commit of this sample must pass.
[gate]
trunk = "main"

[jobs.syntax]
run = "sh -n src/greet.sh && echo 'syntax is fine'"
inputs = ["src/**"]

[jobs.test]
run = "sh tests/run.sh"
inputs = ["src/**", "tests/**"]
after = ["syntax"]

[jobs.slow]
run = "sleep 2; echo 'checked slowly'"
inputs = ["src/**"]

[standards.lines]
direction = "down"
limit = 20
run = "echo DISCERN_METRIC lines $(wc -l < src/greet.sh)"
inputs = ["src/**"]
"#;

const GREET: &str = "# Greets whoever is named.\ngreet() {\n    echo \"Hello, ${1:-world}!\"\n}\n";
const TESTS: &str = r#". src/greet.sh
expect() { test "$1" = "$2" || { echo "expected: $2"; echo "but got:  $1"; exit 1; }; echo "ok: $2"; }
expect "$(greet)" "Hello, world!"
expect "$(greet git)" "Hello, git!"
"#;

/// Runs it.
pub(crate) fn run(args: &Demo) -> anyhow::Result<()> {
    process::run(&["cargo", "build", "--release", "--locked", "--bin", "git-discern"])?;
    let binaries = fs::canonicalize("target/release")?;
    let temporary = tempfile::tempdir()?;
    let folder = args.keep.clone().unwrap_or_else(|| temporary.path().join("sample"));
    ensure!(!folder.exists(), "`{}` is there already", folder.display());
    let sample = Sample { folder, binaries };
    sample.make()?;

    sample.say("A cold run: every job runs, then the Proof is recorded.");
    sample.discern(&["done"], 0)?;
    sample.say("The same commit again: answered from its Proof.");
    sample.discern(&["done"], 0)?;
    sample.say("A commit that changes no job's inputs: every verdict is reused.");
    sample.commit("notes.md", "Only words.\n", "Add notes")?;
    sample.discern(&["done"], 0)?;
    sample.say("A commit that breaks a test: the end of its output, and the command that repeats it.");
    sample.commit("src/greet.sh", &GREET.replace("Hello", "Hullo"), "Sound friendlier")?;
    sample.discern(&["done"], 1)?;
    sample.say("Mended: proven again, from the verdicts that are known for this very content.");
    sample.commit("src/greet.sh", GREET, "Sound as before")?;
    sample.discern(&["done"], 0)?;
    sample.say("What is known:");
    sample.discern(&["show"], 0)?;
    sample.discern(&["log"], 0)?;
    match args.keep {
        Some(_) => println!("\nThe sample repository stays at {}", sample.folder.display()),
        None => println!("\nThe sample repository is gone; `cargo xtask demo --keep FOLDER` leaves it there."),
    }
    println!("For a repository of yours: `cargo install --locked --path .`, and there `git discern init`.");
    Ok(())
}

struct Sample {
    folder: PathBuf,
    binaries: PathBuf,
}

impl Sample {
    fn make(&self) -> anyhow::Result<()> {
        fs::create_dir_all(&self.folder)?;
        self.git(&["init", "-q", "-b", "main"])?;
        self.git(&["config", "user.name", "Sample"])?;
        self.git(&["config", "user.email", "sample@example.com"])?;
        self.write("discern.toml", CONFIGURATION)?;
        self.write("tests/run.sh", TESTS)?;
        self.commit("src/greet.sh", GREET, "Greet")
    }

    fn write(&self, name: &str, content: &str) -> anyhow::Result<()> {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().context("it has a folder")?)?;
        Ok(fs::write(path, content)?)
    }

    fn commit(&self, name: &str, content: &str, message: &str) -> anyhow::Result<()> {
        self.write(name, content)?;
        self.git(&["add", "-A"])?;
        self.git(&["commit", "-q", "-m", message])
    }

    fn git(&self, arguments: &[&str]) -> anyhow::Result<()> {
        let status = process::command("git").args(arguments).current_dir(&self.folder).status()?;
        ensure!(status.success(), "`git {}` ended with {status}", arguments.join(" "));
        Ok(())
    }

    /// Runs `git discern` as a user would, and sees that it exits as it must.
    fn discern(&self, arguments: &[&str], expected: i32) -> anyhow::Result<()> {
        println!("$ git discern {}", arguments.join(" "));
        let mut command = process::command("git");
        command.arg("discern").args(arguments).current_dir(&self.folder).env("PATH", self.path()?);
        let status = command.status()?;
        ensure!(status.code() == Some(expected), "it ended with {status}, not with exit status {expected}");
        println!("(exit status {expected})");
        Ok(())
    }

    /// The search path with our binary first, so that git finds the subcommand.
    fn path(&self) -> anyhow::Result<std::ffi::OsString> {
        let inherited = git_discern::os::environment::variable("PATH").unwrap_or_default();
        let folders = std::iter::once(self.binaries.clone()).chain(std::env::split_paths(&inherited));
        Ok(std::env::join_paths(folders.collect::<Vec<PathBuf>>())?)
    }

    fn say(&self, text: &str) {
        println!("\n# {text}");
    }
}
