//! `run`: the inner loop.

use rustix::process::Signal;

use super::{begun, gated, open};
use crate::support::Bench;

#[test]
fn jobs_run_on_the_tree_as_it_stands_without_a_commit_and_leave_no_record() {
    let bench = Bench::new();
    bench.gate();
    bench.job("ok", "test -e ../r/new");
    bench.write("new", "");
    let passed = bench.discern(&["run"]).exits(0);
    assert_eq!(passed.stdout.split("  in ").next(), Some("passed  the tree as it stands: 1 job"));
    bench.save("first");
    bench.write("new", "edited");
    let document = bench.discern(&["run", "--json"]).exits(0).json();
    assert_eq!(document["schema"], "discern/run/1");
    assert_eq!(document["candidate"], serde_json::Value::Null);
    assert_eq!(document["requirements"][0]["verdict"], "passed");
    assert_eq!(bench.git(&["for-each-ref", "refs/discern"]), "");
}

#[test]
fn a_named_job_runs_with_what_it_needs_and_nothing_else() {
    let bench = Bench::new();
    bench.gate();
    bench.job("build", "echo made > product");
    bench.job("other", "touch other-ran");
    bench.job("test", "grep made product");
    bench.configure("needs = [\"build\"]");
    let document = bench.discern(&["run", "test", "--json"]).exits(0).json();
    let names: Vec<&str> =
        document["requirements"].as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["build", "test"]);
    assert!(!bench.has("other-ran"));
    let unknown = bench.discern(&["run", "tset"]).exits(2);
    assert!(
        unknown.stderr.contains("there is no job `tset` in the worktree's configuration; did you mean `test`?"),
        "{}",
        unknown.shown()
    );
}

#[test]
fn a_failure_is_exit_1_with_the_end_of_its_log() {
    let bench = Bench::new();
    bench.gate();
    bench.job("bad", "echo it went wrong; exit 7");
    let failed = bench.discern(&["run"]).exits(1);
    assert!(failed.stdout.contains("  | it went wrong"), "{}", failed.shown());
    assert!(failed.stdout.contains("git discern run bad"), "{}", failed.shown());
}

#[test]
fn what_a_run_leaves_behind_counts_for_no_subject() {
    let bench = Bench::new();
    bench.gate();
    bench.job("build", "cp source product");
    bench.job("test", "grep -q good product");
    bench.configure("needs = [\"build\"]");
    bench.write(".gitignore", "product\n");
    bench.write("source", "good\n");
    bench.save("first");
    bench.discern(&["done"]).exits(0);
    bench.write("source", "bad\n");
    bench.discern(&["run"]).exits(1);
    // Back on the committed tree the product of the dirty one is made anew, not taken for the commit's.
    bench.git(&["checkout", "source"]);
    bench.discern(&["done", "--rerun", "test"]).exits(0);
}

#[test]
fn an_interrupted_run_ends_its_jobs_and_is_no_pass() {
    let bench = gated();
    let run = begun(&bench, &["run", "gated"]);
    run.signal(Signal::INT);
    let ended = run.wait().exits(130);
    assert!(ended.stdout.contains(": interrupted (SIGINT)\n"), "{}", ended.shown());
    // The worktree is free again at once.
    bench.discern(&["run", "ok"]).exits(0);
}

#[test]
fn two_runs_in_one_worktree_work_one_after_the_other() {
    let bench = gated();
    let first = begun(&bench, &["run", "gated"]);
    let mut second = bench.start(&["run", "ok"]);
    second.wait_for_stderr("waiting");
    assert!(!second.stderr().contains("started"), "{}", second.stderr());
    open(&bench);
    first.wait().exits(0);
    second.wait().exits(0);
}

#[test]
fn a_run_that_a_job_of_the_same_repository_starts_is_refused() {
    let bench = Bench::new();
    bench.gate();
    bench.job("outer", "git-discern run inner");
    bench.job("inner", "true");
    let failed = bench.discern(&["run", "outer"]).exits(1);
    assert!(failed.stdout.contains("would wait for itself"), "{}", failed.shown());
}

#[test]
fn without_a_configuration_or_a_worktree_nothing_runs() {
    let bench = Bench::new();
    let refused = bench.discern(&["run"]).exits(2);
    assert!(refused.stderr.contains("git discern init"), "{}", refused.shown());
    bench.write("discern.toml", "[jobs\n");
    bench.discern(&["run"]).exits(2);
    bench.remote().discern(&["run"]).exits(2);
}

#[test]
fn a_program_that_can_not_be_started_is_named_with_the_reason() {
    let bench = Bench::new();
    bench.write("shebang.sh", "#!/no/such/interpreter\n");
    bench.write("text.sh", "echo\n");
    bench.sh("chmod +x shebang.sh").exits(0);
    for (program, said, searched) in [
        ("./build.sh", "`./build.sh` could not be started: no such file or directory", false),
        ("no-such-program", "`no-such-program` could not be started: no such file or directory", true),
        ("./text.sh", "`./text.sh` could not be started: permission denied", false),
        (
            "./shebang.sh",
            "could not be started: `/no/such/interpreter`, which its first line names, is not there",
            false,
        ),
    ] {
        bench.write("discern.toml", format!("[jobs.odd]\nrun = [\"{program}\", \"--all\"]\n"));
        let failed = bench.discern(&["run"]).exits(1);
        assert!(failed.stdout.contains(said), "{said}: {}", failed.shown());
        // Where it was looked for is said where it was looked for anywhere.
        assert_eq!(failed.stdout.contains("PATH is"), searched, "{}", failed.shown());
    }
}

#[test]
fn a_pathspec_that_selects_nothing_is_noted_where_it_is_written() {
    let bench = Bench::proven_by_true();
    bench.configure("inputs = [\"discern.toml\", \"sorce/**\", \"new\"]");
    bench.write("new", "not committed, and there");
    let run = bench.discern(&["run"]).exits(0);
    let line = bench.read("discern.toml").lines().count();
    let said =
        format!("`sorce/**` in `inputs` (discern.toml:{line}:27) selects no file; `git discern done` refuses that");
    assert!(run.stderr.contains(&said), "{said}: {}", run.shown());
    assert_eq!(run.stderr.matches("selects no file").count(), 1, "{}", run.shown());
}
