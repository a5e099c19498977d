//! The world changes while jobs run: the verdict was obtained on something else, and is none.

use test_case::test_case;

use super::scene::{Then, ask, expect, play, scene};
use Then::{Ran, Refused};

/// The job does it itself; for the check it makes no difference who did it.
#[test_case("echo 2 > a"; "a file edited")]
#[test_case("echo 2 > a; echo 1 > a"; "a file edited and put back")]
#[test_case("cp -p a ../keep; echo 2 > a; cp -p ../keep a"; "a file edited and put back with its times")]
#[test_case("cp -p a ../keep; rm a; cp -p ../keep a"; "a file replaced by its like")]
#[test_case("mv a b; mv b a"; "a file moved away and back")]
#[test_case("chmod +x a; chmod -x a"; "a mode changed and back")]
#[test_case("printf 2 | dd of=a conv=notrunc status=none; printf 1 | dd of=a conv=notrunc status=none"; "a byte written in place and put back")]
#[test_case("ln a ../hard; echo 2 > ../hard; echo 1 > ../hard; rm ../hard"; "a file written through another name and put back")]
#[test_case("cp discern.toml ../keep; echo '[jobs.u]' >> discern.toml; cp ../keep discern.toml"; "the configuration edited and put back")]
#[test_case("git commit -q --amend -m other"; "the commit amended")]
#[test_case("git checkout -q -b other; git checkout -q main; git branch -q -D other; echo 2 > a; git checkout -q a"; "another branch and back, and a file written")]
#[test_case("ln -snf d link; ln -snf a link"; "a link changed and back")]
#[test_case("rm a"; "a file deleted")]
#[test_case("touch -d 2001-01-01 a"; "a time set")]
#[test_case("touch n"; "an untracked file left")]
#[test_case("echo 2 > a; git add a"; "a change staged")]
#[test_case("git rm -q --cached a"; "a file no longer tracked")]
#[test_case("git commit -q --allow-empty -m other"; "a commit made")]
#[test_case("git commit -q --allow-empty -m other; git reset -q --hard HEAD~1; echo 1 > a"; "a commit made and taken back, and a file written")]
#[test_case("git checkout -q -b other"; "another branch")]
#[test_case("git checkout -q --detach"; "no branch")]
#[test_case("git update-index --assume-unchanged a; echo 2 > a"; "a file edited under assume-unchanged")]
#[test_case("git update-index --skip-worktree a; rm a"; "a file deleted under skip-worktree")]
#[test_case("git config core.fileMode false; chmod +x a"; "a mode changed behind a setting")]
#[test_case("mv d ../d; mkdir d; echo 1 > d/b"; "a folder replaced")]
#[test_case("mv d ../d; ln -s ../d d"; "a folder replaced by a link to it")]
#[test_case("git stash -q -u 2>/dev/null; echo 2 > a; git stash -q; git stash pop -q; git checkout -q a"; "a stash in between")]
fn what_happens_to_the_tree_during_a_job_ends_the_run_without_a_verdict(change: &str) {
    // By a script, because quotes in quotes are hard to read.
    let bench = scene("mkdir d; echo 1 > a; echo 1 > d/b; ln -s a link; gate; job t 'sh ../during'; save");
    bench.write("../during", change);
    let (outcome, document) = ask(&bench, &[]);
    assert_eq!(
        (outcome.status, &document["diagnostics"][0]["code"]),
        (2, &"tree-changed".into()),
        "{}",
        outcome.shown()
    );
    assert_eq!(bench.discern(&["verify", "main"]).status, 1);
    // Nothing of it is remembered.
    play(&bench, "git checkout -q -f main; git reset -q --hard; git clean -fdq; git config --unset core.fileMode || true
        git update-index --no-assume-unchanged a; git update-index --no-skip-worktree a; git checkout -q -f; : > ../during");
    let (outcome, document) = ask(&bench, &[]);
    assert_eq!((outcome.status, &document["requirements"][0]["source"]), (0, &"ran".into()), "{}", outcome.shown());
}

#[test_case("true"; "nothing")]
#[test_case("cat a > /dev/null; git status > /dev/null; git log -1 > /dev/null"; "reading")]
#[test_case("touch ignored; mkdir -p build; touch build/x"; "ignored products")]
#[test_case("git fetch -q ../o 2>/dev/null; git branch other; git tag v1"; "other refs")]
#[test_case("git update-index -q --refresh; git gc -q --prune=now"; "what git does to itself")]
#[test_case("git commit -q --allow-empty -m other; git reset -q --soft HEAD~1"; "a commit made and taken back")]
#[test_case("git checkout -q -b other; git checkout -q main"; "another branch of the same commit and back")]
#[test_case("git config user.name other; echo z >> .git/info/exclude; rm -rf .git/discern/seen; git update-index --assume-unchanged a"; "what a job writes into the git directory")]
#[test_case("rm -rf ../x; git worktree add -q --detach ../x; touch ../x/n"; "another worktree")]
fn what_leaves_the_tree_alone_is_fine(during: &str) {
    let bench = scene("echo 1 > a; printf 'ignored\\nbuild\\n' > .gitignore; gate; job t 'sh ../during'; save");
    bench.write("../during", during);
    expect(&bench, &[], Ran(0));
}

#[test]
fn a_file_that_a_job_may_rewrite_must_hold_the_committed_content() {
    let before = "echo 1 > gen; echo 1 > a; gate; job t 'sh ../during' 'touches = [\"gen\"]'; save";
    let bench = scene(before);
    bench.write("../during", "echo 2 > gen; echo 1 > gen");
    expect(&bench, &[], Ran(0));
    for bad in ["echo 2 > gen", "rm gen", "chmod +x gen", "echo 2 > a; echo 1 > a"] {
        let bench = scene(before);
        bench.write("../during", bad);
        let (outcome, document) = ask(&bench, &[]);
        assert_eq!(
            (outcome.status, &document["diagnostics"][0]["code"]),
            (2, &"tree-changed".into()),
            "{bad} {}",
            outcome.shown()
        );
    }
}

#[test]
fn what_one_job_may_rewrite_another_may_not_once_that_one_has_ended() {
    let bench = scene(
        "echo 1 > gen; gate; job first 'echo 1 > gen' 'touches = [\"gen\"]'
        job t 'echo 2 > gen; echo 1 > gen' 'after = [\"first\"]'; save",
    );
    let (outcome, _) = ask(&bench, &[]);
    assert_eq!(outcome.status, 2, "{}", outcome.shown());
}

#[test]
fn a_failed_verdict_on_a_changed_tree_is_none_either() {
    let bench = scene("echo 1 > a; gate; job t 'sh ../during'; save");
    bench.write("../during", "echo 2 > a; echo 1 > a; exit 1");
    let (outcome, _) = ask(&bench, &[]);
    assert_eq!(outcome.status, 2, "{}", outcome.shown());
    bench.write("../during", "");
    expect(&bench, &[], Ran(0));
}

#[test]
fn a_toolchain_command_that_changes_the_tree_ends_the_run() {
    let bench = scene("echo 1 > a; gate; job t true 'toolchain = [\"sh ../tool\"]'; save");
    bench.write("../tool", "echo 1");
    expect(&bench, &[], Ran(0));
    // Nothing is run, all is reused: the last look sees it.
    play(&bench, "git commit -q --amend -m other");
    bench.write("../tool", "echo 1; echo 2 > a");
    expect(&bench, &[], Refused("tree-changed"));
}

#[test]
fn a_submodule_is_watched_too() {
    let bench = scene(
        "git init -q ../lib; (cd ../lib; echo 1 > in; git add .; git commit -qm lib); git submodule -q add ../lib sub
        gate; job t 'sh ../during'; save",
    );
    for during in ["echo 2 > sub/in; echo 1 > sub/in", "echo 2 > sub/new", "git -C sub commit -q --allow-empty -m x"] {
        bench.write("../during", during);
        let (outcome, _) = ask(&bench, &[]);
        assert_eq!(outcome.status, 2, "{during} {}", outcome.shown());
        play(&bench, "git submodule -q update --force; git -C sub clean -fdq");
    }
}

#[test]
fn a_worktree_that_is_deleted_is_no_failed_check() {
    let bench = scene("gate; job t 'rm -rf ../wt'; save");
    let linked = bench.worktree("wt");
    let (outcome, document) = ask(&linked, &[]);
    assert_eq!(
        (outcome.status, &document["diagnostics"][0]["code"]),
        (2, &"worktree-gone".into()),
        "{}",
        outcome.shown()
    );
}
