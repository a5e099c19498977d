//! A disk that is full at a write, and one that can't be written at all: a small file system of its own for each round.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::ensure;
use rustix::process::{Pid, Signal};

use super::ground::Ground;
use super::processes::{end, pause};
use super::{Setting, kept};
use crate::process;

/// The size of the file system, for `mount`.
const SIZE: &str = "size=32m";

/// What a file system gives at a time, in bytes.
const PAGE: u64 = 4096;

/// A run needs less than so many pages: with as many free it passes.
const PAGES: u32 = 64;

/// How long a run may try before it is interrupted; by itself it would try for a lease.
const PATIENCE: Duration = Duration::from_secs(5);

/// A mounted file system; it goes with this value.
struct Disk {
    folder: tempfile::TempDir,
}

impl Disk {
    /// Nothing where mounting is not permitted.
    fn mount(setting: &mut Setting) -> anyhow::Result<Option<Self>> {
        let disk = Self { folder: tempfile::tempdir()? };
        let mut mount = process::command("mount");
        mount.args(["-t", "tmpfs", "-o", SIZE, "tmpfs"]).arg(disk.folder.path());
        if mount.output().is_ok_and(|output| output.status.success()) {
            return Ok(Some(disk));
        }
        setting.meet("left out: a tmpfs may not be mounted here");
        Ok(None)
    }

    fn ground(&self, refs: &'static str, setting: &Setting) -> anyhow::Result<Ground> {
        let folder = tempfile::tempdir_in(self.folder.path())?;
        Ground::inside(folder, refs, &setting.binary)
    }

    fn remount(&self, how: &str) -> anyhow::Result<()> {
        let status = process::command("mount").args(["-o", how]).arg(self.folder.path()).status()?;
        ensure!(status.success(), "`mount -o {how}`");
        Ok(())
    }

    /// Leaves `free` bytes; what takes the rest away goes with the returned path.
    fn fill(&self, free: u64) -> anyhow::Result<PathBuf> {
        let path = self.folder.path().join("filler");
        let mut filler = fs::File::create(&path)?;
        let mut length = 0;
        let mut chunk = vec![0; 1 << 20];
        while !chunk.is_empty() {
            match filler.write(&chunk) {
                Ok(written) if written > 0 => length += written as u64,
                _ => chunk.truncate(if chunk.len() > PAGE as usize { PAGE as usize } else { 0 }),
            }
        }
        filler.set_len(length.saturating_sub(free))?;
        Ok(path)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = process::command("umount").arg("-l").arg(self.folder.path()).status();
    }
}

/// One more page is free from round to round, so that each write in turn is the one that fails.
pub(super) fn full_disk(setting: &mut Setting) -> anyhow::Result<()> {
    let Some(disk) = Disk::mount(setting)? else { return Ok(()) };
    let mut grounds = [disk.ground("files", setting)?, disk.ground("reftable", setting)?];
    // In few rounds the steps are larger.
    let step = (PAGES / setting.rounds).max(1);
    for number in 0..setting.rounds {
        let ground = &mut grounds[number as usize / 2 % 2];
        let pages = u64::from(number * step % PAGES);
        let result = with_pages(&disk, ground, number, pages, setting);
        result.map_err(|error| kept(error.context(format!("round {number}, {pages} pages free")), &ground.keep()))?;
    }
    Ok(())
}

fn with_pages(disk: &Disk, ground: &Ground, number: u32, pages: u64, setting: &mut Setting) -> anyhow::Result<()> {
    let commit = ground.commit("r", &format!("{number}"))?;
    let filler = disk.fill(pages * PAGE)?;
    let mut run = ground.start("r", &["done"], &[])?;
    let mut waited = Duration::ZERO;
    let step = Duration::from_millis(50);
    while run.try_wait()?.is_none() && waited < PATIENCE {
        pause(step);
        waited += step;
    }
    let interrupted = run.try_wait()?.is_none();
    if interrupted {
        setting.meet("interrupted after five seconds of trying");
        rustix::process::kill_process(Pid::from_child(&run), Signal::TERM)?;
    }
    let status = end(&mut run)?;
    let published = ground.published(&commit);
    // Interrupted, it settles what it can and then dies of the signal, as its caller expects.
    let by_signal = interrupted && status.code().is_none();
    let code = status.code().unwrap_or(-1);
    setting.meet(format!("the run ended with {status}"));
    ensure!(by_signal || [0, 1, 5, 143].contains(&code), "it ended with {status}: {}", ground.said());
    ensure!(code == 0 || !ground.discern("r", &["verify", &commit])?.status.success(), "{status}, and proven");
    ground.nobody_is_left(&commit)?;
    ground.is_sound()?;
    fs::remove_file(filler)?;
    ground.nothing_is_made_up(&commit)?;
    ground.goes_on(&["r"], setting)?;
    ground.nothing_is_lost(&commit, &published)?;
    ground.is_sound()
}

/// What reads works, what writes says why it can't, and once it can be written everything is as before.
pub(super) fn read_only(setting: &mut Setting) -> anyhow::Result<()> {
    let Some(disk) = Disk::mount(setting)? else { return Ok(()) };
    for number in 0..setting.rounds {
        let mut ground = disk.ground(if number.is_multiple_of(2) { "files" } else { "reftable" }, setting)?;
        let result = cannot_be_written(&disk, &ground, setting);
        result.map_err(|error| kept(error, &ground.keep()))?;
    }
    Ok(())
}

fn cannot_be_written(disk: &Disk, ground: &Ground, setting: &mut Setting) -> anyhow::Result<()> {
    let proven = ground.git("r", &["rev-parse", "HEAD"])?;
    ground.goes_on(&["r"], setting)?;
    ground.commit("r", "not proven yet")?;
    disk.remount("remount,ro")?;
    let reading = reads(ground, &proven, setting);
    let writing = ground.discern("r", &["done"]);
    disk.remount("remount,rw")?;
    reading?;
    let writing = writing?;
    let said = String::from_utf8_lossy(&writing.stderr);
    ensure!(writing.status.code() == Some(5), "`done` ended with {}: {said}", writing.status);
    ensure!(said.to_lowercase().contains("read-only"), "it does not say why: {said}");
    setting.meet("`done` ended with 5 and said why");
    ground.goes_on(&["r"], setting)?;
    ground.is_sound()
}

fn reads(ground: &Ground, proven: &str, setting: &mut Setting) -> anyhow::Result<()> {
    let commands: [&[&str]; 6] =
        [&["status"], &["verify", proven], &["show", proven], &["log"], &["recover", "--dry-run"], &["explain", "one"]];
    for words in commands {
        let answer = ground.discern("r", words)?;
        let said = String::from_utf8_lossy(&answer.stderr);
        ensure!(answer.status.success(), "`{}` ended with {}: {said}", words.join(" "), answer.status);
        setting.meet(format!("answered: {}", words[0]));
    }
    Ok(())
}
