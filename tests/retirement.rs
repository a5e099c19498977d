//! Each step of a real `done`, and of a real `standards`, is retired just before it (ADR 0421 in the words of this project:
//! whatever step finds the retirement, the run's outcome is the retirement).
//!
//! The binary pauses before a step (`os::hooks`); then another run, whose clock is a lease ahead, retires the attempt from
//! another worktree; then the first goes on. No real minute passes.

use std::path::{Path, PathBuf};

use test_case::test_case;

use crate::support::{Bench, Outcome, Place, Running, wait_for};

/// More steps than any run here has.
const STEPS_MAX: u32 = 40;

/// A run that pauses before one of its steps.
struct Paused {
    run: Running,
    folder: PathBuf,
}

impl Paused {
    /// Starts `arguments` and waits until it pauses at `point`, a name or a step's number; or how it ended, if it did not come
    /// there.
    fn start(place: &Place, arguments: &[&str], point: &str) -> Result<Self, Outcome> {
        let folder = place.path().join("..").join(format!("pause-{}-{point}", arguments[0]));
        std::fs::create_dir(&folder).expect("a fresh folder");
        place.command("mkfifo", &[&folder.join("go").to_string_lossy()]).status().expect("it starts");
        let paused_at = place
            .with_variable("DISCERN_TEST_PAUSE_AT", point)
            .with_variable("DISCERN_TEST_FOLDER", &folder.to_string_lossy());
        let mut run = paused_at.start(arguments);
        let mut ended = false;
        wait_for("a pause or an end", || {
            ended = run.has_ended();
            ended || folder.join("paused").exists()
        });
        if ended && !folder.join("paused").exists() { Err(run.wait()) } else { Ok(Self { run, folder }) }
    }

    /// Lets it go on to its end.
    fn go_on(self) -> Outcome {
        open_and_close(&self.folder.join("go"));
        self.run.wait()
    }
}

fn open_and_close(pipe: &Path) {
    drop(std::fs::OpenOptions::new().write(true).open(pipe).expect("the paused process reads it"));
}

/// Whether the candidate's attempt is recorded and unfinished.
fn is_unfinished(place: &Place, commit: &str) -> bool {
    let record = place.try_git(&["cat-file", "-p", &format!("refs/discern/attempt/{commit}")]);
    record.status == 0 && !record.stdout.contains("\"finished\"")
}

fn bench() -> (Bench, Place) {
    let bench = Bench::new();
    bench.gate();
    bench.job("ok", "true");
    bench.standard("lines", "down", "1000", "echo DISCERN_METRIC lines 3");
    bench.write("a", "0");
    bench.save("first");
    let other = bench.worktree("other");
    (bench, other)
}

/// Retires the run before each of its steps in turn, and says before how many it found something to retire.
fn retired_before_each_step(command: &str) -> u32 {
    let (bench, other) = bench();
    let other = other.with_variable("DISCERN_TEST_CLOCK_AHEAD_MS", "61000");
    let mut retired = 0;
    for number in 1..STEPS_MAX {
        bench.write("a", number.to_string());
        let commit = bench.save("next");
        let paused = match Paused::start(&bench, &[command, "--json"], &number.to_string()) {
            Ok(paused) => paused,
            Err(ended) => {
                assert_eq!(ended.status, 0, "{}", ended.shown());
                return retired;
            }
        };
        let unfinished = is_unfinished(&bench, &commit);
        other.write("b", number.to_string());
        other.save("other");
        let by = other.discern(&["done", "--json"]).exits(0).json();
        let ended = paused.go_on();
        if !unfinished {
            assert_eq!(ended.status, 0, "before step {number} there was nothing to retire\n{}", ended.shown());
            continue;
        }
        retired += 1;
        let document = ended.exits(4).json();
        assert_eq!(document["outcome"], "cancelled", "step {number}");
        assert_eq!(document["cancelled"]["by"], by["attempt"]["id"], "step {number}: {document:#}");
        assert_eq!(document["cancelled"]["reason"], "lease-lapsed", "step {number}");
        assert_eq!(document["cancelled"]["worktree"], "other", "step {number}");
        assert!(document["proof"].is_null(), "step {number}");
        let verdicts = document["requirements"].as_array().cloned().unwrap_or_default();
        assert!(verdicts.iter().all(|one| one["verdict"] != "failed"), "step {number}: {document:#}");
        assert_eq!(bench.discern(&["verify"]).status, 1, "no Proof outlives a retirement");
    }
    panic!("`{command}` has more than {STEPS_MAX} steps");
}

#[test]
fn a_done_that_is_retired_before_any_of_its_steps_reports_the_retirement_alone() {
    assert!(retired_before_each_step("done") >= 6);
}

#[test]
fn a_measurement_that_is_retired_before_any_of_its_steps_reports_the_retirement_alone() {
    assert!(retired_before_each_step("standards") >= 6);
}

#[test]
fn a_run_that_pauses_before_any_of_its_steps_and_is_not_retired_finishes() {
    for command in ["done", "standards"] {
        let (bench, _) = bench();
        for number in 1..STEPS_MAX {
            bench.write("a", number.to_string());
            bench.save("next");
            match Paused::start(&bench, &[command], &number.to_string()) {
                Ok(paused) => drop(paused.go_on().exits(0)),
                Err(ended) => {
                    drop(ended.exits(0));
                    break;
                }
            }
        }
    }
}

#[test]
fn a_run_whose_own_clock_is_a_lease_late_finishes_when_nobody_retired_it() {
    // The other looks with a clock that is not ahead: the claim is live, and pending is the answer.
    let (bench, other) = bench();
    let paused = Paused::start(&bench, &["done"], "5").unwrap_or_else(|ended| panic!("{}", ended.shown()));
    other.git(&["reset", "-q", "--hard", "main"]);
    drop(other.discern(&["done"]).exits(3));
    drop(paused.go_on().exits(0));
    drop(other.discern(&["done"]).exits(0));
}

/// A run of a job that is held up, and the commit that it is about.
fn held_up(bench: &Bench) -> Running {
    bench.gate();
    bench.job("ok", "read line < ../gate");
    bench.save("first");
    bench.sh("mkfifo ../gate").exits(0);
    let mut run = bench.start(&["done"]);
    run.wait_for_stderr("started   ok");
    run
}

#[test_case(&["wait", "--json"], "claim looked at#1"; "before its journal is looked at")]
#[test_case(&["recover", "--json"], "record written#1"; "before it is retired")]
fn a_run_that_ends_while_it_is_looked_at_is_over_and_nothing_else(arguments: &[&str], point: &str) {
    let bench = Bench::new();
    let run = held_up(&bench);
    // To a clock that is ahead the claim has lapsed: `wait` only looks, `recover` retires.
    let ahead = bench.with_variable("DISCERN_TEST_CLOCK_AHEAD_MS", "61000");
    let place = if arguments[0] == "wait" { &bench } else { &ahead };
    let paused = Paused::start(place, arguments, point).unwrap_or_else(|ended| panic!("{}", ended.shown()));
    bench.sh("echo >> ../gate").exits(0);
    run.wait().exits(0);
    let ended = paused.go_on().exits(0);
    assert!(!ended.stdout.contains("held") && !ended.stdout.contains("abandoned"), "{}", ended.shown());
    bench.discern(&["verify"]).exits(0);
}
