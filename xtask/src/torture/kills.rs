//! Runs that are killed: at each named point, and at random instants.

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use rustix::process::Pid;

use super::ground::{Ground, Published};
use super::paused::{Paused, points as points_of};
use super::processes::{Victim, end, pause};
use super::{Setting, began, kept};

/// The next run, and the one after it, may take so long altogether: far less than a lease, for a busy machine.
const AT_ONCE: Duration = Duration::from_secs(30);

/// What somebody else does in the same repository meanwhile.
const COMPANY: [(&str, &str); 6] = [
    ("gc", "git gc -q"),
    ("gc --prune=now", "git gc -q --prune=now"),
    ("pack-refs", "git pack-refs --all"),
    ("worktree", "git worktree add -q --detach ../third && git worktree remove --force ../third"),
    ("commit", "git commit -q --allow-empty -m other"),
    ("fetch", "git fetch -q ../r"),
];

/// One round of killing.
struct Round<'s> {
    ground: &'s Ground,
    number: u32,
    victim: Victim,
    company: Child,
    /// Whether the company removes objects that nobody names, however young.
    prunes_at_once: bool,
    commit: String,
}

/// Kills a run at each point that it comes to: the tool, its git children, its supervisors, all of them; on both ref formats.
/// The first rounds take each name once.
pub(super) fn points(setting: &mut Setting) -> anyhow::Result<()> {
    at_points(setting, |_| true)
}

/// The same where a job's supervisor comes to the point: its job has begun and the run does not know, or has ended and the run
/// does not know.
pub(super) fn supervisors(setting: &mut Setting) -> anyhow::Result<()> {
    at_points(setting, |point| point.starts_with("supervisor "))
}

fn at_points(setting: &mut Setting, wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    let mut grounds = [Ground::new("files", &setting.binary)?, Ground::new("reftable", &setting.binary)?];
    let mut combinations = Vec::new();
    for (which, ground) in grounds.iter().enumerate() {
        ground.worktree("left")?;
        abandon(ground, 0)?;
        ground.commit("r", "traced")?;
        for point in points_of(ground, "r")?.into_iter().filter(|point| wanted(point)) {
            combinations.extend(Victim::EACH.map(|victim| (point.clone(), victim, which)));
        }
    }
    let all = combinations.len();
    ensure!(all > 0, "a run comes to no such point");
    let chosen = in_good_order(combinations, setting);
    let mut names: Vec<&str> = chosen.iter().map(|(point, ..)| name_of(point)).collect();
    names.sort_unstable();
    names.dedup();
    setting.meet(format!("points: {}; {all} ways to be killed: {}", names.len(), names.join(", ")));
    for number in 0..setting.rounds {
        let (point, victim, which) = chosen[number as usize % chosen.len()].clone();
        let ground = &mut grounds[which];
        let round = format!("round {number}: {} killed at {point}, {}", victim.name(), ground.refs);
        let result = at_point(ground, number + 1, &point, victim, setting);
        result.map_err(|error| kept(error, &ground.keep())).context(round)?;
    }
    Ok(())
}

/// Shuffled, but so that each name of a point comes once before any comes twice, with victims and formats by turns.
fn in_good_order(mut all: Vec<(String, Victim, usize)>, setting: &mut Setting) -> Vec<(String, Victim, usize)> {
    for last in (1..all.len()).rev() {
        all.swap(last, setting.random.below(last as u64 + 1) as usize);
    }
    let mut times = std::collections::BTreeMap::<String, usize>::new();
    let mut keyed: Vec<_> = all
        .into_iter()
        .map(|it| {
            let times_before = times.entry(name_of(&it.0).to_owned()).or_default();
            *times_before += 1;
            (*times_before, it)
        })
        .collect();
    keyed.sort_by_key(|(times_before, _)| *times_before);
    keyed.into_iter().map(|(_, it)| it).collect()
}

/// The name of a point, without its number.
fn name_of(point: &str) -> &str {
    point.split('#').next().unwrap_or(point)
}

/// Kills all of a run in the worktree `left`: whoever comes next has something to retire.
fn abandon(ground: &Ground, number: u32) -> anyhow::Result<()> {
    let commit = ground.commit("left", &format!("left {number}"))?;
    let paused = Paused::start(ground, "left", "job started#1")?;
    ensure!(paused.is_there, "the run in `left` ended before its first job: {}", ground.said());
    Victim::All.kill(paused.pid());
    paused.go_on()?;
    if !ground.is_claimed(&commit) {
        // A `gc --prune=now` may have taken the record that it just wrote: whoever looks writes it back.
        drop(ground.discern("left", &["status"])?);
    }
    ensure!(ground.is_claimed(&commit), "the run in `left` holds its claim");
    Ok(())
}

fn at_point(ground: &Ground, number: u32, point: &str, victim: Victim, setting: &mut Setting) -> anyhow::Result<()> {
    abandon(ground, number)?;
    let commit = ground.commit("r", &format!("{number}"))?;
    let (company, prunes_at_once) = company(ground, setting)?;
    let paused = Paused::start(ground, "r", point)?;
    if !paused.is_there {
        setting.meet("the run had other company and did not come to the point");
    }
    let round = Round { ground, number, victim, company, prunes_at_once, commit };
    let published = round.kill(paused.pid(), setting);
    let status = paused.go_on()?;
    round.look(status, &published, setting)
}

/// Kills runs at random instants.
pub(super) fn instants(setting: &mut Setting) -> anyhow::Result<()> {
    let mut grounds = [Ground::new("files", &setting.binary)?, Ground::new("reftable", &setting.binary)?];
    for number in 0..setting.rounds {
        let ground = &mut grounds[number as usize % 2];
        let result = at_an_instant(ground, number, setting);
        result.map_err(|error| kept(error, &ground.keep())).with_context(|| format!("round {number}"))?;
    }
    Ok(())
}

fn at_an_instant(ground: &Ground, number: u32, setting: &mut Setting) -> anyhow::Result<()> {
    let commit = ground.commit("r", &format!("{number}"))?;
    let (company, prunes_at_once) = company(ground, setting)?;
    let victim = *setting.random.of(&Victim::EACH);
    let mut run = ground.start("r", &["done"], &[])?;
    pause(Duration::from_micros(setting.random.below(350_000)));
    let round = Round { ground, number, victim, company, prunes_at_once, commit };
    let published = round.kill(Pid::from_child(&run), setting);
    let status = end(&mut run)?;
    round.look(status, &published, setting)
}

/// Somebody else at work in the same repository.
fn company(ground: &Ground, setting: &mut Setting) -> anyhow::Result<(Child, bool)> {
    let (name, script) = setting.random.of(&COMPANY);
    setting.meet(format!("beside `git {name}`"));
    let mut command = ground.command("other", Path::new("sh"), &["-c", &format!("{script} >/dev/null 2>&1")]);
    Ok((command.spawn().context("start sh")?, script.contains("--prune=now")))
}

impl Round<'_> {
    /// What was published when the victims were killed.
    fn kill(&self, tool: Pid, setting: &mut Setting) -> Vec<Published> {
        let published = self.ground.published(&self.commit);
        let killed = self.victim.kill(tool);
        let whom = self.victim.name();
        setting.meet(if killed > 0 { format!("killed: {whom}") } else { format!("nobody to kill: {whom}") });
        published
    }

    /// A `git gc --prune=now` removes whatever had no name when it began to look, also what got one since: git's manual warns of
    /// it (hazard 12). A run that lives writes its record again; of one that was killed, the next command of ours does. A ledger
    /// that was taken after the run's own look is gone: it is forgotten as every command says then.
    fn is_sound_after_the_kill(&self, setting: &mut Setting) -> anyhow::Result<()> {
        let sound = self.ground.is_sound().context("after the kill");
        if sound.is_ok() || !self.prunes_at_once {
            return sound;
        }
        let seen = self.ground.discern("other", &["status"])?;
        let remedy = ["recover", "--forget", "refs/discern/ledger"];
        if !String::from_utf8_lossy(&seen.stderr).contains(&remedy.join(" ")) {
            setting.meet("a record that `gc --prune=now` took was written back by `status`");
            return self.ground.is_sound().context("after `gc --prune=now`, the kill and `status`");
        }
        let mended = self.ground.discern("other", &remedy)?;
        ensure!(mended.status.success(), "{}", String::from_utf8_lossy(&mended.stderr));
        setting.meet("a ledger that `gc --prune=now` took was forgotten, as `status` said");
        self.ground.is_sound().context("after the ledger was forgotten")
    }

    /// Everything that must hold after it.
    fn look(
        mut self,
        status: std::process::ExitStatus,
        published: &[Published],
        setting: &mut Setting,
    ) -> anyhow::Result<()> {
        end(&mut self.company)?;
        self.ground.break_table_lock(setting)?;
        self.is_sound_after_the_kill(setting)?;
        let Self { ground, number, ref commit, .. } = self;
        ground.nobody_is_left(commit)?;
        ground.nothing_is_made_up(commit)?;
        setting.meet(format!("the run ended with {status}"));
        // A run that lived on ends by itself: passed, with a job that was killed, or with its store lost.
        let by_itself = status.code().is_none_or(|code| [0, 1, 5].contains(&code));
        ensure!(by_itself, "it ended with {status}: {}", ground.said());
        let abandoned = self.victim.ends_the_tool() && ground.is_claimed(commit);
        let since: Instant = began();
        ground.commit("other", &format!("other {number}"))?;
        ground.goes_on(&["other"], setting)?;
        ensure!(!abandoned || !ground.is_claimed(commit), "the abandoned claim was not retired");
        ground.nothing_is_lost(commit, published).context("after the takeover")?;
        ground.goes_on(&["r"], setting)?;
        ensure!(!abandoned || since.elapsed() < AT_ONCE, "the next runs took {:?}", since.elapsed());
        ground.nothing_is_lost(commit, published).context("after the next run")?;
        ground.is_sound().context("after the next run")
    }
}
