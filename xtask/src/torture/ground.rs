//! A repository in which things go wrong, and what must hold in it whatever did.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context as _, ensure};

use super::Setting;
use super::processes::{carries, wait_until};
use crate::process;

/// A repository `r` with three jobs and the worktree `other`.
pub(super) struct Ground {
    folder: tempfile::TempDir,
    /// What is said and noted about it lies elsewhere: its own disk may be full.
    notes: tempfile::TempDir,
    binary: PathBuf,
    pub(super) refs: &'static str,
}

/// The jobs of a ground, with how long each sleeps.
pub(super) const JOBS: [(&str, &str); 3] = [("one", "0.02"), ("two", "0.05"), ("three", "0.1")];

/// A receipt, as far as it is told from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Published {
    attempt: String,
    name: String,
    subject: String,
    passed: bool,
}

impl Ground {
    pub(super) fn new(refs: &'static str, binary: &Path) -> anyhow::Result<Self> {
        Self::inside(tempfile::tempdir()?, refs, binary)
    }

    /// The same in a folder that is there.
    pub(super) fn inside(folder: tempfile::TempDir, refs: &'static str, binary: &Path) -> anyhow::Result<Self> {
        let ground = Self { folder, notes: tempfile::tempdir()?, binary: binary.to_owned(), refs };
        fs::create_dir(ground.place("r"))?;
        ground.git("r", &["init", "-q", "-b", "main", &format!("--ref-format={refs}")])?;
        // Lines that nobody may write are kept, if somebody does.
        ground.git("r", &["config", "core.logAllRefUpdates", "always"])?;
        // A job says at its end that it got there, outside of the tree.
        let ends = ground.note("ends");
        let job = |(name, sleep): (&str, &str)| {
            let says = format!("echo $DISCERN_CANDIDATE {name} >> {}", ends.display());
            format!("[jobs.{name}]\nrun = \"sleep {sleep}; {says}\"\n")
        };
        let jobs = JOBS.map(job).concat();
        fs::write(ground.place("r/discern.toml"), format!("[gate]\ntrunk = \"main\"\nparallel = 2\n\n{jobs}"))?;
        fs::write(&ends, "")?;
        ground.commit("r", "first")?;
        ground.worktree("other")?;
        Ok(ground)
    }

    pub(super) fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file that is about the repository and not in it.
    pub(super) fn note(&self, name: &str) -> PathBuf {
        self.notes.path().join(name)
    }

    /// What the runs that were started have said so far.
    pub(super) fn said(&self) -> String {
        fs::read_to_string(self.note("said")).unwrap_or_default()
    }

    /// How often a run has said that its store gave no answer and that it goes on.
    pub(super) fn troubles(&self) -> usize {
        self.said().lines().filter(|line| line.starts_with("store ")).count()
    }

    /// Another worktree, on a branch of its own.
    pub(super) fn worktree(&self, name: &str) -> anyhow::Result<()> {
        self.git("r", &["worktree", "add", "-q", "-b", name, &format!("../{name}")]).map(drop)
    }

    /// A command in a place, whose streams go nowhere unless they are taken.
    pub(super) fn command(&self, place: &str, program: &Path, words: &[&str]) -> Command {
        let mut command = process::command(program);
        command.args(words).current_dir(self.place(place)).stdin(Stdio::null());
        for (name, value) in [("GIT_AUTHOR_NAME", "T"), ("GIT_AUTHOR_EMAIL", "t@example.com")] {
            command.env(name, value).env(name.replace("AUTHOR", "COMMITTER"), value);
        }
        command.env_remove("CI").env("TERM", "dumb");
        command
    }

    pub(super) fn git(&self, place: &str, words: &[&str]) -> anyhow::Result<String> {
        let output = self.command(place, Path::new("git"), words).output().context("start git")?;
        ensure!(output.status.success(), "`git {}`: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    /// Commits something new; its id.
    pub(super) fn commit(&self, place: &str, content: &str) -> anyhow::Result<String> {
        fs::write(self.place(place).join("content"), content)?;
        self.git(place, &["add", "-A"])?;
        self.git(place, &["commit", "-q", "-m", "next"])?;
        self.git(place, &["rev-parse", "HEAD"])
    }

    /// The tool's binary.
    pub(super) fn tool(&self) -> PathBuf {
        self.binary.clone()
    }

    pub(super) fn discern_command(&self, place: &str, words: &[&str]) -> Command {
        self.command(place, &self.binary, words)
    }

    pub(super) fn discern(&self, place: &str, words: &[&str]) -> anyhow::Result<Output> {
        self.discern_command(place, words).output().context("start the tool")
    }

    /// Starts a run; what it says is in [`Ground::said`].
    pub(super) fn start(&self, place: &str, words: &[&str], variables: &[(&str, &str)]) -> anyhow::Result<Child> {
        let mut command = self.discern_command(place, words);
        command.envs(variables.iter().copied());
        self.begin(command)
    }

    /// The same with a command that was made ready.
    pub(super) fn begin(&self, mut command: Command) -> anyhow::Result<Child> {
        let said = fs::File::options().create(true).append(true).open(self.note("said"))?;
        command.stdout(Stdio::null()).stderr(said).spawn().context("start the tool")
    }

    /// What is recorded at a commit now, if anything is.
    pub(super) fn record(&self, commit: &str) -> Option<serde_json::Value> {
        let name = format!("refs/discern/attempt/{commit}");
        let text = self.git("r", &["cat-file", "-p", &name]).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Whether a commit has an unfinished attempt.
    pub(super) fn is_claimed(&self, commit: &str) -> bool {
        self.record(commit).is_some_and(|record| record["state"]["kind"] != "finished")
    }

    /// The receipts that the record of a commit holds.
    pub(super) fn published(&self, commit: &str) -> Vec<Published> {
        let record = self.record(commit).unwrap_or_default();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let receipts = record["receipts"].as_array().cloned().unwrap_or_default();
        receipts
            .iter()
            .map(|receipt| Published {
                attempt: text(&record["attempt"]["id"]),
                name: text(&receipt["name"]),
                subject: text(&receipt["subject"]),
                passed: receipt["verdict"] == "passed",
            })
            .collect()
    }

    /// What must hold whatever happened.
    pub(super) fn is_sound(&self) -> anyhow::Result<()> {
        self.git("r", &["fsck", "--no-progress", "--no-dangling"]).map(drop)?;
        // A ref that names a missing object breaks listing.
        let refs = self.git("r", &["for-each-ref", "--format=%(refname) %(objecttype)"])?;
        for name in refs.lines().filter_map(|line| line.split(' ').next()).filter(|it| it.starts_with("refs/discern")) {
            let reflog = self.command("r", Path::new("git"), &["reflog", "exists", name]).output()?;
            ensure!(!reflog.status.success(), "`{name}` has a reflog");
        }
        Ok(())
    }

    /// Nothing of a commit's jobs is running any more.
    pub(super) fn nobody_is_left(&self, commit: &str) -> anyhow::Result<()> {
        wait_until("no process is left", || Ok(!carries(commit)))
    }

    /// Each of these receipts is still there, in the record or in the ledger.
    pub(super) fn nothing_is_lost(&self, commit: &str, published: &[Published]) -> anyhow::Result<()> {
        let now = self.published(commit);
        for receipt in published.iter().filter(|receipt| !now.contains(receipt)) {
            let words = ["grep", "-h", "-F", &receipt.attempt, "refs/discern/ledger", "--", "receipt/"];
            let lines = self.git("r", &words).unwrap_or_default();
            ensure!(lines.contains(&receipt.subject), "the published receipt of `{}` is lost", receipt.name);
        }
        Ok(())
    }

    /// A passing receipt only for a job that got to its end, and a Proof only where each did. A job whose supervisor was killed
    /// has failed by a signal, which is told and never replayed.
    pub(super) fn nothing_is_made_up(&self, commit: &str) -> anyhow::Result<()> {
        let ends = fs::read_to_string(self.note("ends"))?;
        let ended = |job: &str| ends.contains(&format!("{commit} {job}\n"));
        for receipt in self.published(commit).iter().filter(|receipt| receipt.passed) {
            ensure!(ended(&receipt.name), "a receipt for `{}`, which never got to its end", receipt.name);
        }
        if self.discern("r", &["verify", commit])?.status.success() {
            for (job, _) in JOBS {
                ensure!(ended(job), "proven, and `{job}` never got to its end");
            }
        }
        Ok(())
    }

    /// How often a job of a commit got to its end.
    pub(super) fn ends_of(&self, commit: &str, job: &str) -> anyhow::Result<usize> {
        let ends = fs::read_to_string(self.note("ends"))?;
        Ok(ends.lines().filter(|line| *line == format!("{commit} {job}")).count())
    }

    /// The next `done`, from these places in turn, proceeds; only a lock that a killed git left may have to be broken.
    pub(super) fn goes_on(&self, places: &[&str], setting: &mut Setting) -> anyhow::Result<()> {
        for place in places {
            let mut answer = self.discern(place, &["done"])?;
            let said = String::from_utf8_lossy(&answer.stderr).into_owned();
            if answer.status.code() == Some(5) && said.contains("lock") {
                // A git that was killed with a lock in its hand (C25): named, and broken on demand.
                setting.meet(format!("a killed git's lock had to be broken by hand ({})", self.refs));
                let named = reference(&said).unwrap_or_else(|| "refs/discern/ledger".to_owned());
                let recovered = self.discern(place, &["recover", "--break-lock", &named])?;
                ensure!(recovered.status.success(), "{}", String::from_utf8_lossy(&recovered.stderr));
                answer = self.discern(place, &["done"])?;
            }
            let said = String::from_utf8_lossy(&answer.stderr);
            ensure!(answer.status.success(), "the next `done` in `{place}` ended with {}: {said}", answer.status);
            if said.contains("retired") {
                setting.meet(format!("an abandoned claim was retired ({})", self.refs));
            }
        }
        Ok(())
    }

    /// A git that was killed with the one lock of a reftable repository in its hand, before that was noted, stops everybody's
    /// git there (C25): it is named, and broken on demand.
    pub(super) fn break_table_lock(&self, setting: &mut Setting) -> anyhow::Result<()> {
        let lock = self.place("r").join(".git/reftable/tables.list.lock");
        if !lock.exists() {
            return Ok(());
        }
        // Whatever is provably dead goes by itself.
        drop(self.discern("r", &["recover"])?);
        if !lock.exists() {
            setting.meet("the lock of the tables was provably dead, and removed");
            return Ok(());
        }
        let mut named = None;
        wait_until("the lock is named", || {
            let seen = self.discern("r", &["recover", "--dry-run"])?;
            named = reference(&String::from_utf8_lossy(&seen.stdout));
            Ok(named.is_some() || !lock.exists())
        })?;
        let Some(named) = named else { return Ok(()) };
        let recovered = self.discern("r", &["recover", "--break-lock", &named])?;
        ensure!(recovered.status.success(), "{}", String::from_utf8_lossy(&recovered.stderr));
        ensure!(!lock.exists(), "the lock of the tables is still there");
        setting.meet("the lock of the tables had to be broken by hand");
        Ok(())
    }

    /// Keeps the folder for a look at it.
    pub(super) fn keep(&mut self) -> PathBuf {
        self.folder.disable_cleanup(true);
        self.notes.disable_cleanup(true);
        self.folder.path().to_owned()
    }
}

/// The ref that a message names.
fn reference(said: &str) -> Option<String> {
    let at = said.find("refs/discern/")?;
    let end = |letter: char| letter.is_whitespace() || [',', '`', '\'', ':'].contains(&letter);
    Some(said[at..].split(end).next().unwrap_or_default().trim_end_matches(".lock").to_owned())
}
