//! `recover`: abandoned claims, records that can't be read, locks that nobody gives back.

use rustix::process::Signal;

use super::{begun, gated, handle};
use crate::support::{Bench, wait_for};

#[test]
fn an_abandoned_claim_is_shown_first_and_then_retired() {
    let bench = gated();
    let _stable = bench.stable_snapshots();
    let done = begun(&bench, &["done"]);
    handle(&bench);
    let held = bench.discern(&["recover"]).exits(0);
    assert!(held.stdout.starts_with("held"), "{}", held.shown());
    done.signal(Signal::KILL);
    drop(done);
    wait_for("the claim is abandoned", || bench.discern(&["status"]).stdout.contains("abandoned"));
    let mut shown = bench.discern(&["recover", "--dry-run"]).exits(0).shown();
    let document = bench.discern(&["recover", "--dry-run", "--json"]).exits(0).json();
    assert_eq!(document["claims"][0]["action"], "may-be-retired");
    shown += &bench.discern(&["recover"]).exits(0).shown();
    shown += &bench.discern(&["recover"]).exits(0).shown();
    insta::assert_snapshot!(shown);
    let ended = bench.discern(&["wait", "--json"]).exits(4).json();
    assert_eq!(ended["cancelled"]["reason"], "executor-gone");
}

#[test]
fn a_record_that_cannot_be_read_is_kept_and_forgotten() {
    let bench = Bench::proven_by_true();
    let name = format!("refs/discern/attempt/{}", bench.head());
    let blob = bench.git(&["hash-object", "-w", "discern.toml"]);
    bench.git(&["update-ref", &name, &blob]);
    bench.discern(&["done"]).exits(5);
    let recover = bench.discern(&["recover"]).exits(0);
    assert!(recover.stdout.contains("unreadable"), "{}", recover.shown());
    let document = bench.discern(&["recover", "--forget", "HEAD", "--json"]).exits(0).json();
    let kept = std::fs::read_to_string(document["kept"].as_str().expect("a path")).expect("it is there");
    assert!(kept.starts_with(&format!("{name} {blob}")) && kept.contains("[jobs.ok]"), "{kept}");
    bench.discern(&["done"]).exits(0);
    bench.discern(&["recover", "--forget", &"0".repeat(40)]).exits(2);
}

#[test]
fn forgetting_a_finished_record_says_that_it_could_be_read_and_loses_nothing() {
    let bench = Bench::proven_by_true();
    bench.discern(&["done"]).exits(0);
    let forgotten = bench.discern(&["recover", "--forget", "HEAD"]).exits(0);
    assert!(forgotten.stdout.contains("what it established stays in the ledger"), "{}", forgotten.shown());
    bench.discern(&["verify"]).exits(0);
}

#[test]
fn a_live_record_is_not_forgotten() {
    let bench = gated();
    let _done = begun(&bench, &["done"]);
    let refused = bench.discern(&["recover", "--forget", "HEAD"]).exits(2);
    assert!(refused.stderr.contains("is not finished"), "{}", refused.shown());
}

#[test]
fn a_lock_whose_owner_is_unknown_is_named_and_removed_only_by_name() {
    let bench = Bench::proven_by_true();
    bench.discern(&["done"]).exits(0);
    let name = format!("refs/discern/attempt/{}", bench.head());
    let lock = format!(".git/{name}.lock");
    bench.write(&lock, "");
    bench.sh(&format!("touch -d '2 hours ago' {lock}")).exits(0);
    let named = bench.discern(&["recover"]).exits(0);
    assert!(named.stdout.contains("2 h old"), "{}", named.shown());
    assert!(named.stdout.contains(&format!("git discern recover --break-lock {name}")), "{}", named.shown());
    assert!(bench.has(&lock));
    bench.discern(&["recover", "--break-lock", &name, "--dry-run"]).exits(0);
    assert!(bench.has(&lock));
    bench.discern(&["recover", "--break-lock", &name]).exits(0);
    assert!(!bench.has(&lock));
    bench.discern(&["recover", "--break-lock", "refs/heads/main"]).exits(2);
}
