//! The files on disk are the commit's: what is not, is refused before anything runs.

use test_case::test_case;

use super::scene::{Then, changed_after_a_pass, expect, play, scene};
use crate::support::Bench;
use Then::{Ran, Refused, Reused};

/// Two files, a link, a script.
const FILES: &str = "mkdir d e; echo 1 > a; echo 1 > e/c; echo 1 > d/b; ln -s a link; echo true > run; chmod +x run; gate; job t 'true'; save";

#[test_case("echo 2 > a", "dirty-tree"; "a file modified")]
#[test_case("printf 2 > a; touch -d 2001-01-01 a; git update-index -q --refresh || true; printf 3 > a; touch -d 2001-01-01 a", "dirty-tree"; "a file modified with size and time kept")]
#[test_case("rm a", "dirty-tree"; "a file deleted")]
#[test_case("chmod +x a", "dirty-tree"; "a mode")]
#[test_case("git config core.fileMode false; chmod +x a", "dirty-tree"; "a mode that git is told not to look at")]
#[test_case("git config core.fileMode false; chmod -x run", "dirty-tree"; "a mode taken that git is told not to look at")]
#[test_case("git config core.checkStat minimal; git config core.trustctime false; echo 2 > a", "dirty-tree"; "with lax stat settings")]
#[test_case("rm link; printf a > link; git config core.symlinks false", "dirty-tree"; "a link that became a file")]
#[test_case("ln -snf d link", "dirty-tree"; "a link that points elsewhere")]
#[test_case("mv d ../d; ln -s ../d d", "dirty-tree"; "a folder that became a link")]
#[test_case("rm a; mkdir a", "dirty-tree"; "a file that became a folder")]
#[test_case("rm a; mkfifo a", "dirty-tree"; "a file that became a pipe")]
#[test_case("echo 2 > a; git add a", "dirty-tree"; "a change that is staged")]
#[test_case("echo 2 > a; git add a; echo 1 > a", "dirty-tree"; "a change that is staged and taken back on disk")]
#[test_case("git rm -q --cached a", "dirty-tree"; "a file that is no longer tracked")]
#[test_case("echo 2 > n; git add -N n", "dirty-tree"; "a file to be added")]
#[test_case("git update-index --assume-unchanged a; echo 2 > a", "dirty-tree"; "assume-unchanged")]
#[test_case("git update-index --assume-unchanged a; rm a", "dirty-tree"; "assume-unchanged and gone")]
#[test_case("git update-index --assume-unchanged run; chmod -x run", "dirty-tree"; "assume-unchanged and a mode")]
#[test_case("git update-index --assume-unchanged link; ln -snf d link", "dirty-tree"; "assume-unchanged and a link")]
#[test_case("git update-index --skip-worktree a; echo 2 > a", "dirty-tree"; "skip-worktree")]
#[test_case("git update-index --skip-worktree a; rm a", "dirty-tree"; "skip-worktree and gone")]
#[test_case("git update-index --split-index; git update-index --assume-unchanged a; echo 2 > a", "dirty-tree"; "assume-unchanged in a split index")]
#[test_case("git update-index --fsmonitor; git update-index --fsmonitor-valid a; echo 2 > a", "dirty-tree"; "a file that a monitor vouches for")]
#[test_case("git sparse-checkout set d", "partial-tree"; "a sparse checkout")]
#[test_case("git sparse-checkout set --sparse-index d", "partial-tree"; "a sparse index")]
#[test_case("echo 2 > n", "untracked-files"; "an untracked file")]
#[test_case("mkdir n; echo 2 > n/n", "untracked-files"; "an untracked file in a folder")]
#[test_case("git config status.showUntrackedFiles no; echo 2 > n", "untracked-files"; "an untracked file that status is told not to show")]
#[test_case("git config core.untrackedCache true; git status; echo 2 > n", "untracked-files"; "an untracked file beside an untracked cache")]
#[test_case("git config core.ignoreCase true; echo 2 > A", "untracked-files"; "an untracked file that differs in case only")]
#[test_case("git init -q n", "untracked-files"; "a nested repository")]
#[test_case("git update-index --chmod=+x a", "dirty-tree"; "a mode in the index alone")]
#[test_case("git config extensions.worktreeConfig true; git config --worktree core.fileMode false; chmod -x run", "dirty-tree"; "a mode behind a setting of this worktree")]
#[test_case("printf '[core]\nfileMode = false\n' > ../included; git config include.path $PWD/../included; chmod -x run", "dirty-tree"; "a mode behind an included setting")]
#[test_case("ln a ../hard; echo 2 > ../hard", "dirty-tree"; "a file written through another name")]
#[test_case("t=$(stat -c %y a); printf '3\n' > a; touch -d \"$t\" a", "dirty-tree"; "an edit of equal size, with its time set back")]
#[test_case("printf 'a -text\n* text eol=crlf\n' > .git/info/attributes; rm e/c; git checkout -q e/c; echo 2 >> e/c", "dirty-tree"; "an edit under attributes of this repository")]
#[test_case("rm a; git symbolic-ref HEAD refs/heads/other; git branch -f other main", "dirty-tree"; "after a branch switched under the index")]
#[test_case("git checkout -q -b o; echo 2 > a; save; git checkout -q main; echo 3 > a; save; git merge -q o || true", "unmerged"; "a conflict")]
fn what_differs_from_the_commit_is_refused(change: &str, code: &'static str) {
    changed_after_a_pass(FILES, change, Refused(code));
}

#[test_case("git update-index --assume-unchanged a"; "a flag alone")]
#[test_case("echo 2 > a; echo 1 > a"; "a file written and put back between runs")]
#[test_case("touch a"; "a file touched")]
#[test_case("mkdir empty"; "an empty folder")]
#[test_case("echo n > .git/info/exclude; touch n"; "an ignored file")]
#[test_case("git update-index --split-index"; "a split index")]
#[test_case("git update-index --index-version 4"; "another format of the index")]
#[test_case("git -c feature.manyFiles=true update-index --force-write-index"; "an index without its checksum")]
#[test_case("git checkout -q --detach"; "a detached head")]
#[test_case("git bisect start -q"; "a bisect on a clean commit")]
fn what_equals_the_commit_is_proven(change: &str) {
    changed_after_a_pass(FILES, change, Reused);
}

#[test]
fn an_untracked_file_that_a_test_reads_makes_no_proof() {
    let bench = scene("gate; job t 'test -e fixture'; save; touch fixture");
    expect(&bench, &[], Refused("untracked-files"));
    play(&bench, "rm fixture");
    expect(&bench, &[], Ran(1));
}

/// A repository with a submodule `sub`, whose `in` and a nested `inner/deep` are tracked.
fn with_submodule() -> Bench {
    scene(
        "git init -q -b main ../deep; (cd ../deep; echo 1 > deep; git add .; git commit -qm deep)
        git init -q -b main ../lib; (cd ../lib; echo 1 > in; git add .; git submodule -q add ../deep inner; git commit -qm lib)
        git submodule -q add ../lib sub; git submodule -q update --init --recursive; gate; job t true; save",
    )
}

#[test_case("echo 2 > sub/in"; "modified")]
#[test_case("git config submodule.sub.ignore all; echo 2 > sub/in"; "modified and ignored by configuration")]
#[test_case("git config diff.ignoreSubmodules all; echo 2 > sub/in"; "modified and ignored by diff")]
#[test_case("echo 2 > sub/new"; "an untracked file")]
#[test_case("git -C sub config status.showUntrackedFiles no; echo 2 > sub/new"; "an untracked file that its own settings hide")]
#[test_case("git -C sub update-index --assume-unchanged in; echo 2 > sub/in"; "assume-unchanged inside")]
#[test_case("git -C sub update-index --skip-worktree in; echo 2 > sub/in"; "skip-worktree inside")]
#[test_case("git -C sub config core.fileMode false; chmod +x sub/in"; "a mode inside that git is told not to look at")]
#[test_case("git -C sub commit -q --allow-empty -m new"; "on another commit")]
#[test_case("git update-index --assume-unchanged sub; git -C sub commit -q --allow-empty -m new"; "on another commit and assume-unchanged")]
#[test_case("git update-index --skip-worktree sub; git -C sub commit -q --allow-empty -m new"; "on another commit and skip-worktree")]
#[test_case("git update-index --assume-unchanged sub; echo 2 > sub/in"; "modified and assume-unchanged")]
#[test_case("echo 2 > sub/inner/deep"; "nested")]
#[test_case("git -C sub config submodule.inner.ignore all; echo 2 > sub/inner/deep"; "nested and ignored by the outer one")]
#[test_case("git -C sub/inner update-index --assume-unchanged deep; echo 2 > sub/inner/deep"; "nested and assume-unchanged")]
#[test_case("git -C sub/inner commit -q --allow-empty -m new; git -C sub config submodule.inner.ignore all"; "nested on another commit")]
fn a_submodule_is_looked_into(change: &str) {
    let bench = with_submodule();
    expect(&bench, &[], Ran(0));
    play(&bench, change);
    expect(&bench, &[], Refused("dirty-tree"));
}

#[test]
fn a_submodule_that_is_in_use_and_not_checked_out_is_a_partial_tree() {
    let bench = with_submodule();
    expect(&bench, &[], Ran(0));
    play(&bench, "rm -rf sub; mkdir sub");
    expect(&bench, &[], Refused("partial-tree"));
}

#[test]
fn a_file_in_the_folder_of_a_submodule_that_nobody_works_with_is_untracked() {
    let bench = scene(
        "git init -q ../lib; (cd ../lib; git commit -q --allow-empty -m lib); gate; job t 'test ! -e sub/bad'; save
        git update-index --add --cacheinfo 160000,$(git -C ../lib rev-parse HEAD),sub; git commit -q -m sub; mkdir sub",
    );
    expect(&bench, &[], Ran(0));
    play(&bench, "touch sub/bad");
    expect(&bench, &[], Refused("untracked-files"));
    expect(&bench, &["--rerun"], Refused("untracked-files"));
}

#[test]
fn another_commit_of_a_submodule_is_another_subject() {
    let bench = with_submodule();
    expect(&bench, &[], Ran(0));
    play(&bench, "git -C sub commit -q --allow-empty -m new; save");
    expect(&bench, &[], Ran(0));
}

#[test]
fn a_commit_that_is_replaced_is_taken_as_it_is() {
    // The replacement has the good file, and so has the disk; the commit itself has the bad one.
    let bench = scene(
        "echo bad > f; gate; job t 'grep -q good f'; save; bad=$(git rev-parse HEAD)
        echo good > f; save; git replace $bad HEAD; git reset -q --soft $bad",
    );
    expect(&bench, &[], Refused("dirty-tree"));
}

#[test]
fn a_blob_that_is_replaced_is_taken_as_it_is() {
    let bench = scene("echo bad > f; gate; job t 'grep -q good f'; save
        git replace $(git rev-parse HEAD:f) $(echo good | git hash-object -w --stdin); rm f; git checkout -q f; grep -q good f");
    expect(&bench, &[], Refused("dirty-tree"));
}

#[test]
fn a_graft_makes_no_merge_base() {
    let bench = scene(
        "gate; std n down 5 'echo DISCERN_METRIC n 5'; save one; sed -i 's/limit = 5/limit = 3/; s/n 5/n 3/' discern.toml; save two
        git checkout -q -b topic; sed -i 's/limit = 3/limit = 5/; s/n 3/n 5/' discern.toml; save three
        mkdir -p .git/info; echo $(git rev-parse topic) $(git rev-parse main~1) > .git/info/grafts",
    );
    // Without the graft, the merge base says 3.
    let (outcome, document) = super::scene::ask(&bench, &[]);
    assert_eq!(
        (outcome.status, &document["diagnostics"][0]["code"]),
        (1, &"looser-than-trunk".into()),
        "{}",
        outcome.shown()
    );
}

/// A filter that takes everything behind a `#` out of what is committed: two contents on disk, one blob.
const FILTER: &str = "echo 'f filter=strip' > .gitattributes; git config filter.strip.clean 'sed s/#.*//'
    echo good > f; gate; job t 'grep -q good f'; save";

#[test]
fn what_a_clean_filter_hides_is_part_of_the_subject() {
    let bench = scene(FILTER);
    expect(&bench, &[], Ran(0));
    play(&bench, "printf 'good#but not what was checked\\n' > f; git add f; git commit -q --allow-empty -m again");
    expect(&bench, &[], Ran(0));
    play(&bench, "git commit -q --allow-empty -m 'and again'");
    expect(&bench, &[], Reused);
}

#[test]
fn what_a_filter_changes_without_changing_the_size_counts_too() {
    let bench = scene(
        "echo 'f filter=one' > .gitattributes; git config filter.one.clean 'sed s/[0-9]/0/'
        echo 1 > f; gate; job t 'test -e f'; save",
    );
    expect(&bench, &[], Ran(0));
    play(&bench, "echo 2 > f; git add f; git commit -q --allow-empty -m again");
    expect(&bench, &[], Ran(0));
}

#[test]
fn a_submodule_that_nobody_checked_out_is_no_populated_one() {
    let bench = with_submodule();
    play(&bench, "git submodule -q deinit -f sub");
    expect(&bench, &[], Ran(0));
    play(&bench, "git submodule -q update --init --recursive; save again");
    expect(&bench, &[], Ran(0));
}

#[test]
fn line_endings_on_disk_are_part_of_the_subject() {
    let bench = scene("printf 'a\\n' > f; gate; job t 'test $(wc -c < f) = 2'; save");
    expect(&bench, &[], Ran(0));
    play(&bench, "git config core.autocrlf true; rm f; git checkout -q f; save again");
    expect(&bench, &[], Ran(1));
}

#[test]
fn a_smudge_filter_that_is_gone_is_noticed() {
    let bench = scene("echo 'f filter=up' > .gitattributes; git config filter.up.clean 'tr A-Z a-z'; git config filter.up.smudge 'tr a-z A-Z'
        echo abc > f; gate; job t 'grep -q ABC f'; save; rm f; git checkout -q f");
    expect(&bench, &[], Ran(0));
    play(&bench, "git config filter.up.smudge cat; rm f; git checkout -q f; save again");
    expect(&bench, &[], Ran(1));
}

#[test]
fn an_index_that_the_environment_names_hides_nothing() {
    let bench = scene(FILES);
    expect(&bench, &[], Ran(0));
    play(&bench, "cp .git/index ../index; echo 2 > a; git add a");
    let elsewhere = bench.with_variable("GIT_INDEX_FILE", &bench.path().join("../index").to_string_lossy());
    expect(&elsewhere, &[], Refused("dirty-tree"));
}

#[test]
fn a_worktree_is_the_same_by_whatever_path_it_is_entered() {
    let bench = scene(FILES);
    expect(&bench, &[], Ran(0));
    play(&bench, "ln -s $PWD ../way; git commit -q --amend -m other");
    expect(&bench.at("../way/d"), &[], Reused);
    play(&bench, "echo 2 > a");
    expect(&bench.at("../way/d"), &[], Refused("dirty-tree"));
}

#[test]
fn attributes_that_only_this_repository_has_are_noticed() {
    let bench = scene(FILES);
    expect(&bench, &[], Ran(0));
    play(
        &bench,
        "echo 'a text eol=crlf' > .git/info/attributes; rm a; git checkout -q a; git commit -q --amend -m other",
    );
    expect(&bench, &[], Ran(0));
}
