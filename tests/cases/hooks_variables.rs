//! Variables that git gives to hooks.

use crate::soundness::scene::{ask, play, scene};

#[test]
fn b001_repositories_that_a_job_makes_are_its_own_also_under_git_dir() {
    let bench = scene(
        "gate; job t 'd=$(mktemp -d); cd $d && git init -q && git -c user.name=x -c user.email=x@example.com commit -q --allow-empty -m oops'; save",
    );
    let linked = bench.worktree("wt");
    let git_dir = linked.git(&["rev-parse", "--absolute-git-dir"]);
    let before = linked.head();
    assert_eq!(linked.with_variable("GIT_DIR", &git_dir).discern(&["done"]).status, 0);
    assert_eq!(linked.head(), before);
    assert!(!linked.git(&["log", "--all", "--oneline"]).contains("oops"));
}

#[test]
fn b002_the_index_of_the_user_is_byte_for_byte_what_it_was() {
    let bench = scene(
        "git init -q -b main ../theirs; (cd ../theirs; echo 1 > theirs; git add .; git commit -qm theirs)
        gate; job c 'git clone -q ../theirs $(mktemp -d)/c'; save",
    );
    let linked = bench.worktree("wt");
    let index = format!("{}/index", linked.git(&["rev-parse", "--absolute-git-dir"]));
    let before = std::fs::read(&index).unwrap();
    let objects = bench.root().join("r/.git/objects");
    let place = linked.with_variable("GIT_INDEX_FILE", &index);
    let place = place.with_variable("GIT_OBJECT_DIRECTORY", &objects.to_string_lossy());
    let (outcome, _) = ask(&place, &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.shown());
    assert_eq!(std::fs::read(&index).unwrap(), before);
    assert!(!linked.git(&["ls-files"]).contains("theirs"));
}

#[test]
fn b004_the_worktree_that_git_names_is_used_and_jobs_see_neither_variable() {
    let bench = scene(
        "gate; job p 'test -f here; test -z \\\"$GIT_DIR$GIT_WORK_TREE\\\"'; touch here; save; mkdir ../elsewhere",
    );
    let (top, git_dir) = (bench.path().to_string_lossy(), bench.path().join(".git"));
    let elsewhere = bench.at("../elsewhere");
    let git_dir = format!("--git-dir={}", git_dir.display());
    let outcome = elsewhere.try_git(&[&git_dir, &format!("--work-tree={top}"), "discern", "done"]);
    assert_eq!(outcome.status, 0, "{}", outcome.shown());
}

#[test]
fn b005_settings_passed_with_c_reach_no_job() {
    let bench = scene("gate; job who 'test $(git config user.name) = T'; save");
    let outcome = bench.try_git(&["-c", "user.name=Other", "discern", "done"]);
    assert_eq!(outcome.status, 0, "{}", outcome.shown());
    play(&bench, "save again; printf '[user]\\nname = Third\\n' > ../config");
    let outcome = bench.with_variable("GIT_CONFIG", "../config").discern(&["done", "--rerun"]);
    assert_eq!(outcome.status, 0, "{}", outcome.shown());
}

#[test]
fn b047_death_by_a_signal_is_a_failure_named_with_the_signal() {
    let bench = scene("gate; job k 'kill -9 $$'; job s 'kill -SEGV $$'; save");
    let (outcome, document) = ask(&bench, &["--keep-going"]);
    assert_eq!(outcome.status, 1, "{}", outcome.shown());
    for (name, signal) in [("k", "SIGKILL"), ("s", "SIGSEGV")] {
        let entry = crate::soundness::scene::requirement(&document, name);
        assert_eq!((&entry["verdict"], &entry["signal"]), (&"failed".into(), &signal.into()), "{document:#}");
        assert!(entry["reason"].as_str().unwrap().contains(signal), "{document:#}");
    }
}
