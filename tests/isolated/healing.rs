//! Whatever happened to the pool, the next run puts it right.

use super::{checkout, printed};
use crate::support::Bench;

fn three_commits() -> Bench {
    let bench = Bench::new();
    bench.gate();
    bench.job("t", "cat file");
    for content in ["1", "2", "3"] {
        bench.write("file", format!("{content}\n"));
        bench.save(content);
    }
    bench
}

#[test]
fn a_checkout_that_is_gone_is_made_again_and_git_stays_content() {
    let bench = three_commits();
    let _ = bench.discern(&["done", "HEAD~2"]).exits(0);
    let top = checkout(&bench, 1);
    assert!(bench.git(&["worktree", "list", "--porcelain"]).contains(&*top.to_string_lossy()));
    bench.git(&["worktree", "prune"]);
    bench.git(&["gc", "-q", "--prune=now"]);
    std::fs::remove_dir_all(&top).expect("removable");
    let _ = bench.discern(&["done", "HEAD~1"]).exits(0);
    std::fs::remove_dir_all(bench.root().join("home/.cache")).expect("removable");
    bench.git(&["worktree", "prune"]);
    let _ = bench.discern(&["done", "HEAD"]).exits(0);
    bench.git(&["worktree", "remove", "--force", &top.to_string_lossy()]);
    let _ = bench.discern(&["done", "HEAD", "--rerun"]).exits(0);
    assert_eq!(printed(&bench, "t"), ["1", "2", "3", "3"]);
    bench.git(&["fsck", "--strict"]);
    assert_eq!(bench.git(&["worktree", "list"]).lines().count(), 2);
}

#[test]
fn a_checkout_that_was_left_half_moved_is_written_anew() {
    let bench = three_commits();
    let _ = bench.discern(&["done", "HEAD~1"]).exits(0);
    lose(&bench, "file", "\0\0");
    std::fs::remove_file(bench.path().join(MARK)).expect("it is there");
    let _ = bench.discern(&["done", "HEAD~1", "--rerun"]).exits(0);
    assert_eq!(printed(&bench, "t"), ["2", "2"]);
    assert!(bench.has(MARK));
}

#[test]
fn after_a_power_cut_lost_content_is_written_again_and_all_else_keeps_its_times() {
    let bench = three_commits();
    bench.write("other", "x\n");
    bench.save("4");
    let _ = bench.discern(&["done", "HEAD~1"]).exits(0);
    let times = format!("stat -c '%y %z' {}", checkout(&bench, 1).join("discern.toml").display());
    let before = bench.sh(&times).stdout;
    lose(&bench, "file", "\0\0");
    bench.write(MARK, "another boot");
    let _ = bench.discern(&["done", "HEAD", "--rerun"]).exits(0);
    assert_eq!(printed(&bench, "t"), ["3", "3"]);
    assert_eq!(bench.sh(&times).stdout, before);
    assert_ne!(bench.read(MARK), "another boot");
}

/// The mark of the first checkout.
const MARK: &str = ".git/discern/checkout/1/exact";

/// Gives a file of the first checkout another content, as a power cut may: the index is sure that it is unchanged.
fn lose(bench: &Bench, file: &str, content: &str) {
    let path = checkout(bench, 1).join(file);
    std::fs::write(&path, content).expect("writable");
    let format = gix::hash::Kind::Sha1;
    let index = bench.path().join(".git/worktrees/discern-1/index");
    let mut index = gix::index::File::at(index, format, false, Default::default()).expect("an index");
    let at = index.entry_index_by_path(file.into()).expect("it is tracked");
    let meta = gix::index::fs::Metadata::from_path_no_follow(&path).expect("it is there");
    index.entries_mut()[at].stat = gix::index::entry::Stat::from_fs(&meta).expect("a time after 1970");
    index.write(Default::default()).expect("writable");
}

#[test]
fn a_foreign_folder_at_its_place_is_replaced() {
    let bench = three_commits();
    let _ = bench.discern(&["done", "HEAD~1"]).exits(0);
    let top = checkout(&bench, 1);
    std::fs::remove_dir_all(&top).expect("removable");
    bench.git(&["clone", "-q", ".", &top.to_string_lossy()]);
    let _ = bench.discern(&["done", "HEAD"]).exits(0);
    assert_eq!(printed(&bench, "t"), ["2", "3"]);
}

#[test]
fn a_run_killed_at_any_moment_leaves_a_pool_that_heals() {
    let bench = three_commits();
    let _ = bench.discern(&["done", "HEAD"]).exits(0);
    for (round, microseconds) in (0..24_u64).map(|round| (round, round * 4_000)) {
        let what = if round % 2 == 0 { format!("HEAD~{}", round % 3) } else { "HEAD~2..HEAD".to_owned() };
        let running = bench.start(&["done", &what, "--rerun"]);
        let _ = bench.sh(&format!("sleep 0.{microseconds:06}")).exits(0);
        let _ = rustix::process::kill_process(running.pid(), rustix::process::Signal::KILL);
        drop(running);
    }
    let _ = bench.discern(&["done", "HEAD~2", "--rerun", "--wait=70"]).exits(0);
    assert_eq!(printed(&bench, "t").last().map(String::as_str), Some("1"));
    bench.git(&["fsck", "--strict"]);
}

#[test]
fn a_checkout_on_its_way_to_a_commit_that_needs_no_run_arrives() {
    let bench = three_commits();
    let _ = bench.discern(&["done", "HEAD"]).exits(0);
    let times = format!("stat -c '%y %z' {}", checkout(&bench, 1).join("discern.toml").display());
    let before = bench.sh(&times).stdout;
    let _ = bench.discern(&["done", "HEAD~2..HEAD"]).exits(0);
    let top = checkout(&bench, 1).to_string_lossy().into_owned();
    assert_eq!(
        bench.git(&["-C", &top, "rev-parse", "HEAD"]),
        bench.head(),
        "it was moved while the first was recorded"
    );
    assert!(bench.has(MARK));
    let _ = bench.discern(&["done", "HEAD", "--rerun"]).exits(0);
    assert_eq!(bench.sh(&times).stdout, before, "it was not written anew");
    assert_eq!(printed(&bench, "t"), ["3", "2", "3"]);
}

#[test]
fn commits_of_a_range_may_want_other_checkouts() {
    let bench = three_commits();
    for gate in ["pool = 1", "pool = 2\ncheckouts = \"../elsewhere\"", "pool = 3"] {
        let config = bench.read("discern.toml");
        let (before, after) = (config.find("[gate]").expect("there"), config.find("[jobs").expect("there"));
        bench.write("discern.toml", format!("{}[gate]\n{gate}\n{}", &config[..before], &config[after..]));
        bench.write("file", format!("{gate}\n"));
        bench.save(gate);
    }
    let _ = bench.discern(&["done", "HEAD~5..HEAD"]).exits(0);
    let expected = ["2", "3", "pool = 1", "pool = 2", "checkouts = \"../elsewhere\"", "pool = 3"];
    assert_eq!(printed(&bench, "t"), expected);
}

#[test]
fn gc_removes_checkouts_that_nobody_needs_and_never_one_in_use() {
    let bench = three_commits();
    let _ = bench.discern(&["done", "HEAD"]).exits(0);
    let first = checkout(&bench, 1);
    bench.job("slow", "touch ../started; until test -e ../go; do sleep 0.01; done");
    bench.write("discern.toml", bench.read("discern.toml").replace("[gate]", "[gate]\npool = 2"));
    bench.save("pool of two");
    let slow = bench.start(&["done", "HEAD"]);
    crate::support::wait_for("the slow job", || first.with_file_name("started").exists());
    let _ = bench.discern(&["done", "HEAD~1", "--rerun"]).exits(0);
    let second = checkout(&bench, 2);
    assert!(second.join("file").exists());
    for number in ["1", "2"] {
        let _ = bench.sh(&format!("touch -d '40 days ago' .git/discern/checkout/{number}/discern.lock")).exits(0);
    }
    let _ = bench.discern(&["gc"]).exits(0);
    assert!(first.exists() && !second.exists());
    std::fs::write(first.with_file_name("go"), "").expect("a file");
    let _ = slow.wait().exits(0);
    let _ = bench.discern(&["gc"]).exits(0);
    assert!(!first.exists());
    assert_eq!(bench.git(&["worktree", "list"]).lines().count(), 1);
    let _ = bench.discern(&["done", "HEAD~2", "--rerun"]).exits(0);
}
