//! `explain`: what decides a verdict, and what differs.

use crate::support::Bench;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.gate();
    bench.job("build", "echo built");
    bench.configure("inputs = [\"src/**\"]");
    bench.job("test", "grep -q . src/code");
    bench.configure(
        "needs = [\"build\"]\ninputs = [\"src/**\", \"tests/**\"]\nenv = [\"MODE\"]\ntoolchain = [\"cat ../version\"]",
    );
    bench.write("src/code", "1");
    bench.write("tests/one", "1");
    bench.write("../version", "tool 1\n");
    bench.save("first");
    bench
}

#[test]
fn the_parts_of_a_subject_are_shown_and_what_differs_from_the_nearest_receipt() {
    let bench = bench();
    let _stable = bench.stable_snapshots();
    let mut shown = bench.discern(&["explain", "test"]).exits(0).shown();
    bench.discern(&["done"]).exits(0);
    shown += &bench.discern(&["explain", "test"]).exits(0).shown();
    bench.write("src/code", "2");
    bench.write("tests/one", "2");
    bench.save("second");
    shown += &bench.with_variable("MODE", "fast").discern(&["explain", "test"]).exits(0).shown();
    insta::assert_snapshot!(shown);
}

#[test]
fn two_commits_are_compared_without_any_receipt() {
    let bench = bench();
    bench.write("tests/one", "2");
    bench.save("second");
    let shown = bench.discern(&["explain", "test", "HEAD~1", "HEAD"]).exits(0);
    assert!(shown.stdout.contains("`tests/one` changed"), "{}", shown.shown());
    let same = bench.discern(&["explain", "build", "HEAD~1", "HEAD"]).exits(0);
    assert!(same.stdout.contains("they share a verdict"), "{}", same.shown());
}

#[test]
fn nothing_of_the_project_is_executed_and_the_subject_is_the_one_that_counts() {
    let bench = bench();
    let done = bench.discern(&["done", "--json"]).exits(0).json();
    bench.write("../version", "tool 2\n");
    // What the toolchain says now is not asked; `done` would ask, and run again.
    let document = bench.discern(&["explain", "test", "--json"]).exits(0).json();
    assert_eq!(document["subject"], done["requirements"][1]["subject"]);
    assert_eq!(document["recorded"], serde_json::json!(["cat ../version"]));
    assert_eq!(document["differences"], serde_json::json!([]));
}

#[test]
fn a_name_that_is_not_there_is_refused_with_those_that_are() {
    let bench = bench();
    let refused = bench.discern(&["explain", "tset"]).exits(2);
    assert!(refused.stderr.contains("did you mean `test`?"), "{}", refused.shown());
}

#[test]
fn a_worktree_that_differs_from_the_commit_is_said() {
    let bench = bench();
    bench.discern(&["done"]).exits(0);
    bench.write("src/code", "2");
    let shown = bench.discern(&["explain", "test"]).exits(0);
    let note = "note  this is about the commit; the worktree differs from it in 1 path (`src/code`)";
    assert!(shown.stdout.contains(note), "{}", shown.shown());
    assert!(shown.stdout.contains("nothing differs"), "{}", shown.shown());
}

#[test]
fn what_is_on_disk_otherwise_than_committed_is_part_of_what_is_explained() {
    let bench = bench();
    bench.write("src/code", "1\n");
    bench.save("a line");
    bench.git(&["config", "core.autocrlf", "true"]);
    bench.sh("rm src/code && git checkout -q src/code").exits(0);
    let done = bench.discern(&["done", "--json"]).exits(0).json();
    let document = bench.discern(&["explain", "test", "--json"]).exits(0).json();
    assert_eq!(document["subject"], done["requirements"][1]["subject"]);
    bench.git(&["config", "core.autocrlf", "false"]);
    bench.sh("rm src/code && git checkout -q src/code").exits(0);
    let shown = bench.discern(&["explain", "test"]).exits(0);
    assert!(shown.stdout.contains("line endings, filters or submodules on disk changed"), "{}", shown.shown());
}
