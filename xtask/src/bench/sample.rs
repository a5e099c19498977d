//! Sample repositories: real ones, made by `git fast-import`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use git_discern::git::{LocationVariables, Repository};

use super::stopwatch;
use crate::process;

/// A repository and the binary that is measured in it.
pub(crate) struct Sample {
    folder: PathBuf,
    binary: PathBuf,
}

/// What a sample is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape<'s> {
    /// Files, twenty to a folder.
    pub(crate) files: u32,
    /// Commits, each of which changes a file.
    pub(crate) commits: u32,
    /// `files` or `reftable`.
    pub(crate) refs: &'s str,
    /// The content of `discern.toml`.
    pub(crate) config: &'s str,
}

impl Sample {
    pub(crate) fn new(folder: PathBuf, binary: PathBuf) -> Self {
        Self { folder, binary }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What `/proc` calls the process of the binary: at most fifteen bytes of its file's name.
    pub(crate) fn binary_name(&self) -> String {
        self.binary.file_name().unwrap_or_default().to_string_lossy().chars().take(15).collect()
    }

    /// Makes it.
    pub(crate) fn make(&self, shape: Shape<'_>) -> anyhow::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        self.git(&["init", "-q", "-b", "main", &format!("--ref-format={}", shape.refs)])?;
        for setting in ["user.name=Bench", "user.email=bench@example.com", "gc.auto=0", "maintenance.auto=false"] {
            let (key, value) = setting.split_once('=').context("a setting")?;
            self.git(&["config", key, value])?;
        }
        let mut command = self.git_command(&["fast-import", "--quiet"]);
        let mut child = command.stdin(Stdio::piped()).spawn()?;
        child.stdin.take().context("a pipe")?.write_all(history(shape).as_bytes())?;
        ensure!(child.wait()?.success(), "`git fast-import` failed");
        self.git(&["reset", "-q", "--hard"])?;
        self.git(&["gc", "-q"])?;
        // The first look refreshes the index: afterwards no entry is as young as the index itself.
        self.git(&["status"])?;
        Ok(())
    }

    pub(crate) fn git_command(&self, arguments: &[&str]) -> Command {
        let mut command = process::command("git");
        command.args(arguments).current_dir(&self.folder);
        command
    }

    pub(crate) fn discern_command(&self, arguments: &[&str]) -> Command {
        let mut command = process::command(&self.binary);
        command.args(arguments).current_dir(&self.folder);
        command
    }

    /// What git prints; an error if it fails.
    pub(crate) fn git(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let words: Vec<&str> = std::iter::once("git").chain(arguments.iter().copied()).collect();
        process::capture(&words, &self.folder)
    }

    /// What git prints, if it succeeds.
    pub(crate) fn try_git(&self, arguments: &[&str]) -> Option<String> {
        let output = self.git_command(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs a command that must exit with `expected`.
    pub(crate) fn discern(&self, arguments: &[&str], expected: i32) -> anyhow::Result<()> {
        stopwatch::silently(self.discern_command(arguments), expected)
    }

    pub(crate) fn write(&self, name: &str, content: &str) -> anyhow::Result<()> {
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().context("it has a folder")?)?;
        Ok(std::fs::write(path, content)?)
    }

    /// Commits everything, as a commit that nobody else makes.
    pub(crate) fn commit(&self) -> anyhow::Result<()> {
        self.git(&["add", "-A"])?;
        let message = self.folder.to_string_lossy();
        self.git(&["commit", "-q", "--allow-empty", "-m", &message]).map(drop)
    }

    pub(crate) fn open(&self) -> anyhow::Result<Repository> {
        let nothing = LocationVariables::from_lookup(|_| None);
        Ok(Repository::discover(&self.folder, &nothing)?)
    }
}

/// The name of file `number` of a sample.
pub(crate) fn file_name(number: u32) -> String {
    format!("dir{:02}/sub{:03}/file{number:06}.txt", number % 50, number / 1000)
}

/// `jobs` jobs that run `command`, each with inputs of its own.
pub(crate) fn jobs(count: u32, command: &str, gate: &str) -> String {
    let mut text = format!("[gate]\ntrunk = \"main\"\n{gate}\n");
    for job in 0..count {
        let _ = writeln!(text, "[jobs.job{job:02}]\nrun = {command:?}\ninputs = [\"dir{job:02}/**\"]");
    }
    text
}

fn history(shape: Shape<'_>) -> String {
    let mut stream = String::new();
    let file = |name: &str, content: &str| format!("M 100644 inline {name}\ndata {}\n{content}\n", content.len());
    for commit in 0..shape.commits {
        let at = 1_700_000_000 + u64::from(commit) * 60;
        let _ = write!(stream, "commit refs/heads/main\ncommitter Bench <bench@example.com> {at} +0000\ndata 1\nc\n");
        if commit == 0 {
            stream += &file("discern.toml", shape.config);
            for number in 0..shape.files {
                stream += &file(&file_name(number), &format!("file {number}\n").repeat(20));
            }
        } else {
            let number = commit % shape.files;
            stream += &file(&file_name(number), &format!("file {number} of commit {commit}\n").repeat(20));
        }
    }
    stream
}
