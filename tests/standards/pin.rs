//! `--pin`: tightens what improved, where it is written, and nothing else.

use super::{only_diagnostic, report};
use crate::support::{Bench, Place};

const FILE: &str = r#"# What must hold here.
[gate]
trunk   =  "main"

[standards.coverage]   # of lines
direction = "up"
limit = 81.5  # raised in May
margin = 0.5
run = "echo x >> .git/measured; cat numbers"

[standards]
warnings = { direction = "down", limit = 1_000, run = "echo x >> .git/measured; cat numbers" }

[standards.slow]
direction = "down"
limit = 60
measure = "on-demand"
run = "echo x >> .git/slow; echo DISCERN_METRIC slow 40"
"#;

fn commit(place: &Place, coverage: &str, warnings: &str) {
    place.write("discern.toml", FILE);
    place.write("numbers", format!("DISCERN_METRIC coverage {coverage}\nDISCERN_METRIC warnings {warnings}\n"));
    place.save("measured");
}

fn times_measured(place: &Place) -> usize {
    place.read(".git/measured").lines().count()
}

#[test]
fn limits_that_improved_are_tightened_in_place_and_the_diff_is_shown() {
    let bench = Bench::new();
    commit(&bench, "83.2", "950");
    let pinned = bench.discern(&["standards", "--pin"]).exits(0);
    let expected = FILE.replace("81.5  #", "82.7  #").replace("1_000", "950");
    assert_eq!(bench.read("discern.toml"), expected);
    for line in ["-limit = 81.5  # raised in May", "+limit = 82.7  # raised in May", "2 limits in discern.toml"] {
        assert!(pinned.stdout.contains(line), "{}", pinned.shown());
    }
    // Committing is the user's.
    assert_eq!(bench.git(&["status", "--porcelain"]), "M discern.toml");
    bench.save("pinned");
    let again = bench.discern(&["standards", "--pin"]).exits(0);
    assert!(again.stdout.contains("nothing"), "{}", again.shown());
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
}

#[test]
fn the_diff_in_the_document_is_one_that_git_applies() {
    let bench = Bench::new();
    commit(&bench, "83.2", "950");
    let document = bench.discern(&["standards", "--pin", "--json"]).exits(0).json();
    let pinned = bench.read("discern.toml");
    bench.git(&["checkout", "-q", "discern.toml"]);
    bench.write("../pin.diff", document["pinned"]["diff"].as_str().expect("a diff"));
    bench.git(&["apply", "../pin.diff"]);
    assert_eq!(bench.read("discern.toml"), pinned);
    let limits = document["pinned"]["limits"].as_array().expect("limits");
    assert_eq!(limits.len(), 2);
    assert_eq!((&limits[0]["from"], &limits[0]["to"], &limits[0]["line"]), (&"81.5".into(), &"82.7".into(), &7.into()));
}

#[test]
fn a_pin_right_after_a_green_run_measures_nothing_again() {
    let bench = Bench::new();
    commit(&bench, "83.2", "950");
    let _ = bench.discern(&["done"]).exits(0);
    let document = bench.discern(&["standards", "--pin", "--json"]).exits(0).json();
    assert_eq!(report(&document, "coverage")["source"], "reused");
    assert_eq!(times_measured(&bench), 1);
    // Nobody asked for the one that is measured on demand: its limit stays.
    assert!(!bench.has(".git/slow") && bench.read("discern.toml").contains("limit = 60"));
}

#[test]
fn only_the_named_limits_are_tightened() {
    let bench = Bench::new();
    commit(&bench, "83.2", "950");
    let _ = bench.discern(&["standards", "--pin", "slow", "warnings"]).exits(0);
    assert_eq!(bench.read("discern.toml"), FILE.replace("1_000", "950").replace("limit = 60", "limit = 40"));
}

#[test]
fn what_was_measured_on_demand_is_pinned_from_what_is_known() {
    let bench = Bench::new();
    commit(&bench, "83.2", "950");
    let _ = bench.discern(&["standards"]).exits(0);
    let _ = bench.discern(&["standards", "--pin"]).exits(0);
    assert!(bench.read("discern.toml").contains("limit = 40"));
    assert_eq!(bench.read(".git/slow").lines().count(), 1);
}

#[test]
fn a_red_standard_keeps_every_limit_as_it_is() {
    for (coverage, warnings) in [("70", "950"), ("83.2", "many")] {
        let bench = Bench::new();
        commit(&bench, coverage, warnings);
        let (code, _) = only_diagnostic(&bench.discern(&["standards", "--pin", "--json"]).exits(1));
        assert_eq!(code, "not-pinned");
        assert_eq!(bench.read("discern.toml"), FILE);
    }
}

#[test]
fn what_is_within_the_margin_stays() {
    let bench = Bench::new();
    commit(&bench, "81.9", "1000");
    let document = bench.discern(&["standards", "--pin", "--json"]).exits(0).json();
    assert_eq!(document["pinned"]["limits"].as_array().map(Vec::len), Some(0));
    assert_eq!(bench.read("discern.toml"), FILE);
}

#[test]
fn line_ends_as_git_checks_them_out_and_the_files_mode_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new();
    bench.git(&["config", "core.autocrlf", "true"]);
    commit(&bench, "83.2", "950");
    std::fs::remove_file(bench.path().join("discern.toml")).expect("it is there");
    bench.git(&["checkout", "-q", "discern.toml"]);
    let mode = |bits| std::fs::Permissions::from_mode(bits);
    std::fs::set_permissions(bench.path().join("discern.toml"), mode(0o664)).expect("ours");
    let _ = bench.discern(&["standards", "--pin"]).exits(0);
    let expected = FILE.replace("81.5  #", "82.7  #").replace("1_000", "950").replace('\n', "\r\n");
    assert_eq!(bench.read("discern.toml"), expected);
    let after = std::fs::metadata(bench.path().join("discern.toml")).expect("it is there").permissions().mode();
    assert_eq!(after & 0o777, 0o664);
}

/// As an editor on another system saves it: with a byte-order mark, and two signs at the end of a line.
const THEIRS: &str = r#"[gate]
trunk = "main"
[standards.size]
direction = "up"
limit = 1
run = """
value=3
echo DISCERN_METRIC size $value
"""
[jobs.lines]
run = """
case x in
  x) exit 0
esac
"""
"#;

#[test]
fn a_file_of_another_system_is_read_as_it_is_meant_and_pinned_as_it_is_written() {
    let bench = Bench::new();
    bench.git(&["config", "core.autocrlf", "false"]);
    let theirs = format!("\u{feff}{}", THEIRS.replace('\n', "\r\n"));
    bench.write("discern.toml", &theirs);
    bench.save("first");
    bench.discern(&["done"]).exits(0);
    bench.discern(&["standards", "--pin"]).exits(0);
    assert_eq!(bench.read("discern.toml"), theirs.replace("limit = 1\r\n", "limit = 3\r\n"));
}
