//! Standards: a number is compared with the limit of today, and nobody loosens one unseen.

use test_case::test_case;

use super::scene::{Then, ask, expect, play, requirement, scene};
use Then::{Ran, Refused};

const FIVE: &str = "gate; job t true; std n down 5 'cat n'; echo DISCERN_METRIC n 5 > n; save";

#[test]
fn a_limit_tightened_after_a_pass_is_not_met_by_the_old_pass() {
    let bench = scene("gate; job t true; std n down 5 'cat n' 'inputs = [\"n\"]'; echo DISCERN_METRIC n 5 > n; save");
    expect(&bench, &[], Ran(0));
    play(&bench, "sed -i 's/limit = 5/limit = 4/' discern.toml; save");
    let (outcome, document) = ask(&bench, &[]);
    let entry = requirement(&document, "n");
    assert_eq!(
        (outcome.status, &entry["verdict"], &entry["source"]),
        (1, &"failed".into(), &"reused".into()),
        "{document:#}"
    );
}

#[test_case("sed -i 's/limit = 5/limit = 6/' discern.toml"; "a looser limit")]
#[test_case("sed -i 's/down/up/' discern.toml"; "the other direction")]
#[test_case("sed -i 's/cat n/echo DISCERN_METRIC n 1/' discern.toml"; "another command")]
#[test_case("gate; job t true"; "no standard at all")]
#[test_case("sed -i 's/standards.n/standards.m/' discern.toml; sed -i '$ametric = \"n\"' discern.toml"; "another name")]
#[test_case("sed -i '$ameasure = \"on-demand\"' discern.toml"; "no longer measured by the gate")]
#[test_case("sed -i '$ainputs = [\"discern.toml\"]' discern.toml"; "other inputs")]
fn a_standard_that_is_looser_than_trunks_is_no_pass(change: &str) {
    let bench = scene(FIVE);
    expect(&bench, &[], Ran(0));
    play(&bench, &format!("git checkout -q -b topic; {change}; save"));
    let (outcome, _) = ask(&bench, &[]);
    assert_eq!(outcome.status, 1, "{}", outcome.shown());
}

#[test]
fn a_tag_of_trunks_name_is_not_trunk() {
    let bench = scene(&format!("{FIVE}; git tag main; sed -i 's/limit = 5/limit = 3/; s/down/down/' discern.toml; echo DISCERN_METRIC n 3 > n; save
        git checkout -q -b topic; sed -i 's/limit = 3/limit = 5/' discern.toml; save"));
    let (outcome, _) = ask(&bench, &[]);
    assert_eq!(outcome.status, 1, "{}", outcome.shown());
}

#[test]
fn without_trunk_nothing_is_compared_with_nothing() {
    let bench = scene(&format!("{FIVE}; git checkout -q -b topic; git branch -q -D main"));
    expect(&bench, &[], Refused("no-trunk"));
}

#[test_case("echo DISCERN_METRIC n 5; exit 1"; "a good line before a bad end")]
#[test_case("echo DISCERN_METRIC m 5"; "another metric")]
#[test_case("true"; "no line")]
#[test_case("echo DISCERN_METRIC n"; "no number")]
#[test_case("echo DISCERN_METRIC n NaN"; "a number that is none")]
#[test_case("echo DISCERN_METRIC n inf"; "infinity")]
#[test_case("echo DISCERN_METRIC n 1; echo DISCERN_METRIC n 2"; "two numbers")]
#[test_case("echo DISCERN_METRIC n 1e400"; "a number beyond all bounds")]
fn what_is_no_reading_is_a_failure(command: &str) {
    let bench = scene(&format!("gate; std n down 5 '{command}'; save"));
    let (outcome, document) = ask(&bench, &[]);
    assert_eq!((outcome.status, &requirement(&document, "n")["verdict"]), (1, &"failed".into()), "{}", outcome.shown());
}

#[test]
fn a_kept_output_that_lost_its_end_is_not_measured() {
    let bench = scene(
        "gate; job t 'echo DISCERN_METRIC n 1; echo DISCERN_METRIC m 9'
        printf '[standards.n]\\ndirection = \"down\"\\nlimit = 5\\nfrom = \"t\"\\n' >> discern.toml; save",
    );
    expect(&bench, &[], Ran(0));
    play(
        &bench,
        "for log in .git/discern/run/*/t.1.log; do head -n 1 $log > ../cut; cp ../cut $log; done
        printf '[standards.m]\\ndirection = \"down\"\\nlimit = 5\\nfrom = \"t\"\\n' >> discern.toml
        sed -i '/^run/ainputs = [\":(exclude)discern.toml\", \".\"]' discern.toml; save",
    );
    let (outcome, document) = ask(&bench, &[]);
    assert_eq!((outcome.status, &requirement(&document, "m")["verdict"]), (1, &"failed".into()), "{}", outcome.shown());
}

#[test]
fn a_denominator_counts_committed_files_whatever_the_inputs_are() {
    let bench = scene(
        "mkdir src; printf 'a\\nb\\n' > src/a; gate; job t true
        std n down 1 'echo DISCERN_METRIC n 2' 'per = { lines = [\"src\"] }\ninputs = [\"discern.toml\"]'; save",
    );
    expect(&bench, &[], Ran(0));
    play(&bench, "echo a > src/a; save");
    let (outcome, document) = ask(&bench, &[]);
    assert_eq!((outcome.status, &requirement(&document, "n")["verdict"]), (1, &"failed".into()), "{}", outcome.shown());
}
