//! The tree under a run: whatever changes it, a job or a person, is seen before anything is recorded.

use test_case::test_case;

use super::scene::Scene;
use crate::support::{Refs, wait_for};

/// A commit with two files, a script, another branch, and one job that runs `script`.
fn scene(script: &str) -> Scene {
    let scene = Scene::new();
    scene.write("a file", "one\n");
    scene.write("b", "two\n");
    scene.write(".gitignore", "ignored\n");
    scene.job("job", script);
    scene.save("first");
    scene.git(&["branch", "other"]);
    scene
}

/// Fails unless nothing was recorded and the reason is `reason`.
#[track_caller]
fn assert_nothing_recorded(scene: &Scene, commit: &str, reason: &str) {
    let text = scene.git(&["cat-file", "-p", &format!("refs/discern/attempt/{commit}")]);
    let record: serde_json::Value = serde_json::from_str(&text).expect("a record");
    assert_eq!(record["receipts"].as_array().map(Vec::len), Some(0), "{record:#}");
    assert_eq!(record["state"]["outcome"], "cancelled");
    assert_eq!(record["state"]["by"]["reason"], reason);
    assert_eq!(record["state"]["exit_status"], 2);
    assert!(record["state"]["proof"].is_null());
    assert_eq!(scene.discern(&["verify", commit]).status, 1, "it is not proven");
    scene.assert_nobody_left();
}

#[test_case("echo x >>'a file'", "a file (modified)"; "a file is written to")]
#[test_case("echo x >>'a file'; exit 1", "a file (modified)"; "a file is written to by a job that fails")]
#[test_case("rm b", "b (deleted)"; "a file is deleted")]
#[test_case("chmod +x b", "b (modified)"; "a file becomes executable")]
#[test_case("ln -sf nowhere b", "b (modified)"; "a file becomes a link")]
#[test_case("echo x >>b; git add b", "b (staged)"; "a change is staged")]
#[test_case("git rm -q --cached b", "b (staged)"; "a file is no longer tracked")]
#[test_case("echo x >new", "new (appeared, and is neither tracked nor ignored)"; "a file appears")]
#[test_case("git commit -q --allow-empty -m x", "`HEAD` names another commit"; "a commit is made")]
#[test_case("git checkout -q other", "`HEAD` names another branch"; "another branch is checked out")]
#[test_case("git checkout -q --detach", "`HEAD` names another branch"; "the branch is left")]
#[test_case("cp b ../b; echo x >>b; cp ../b b", "b (written to, and put back)"; "a file is edited and put back")]
#[test_case("touch -r b ../r; echo TWO >b; echo two >b; touch -r ../r b", "b (written to, and put back)"; "a file is put back with its old date")]
fn what_a_job_does_to_the_tree_is_listed_and_nothing_is_recorded(script: &str, said: &str) {
    let scene = scene(script);
    let commit = scene.head();
    let document = scene.discern(&["done", "--json"]).exits(2).json();
    assert_nothing_recorded(&scene, &commit, "tree-changed");
    let diagnostic = &document["diagnostics"][0];
    assert_eq!(diagnostic["code"], "tree-changed", "{document:#}");
    let places = diagnostic["where"].as_array().expect("a list");
    assert!(places.iter().any(|place| place == said), "{said}: {places:?}");
    assert_ne!(document["requirements"][0]["verdict"], "passed");
    assert!(document["proof"].is_null());
}

#[test_case("echo x >>'a file'", "a file (modified)"; "edits")]
#[test_case("git commit -q --allow-empty -m x", "another commit"; "commits")]
#[test_case("git switch -q other", "another branch"; "switches")]
#[test_case("git stash -q 2>/dev/null; echo x >b; git stash -q", "b (written to, and put back)"; "stashes")]
fn what_a_person_does_to_the_tree_meanwhile_is_seen_as_well(script: &str, said: &str) {
    let scene = scene("echo ready; while [ ! -e ../go ]; do sleep 0.05; done");
    let commit = scene.head();
    let running = scene.start(&["done"]);
    scene.wait_for_output("job", "ready");
    let _ = scene.sh(script).exits(0);
    scene.write("../go", "");
    let outcome = running.wait().exits(2);
    assert_nothing_recorded(&scene, &commit, "tree-changed");
    assert!(outcome.stderr.contains(said), "{}", outcome.shown());
}

#[test_case(Refs::Files)]
#[test_case(Refs::Reftable)]
fn a_deleted_worktree_is_no_failed_check(refs: Refs) {
    let scene = Scene::on(refs);
    scene.job("job", "echo ready; while [ ! -e ../go ]; do sleep 0.05; done");
    scene.save("first");
    let linked = scene.worktree("linked");
    let running = linked.start(&["done"]);
    scene.wait_for_output("job", "ready");
    scene.git(&["worktree", "remove", "--force", &linked.path().to_string_lossy()]);
    scene.write("../go", "");
    let outcome = running.wait().exits(2);
    assert!(outcome.stderr.contains("the worktree was removed while the run worked"), "{}", outcome.shown());
    assert_nothing_recorded(&scene, &scene.head(), "worktree-gone");
}

#[test]
fn a_job_that_deletes_its_worktree_is_no_failed_check() {
    let scene = scene("rm -rf \"$DISCERN_WORKSPACE\"; exit 1");
    let linked = scene.worktree("linked");
    let outcome = linked.discern(&["done"]).exits(2);
    assert!(outcome.stderr.contains("the worktree was removed while the run worked"), "{}", outcome.shown());
    assert_nothing_recorded(&scene, &scene.head(), "worktree-gone");
}

#[test]
fn a_declared_file_may_be_rewritten_with_equal_content_and_nothing_else() {
    let scene = Scene::new();
    scene.write("generated", "two\n");
    scene.write("b", "two\n");
    scene.configure("[jobs.job]\nrun = \"echo two >generated\"\ntouches = [\"generated\"]");
    scene.save("first");
    let _ = scene.discern(&["done"]).exits(0);
    scene.gate();
    scene.configure("[jobs.job]\nrun = \"echo three >generated\"\ntouches = [\"generated\"]");
    scene.save("other content");
    assert!(scene.discern(&["done"]).exits(2).stderr.contains("generated (modified)"));
    scene.git(&["checkout", "-q", "."]);
    scene.gate();
    scene.configure("[jobs.job]\nrun = \"echo two >b\"\ntouches = [\"generated\"]");
    scene.save("another file");
    assert!(scene.discern(&["done"]).exits(2).stderr.contains("b (written to, and put back)"));
}

#[test]
fn ignored_files_are_a_jobs_own() {
    let scene = scene("echo x >ignored; git status >/dev/null");
    let _ = scene.discern(&["done"]).exits(0);
    assert!(scene.has("ignored"));
}

#[test]
fn the_index_is_byte_for_byte_what_it_was() {
    let scene = scene("git log -1; git ls-files; git rev-parse HEAD");
    // `git status` would refresh this entry.
    let _ = scene.sh("touch -d 2001-01-01 b").exits(0);
    let before = std::fs::read(scene.path().join(".git/index")).expect("an index");
    let _ = scene.discern(&["done"]).exits(0);
    let _ = scene.discern(&["done"]).exits(0);
    let _ = scene.discern(&["done", "--rerun"]).exits(0);
    let after = std::fs::read(scene.path().join(".git/index")).expect("an index");
    assert!(before == after, "somebody wrote the index");
}

#[test]
fn the_change_that_one_job_makes_spoils_no_receipt_published_before() {
    let scene = Scene::new();
    scene.write("b", "two\n");
    scene.job("good", "true");
    scene.configure("[jobs.bad]\nrun = \"echo x >>b\"\nafter = [\"good\"]");
    scene.save("first");
    let _ = scene.discern(&["done"]).exits(2);
    let names: Vec<_> = scene.record()["receipts"].as_array().expect("a list").clone();
    assert_eq!(names.len(), 1);
    assert_eq!(names[0]["name"], "good");
    wait_for("the end of everything", || scene.processes().is_empty());
}

/// How often git was asked for `subcommand`, by a program that stands before it on `PATH`.
fn times_asked(scene: &Scene, subcommand: &str) -> usize {
    let asked = scene.read("../asked");
    asked.lines().filter(|line| line.split(' ').any(|word| word == subcommand)).count()
}

#[test]
fn git_compares_tracked_files_once_and_lists_untracked_ones_after_each_job() {
    let scene = Scene::new();
    scene.write("discern.toml", "[gate]\ntrunk = \"main\"\nparallel = 1\n");
    (0..4).for_each(|number| scene.job(&format!("job-{number}"), &format!("echo {number}")));
    scene.save("first");
    let real = scene.sh("command -v git").stdout.trim().to_owned();
    scene.write(
        "../bin/git",
        format!("#!/bin/sh\necho \"$@\" >>'{}/../asked'\nexec {real} \"$@\"\n", scene.path().display()),
    );
    let _ = scene.sh("chmod +x ../bin/git");
    let before = scene.with_variable("PATH", &format!("{}/../bin:/usr/bin:/bin", scene.path().display()));
    let index = scene.path().join(".git/index");
    let age = || index.metadata().ok().and_then(|index| index.modified().ok()?.elapsed().ok());
    wait_for("a tick of the clock", || age().is_some_and(|age| age.as_millis() > 100));
    let _ = before.discern(&["done"]).exits(0);
    assert_eq!(times_asked(&scene, "status"), 1, "{}", scene.read("../asked"));
    assert_eq!(times_asked(&scene, "--others"), 4, "{}", scene.read("../asked"));
}

/// With `parallel = 1` the tree is looked at between two jobs: the second one can't put back what the first one did.
#[test_case("echo good > file", "touches = [\"file\"]", "read x < file; echo bad > file; [ $x = good ]"; "a file that the first one may rewrite")]
#[test_case(": > new", "", "[ -e new ] && rm new"; "an untracked file")]
fn the_next_job_can_not_put_back_what_the_one_before_did(first: &str, declared: &str, second: &str) {
    let scene = Scene::new();
    scene.write("discern.toml", "[gate]\ntrunk = \"main\"\nparallel = 1\n");
    scene.write("file", "bad\n");
    scene.job("a", first);
    scene.configure(declared);
    scene.job("b", second);
    scene.save("first");
    let _ = scene.discern(&["done"]).exits(2);
    assert_eq!(scene.discern(&["verify"]).status, 1, "it is not proven");
}
