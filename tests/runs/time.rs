//! Time limits: awake time, looked at after the exit, and said with the key that sets them.

use git_discern::engine::job::GRACE_MS;
use rustix::process::Signal;

use super::scene::Scene;
use crate::runner::now_ms;
use crate::support::wait_for;

#[test]
fn a_job_that_takes_too_long_is_ended_and_the_key_that_sets_its_limit_is_named() {
    let scene = Scene::new();
    scene.act("own", "bomb 5");
    scene.configure("timeout = 1");
    scene.act("common", "bomb 5");
    scene.write("discern.toml", scene.read("discern.toml").replace("[gate]\n", "[gate]\ntimeout = 2\n"));
    scene.save("first");
    let document = scene.discern(&["done", "--json", "--keep-going"]).exits(1).json();
    scene.assert_nobody_left();
    let reasons = [0, 1].map(|at| document["requirements"][at]["reason"].as_str().unwrap_or_default().to_owned());
    assert_eq!(reasons[0], "it ran longer than 1 s (`timeout` of `[jobs.own]`)", "{document:#}");
    assert_eq!(reasons[1], "it ran longer than 2 s (`timeout` of `[gate]`)");
    // Never replayed: it says nothing about the tree.
    let again = scene.discern(&["done", "--json"]).exits(1).json();
    assert_eq!(again["requirements"][0]["source"], "ran");
}

#[test]
fn who_ignores_sigterm_is_killed_after_the_grace_though_its_parent_died_at_once() {
    let scene = Scene::running("sh -c 'trap : TERM; while :; do sleep 1; done' & wait");
    scene.configure("timeout = 1");
    scene.save("limited");
    let began_ms = now_ms();
    let _ = scene.discern(&["done"]).exits(1);
    assert!(now_ms() - began_ms >= GRACE_MS, "it had its grace");
    scene.assert_nobody_left();
}

#[test]
fn a_job_that_finished_in_time_while_its_run_stood_still_has_finished_in_time() {
    let scene = Scene::running("echo ready; while [ ! -e ../go ]; do sleep 0.05; done; echo over");
    scene.configure("timeout = 3");
    scene.save("limited");
    let running = scene.start_until_ready();
    running.signal(Signal::STOP);
    scene.write("../go", "");
    scene.wait_for_output("job", "over");
    let over_ms = now_ms();
    wait_for("the limit to pass", || now_ms() - over_ms > 4_000);
    running.signal(Signal::CONT);
    let _ = running.wait().exits(0);
}

#[test]
fn a_job_that_stops_itself_is_still_ended_by_its_limit() {
    let scene = Scene::of("stop-self");
    scene.configure("timeout = 1");
    scene.save("limited");
    let outcome = scene.discern(&["done"]).exits(1);
    assert!(outcome.stdout.contains("it ran longer than 1 s"), "{}", outcome.shown());
    scene.assert_nobody_left();
}

#[test]
fn no_limit_is_no_limit() {
    let scene = Scene::running("sleep 1.2");
    scene.configure("timeout = 0");
    scene.save("unlimited");
    let _ = scene.discern(&["done"]).exits(0);
}
