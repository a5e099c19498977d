//! Is the tree the committed one?

use crate::soundness::scene::{Then, ask, expect, play, scene};

#[test]
fn b058_an_untracked_file_in_the_way_is_named_before_any_job() {
    let bench = scene(
        "gate; job t 'touch ../ran; for f in *.sh; do sh -n $f || exit 1; done'; echo : > a.sh; save; echo if > b.sh",
    );
    let document = expect(&bench, &[], Then::Refused("untracked-files"));
    assert_eq!(document["diagnostics"][0]["where"], serde_json::json!(["b.sh (untracked)"]));
    assert!(!bench.has("../ran"));
}

#[test]
fn b059_the_refusal_names_the_ways_out_and_a_push_does_not_look_at_the_folder() {
    let bench = scene("gate; job ok true; save");
    bench.remote();
    let _ = bench.discern(&["done"]).exits(0);
    let _ = bench.discern(&["hook", "install"]).exits(0);
    play(&bench, "touch notes; git push -q origin main");
    let outcome = bench.discern(&["done"]).exits(2);
    for way in ["notes", ".gitignore", ".git/info/exclude", "another worktree"] {
        assert!(outcome.stderr.contains(way), "{way}: {}", outcome.shown());
    }
}

#[test]
fn b061_line_endings_that_count_as_changed_are_called_so() {
    let bench = scene(
        "printf 'a\\r\\n' > f; gate; job ok true; save; echo '* text' > .gitattributes; git add .gitattributes; git commit -qm rule; touch f",
    );
    let outcome = bench.discern(&["done"]).exits(2);
    for words in ["git ls-files --eol", "git add --renormalize"] {
        assert!(outcome.stderr.contains(words), "{words}: {}", outcome.shown());
    }
}

#[test]
fn b062_a_filter_that_counts_files_as_changed_is_named() {
    let bench = scene(
        "gate; job c 'test $(wc -c < big.bin) -gt 200'; head -c 999 /dev/zero > big.bin; save
        echo '*.bin filter=x' > .gitattributes; save; git config filter.x.clean 'echo pointer'; touch big.bin",
    );
    let outcome = bench.discern(&["done"]).exits(2);
    assert!(outcome.stderr.contains("the clean filter `x`"), "{}", outcome.shown());
}

#[test]
fn b064_a_partial_tree_is_refused_and_not_taken_for_a_whole_one() {
    let bench = scene("mkdir a b; touch a/x b/y; gate; job c 'test -f b/y'; save; git sparse-checkout set a");
    expect(&bench, &[], Then::Refused("partial-tree"));
    assert_eq!(bench.discern(&["verify"]).status, 1);
}

#[test]
fn b065_absent_files_of_a_sparse_index_are_not_called_deleted() {
    let bench = scene("mkdir a b; touch a/x b/y; gate; job ok true; save; git sparse-checkout set --sparse-index a");
    for arguments in [&["discern", "done"][..], &["-c", "core.untrackedCache=true", "discern", "done"]] {
        let outcome = bench.try_git(arguments).exits(2);
        assert!(!outcome.stderr.contains("deleted") && outcome.stderr.contains("b/"), "{}", outcome.shown());
    }
}

#[test]
fn b067_a_commit_made_under_a_run_is_neither_proven_nor_vouched_for() {
    let bench = scene("gate; job s 'touch ../there; while test ! -e ../go; do sleep 0.05; done'; save");
    let run = bench.start(&["done"]);
    crate::support::wait_for("the job", || bench.has("../there"));
    play(&bench, "save meanwhile; touch ../go");
    assert_eq!(run.wait().status, 2);
    for revision in ["HEAD", "HEAD~1"] {
        assert_eq!(bench.discern(&["verify", revision]).status, 1);
    }
}

#[test]
fn b068_names_that_differ_in_case_only_are_named_where_one_is_missing() {
    let bench = scene(
        "gate; job ok true; b=$(echo 1 | git hash-object -w --stdin); git add -A
        git update-index --add --cacheinfo 100644,$b,A.txt --cacheinfo 100644,$b,a.txt; git commit -qm c; git checkout -q -- A.txt",
    );
    let outcome = bench.discern(&["done"]).exits(2);
    assert!(outcome.stderr.contains("a.txt") && outcome.stderr.contains("A.txt"), "{}", outcome.shown());
}

#[test]
fn b101_a_conflict_is_named_and_a_clean_stop_of_a_rebase_is_proven() {
    let bench = scene(
        "gate; job ok true; echo 1 > f; save; git checkout -q -b b; echo 2 > f; save; git checkout -q main; echo 3 > f; save
        git merge -q b || true",
    );
    let outcome = bench.discern(&["done"]).exits(2);
    assert!(outcome.stderr.contains("merge"), "{}", outcome.shown());
    play(&bench, "git merge --abort; git -c sequence.editor='sed -i s/^pick/edit/' rebase -qi HEAD~1 2> /dev/null");
    let (outcome, document) = ask(&bench, &[]);
    assert_eq!(
        (outcome.status, &document["candidate"]["branch"]),
        (0, &serde_json::Value::Null),
        "{}",
        outcome.shown()
    );
}
