//! `gc`, and what runs clean by themselves.

use crate::support::{Bench, Hash, Place, Refs, wait_for};

fn attempt_refs(place: &Place) -> usize {
    place.git(&["for-each-ref", "--format=%(refname)", "refs/discern/attempt"]).lines().count()
}

/// Makes the run with this handle one that began at `started_at`.
fn age(bench: &Bench, handle: &str, started_at: &str) {
    let journal = format!(".git/discern/run/{handle}/journal");
    let aged = bench.read(&journal);
    let from = aged.find("\"started_at\":\"").expect("a header") + "\"started_at\":\"".len();
    let to = from + aged[from..].find('"').expect("its end");
    bench.write(&journal, format!("{}{started_at}{}", &aged[..from], &aged[to..]));
}

#[test]
fn many_commits_proven_leave_a_handful_of_refs_and_every_outcome() {
    for refs in [Refs::Files, Refs::Reftable] {
        let bench = Bench::with(refs, Hash::Sha1);
        bench.gate();
        bench.job("ok", "true");
        let commits: Vec<String> = (0..20)
            .map(|number| {
                let commit = bench.save(&format!("commit {number}"));
                bench.discern(&["done"]).exits(0);
                assert!(attempt_refs(&bench) <= 16, "{}", attempt_refs(&bench));
                commit
            })
            .collect();
        let commits: Vec<&str> = commits.iter().map(String::as_str).collect();
        bench.discern(&[&["verify"], &commits[..]].concat()).exits(0);
        // A commit whose ref is gone is answered from the ledger, and can be proven again.
        bench.git(&["checkout", "-q", commits[0]]);
        bench.discern(&["done"]).exits(0);
        let again = bench.discern(&["done", "--rerun", "--json"]).exits(0).json();
        assert_eq!(again["attempt"]["generation"], 2);
    }
}

#[test]
fn old_logs_go_and_what_an_unfinished_attempt_needs_stays() {
    let bench = super::gated();
    bench.discern(&["run", "ok"]).exits(0);
    let old = bench.sh("ls .git/discern/run").stdout.trim().to_owned();
    let done = super::begun(&bench, &["done"]);
    let needed = super::handle(&bench);
    for handle in [&old, &needed] {
        age(&bench, handle, "2020-01-01T00:00:00.000Z");
    }
    let would = bench.discern(&["gc", "--dry-run"]).exits(0);
    assert_eq!(would.stdout, "would drop  1 run's log\n");
    assert!(bench.has(&format!(".git/discern/run/{old}")));
    let document = bench.discern(&["gc", "--json"]).exits(0).json();
    assert_eq!(document["runs"], serde_json::json!([old]));
    assert!(!bench.has(&format!(".git/discern/run/{old}")));
    assert!(bench.has(&format!(".git/discern/run/{needed}")));
    super::open(&bench);
    done.wait().exits(0);
    bench.discern(&["gc"]).exits(0);
    assert!(!bench.has(&format!(".git/discern/run/{needed}")));
    assert_eq!(bench.discern(&["gc"]).exits(0).stdout, "nothing to drop\n");
}

#[test]
fn a_run_cleans_by_itself_once_a_day_after_it_has_answered() {
    let bench = Bench::proven_by_true();
    bench.discern(&["done"]).exits(0);
    let old = bench.sh("ls .git/discern/run").stdout.trim().to_owned();
    age(&bench, &old, "2020-01-01T00:00:00.000Z");
    bench.discern(&["done", "--rerun"]).exits(0);
    assert!(bench.has(&format!(".git/discern/run/{old}")), "it was cleaned today");
    bench.write(".git/discern/cleaned", "2020-01-01T00:00:00.000Z\n");
    bench.discern(&["done", "--rerun"]).exits(0);
    // In a process of its own, for which nobody waits.
    wait_for("the daily cleaning", || !bench.has(&format!(".git/discern/run/{old}")));
    assert!(!bench.read(".git/discern/cleaned").starts_with("2020"));
}

#[test]
fn what_killed_processes_left_half_written_goes() {
    let bench = Bench::proven_by_true();
    bench.discern(&["done"]).exits(0);
    bench.write(".git/discern/seen/.tmp-abc", "");
    bench.write(".git/discern/seen/.tmp-new", "");
    bench.sh("touch -d '2 hours ago' .git/discern/seen/.tmp-abc").exits(0);
    bench.discern(&["gc"]).exits(0);
    assert!(!bench.has(".git/discern/seen/.tmp-abc") && bench.has(".git/discern/seen/.tmp-new"));
}

/// What `gc` says on a day so many days ahead, and that `--dry-run` said it before.
#[cfg(feature = "test-hooks")]
fn gc_ahead(bench: &Bench, days: u64) -> serde_json::Value {
    let ahead = bench.with_variable("DISCERN_TEST_CLOCK_AHEAD_MS", &(days * 24 * 60 * 60 * 1000).to_string());
    let before = bench.git(&["for-each-ref"]);
    let mut would = ahead.discern(&["gc", "--dry-run", "--json"]).exits(0).json();
    assert_eq!(bench.git(&["for-each-ref"]), before, "a dry run changes nothing");
    let did = ahead.discern(&["gc", "--json"]).exits(0).json();
    would["dry_run"] = false.into();
    assert_eq!(would, did);
    // Files that the first one wrote are as old by this clock as any other.
    let again = ahead.discern(&["gc", "--json"]).exits(0).json();
    let rest = ["refs", "runs", "outcomes", "receipts", "checkouts"].map(|kind| again[kind].to_string());
    assert_eq!(rest, ["[]", "[]", "0", "0", "0"], "{again:#}");
    did
}

#[cfg(feature = "test-hooks")]
#[test]
fn thirty_days_later_only_what_a_reachable_commit_needs_is_left() {
    for refs in [Refs::Files, Refs::Reftable] {
        let bench = Bench::with(refs, Hash::Sha1);
        bench.gate();
        bench.job("ok", "true");
        bench.save("a");
        bench.discern(&["done"]).exits(0);
        // The same tree, so that the Proof of this one names the receipt that was obtained on the other.
        bench.git(&["commit", "-q", "--amend", "-m", "b"]);
        let reused = bench.discern(&["done", "--json"]).exits(0).json();
        assert_eq!(reused["requirements"][0]["source"], "reused");
        bench.git(&["checkout", "-q", "-b", "topic"]);
        bench.write("more", "1");
        let dropped = bench.save("topic");
        bench.discern(&["done"]).exits(0);
        bench.git(&["checkout", "-q", "main"]);
        bench.git(&["branch", "-q", "-D", "topic"]);
        // The reflog keeps no commit reachable.
        let early = gc_ahead(&bench, 29);
        assert_eq!((&early["outcomes"], &early["receipts"]), (&0.into(), &0.into()), "{early:#}");
        let late = gc_ahead(&bench, 31);
        assert_eq!((&late["outcomes"], &late["receipts"]), (&2.into(), &1.into()), "{late:#}");
        bench.discern(&["verify"]).exits(0);
        bench.discern(&["verify", &dropped]).exits(1);
        // The receipt of the commit that was amended is still there: the Proof of the other names it, however old it is.
        let never = gc_ahead(&bench, 3_000);
        assert_eq!((&never["outcomes"], &never["receipts"]), (&0.into(), &0.into()), "{never:#}");
        bench.git(&["commit", "-q", "--amend", "-m", "c"]);
        let again = bench.discern(&["done", "--json"]).exits(0).json();
        assert_eq!(again["requirements"][0]["source"], "reused", "{again:#}");
        bench.git(&["fsck", "--strict"]);
    }
}

#[cfg(feature = "test-hooks")]
#[test]
fn a_failed_outcome_keeps_what_it_names_for_thirty_days() {
    let bench = Bench::new();
    bench.gate();
    bench.job("bad", "false");
    bench.job("ok", "true");
    bench.save("a");
    bench.discern(&["done"]).exits(1);
    let early = gc_ahead(&bench, 29);
    assert_eq!((&early["outcomes"], &early["receipts"]), (&0.into(), &0.into()), "{early:#}");
    // The outcome stays as long as its commit can be reached; no Proof needs the receipts.
    let late = gc_ahead(&bench, 31);
    assert_eq!((&late["outcomes"], &late["receipts"]), (&0.into(), &2.into()), "{late:#}");
    bench.discern(&["verify"]).exits(1);
    let document = bench.discern(&["done", "--json"]).exits(1).json();
    assert_eq!(document["requirements"][0]["verdict"], "failed", "{document:#}");
}
