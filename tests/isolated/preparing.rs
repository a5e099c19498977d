//! `[gate] prepare`: once for each state of its inputs in each checkout, with a verdict of its own.

use super::printed;
use crate::support::Bench;

fn prepared(prepare: &str, gate: &str) -> Bench {
    let bench = Bench::new();
    let gate = format!("prepare = \"{prepare}\"\nprepare_inputs = [\"lock\"]\n{gate}");
    bench.write("discern.toml", format!("[gate]\ntrunk = \"main\"\n{gate}\n"));
    bench.job("t", "cat made");
    bench.write(".gitignore", "made\n");
    bench.write("lock", "1");
    bench.save("first");
    bench
}

#[test]
fn it_runs_when_its_inputs_differ_from_what_the_checkout_was_prepared_for() {
    let bench = prepared("echo for $(cat lock); cp lock made", "keep = [\"made\"]");
    let _ = bench.discern(&["done", "HEAD"]).exits(0);
    bench.write("other", "1");
    bench.save("another commit, same lock");
    let _ = bench.discern(&["done", "HEAD"]).exits(0);
    assert_eq!(printed(&bench, "gate.prepare"), ["for 1"]);
    bench.write("lock", "2");
    bench.save("another lock");
    let _ = bench.discern(&["done", "HEAD"]).exits(0);
    let _ = bench.discern(&["done", "HEAD~1", "--rerun"]).exits(0);
    assert_eq!(printed(&bench, "gate.prepare"), ["for 1", "for 2", "for 1"]);
    assert!(!bench.has("made"), "the working checkout is not prepared");
}

#[test]
fn it_runs_again_where_what_it_made_is_not_kept() {
    let bench = prepared("echo prepared; cp lock made", "");
    let _ = bench.discern(&["done", "HEAD"]).exits(0);
    bench.write("other", "1");
    bench.save("another commit");
    let _ = bench.discern(&["done", "HEAD"]).exits(0);
    assert_eq!(printed(&bench, "gate.prepare"), ["prepared", "prepared"]);
}

#[test]
fn its_failure_is_a_failed_requirement_with_a_log_and_is_not_given_again() {
    let bench = prepared("echo no network; test -e ../../../../../online && cp lock made", "");
    let failed = bench.discern(&["done", "HEAD", "--json"]).exits(1).stdout;
    let document: serde_json::Value = serde_json::from_str(&failed).expect("JSON");
    let of = |name: &str| {
        let all = document["requirements"].as_array().expect("a list");
        all.iter().find(|one| one["name"] == name).cloned().unwrap_or_default()
    };
    assert_eq!((&of("gate.prepare")["verdict"], &of("t")["verdict"]), (&"failed".into(), &"unrun".into()), "{failed}");
    let log = of("gate.prepare")["log"].as_str().map(std::fs::read_to_string).expect("a log").expect("readable");
    assert_eq!(log.trim(), "no network");
    std::fs::write(bench.root().join("online"), "").expect("a file");
    let _ = bench.discern(&["done", "HEAD"]).exits(0);
}

#[test]
fn nothing_is_prepared_where_nothing_runs() {
    let bench = prepared("echo prepared; cp lock made", "");
    let _ = bench.discern(&["done", "HEAD"]).exits(0);
    bench.git(&["commit", "-q", "--allow-empty", "-m", "same tree"]);
    let _ = bench.discern(&["done", "HEAD"]).exits(0);
    assert_eq!(printed(&bench, "gate.prepare"), ["prepared"]);
}
