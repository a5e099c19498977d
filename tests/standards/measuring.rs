//! From a command's output, or what a job left, to a reading.

use test_case::test_case;

use super::{only_diagnostic, report};
use crate::support::{Bench, Place};

#[test_case("true", "no line begins with `DISCERN_METRIC n`; the command must print one itself"; "missing")]
#[test_case("echo DISCERN_METRIC n many", "`DISCERN_METRIC n many` holds no finite decimal number"; "malformed")]
#[test_case("echo DISCERN_METRIC n NaN", "it is not a number (NaN)"; "not a number")]
#[test_case("echo DISCERN_METRIC n -inf", "it is infinite"; "infinite")]
#[test_case("echo DISCERN_METRIC n 3,5", "it has a comma"; "decimal comma")]
#[test_case("echo DISCERN_METRIC n", "there is no number"; "no number")]
#[test_case("echo DISCERN_METRIC n 3 %", "`DISCERN_METRIC n 3 %` is not `DISCERN_METRIC <name> <number>`"; "a unit")]
#[test_case("printf 'DISCERN_METRIC n 3\\nDISCERN_METRIC n 4\\n'",
    "`DISCERN_METRIC n 3` and `DISCERN_METRIC n 4` disagree"; "values that disagree")]
#[test_case("echo DISCERN_METRIC n 3; exit 7", "exited with status 7"; "a bad end after a good line")]
#[test_case("echo DISCERN_METRIC n 3; kill -9 $$", "SIGKILL"; "a signal after a good line")]
fn what_is_no_reading_is_a_failed_verdict_that_says_why(run: &str, why: &str) {
    let bench = Bench::new();
    bench.gate();
    bench.standard("n", "down", "9", run);
    bench.save("c");
    let document = bench.discern(&["standards", "--json"]).exits(1).json();
    let n = report(&document, "n");
    assert_eq!((&n["verdict"], &n["value"]), (&"failed".into(), &serde_json::Value::Null));
    assert!(n["reason"].as_str().is_some_and(|reason| reason.contains(why)), "{n:#}");
}

#[test]
fn one_execution_serves_every_standard_with_the_same_command() {
    let bench = Bench::new();
    let run = "echo x >> .git/runs; echo see DISCERN_METRIC todos 99; echo DISCERN_METRIC todos 4; \
               echo DISCERN_METRIC todos 4.0; echo DISCERN_METRIC warnings 2";
    bench.write("src/code", "one\ntwo\nthree");
    bench.write("src/more", "four\n");
    bench.gate();
    bench.standard("todos", "down", "4", run);
    bench.standard("warnings", "down", "2", run);
    bench.standard("density", "down", "1000", run);
    bench.configure("metric = \"todos\"\nper = { lines = [\"src/**\"] }\nscale = 1000");
    bench.standard("each", "up", "2", run);
    bench.configure("metric = \"todos\"\nper = { metric = \"warnings\" }");
    bench.standard("files", "down", "2", run);
    bench.configure("metric = \"todos\"\nper = { files = [\"src/**\"] }");
    bench.standard("bytes", "down", "0.21", run);
    bench.configure("metric = \"todos\"\nper = { bytes = [\"src/**\"] }");
    bench.save("c");
    let document = bench.discern(&["standards", "--json"]).exits(1).json();
    let value = |name: &str| report(&document, name)["value"].as_str().unwrap_or("none").to_owned();
    let values = ["todos", "warnings", "density", "each", "files", "bytes"].map(value);
    assert_eq!(values, ["4", "2", "1000", "2", "2", "0.2222222"]);
    assert_eq!(report(&document, "bytes")["reason"], "0.2222222 is above the limit 0.21");
    assert_eq!(report(&document, "density")["reading"]["per"], "4");
    assert_eq!(bench.read(".git/runs").lines().count(), 1);
}

#[test]
fn an_empty_denominator_is_an_error_and_not_zero() {
    let bench = Bench::new();
    bench.write("src/empty", "");
    bench.gate();
    bench.standard("n", "down", "9", "echo DISCERN_METRIC n 0");
    bench.configure("per = { lines = [\"src/**\"] }");
    bench.save("c");
    let document = bench.discern(&["standards", "--json"]).exits(1).json();
    assert_eq!(report(&document, "n")["reason"], "there is nothing to divide by: the denominator is 0");
}

/// A job that prints and leaves an ignored file, and standards that read both.
fn measured_job(place: &Place) {
    place.write(".gitignore", "out\n");
    place.gate();
    place.job("test", "echo x >> .git/runs; echo 80 of 100; mkdir -p out; echo 42 > out/size");
    place.configure(
        r#"artifacts = ["out/size"]
[standards.cov]
direction = "up"
limit = 79
from = "test"
extract = "sed 's/^/DISCERN_METRIC cov /; s/ of .*//'"
[standards.size]
direction = "down"
limit = 50
from = "test"
artifact = "out/size"
extract = ["sed", "s/^/DISCERN_METRIC size /"]
"#,
    );
}

#[test]
fn a_jobs_output_and_artifacts_are_measured_without_running_it_again() {
    let bench = Bench::new();
    measured_job(&bench);
    bench.save("c");
    let proven = bench.discern(&["done", "--json"]).exits(0).json();
    assert_eq!(report(&proven, "cov")["value"], "80");
    assert_eq!(report(&proven, "size")["value"], "42");
    // Another way to extract, on the same output: the job's receipt counts and its kept output is read.
    let changed = bench.read("discern.toml").replace("DISCERN_METRIC size /", "DISCERN_METRIC size 1/");
    bench.write("discern.toml", changed.replace("artifacts", "inputs = [\".gitignore\"]\nartifacts"));
    bench.save("inputs");
    let _ = bench.discern(&["done"]).exits(1);
    assert_eq!(bench.read(".git/runs").lines().count(), 2);
    let changed = bench.read("discern.toml").replace("DISCERN_METRIC size 1/", "DISCERN_METRIC size /");
    bench.write("discern.toml", changed);
    bench.save("as before");
    std::fs::remove_dir_all(bench.path().join("out")).expect("ignored, and no longer needed");
    let measured = bench.discern(&["standards", "size", "--json"]).exits(0).json();
    assert_eq!(report(&measured, "size")["value"], "42");
    assert_eq!(report(&measured, "test")["source"], "reused");
    assert_eq!(bench.read(".git/runs").lines().count(), 2);
}

#[test]
fn a_kept_artifact_that_is_gone_or_changed_makes_its_job_run_again() {
    for damage in ["rm", "echo 7 >"] {
        let bench = Bench::new();
        measured_job(&bench);
        bench
            .configure("[standards.other]\ndirection = \"down\"\nlimit = 99\nfrom = \"test\"\nartifact = \"out/size\"");
        bench.configure("metric = \"size\"\nmeasure = \"on-demand\"\nextract = \"sed 's/^/DISCERN_METRIC size 1/'\"");
        bench.save("c");
        let _ = bench.discern(&["done"]).exits(0);
        let _ = bench.sh(&format!("for f in .git/discern/run/*/test.artifacts/*; do {damage} $f; done")).exits(0);
        let measured = bench.discern(&["standards", "other", "--json"]).exits(1).json();
        assert_eq!(report(&measured, "other")["value"], "142");
        assert_eq!(bench.read(".git/runs").lines().count(), 2, "{damage}");
    }
}

#[test]
fn what_fails_is_not_measured() {
    let bench = Bench::new();
    measured_job(&bench);
    let fails = bench.read("discern.toml").replace("mkdir", "exit 3; mkdir");
    bench.write("discern.toml", fails);
    bench.save("c");
    let document = bench.discern(&["done", "--json"]).exits(1).json();
    assert_eq!(report(&document, "test")["verdict"], "failed");
    assert_eq!(report(&document, "cov")["verdict"], "unrun");
}

#[test]
fn a_standard_that_is_measured_on_demand_is_no_part_of_the_gate() {
    let bench = Bench::new();
    bench.gate();
    bench.job("ok", "true");
    bench.standard("slow", "down", "5", "echo DISCERN_METRIC slow 6");
    bench.configure("measure = \"on-demand\"");
    bench.save("c");
    let proven = bench.discern(&["done", "--json"]).exits(0).json();
    assert_eq!(proven["requirements"].as_array().map(Vec::len), Some(1));
    let _ = bench.discern(&["standards"]).exits(1);
    // Measuring decides nothing about the commit's Proof.
    let _ = bench.discern(&["done"]).exits(0);
}

#[test]
fn standards_that_do_not_exist_are_refused_before_a_claim_is_taken() {
    let bench = Bench::new();
    bench.gate();
    bench.job("ok", "true");
    bench.save("none");
    assert_eq!(only_diagnostic(&bench.discern(&["standards", "--json"]).exits(2)).0, "no-standards");
    bench.standard("n", "down", "5", "echo DISCERN_METRIC n 5");
    bench.save("one");
    for (name, said) in [("nn", "there is no standard `nn` in this commit; "), ("ok", "`ok` is a job")] {
        let (code, message) = only_diagnostic(&bench.discern(&["standards", name, "--json"]).exits(2));
        assert_eq!(code, "unknown-name");
        assert!(message.starts_with(said), "{message}");
    }
    assert_eq!(bench.git(&["for-each-ref", "refs/discern"]), "");
}

#[test]
fn an_execution_that_serves_several_standards_is_ended_by_the_shortest_timeout() {
    let bench = Bench::new();
    let run = "echo DISCERN_METRIC a 1; echo DISCERN_METRIC b 1; exec sleep 50";
    bench.gate();
    bench.standard("a", "down", "9", run);
    bench.configure("timeout = 300");
    bench.standard("b", "down", "9", run);
    bench.configure("timeout = 1");
    bench.save("c");
    let document = bench.discern(&["standards", "--json"]).exits(1).json();
    for name in ["a", "b"] {
        let reason = report(&document, name)["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("ran longer than 1 s"), "{document:#}");
    }
}
