//! `cargo xtask torture`: real runs that are killed at random instants, in repositories where others are at work.
//!
//! Each round starts a `done`, lets something else happen in the repository (gc, packing, worktrees, commits, a fetch), kills the
//! tool, its supervisors, its git children or all of them after a random time, and then looks: is the repository sound, is no
//! process left, is what is proven really run, does the next `done` from another worktree go on by itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use rustix::process::{Pid, Signal};

use crate::process;

/// Its arguments.
#[derive(Debug, Args)]
pub(crate) struct Torture {
    /// How many runs are killed
    #[arg(long, default_value_t = 100)]
    pub(crate) rounds: u32,
    /// What decides about instants, victims and company
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// How long anything may take before it counts as stuck: a run that can't write tries to settle for a whole lease (C7).
const LIMIT: Duration = Duration::from_secs(100);

/// Who is killed.
const VICTIMS: [&str; 4] = ["the tool", "its supervisors", "its git children", "all of them"];

/// Runs it.
pub(crate) fn run(args: &Torture) -> anyhow::Result<()> {
    let (_folder, binary) = process::binary()?;
    let mut grounds = [Ground::new("files", &binary)?, Ground::new("reftable", &binary)?];
    let mut random = Random(args.seed);
    let mut met = BTreeMap::new();
    for round in 0..args.rounds {
        let ground = &mut grounds[round as usize % 2];
        if let Err(error) = ground.round(round, &mut random, &mut met) {
            let kept = ground.keep();
            bail!("round {round} of seed {}: {error:#}; the repository is kept at {}", args.seed, kept.display());
        }
    }
    println!("torture: {} rounds from seed {}, all as they should be", args.rounds, args.seed);
    for (what, times) in met {
        println!("  {times:>6}  {what}");
    }
    Ok(())
}

/// Random numbers from a seed (splitmix64, shortened).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)) % limit
    }
}

/// A repository with two worktrees, in which runs are killed again and again.
struct Ground {
    folder: tempfile::TempDir,
    binary: PathBuf,
    refs: &'static str,
}

type Met = BTreeMap<String, u32>;

impl Ground {
    fn new(refs: &'static str, binary: &Path) -> anyhow::Result<Self> {
        let ground = Self { folder: tempfile::tempdir()?, binary: binary.to_owned(), refs };
        fs::create_dir(ground.place("r"))?;
        ground.git("r", &["init", "-q", "-b", "main", &format!("--ref-format={refs}")])?;
        // A job says at its end that it got there, outside of the tree.
        let ends = ground.folder.path().join("ends");
        let job = |name: &str, sleep: &str| {
            let says = format!("echo $DISCERN_CANDIDATE {name} >> {}", ends.display());
            format!("[jobs.{name}]\nrun = \"sleep {sleep}; {says}\"\n")
        };
        let jobs = [job("one", "0.02"), job("two", "0.05"), job("three", "0.1")].concat();
        fs::write(ground.place("r").join("discern.toml"), format!("[gate]\ntrunk = \"main\"\nparallel = 2\n\n{jobs}"))?;
        fs::write(&ends, "")?;
        ground.commit("r", "first")?;
        ground.git("r", &["worktree", "add", "-q", "-b", "other", "../other"])?;
        Ok(ground)
    }

    fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn output(&self, place: &str, program: &Path, words: &[&str]) -> anyhow::Result<Output> {
        let mut command = process::command(program);
        command.args(words).current_dir(self.place(place)).stdin(Stdio::null());
        for (name, value) in [("GIT_AUTHOR_NAME", "T"), ("GIT_AUTHOR_EMAIL", "t@example.com")] {
            command.env(name, value).env(name.replace("AUTHOR", "COMMITTER"), value);
        }
        command.env_remove("CI").env("TERM", "dumb");
        command.output().with_context(|| format!("start `{}`", program.display()))
    }

    fn git(&self, place: &str, words: &[&str]) -> anyhow::Result<String> {
        let output = self.output(place, Path::new("git"), words)?;
        ensure!(output.status.success(), "`git {}`: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    /// Commits something new; its id.
    fn commit(&self, place: &str, content: &str) -> anyhow::Result<String> {
        fs::write(self.place(place).join("content"), content)?;
        self.git(place, &["add", "-A"])?;
        self.git(place, &["commit", "-q", "-m", "next"])?;
        self.git(place, &["rev-parse", "HEAD"])
    }

    fn discern(&self, place: &str, words: &[&str]) -> anyhow::Result<Output> {
        self.output(place, &self.binary, words)
    }

    fn round(&mut self, round: u32, random: &mut Random, met: &mut Met) -> anyhow::Result<()> {
        let commit = self.commit("r", &format!("{round}"))?;
        let mut company = self.company(random)?;
        let mut run = process::command(&self.binary);
        run.arg("done").current_dir(self.place("r")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut run = run.env_remove("CI").spawn()?;
        pause(Duration::from_micros(random.below(350_000)));
        let victim = random.below(VICTIMS.len() as u64) as usize;
        let pid = Pid::from_child(&run);
        let killed = kill(victim, pid);
        *met.entry(format!("{}: {killed} killed", VICTIMS[victim])).or_default() += 1;
        let status = end(&mut run)?;
        end(&mut company)?;
        self.is_sound().context("after the kill")?;
        wait_until("no process is left", || Ok(!carries(&commit)))?;
        self.is_proven_only_if_run(&commit)?;
        *met.entry(format!("the run ended with {status}")).or_default() += 1;
        self.goes_on(round, met)?;
        self.is_sound().context("after the next run")
    }

    /// Somebody else at work in the same repository.
    fn company(&self, random: &mut Random) -> anyhow::Result<Child> {
        let script = match random.below(6) {
            0 => "git gc -q",
            1 => "git pack-refs --all",
            2 => "git worktree add -q --detach ../third && git worktree remove --force ../third",
            3 => "git commit -q --allow-empty -m other --author='T <t@example.com>'",
            4 => "git fetch -q ../r",
            _ => "git gc -q --prune=now",
        };
        let mut command = process::command("sh");
        command.args(["-c", &format!("{script} >/dev/null 2>&1")]).current_dir(self.place("other"));
        command.env("GIT_COMMITTER_NAME", "T").env("GIT_COMMITTER_EMAIL", "t@example.com");
        Ok(command.spawn()?)
    }

    fn is_sound(&self) -> anyhow::Result<()> {
        self.git("r", &["fsck", "--no-progress", "--no-dangling"]).map(drop)?;
        // A ref that names a missing object breaks listing.
        self.git("r", &["for-each-ref", "--format=%(objecttype)"]).map(drop)
    }

    /// A Proof only where each job got to its end.
    fn is_proven_only_if_run(&self, commit: &str) -> anyhow::Result<()> {
        if self.discern("r", &["verify"])?.status.success() {
            let ends = fs::read_to_string(self.place("ends"))?;
            for job in ["one", "two", "three"] {
                ensure!(ends.contains(&format!("{commit} {job}")), "proven, and `{job}` never got to its end");
            }
        }
        Ok(())
    }

    /// The next `done` from another worktree proceeds at once, and so does the one whose run was killed.
    /// A git that was killed with the one lock of a reftable repository in its hand stops everybody's git there (C25). The lock
    /// is empty, so nothing proves whose it is: it is named, and broken on demand.
    fn break_table_lock(&self, met: &mut Met) -> anyhow::Result<()> {
        let lock = self.place("r").join(".git/reftable/tables.list.lock");
        if !lock.exists() {
            return Ok(());
        }
        // One that is fresh may be a live git's, and is not named yet.
        let mut named = String::new();
        wait_until("the lock is named", || {
            let seen = self.discern("r", &["recover", "--dry-run"])?;
            named = reference(&String::from_utf8_lossy(&seen.stdout)).unwrap_or_default();
            Ok(!named.is_empty())
        })?;
        let recovered = self.discern("r", &["recover", "--break-lock", &named])?;
        ensure!(recovered.status.success(), "{}", String::from_utf8_lossy(&recovered.stderr));
        ensure!(!lock.exists(), "the lock of the tables is still there");
        *met.entry("the lock of the tables had to be broken".to_owned()).or_default() += 1;
        Ok(())
    }

    fn goes_on(&self, round: u32, met: &mut Met) -> anyhow::Result<()> {
        self.break_table_lock(met)?;
        self.commit("other", &format!("other {round}"))?;
        for place in ["other", "r"] {
            let mut answer = self.discern(place, &["done"])?;
            let said = String::from_utf8_lossy(&answer.stderr).into_owned();
            if answer.status.code() == Some(5) && said.contains("lock") {
                // A git that was killed with a lock in its hand (C25): named, and broken on demand.
                *met.entry("a git child's lock had to be broken".to_owned()).or_default() += 1;
                let recovered = self.discern(place, &["recover", "--break-lock", &reference(&said)?])?;
                ensure!(recovered.status.success(), "{}", String::from_utf8_lossy(&recovered.stderr));
                answer = self.discern(place, &["done"])?;
            }
            let said = String::from_utf8_lossy(&answer.stderr);
            ensure!(answer.status.success(), "the next `done` in `{place}` ended with {}: {said}", answer.status);
            if said.contains("retired") {
                *met.entry(format!("an abandoned claim was retired ({})", self.refs)).or_default() += 1;
            }
        }
        Ok(())
    }

    /// Keeps the folder for a look at it.
    fn keep(&mut self) -> PathBuf {
        self.folder.disable_cleanup(true);
        self.folder.path().to_owned()
    }
}

/// The ref that a message names.
fn reference(said: &str) -> anyhow::Result<String> {
    let at = said.find("refs/discern/").context("the message names no ref")?;
    let end = |letter: char| letter.is_whitespace() || [',', '`', '\''].contains(&letter);
    Ok(said[at..].split(end).next().unwrap_or_default().trim_end_matches(".lock").to_owned())
}

/// Kills the victims; how many there were.
fn kill(victim: usize, tool: Pid) -> usize {
    let named = |pid: &Pid, name: &str| {
        let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(name)
    };
    let below = descendants(tool);
    let victims: Vec<Pid> = match victim {
        0 => vec![tool],
        1 => below.into_iter().filter(|pid| named(pid, "supervise")).collect(),
        2 => below.into_iter().filter(|pid| named(pid, "update-ref") || named(pid, "git\0")).collect(),
        _ => std::iter::once(tool).chain(below).collect(),
    };
    victims.into_iter().filter(|pid| rustix::process::kill_process(*pid, Signal::KILL).is_ok()).count()
}

/// Every descendant of a process.
fn descendants(of: Pid) -> Vec<Pid> {
    let raw = of.as_raw_nonzero();
    let children = fs::read_to_string(format!("/proc/{raw}/task/{raw}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|child| Pid::from_raw(child.parse().ok()?));
    children.flat_map(|child| std::iter::once(child).chain(descendants(child))).collect()
}

/// Whether any process has this candidate in its environment.
fn carries(commit: &str) -> bool {
    let wanted = format!("DISCERN_CANDIDATE={commit}");
    let Ok(processes) = fs::read_dir("/proc") else { return false };
    processes.flatten().any(|process| {
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    })
}

/// Waits for a process, and kills it when it is stuck.
fn end(child: &mut Child) -> anyhow::Result<std::process::ExitStatus> {
    let mut status = None;
    let ended = wait_until("it ends", || {
        status = child.try_wait()?;
        Ok(status.is_some())
    });
    if ended.is_err() {
        child.kill()?;
    }
    ended?;
    status.context("it ended")
}

#[expect(clippy::disallowed_methods, reason = "real processes take real time")]
fn wait_until(what: &str, mut holds: impl FnMut() -> anyhow::Result<bool>) -> anyhow::Result<()> {
    let began = Instant::now();
    while !holds()? {
        ensure!(began.elapsed() < LIMIT, "{what}: not within {LIMIT:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a random instant is what this is about")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}
