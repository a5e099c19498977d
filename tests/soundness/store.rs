//! Hostile and damaged refs, records and ledgers: what can't be trusted proves nothing.

use test_case::test_case;

use super::scene::{Then, ask, expect, play, scene};
use crate::support::Place;
use Then::{Ran, Reused};

const PROVEN: &str = "gate; job t true; save";
const RECORD: &str = "refs/discern/attempt/$(git rev-parse HEAD)";

/// Rewrites every file of the ledger, line by line.
pub(super) fn rewrite_ledger(place: &Place, change: impl Fn(&str) -> String) {
    let listing = place.git(&["ls-tree", "-r", "refs/discern/ledger"]);
    let mut index = String::new();
    for entry in listing.lines() {
        let (about, path) = entry.split_once('\t').expect("mode kind id, path");
        let blob = about.split(' ').nth(2).expect("an id");
        let lines: Vec<String> = place.git(&["cat-file", "-p", blob]).lines().map(&change).collect();
        place.write("../rewritten", format!("{}\n", lines.join("\n")));
        let id = place.git(&["hash-object", "-w", "../rewritten"]);
        index.push_str(&format!("100644 {id}\t{path}\n"));
    }
    place.write("../listing", index);
    place.sh("export GIT_INDEX_FILE=$PWD/../index; git update-index --index-info < ../listing && git update-ref refs/discern/ledger $(git write-tree)").exits(0).stdout.clear();
}

#[test_case("git symbolic-ref \"$REF\" refs/heads/main"; "a symbolic ref")]
#[test_case("git update-ref \"$REF\" HEAD"; "a commit")]
#[test_case("git update-ref \"$REF\" $(git mktree < /dev/null)"; "a tree")]
#[test_case("git update-ref \"$REF\" $(git hash-object -w /dev/null)"; "an empty file")]
#[test_case("git update-ref \"$REF\" $(echo '{}' | git hash-object -w --stdin)"; "an empty document")]
#[test_case("git update-ref \"$REF\" $(git cat-file -p \"$REF\" | sed 's/\"version\": 2/\"version\": 3/' | git hash-object -w --stdin)"; "a record of a newer format")]
#[test_case("git update-ref \"$REF\" $(git cat-file -p \"$REF\" | head -c 500 | git hash-object -w --stdin)"; "half a record")]
#[test_case("git update-ref \"$REF\" $(git cat-file -p \"$REF\" | sed 's/\"sequence\": [0-9]*/\"sequence\": 1/' | git hash-object -w --stdin)"; "a record put back")]
fn a_record_that_cannot_be_read_proves_nothing(change: &str) {
    let bench = scene(PROVEN);
    expect(&bench, &[], Ran(0));
    play(&bench, &format!("REF={RECORD}; git cat-file -e \"$REF\"; {change}"));
    for arguments in [&["done"][..], &["done", "--rerun"]] {
        let outcome = bench.discern(arguments);
        assert_eq!(outcome.status, 5, "{}", outcome.shown());
    }
    let outcome = bench.discern(&["verify"]);
    assert_ne!(outcome.status, 0, "{}", outcome.shown());
    // It concerns its own commit only.
    play(&bench, "save other");
    expect(&bench, &[], Reused);
}

#[test]
fn a_record_of_another_commit_proves_nothing_here() {
    let bench = scene("gate; job t 'test ! -e bad'; save");
    expect(&bench, &[], Ran(0));
    play(
        &bench,
        "proven=$(git rev-parse HEAD); touch bad; save
        git update-ref refs/discern/attempt/$(git rev-parse HEAD) refs/discern/attempt/$proven",
    );
    let (outcome, _) = ask(&bench, &[]);
    assert_eq!(outcome.status, 5, "{}", outcome.shown());
}

#[test]
fn an_outcome_of_another_commit_proves_nothing_here() {
    let bench = scene("gate; job t 'test ! -e bad'; save");
    expect(&bench, &[], Ran(0));
    let proven = bench.head();
    play(
        &bench,
        "touch bad; save; git for-each-ref --format='delete %(refname)' refs/discern/attempt | git update-ref --stdin",
    );
    let bad = bench.head();
    // Only the outcome's key names this commit; the Proof in it does not. It lies in the right place.
    let listing = bench.git(&["ls-tree", "-r", "--name-only", "refs/discern/ledger", "outcome/"]);
    rewrite_ledger(&bench, |line| {
        line.replacen(&format!(r#""commit":"{proven}""#), &format!(r#""commit":"{bad}""#), 1)
    });
    let shard = place_of_outcome(&bad);
    play(&bench, &format!("export GIT_INDEX_FILE=$PWD/../index2; git read-tree refs/discern/ledger
        id=$(git rev-parse refs/discern/ledger:{listing}); git update-index --add --cacheinfo 100644,$id,{shard}; git update-ref refs/discern/ledger $(git write-tree)"));
    expect(&bench, &[], Ran(1));
}

/// Where the ledger keeps a commit's outcomes.
fn place_of_outcome(commit: &str) -> String {
    use sha2::Digest as _;
    let digest = sha2::Sha256::digest(commit.as_bytes());
    let bits = u16::from_be_bytes([digest[0], digest[1]]) >> 4;
    format!("outcome/{:02o}/{:02o}", bits >> 6, bits & 0o77)
}

#[test_case("passed", "failed"; "a pass that says how it failed")]
fn a_receipt_that_contradicts_itself_is_none(was: &str, is: &str) {
    let bench = scene("gate; job t false; save");
    expect(&bench, &[], Ran(1));
    // The failure is called a pass; its exit code says what it was.
    rewrite_ledger(&bench, |line| line.replace(&format!(r#""verdict":"{is}""#), &format!(r#""verdict":"{was}""#)));
    play(&bench, "git commit -q --amend -m other");
    expect(&bench, &[], Ran(1));
}

#[test_case(".git/discern"; "our folder")]
#[test_case(".git/discern/seen"; "the marks")]
fn what_is_private_may_be_lost(folder: &str) {
    let bench = scene(PROVEN);
    expect(&bench, &[], Ran(0));
    play(&bench, &format!("rm -rf {folder}; git commit -q --amend -m other"));
    expect(&bench, &[], Reused);
}

#[test]
fn every_private_file_may_be_cut_to_nothing() {
    let bench = scene(PROVEN);
    expect(&bench, &[], Ran(0));
    play(
        &bench,
        "find .git/discern .git/discern.left -type f -exec truncate -s 0 {} +; git commit -q --amend -m other",
    );
    expect(&bench, &[], Reused);
    expect(&bench, &["--rerun"], Ran(0));
}

#[test]
fn a_ledger_that_is_gone_costs_a_run_and_proves_nothing() {
    let bench = scene(PROVEN);
    expect(&bench, &[], Ran(0));
    play(&bench, "git update-ref -d refs/discern/ledger; git commit -q --amend -m other");
    expect(&bench, &[], Ran(0));
}

#[test]
fn a_ledger_that_is_no_ledger_proves_nothing() {
    let bench = scene(PROVEN);
    expect(&bench, &[], Ran(0));
    play(&bench, "git update-ref refs/discern/ledger HEAD; git commit -q --amend -m other");
    let (outcome, _) = ask(&bench, &[]);
    assert_eq!(outcome.status, 5, "{}", outcome.shown());
}

#[test]
fn a_verdict_of_a_newer_version_is_never_passed_over() {
    let bench = scene("gate; job t 'test ! -e ../bad'; save");
    expect(&bench, &[], Ran(0));
    play(&bench, "touch ../bad");
    expect(&bench, &["--rerun"], Ran(1));
    // The newest verdict, the failure, is of a newer format; the pass before it can be read.
    let newer = |line: &str| match line.contains(r#""verdict":"failed""#) {
        true => line.replacen(r#"{"version":1"#, r#"{"version":2"#, 1),
        false => line.to_owned(),
    };
    rewrite_ledger(&bench, newer);
    play(&bench, "rm ../bad; save other");
    let doctor = bench.discern(&["doctor"]);
    assert!(doctor.stdout.contains("format version 2 is newer than 1"), "{}", doctor.shown());
    let explained = bench.discern(&["explain", "t"]).exits(0);
    assert!(explained.stdout.contains("a newer git-discern recorded a verdict of it"), "{}", explained.shown());
    let outcome = bench.discern(&["done"]).exits(0);
    assert!(outcome.stderr.contains("a newer git-discern recorded a verdict of it"), "{}", outcome.shown());
    // As long as it lies there, nothing about it is reused; the commit is proven all the same.
    play(&bench, "save another");
    expect(&bench, &[], Ran(0));
    bench.discern(&["verify"]).exits(0).stdout.clear();
}
