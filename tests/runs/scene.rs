//! A repository whose jobs are played by the actor, and a look at who is left.

use std::fs;
use std::path::PathBuf;

use rustix::process::Pid;
use serde_json::Value;

use crate::runner::actor_binary;
use crate::support::{Bench, Hash, Refs, Running, wait_for};

/// A bench with a gate and jobs of every kind. Dereferences to it.
pub(crate) struct Scene {
    bench: Bench,
}

impl std::ops::Deref for Scene {
    type Target = Bench;

    fn deref(&self) -> &Bench {
        &self.bench
    }
}

impl Scene {
    /// A gate without jobs, with room for four at once however small the machine is.
    pub(crate) fn new() -> Self {
        Self::on(Refs::Files)
    }

    /// The same with refs kept like that.
    pub(crate) fn on(refs: Refs) -> Self {
        let bench = Bench::with(refs, Hash::Sha1);
        bench.write("discern.toml", "[gate]\ntrunk = \"main\"\nparallel = 4\n");
        Self { bench }
    }

    /// The same with one job, `job`, whose part the actor plays; committed.
    pub(crate) fn of(part: &str) -> Self {
        let scene = Self::new();
        scene.act("job", part);
        scene.save("first");
        scene
    }

    /// The same with one job, `job`, that runs `script`; committed.
    pub(crate) fn running(script: &str) -> Self {
        let scene = Self::new();
        scene.job("job", script);
        scene.save("first");
        scene
    }

    /// Adds a job that plays `part`.
    pub(crate) fn act(&self, name: &str, part: &str) {
        self.configure(&format!("[jobs.{name}]\nrun = {:?}", self.words(part)));
    }

    /// The command that plays `part`, as a list.
    pub(crate) fn words(&self, part: &str) -> Vec<String> {
        let actor = actor_binary().to_str().expect("a plain path").to_owned();
        [actor, self.root().display().to_string()].into_iter().chain(part.split(' ').map(str::to_owned)).collect()
    }

    /// Starts `done` and waits until `job` says that it is ready.
    pub(crate) fn start_until_ready(&self) -> Running {
        let running = self.start(&["done"]);
        self.wait_for_output("job", "ready");
        running
    }

    /// What the newest run has of the output of `job`.
    pub(crate) fn output(&self, job: &str) -> String {
        let Some(log) = self.log(job) else { return String::new() };
        fs::read(log).map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The log of `job` in the newest run that has one.
    pub(crate) fn log(&self, job: &str) -> Option<PathBuf> {
        let runs = fs::read_dir(self.path().join(".git/discern/run")).ok()?.flatten();
        let logs = runs.map(|run| run.path().join(format!("{job}.1.log")));
        let dated = logs.filter_map(|log| Some((fs::metadata(&log).ok()?.modified().ok()?, log)));
        dated.max().map(|(_, log)| log)
    }

    /// Waits until `job` printed `text`.
    pub(crate) fn wait_for_output(&self, job: &str, text: &str) {
        wait_for(&format!("`{text}` of `{job}`"), || self.output(job).contains(text));
    }

    /// The supervisors that run, by the name of their job.
    pub(crate) fn supervisor(&self, job: &str) -> Pid {
        let lines = self.processes();
        let found = lines.iter().find(|(_, line)| line.starts_with(&format!("git-discern supervise {job} ")));
        Pid::from_raw(found.unwrap_or_else(|| panic!("{job} has no supervisor: {lines:?}")).0).expect("not 0")
    }

    /// Says why a test could not be carried out here.
    pub(crate) fn skip(&self, why: &str) {
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "skipped: {why}");
    }

    /// Every process that has to do with this bench: its command line, its environment or its directory says so.
    pub(crate) fn processes(&self) -> Vec<(i32, String)> {
        let root = self.root().to_str().expect("a plain path");
        let entries = fs::read_dir("/proc").expect("Linux").flatten();
        let of_bench = entries.filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
            let line = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
            let directory = fs::read_link(entry.path().join("cwd")).is_ok_and(|path| path.starts_with(root));
            let environment = String::from_utf8_lossy(&read("environ")).contains(root);
            (line.contains(root) || directory || environment).then_some((pid, line))
        });
        of_bench.collect()
    }

    /// Fails if a process of this bench is left.
    #[track_caller]
    pub(crate) fn assert_nobody_left(&self) {
        assert_eq!(self.processes(), [], "nobody may be left");
    }

    /// Waits until none is: for what only starts to end when somebody is dead.
    pub(crate) fn wait_until_nobody_left(&self) {
        wait_for("the end of every process", || self.processes().is_empty());
    }

    /// The record of `HEAD`'s last attempt.
    #[track_caller]
    pub(crate) fn record(&self) -> Value {
        let text = self.git(&["cat-file", "-p", &format!("refs/discern/attempt/{}", self.head())]);
        serde_json::from_str(&text).expect("a record")
    }

    /// Fails unless the last attempt settled itself as cancelled, for `reason` and with `status`.
    #[track_caller]
    pub(crate) fn assert_cancelled(&self, reason: &str, status: i32) {
        let state = &self.record()["state"];
        let facts = (&state["kind"], &state["outcome"], &state["by"]["reason"], &state["exit_status"]);
        let expected = ("finished".into(), "cancelled".into(), reason.into(), status.into());
        assert_eq!(facts, (&expected.0, &expected.1, &expected.2, &expected.3), "{state:#}");
        assert!(state["proof"].is_null());
    }
}
