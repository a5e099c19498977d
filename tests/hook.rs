//! `git discern hook install` and `uninstall`: beside whatever is there, and every byte back.

use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Bench, Place};

/// A hook that writes down what it is given, and how it was called.
const RECORDER: &str = "#!/bin/sh\nset -eu\necho \"$0 $*\" > theirs-arguments\ncat > theirs-input\nexit $(cat theirs-status 2>/dev/null || echo 0)\n";

fn executable(place: &Place, name: &str, text: &str) {
    place.write(name, text);
    mode(place, name, 0o755);
}

fn mode(place: &Place, name: &str, mode: u32) {
    std::fs::set_permissions(place.path().join(name), std::fs::Permissions::from_mode(mode)).expect("ours");
}

/// A proven commit and a remote.
fn proven() -> Bench {
    let bench = Bench::proven_by_true();
    bench.remote();
    let _ = bench.discern(&["done"]).exits(0);
    bench
}

fn install(place: &Place) -> String {
    place.discern(&["hook", "install"]).exits(0).stdout
}

fn uninstall(place: &Place) -> String {
    place.discern(&["hook", "uninstall"]).exits(0).stdout
}

/// Whether an unproven commit is kept from leaving.
#[track_caller]
fn guards(place: &Place) {
    place.save("unproven");
    let refused = place.try_git(&["push", "origin", "HEAD:refs/heads/guarded"]).exits(1);
    assert!(refused.stderr.contains("this push is stopped"), "{}", refused.shown());
}

#[test]
fn where_there_is_no_hook_one_is_written_and_taken_away() {
    let bench = proven();
    let told = install(&bench);
    assert!(told.contains("wrote the hook"), "{told}");
    bench.git(&["push", "-q", "origin", "main"]);
    guards(&bench);
    let text = bench.read(".git/hooks/pre-push");
    let again = install(&bench);
    assert!(again.contains("ours already"), "{again}");
    assert_eq!(bench.read(".git/hooks/pre-push"), text);
    uninstall(&bench);
    assert!(!bench.has(".git/hooks/pre-push"));
    bench.git(&["push", "-q", "origin", "HEAD:refs/heads/unguarded"]);
}

#[test]
fn a_shell_hook_goes_on_with_its_name_arguments_input_and_status() {
    let bench = proven();
    executable(&bench, ".git/hooks/pre-push", RECORDER);
    bench.write(".git/info/exclude", "theirs-*\n");
    let told = install(&bench);
    assert!(told.contains("in front of it"), "{told}");
    bench.git(&["push", "-q", "origin", "main"]);
    let head = bench.head();
    assert_eq!(bench.read("theirs-arguments"), ".git/hooks/pre-push origin ../o.git\n");
    assert_eq!(bench.read("theirs-input"), format!("refs/heads/main {head} refs/heads/main {}\n", "0".repeat(40)));
    bench.write("theirs-status", "1");
    let _ = bench.try_git(&["push", "-q", "origin", "main:other"]).exits(1);
    guards(&bench);
    assert_eq!(bench.sh("git ls-remote origin").exits(0).stdout.lines().count(), 2, "nothing else left");
    uninstall(&bench);
    assert_eq!(bench.read(".git/hooks/pre-push"), RECORDER);
}

#[test]
fn a_shell_hook_that_reads_nothing_or_gets_nothing_is_fine() {
    let bench = proven();
    executable(&bench, ".git/hooks/pre-push", RECORDER);
    bench.write(".git/info/exclude", "theirs-*\n");
    install(&bench);
    let _ = bench.sh("sh .git/hooks/pre-push origin x </dev/null").exits(0);
    assert_eq!(bench.read("theirs-input"), "");
}

#[test]
fn a_hook_in_another_language_is_moved_and_runs_under_its_own_name() {
    let bench = proven();
    let theirs = "#!/usr/bin/env python3\nimport sys\nopen('theirs-arguments', 'w').write(' '.join(sys.argv))\n\
                  open('theirs-input', 'wb').write(sys.stdin.buffer.read())\n";
    executable(&bench, ".git/hooks/pre-push", theirs);
    bench.write(".git/info/exclude", "theirs-*\n");
    let told = install(&bench);
    assert!(told.contains("hooks.before-discern/pre-push"), "{told}");
    bench.git(&["push", "-q", "origin", "main"]);
    assert_eq!(bench.read("theirs-arguments"), ".git/hooks.before-discern/pre-push origin ../o.git");
    assert!(bench.read("theirs-input").starts_with("refs/heads/main "));
    guards(&bench);
    install(&bench);
    guards(&bench);
    uninstall(&bench);
    assert_eq!(bench.read(".git/hooks/pre-push"), theirs);
    assert!(!bench.has(".git/hooks.before-discern"));
}

#[test]
fn a_symbolic_link_stays_one_and_its_target_is_not_touched() {
    let bench = proven();
    executable(&bench, "tools/push.sh", RECORDER);
    bench.write(".git/info/exclude", "theirs-*\n");
    bench.save("tools");
    let _ = bench.discern(&["done"]).exits(0);
    std::os::unix::fs::symlink("../../tools/push.sh", bench.path().join(".git/hooks/pre-push")).expect("fresh");
    install(&bench);
    bench.git(&["push", "-q", "origin", "main"]);
    assert!(bench.read("theirs-arguments").starts_with(".git/hooks.before-discern/pre-push origin"));
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
    uninstall(&bench);
    let link = std::fs::read_link(bench.path().join(".git/hooks/pre-push")).expect("a link");
    assert_eq!(link.to_str(), Some("../../tools/push.sh"));
}

#[test]
fn a_hook_that_git_did_not_run_is_not_made_to_run() {
    let bench = proven();
    bench.write(".git/hooks/pre-push", "#!/bin/sh\ntouch ran\n");
    mode(&bench, ".git/hooks/pre-push", 0o644);
    install(&bench);
    bench.git(&["push", "-q", "origin", "main"]);
    assert!(!bench.has("ran"));
    guards(&bench);
    uninstall(&bench);
    let meta = std::fs::metadata(bench.path().join(".git/hooks/pre-push")).expect("back");
    assert_eq!(meta.permissions().mode() & 0o777, 0o644);
}

#[test]
fn one_install_serves_every_worktree_also_without_a_hooks_folder() {
    let bench = proven();
    let linked = bench.worktree("wt");
    std::fs::remove_dir_all(bench.path().join(".git/hooks")).expect("git made it");
    install(&linked);
    guards(&linked);
    guards(&bench);
}

#[test]
fn a_worktree_of_a_bare_repository_is_guarded() {
    let bench = Bench::proven_by_true();
    bench.git(&["clone", "-q", "--bare", ".", "../b.git"]);
    let bare = bench.at("../b.git");
    bare.git(&["worktree", "add", "-q", "../w", "main"]);
    let place = bench.at("../w");
    install(&place);
    place.save("unproven");
    let refused = place.try_git(&["push", "origin", "HEAD:refs/heads/x"]).exits(1);
    assert!(refused.stderr.contains("this push is stopped"), "{}", refused.shown());
}

#[test]
fn a_submodule_is_guarded() {
    let bench = Bench::proven_by_true();
    let outer = bench.at("../outer");
    bench.git(&["init", "-q", "../outer"]);
    outer.git(&["submodule", "add", "-q", "../r", "sub"]);
    let sub = outer.at("sub");
    install(&sub);
    assert!(outer.has(".git/modules/sub/hooks/pre-push"));
    sub.save("unproven");
    let refused = sub.try_git(&["push", "origin", "HEAD:refs/heads/x"]).exits(1);
    assert!(refused.stderr.contains("this push is stopped"), "{}", refused.shown());
}

#[test]
fn a_hooks_folder_in_the_worktree_gets_a_file_that_may_be_committed() {
    let bench = proven();
    executable(&bench, ".githooks/pre-push", RECORDER);
    bench.git(&["config", "core.hooksPath", ".githooks"]);
    bench.write(".git/info/exclude", "theirs-*\n");
    let told = install(&bench);
    assert!(told.contains("commit the file"), "{told}");
    let text = bench.read(".githooks/pre-push");
    assert!(!text.contains(env!("CARGO_MANIFEST_DIR")), "no path of this machine: {text}");
    guards(&bench);
    let _ = bench.discern(&["done"]).exits(0);
    bench.git(&["push", "-q", "origin", "main"]);
    assert!(bench.read("theirs-arguments").contains("origin"));
    uninstall(&bench);
    assert_eq!(bench.read(".githooks/pre-push"), RECORDER);
}

#[test]
fn a_hooks_folder_of_the_user_guards_only_where_it_was_installed() {
    let bench = proven();
    bench.git(&["config", "--global", "core.hooksPath", "~/hooks"]);
    let told = install(&bench);
    assert!(told.contains("other repositories may use it"), "{told}");
    guards(&bench);
    bench.git(&["init", "-q", "../another"]);
    let another = bench.at("../another");
    another.git(&["remote", "add", "origin", "../o.git"]);
    another.save("theirs");
    another.git(&["push", "-q", "origin", "HEAD:refs/heads/theirs"]);
    install(&another);
    guards(&another);
    let told = uninstall(&bench);
    assert!(told.contains("it stays, because 1 more use it"), "{told}");
    bench.git(&["push", "-q", "origin", "HEAD:refs/heads/through"]);
    guards(&another);
    uninstall(&another);
    assert!(!bench.has("../home/hooks/pre-push") && !bench.has("../home/hooks.before-discern"));
}

#[test]
fn a_shared_hook_stays_where_nobody_can_say_whom_it_serves() {
    let bench = proven();
    bench.git(&["config", "--global", "core.hooksPath", "~/hooks"]);
    install(&bench);
    let list = "../home/hooks.before-discern/repositories";
    let text = bench.read(list);
    std::fs::remove_file(bench.path().join(list)).expect("it is there");
    bench.write(&format!("{list}/in-the-way"), "");
    let refused = bench.discern(&["hook", "uninstall"]).exits(2);
    assert!(refused.stderr.contains("hooks.before-discern/repositories"), "{}", refused.shown());
    std::fs::remove_dir_all(bench.path().join(list)).expect("it is there");
    bench.write(list, text);
    guards(&bench);
}

#[test]
fn the_binary_is_found_again_with_a_poor_path_and_moved_elsewhere() {
    let bench = proven();
    install(&bench);
    let text = bench.read(".git/hooks/pre-push");
    bench.save("unproven");
    let poor = bench.with_variable("PATH", "/usr/bin:/bin:/usr/local/bin");
    let refused = poor.try_git(&["push", "origin", "main"]).exits(1);
    assert!(refused.stderr.contains("1 commit is not proven"), "{}", refused.shown());
    // Only PATH knows it.
    bench.write(".git/hooks/pre-push", text.replace("discern_program='", "discern_program='/nowhere"));
    let refused = bench.try_git(&["push", "origin", "main"]).exits(1);
    assert!(refused.stderr.contains("1 commit is not proven"), "{}", refused.shown());
}

#[test]
fn a_push_is_stopped_with_a_message_where_the_binary_is_nowhere() {
    let bench = proven();
    install(&bench);
    let text = bench.read(".git/hooks/pre-push");
    bench.write(
        ".git/hooks/pre-push",
        text.replace("discern_program='", "discern_program='/nowhere").replace("-discern)", "-discern-gone)"),
    );
    let refused = bench.try_git(&["push", "origin", "main"]).exits(1);
    assert!(refused.stderr.contains("neither /") && refused.stderr.contains("PATH is "), "{}", refused.shown());
    bench.git(&["push", "-q", "--no-verify", "origin", "main"]);
}

#[test]
fn a_worktree_whose_hooks_folder_is_elsewhere_is_named_with_the_settings_origin() {
    let bench = proven();
    let linked = bench.worktree("wt");
    bench.git(&["config", "extensions.worktreeConfig", "true"]);
    linked.git(&["config", "--worktree", "core.hooksPath", &linked.path().join("nowhere").display().to_string()]);
    let told = install(&bench);
    assert!(told.contains("no hook of ours runs") && told.contains("(worktree, file:"), "{told}");
    let status = linked.discern(&["status"]).exits(0);
    assert!(status.stdout.contains("there is no such folder"), "{}", status.shown());
    assert!(!bench.discern(&["status"]).exits(0).stdout.contains("unguarded"));
}

#[test]
fn hooks_that_are_turned_off_are_not_taken_for_installed() {
    let bench = proven();
    let refused = bench.sh("git -c core.hooksPath= discern hook install").exits(2);
    assert!(refused.stderr.contains("`core.hooksPath` is empty (command line:)"), "{}", refused.shown());
}

#[test]
fn lines_that_somebody_edited_are_left_alone() {
    let bench = proven();
    install(&bench);
    let text = bench.read(".git/hooks/pre-push");
    let edited = text.replace("# <<<", "# <<");
    bench.write(".git/hooks/pre-push", &edited);
    for action in ["install", "uninstall"] {
        let refused = bench.discern(&["hook", action]).exits(2);
        assert!(refused.stderr.contains("were edited"), "{}", refused.shown());
    }
    assert_eq!(bench.read(".git/hooks/pre-push"), edited);
}

#[test]
fn the_answer_is_a_document_when_json_is_asked_for() {
    let bench = proven();
    let document = bench.discern(&["hook", "install", "--json"]).exits(0).json();
    assert_eq!(document["schema"], "discern/hook/1");
    assert!(document["file"].as_str().is_some_and(|file| file.ends_with(".git/hooks/pre-push")));
    assert_eq!(document["outcome"], "passed");
}

#[test]
fn a_hook_of_lefthooks_comes_with_the_word_that_it_is_written_anew() {
    let bench = proven();
    executable(&bench, ".git/hooks/pre-push", "#!/bin/sh\ncall_lefthook run pre-push \"$@\"\n");
    let told = install(&bench);
    assert!(told.contains("lefthook writes its hooks anew"), "{told}");
    bench.write("lefthook.yml", "pre-push:\n  commands:\n    discern:\n      run: git discern hook pre-push {0}\n");
    let told = install(&bench);
    assert!(!told.contains("anew"), "{told}");
}

#[test]
fn nothing_is_said_of_kept_checkouts_because_nobody_pushes_from_there() {
    let bench = proven();
    let _ = bench.discern(&["done", "--isolated"]).exits(0);
    bench.write("hooks/keep", "");
    bench.git(&["config", "core.hooksPath", "hooks"]);
    bench.save("hooks");
    let _ = bench.discern(&["done", "--isolated"]).exits(0);
    let told = install(&bench);
    assert!(!told.contains("no hook of ours runs"), "{told}");
}
