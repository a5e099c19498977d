//! Many at once: on one commit, on twenty, and a worktree that goes.

use std::process::Child;

use anyhow::{Context as _, ensure};

use super::ground::{Ground, JOBS};
use super::processes::{end, wait_until};
use super::{Setting, kept};

/// So many start together on one commit.
const CROWD: usize = 64;

/// So many worktrees work at once.
const WORKTREES: usize = 20;

/// 64 `done` on one commit, from two worktrees, half of them waiting: each job runs once, and everybody is answered.
pub(super) fn one_commit(setting: &mut Setting) -> anyhow::Result<()> {
    on_both_formats(setting, |ground, number, setting| {
        let commit = ground.commit("r", &format!("{number}"))?;
        ground.git("other", &["checkout", "-q", "--detach", &commit])?;
        let mut crowd = Vec::new();
        for one in 0..CROWD {
            let words: &[&str] = if one % 4 < 2 { &["done", "--wait"] } else { &["done"] };
            crowd.push((one % 4 < 2, ground.start(if one % 2 == 0 { "r" } else { "other" }, words, &[])?));
        }
        for (waits, mut run) in crowd {
            let status = end(&mut run)?;
            let expected: &[i32] = if waits { &[0] } else { &[0, 3] };
            ensure!(
                status.code().is_some_and(|code| expected.contains(&code)),
                "one ended with {status}: {}",
                ground.said()
            );
            setting.meet(format!("answered with {status}"));
        }
        for (job, _) in JOBS {
            let times = ground.ends_of(&commit, job)?;
            ensure!(times == 1, "`{job}` ran {times} times");
        }
        ensure!(ground.discern("r", &["verify", &commit])?.status.success(), "it is proven");
        ground.nobody_is_left(&commit)?;
        ground.is_sound()
    })
}

/// Twenty worktrees at once, each with a commit of its own: all are proven.
pub(super) fn many_worktrees(setting: &mut Setting) -> anyhow::Result<()> {
    on_both_formats(setting, |ground, number, setting| {
        let names: Vec<String> = (0..WORKTREES).map(|one| format!("w{one}")).collect();
        let mut runs: Vec<(String, Child)> = Vec::new();
        for name in &names {
            if !ground.place(name).exists() {
                ground.worktree(name)?;
            }
            ground.commit(name, &format!("{name} {number}"))?;
        }
        for name in &names {
            runs.push((name.clone(), ground.start(name, &["done"], &[])?));
        }
        for (name, mut run) in runs {
            let status = end(&mut run)?;
            ensure!(status.success(), "`{name}` ended with {status}: {}", ground.said());
            ensure!(ground.discern(&name, &["verify"])?.status.success(), "`{name}` is proven");
            setting.meet("proven");
        }
        ground.is_sound()
    })
}

/// The worktree is removed under a running job: the run says so and settles, and others go on.
pub(super) fn removed_worktree(setting: &mut Setting) -> anyhow::Result<()> {
    on_both_formats(setting, |ground, number, setting| {
        let name = format!("gone{number}");
        ground.worktree(&name)?;
        let commit = ground.commit(&name, &name)?;
        let mut run = ground.start(&name, &["done"], &[])?;
        wait_until("a job got to its end", || Ok(ground.ends_of(&commit, "one")? > 0))?;
        if number.is_multiple_of(2) {
            ground.git("r", &["worktree", "remove", "--force", &format!("../{name}")])?;
        } else {
            std::fs::remove_dir_all(ground.place(&name))?;
        }
        let status = end(&mut run)?;
        setting.meet(format!("the run ended with {status}"));
        ensure!(status.code().is_some_and(|code| [0, 2].contains(&code)), "it ended with {status}");
        ensure!(!ground.is_claimed(&commit), "its claim is settled");
        ground.nobody_is_left(&commit)?;
        ground.nothing_is_made_up(&commit)?;
        ground.commit("r", &format!("{number}"))?;
        ground.goes_on(&["r"], setting)?;
        ground.is_sound()
    })
}

/// The rounds of a setting, on files and on reftable by turns.
pub(super) fn on_both_formats(
    setting: &mut Setting,
    round: impl Fn(&Ground, u32, &mut Setting) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut grounds = [Ground::new("files", &setting.binary)?, Ground::new("reftable", &setting.binary)?];
    for number in 0..setting.rounds {
        let ground = &mut grounds[(setting.random.0 as usize + number as usize) % 2];
        let troubles = ground.troubles();
        let result = round(ground, number, setting);
        for _ in troubles..ground.troubles() {
            setting.meet(format!("a run waited longer for the store ({})", ground.refs));
        }
        result.map_err(|error| kept(error, &ground.keep())).with_context(|| format!("round {number}"))?;
    }
    Ok(())
}
