//! `status`: this commit, and every claim in the repository.

use rustix::process::Signal;

use super::{begun, gated, handle, open};
use crate::support::{Bench, Hash, Refs};

#[test]
fn a_commit_is_shown_from_nothing_to_its_proof() {
    let bench = Bench::new();
    let _stable = bench.stable_snapshots();
    let mut shown = String::new();
    let mut look = || shown.push_str(&bench.discern(&["status"]).exits(0).shown());
    look();
    bench.gate();
    bench.job("ok", "true");
    bench.job("bad", "test -e ../good");
    bench.configure("inputs = [\"discern.toml\"]");
    bench.git(&["commit", "-q", "--allow-empty", "-m", "without a configuration"]);
    look();
    bench.save("first");
    look();
    bench.discern(&["done"]).exits(1);
    look();
    bench.write("../good", "");
    bench.discern(&["done", "--rerun"]).exits(0);
    look();
    bench.write("stray", "");
    look();
    insta::assert_snapshot!(shown);
}

#[test]
fn a_claim_is_shown_with_its_progress_and_an_abandoned_one_with_what_takes_it_over() {
    let bench = gated();
    let _stable = bench.stable_snapshots();
    let other = bench.worktree("other");
    let done = begun(&other, &["done"]);
    handle(&bench);
    let running = bench.discern(&["status"]).exits(0).shown();
    done.signal(Signal::KILL);
    drop(done);
    let mut abandoned = String::new();
    crate::support::wait_for("an abandoned claim", || {
        abandoned = bench.discern(&["status"]).exits(0).shown();
        abandoned.contains("abandoned")
    });
    insta::assert_snapshot!(running + &abandoned);
}

#[test]
fn a_run_without_a_claim_is_shown_while_it_holds_the_worktree() {
    let bench = gated();
    let run = begun(&bench, &["run", "gated"]);
    let claims = bench.discern(&["status", "--json"]).exits(0).json()["claims"].clone();
    assert_eq!(claims.as_array().map(Vec::len), Some(1));
    assert_eq!(claims[0]["candidate"], serde_json::Value::Null);
    assert_eq!(claims[0]["progress"]["running"][0], "gated");
    open(&bench);
    run.wait().exits(0);
    assert_eq!(bench.discern(&["status", "--json"]).exits(0).json()["claims"], serde_json::json!([]));
}

#[test]
fn nothing_is_written_and_a_bare_repository_will_do() {
    for (refs, hash) in [(Refs::Files, Hash::Sha1), (Refs::Reftable, Hash::Sha256)] {
        let bench = Bench::with(refs, hash);
        bench.gate();
        bench.job("ok", "true");
        bench.save("first");
        bench.discern(&["status"]).exits(0);
        assert!(!bench.has(".git/discern"));
        bench.discern(&["done"]).exits(0);
        bench.sh("git clone -q --mirror . ../mirror.git").exits(0);
        let mirror = bench.at("../mirror.git");
        let before = mirror.sh("find . -type f | sort").stdout;
        let status = mirror.discern(&["status"]).exits(0);
        assert!(status.stdout.starts_with("proven"), "{}", status.shown());
        assert_eq!(mirror.sh("find . -type f | sort").stdout, before);
    }
}

#[test]
fn a_broken_configuration_is_shown_at_its_place() {
    let bench = Bench::proven_by_true();
    bench.configure("timeout = \"soon\"");
    bench.save("broken");
    let refused = bench.discern(&["status"]).exits(2);
    assert!(refused.stderr.contains("discern.toml:") && refused.stderr.contains("soon"), "{}", refused.shown());
    assert_eq!(bench.discern(&["status", "--json"]).exits(2).json()["outcome"], "refused");
}

#[test]
fn a_record_that_cannot_be_read_is_named_with_what_forgets_it() {
    let bench = Bench::proven_by_true();
    let commit = bench.head();
    bench.save("second");
    let blob = bench.git(&["hash-object", "-w", "discern.toml"]);
    bench.git(&["update-ref", &format!("refs/discern/attempt/{commit}"), &blob]);
    let status = bench.discern(&["status"]).exits(0);
    assert!(status.stdout.contains(&format!("git discern recover --forget {commit}")), "{}", status.shown());
}
