//! Which job starts when, in one run and over all runs on the machine.

use rustix::process::Signal;

use super::scene::Scene;
use crate::runner::now_ms;
use crate::support::wait_for;

/// The lines of `../order`.
fn order(scene: &Scene) -> Vec<String> {
    scene.read("../order").lines().map(str::to_owned).collect()
}

/// A command that notes when it begins and ends.
fn noting(name: &str, between: &str) -> String {
    format!("echo {name}+ >>../order; {between}; echo {name}- >>../order")
}

#[test]
fn needs_and_after_order_jobs_and_parallel_limits_them() {
    let scene = Scene::new();
    scene.write("discern.toml", "[gate]\ntrunk = \"main\"\nparallel = 2\n");
    scene.job("last", &noting("last", "true"));
    scene.configure("needs = [\"second\"]\nafter = [\"third\"]");
    scene.job("second", &noting("second", "sleep 0.1"));
    scene.configure("needs = [\"first\"]");
    scene.job("first", &noting("first", "sleep 0.1"));
    scene.job("third", &noting("third", "sleep 0.1"));
    scene.job("fourth", &noting("fourth", "sleep 0.1"));
    scene.save("first");
    let _ = scene.discern(&["done"]).exits(0);
    let order = order(&scene);
    let at = |what: &str| order.iter().position(|line| line == what).unwrap_or_else(|| panic!("{what}: {order:?}"));
    assert!(at("first-") < at("second+") && at("second-") < at("last+") && at("third-") < at("last+"), "{order:?}");
    let mut running = 0;
    for line in &order {
        running += if line.ends_with('+') { 1 } else { -1 };
        assert!((0..=2).contains(&running), "{order:?}");
    }
}

#[test]
fn after_a_failure_what_runs_is_let_finish_and_the_rest_is_unrun() {
    let scene = Scene::new();
    scene.write("discern.toml", "[gate]\ntrunk = \"main\"\nparallel = 2\n");
    scene.job("fails", "while [ ! -e ../go ]; do sleep 0.02; done; exit 1");
    scene.job("finishes", "echo x >../go; sleep 0.5");
    scene.job("independent", "true");
    scene.job("dependent", "true");
    scene.configure("needs = [\"fails\"]");
    scene.save("first");
    let verdicts = |document: &serde_json::Value| {
        let all = document["requirements"].as_array().expect("a list").clone();
        all.into_iter().map(|it| (it["name"].as_str().expect("a name").to_owned(), it["verdict"].clone())).collect()
    };
    let document = scene.discern(&["done", "--json"]).exits(1).json();
    let found: std::collections::BTreeMap<String, serde_json::Value> = verdicts(&document);
    assert_eq!(found["fails"], "failed", "{document:#}");
    assert_eq!(
        (&found["finishes"], &found["independent"], &found["dependent"]),
        (&"passed".into(), &"unrun".into(), &"unrun".into())
    );
    // Its verdict was kept.
    let document = scene.discern(&["done", "--json", "--keep-going", "--rerun", "fails"]).exits(1).json();
    let found: std::collections::BTreeMap<String, serde_json::Value> = verdicts(&document);
    assert_eq!((&found["independent"], &found["dependent"]), (&"passed".into(), &"unrun".into()), "{document:#}");
    let finishes = document["requirements"].as_array().expect("a list").iter().find(|it| it["name"] == "finishes");
    assert_eq!(finishes.expect("it is there")["source"], "reused", "{document:#}");
}

/// A repository whose jobs, `count` of them, share one slot of the machine with all others.
fn with_one_slot(count: usize, script: &str) -> Scene {
    let scene = Scene::new();
    scene.write("discern.toml", "[gate]\ntrunk = \"main\"\nslots = 1\nparallel = 4\n");
    (0..count).for_each(|number| scene.job(&format!("job-{number}"), script));
    scene.save("first");
    scene
}

#[test]
fn slots_are_shared_by_all_runs_and_the_wait_is_shown_and_not_counted() {
    let one = with_one_slot(1, "echo ready; while [ ! -e ../go ]; do sleep 0.02; done");
    let other = with_one_slot(2, "true");
    let capacity = one.root().join("tmp").display().to_string();
    let first = one.start(&["done"]);
    one.wait_for_output("job-0", "ready");
    let mut second = other.with_variable("TMPDIR", &capacity).start(&["done", "--json"]);
    second.wait_for_stderr("waiting   job-0  for a free slot on this machine");
    let waits_ms = now_ms();
    wait_for("a while", || now_ms() - waits_ms > 1_500);
    assert!(!second.stderr().contains("started"), "{}", second.stderr());
    one.write("../go", "");
    let _ = first.wait().exits(0);
    let document = second.wait().exits(0).json();
    for requirement in document["requirements"].as_array().expect("a list") {
        assert!(requirement["duration_ms"].as_u64().expect("a number") < 1_000, "{requirement:#}");
    }
}

#[test]
fn a_run_with_many_short_jobs_keeps_nobody_out() {
    let busy = with_one_slot(30, "sleep 0.15");
    let modest = with_one_slot(1, "true");
    let capacity = busy.root().join("tmp").display().to_string();
    let first = busy.start(&["done"]);
    wait_for("its first job", || (0..30).any(|number| busy.log(&format!("job-{number}")).is_some()));
    let _ = modest.with_variable("TMPDIR", &capacity).discern(&["done"]).exits(0);
    let started = (0..30).filter(|number| busy.log(&format!("job-{number}")).is_some()).count();
    assert!(started < 30, "the other run got its turn before the busy one was through");
    first.signal(Signal::TERM);
    let _ = first.wait().exits(143);
}

#[test]
fn a_slot_is_free_when_its_holder_is_killed() {
    let one = with_one_slot(1, "echo ready; sleep 300");
    let other = with_one_slot(1, "true");
    let capacity = one.root().join("tmp").display().to_string();
    let first = one.start(&["done"]);
    one.wait_for_output("job-0", "ready");
    let mut second = other.with_variable("TMPDIR", &capacity).start(&["done"]);
    second.wait_for_stderr("waiting");
    first.signal(Signal::KILL);
    let _ = first.wait().exits(137);
    let _ = second.wait().exits(0);
}

#[test]
fn a_run_inside_a_job_needs_no_second_slot() {
    let inner = with_one_slot(1, "true");
    let outer = with_one_slot(1, &format!("cd '{}' && git discern done", inner.path().display()));
    let _ = outer.discern(&["done"]).exits(0);
}

#[test]
fn one_worktree_has_one_run_and_the_second_says_who_is_in_the_way() {
    let scene = Scene::of("sleep");
    let running = scene.start(&["run"]);
    scene.wait_for_output("job", "ready");
    let began_ms = now_ms();
    let document = scene.discern(&["done", "--json"]).exits(3).json();
    assert!(now_ms() - began_ms >= 10_000, "it waited for ten seconds");
    let pending = &document["pending"];
    assert!(pending["attempt"].is_null() && pending["lease_expires_at"].is_null(), "{pending:#}");
    assert!(pending["reconnect"].as_str().unwrap_or_default().starts_with("git discern wait R1-"), "{pending:#}");
    running.signal(Signal::TERM);
    let _ = running.wait().exits(143);
    scene.assert_nobody_left();
}

#[test]
fn runs_in_two_worktrees_go_on_side_by_side() {
    let scene = Scene::running("echo x >../$(basename $PWD).here; while [ ! -e ../go ]; do sleep 0.02; done");
    let linked = scene.worktree("linked");
    linked.write("another", "tree");
    linked.save("another commit");
    let runs = [scene.start(&["done"]), linked.start(&["done"])];
    wait_for("both jobs", || scene.has("../r.here") && scene.has("../linked.here"));
    scene.write("../go", "");
    for run in runs {
        let _ = run.wait().exits(0);
    }
}
