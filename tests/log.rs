//! `git discern log`: the history with where each commit stands.

use rustix::process::Signal;

use crate::support::{Bench, Place};

/// The words of the log, newest first.
fn words(place: &Place, arguments: &[&str]) -> Vec<String> {
    let log = place.discern(&[&["log"][..], arguments].concat()).exits(0);
    log.stdout.lines().map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
}

fn moody() -> Bench {
    let bench = Bench::new();
    bench.gate();
    bench.job("moody", "test ! -e ../mood");
    bench.save("first");
    bench
}

#[test]
fn each_commit_has_its_word_newest_first() {
    let bench = moody();
    let _ = bench.discern(&["done"]).exits(0);
    bench.write("a", "a");
    bench.save("second");
    bench.write("../mood", "bad");
    let _ = bench.discern(&["done"]).exits(1);
    bench.save("third");
    assert_eq!(words(&bench, &[]), ["none", "failed", "proven"]);
    assert_eq!(words(&bench, &["HEAD~2..HEAD~1"]), ["failed"]);
    let log = bench.discern(&["log", "HEAD~2"]).exits(0);
    let line = format!("proven   {}  first\n", &bench.git(&["rev-parse", "HEAD~2"])[..10]);
    assert_eq!(log.stdout, line);
}

#[test]
fn flaky_commits_are_listed_with_how_often() {
    let bench = moody();
    let _ = bench.discern(&["done"]).exits(0);
    bench.write("../mood", "bad");
    let _ = bench.discern(&["done", "--rerun"]).exits(1);
    bench.save("second");
    let log = bench.discern(&["log", "--flaky"]).exits(0);
    assert_eq!(log.stdout.lines().count(), 1, "{}", log.shown());
    assert!(
        log.stdout.starts_with("failed") && log.stdout.contains("flaky: moody (failed 1 of 2 times)"),
        "{}",
        log.shown()
    );
    let document = bench.discern(&["log", "--flaky", "--json"]).exits(0).json();
    assert_eq!(document["commits"][0]["flaky"][0]["how_often"], serde_json::json!({"failed": 1, "tries": 2}));
}

#[test]
fn what_wavered_on_a_failed_commit_is_flaky_whether_it_failed_or_not() {
    let bench = moody();
    bench.job("broken", "test ! -e ../broken");
    bench.save("more");
    bench.write("../mood", "bad");
    let _ = bench.discern(&["done", "-k"]).exits(1);
    let _ = bench.sh("rm ../mood; touch ../broken").exits(0);
    let nothing = bench.discern(&["log", "--flaky"]).exits(0);
    assert_eq!(nothing.stdout, "no commit with a flaky verdict\n");
    assert_eq!(bench.discern(&["log", "HEAD..HEAD"]).exits(0).stdout, "no commit\n");
    let _ = bench.discern(&["done", "-k", "--rerun"]).exits(1);
    for arguments in [&["log"][..], &["log", "--flaky"], &["verify"]] {
        let said = bench.discern(arguments).shown();
        assert!(said.contains("flaky: moody"), "{said}");
    }
    let document = bench.discern(&["log", "--flaky", "--json"]).exits(0).json();
    let commits = document["commits"].as_array().expect("a list");
    assert_eq!((commits.len(), &commits[0]["standing"]), (1, &"failed".into()), "{document:#}");
    assert_eq!(commits[0]["flaky"][0]["how_often"], serde_json::json!({"failed": 1, "tries": 2}));
    assert!(bench.discern(&["done", "-k"]).exits(1).shown().contains("flaky"), "also where it is given again");
}

#[test]
fn a_claim_is_told_after_the_reason_and_an_abandoned_one_with_what_takes_it_over() {
    let bench = Bench::new();
    bench.gate();
    bench.job("slow", "test -e ../quick || { echo > ../started; read line < ../fifo; }; test -e ../good");
    bench.save("first");
    let _ = bench.sh("mkfifo ../fifo; touch ../quick").exits(0);
    let _ = bench.discern(&["done"]).exits(1);
    let _ = bench.sh("rm ../quick").exits(0);
    let running = bench.start(&["done", "--rerun"]);
    crate::support::wait_for("the job", || bench.has("../started"));
    let verified = bench.discern(&["verify"]).exits(1);
    assert!(verified.stdout.contains("first: `slow` failed  running again\n"), "{}", verified.shown());
    running.signal(Signal::KILL);
    drop(running);
    crate::support::wait_for("an abandoned claim", || bench.discern(&["log"]).stdout.ends_with("  abandoned\n"));
    let verified = bench.discern(&["verify"]).exits(1);
    assert!(verified.stdout.contains("failed  abandoned\n"), "{}", verified.shown());
    assert!(verified.stdout.contains("take its claim over: git discern recover"), "{}", verified.shown());
}

#[test]
fn a_running_commit_is_running_and_a_proven_one_is_running_again() {
    let bench = Bench::new();
    bench.gate();
    bench.job("slow", "test -e ../quick || { echo > ../started; read line < ../fifo; }");
    bench.save("first");
    let _ = bench.sh("mkfifo ../fifo").exits(0);
    let running = bench.start(&["done"]);
    crate::support::wait_for("the job", || bench.has("../started"));
    assert_eq!(words(&bench, &[]), ["running"]);
    let _ = bench.sh("rm ../started; echo > ../fifo").exits(0);
    let _ = running.wait().exits(0);
    let running = bench.start(&["done", "--rerun"]);
    crate::support::wait_for("the job", || bench.has("../started"));
    let log = bench.discern(&["log"]).exits(0);
    assert!(log.stdout.starts_with("proven") && log.stdout.contains("running again"), "{}", log.shown());
    let _ = bench.sh("echo > ../fifo").exits(0);
    let _ = running.wait().exits(0);
}

#[test]
fn a_bad_range_and_an_empty_repository_are_refused() {
    let bench = moody();
    let _ = bench.discern(&["log", "nowhere"]).exits(2);
    let _ = bench.discern(&["log", "main..nowhere"]).exits(2);
    let _ = Bench::new().discern(&["log"]).exits(2);
}

#[test]
fn a_pager_shows_it_on_a_terminal_and_nowhere_else() {
    let bench = moody();
    let place = bench.with_variable("TERM", "xterm").with_variable("GIT_PAGER", "sed s/^/paged:/");
    let paged = place.run(place.command("script", &["-qec", "git-discern log", "/dev/null"])).exits(0);
    assert!(paged.stdout.starts_with("paged:"), "{}", paged.shown());
    assert!(paged.stdout.contains("\x1b["), "in colour: {}", paged.shown());
    let piped = place.discern(&["log"]).exits(0);
    assert!(piped.stdout.starts_with("none "), "{}", piped.shown());
    let bare = place.with_variable("GIT_PAGER", "");
    let plain = bare.run(bare.command("script", &["-qec", "git-discern log", "/dev/null"])).exits(0);
    assert!(!plain.stdout.contains("paged:"), "{}", plain.shown());
}

#[test]
fn a_reader_that_goes_away_ends_it() {
    let bench = moody();
    let _ = bench.sh("for i in $(seq 300); do git commit -q --allow-empty -m $i; done").exits(0);
    let first = bench.sh("git-discern log | head -n 1").exits(0);
    assert_eq!(first.stdout.lines().count(), 1);
    assert_eq!(first.stderr, "");
}
