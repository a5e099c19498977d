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
    let mut running = String::new();
    crate::support::wait_for("the end of `ok`", || {
        running = bench.discern(&["status"]).exits(0).shown();
        running.contains("1 of 2 done")
    });
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

#[test]
fn what_is_in_the_way_is_mended_before_anything_else_and_in_the_words_of_done() {
    let bench = Bench::proven_by_true();
    bench.job("bad", "exit 3");
    bench.save("second");
    bench.discern(&["done"]).exits(1);
    bench.configure("# changed");
    let hints = |bench: &Bench| bench.discern(&["status", "--json"]).exits(0).json()["hints"].clone();
    let refused = bench.discern(&["done", "--json"]).exits(2).json();
    assert_eq!(refused["diagnostics"][0]["fix"], "git commit -a");
    assert_eq!(hints(&bench), serde_json::json!(["git commit -a"]));
    bench.git(&["checkout", "-q", "discern.toml"]);
    bench.write("stray", "");
    assert_eq!(hints(&bench), serde_json::json!([]));
    let advice = bench.discern(&["done", "--json"]).exits(2).json()["diagnostics"][0]["advice"].clone();
    let status = bench.discern(&["status"]).exits(0);
    assert!(status.stdout.contains(advice.as_str().expect("it is for a person to decide")), "{}", status.shown());
}

#[test]
fn a_commit_that_can_not_be_proven_as_it_is_gets_no_hint_to_prove_it() {
    let bench = Bench::proven_by_true();
    bench.configure("inputs = [\"sorce/**\"]");
    bench.save("second");
    let status = bench.discern(&["status"]).exits(0);
    let place = format!("(discern.toml:{}:11)", bench.read("discern.toml").lines().count());
    assert!(status.stdout.contains(&place), "{place}: {}", status.shown());
    assert!(!status.stdout.contains("git discern done"), "{}", status.shown());
    let bare = bench.remote();
    bench.git(&["push", "-q", "origin", "main"]);
    let status = bare.discern(&["status"]).exits(0);
    assert!(!status.stdout.contains("git discern done"), "{}", status.shown());
}

#[test]
fn each_requirement_has_its_command_and_a_missed_limit_is_said() {
    let bench = Bench::new();
    bench.gate();
    bench.job("ok", "echo DISCERN_METRIC lines 7");
    bench.standard("size", "up", "2", "cat numbers");
    bench.configure("[standards.lines]\ndirection = \"up\"\nlimit = 5\nfrom = \"ok\"");
    bench.write("numbers", "DISCERN_METRIC size 3\n");
    bench.save("first");
    bench.discern(&["done"]).exits(0);
    let commands = |bench: &Bench| {
        let document = bench.discern(&["status", "--json"]).exits(0).json();
        let all = document["requirements"].as_array().expect("a list");
        all.iter().map(|it| it["command"].as_str().expect("text").to_owned()).collect::<Vec<_>>()
    };
    let expected = ["echo DISCERN_METRIC lines 7", "cat numbers", "output of ok"];
    assert_eq!(commands(&bench), expected);
    bench.write("numbers", "DISCERN_METRIC size 1\n");
    bench.save("second");
    bench.discern(&["done"]).exits(1);
    assert_eq!(commands(&bench), expected);
    let status = bench.discern(&["status"]).exits(0);
    assert!(status.stdout.contains("1 is below the limit 2"), "{}", status.shown());
}

#[test]
fn a_run_that_is_suspended_is_said_to_be_with_what_lets_it_go_on() {
    let bench = gated();
    for arguments in [&["done"][..], &["run", "gated"]] {
        let run = begun(&bench, arguments);
        let handle = handle(&bench);
        assert_eq!(bench.discern(&["status", "--json"]).exits(0).json()["claims"][0]["suspended"], false);
        run.signal(Signal::STOP);
        let mut claim = serde_json::Value::Null;
        crate::support::wait_for("a suspended run", || {
            claim = bench.discern(&["status", "--json"]).exits(0).json()["claims"][0].clone();
            claim["suspended"] == true
        });
        assert_eq!(claim["state"], "running");
        assert_eq!(claim["operation"], handle.as_str());
        assert_eq!(claim["command"], format!("kill -CONT {}", run.pid().as_raw_nonzero()));
        let status = bench.discern(&["status"]).exits(0);
        assert!(status.stdout.contains("suspended"), "{}", status.shown());
        run.signal(Signal::CONT);
        open(&bench);
        run.wait().exits(0);
    }
}
