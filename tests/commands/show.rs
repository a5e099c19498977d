//! `show`: a commit's newest outcome as a page, its logs, and one file for a browser.

use super::{begun, gated};
use crate::support::Bench;

/// A proven commit whose `lint` is reused from the one before, and whose `test` printed something.
fn proven() -> Bench {
    let bench = Bench::new();
    bench.gate();
    bench.job("lint", "true");
    bench.configure("inputs = [\"discern.toml\"]");
    bench.job("test", "echo what it printed");
    bench.standard("size", "down", "10", "echo DISCERN_METRIC size 7");
    bench.save("first");
    bench.discern(&["done"]).exits(0);
    bench.write("code", "<b>");
    bench.save("second <script>");
    bench.discern(&["done"]).exits(0);
    bench
}

#[test]
fn a_proof_is_a_page() {
    let bench = proven();
    let _stable = bench.stable_snapshots();
    let shown = bench.discern(&["show"]).exits(0).shown();
    let shown = shown.lines().map(|line| line.replace(" ms", " s") + "\n").collect::<String>();
    insta::assert_snapshot!(shown);
    let document = bench.discern(&["show", "--json", "HEAD~1"]).exits(0).json();
    assert_eq!(document["schema"], "discern/show/1");
    assert_eq!(document["requirements"][0]["source"], "ran");
    assert_eq!(document["requirements"][0]["command"], "true");
}

#[test]
fn a_failure_is_shown_with_the_end_of_its_log_and_nothing_with_what_comes_next() {
    let bench = Bench::new();
    bench.gate();
    bench.job("bad", "echo it went wrong; exit 3");
    bench.save("first");
    let nothing = bench.discern(&["show"]).exits(2);
    assert!(nothing.stderr.contains("hint: git discern done"), "{}", nothing.shown());
    bench.discern(&["done"]).exits(1);
    let failed = bench.discern(&["show"]).exits(1);
    assert!(failed.stdout.contains("failed  bad") && failed.stdout.contains("  | it went wrong"), "{}", failed.shown());
}

#[test]
fn a_running_commit_is_pending() {
    let bench = gated();
    let _done = begun(&bench, &["done"]);
    let pending = bench.discern(&["show"]).exits(3);
    assert!(pending.stdout.contains("git discern wait R1-"), "{}", pending.shown());
    let claimed = format!("pending  {} is claimed by attempt ", &bench.head()[..10]);
    assert!(pending.stdout.starts_with(&claimed), "{}", pending.shown());
    assert!(pending.stdout.lines().all(|line| line.len() <= 100), "{}", pending.shown());
}

#[test]
fn a_commit_whose_run_was_killed_is_taken_over_and_not_followed() {
    let bench = gated();
    let done = begun(&bench, &["done"]);
    done.signal(rustix::process::Signal::KILL);
    let _ = done.wait();
    let pending = bench.discern(&["show"]).exits(3);
    assert!(pending.stdout.contains("take it over: git discern recover"), "{}", pending.shown());
}

#[test]
fn the_log_that_counts_is_printed_byte_for_byte_also_of_a_reused_verdict() {
    let bench = Bench::new();
    bench.gate();
    bench.job("test", r"printf 'a\000\377b'");
    bench.configure("inputs = [\"discern.toml\"]");
    bench.job("bad", "echo no; exit 1");
    bench.configure("after = [\"test\"]");
    bench.save("first");
    bench.discern(&["done"]).exits(1);
    // In a run that failed, a job that passed has a log, too.
    assert_eq!(bench.discern(&["show", "--log", "test"]).exits(0).stdout_bytes, b"a\0\xffb");
    assert_eq!(bench.discern(&["show", "--log", "bad"]).exits(0).stdout, "no\n");
    bench.write("discern.toml", bench.read("discern.toml").replace("echo no; exit 1", "true"));
    bench.save("second");
    bench.discern(&["done"]).exits(0);
    bench.write("new", "");
    bench.save("third");
    let done = bench.discern(&["done", "--json"]).exits(0).json();
    assert_eq!(done["requirements"][0]["source"], "reused");
    assert_eq!(bench.discern(&["show", "--log", "test"]).exits(0).stdout_bytes, b"a\0\xffb");
    let none = bench.discern(&["show", "--log", "other"]).exits(2);
    assert!(none.stderr.contains("there is no job or standard `other`"), "{}", none.shown());
    std::fs::remove_dir_all(bench.path().join(".git/discern/run")).expect("it is there");
    let gone = bench.discern(&["show", "--log", "test"]).exits(2);
    assert!(gone.stderr.contains("no longer kept"), "{}", gone.shown());
}

#[test]
fn the_page_for_a_browser_needs_nothing_else_and_runs_nothing() {
    let bench = proven();
    bench.discern(&["show", "--html", "../page.html"]).exits(0);
    let page = bench.read("../page.html");
    for part in [
        "second &lt;script&gt;",
        "class=\"timeline\"",
        ">reused</span>",
        "limit 10",
        "<polyline",
        "prefers-color-scheme: dark",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for outside in ["<script", "http:", "https:", "src=", "@import"] {
        assert!(!page.contains(outside), "{outside}: {page}");
    }
    bench.job("bad", "echo '<it & went wrong>'; exit 3");
    bench.save("third");
    bench.discern(&["done", "--keep-going"]).exits(1);
    bench.discern(&["show", "--html", "../page.html"]).exits(1);
    let page = bench.read("../page.html");
    assert!(page.contains("<pre>&lt;it &amp; went wrong&gt;\n</pre>"), "{page}");
    // What failed leads to its log; what passed in the same run is on the page, too, and in the same drawing.
    for part in ["1 failed (<a class=\"reason\" href=\"#failed-bad\">bad</a>)", "<h3 id=\"failed-bad\">bad: "] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.contains("3 passed, 1 failed") && page.matches("<span class=\"bar ").count() == 4, "{page}");
    bench.discern(&["show", "--html", "../no/such/folder/page.html"]).exits(2);
}

#[test]
fn a_failure_is_shown_with_what_passed_beside_it_and_where_each_verdict_is_from() {
    let bench = Bench::new();
    bench.gate();
    bench.job("early", "true");
    bench.configure("inputs = [\"discern.toml\"]");
    bench.job("bad", "test ! -e broken");
    bench.job("later", "true");
    bench.configure("needs = [\"bad\"]");
    bench.standard("size", "down", "10", "wc -l < size | sed 's/^/DISCERN_METRIC size /'");
    bench.configure("inputs = [\"size\"]");
    bench.write("size", "1\n2\n");
    bench.save("first");
    bench.discern(&["done"]).exits(0);
    bench.write("broken", "");
    bench.write("size", "1\n".repeat(12));
    bench.save("second");
    bench.discern(&["done", "--keep-going"]).exits(1);
    let shown = bench.discern(&["show", "--json"]).exits(1).json();
    let of = |at: usize, key: &str| shown["requirements"][at][key].as_str().unwrap_or_default().to_owned();
    let seen: Vec<[String; 3]> = (0..4).map(|at| [of(at, "name"), of(at, "verdict"), of(at, "source")]).collect();
    let expected =
        [["early", "passed", "reused"], ["bad", "failed", "ran"], ["later", "unrun", ""], ["size", "failed", "ran"]];
    assert_eq!(seen, expected.map(|row| row.map(str::to_owned)));
    let page = bench.discern(&["show"]).exits(1);
    assert!(page.stdout.contains("2 of 4 failed (bad, size), 1 of 4 not run (later)"), "{}", page.shown());
    assert_eq!(shown["requirements"][3]["value"], "12");
}
