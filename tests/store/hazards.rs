//! What can happen to refs in somebody's repository (the hazards of the storage design), tried on real ones.

use std::os::unix::fs::PermissionsExt;

use git_discern::git::LeftoverLock;
use git_discern::id::{CommitId, Token};
use git_discern::store::{Found, RecordStore, RefStore, Swap, Unreadable};
use test_case::test_case;

use super::{candidate, open};
use crate::support::{Bench, Hash, Place, Refs};

fn name(candidate: &CommitId) -> String {
    format!("refs/discern/attempt/{candidate}")
}

fn first_record(store: &mut RefStore<'_>, candidate: &CommitId) -> git_discern::id::RecordId {
    match store.swap(candidate, None, b"first") {
        Swap::Applied(id) => id,
        other => panic!("not applied: {other:?}"),
    }
}

#[test_case(Refs::Files)]
#[test_case(Refs::Reftable)]
fn a_symbolic_ref_at_our_name_is_unreadable_and_never_written_through(refs: Refs) {
    let bench = Bench::with(refs, Hash::Sha1);
    let one = candidate(&bench);
    bench.git(&["symbolic-ref", &name(&one), "refs/heads/main"]);
    let repository = open(&bench);
    let mut store = RefStore::new(&repository);
    let there = Found::Unreadable(Unreadable::Symbolic("refs/heads/main".to_owned()));
    assert_eq!(store.read(&one), Ok(there.clone()));
    assert_eq!(store.swap(&one, None, b"x"), Swap::Stale(there));
    assert_eq!(bench.head(), one.to_string());
    let kept = store.forget(&one).expect("it can be forgotten");
    assert!(std::fs::read_to_string(kept).unwrap().contains("refs/heads/main"));
    assert_eq!(store.read(&one), Ok(Found::Absent));
    assert_eq!(bench.head(), one.to_string());
}

#[test]
fn an_empty_or_garbled_ref_is_unreadable_and_not_absent() {
    let bench = Bench::new();
    let one = candidate(&bench);
    let repository = open(&bench);
    let mut store = RefStore::new(&repository);
    for content in ["", "not an id\n", "0123\n"] {
        bench.write(&format!(".git/{}", name(&one)), content);
        assert!(matches!(store.read(&one), Ok(Found::Unreadable(Unreadable::Ref(_)))), "{content:?}");
        assert!(matches!(store.swap(&one, None, b"x"), Swap::Stale(Found::Unreadable(_)) | Swap::Unknown(_)));
    }
    store.forget(&one).expect("it can be forgotten");
    assert_eq!(store.read(&one), Ok(Found::Absent));
}

#[test_case(Refs::Files)]
#[test_case(Refs::Reftable)]
fn what_is_no_record_is_unreadable(refs: Refs) {
    let bench = Bench::with(refs, Hash::Sha1);
    let one = candidate(&bench);
    bench.git(&["update-ref", &name(&one), "HEAD"]);
    let repository = open(&bench);
    let mut store = RefStore::new(&repository);
    assert!(matches!(store.read(&one), Ok(Found::Unreadable(Unreadable::Damaged { .. }))));
    bench.write("large", vec![b'x'; 400 * 1024]);
    let large = bench.git(&["hash-object", "-w", "large"]);
    bench.git(&["update-ref", &name(&one), &large]);
    assert!(matches!(store.read(&one), Ok(Found::Unreadable(Unreadable::TooLarge { bytes: 409_600, .. }))));
}

#[test]
fn a_record_whose_object_was_pruned_is_written_back_from_the_private_folder() {
    let bench = Bench::new();
    let one = candidate(&bench);
    let repository = open(&bench);
    let mut store = RefStore::new(&repository);
    let id = first_record(&mut store, &one);
    let hex = id.to_string();
    std::fs::remove_file(bench.path().join(".git/objects").join(&hex[..2]).join(&hex[2..])).expect("a loose object");
    let again = open(&bench);
    assert_eq!(RefStore::new(&again).read(&one), Ok(Found::Record { id, bytes: b"first".to_vec() }));
    bench.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(bench.git(&["fsck", "--strict"]), "");
    // Without those bytes it is unreadable, and says what is missing.
    bench.git(&["update-ref", "--no-deref", &name(&one), &id.to_string()]);
    for folder in ["pack", &hex[..2]] {
        std::fs::remove_dir_all(bench.path().join(".git/objects").join(folder)).ok();
    }
    std::fs::remove_dir_all(bench.path().join(".git/discern/seen")).expect("ours");
    let last = open(&bench);
    assert_eq!(RefStore::new(&last).read(&one), Ok(Found::Unreadable(Unreadable::Missing(id))));
}

#[test_case(Refs::Files)]
#[test_case(Refs::Reftable)]
fn no_hook_runs_and_no_reflog_is_written(refs: Refs) {
    let bench = Bench::with(refs, Hash::Sha1);
    let one = candidate(&bench);
    bench.git(&["config", "core.logAllRefUpdates", "always"]);
    bench.write("hooks/reference-transaction", "#!/bin/sh\ntouch ran\nexit 1\n");
    let hook = bench.path().join("hooks/reference-transaction");
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).expect("ours");
    bench.git(&["config", "core.hooksPath", "hooks"]);
    let repository = open(&bench);
    let mut store = RefStore::new(&repository);
    let id = first_record(&mut store, &one);
    assert!(matches!(store.swap(&one, Some(id), b"second"), Swap::Applied(_)));
    assert!(!bench.has("ran") && !bench.has(".git/ran"));
    assert_eq!(bench.try_git(&["reflog", "exists", &name(&one)]).status, 1);
}

#[test]
fn records_survive_packing_and_collecting_while_they_are_written() {
    let bench = Bench::new();
    let one = candidate(&bench);
    let repository = open(&bench);
    let mut store = RefStore::new(&repository);
    let mut current = first_record(&mut store, &one);
    let packing = bench.begin(bench.command(
        "sh",
        &["-c", "for i in 1 2 3 4 5 6 7 8; do git pack-refs --all --prune; git gc -q --prune=now; done"],
    ));
    for round in 0..60 {
        let bytes = format!("record {round}");
        match store.swap(&one, Some(current), bytes.as_bytes()) {
            Swap::Applied(id) => current = id,
            other => panic!("round {round}: {other:?}"),
        }
        assert_eq!(store.read(&one), Ok(Found::Record { id: current, bytes: bytes.into_bytes() }));
    }
    // A collection without any grace may meet a ref whose object it has just pruned, for an instant (hazard 12); what
    // counts is that nothing stays broken.
    let _ = packing.wait();
    bench.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(bench.git(&["fsck", "--strict", "--no-dangling"]), "");
}

#[test]
fn a_busy_lock_is_waited_out_and_then_unknown() {
    let bench = Bench::new();
    let one = candidate(&bench);
    let repository = open(&bench);
    let mut store = RefStore::new(&repository);
    let id = first_record(&mut store, &one);
    let lock = format!(".git/{}.lock", name(&one));
    bench.write(&lock, "");
    assert!(matches!(store.swap(&one, Some(id), b"second"), Swap::Unknown(_)));
    assert_eq!(store.read(&one), Ok(Found::Record { id, bytes: b"first".to_vec() }));
    let found = store.leftover_lock(&one, &|_| None).expect("readable");
    assert!(matches!(found, LeftoverLock::Unknown { .. }), "{found:?}");
    store.break_lock(&one).expect("ours to break");
    assert_eq!(store.leftover_lock(&one, &|_| None), Ok(LeftoverLock::None));
    assert!(matches!(store.swap(&one, Some(id), b"second"), Swap::Applied(_)));
}

/// A lock file that names an object whose bytes are a writer's token, as a killed git would leave it.
fn plant_lock(bench: &Place, candidate: &CommitId, token: Token) {
    bench.write("token", token.to_string());
    let id = bench.git(&["hash-object", "-w", "token"]);
    bench.write(&format!(".git/{}.lock", name(candidate)), format!("{id}\n"));
}

#[test]
fn a_leftover_lock_is_dead_only_when_its_writer_provably_ended() {
    let bench = Bench::new();
    let one = candidate(&bench);
    let writer_of = |bytes: &[u8]| std::str::from_utf8(bytes).ok()?.parse().ok();
    let repository = open(&bench);
    let mut store = RefStore::new(&repository);
    first_record(&mut store, &one);
    let token = store.writer_token().expect("a token");
    plant_lock(&bench, &one, token);
    let found = store.leftover_lock(&one, &writer_of).expect("readable");
    assert!(matches!(found, LeftoverLock::Unknown { .. }), "its writer lives: {found:?}");

    // A writer of this boot that is gone: its file is there and nobody holds it.
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("Linux");
    let gone: Token = "11111111-2222-4333-8444-555555555555".parse().expect("a token");
    bench.write(&format!(".git/discern/git/{gone}"), &boot);
    plant_lock(&bench, &one, gone);
    let found = store.leftover_lock(&one, &writer_of).expect("readable");
    assert!(matches!(found, LeftoverLock::Dead { .. }), "{found:?}");

    // One of another boot, and one without a file, prove nothing.
    bench.write(&format!(".git/discern/git/{gone}"), "another boot\n");
    assert!(matches!(store.leftover_lock(&one, &writer_of), Ok(LeftoverLock::Unknown { .. })));
    std::fs::remove_file(bench.path().join(".git/discern/git").join(gone.to_string())).expect("ours");
    assert!(matches!(store.leftover_lock(&one, &writer_of), Ok(LeftoverLock::Unknown { .. })));
}

#[test_case(Refs::Files)]
#[test_case(Refs::Reftable)]
fn a_git_child_that_is_killed_between_two_swaps_is_replaced(refs: Refs) {
    let bench = Bench::with(refs, Hash::Sha1);
    let one = candidate(&bench);
    let repository = open(&bench);
    let mut store = RefStore::new(&repository);
    let id = first_record(&mut store, &one);
    let token = store.writer_token();
    let me = std::process::id();
    let children = std::fs::read_to_string(format!("/proc/{me}/task/{}/children", rustix_tid())).expect("Linux");
    for child in children.split_whitespace() {
        let _ = bench.sh(&format!("kill -9 {child}")).exits(0);
    }
    assert!(matches!(store.swap(&one, Some(id), b"second"), Swap::Applied(_)));
    assert_eq!(store.writer_token(), token);
}

/// The kernel's id of this thread, whose children are listed apart.
fn rustix_tid() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

#[test]
fn nothing_is_left_in_the_private_folder_when_a_writer_ends() {
    let bench = Bench::new();
    let one = candidate(&bench);
    {
        let repository = open(&bench);
        first_record(&mut RefStore::new(&repository), &one);
        assert_eq!(std::fs::read_dir(bench.path().join(".git/discern/git")).unwrap().count(), 1);
    }
    assert_eq!(std::fs::read_dir(bench.path().join(".git/discern/git")).unwrap().count(), 0);
}

#[test_case("group", 0o660)]
#[test_case("0640", 0o640)]
#[test_case("umask", 0o600)]
fn files_of_ours_follow_the_repositorys_sharing(setting: &str, mode: u32) {
    let bench = Bench::new();
    let one = candidate(&bench);
    bench.git(&["config", "core.sharedRepository", setting]);
    let repository = open(&bench);
    first_record(&mut RefStore::new(&repository), &one);
    let last = bench.path().join(format!(".git/discern/seen/{one}.last"));
    assert_eq!(std::fs::metadata(last).expect("kept").permissions().mode() & 0o777, mode);
}

#[test]
fn a_file_in_the_place_of_our_refs_is_no_permission_to_go_on() {
    let bench = Bench::new();
    let one = candidate(&bench);
    bench.write(".git/refs/discern", "");
    let repository = open(&bench);
    let mut store = RefStore::new(&repository);
    assert!(matches!(store.swap(&one, None, b"first"), Swap::Unknown(_)));
}
