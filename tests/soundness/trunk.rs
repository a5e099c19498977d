//! A candidate that drops or redefines what trunk demands: said by every answer, refused where trunk refuses it, and no way for the
//! candidate to excuse itself.

use test_case::test_case;

use super::scene::{Then, ask, expect, play, prove, scene};
use crate::support::Bench;
use Then::{Ran, Refused, Reused};

const TRUNK: &str = "job lint 'true # lint'; job t 'true # t'; std n down 9 'echo DISCERN_METRIC n 3'; save";
/// Another `discern.toml`: without `lint`, and with another `t`.
const DEPARTS: &str = "git checkout -q -b topic; gate; job t true; std n down 9 'echo DISCERN_METRIC n 3'; save topic";

fn with_trunk(gate: &str) -> Bench {
    let bench = scene(&format!("gate '{gate}'; {TRUNK}"));
    prove(&bench);
    bench
}

#[test]
fn what_departs_from_trunk_is_said_by_every_answer() {
    let bench = with_trunk("");
    let base = &bench.head()[..10].to_owned();
    play(&bench, DEPARTS);
    let says = [
        format!("job `lint` of trunk ({base}:discern.toml:4) is missing"),
        format!("job `t` (discern.toml:4) differs from trunk's ({base}:discern.toml:7) in `run`"),
    ];
    for (command, told_as_story) in [("done", true), ("done", false), ("show", false), ("verify", false)] {
        let outcome = bench.discern(&[command]).exits(0);
        let text = if told_as_story { &outcome.stderr } else { &outcome.stdout };
        assert!(says.iter().all(|one| text.contains(one)), "{}", outcome.shown());
        let document = bench.discern(&[command, "--json"]).exits(0).json();
        let departures = match command {
            "verify" => &document["commits"][0]["departures"],
            _ => &document["proof"]["departures"],
        };
        assert_eq!(departures, &serde_json::json!(says), "{document:#}");
    }
}

#[test]
fn trunk_refuses_what_departs_whatever_the_candidate_says() {
    let bench = with_trunk("jobs = \"trunk\"");
    // Its own word, `jobs = "own"`, is not asked; nor is another trunk of its own choice.
    for own in ["", "jobs = \"own\"", "jobs = \"trunk\""] {
        play(
            &bench,
            &format!(
                "git checkout -q -B topic main; gate '{own}'; job t 'true # t'; std n down 9 'echo DISCERN_METRIC n 3'; save"
            ),
        );
        let document = expect(&bench, &[], Refused("departs-from-trunk"));
        let place = document["diagnostics"][0]["where"][0].as_str().unwrap_or_default();
        assert!(place.starts_with("job `lint` of trunk ("), "{document:#}");
    }
    play(&bench, "sed -i 's/trunk = \"main\"/trunk = \"topic\"/' discern.toml; save");
    expect(&bench, &[], Refused("departs-from-trunk"));
    bench.discern(&["verify"]).exits(1).stdout.clear();
}

#[test_case("environment = \"strict\"", "environment = \"inherit\""; "variables")]
#[test_case("untracked = \"refuse\"", "untracked = \"ignore\""; "untracked files")]
#[test_case("workspace = \"isolated\"", "workspace = \"in-place\""; "the checkout")]
fn a_gate_that_lets_more_through_is_a_departure(trunk: &str, own: &str) {
    let bench = with_trunk(&format!("jobs = \"trunk\"\n{trunk}"));
    play(&bench, &format!("git checkout -q -b topic; sed -i 's/{trunk}/{own}/' discern.toml; save"));
    let document = expect(&bench, &[], Refused("departs-from-trunk"));
    let place = document["diagnostics"][0]["where"][0].as_str().unwrap_or_default();
    assert!(place.starts_with("`[gate] ") && place.contains("trunk's is"), "{document:#}");
}

#[test]
fn a_proof_that_departs_counts_no_more_once_trunk_refuses_it() {
    let bench = with_trunk("");
    play(&bench, DEPARTS);
    prove(&bench);
    play(&bench, "git checkout -q main; sed -i '/^trunk/a jobs = \"trunk\"' discern.toml; save; git checkout -q topic");
    let outcome = bench.discern(&["verify"]);
    let why = "its Proof does not count: it is not on `main`, and only there this is allowed: job `lint` of trunk";
    assert!(outcome.status == 1 && outcome.stdout.contains(why), "{}", outcome.shown());
    expect(&bench, &[], Refused("departs-from-trunk"));
    // Merged, it is what trunk says.
    play(&bench, "git checkout -q main; git merge -q -s ours topic; git checkout -q topic");
    bench.discern(&["verify"]).exits(0).stdout.clear();
}

#[test]
fn on_trunks_own_branch_jobs_may_be_changed_in_the_open() {
    let bench = with_trunk("jobs = \"trunk\"");
    bench.remote();
    play(&bench, "git push -q origin main; sed -i 's/true # lint/true # other/' discern.toml; save");
    let (outcome, document) = ask(&bench, &[]);
    assert_eq!(
        (outcome.status, document["proof"]["departures"].as_array().map(Vec::len)),
        (0, Some(1)),
        "{}",
        outcome.shown()
    );
    bench.discern(&["verify"]).exits(0).stdout.clear();
    // On another branch the same commit is not excused.
    play(&bench, "git checkout -q -b topic; git branch -f main origin/main");
    bench.discern(&["verify"]).exits(1).stdout.clear();
    expect(&bench, &[], Refused("departs-from-trunk"));
}

#[test]
fn a_demand_to_compare_jobs_needs_a_trunk_to_compare_with() {
    let bench = scene("gate 'jobs = \"trunk\"'; job t true; git checkout -q -b topic; save");
    let document = expect(&bench, &[], Refused("no-trunk"));
    assert_eq!(document["diagnostics"][0]["advice"], "make the branch: `git branch main COMMIT`");
    play(&bench, "git branch main");
    expect(&bench, &[], Ran(0));
    // Without that demand, and without standards, nothing needs trunk.
    play(&bench, "git branch -D -q main; sed -i /^jobs/d discern.toml; save");
    expect(&bench, &[], Ran(0));
    play(&bench, "git commit -q --amend -m other");
    expect(&bench, &[], Reused);
}

#[test_case("ln -s real.toml discern.toml; cp ../kept real.toml", "not a plain file"; "a link")]
#[test_case("git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),discern.toml; mkdir discern.toml", "a submodule"; "a submodule")]
#[test_case("mkdir discern.toml; cp ../kept discern.toml/a", "not a plain file"; "a folder")]
fn a_configuration_that_is_no_file_is_called_so(change: &str, says: &str) {
    let bench = scene("gate; job t true; save");
    prove(&bench);
    play(
        &bench,
        &format!("cp discern.toml ../kept; git rm -q discern.toml; {change}; git add -A; git commit -q -m other"),
    );
    let document = expect(&bench, &[], Refused("config-no-file"));
    assert!(document["diagnostics"][0]["message"].as_str().is_some_and(|it| it.contains(says)), "{document:#}");
    bench.discern(&["verify"]).exits(1).stdout.clear();
}
