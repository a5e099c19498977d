//! `--history`: the values over the commits of a branch, from Proofs and receipts.

use serde_json::Value;

use super::only_diagnostic;
use crate::support::{Bench, Place};

fn commit(place: &Place, limit: &str, value: &str, status: i32) -> String {
    place.gate();
    place.standard("coverage", "up", limit, &format!("echo DISCERN_METRIC coverage {value}"));
    let commit = place.save(&format!("reads {value}"));
    let _ = place.discern(&["done"]).exits(status);
    commit
}

/// `coverage` over four commits: two proven, one red, one never looked at.
fn four_commits(bench: &Bench) -> Vec<String> {
    let proven = commit(bench, "80", "80.5", 0);
    let red = commit(bench, "81", "80.25", 1);
    bench.save("nobody ran this");
    vec![proven, red, commit(bench, "81", "83", 0)]
}

fn points(document: &Value, name: &str) -> Vec<(String, String, String, bool)> {
    let standards = document["standards"].as_array().expect("standards");
    let standard = standards.iter().find(|it| it["name"] == name).expect("it is there");
    let text = |point: &Value, key: &str| point[key].as_str().expect("text").to_owned();
    let points = standard["points"].as_array().expect("points").iter();
    points
        .map(|it| (text(it, "commit"), text(it, "value"), text(it, "distance"), it["meets"] == Value::Bool(true)))
        .collect()
}

#[test]
fn without_standards_the_history_says_so() {
    let bench = Bench::proven_by_true();
    let said = bench.discern(&["standards", "--history"]).exits(0).stdout;
    assert_eq!(said, "no standard on the 1 commit looked at\n");
}

#[test]
fn values_of_proofs_and_of_red_runs_are_in_the_history_oldest_first() {
    let bench = Bench::new();
    let commits = four_commits(&bench);
    let document = bench.discern(&["standards", "--history", "--json"]).exits(0).json();
    assert_eq!((&document["schema"], &document["commits"]), (&"discern/standards-history/1".into(), &4.into()));
    let point = |at: usize, value: &str, distance: &str, meets| {
        (commits[at].clone(), value.to_owned(), distance.to_owned(), meets)
    };
    let expected = [point(0, "80.5", "0.5", true), point(1, "80.25", "-0.75", false), point(2, "83", "2", true)];
    assert_eq!(points(&document, "coverage"), expected);
}

#[test]
fn people_see_a_chart_and_a_table() {
    let bench = Bench::new();
    let _snapshots = bench.stable_snapshots();
    four_commits(&bench);
    insta::assert_snapshot!(bench.discern(&["standards", "--history", "coverage"]).exits(0).shown());
}

#[test]
fn what_only_standards_measured_or_reused_is_known_as_well() {
    let bench = Bench::new();
    bench.gate();
    bench.job("fails", "false");
    bench.standard("size", "down", "9", "echo DISCERN_METRIC size 5");
    bench.configure("inputs = [\"code\"]\nmeasure = \"on-demand\"");
    bench.write("code", "1");
    let first = bench.save("measured");
    let _ = bench.discern(&["standards"]).exits(0);
    let second = bench.save("reused");
    let _ = bench.discern(&["standards"]).exits(0);
    let document = bench.discern(&["standards", "--history", "--json"]).exits(0).json();
    let seen: Vec<String> = points(&document, "size").into_iter().map(|(commit, ..)| commit).collect();
    assert_eq!(seen, [first.clone(), second]);
    assert_eq!(document["standards"][0]["points"][1]["obtained_on"], Value::String(first));
}

#[test]
fn another_branch_and_fewer_commits_can_be_asked_for() {
    let bench = Bench::new();
    let commits = four_commits(&bench);
    bench.git(&["branch", "old", &commits[1]]);
    let ask = |more: &[&str]| bench.discern(&[&["standards", "--history", "--json"], more].concat()).exits(0).json();
    assert_eq!(points(&ask(&["--on", "old"]), "coverage").len(), 2);
    assert_eq!(points(&ask(&["--commits", "2"]), "coverage").len(), 1);
    let (code, message) = only_diagnostic(&bench.discern(&["standards", "--history", "cover", "--json"]).exits(2));
    assert_eq!(code, "unknown-name");
    assert!(message.contains("`cover`"), "{message}");
}
