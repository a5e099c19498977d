//! `wait`: another run's story, and its end.

use rustix::process::Signal;

use super::{begun, gated, handle, open};
use crate::support::{Bench, Terminal};

#[test]
fn a_run_that_is_followed_is_told_to_its_end_and_answered_as_it_answers() {
    let bench = gated();
    let done = begun(&bench, &["done"]);
    let other = bench.worktree("other");
    let mut by_handle = other.start(&["wait", &handle(&bench)]);
    by_handle.wait_for_stderr("started   gated");
    let mut by_commit = other.start(&["wait", "main", "--json"]);
    by_commit.wait_for_stderr("passed    ok");
    open(&bench);
    let (own, followed) = (done.wait().exits(0), by_handle.wait().exits(0));
    assert_eq!(own.stdout.split("  in ").next(), followed.stdout.split("  in ").next());
    for line in ["done ", " first on main", "started   ok", "passed    gated"] {
        assert!(followed.stderr.contains(line), "{line}: {}", followed.shown());
    }
    let document = by_commit.wait().exits(0).json();
    assert_eq!(document["schema"], "discern/wait/1");
    assert_eq!(document["proof"]["commit"], bench.head().as_str());
    // Afterwards the outcome is known, and so is that of the run behind the handle.
    bench.discern(&["wait"]).exits(0);
}

#[test]
fn the_end_of_a_followed_run_is_handed_on_whatever_it_is() {
    let bench = gated();
    let done = begun(&bench, &["done"]);
    let mut wait = bench.start(&["wait"]);
    wait.wait_for_stderr("started   gated");
    done.signal(Signal::INT);
    let followed = wait.wait().exits(130);
    assert!(followed.stdout.contains("interrupted (SIGINT)"), "{}", followed.shown());
    done.wait().exits(130);
    bench.job("bad", "exit 3");
    bench.save("second");
    let mut done = bench.start(&["done", "--keep-going"]);
    done.wait_for_stderr("started   gated");
    let wait = bench.start(&["wait"]);
    open(&bench);
    done.wait().exits(1);
    let followed = wait.wait().exits(1);
    assert!(followed.stdout.contains("failed  bad"), "{}", followed.shown());
}

#[test]
fn a_run_without_its_journal_is_followed_by_its_record_alone() {
    let bench = gated();
    let done = begun(&bench, &["done"]);
    let handle = handle(&bench);
    std::fs::rename(bench.path().join(".git/discern/run"), bench.root().join("taken-away")).expect("it is there");
    let (by_handle, by_commit) = (bench.start(&["wait", &handle]), bench.start(&["wait", "HEAD"]));
    open(&bench);
    done.wait().exits(0);
    for wait in [by_handle, by_commit] {
        let followed = wait.wait().exits(0);
        assert!(followed.stdout.starts_with("proven"), "{}", followed.shown());
    }
}

#[test]
fn an_abandoned_claim_ends_the_wait_as_pending_and_names_recover() {
    let bench = gated();
    let done = begun(&bench, &["done"]);
    let mut wait = bench.start(&["wait"]);
    wait.wait_for_stderr("started   gated");
    done.signal(Signal::KILL);
    drop(done);
    let pending = wait.wait().exits(3);
    assert!(pending.stdout.contains("git discern recover"), "{}", pending.shown());
    assert!(pending.stderr.contains("its process is gone"), "{}", pending.shown());
    assert_eq!(bench.discern(&["wait", "--json"]).exits(3).json()["pending"]["reconnect"], "git discern recover");
}

#[test]
fn a_run_without_a_claim_can_be_followed_too() {
    let bench = gated();
    let run = begun(&bench, &["run", "gated"]);
    let mut wait = bench.start(&["wait"]);
    wait.wait_for_stderr("started   gated");
    open(&bench);
    run.wait().exits(0);
    let followed = wait.wait().exits(0);
    assert!(followed.stdout.starts_with("passed  the tree as it stands: 1 job"), "{}", followed.shown());
}

#[test]
fn where_nothing_runs_there_is_a_sentence() {
    let bench = Bench::new();
    bench.discern(&["wait"]).exits(2);
    bench.gate();
    bench.job("ok", "true");
    bench.save("first");
    let nothing = bench.discern(&["wait"]).exits(2);
    assert!(nothing.stderr.contains("there is nothing to wait for"), "{}", nothing.shown());
    let unknown = bench.discern(&["wait", "R1-7000-0000-0E"]).exits(2);
    assert!(unknown.stderr.contains("there is no operation R1-7000-0000-0E"), "{}", unknown.shown());
    let misheard = bench.discern(&["wait", "R1-7000-0000-0F"]).exits(2);
    assert!(misheard.stderr.contains("is not an operation handle"), "{}", misheard.shown());
    bench.discern(&["wait", "no-such-branch"]).exits(2);
}

#[test]
fn a_second_done_names_the_very_line_that_follows_the_first() {
    let bench = gated();
    let done = begun(&bench, &["done"]);
    let pending = bench.discern(&["done", "--json"]).exits(3).json();
    let line = pending["pending"]["reconnect"].as_str().expect("a command").to_owned();
    let words: Vec<&str> = line.split(' ').skip(2).collect();
    let wait = bench.start(&words);
    let mut waiting = bench.start(&["done", "--wait"]);
    waiting.wait_for_stderr("waiting");
    open(&bench);
    done.wait().exits(0);
    wait.wait().exits(0);
    waiting.wait().exits(0);
    assert_eq!(bench.git(&["for-each-ref", "--format=%(refname)", "refs/discern/attempt"]).lines().count(), 1);
}

#[test]
fn a_run_that_was_refused_is_named() {
    let bench = Bench::proven_by_true();
    bench.discern(&["done", "--rerun=typo"]).exits(2);
    let followed = bench.discern(&["wait"]).exits(2);
    let on = format!(" on {} in the main worktree was cancelled: it was refused", &bench.head()[..10]);
    assert!(followed.stderr.contains(&on), "{}", followed.shown());
}

#[test]
fn a_signal_ends_the_following_and_not_the_run() {
    let bench = gated();
    let done = begun(&bench, &["done"]);
    let other = bench.worktree("other").with_variable("TERM", "xterm");
    let handle = handle(&bench);
    let mut terminal = Terminal::new(80, 24);
    let followed = terminal.start(&other, &["wait", &handle]);
    terminal.wait_for("running", 1);
    terminal.enter(b"\x03");
    terminal.follow(followed).exits(130);
    let seen = terminal.text();
    let last = seen.rsplit("\x1b[J").next().unwrap_or_default();
    assert!(last.contains("goes on") && last.contains(&format!("git discern wait {handle}")), "{seen}");
    assert!(!last.contains("running"), "nothing of the view is left: {seen}");
    // The first process of a container is hit by no signal that it does not catch.
    let alone = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "git-discern", "wait", "--json"];
    if other.run(other.command("unshare", &["--user", "--map-root-user", "--pid", "--fork", "true"])).status == 0 {
        let mut terminal = Terminal::new(80, 24);
        let followed = terminal.start_program(&other, &[&["unshare"], &alone[..], &[&*handle]].concat());
        terminal.wait_for("running", 1);
        terminal.enter(b"\x03");
        let _ = terminal.follow(followed);
        let seen = terminal.text();
        assert!(seen.contains("\"exit\": 130") && seen.contains("\"pending\": {"), "{seen}");
    }
    open(&bench);
    done.wait().exits(0);
}

#[test]
fn what_a_finished_run_checked_is_told_as_it_told_it() {
    let bench = Bench::new();
    bench.gate();
    bench.standard("size", "up", "2", "cat numbers");
    bench.write("numbers", "DISCERN_METRIC size 3\n");
    bench.save("first");
    bench.discern(&["standards"]).exits(0);
    let waited = bench.discern(&["wait"]).exits(0);
    assert!(waited.stdout.contains(": 1 standard\n"), "{}", waited.shown());
    bench.write("numbers", "DISCERN_METRIC size 1\n");
    bench.save("second");
    bench.discern(&["done"]).exits(1);
    let waited = bench.discern(&["wait"]).exits(1);
    assert!(waited.stdout.contains(": 1 is below the limit 2\n"), "{}", waited.shown());
    assert!(!waited.stdout.contains(" ago"), "it ran there: {}", waited.shown());
}
