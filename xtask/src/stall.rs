//! `cargo xtask stall`: real runs under `script(1)` whose terminal stops for longer than a lease, in real time.
//!
//! Three at once: one that nobody else meets, one that another run retires in the middle, and one on a terminal that is paused
//! with Ctrl-S. What each printed is kept under `docs/stall/`.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Args;

use crate::process;

/// Its arguments.
#[derive(Debug, Args)]
pub(crate) struct Stall {
    /// How long the job sleeps, in seconds
    #[arg(long, default_value_t = 150)]
    pub(crate) job: u64,
    /// For how long nobody reads, in seconds
    #[arg(long, default_value_t = 240)]
    pub(crate) silence: u64,
}

/// One run on a terminal of its own.
struct Stalled {
    name: &'static str,
    folder: tempfile::TempDir,
    child: Child,
}

/// Runs it.
pub(crate) fn run(args: &Stall) -> anyhow::Result<()> {
    let (_folder, binary) = process::binary()?;
    fs::create_dir_all("docs/stall")?;
    let mut alone = start("alone", &binary, args.job)?;
    let mut retired = start("retired", &binary, args.job)?;
    let mut paused = start("ctrl-s", &binary, args.silence / 3)?;
    println!("stall: nobody reads for {} seconds", args.silence);
    wait(5);
    keys(&mut paused, b"\x13")?;
    wait(args.silence / 2);
    // The other run comes when the lease has lapsed, from another worktree, for another commit.
    let other = retired.folder.path().join("other");
    let by = process::command(&binary).arg("done").current_dir(&other).output()?;
    ensure!(by.status.success(), "the other run ended with {}: {}", by.status, text(&by.stderr));
    println!("{}", text(&by.stderr));
    wait(args.silence / 2);
    keys(&mut paused, b"\x11")?;
    ends(&mut alone, 0, "renewed late")?;
    ends(&mut retired, 4, "retired by")?;
    ends(&mut paused, 0, "renewed late")?;
    for (run, proven) in [(&alone, true), (&retired, false), (&paused, true)] {
        let verify = process::command(&binary).arg("verify").current_dir(run.folder.path().join("r")).status()?;
        ensure!(verify.success() == proven, "`{}`: `verify` ends with {verify}", run.name);
    }
    println!("stall: as it should be; the transcripts are in docs/stall");
    Ok(())
}

/// A repository with one job that sleeps, a second worktree with a commit of its own, and `done` on a terminal.
fn start(name: &'static str, binary: &Path, job_seconds: u64) -> anyhow::Result<Stalled> {
    let folder = tempfile::tempdir()?;
    let repository = folder.path().join("r");
    fs::create_dir(&repository)?;
    // Twenty lines a second fill what lies between the run and its reader within seconds.
    let job = |number: u32| {
        format!("[jobs.format-number-{number:02}-of-this-large-project]\nrun = \"sleep $(cat seconds)\"\n")
    };
    let jobs: String = (0..20).map(job).collect();
    let configuration = format!("[gate]\ntrunk = \"main\"\nparallel = 20\n\n{jobs}");
    fs::write(repository.join("discern.toml"), configuration)?;
    fs::write(repository.join("seconds"), job_seconds.to_string())?;
    let git = |words: &[&str], place: &Path| -> anyhow::Result<()> {
        let identity = ["-c", "user.name=T", "-c", "user.email=t@example.com"];
        let status = process::command("git").args(identity).args(words).current_dir(place).status()?;
        ensure!(status.success(), "`git {}` ended with {status}", words.join(" "));
        Ok(())
    };
    git(&["init", "-q", "-b", "main"], &repository)?;
    git(&["add", "-A"], &repository)?;
    git(&["commit", "-q", "-m", "first"], &repository)?;
    git(&["worktree", "add", "-q", "-b", "other", "../other"], &repository)?;
    let other = folder.path().join("other");
    fs::write(other.join("seconds"), "1")?;
    git(&["commit", "-q", "-am", "quick"], &other)?;
    // A pipe of one page is full soon, and nobody reads it.
    let line = format!("stty cols 80 rows 24; exec {} done", binary.display());
    let child = process::command("script")
        .args(["-qefc", &line, "/dev/null"])
        .env("TERM", "xterm")
        .env_remove("CI")
        .current_dir(&repository)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("start script(1)")?;
    // Where the terminal itself is to stop, the pipe stays wide.
    if let Some(pipe) = child.stdout.as_ref().filter(|_| name != "ctrl-s") {
        rustix::pipe::fcntl_setpipe_size(pipe, 4096)?;
    }
    Ok(Stalled { name, folder, child })
}

/// Types into a run's terminal.
fn keys(run: &mut Stalled, bytes: &[u8]) -> anyhow::Result<()> {
    let input = run.child.stdin.as_mut().context("script(1) has a standard input")?;
    input.write_all(bytes)?;
    Ok(input.flush()?)
}

/// Reads everything that a run printed, keeps it, and sees that it ended as it must.
fn ends(run: &mut Stalled, status: i32, says: &str) -> anyhow::Result<()> {
    let mut printed = Vec::new();
    run.child.stdout.take().context("it is piped")?.read_to_end(&mut printed)?;
    let ended = run.child.wait()?;
    let lines = transcript(&text(&printed));
    let kept = PathBuf::from("docs/stall").join(format!("{}.txt", run.name));
    fs::write(&kept, &lines)?;
    println!("--- {}: {ended}\n{lines}", run.name);
    ensure!(ended.code() == Some(status), "`{}` ended with {ended} instead of {status}", run.name);
    ensure!(lines.contains(says), "`{}` does not say `{says}`", run.name);
    Ok(())
}

/// What stays of a terminal's output: no escape codes, no line twice in a row, no trace of where it ran.
fn transcript(printed: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in printed.split(['\n', '\r']) {
        let line = plain(line).trim_end().to_owned();
        // What the live view draws anew each second is told once at its end.
        let drawn = line.starts_with("running") || line.ends_with(" running") || line.contains("running,");
        if !line.is_empty() && !drawn && lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

/// A line without escape sequences.
fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            // Up to the letter that ends the sequence.
            letters.by_ref().find(char::is_ascii_alphabetic);
        } else if !letter.is_control() {
            out.push(letter);
        }
    }
    out
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[expect(clippy::disallowed_methods, reason = "real time is what this is about")]
fn wait(seconds: u64) {
    std::thread::sleep(Duration::from_secs(seconds));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_has_no_escape_codes_and_no_repetition() {
        assert_eq!(transcript("\u{1b}[1mone\u{1b}[0m\r\none\r\n\u{1b}[2Ktwo"), "one\ntwo\n");
    }
}
