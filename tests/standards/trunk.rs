//! Never looser than trunk, and what loosening on purpose takes.

use super::{only_diagnostic, report};
use crate::support::{Bench, Place};

const PRINTS_9: &str = "echo DISCERN_METRIC n 9";

/// A repository whose `main` has the standard `n`, at most 9, measured on declared inputs.
fn ceiling_of_9(bench: &Bench) {
    bench.write("n", "DISCERN_METRIC n 9\n");
    bench.gate();
    bench.standard("n", "down", "9", "cat n");
    bench.save("trunk");
}

fn replace(place: &Place, from: &str, to: &str) {
    let before = place.read("discern.toml");
    assert!(before.contains(from), "{from} in {before}");
    place.write("discern.toml", before.replace(from, to));
}

#[test]
fn a_weaker_limit_fails_before_anything_runs_and_names_both_values_and_places() {
    let bench = Bench::new();
    ceiling_of_9(&bench);
    let base = bench.head();
    bench.git(&["checkout", "-q", "-b", "topic"]);
    replace(&bench, "limit = 9", "limit = 50");
    replace(&bench, "cat n", "touch ran; cat n");
    bench.save("more room");
    for command in ["standards", "done"] {
        let document = bench.discern(&[command, "--json"]).exits(1).json();
        let message = |at: usize| document["diagnostics"][at]["message"].as_str().expect("text").to_owned();
        let base = format!("{}:discern.toml", &base[..10]);
        assert_eq!(message(0), format!("standard `n` has limit 50 (discern.toml:5), above trunk's 9 ({base}:5)"));
        assert!(message(1).contains("`run` is \"touch ran; cat n\" instead of \"cat n\""), "{document:#}");
        assert_eq!(document["attempt"], serde_json::Value::Null);
        assert!(!bench.has("ran"), "{command} ran something");
    }
    let said = bench.discern(&["done"]).exits(1).stdout;
    assert!(said.contains("looser than trunk, nothing was run"), "{said}");
}

#[test]
fn a_removed_standard_fails_also_where_none_is_left() {
    let bench = Bench::new();
    ceiling_of_9(&bench);
    bench.git(&["checkout", "-q", "-b", "topic"]);
    bench.gate();
    bench.job("ok", "true");
    bench.save("no standards any more");
    for command in ["standards", "done"] {
        let (code, message) = only_diagnostic(&bench.discern(&[command, "--json"]).exits(1));
        assert_eq!(code, "looser-than-trunk");
        assert!(message.starts_with("standard `n` is missing; trunk's limit is 9"), "{message}");
    }
}

#[test]
fn a_tag_called_like_trunk_is_not_trunk() {
    let bench = Bench::new();
    ceiling_of_9(&bench);
    bench.git(&["tag", "main"]);
    replace(&bench, "limit = 9", "limit = 3");
    bench.write("n", "DISCERN_METRIC n 3\n");
    bench.save("tighter");
    bench.git(&["checkout", "-q", "-b", "topic"]);
    replace(&bench, "limit = 3", "limit = 9");
    bench.save("back");
    let (_, message) = only_diagnostic(&bench.discern(&["standards", "--json"]).exits(1));
    assert!(message.contains("above trunk's 3"), "{message}");
}

#[test]
fn the_merge_base_counts_and_a_trunk_that_moved_on_is_said() {
    let bench = Bench::new();
    ceiling_of_9(&bench);
    bench.git(&["branch", "topic"]);
    let parted = bench.head();
    bench.write("n", "DISCERN_METRIC n 5\n");
    bench.save("better");
    bench.git(&["checkout", "-q", "topic"]);
    bench.save("unrelated");
    let said = bench.discern(&["standards"]).exits(0).stderr;
    assert!(said.contains(&format!("compared with `main` at {}", &parted[..10])), "{said}");
    // And where the limit itself moved, `done` says it as well.
    bench.git(&["checkout", "-q", "main"]);
    replace(&bench, "limit = 9", "limit = 5");
    bench.save("pinned");
    bench.git(&["checkout", "-q", "topic"]);
    let said = bench.discern(&["done"]).exits(0).stderr;
    assert!(said.contains("standard `n` is compared with 9; trunk has moved on to 5 (main:discern.toml:5)"), "{said}");
}

#[test]
fn the_stricter_one_of_both_limits_counts() {
    let bench = Bench::new();
    ceiling_of_9(&bench);
    bench.git(&["checkout", "-q", "-b", "topic"]);
    replace(&bench, "limit = 9", "limit = 7");
    bench.save("tighter than it is");
    let document = bench.discern(&["standards", "--json"]).exits(1).json();
    let n = report(&document, "n");
    assert_eq!((&n["value"], &n["limit"], &n["trunk_limit"]), (&"9".into(), &"7".into(), &"9".into()));
    assert_eq!((&n["distance"], &n["reason"]), (&"-2".into(), &"9 is above the limit 7".into()));
}

#[test]
fn a_shallow_clone_is_refused_with_the_command_that_helps() {
    let bench = Bench::new();
    ceiling_of_9(&bench);
    bench.git(&["checkout", "-q", "-b", "topic"]);
    bench.save("more");
    bench.git(&["clone", "-q", "--depth", "1", "-b", "topic", &format!("file://{}", bench.path().display()), "../c"]);
    let clone = bench.at("../c");
    let fix = |document: &serde_json::Value| document["diagnostics"][0]["fix"].as_str().expect("a fix").to_owned();
    let refused = clone.discern(&["standards", "--json"]).exits(2).json();
    assert_eq!(refused["diagnostics"][0]["code"], "no-trunk");
    let fetch = fix(&refused);
    let _ = clone.discern(&["done"]).exits(2);
    // Trunk alone is not enough: the merge base must be here as well.
    clone.git(&["fetch", "-q", "--depth", "1", "origin", "+refs/heads/main:refs/remotes/origin/main"]);
    let refused = clone.discern(&["standards", "--json"]).exits(2).json();
    assert_eq!(refused["diagnostics"][0]["code"], "no-merge-base");
    assert_eq!(fix(&refused), fetch);
    let _ = clone.sh(&fetch).exits(0);
    let _ = clone.discern(&["standards"]).exits(0);
}

#[test]
fn trunks_unreadable_configuration_is_an_error_that_names_it() {
    let bench = Bench::new();
    bench.write("discern.toml", "[standards.n]\nlimit = \"many\"\n");
    bench.save("broken");
    bench.git(&["checkout", "-q", "-b", "topic"]);
    bench.gate();
    bench.standard("n", "down", "9", PRINTS_9);
    bench.save("mended");
    let refused = bench.discern(&["standards", "--json"]).exits(2).json();
    let places: Vec<String> =
        refused["diagnostics"].as_array().expect("some").iter().map(|it| it["where"].to_string()).collect();
    assert!(places.iter().any(|place| place.contains("main:discern.toml:2")), "{refused:#}");
}

#[test]
fn on_trunks_own_branch_a_standard_may_be_loosened_in_the_open() {
    let bench = Bench::new();
    let _remote = bench.remote();
    ceiling_of_9(&bench);
    bench.git(&["push", "-q", "-u", "origin", "main"]);
    replace(&bench, "limit = 9", "limit = 12");
    bench.write("n", "DISCERN_METRIC n 11\n");
    let loose = bench.save("the parser needs more room");
    // While only another branch has it, it is refused.
    bench.git(&["checkout", "-q", "-b", "topic"]);
    bench.git(&["branch", "-q", "-f", "main", "origin/main"]);
    let _ = bench.discern(&["done"]).exits(1);
    bench.git(&["checkout", "-q", "-B", "main", "topic"]);
    let proven = bench.discern(&["done", "--json"]).exits(0);
    let sentence = "standard `n` has limit 12 (discern.toml:5), above trunk's 9";
    assert!(proven.stderr.contains(sentence), "{}", proven.shown());
    let loosened = proven.json()["proof"]["loosened"].to_string();
    assert!(loosened.contains(sentence), "{loosened}");
    // The Proof holds for as long as trunk, or its own branch here, has the commit; everybody says the same.
    let all_say = |done: i32, verify: i32| {
        let _ = bench.discern(&["verify", &loose]).exits(verify);
        let _ = bench.discern(&["done"]).exits(done);
    };
    all_say(0, 0);
    bench.git(&["checkout", "-q", "topic"]);
    all_say(0, 0);
    bench.git(&["branch", "-q", "-f", "main", "origin/main"]);
    all_say(1, 1);
    bench.git(&["push", "-q", "origin", "topic:main"]);
    all_say(0, 0);
}

#[test]
fn without_a_remote_what_trunk_loosens_is_noted_against_the_commit_before() {
    let bench = Bench::new();
    ceiling_of_9(&bench);
    let before = bench.head();
    replace(&bench, "limit = 9", "limit = 12");
    bench.save("more room");
    let proven = bench.discern(&["done", "--json"]).exits(0);
    let sentence =
        format!("standard `n` has limit 12 (discern.toml:5), above trunk's 9 ({}:discern.toml:5)", &before[..10]);
    assert!(proven.stderr.contains(&sentence), "{}", proven.shown());
    assert_eq!(proven.json()["proof"]["loosened"], serde_json::json!([sentence]));
    for command in ["done", "show", "verify"] {
        let said = bench.discern(&[command]).exits(0).shown();
        assert!(said.contains(&sentence), "{command}: {said}");
    }
    // The commit after it loosens nothing; a parent that can't be read forbids nothing.
    bench.save("on it goes");
    let proven = bench.discern(&["done", "--json"]).exits(0).json();
    assert_eq!(proven["proof"]["loosened"], serde_json::Value::Null);
    let mended = bench.read("discern.toml");
    bench.write("discern.toml", "[jobs");
    bench.save("broken");
    bench.write("discern.toml", mended);
    bench.save("mended");
    let _ = bench.discern(&["done"]).exits(0);
}

#[test]
fn a_candidate_can_not_name_its_own_branch_as_trunk() {
    let bench = Bench::new();
    ceiling_of_9(&bench);
    bench.git(&["checkout", "-q", "-b", "topic"]);
    replace(&bench, "trunk = \"main\"", "trunk = \"topic\"");
    bench.save("another trunk");
    let said = bench.discern(&["standards"]).exits(0).stderr;
    assert!(said.contains("`[gate] trunk` is `topic` in this commit; compared with `main`"), "{said}");
    replace(&bench, "limit = 9", "limit = 50");
    bench.save("more room");
    let (_, message) = only_diagnostic(&bench.discern(&["done", "--json"]).exits(1));
    assert!(message.contains("above trunk's 9"), "{message}");
}

#[test]
fn a_branch_on_the_remote_that_calls_itself_trunk_is_one() {
    let bench = Bench::new();
    let _remote = bench.remote();
    ceiling_of_9(&bench);
    bench.git(&["push", "-q", "origin", "main"]);
    bench.git(&["checkout", "-q", "-b", "release"]);
    replace(&bench, "trunk = \"main\"", "trunk = \"release\"");
    bench.save("a trunk of its own");
    let _ = bench.discern(&["done"]).exits(0);
    bench.git(&["push", "-q", "origin", "release"]);
    replace(&bench, "limit = 9", "limit = 12");
    bench.save("more room on release");
    let proven = bench.discern(&["done", "--json"]).exits(0).json();
    assert_eq!(proven["proof"]["trunk"]["name"], "refs/remotes/origin/release");
    assert_eq!(proven["proof"]["loosened"].as_array().map(Vec::len), Some(1));
}
