//! What a CI service gets: JUnit XML, and annotations on GitHub Actions.

use crate::support::Bench;

fn failing() -> Bench {
    let bench = Bench::new();
    bench.gate();
    bench.job("fine", "true");
    bench.configure(
        "[jobs.broken]\nrun = \"echo 'src/a.c:3:7: error: expected <;> & more'; exit 1\"\nafter = [\"fine\"]",
    );
    bench.configure("[jobs.never]\nrun = \"true\"\nneeds = [\"broken\"]");
    bench.write("src/a.c", "int a\n");
    bench.save("first");
    bench
}

#[test]
fn junit_has_a_case_for_each_requirement() {
    let bench = failing();
    let _ = bench.discern(&["done", "--junit", "../report.xml"]).exits(1);
    let xml = bench.read("../report.xml");
    for part in [
        "tests=\"3\" skipped=\"1\" errors=\"0\" failures=\"1\"",
        "<testcase name=\"fine\" classname=\"job\"",
        "expected &lt;;&gt; &amp; more",
        "<skipped",
    ] {
        assert!(xml.contains(part), "{part}: {xml}");
    }
}

#[test]
fn junit_is_written_for_a_standing_answer_and_for_a_refusal_too() {
    let bench = Bench::proven_by_true();
    let _ = bench.discern(&["done"]).exits(0);
    let _ = bench.discern(&["done", "--junit", "../again.xml"]).exits(0);
    assert!(bench.read("../again.xml").contains("<testcase name=\"ok\""));
    bench.write("untracked", "");
    bench.write("discern.toml", "changed");
    let _ = bench.discern(&["done", "--junit", "../refused.xml"]).exits(2);
    let xml = bench.read("../refused.xml");
    assert!(xml.contains("errors=\"1\"") && xml.contains("<error message="), "{xml}");
}

#[test]
fn a_folder_that_is_not_there_is_said_before_anything_runs() {
    let bench = Bench::new();
    bench.gate();
    bench.job("loud", "touch ../ran");
    bench.save("first");
    let refused = bench.discern(&["done", "--junit", "../nowhere/report.xml"]).exits(2);
    assert!(refused.stderr.contains("there is no folder `../nowhere`"), "{}", refused.shown());
    assert!(!bench.has("../ran"));
}

#[test]
fn failures_are_annotations_at_their_places_on_github_alone() {
    let bench = failing();
    let annotation = "::error file=src/a.c,line=3,col=7,title=broken failed::error: expected <;> & more\n";
    let elsewhere = bench.discern(&["done"]).exits(1);
    assert!(!elsewhere.stderr.contains("::error"), "{}", elsewhere.shown());
    let there = bench.with_variable("GITHUB_ACTIONS", "true");
    let annotated = there.discern(&["done", "--rerun"]).exits(1);
    assert!(annotated.stderr.contains(annotation), "{}", annotated.shown());
    let document = there.discern(&["done", "--json"]).exits(1);
    assert!(document.stderr.contains(annotation) && document.json()["exit"] == 1, "{}", document.shown());
}

/// The first shell block of `docs/ci.md`.
fn plain_shell_recipe() -> String {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/ci.md")).expect("it is there");
    let block = page.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next());
    block.expect("a block").to_owned()
}

#[test]
fn the_recipe_for_a_plain_shell_proves_a_fresh_clone_and_fails_on_a_dirty_one() {
    let bench = Bench::proven_by_true();
    bench.remote();
    bench.git(&["push", "-q", "origin", "main"]);
    bench.git(&["clone", "-q", "../o.git", "../clone"]);
    let clone = bench.at("../clone");
    let recipe = plain_shell_recipe();
    let _ = clone.sh(&recipe).exits(0);
    let _ = clone.discern(&["verify"]).exits(0);
    clone.write("discern.toml", "[gate]\ntrunk = \"main\"\nuntracked = \"ignore\"\n[jobs.ok]\nrun = \"true\"\n");
    clone.save("lax");
    clone.write("left-over", "");
    let dirty = clone.sh(&recipe).exits(1);
    assert!(dirty.stderr.contains("left the tree dirty:\n?? left-over"), "{}", dirty.shown());
    clone.job("no", "false");
    clone.save("failing");
    let _ = clone.sh(&recipe).exits(1);
}
