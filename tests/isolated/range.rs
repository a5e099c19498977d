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

#[test]
fn a_range_is_what_git_takes_it_for() {
    let (bench, commits) = history(4, 9);
    bench.git(&["checkout", "-q", "-b", "side", "main~2"]);
    bench.write("side", "s");
    let side = bench.save("side");
    bench.git(&["checkout", "-q", "main"]);
    bench.git(&["merge", "-q", "-m", "both", "side"]);
    bench.git(&["tag", "-a", "-m", "marked", "marked", "main~1"]);
    let merge = bench.head();
    // A file of that name makes git ask what is meant.
    bench.write("main..side", "");
    let proven = |range: &str| -> Vec<String> {
        let outcome = bench.discern(&["done", range, "--json"]).exits(0);
        commits_of(&outcome).into_iter().map(|(commit, _)| commit).collect()
    };
    assert_eq!(proven("marked..main"), [side.clone(), merge.clone()]);
    assert_eq!(proven("marked.."), [side.clone(), merge]);
    assert_eq!(proven("marked...side"), [commits[2].clone(), commits[3].clone(), side.clone()]);
    assert_eq!(proven("main..side"), Vec::<String>::new());
    assert_eq!(proven(".."), Vec::<String>::new());
    assert_eq!(proven("base..base~0"), Vec::<String>::new());
    for nothing in ["^main", "main:number", "main^{tree}", "a..b..c", "main..main:number", "main~9..main"] {
        let refused = bench.discern(&["done", nothing]).exits(2);
        assert!(refused.stderr.contains("does not name a commit"), "{}", refused.shown());
    }
}

#[test]
fn a_ranges_junit_has_a_suite_for_each_commit_and_github_is_told_where_each_failed() {
    let bench = Bench::new();
    bench.gate();
    bench.job("t", "test $(cat number) = 1 || { echo \"$PWD/number:1:2: error: wrong\"; exit 1; }");
    bench.save("base");
    let commits: Vec<String> = ["1", "2"].map(|number| (bench.write("number", number), bench.save(number)).1).into();
    let there = bench.with_variable("GITHUB_ACTIONS", "true");
    for more in [&["--parallel", "2"][..], &[]] {
        let asked = [&["done", "HEAD~2..HEAD", "--junit", "../report.xml"], more].concat();
        let outcome = there.discern(&asked).exits(1);
        assert!(outcome.stderr.contains("::error file=number,line=1,col=2"), "{}", outcome.shown());
        let xml = bench.read("../report.xml");
        for (commit, failures) in commits.iter().zip(["0", "1"]) {
            let suite =
                format!("<testsuite name=\"{commit}\" tests=\"1\" skipped=\"0\" errors=\"0\" failures=\"{failures}\"");
            assert!(xml.contains(&suite), "{suite}: {xml}");
        }
    }
    let _ = bench.discern(&["done", "HEAD~2..nowhere", "--junit", "../report.xml"]).exits(2);
    assert!(bench.read("../report.xml").contains("<error message="), "{}", bench.read("../report.xml"));
}

#[test]
fn the_command_that_repeats_a_commit_names_it() {
    let (bench, commits) = history(2, 1);
    let short = &commits[0][..10];
    let _ = bench.discern(&["done", &commits[0]]).exits(1);
    let again = bench.discern(&["done", "base..main"]).exits(1);
    let hint = format!("hint: git discern done {short} --rerun");
    assert!(again.stderr.contains(&hint), "{}", again.shown());
    assert!(again.stdout.contains(&format!("again: git discern done {short} --rerun t")), "{}", again.shown());
    let reversed = bench.discern(&["done", "main..base"]).exits(0);
    assert!(reversed.stdout.contains("0 commits, the right side has none"), "{}", reversed.shown());
    bench.git(&["checkout", "-q", "--orphan", "bare"]);
    bench.git(&["rm", "-q", "--cached", "discern.toml"]);
    let without = {
        bench.git(&["commit", "-q", "-m", "without a configuration"]);
        bench.head()
    };
    bench.git(&["checkout", "-q", "-f", "main"]);
    let refused = bench.discern(&["done", &without]).exits(2);
    assert!(refused.stderr.contains("has no `discern.toml`"), "{}", refused.shown());
}

#[test]
fn runs_of_a_range_that_was_killed_go_on_and_nothing_new_starts() {
    let bench = Bench::new();
    bench.gate();
    bench.job("t", "echo x >> ../../../../../began; until test -e ../../../../../go; do sleep 0.01; done");
    bench.save("base");
    for number in ["1", "2", "3"] {
        bench.write("number", number);
        bench.save(number);
    }
    let running = bench.start(&["done", "HEAD~3..HEAD", "--parallel", "2"]);
    let began = bench.root().join("began");
    let count = || std::fs::read_to_string(&began).map_or(0, |text| text.lines().count());
    crate::support::wait_for("two jobs", || count() == 2);
    let _ = rustix::process::kill_process(running.pid(), rustix::process::Signal::KILL);
    drop(running);
    let shown = bench.discern(&["status"]);
    assert_eq!(shown.stdout.matches("running ").count(), 2, "{}", shown.shown());
    std::fs::write(bench.root().join("go"), "").expect("writable");
    for commit in ["HEAD~2", "HEAD~1"] {
        let _ = bench.discern(&["done", commit, "--wait=60"]).exits(0);
    }
    assert_eq!(count(), 2);
    let _ = bench.discern(&["done", "HEAD~3..HEAD"]).exits(0);
    assert_eq!(count(), 3);
}

#[test]
fn a_full_pool_is_said_with_its_size_and_whom_to_follow() {
    let bench = Bench::new();
    bench.gate();
    bench.write("discern.toml", "[gate]\ntrunk = \"main\"\npool = 1\n");
    bench.job("t", "touch ../../../../../started; until test -e ../../../../../go; do sleep 0.01; done");
    bench.save("first");
    bench.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    let running = bench.start(&["done", "HEAD~1"]);
    crate::support::wait_for("the job", || bench.root().join("started").exists());
    let full = bench.discern(&["done", "HEAD", "--wait=0"]).exits(3);
    assert!(full.stdout.contains("pending  the one kept checkout is in use by another run (R1-"), "{}", full.shown());
    assert!(full.stdout.contains("follow it: git discern wait R1-"), "{}", full.shown());
    std::fs::write(bench.root().join("go"), "").expect("writable");
    let _ = running.wait().exits(0);
}
