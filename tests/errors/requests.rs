//! What is asked for and is not there, or can't be written where it should go.

use super::{is_refused, is_refused_as};
use crate::support::Bench;

/// A commit with a job and a standard, not proven yet.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.gate();
    bench.job("lint", "true");
    bench.standard("lines", "down", "9", "echo DISCERN_METRIC lines 7");
    bench.save("first");
    bench
}

#[test]
fn command_lines_that_make_no_command() {
    let bench = bench();
    is_refused_as(&bench, &bench, "usage", 2, &["done", "--keep-gong"]);
    is_refused(&bench, &bench, "usage-misspelt-command", 2, &["stauts"]);
    is_refused(&bench, &bench, "usage-missing-job", 2, &["explain"]);
    is_refused(&bench, &bench, "usage-two-that-exclude-each-other", 2, &["done", "-q", "-v"]);
    is_refused(&bench, &bench, "usage-no-number", 2, &["done", "--wait=soon"]);
}

#[test]
fn names_that_name_nothing() {
    let bench = bench();
    is_refused_as(&bench, &bench, "unknown-name", 2, &["run", "lnit"]);
    is_refused_as(&bench, &bench, "no-such-revision", 2, &["verify", "mian"]);
    bench.git(&["branch", "both"]);
    bench.write("more", "");
    bench.save("second");
    bench.git(&["tag", "both"]);
    is_refused_as(&bench, &bench, "ambiguous-revision", 2, &["verify", "both"]);
    for (name, arguments) in [
        ("unknown-name-a-standard", &["run", "lines"][..]),
        ("unknown-name-no-name", &["run", "a b"]),
        ("unknown-name-to-run-again", &["done", "--rerun", "lnit"]),
        ("unknown-name-to-run-again-but-a-revision", &["done", "--rerun", "lint", "HEAD~1", "-k"]),
        ("unknown-name-of-a-standard", &["standards", "lint"]),
        ("unknown-name-in-the-history", &["standards", "--history", "lint"]),
        ("unknown-name-to-explain", &["explain", "lnit"]),
        ("no-such-revision-but-a-job", &["done", "lint"]),
        ("no-such-revision-but-a-standard", &["done", "lines"]),
        ("no-such-revision-but-seconds", &["done", "--wait", "5"]),
        ("no-such-revision-but-a-log", &["show", "lint"]),
        ("no-log", &["show", "--log", "lint"]),
        ("unknown-name-of-a-log", &["show", "--log", "lnit"]),
        ("no-lock", &["recover", "--break-lock", "refs/heads/main"]),
        ("nothing-to-forget", &["recover", "--forget", "HEAD~1"]),
    ] {
        is_refused(&bench, &bench, name, 2, arguments);
    }
}

#[test]
fn a_log_that_is_no_longer_kept() {
    let bench = bench();
    bench.discern(&["done"]).exits(0);
    std::fs::remove_dir_all(bench.path().join(".git/discern/run")).expect("it is there");
    is_refused(&bench, &bench, "log-gone", 2, &["show", "--log", "lint"]);
}

#[test]
fn runs_that_are_not_there() {
    let bench = bench();
    is_refused_as(&bench, &bench, "nothing-known", 2, &["show"]);
    is_refused_as(&bench, &bench, "nothing-to-stop", 2, &["stop"]);
    is_refused_as(&bench, &bench, "nothing-to-wait-for", 2, &["wait"]);
    is_refused_as(&bench, &bench, "unknown-operation", 2, &["wait", "R1-7000-0000-0E"]);
    is_refused_as(&bench, &bench, "bad-handle", 2, &["stop", "R1-7000-0000-00"]);
    bench.discern(&["done"]).exits(0);
    let listed = bench.sh("ls .git/discern/journal 2>/dev/null || ls .git/discern/run").exits(0).stdout;
    let handle = listed
        .lines()
        .find(|line| line.starts_with("R1-"))
        .expect("its run")
        .split('.')
        .next()
        .expect("a name")
        .to_owned();
    is_refused_as(&bench, &bench, "ended-before", 2, &["stop", &handle]);
    is_refused_as(&bench, &bench, "not-forgotten", 2, &["recover", "--forget", "refs/discern/ledger"]);
}

#[test]
fn answers_that_have_nowhere_to_go() {
    let bench = bench();
    is_refused(&bench, &bench, "junit-unwritable", 2, &["done", "--junit", "../no/such/folder.xml"]);
    bench.discern(&["done"]).exits(0);
    is_refused_as(&bench, &bench, "unwritable", 2, &["show", "--html", "../no/such/page.html"]);
    bench.write("../taken", "");
    is_refused(&bench, &bench, "unwritable-manual", 2, &["manual", "--into", "../taken"]);
}

#[test]
fn records_that_can_not_be_read() {
    let bench = bench();
    let head = bench.head();
    bench.write("../junk", "no record");
    let blob = bench.git(&["hash-object", "-w", "../junk"]);
    bench.git(&["update-ref", &format!("refs/discern/attempt/{head}"), &blob]);
    is_refused_as(&bench, &bench, "record-unreadable", 5, &["done"]);
}

#[test]
fn pins_that_would_hit_another_file() {
    let bench = bench();
    bench.configure("# a note\n");
    is_refused(&bench, &bench, "pin-of-a-dirty-tree", 2, &["standards", "--pin"]);
}

#[test]
fn a_list_that_is_no_text() {
    let bench = bench();
    let unreadable = bench.sh("printf '\\377\\n' | git-discern verify --stdin").exits(2).shown();
    let _stable = bench.stable_snapshots();
    insta::assert_snapshot!("error-unreadable-input", unreadable);
}
