//! `doctor`: what keeps runs from working, and its remedy.

use crate::support::{Bench, Hash, Refs};

/// The state of one check.
fn state(document: &serde_json::Value, code: &str) -> String {
    let checks = document["checks"].as_array().expect("a list");
    let check = checks.iter().find(|check| check["code"] == code).unwrap_or_else(|| panic!("{code}: {document:#}"));
    check["state"].as_str().expect("a word").to_owned()
}

#[test]
fn a_healthy_repository_of_each_kind_has_nothing_broken() {
    for (refs, hash) in [(Refs::Files, Hash::Sha1), (Refs::Reftable, Hash::Sha256)] {
        let bench = Bench::with(refs, hash);
        bench.gate();
        bench.job("ok", "true");
        bench.job("list", "ls");
        bench.save("first");
        bench.discern(&["done"]).exits(0);
        let document = bench.discern(&["doctor", "--json"]).exits(0).json();
        for code in ["git", "repository", "configuration", "commands", "store", "processes", "claims", "locks", "space"]
        {
            assert_eq!(state(&document, code), "good", "{document:#}");
        }
        assert_eq!(state(&document, "hook"), "note");
        bench.discern(&["hook", "install"]).exits(0);
        assert_eq!(state(&bench.discern(&["doctor", "--json"]).exits(0).json(), "hook"), "good");
    }
}

#[test]
fn what_is_broken_is_named_with_what_mends_it() {
    let bench = Bench::new();
    bench.gate();
    bench.job("odd", "no-such-program --check");
    bench.save("first");
    let name = format!("refs/discern/attempt/{}", bench.head());
    bench.write(&format!(".git/{name}.lock"), "");
    bench.sh(&format!("touch -d '1 hour ago' .git/{name}.lock")).exits(0);
    let doctor = bench.discern(&["doctor"]).exits(2);
    for said in ["not executable: `no-such-program` (job `odd`)", &format!("git discern recover --break-lock {name}")] {
        assert!(doctor.stdout.contains(said), "{said}: {}", doctor.shown());
    }
    bench.write("discern.toml", "[jobs\n");
    let doctor = bench.discern(&["doctor"]).exits(2);
    assert!(doctor.stdout.contains("broken as it stands in the worktree"), "{}", doctor.shown());
    bench.save("broken");
    let document = bench.discern(&["doctor", "--json"]).exits(2).json();
    assert_eq!(state(&document, "configuration"), "broken");
}

#[test]
fn what_is_surplus_is_dropped_where_that_is_asked_for() {
    let bench = Bench::proven_by_true();
    bench.discern(&["done"]).exits(0);
    bench.write(".git/discern/seen/.tmp-left", "");
    bench.sh("touch -d '2 hours ago' .git/discern/seen/.tmp-left").exits(0);
    assert_eq!(state(&bench.discern(&["doctor", "--json"]).exits(0).json(), "space"), "note");
    assert_eq!(state(&bench.discern(&["doctor", "--fix", "--json"]).exits(0).json(), "space"), "mended");
    assert!(!bench.has(".git/discern/seen/.tmp-left"));
    assert_eq!(state(&bench.discern(&["doctor", "--json"]).exits(0).json(), "space"), "good");
}

#[test]
fn an_empty_repository_and_a_bare_one_are_no_fault() {
    let bench = Bench::new();
    let document = bench.discern(&["doctor", "--json"]).exits(0).json();
    assert_eq!(state(&document, "configuration"), "note");
    let bare = bench.remote();
    bare.discern(&["doctor"]).exits(0);
}

#[test]
fn what_only_a_shell_can_say_is_not_called_missing() {
    let bench = Bench::new();
    bench.gate();
    bench.job("set", "V=$(git describe --always) true");
    bench.job("counted", "n=$(grep -c x f.txt); test $n -lt 3");
    bench.job("function", "check() { true; }; check");
    bench.job("built", "./made/by/another");
    bench.configure("needs = [\"set\"]");
    bench.save("first");
    assert_eq!(state(&bench.discern(&["doctor", "--json"]).exits(0).json(), "commands"), "good");
}

#[test]
fn inputs_that_a_run_would_refuse_are_named_where_they_are_written() {
    let bench = Bench::new();
    bench.gate();
    bench.job("test", "true");
    bench.configure("inputs = [\"discern.toml\", \"srcs/**\"]");
    bench.save("first");
    let doctor = bench.discern(&["doctor"]).exits(2);
    let line = bench.read("discern.toml").lines().position(|line| line.contains("srcs")).expect("it is there") + 1;
    let said = format!("`srcs/**` in `inputs` selects no file of the commit, discern.toml:{line}:27");
    assert!(doctor.stdout.contains(&said), "{said}: {}", doctor.shown());
    let refused = bench.discern(&["done"]).exits(2);
    assert!(refused.stderr.contains(&format!("at discern.toml:{line}:27")), "{}", refused.shown());
}
