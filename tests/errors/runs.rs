//! What can be refused only once it is planned, and runs that end otherwise than in a verdict.

use super::{is_refused, is_refused_as};
use crate::support::Bench;

fn gate() -> Bench {
    let bench = Bench::new();
    bench.gate();
    bench
}

#[test]
fn requirements_that_can_not_be_planned() {
    let bench = gate();
    bench.job("lint", "true");
    bench.configure("inputs = [\"sorce/**\"]");
    bench.save("first");
    is_refused_as(&bench, &bench, "inputs-match-nothing", 2, &["done"]);
    is_refused_as(&bench, &bench, "no-standards", 2, &["standards"]);
    bench.gate();
    bench.job("lint", "true");
    bench.configure("toolchain = [\"kill -9 $$\"]");
    bench.save("second");
    is_refused_as(&bench, &bench, "toolchain-unanswered", 2, &["done"]);
    bench.gate();
    bench.configure("prepare = \"true\"\n[jobs.\"gate.prepare\"]\nrun = \"true\"");
    bench.save("third");
    is_refused_as(&bench, &bench, "name-taken", 2, &["done", "--isolated"]);
    bench.gate();
    for number in 0..150 {
        bench.job(&format!("job-{number}"), &format!("true {}", "x".repeat(4000)));
    }
    bench.save("fourth");
    is_refused_as(&bench, &bench, "plan-too-large", 2, &["done"]);
}

#[test]
fn trunks_that_can_not_be_compared_with() {
    let bench = gate();
    bench.job("lint", "true");
    bench.standard("lines", "down", "9", "echo DISCERN_METRIC lines 7");
    bench.save("first");
    bench.git(&["branch", "-m", "topic"]);
    is_refused_as(&bench, &bench, "no-trunk", 2, &["done"]);
    bench.git(&["switch", "-q", "--orphan", "main"]);
    bench.git(&["commit", "-q", "--allow-empty", "-m", "another beginning"]);
    bench.git(&["switch", "-q", "topic"]);
    is_refused_as(&bench, &bench, "no-merge-base", 2, &["done"]);
}

#[test]
fn commits_that_ask_for_less_than_trunk() {
    let bench = gate();
    bench.configure("jobs = \"trunk\"");
    bench.job("lint", "true");
    bench.job("test", "true");
    bench.standard("lines", "down", "9", "echo DISCERN_METRIC lines 7");
    bench.save("first");
    bench.git(&["switch", "-q", "-c", "topic"]);
    bench.write("discern.toml", bench.read("discern.toml").replace("limit = 9", "limit = 12"));
    bench.save("second");
    is_refused(&bench, &bench, "looser-than-trunk", 1, &["done"]);
    bench.write(
        "discern.toml",
        bench.read("discern.toml").replace("limit = 12", "limit = 9").replace("[jobs.test]\nrun = \"true\"\n", ""),
    );
    bench.save("third");
    is_refused_as(&bench, &bench, "departs-from-trunk", 2, &["done"]);
}

#[test]
fn a_run_inside_a_job_of_a_run() {
    let bench = gate();
    bench.job("again", "git-discern done");
    bench.save("first");
    is_refused(&bench, &bench, "inside-own-job", 1, &["done"]);
}

#[test]
fn a_tree_that_changes_under_its_run() {
    let bench = gate();
    bench.job("writes", "echo more >> discern.toml");
    bench.save("first");
    is_refused(&bench, &bench, "tree-changed", 2, &["done"]);
}

#[test]
fn a_worktree_that_goes_away_under_its_run() {
    let bench = gate();
    bench.job("deletes", "rm -rf ../side");
    bench.save("first");
    let side = bench.worktree("side");
    is_refused(&bench, &side, "worktree-gone", 2, &["done"]);
}

#[test]
fn isolated_runs_that_have_no_place_or_can_not_be_exact() {
    let bench = Bench::proven_by_true();
    let nowhere = bench.with_variable("HOME", "").with_variable("XDG_CACHE_HOME", "");
    is_refused_as(&bench, &nowhere, "no-place", 2, &["done", "--isolated"]);
    bench.write("../part/file", "");
    bench.at("../part").git(&["init", "-q"]);
    bench.at("../part").save("a part");
    bench.git(&["submodule", "--quiet", "add", "../part", "part"]);
    bench.save("with a part");
    is_refused_as(&bench, &bench, "submodules", 2, &["done", "--isolated"]);
    bench.write("after", "");
    bench.save("after it");
    is_refused(&bench, &bench, "submodules-but-elsewhere", 2, &["done", "HEAD~1"]);
    bench.write("discern.toml", bench.read("discern.toml").replace("[gate]", "[gate]\nworkspace = \"isolated\""));
    bench.save("always isolated");
    is_refused(&bench, &bench, "submodules-but-always-isolated", 2, &["done"]);
}

#[test]
fn what_fails_while_a_kept_checkout_is_prepared() {
    let bench = gate();
    bench.configure("prepare = \"exit 3\"");
    bench.job("lint", "true");
    bench.save("first");
    is_refused(&bench, &bench, "preparing-fails", 1, &["done", "--isolated"]);
}

#[test]
fn readings_that_can_not_be_pinned() {
    let bench = gate();
    bench.standard("lines", "down", "9", "echo DISCERN_METRIC lines 12");
    bench.save("first");
    is_refused(&bench, &bench, "not-pinned", 1, &["standards", "--pin"]);
}
