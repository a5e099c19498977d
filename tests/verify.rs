//! `git discern verify`: what counts as proven, and what it says of everything else.

use crate::support::{Bench, Hash, Place, Refs};

/// Runs `script` with `$shard` set to a file that holds the ledger's one shard of outcomes, then puts the file's content in
/// the shard's place. The attempt's ref is removed first, so that only the ledger speaks.
fn rewrite_outcome(place: &Place, script: &str) {
    let _ = place
        .sh(&format!(
            "set -e; export GIT_INDEX_FILE=$PWD/.git/tmp-index shard=$PWD/.git/tmp-shard
             git for-each-ref --format='delete %(refname)' refs/discern/attempt/ | git update-ref --stdin
             git read-tree refs/discern/ledger
             path=$(git ls-files outcome); git cat-file blob :$path > $shard
             {script}
             git update-index --add --cacheinfo 100644,$(git hash-object -w $shard),$path
             git update-ref refs/discern/ledger $(git write-tree)"
        ))
        .exits(0);
}

#[test]
fn a_commit_is_verified_only_once_it_was_proven() {
    let bench = Bench::proven_by_true();
    let before = bench.discern(&["verify"]).exits(1);
    assert!(before.stdout.starts_with("none") && before.stdout.contains("never proven"), "{}", before.shown());
    let _ = bench.discern(&["done"]).exits(0);
    let after = bench.discern(&["verify"]).exits(0);
    assert!(after.stdout.starts_with("proven"), "{}", after.shown());
    assert_eq!(bench.discern(&["verify", "-q"]).exits(0).stdout, "");
}

#[test]
fn verifying_is_the_same_on_reftable_and_sha256() {
    let bench = Bench::with(Refs::Reftable, Hash::Sha256);
    bench.gate();
    bench.job("ok", "true");
    bench.save("first");
    let _ = bench.discern(&["verify", "main"]).exits(1);
    let _ = bench.discern(&["done"]).exits(0);
    let _ = bench.discern(&["verify", "main"]).exits(0);
}

#[test]
fn nothing_of_the_project_is_executed() {
    let bench = Bench::new();
    bench.gate();
    bench.job("loud", "touch ../ran");
    bench.save("first");
    let _ = bench.discern(&["verify"]).exits(1);
    assert!(!bench.has("../ran"));
}

#[test]
fn asking_writes_nothing_at_all() {
    let bench = Bench::proven_by_true();
    let _ = bench.discern(&["done"]).exits(0);
    let everything = "find .git -type f -exec sha1sum {} + | sort";
    let before = bench.sh(everything).exits(0).stdout;
    for command in [&["verify"][..], &["log"], &["log", "--flaky"], &["hook", "pre-push", "origin", "x"]] {
        let _ = bench.discern(command).exits(0);
    }
    assert_eq!(bench.sh(everything).exits(0).stdout, before);
}

#[test]
fn a_range_has_the_worst_of_its_commits() {
    let bench = Bench::proven_by_true();
    let _ = bench.discern(&["done"]).exits(0);
    bench.save("second");
    bench.save("third");
    let _ = bench.discern(&["done"]).exits(0);
    let _ = bench.discern(&["verify", "HEAD~2", "HEAD"]).exits(0);
    let range = bench.discern(&["verify", "--json", "HEAD~2..HEAD"]).exits(1).json();
    let standings: Vec<&str> =
        range["commits"].as_array().expect("a list").iter().filter_map(|one| one["standing"].as_str()).collect();
    assert_eq!(standings, ["none", "proven"]);
}

#[test]
fn commits_on_standard_input_are_answered_in_their_order_and_once_each() {
    let bench = Bench::proven_by_true();
    let first = bench.head();
    let _ = bench.discern(&["done"]).exits(0);
    let second = bench.save("second");
    let asked =
        bench.sh(&format!("printf '%s\\n' {second} {first} '' {second} | git-discern verify --stdin --json")).exits(1);
    let commits: Vec<_> =
        asked.json()["commits"].as_array().expect("a list").iter().map(|one| one["commit"].clone()).collect();
    assert_eq!(commits, [second.as_str(), first.as_str()]);
    let nothing = bench.sh("git-discern verify --stdin </dev/null").exits(0);
    assert_eq!(nothing.stdout, "no commit to verify\n");
}

#[test]
fn what_can_not_be_asked_is_refused() {
    let bench = Bench::proven_by_true();
    let _ = bench.discern(&["verify", "nowhere"]).exits(2);
    let _ = bench.discern(&["verify", "HEAD", "main..nowhere"]).exits(2);
    let tree = bench.git(&["rev-parse", "HEAD^{tree}"]);
    let _ = bench.discern(&["verify", &tree]).exits(2);
    let _ = Bench::new().discern(&["verify"]).exits(2);
}

#[test]
fn a_failed_commit_names_what_failed() {
    let bench = Bench::new();
    bench.gate();
    bench.job("no", "false");
    bench.save("first");
    let _ = bench.discern(&["done"]).exits(1);
    let failed = bench.discern(&["verify"]).exits(1);
    assert!(failed.stdout.starts_with("failed") && failed.stdout.contains("`no` failed"), "{}", failed.shown());
}

#[test]
fn a_failed_rerun_of_a_proven_commit_makes_it_not_proven_and_flaky() {
    let bench = Bench::new();
    bench.gate();
    bench.job("moody", "test ! -e ../mood");
    bench.save("first");
    let _ = bench.discern(&["done"]).exits(0);
    bench.write("../mood", "bad");
    let _ = bench.discern(&["done", "--rerun"]).exits(1);
    let verify = bench.discern(&["verify", "--json"]).exits(1).json();
    assert_eq!(verify["commits"][0]["standing"], "failed");
    assert_eq!(verify["commits"][0]["flaky"][0]["name"], "moody");
}

#[test]
fn a_proof_under_another_configuration_does_not_count() {
    let bench = Bench::proven_by_true();
    let _ = bench.discern(&["done"]).exits(0);
    rewrite_outcome(&bench, r#"sed -i 's/"configuration":"[0-9a-f]\{4\}/"configuration":"0000/' $shard"#);
    let verify = bench.discern(&["verify"]).exits(1);
    assert!(verify.stdout.contains("under another `discern.toml`"), "{}", verify.shown());
}

#[test]
fn a_proof_that_lacks_a_requirement_does_not_count() {
    let bench = Bench::proven_by_true();
    let _ = bench.discern(&["done"]).exits(0);
    rewrite_outcome(&bench, r#"sed -i 's/"name":"ok"/"name":"other"/' $shard"#);
    let verify = bench.discern(&["verify"]).exits(1);
    assert!(verify.stdout.contains("it lacks `ok`"), "{}", verify.shown());
}

#[test]
fn a_proof_of_another_commit_does_not_count() {
    let bench = Bench::proven_by_true();
    let _ = bench.discern(&["done"]).exits(0);
    let tree = bench.git(&["rev-parse", "HEAD^{tree}"]);
    rewrite_outcome(&bench, &format!("sed -i 's/\"tree\":\"{tree}\"/\"tree\":\"{}\"/' $shard", "ab".repeat(20)));
    let verify = bench.discern(&["verify"]).exits(1);
    assert!(verify.stdout.contains("speaks of another commit"), "{}", verify.shown());
}

#[test]
fn an_entry_that_is_damaged_or_newer_can_not_be_known() {
    for change in
        [r#"sed -i 's/"outcome":"passed"/"outcome":"/' $shard"#, r#"sed -i 's/"version":1/"version":9/' $shard"#]
    {
        let bench = Bench::proven_by_true();
        let _ = bench.discern(&["done"]).exits(0);
        rewrite_outcome(&bench, change);
        let verify = bench.discern(&["verify", "--json"]).exits(5).json();
        assert_eq!(verify["commits"][0]["standing"], "unknown", "{change}");
    }
}

#[test]
fn a_record_that_can_not_be_read_makes_its_own_commit_unknown_and_no_other() {
    let bench = Bench::proven_by_true();
    let first = bench.head();
    let _ = bench.discern(&["done"]).exits(0);
    let second = bench.save("second");
    let _ = bench.discern(&["done"]).exits(0);
    let _ = bench
        .sh(&format!("git update-ref refs/discern/attempt/{second} $(echo '{{' | git hash-object -w --stdin)"))
        .exits(0);
    let _ = bench.discern(&["verify", &first]).exits(0);
    let unknown = bench.discern(&["verify", &second]).exits(5);
    assert!(unknown.stdout.starts_with("unknown"), "{}", unknown.shown());
}

#[test]
fn a_commit_without_a_configuration_says_so() {
    let bench = Bench::new();
    bench.save("bare");
    let verify = bench.discern(&["verify"]).exits(1);
    assert!(verify.stdout.contains("it has no `discern.toml`"), "{}", verify.shown());
}

#[test]
fn it_works_in_a_bare_repository() {
    let bench = Bench::proven_by_true();
    let _ = bench.discern(&["done"]).exits(0);
    bench.git(&["clone", "-q", "--mirror", ".", "../b.git"]);
    let _ = bench.at("../b.git").discern(&["verify", "main"]).exits(0);
}

#[test]
fn a_run_at_work_is_named_with_the_command_that_follows_it() {
    let bench = Bench::new();
    bench.gate();
    bench.job("slow", "echo > ../started; read line < ../fifo");
    bench.save("first");
    let _ = bench.sh("mkfifo ../fifo").exits(0);
    let running = bench.start(&["done"]);
    crate::support::wait_for("the job", || bench.has("../started"));
    let verify = bench.discern(&["verify"]).exits(1);
    assert!(verify.stdout.starts_with("running"), "{}", verify.shown());
    assert!(verify.stdout.contains("git discern wait "), "{}", verify.shown());
    let _ = bench.sh("echo > ../fifo").exits(0);
    let _ = running.wait().exits(0);
    let _ = bench.discern(&["verify"]).exits(0);
}
