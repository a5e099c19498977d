//! Ranges: each commit oldest first, several at a time, or as few as find the first that fails.

use crate::support::{Bench, Outcome};

/// `count` commits after the first, of which those from `bad` on fail.
fn history(count: usize, bad: usize) -> (Bench, Vec<String>) {
    let bench = Bench::new();
    bench.gate();
    bench.job("t", "git rev-parse HEAD >> ../../../../../ran; test $(cat number) -lt $(cat bad)");
    bench.write("bad", bad.to_string());
    bench.write("number", "0");
    bench.save("base");
    bench.git(&["branch", "base"]);
    let commits = (1..=count).map(|number| {
        bench.write("number", number.to_string());
        bench.save(&format!("number {number}"))
    });
    let commits = commits.collect();
    (bench, commits)
}

/// The commits that jobs ran on, in order.
fn ran(bench: &Bench) -> Vec<String> {
    let ran = std::fs::read_to_string(bench.root().join("ran")).unwrap_or_default();
    ran.lines().map(str::to_owned).collect()
}

fn commits_of(outcome: &Outcome) -> Vec<(String, String)> {
    let document = outcome.json();
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    let commits = document["commits"].as_array().expect("a list").iter();
    commits.map(|one| (text(&one["candidate"]["commit"]), text(&one["outcome"]))).collect()
}

#[test]
fn a_range_is_proven_oldest_first_and_has_the_worst_of_its_commits() {
    let (bench, commits) = history(4, 3);
    let outcome = bench.discern(&["done", "base..main", "--json"]).exits(1);
    assert_eq!(ran(&bench), commits);
    let words = ["passed", "passed", "failed", "failed"].map(str::to_owned);
    assert_eq!(commits_of(&outcome), commits.iter().cloned().zip(words).collect::<Vec<_>>());
    assert_eq!(outcome.json()["first_failed"], commits[2].as_str());
    let again = bench.discern(&["done", "base..main", "--json"]).exits(1);
    assert_eq!(ran(&bench).len(), 4, "a look-up each");
    assert_eq!(commits_of(&again), commits_of(&outcome));
    let _ = bench.discern(&["done", "base..main~2"]).exits(0);
    let _ = bench.discern(&["done", "base..base"]).exits(0);
    let _ = bench.discern(&["done", "base..nowhere"]).exits(2);
}

#[test]
fn several_at_a_time_give_the_same_answer() {
    let (bench, commits) = history(5, 4);
    let outcome = bench.discern(&["done", "base..main", "--json", "--parallel", "3"]).exits(1);
    let mut sorted = ran(&bench);
    sorted.sort();
    let mut expected = commits.clone();
    expected.sort();
    assert_eq!(sorted, expected);
    let words = ["passed", "passed", "passed", "failed", "failed"].map(str::to_owned);
    assert_eq!(commits_of(&outcome), commits.iter().cloned().zip(words).collect::<Vec<_>>());
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
}

#[test]
fn bisect_proves_only_what_it_takes_to_find_the_first_that_fails() {
    let (bench, commits) = history(12, 5);
    let outcome = bench.discern(&["done", "base..main", "--bisect", "--json"]).exits(1);
    assert_eq!(outcome.json()["first_failed"], commits[4].as_str());
    assert!(ran(&bench).len() <= 5, "{:?}", ran(&bench));
    let shown = bench.discern(&["done", "base..main", "--bisect"]).exits(1);
    assert!(shown.stdout.contains(&format!("the first that fails is {}", &commits[4][..10])), "{}", shown.stdout);
}

#[test]
fn a_signal_ends_a_range_and_every_claim_is_given_back() {
    for parallel in ["1", "2"] {
        let bench = Bench::new();
        bench.gate();
        bench.job("t", "touch ../started; sleep 60");
        bench.save("base");
        for number in ["1", "2", "3"] {
            bench.write("number", number);
            bench.save(number);
        }
        let running = bench.start(&["done", "HEAD~3..HEAD", "--json", "--parallel", parallel]);
        let pools = bench.root().join("home/.cache/git-discern");
        crate::support::wait_for("a job", || {
            let pool = std::fs::read_dir(&pools).ok().and_then(|mut pools| pools.next()).and_then(Result::ok);
            pool.is_some_and(|pool| pool.path().join("started").exists())
        });
        running.signal(rustix::process::Signal::INT);
        let outcome = running.wait().exits(130);
        let words: Vec<String> = commits_of(&outcome).into_iter().map(|(_, word)| word).collect();
        assert!(words.iter().all(|word| word == "cancelled"), "{words:?}");
        let unrun = outcome.json()["unrun"].as_array().map(Vec::len);
        assert_eq!(unrun, Some(3 - words.len()));
        let live = bench.sh("git for-each-ref --format='%(objectname)' refs/discern/attempt | git cat-file --batch");
        assert!(!live.stdout.contains("\"kind\": \"claimed\""), "{}", live.stdout);
    }
}
