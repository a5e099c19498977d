//! What happens to a job when its run, its supervisor or both are killed.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::PathBuf;

use git_discern::engine::job_end::Exit;
use git_discern::os::descendants::end_leftovers;
use rustix::process::Signal;
use test_case::test_case;

use super::stage::{Stage, kill, parent_of, shell, state_of, wait_until};

#[test_case("ignore-signals")]
#[test_case("hide-and-linger")]
fn the_death_of_a_supervisor_ends_its_job(part: &str) {
    let stage = Stage::new();
    let mut bystander = stage.start(&shell("echo ready; sleep 60"));
    bystander.wait_for("ready");
    let mut job = stage.start(&stage.actor(part));
    job.wait_for("ready");
    let pid = job.wait_started();
    kill(parent_of(pid), Signal::KILL);
    let end = job.finish();
    stage.assert_empty();
    assert_eq!(end.exit, Exit::Unknown { why: "its supervisor was killed by SIGKILL (signal 9)".into() });
    assert!(end.left_behind >= 1);
    // Another job of the same run goes on.
    let other = bystander.wait_started();
    assert!(state_of(other).is_some_and(|state| state != 'Z'));
    bystander.running.kill();
    bystander.finish();
}

#[test]
fn a_job_may_kill_its_own_supervisor_and_gains_nothing() {
    let stage = Stage::new();
    let (end, _) = stage.run(&stage.actor("kill-parent 9"));
    stage.assert_empty();
    assert_eq!(end.exit, Exit::Unknown { why: "its supervisor was killed by SIGKILL (signal 9)".into() });
}

#[test]
fn a_dropped_job_is_killed() {
    let stage = Stage::new();
    let mut job = stage.start(&stage.actor("ignore-signals"));
    job.wait_for("ready");
    drop(job);
    wait_until("its end", || stage.survivors().is_empty());
}

#[test_case("ignore-signals")]
#[test_case("hide-and-linger")]
#[test_case("bomb 20")]
fn the_death_of_the_run_ends_its_jobs(part: &str) {
    let stage = Stage::new();
    let mut run = RunProcess::start(&stage, part);
    run.die();
    wait_until("the end of its jobs", || stage.survivors().is_empty());
}

#[test]
fn the_lock_that_a_supervisor_holds_is_free_only_when_the_last_descendant_is_gone() {
    let stage = Stage::new();
    let mut run = RunProcess::start(&stage, "ignore-signals");
    let lock = File::open(stage.folder().join("lock")).unwrap();
    assert!(lock.try_lock().is_err(), "the run holds it");
    // A supervisor that can't react keeps it, as long as the job lives.
    let supervisor = run.supervisor();
    kill(supervisor, Signal::STOP);
    run.die();
    assert!(lock.try_lock().is_err(), "the supervisor holds it");
    assert!(!stage.survivors().is_empty());
    kill(supervisor, Signal::CONT);
    wait_until("the lock", || lock.try_lock().is_ok());
    stage.assert_empty();
}

#[test]
fn if_run_and_supervisor_are_both_killed_the_attempts_leftovers_are_found_and_ended() {
    let stage = Stage::new();
    let other = Stage::new();
    let mut bystander = other.start(&other.actor("ignore-signals"));
    bystander.wait_for("ready");
    let mut run = RunProcess::start(&stage, "bomb 7");
    let supervisor = run.supervisor();
    kill(supervisor, Signal::STOP);
    run.die();
    kill(supervisor, Signal::KILL);
    wait_until("the supervisor's end", || state_of(supervisor).is_none_or(|state| state == 'Z'));
    // Some of them may still be about to start.
    wait_until("all seven", || stage.survivors().len() == 7);
    let ending = end_leftovers(stage.attempt);
    assert_eq!((ending.ended, ending.out_of_reach), (7, 0));
    stage.assert_empty();
    assert_eq!(end_leftovers(stage.attempt).ended, 0);
    assert_eq!(other.survivors().len(), 1, "another attempt's job is none of its business");
    bystander.running.kill();
    bystander.finish();
}

/// A run in a process of its own, which can be killed.
struct RunProcess {
    process: std::process::Child,
    job: i32,
}

impl RunProcess {
    #[expect(clippy::disallowed_methods, reason = "plays a run that can be killed")]
    fn start(stage: &Stage, part: &str) -> Self {
        let process = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "runner::death::plays_a_run_for_the_tests_above", "--nocapture"])
            .env("DISCERN_TEST_FOLDER", stage.folder())
            .env("DISCERN_TEST_ATTEMPT", stage.attempt.to_string())
            .env("DISCERN_TEST_PART", part)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let started = stage.folder().join("started");
        wait_until("the run's job", || started.exists());
        let job = fs::read_to_string(started).unwrap().parse().unwrap();
        Self { process, job }
    }

    fn supervisor(&self) -> i32 {
        parent_of(self.job)
    }

    fn die(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// No test by itself: the process that the others start, with their wishes in its environment, and kill.
#[test]
#[expect(clippy::disallowed_methods, reason = "reads what it is to play")]
fn plays_a_run_for_the_tests_above() {
    let Some(folder) = std::env::var_os("DISCERN_TEST_FOLDER").map(PathBuf::from) else { return };
    let attempt = std::env::var("DISCERN_TEST_ATTEMPT").unwrap().parse().unwrap();
    let part = std::env::var("DISCERN_TEST_PART").unwrap();
    let stage = Stage::shared(&folder, attempt);
    let lock = File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let mut job = stage.start_with(&stage.actor(&part), &folder.join("log"), None, &[lock.as_fd()]).unwrap();
    let pid = job.wait_started();
    let expected = match part.as_str() {
        "hide-and-linger" => 2,
        bomb => bomb.strip_prefix("bomb ").map_or(1, |number| number.parse().unwrap()),
    };
    wait_until("its job", || job.output().matches("ready").count() == expected);
    // Whole at once, for whoever waits for it.
    fs::write(folder.join("starting"), pid.to_string()).unwrap();
    fs::rename(folder.join("starting"), folder.join("started")).unwrap();
    job.finish();
}
