//! S, the reference durable swap: what a careful script would do to move one ref to a new blob.

use std::fs::{self, File};
use std::io::Write as _;
use std::process::Stdio;

use anyhow::{Context as _, ensure};
use sha2::Digest as _;

use super::sample::Sample;
use super::stopwatch::{Turn, time};
use crate::process;

/// The ref that is moved.
const REF: &str = "refs/bench/swap";

/// A turn that writes a blob of `bytes` bytes, syncs it and its folder, and moves a ref with `git update-ref --stdin`, with
/// the same syncing.
pub(crate) fn swap<'s>(sample: &'s Sample, bytes: usize) -> anyhow::Result<Turn<'s>> {
    let old = sample.try_git(&["rev-parse", "--verify", "--quiet", REF]).unwrap_or_default();
    let (mut number, mut old) = (0_u64, old.trim().to_owned());
    Ok(Box::new(move || {
        number += 1;
        let content = content(bytes, &format!("{number} {old}"));
        time(|| {
            let new = write_durably(sample, &content)?;
            let expected = if old.is_empty() { "0".repeat(new.len()) } else { old.clone() };
            move_ref(sample, &format!("update {REF} {new} {expected}\n"))?;
            old = new;
            Ok(())
        })
    }))
}

/// Bytes like a record's: text, half of it digests.
pub(crate) fn content(bytes: usize, first: &str) -> Vec<u8> {
    let mut text = format!("{{\"after\": \"{first}\"");
    let mut number = 0_u32;
    while text.len() < bytes {
        let digest = sha2::Sha256::digest(number.to_be_bytes());
        text += &format!(",\n\"requirement {number}\": \"{}\"", git_discern::id::hex(&digest));
        number += 1;
    }
    text.truncate(bytes);
    text.into_bytes()
}

fn write_durably(sample: &Sample, content: &[u8]) -> anyhow::Result<String> {
    let repository = sample.open()?;
    let objects = repository.objects()?;
    let object = objects.new_blob(content.to_vec())?;
    let hex = object.id.to_string();
    let all = repository.common_dir().join("objects");
    let folder = all.join(&hex[..2]);
    let temporary = all.join("tmp_bench");
    let mut file = File::create(&temporary)?;
    file.write_all(&object.loose()?)?;
    file.sync_all()?;
    let new_folder = !folder.is_dir();
    fs::create_dir_all(&folder)?;
    fs::rename(&temporary, folder.join(&hex[2..]))?;
    File::open(&folder)?.sync_all()?;
    if new_folder {
        File::open(&all)?.sync_all()?;
    }
    Ok(hex)
}

fn move_ref(sample: &Sample, line: &str) -> anyhow::Result<()> {
    let mut command = process::command("git");
    command.args(["-c", "core.fsync=reference", "-c", "core.fsyncMethod=fsync", "-c", "core.hooksPath="]);
    command.args(["update-ref", "--stdin"]).current_dir(sample.folder()).stdin(Stdio::piped());
    let mut child = command.spawn()?;
    child.stdin.take().context("a pipe")?.write_all(line.as_bytes())?;
    ensure!(child.wait()?.success(), "`git update-ref` failed");
    File::open(sample.folder().join(".git/refs/bench"))?.sync_all()?;
    Ok(())
}
