//! The one place where these commands start processes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

/// A command in the workspace's top folder, or wherever it is told to run.
#[expect(clippy::disallowed_methods, reason = "the one place where xtask starts processes")]
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

/// Runs `words`, the first of which is the program, with our own streams, and says so first.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<()> {
    println!("$ {}", words.join(" "));
    let status = command(words[0]).args(&words[1..]).status().with_context(|| format!("start `{}`", words[0]))?;
    if !status.success() {
        bail!("`{}` ended with {status}", words.join(" "));
    }
    Ok(())
}

/// The binary, built and copied aside: what is built meanwhile does not change it.
pub(crate) fn binary() -> anyhow::Result<(tempfile::TempDir, PathBuf)> {
    binary_with(&[])
}

/// The same, built with more words for cargo.
pub(crate) fn binary_with(words: &[&str]) -> anyhow::Result<(tempfile::TempDir, PathBuf)> {
    run(&[&["cargo", "build", "--locked", "--bin", "git-discern"], words].concat())?;
    let folder = tempfile::tempdir()?;
    let binary = folder.path().join("git-discern");
    std::fs::copy("target/debug/git-discern", &binary)?;
    Ok((folder, binary))
}

/// What `words` print to standard output.
pub(crate) fn capture(words: &[&str], directory: &Path) -> anyhow::Result<String> {
    let mut command = command(words[0]);
    command.args(&words[1..]).current_dir(directory).stderr(Stdio::inherit());
    let output = command.output().with_context(|| format!("start `{}`", words[0]))?;
    if !output.status.success() {
        bail!("`{}` ended with {}", words.join(" "), output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
}
