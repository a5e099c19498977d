//! Runs in kept checkouts: the working checkout is never touched, the kept one is always exactly the commit.

mod exactness;
mod healing;
mod preparing;
mod range;
mod truth;

use std::path::PathBuf;

use crate::support::{Bench, Place};

/// The kept checkouts of a bench's repository, by number.
fn checkout(bench: &Bench, number: u32) -> PathBuf {
    let pools = bench.root().join("home/.cache/git-discern");
    let pool = std::fs::read_dir(pools).expect("made by a run").next().expect("one repository").expect("readable");
    pool.path().join(format!("discern-{number}"))
}

/// What the job `job` of the newest run with such a log printed.
fn printed(bench: &Bench, job: &str) -> Vec<String> {
    let logs = bench.sh(&format!("cat $(ls -tr .git/discern/run/*/{job}.1.log)")).exits(0).stdout;
    logs.lines().map(str::to_owned).collect()
}

/// Everything that a person could notice of a worktree.
fn as_seen(place: &Place) -> String {
    place
        .sh("git rev-parse HEAD; git symbolic-ref HEAD; sha256sum .git/index; git stash list; git status --porcelain; \
             git reflog; git branch --list; stat -c '%n %y %z' *")
        .exits(0)
        .stdout
}

#[test]
fn a_named_commit_is_proven_while_the_working_checkout_is_dirty_and_nothing_of_it_is_touched() {
    let bench = Bench::new();
    bench.gate();
    bench.job("t", "test \"$(cat a)\" = good && test ! -e new && test \"$PWD\" = \"$DISCERN_WORKSPACE\"");
    bench.write("a", "good");
    let good = bench.save("good");
    bench.write("a", "bad");
    bench.save("bad");
    bench.write("a", "stashed");
    bench.git(&["stash"]);
    bench.write("a", "edited");
    bench.write("new", "x");
    bench.git(&["add", "new"]);
    let before = as_seen(&bench);
    let _ = bench.discern(&["done", &good]).exits(0);
    let _ = bench.discern(&["done", "--isolated"]).exits(1);
    assert_eq!(as_seen(&bench), before);
    let _ = bench.discern(&["done", "HEAD~1", "--json"]).exits(0);
}

#[test]
fn a_verdict_of_a_kept_checkout_serves_the_working_one_and_the_reverse_needs_declared_inputs() {
    let bench = Bench::new();
    bench.gate();
    bench.configure("[jobs.bound]\nrun = \"echo bound\"\ninputs = [\"a\"]\n[jobs.free]\nrun = \"echo free\"");
    bench.write("a", "1");
    let first = bench.save("first");
    let _ = bench.discern(&["done"]).exits(0);
    bench.git(&["commit", "-q", "--allow-empty", "-m", "same tree"]);
    let _ = bench.discern(&["done", "--isolated"]).exits(0);
    assert_eq!(printed(&bench, "bound"), ["bound"], "its inputs are declared");
    assert_eq!(printed(&bench, "free"), ["free", "free"], "an ignored file may have decided it");
    bench.git(&["commit", "-q", "--allow-empty", "-m", "same tree again"]);
    let _ = bench.discern(&["done"]).exits(0);
    assert_eq!(printed(&bench, "free"), ["free", "free"], "the kept checkout's verdict counts");
    let _ = bench.discern(&["done", &first]).exits(0);
}

#[test]
fn an_isolated_run_does_not_wait_for_the_worktree() {
    let bench = Bench::new();
    bench.gate();
    bench.job("t", "test ! -e wait-here || { touch ../started; until test -e ../go; do sleep 0.01; done; }");
    bench.write(".gitignore", "wait-here\n");
    bench.save("first");
    bench.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    bench.write("wait-here", "");
    let in_place = bench.start(&["done"]);
    crate::support::wait_for("the job in the worktree", || bench.root().join("started").exists());
    let _ = bench.discern(&["done", "HEAD~1"]).exits(0);
    std::fs::write(bench.root().join("go"), "").expect("a file");
    let _ = in_place.wait().exits(0);
}

#[test]
fn a_bare_repository_has_kept_checkouts_too() {
    let bench = Bench::new();
    bench.gate();
    bench.job("t", "test \"$(cat a)\" != bad && git rev-parse HEAD");
    for content in ["good", "bad", "good again"] {
        bench.write("a", content);
        bench.save(content);
    }
    bench.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    for place in [bench.at("../bare.git"), bench.at(".git")] {
        let _ = place.discern(&["done", "HEAD~2"]).exits(0);
        let _ = place.discern(&["done", "HEAD~2..HEAD"]).exits(1);
        let _ = place.discern(&["done", "--isolated"]).exits(0);
        let _ = place.discern(&["verify", "HEAD"]).exits(0);
        let refused = place.discern(&["done", "--rerun"]).exits(2);
        assert!(refused.stderr.contains("has no worktree here"), "{}", refused.shown());
    }
}
