//! Ctrl-C, signals, `stop`, Ctrl-Z, closed windows: nobody is left, the attempt is settled, and the status is never 0.

use std::fs::{self, File};

use git_discern::engine::job::GRACE_MS;
use rustix::process::{Signal, kill_process};
use test_case::test_case;

use super::scene::Scene;
use crate::runner::{now_ms, state_of};
use crate::support::{Terminal, wait_for};

#[test_case("exit-on-term")]
#[test_case("bomb 30")]
#[test_case("hide-and-linger")]
fn the_first_ctrl_c_ends_the_jobs_settles_and_exits_130(part: &str) {
    let scene = Scene::of(part);
    let mut terminal = Terminal::new(80, 24);
    let running = terminal.start(&scene.with_variable("TERM", "xterm"), &["done"]);
    scene.wait_for_output("job", "ready");
    terminal.wait_for("running", 1);
    terminal.enter(b"\x03");
    let _ = terminal.follow(running).exits(130);
    scene.assert_nobody_left();
    scene.assert_cancelled("signal", 130);
    let text = terminal.text();
    assert!(text.contains("SIGINT: stopping the jobs"), "{text}");
    assert!(!text.contains("\x1b[?"), "no mode of the terminal was changed: {text}");
}

#[test]
fn a_second_ctrl_c_kills_the_jobs_at_once_and_still_settles() {
    let scene = Scene::of("ignore-signals");
    let mut terminal = Terminal::new(80, 24);
    let running = terminal.start(&scene, &["done"]);
    scene.wait_for_output("job", "ready");
    terminal.enter(b"\x03");
    terminal.wait_for("stopping", 1);
    let second_ms = now_ms();
    terminal.enter(b"\x03");
    let _ = terminal.follow(running).exits(130);
    assert!(now_ms() - second_ms < GRACE_MS, "it did not wait for the job's grace");
    scene.assert_nobody_left();
    scene.assert_cancelled("signal", 130);
}

#[test_case(Signal::INT, 130)]
#[test_case(Signal::TERM, 143)]
#[test_case(Signal::HUP, 129)]
fn a_signal_is_the_exit_status_and_leaves_nobody(signal: Signal, status: i32) {
    let scene = Scene::of("bomb 10");
    let running = scene.start_until_ready();
    wait_for("all of the bomb", || scene.output("job").matches("ready").count() == 10);
    running.signal(signal);
    let _ = running.wait().exits(status);
    scene.assert_nobody_left();
    scene.assert_cancelled("signal", status);
    let again = scene.discern(&["status", "--json"]).json();
    assert_eq!(again["claims"].as_array().map(Vec::len), Some(0), "{again:#}");
}

#[test]
fn ten_signals_in_a_row_are_one_settlement() {
    let scene = Scene::running("trap '' INT TERM; echo ready; sleep 300");
    let running = scene.start_until_ready();
    for _ in 0..10 {
        running.signal(Signal::INT);
    }
    let _ = running.wait().exits(130);
    scene.assert_nobody_left();
    scene.assert_cancelled("signal", 130);
}

#[test]
fn stop_ends_a_run_from_any_worktree_as_sigterm_would() {
    let scene = Scene::of("exit-on-term");
    let other = scene.worktree("other");
    let running = scene.start_until_ready();
    let handle = scene.record()["attempt"]["executor"]["journal"]["handle"].as_str().expect("a handle").to_owned();
    let _ = other.discern(&["stop", &handle]).exits(0);
    let _ = running.wait().exits(143);
    scene.assert_nobody_left();
    scene.assert_cancelled("stopped", 143);
    assert!(scene.output("job").contains("tidied up"));
}

#[test]
fn a_window_that_is_closed_ends_the_run_as_sighup() {
    let scene = Scene::of("ignore-signals");
    let terminal = Terminal::new(80, 24);
    let running = terminal.start(&scene.with_variable("TERM", "xterm"), &["done"]);
    scene.wait_for_output("job", "ready");
    drop(terminal);
    let _ = running.wait().exits(129);
    scene.assert_nobody_left();
    scene.assert_cancelled("signal", 129);
}

#[test]
fn a_run_that_ignores_sighup_as_nohup_asks_for_survives_its_window() {
    let scene = Scene::running("echo ready; while [ ! -e ../go ]; do sleep 0.05; done");
    let terminal = Terminal::new(80, 24);
    let running = terminal.start_program(&scene, &["sh", "-c", "trap '' HUP; exec git-discern done"]);
    scene.wait_for_output("job", "ready");
    drop(terminal);
    scene.write("../go", "");
    let _ = running.wait().exits(0);
    assert_eq!(scene.record()["state"]["outcome"], "passed");
}

#[test_case(&["done", "--wait", "--json"])]
#[test_case(&["run", "--json"])]
fn a_run_that_waits_for_its_worktree_is_interrupted_just_as_well(arguments: &[&str]) {
    let scene = Scene::of("sleep");
    let first = scene.start(&["run"]);
    scene.wait_for_output("job", "ready");
    let mut second = scene.start(arguments);
    second.wait_for_stderr("waiting");
    second.signal(Signal::INT);
    let document = second.wait().exits(130).json();
    assert_eq!(document["cancelled"]["reason"], "signal", "{document:#}");
    first.signal(Signal::TERM);
    let _ = first.wait().exits(143);
    scene.assert_nobody_left();
}

#[test]
fn an_interrupted_run_that_can_not_settle_gives_up_after_two_seconds() {
    let scene = Scene::of("exit-on-term");
    let running = scene.start_until_ready();
    let lock = scene.path().join(format!(".git/refs/discern/attempt/{}.lock", scene.head()));
    File::create(&lock).expect("nobody holds it");
    let interrupted_ms = now_ms();
    running.signal(Signal::INT);
    let outcome = running.wait().exits(130);
    let took_ms = now_ms() - interrupted_ms;
    assert!(took_ms < 6_000, "{took_ms} ms\n{}", outcome.shown());
    assert!(outcome.stderr.contains("could not be settled"), "{}", outcome.shown());
    scene.assert_nobody_left();
    // Nothing by hand is needed once the lock is gone.
    fs::remove_file(lock).expect("it is there");
    scene.gate();
    scene.job("job", "true");
    scene.save("harmless");
    let outcome = scene.discern(&["done"]).exits(0);
    assert!(outcome.stderr.contains("its process is gone"), "{}", outcome.shown());
}

#[test]
fn a_store_that_can_not_be_written_is_said_within_five_seconds_and_nothing_was_run() {
    let scene = Scene::running("touch ../ran");
    scene.write(".git/refs/discern", "in the way");
    let began_ms = now_ms();
    let outcome = scene.discern(&["done"]).exits(5);
    let took_ms = now_ms() - began_ms;
    assert!(took_ms < 6_000, "{took_ms} ms");
    assert!(outcome.stderr.contains("non-directory in the way"), "the cause is said: {}", outcome.shown());
    assert!(!scene.has("../ran"));
}

#[test]
fn ctrl_z_stops_jobs_and_their_clocks_and_fg_lets_them_go_on() {
    let scene = Scene::running("echo ready; echo $$ >../pid; while [ ! -e ../go ]; do sleep 0.05; done");
    scene.configure("timeout = 15");
    scene.save("with a time limit");
    let mut terminal = Terminal::new(80, 24);
    let shell = terminal.start_program(&scene, &["bash", "--norc", "--noprofile", "-i"]);
    terminal.enter(b"git-discern done; echo status-$?\n");
    scene.wait_for_output("job", "ready");
    wait_for("its number", || scene.has("../pid") && scene.read("../pid").ends_with('\n'));
    let job: i32 = scene.read("../pid").trim().parse().expect("a number");
    terminal.enter(b"\x1a");
    wait_for("its stop", || state_of(job) == Some('T'));
    terminal.wait_for("Stopped", 1);
    // For longer than the job may take.
    let stopped_ms = now_ms();
    wait_for("sixteen seconds", || now_ms() - stopped_ms > 16_000);
    scene.write("../go", "");
    assert_eq!(state_of(job), Some('T'), "it stands still");
    terminal.enter(b"fg; echo status-$?\n");
    terminal.wait_for("resumed", 1);
    terminal.wait_for("status-0", 1);
    terminal.enter(b"exit\n");
    let _ = terminal.follow(shell).exits(0);
    assert_eq!(scene.record()["state"]["outcome"], "passed");
    scene.assert_nobody_left();
}

#[test]
fn a_stopped_run_ends_when_it_is_told_to_and_goes_on() {
    let scene = Scene::of("ignore-signals");
    let running = scene.start_until_ready();
    running.signal(Signal::TSTP);
    let pid = running.pid();
    wait_for("its stop", || state_of(pid.as_raw_nonzero().get()) == Some('T'));
    running.signal(Signal::TERM);
    running.signal(Signal::CONT);
    let _ = running.wait().exits(143);
    scene.assert_nobody_left();
}

#[test]
fn the_death_of_a_run_ends_its_jobs_and_the_next_run_starts_at_once() {
    let scene = Scene::of("bomb 30");
    let running = scene.start_until_ready();
    running.signal(Signal::KILL);
    let _ = running.wait().exits(137);
    scene.wait_until_nobody_left();
    scene.gate();
    scene.job("job", "true");
    scene.save("harmless");
    let outcome = scene.discern(&["done"]).exits(0);
    assert!(outcome.stderr.contains("its process is gone"), "{}", outcome.shown());
}

#[test]
fn the_death_of_a_supervisor_ends_its_job_alone() {
    let scene = Scene::new();
    scene.act("doomed", "hide-and-linger");
    scene.job("other", "echo ready; while [ ! -e ../go ]; do sleep 0.05; done");
    scene.save("first");
    let running = scene.start(&["done", "--json"]);
    scene.wait_for_output("doomed", "ready");
    scene.wait_for_output("other", "ready");
    kill_process(scene.supervisor("doomed"), Signal::KILL).expect("it lives");
    wait_for("the end of its job", || !scene.processes().iter().any(|(_, line)| line.contains(" hide-and-linger ")));
    scene.write("../go", "");
    let document = running.wait().exits(1).json();
    let [doomed, other] = [0, 1].map(|at| document["requirements"][at].clone());
    assert_eq!((&doomed["verdict"], &other["verdict"]), (&"failed".into(), &"passed".into()), "{document:#}");
    let reason = doomed["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("its supervisor was killed by SIGKILL"), "{reason}");
    scene.assert_nobody_left();
}

#[test_case(&["recover"])]
#[test_case(&["done"])]
fn if_run_and_supervisor_are_killed_the_next_command_ends_what_they_left(command: &[&str]) {
    let scene = Scene::of("bomb 7");
    let running = scene.start_until_ready();
    wait_for("all of the bomb", || scene.output("job").matches("ready").count() == 7);
    let supervisor = scene.supervisor("job");
    kill_process(supervisor, Signal::STOP).expect("it lives");
    running.signal(Signal::KILL);
    let _ = running.wait().exits(137);
    kill_process(supervisor, Signal::KILL).expect("it is stopped");
    let left = || scene.processes().iter().filter(|(_, line)| line.contains(" bomb ")).count();
    wait_for("its end", || scene.processes().len() == left());
    assert_eq!(left(), 7);
    scene.gate();
    scene.job("job", "true");
    scene.save("harmless");
    let _ = scene.discern(command).exits(0);
    scene.assert_nobody_left();
}

#[test]
fn processes_that_a_passing_job_leaves_are_ended_and_said() {
    let scene = Scene::new();
    for part in
        ["leave-child", "leave-stubborn-child", "double-fork", "leave-session", "nohup", "hide", "leave-stopped"]
    {
        scene.act(part, part);
    }
    scene.job("shell", "yes >/dev/null & sleep 1000 & echo ok");
    scene.save("first");
    let outcome = scene.discern(&["done"]).exits(0);
    scene.assert_nobody_left();
    assert_eq!(outcome.stderr.matches(" left behind").count(), 8, "{}", outcome.shown());
}

#[test]
fn a_bomb_of_a_thousand_is_ended() {
    let scene = Scene::of("bomb 1000");
    let running = scene.start(&["done"]);
    wait_for("all of the bomb", || scene.output("job").matches("ready").count() == 1000);
    running.signal(Signal::TERM);
    let _ = running.wait().exits(143);
    scene.assert_nobody_left();
}
