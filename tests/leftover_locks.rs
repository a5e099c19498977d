//! A git that is killed with a lock in its hand: what proves that the lock is dead, and who removes it (C25, hazard 9).
//!
//! The test build pauses between git's *prepared* and our *commit* (`ref locked`), so that the lock is certainly there.

use std::path::PathBuf;

use rustix::process::{Pid, Signal};
use test_case::test_case;

use crate::support::{Bench, Hash, Place, Refs, Running, wait_for};

/// A run that pauses with a ref locked for the second time: in the record's `bind`.
struct Locked {
    run: Running,
    folder: PathBuf,
}

impl Locked {
    fn start(place: &Place) -> Self {
        let folder = place.path().join("../pause");
        std::fs::create_dir(&folder).expect("a fresh folder");
        let _ = place.sh("mkfifo ../pause/go").exits(0);
        let paused = place
            .with_variable("DISCERN_TEST_PAUSE_AT", "ref locked#2")
            .with_variable("DISCERN_TEST_FOLDER", &folder.to_string_lossy());
        let mut run = paused.start(&["done"]);
        wait_for("the pause", || folder.join("paused").exists() || run.has_ended());
        Self { run, folder }
    }

    /// Kills its git with the lock, and nothing else.
    fn kill_git(&self) {
        let me = self.run.pid().as_raw_nonzero();
        let children = std::fs::read_to_string(format!("/proc/{me}/task/{me}/children")).expect("Linux");
        for child in children.split_whitespace().filter_map(|child| Pid::from_raw(child.parse().ok()?)) {
            rustix::process::kill_process(child, Signal::KILL).expect("it is there");
        }
    }

    fn kill_all(self) {
        self.kill_git();
        self.run.signal(Signal::KILL);
        drop(self.run.wait());
    }
}

fn bench(refs: Refs) -> (Bench, PathBuf) {
    let bench = Bench::with(refs, Hash::Sha1);
    bench.gate();
    bench.job("ok", "true");
    let commit = bench.save("first");
    let lock = match refs {
        Refs::Files => format!(".git/refs/discern/attempt/{commit}.lock"),
        Refs::Reftable => ".git/reftable/tables.list.lock".to_owned(),
    };
    let lock = bench.path().join(lock);
    (bench, lock)
}

#[test_case(Refs::Files)]
#[test_case(Refs::Reftable)]
fn a_lock_whose_git_and_tool_were_killed_is_removed_by_the_next_run(refs: Refs) {
    let (bench, lock) = bench(refs);
    Locked::start(&bench).kill_all();
    assert!(lock.exists(), "{}", lock.display());
    let _ = bench.discern(&["done"]).exits(0);
    assert!(!lock.exists());
}

#[test_case(Refs::Files)]
#[test_case(Refs::Reftable)]
fn a_lock_whose_git_was_killed_is_removed_by_its_own_run(refs: Refs) {
    let (bench, lock) = bench(refs);
    let locked = Locked::start(&bench);
    locked.kill_git();
    drop(std::fs::OpenOptions::new().write(true).open(locked.folder.join("go")).expect("it reads"));
    let _ = locked.run.wait().exits(0);
    assert!(!lock.exists());
}

#[test]
fn a_lock_of_the_tables_that_somebody_else_holds_is_left_alone() {
    let (bench, lock) = bench(Refs::Reftable);
    // A killed run leaves a note about its own lock; this is another file of that name.
    Locked::start(&bench).kill_all();
    std::fs::remove_file(&lock).expect("ours");
    std::fs::write(&lock, "").expect("another's");
    let _ = bench.discern(&["done"]).exits(5);
    assert!(lock.exists());
    let _ = bench.discern(&["recover", "--break-lock", "refs/discern/ledger"]).exits(0);
    let _ = bench.discern(&["done"]).exits(0);
}
