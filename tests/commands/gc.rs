//! `gc`, and what runs clean by themselves.

use crate::support::{Bench, Hash, Place, Refs};

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
    assert!(!bench.has(&format!(".git/discern/run/{old}")));
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
