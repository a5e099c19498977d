//! `git discern init` in projects of several kinds, with the programs that each test puts on `PATH`.

use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Bench, Place};

/// The bench's main worktree with a `PATH` on which there are only git, a shell and programs called `names`.
fn with_programs(bench: &Bench, names: &[&str]) -> Place {
    let folder = bench.root().join("programs");
    std::fs::create_dir(&folder).expect("fresh");
    for name in names {
        let file = folder.join(name);
        std::fs::write(&file, "#!/bin/sh\n").expect("fresh");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("ours");
    }
    for (name, found) in [("git", "/usr/bin/git"), ("sh", "/bin/sh")] {
        std::os::unix::fs::symlink(found, folder.join(name)).expect("fresh");
    }
    bench.with_variable("PATH", &folder.display().to_string())
}

#[test]
fn a_cargo_project_gets_a_file_that_says_what_was_guessed() {
    let bench = Bench::new();
    let _snapshots = bench.stable_snapshots();
    let place = with_programs(&bench, &["cargo", "rustc", "cargo-clippy"]);
    place.write("Cargo.toml", "[package]\nname = \"x\"\n");
    place.write("clippy.toml", "");
    place.write(".gitignore", "target\n");
    let init = place.discern(&["init"]).exits(0);
    insta::assert_snapshot!(init.shown());
    insta::assert_snapshot!(place.read("discern.toml"));
}

#[test]
fn the_document_lists_jobs_guesses_and_what_was_left_out() {
    let bench = Bench::new();
    let place = with_programs(&bench, &["make"]);
    place.write("Makefile", "test:\n\ttrue\ncheck: test\n");
    let document = place.discern(&["init", "--json"]).exits(0).json();
    assert_eq!(document["schema"], "discern/init/1");
    assert_eq!(document["jobs"], serde_json::json!(["test"]));
    assert_eq!(document["left_out"].as_array().map(Vec::len), Some(1));
    assert_eq!(document["hints"][2], "git discern done");
}

#[test]
fn nothing_known_is_said_and_the_file_demands_nothing() {
    let bench = Bench::new();
    let _snapshots = bench.stable_snapshots();
    let init = with_programs(&bench, &[]).discern(&["init"]).exits(0);
    insta::assert_snapshot!(init.shown());
}

#[test]
fn an_existing_file_is_never_overwritten() {
    let bench = Bench::new();
    let place = with_programs(&bench, &["make"]);
    place.write("Makefile", "test:\n\ttrue\n");
    place.write("discern.toml", "mine");
    let refused = place.discern(&["init"]).exits(2);
    assert!(refused.stderr.contains("there is a `discern.toml` already"), "{}", refused.shown());
    assert_eq!(place.read("discern.toml"), "mine");
}

#[test]
fn a_symbolic_link_that_leads_nowhere_is_not_written_through() {
    let bench = Bench::new();
    std::os::unix::fs::symlink("../elsewhere", bench.path().join("discern.toml")).expect("fresh");
    let refused = with_programs(&bench, &[]).discern(&["init"]).exits(2);
    assert_eq!(refused.stdout, "");
    assert!(!bench.root().join("elsewhere").exists());
}

#[test]
fn a_file_that_git_ignores_is_no_part_of_the_project() {
    let bench = Bench::new();
    let place = with_programs(&bench, &["make"]);
    place.write("Makefile", "test:\n\ttrue\n");
    place.write(".gitignore", "Makefile\n");
    let document = place.discern(&["init", "--json"]).exits(0).json();
    assert_eq!(document["jobs"], serde_json::json!([]));
}

#[test]
fn it_writes_at_the_top_from_anywhere_below_with_ordinary_permissions() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path().join("deep/down")).expect("fresh");
    let init = with_programs(&bench, &[]).at("deep/down").discern(&["init"]).exits(0);
    assert!(init.stdout.starts_with("wrote discern.toml"), "{}", init.shown());
    let mode = std::fs::metadata(bench.path().join("discern.toml")).expect("written").permissions().mode();
    assert_eq!(mode & 0o600, 0o600);
    assert_eq!(mode & 0o111, 0);
    assert_eq!(std::fs::read_dir(bench.path()).expect("readable").count(), 3, "nothing else is left there");
}

#[test]
fn outside_a_repository_and_in_a_bare_one_it_says_so() {
    let bench = Bench::new();
    let outside = bench.at(bench.root().join("tmp")).discern(&["init"]).exits(2);
    assert!(outside.stderr.contains("is not inside a git repository"), "{}", outside.shown());
    bench.git(&["init", "-q", "--bare", "../bare.git"]);
    let bare = bench.at(bench.root().join("bare.git")).discern(&["init"]).exits(2);
    assert!(bare.stderr.contains("has no worktree here"), "{}", bare.shown());
}

#[test]
fn the_hook_comes_with_it_when_asked_for() {
    let bench = Bench::new();
    let init = with_programs(&bench, &[]).discern(&["init", "--hook"]).exits(0);
    assert!(init.stdout.contains("wrote the hook"), "{}", init.shown());
    assert!(bench.has(".git/hooks/pre-push"));
}
