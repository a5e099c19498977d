//! What decides a verdict: a change of it is never answered with the old verdict, and a change of anything else always is.

use test_case::test_case;

use super::scene::{Then, changed_after_a_pass, expect, play, prove, requirement, scene};
use Then::{Ran, Refused, Reused};

/// A job over `src` that anything may be done to.
const OVER_SRC: &str = "mkdir -p src/deep; echo 1 > src/a; echo 1 > src/deep/b; echo 1 > other; ln -s a src/link
    gate; job t 'test -e src/a' 'inputs = [\"src\"]'; save";

#[test_case("echo 2 > src/a; save", Ran(0); "an input")]
#[test_case("echo 2 > src/deep/b; save", Ran(0); "an input far below")]
#[test_case("echo 2 > src/new; save", Ran(0); "a new input")]
#[test_case("git rm -q src/deep/b; save", Ran(0); "an input removed")]
#[test_case("chmod +x src/a; save", Ran(0); "the mode of an input")]
#[test_case("ln -snf deep/b src/link; save", Ran(0); "where a link points")]
#[test_case("rm src/link; cp src/a src/link; save", Ran(0); "a link replaced with what it pointed to")]
#[test_case("rm src/link; printf a > src/link; save", Ran(0); "a link replaced with a file that holds its target")]
#[test_case("git mv src/deep/b src/deep/B; save", Ran(0); "a rename in case only")]
#[test_case("git mv src/deep src/DEEP; save", Ran(0); "a folder renamed in case only")]
#[test_case("git mv src/deep/b src/b; save", Ran(0); "an input moved with equal content")]
#[test_case("sed -i 's/test -e/test  -e/' discern.toml; save", Ran(0); "a blank in the command")]
#[test_case("sed -i 's/^run = .*/run = [\"test\", \"-e\", \"src\\/a\"]/' discern.toml; save", Ran(0); "the same words without a shell")]
#[test_case("sed -i '/trunk/aenvironment = \"strict\"' discern.toml; save", Ran(0); "which variables jobs get")]
#[test_case("sed -i '$aenv = [\"X\"]' discern.toml; save", Ran(0); "a variable declared")]
#[test_case("sed -i '$atoolchain = [\"true\"]' discern.toml; save", Ran(0); "a tool declared")]
#[test_case("sed -i 's/\"src\"/\"src\", \"other\"/' discern.toml; save", Ran(0); "one more input declared")]
#[test_case("sed -i '/inputs/d' discern.toml; save", Ran(0); "inputs no longer declared")]
#[test_case("echo 2 > other; save", Reused; "a file outside of the inputs")]
#[test_case("git commit -q --amend -m other", Reused; "the message")]
#[test_case("git checkout -q --orphan new; git commit -q -m squashed", Reused; "the history")]
#[test_case("sed -i 's/jobs.t/jobs.u/' discern.toml; job t false; save", Ran(1); "another command under the name")]
#[test_case("sed -i '$atimeout = 5' discern.toml; save", Reused; "the timeout")]
#[test_case("sed -i '$aretries = 2' discern.toml; save", Reused; "the retries")]
#[test_case("job u true; save", Reused; "another job")]
#[test_case("echo 2 > src/a; save; git revert -n HEAD; save", Reused; "an input and back")]
fn a_verdict_belongs_to_what_was_checked(change: &str, then: Then) {
    changed_after_a_pass(OVER_SRC, change, then);
}

#[test_case("echo 'exit 1' > helper; save", Ran(1); "a helper script that the job runs")]
#[test_case("chmod -x run; save", Ran(1); "the mode of a script that the job runs")]
#[test_case("ln -snf bad link; save", Ran(1); "the target of a link that the job follows")]
#[test_case("echo unrelated > note; save", Ran(0); "any file at all")]
fn without_declared_inputs_the_whole_tree_decides(change: &str, then: Then) {
    let before = "echo true > helper; printf '#!/bin/sh\\n. ./helper; . ./link' > run; chmod +x run
        echo true > good; echo false > bad; ln -s good link
        gate; job t './run'; save";
    changed_after_a_pass(before, change, then);
}

#[test]
fn a_helper_script_outside_declared_inputs_is_the_projects_to_declare() {
    // Documented, not prevented: this test says what the documentation says.
    let before = "mkdir src; echo 1 > src/a; echo true > helper; gate; job t 'sh helper' 'inputs = [\"src\"]'; save";
    changed_after_a_pass(before, "echo false > helper; save", Reused);
}

#[test]
fn an_input_that_matches_nothing_is_refused() {
    let bench = scene("gate; echo .env > .gitignore; echo 1 > .env; job t 'cat .env' 'inputs = [\".env\"]'; save");
    expect(&bench, &[], Refused("inputs-match-nothing"));
}

#[test]
fn an_excluded_file_is_no_input_and_everything_else_is() {
    let before = r#"mkdir src; echo 1 > src/a; echo 1 > src/a.md
        gate; job t 'true' 'inputs = ["src", ":(exclude)*.md"]'; save"#;
    changed_after_a_pass(before, "echo 2 > src/a.md; save", Reused);
    changed_after_a_pass(before, "echo 2 > src/a; save", Ran(0));
}

#[test_case("STAGE", Some("prod"), Ran(1); "set")]
#[test_case("STAGE", Some(""), Ran(0); "empty is not unset")]
#[test_case("OTHER", Some("1"), Reused; "another one")]
#[test_case("STAGE", None, Reused; "none")]
fn a_declared_variable_decides(name: &str, value: Option<&str>, then: Then) {
    let bench = scene("gate; job t 'test -z \\\"$STAGE\\\"' 'env = [\"STAGE\"]'; save");
    prove(&bench);
    play(&bench, "save again");
    let place = value.map_or((*bench).clone(), |value| bench.with_variable(name, value));
    expect(&place, &[], then);
}

#[test]
fn a_variable_that_is_unset_again_hits_the_first_verdict_and_not_the_last() {
    let bench = scene("gate; job t 'test -z \\\"$STAGE\\\"' 'env = [\"STAGE\"]'; save");
    prove(&bench);
    play(&bench, "save again");
    expect(&bench.with_variable("STAGE", "prod"), &[], Ran(1));
    play(&bench, "save once more");
    expect(&bench, &[], Reused);
}

#[test]
fn two_values_that_are_no_text_are_told_apart() {
    use std::os::unix::ffi::OsStrExt as _;
    let bench = scene("gate; job t true 'env = [\"BYTES\"]'; save");
    for bytes in [b"\xfe", b"\xff"] {
        play(&bench, "save again");
        let mut command = bench.discern_command(&["done", "--json"]);
        command.env("BYTES", std::ffi::OsStr::from_bytes(bytes));
        let document = bench.run(command).exits(0).json();
        assert_eq!(requirement(&document, "t")["source"], "ran");
    }
}

#[test_case("echo 'echo 2' > ../tool", Ran(0); "another version")]
#[test_case("echo 'echo 1; exit 1' > ../tool", Ran(0); "another status")]
#[test_case("echo 'echo 1 >&2' > ../tool", Reused; "the same words on the other stream")]
#[test_case("rm ../tool", Ran(0); "gone")]
#[test_case("true", Reused; "the same")]
fn a_declared_tool_decides(change: &str, then: Then) {
    let before = "echo 'echo 1' > ../tool; gate; job t true 'toolchain = [\"sh ../tool\"]'; save";
    changed_after_a_pass(before, &format!("{change}; save again"), then);
}

#[test]
fn a_tool_that_says_more_than_can_be_kept_is_refused_and_not_taken_for_another() {
    let before = "echo 'yes 1 | head -c 3000000' > ../tool; gate; job t true 'toolchain = [\"sh ../tool\"]'; save";
    expect(&scene(before), &[], Refused("toolchain-unanswered"));
}

#[test]
fn a_tool_that_was_killed_has_said_nothing() {
    let before = "echo 'kill -9 $$' > ../tool; gate; job t true 'toolchain = [\"exec sh ../tool\"]'; save";
    expect(&scene(before), &[], Refused("toolchain-unanswered"));
}

#[test]
fn a_tool_is_asked_with_the_variables_that_jobs_declare() {
    let before =
        "gate 'environment = \"strict\"'; mkdir ../one ../two; echo 'echo 1' > ../one/tool; echo 'echo 2' > ../two/tool
        job t true 'env = [\"TOOLS\"]\ntoolchain = [\"sh $TOOLS/tool\"]'; save";
    let bench = scene(before);
    let one = bench.with_variable("TOOLS", "../one");
    expect(&one, &[], Ran(0));
    play(&bench, "echo 'echo 3' > ../one/tool; save again");
    expect(&one, &[], Ran(0));
}

#[test]
fn equal_commands_with_different_needs_share_nothing() {
    let bench = scene(
        "echo out > .gitignore; gate; job one 'echo good > out'; job t 'grep -q good out' 'needs = [\"one\"]\ninputs = [\".gitignore\"]'; save",
    );
    expect(&bench, &[], Ran(0));
    play(
        &bench,
        "sed -i '/^.jobs.one/,/^run/d; s/needs = .*/needs = [\"two\"]/' discern.toml; job two 'echo bad > out'; save",
    );
    expect(&bench, &[], Ran(1));
}

#[test]
fn the_needs_of_a_need_decide_too() {
    let before = "mkdir a b c; touch a/f b/f c/f; gate
        job deep 'true' 'inputs = [\"a\"]'; job middle 'true' 'inputs = [\"b\"]\nneeds = [\"deep\"]'
        job t 'true' 'inputs = [\"c\"]\nneeds = [\"middle\"]'; save";
    changed_after_a_pass(before, "echo 2 > a/f; save", Ran(0));
}

#[test]
fn a_build_product_of_another_commit_is_made_again_before_it_is_tested() {
    let bench = scene(
        "echo out > .gitignore; echo good > src; gate; job build 'cp src out'
        job t 'grep -q good out' 'needs = [\"build\"]\ninputs = [\"discern.toml\"]'; save",
    );
    expect(&bench, &[], Ran(0));
    play(&bench, "echo bad > src; save");
    expect(&bench, &[], Ran(1));
    play(&bench, "git checkout -q HEAD~1");
    let document = expect(&bench, &["--rerun", "t"], Ran(0));
    assert_eq!(requirement(&document, "build")["source"], "ran");
}

#[test]
fn a_product_that_was_made_while_the_tree_changed_is_made_again() {
    let bench = scene(
        "echo out > .gitignore; echo bad > src
        gate; job build 'test -e ../mend && { cp src ../kept; echo good > src; cp src out; cp ../kept src; } || cp src out'
        job t 'grep -q bad out' 'needs = [\"build\"]'; save",
    );
    expect(&bench, &[], Ran(0));
    play(&bench, "touch ../mend");
    let (outcome, _) = super::scene::ask(&bench, &["--rerun", "build"]);
    assert_eq!(outcome.status, 2, "{}", outcome.shown());
    play(&bench, "rm ../mend");
    let document = expect(&bench, &["--rerun", "t"], Ran(0));
    assert_eq!(requirement(&document, "build")["source"], "ran");
}

#[test]
fn a_product_made_from_a_dirty_tree_is_made_again() {
    let bench = scene(
        "echo out > .gitignore; echo good > src; gate; job build 'cp src out'
        job t 'grep -q good out' 'needs = [\"build\"]'; save",
    );
    expect(&bench, &[], Ran(0));
    play(&bench, "echo bad > src");
    drop(bench.discern(&["run", "build"]));
    play(&bench, "git checkout -q src");
    expect(&bench, &["--rerun", "t"], Ran(0));
}

#[test]
fn what_a_need_of_a_need_left_behind_must_be_this_commits_too() {
    let bench = scene(
        "printf 'gen\\nout\\n' > .gitignore; echo good > src; gate
        job gen 'cp src gen' 'inputs = [\"src\"]'
        job build 'ln -sf gen out; test ! -e ../stuck' 'needs = [\"gen\"]\ninputs = [\"src\"]'
        job t 'grep -q good out' 'needs = [\"build\"]\ninputs = [\"src\"]'; save",
    );
    expect(&bench, &[], Ran(0));
    // Another commit: `gen` runs, and `build` never gets to its turn.
    play(&bench, "echo bad > src; sed -i 's/cp src gen/cp src gen; false/' discern.toml; save");
    let (outcome, _) = super::scene::ask(&bench, &[]);
    assert_eq!(outcome.status, 1, "{}", outcome.shown());
    play(&bench, "git checkout -q HEAD~1");
    expect(&bench, &["--rerun", "t"], Ran(0));
}

/// `build` makes an ignored file that `t` reads.
const PRODUCT: &str =
    "gate; echo out > .gitignore; echo 1 > src; job build 'echo made > out; echo b >> ../log' 'inputs = [\"src\"]'
    job t 'echo t >> ../log; test -e out && test ! -e bad' 'needs = [\"build\"]'; save";

#[test]
fn a_failure_on_a_product_that_was_removed_by_hand_does_not_stick() {
    let bench = scene(PRODUCT);
    expect(&bench, &[], Ran(0));
    play(&bench, "rm out; touch n; save other");
    let document = expect(&bench, &[], Ran(1));
    let reason = requirement(&document, "t")["reason"].as_str().expect("a reason").to_owned();
    assert!(reason.contains("an earlier run of `build` had left here; the next run makes it anew"), "{reason}");
    // It is no verdict to rely on: asked again, the need runs first. No flakiness comes of it.
    let document = expect(&bench, &[], Ran(0));
    assert_eq!(requirement(&document, "build")["source"], "ran", "{document:#}");
    assert_eq!(requirement(&document, "t")["flaky"], false, "{document:#}");
    assert_eq!(bench.read("../log"), "b\nt\nt\nb\nt\n");
}

#[test]
fn a_failure_on_products_of_the_same_run_is_given_again() {
    let bench = scene(PRODUCT);
    expect(&bench, &[], Ran(0));
    play(&bench, "touch bad; save bad");
    // What `build` left is used first, and made anew before the failure counts.
    expect(&bench, &[], Ran(1));
    expect(&bench, &[], Ran(1));
    expect(&bench, &[], Then::Replayed);
    assert_eq!(bench.read("../log"), "b\nt\nt\nb\nt\n");
}

#[test]
fn a_tool_that_is_put_in_front_of_path_is_asked() {
    let bench = scene(
        "mkdir ../one ../two; printf '#!/bin/sh\\necho 1\\n' > ../one/tool; printf '#!/bin/sh\\necho 2\\n' > ../two/tool
        chmod +x ../*/tool; gate; job t tool 'toolchain = [\"tool\"]'; save",
    );
    let root = bench.root().to_string_lossy().into_owned();
    let path = git_discern::os::environment::variable("PATH").expect("a PATH");
    let path = path.to_string_lossy();
    let one = bench.with_variable("PATH", &format!("{root}/one:{path}"));
    let both = bench.with_variable("PATH", &format!("{root}/two:{root}/one:{path}"));
    expect(&one, &[], Ran(0));
    play(&bench, "save other");
    expect(&one, &[], Reused);
    play(&bench, "save another");
    expect(&both, &[], Ran(0));
}

#[test]
fn a_tool_whose_version_depends_on_the_folder_is_asked_where_jobs_run() {
    // As the shims of version managers do: the file beside the project says which version it is.
    let bench = scene(
        "echo .version > .gitignore; echo 1 > .version; mkdir below; echo 3 > below/.version; touch below/f
        gate; job t true 'toolchain = [\"cat .version\"]'; save",
    );
    expect(&bench.at("below"), &[], Ran(0));
    play(&bench, "save other");
    expect(&bench, &[], Reused);
    play(&bench, "echo 2 > .version; save another");
    let document = expect(&bench.at("below"), &[], Ran(0));
    assert_eq!(requirement(&document, "t")["reason"], "`cat .version` says `2` instead of `1`", "{document:#}");
}
