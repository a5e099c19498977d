//! An owner and a recoverer that share a repository, and neither process ids nor clocks.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::ensure;
use rustix::process::Signal;

use super::Setting;
use super::crowds::on_both_formats;
use super::ground::Ground;
use super::paused::Paused;
use super::processes::descendants;
use crate::process;

/// In a pid namespace of its own, whose first process it is.
const OTHER_PIDS: [&str; 4] = ["--pid", "--fork", "--mount-proc", "--kill-child"];

/// With a monotonic clock that is a million seconds ahead.
const OTHER_CLOCK: [&str; 6] = ["--time", "--fork", "--kill-child", "--monotonic", "1000000", "--boottime=1000000"];

/// Another pid namespace: a live pid looks dead there, and the kernel's boot identity is the same.
pub(super) fn pids(setting: &mut Setting) -> anyhow::Result<()> {
    apart(setting, &OTHER_PIDS)
}

/// Another time namespace: the same boot, and a monotonic clock that must not be compared.
pub(super) fn clocks(setting: &mut Setting) -> anyhow::Result<()> {
    apart(setting, &OTHER_CLOCK)
}

/// Whoever is in the namespace and whoever is outside take turns at being the owner and the one who looks.
fn apart(setting: &mut Setting, namespace: &'static [&'static str]) -> anyhow::Result<()> {
    let probe = process::command("unshare").args(namespace).arg("true").stderr(Stdio::null()).status();
    if !probe.is_ok_and(|status| status.success()) {
        setting.meet(format!("left out: `unshare {}` is not permitted here", namespace.join(" ")));
        return Ok(());
    }
    on_both_formats(setting, |ground, number, setting| {
        for (owner, observer) in [(namespace, &[][..]), (&[], namespace), (namespace, namespace)] {
            one_turn(ground, number, owner, observer)?;
            setting.meet("alive: left alone; dead: retired after it was seen unchanged for a lease");
        }
        Ok(())
    })
}

fn one_turn(ground: &Ground, number: u32, owner: &[&str], observer: &[&str]) -> anyhow::Result<()> {
    let text = format!("{number} {owner:?} {observer:?}");
    let commit = ground.commit("r", &text)?;
    ground.commit("other", &format!("other {text}"))?;
    let tool = ground.tool().to_string_lossy().into_owned();
    let run = Paused::start_as(ground, wrapped(ground, "r", owner, &[&tool, "done"]), "job ended#1")?;
    ensure!(run.is_there, "the owner pauses");
    for words in [&["recover"][..], &["done"]] {
        let said = wrapped(ground, "other", observer, &[&[&*tool], words].concat()).output()?;
        let text = String::from_utf8_lossy(&said.stderr);
        ensure!(said.status.success(), "`{}` ended with {}: {text}", words.join(" "), said.status);
        ensure!(ground.is_claimed(&commit), "a live owner was declared gone");
    }
    for pid in std::iter::once(run.pid()).chain(descendants(run.pid())) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
    run.go_on()?;
    // Seen, and seen again a lease later by the observer's own clock without a change: only that permits it. Both in one
    // namespace, because each is a machine of its own.
    let twice = "\"$0\" recover && DISCERN_TEST_CLOCK_AHEAD_MS=62000 \"$0\" recover";
    let said = wrapped(ground, "other", observer, &["sh", "-c", twice, &tool]).output()?;
    ensure!(said.status.success(), "`recover` ended with {}", said.status);
    ensure!(!ground.is_claimed(&commit), "an abandoned claim is there a lease after it was first seen");
    ground.nobody_is_left(&commit)?;
    ground.is_sound()
}

/// A command in a place, in a namespace of its own where one is named.
fn wrapped(ground: &Ground, place: &str, namespace: &[&str], words: &[&str]) -> Command {
    let words = if namespace.is_empty() { words.to_vec() } else { [&["unshare"], namespace, words].concat() };
    ground.command(place, Path::new(words[0]), &words[1..])
}
