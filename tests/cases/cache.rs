//! The cache, as other tools would call it.

use crate::soundness::scene::{Then, expect, play, requirement, scene};

#[test]
fn b070_a_declared_variable_is_seen_and_setting_it_back_hits_the_first_result() {
    let bench = scene("gate; job t 'test -z $STAGE' 'env = [\"STAGE\"]'; save");
    expect(&bench, &[], Then::Ran(0));
    let prod = bench.with_variable("STAGE", "prod");
    // The standing Proof says what it was checked with; a rerun sees the change.
    expect(&prod, &[], Then::Reused);
    expect(&prod, &["--rerun"], Then::Ran(1));
    expect(&bench, &["--rerun"], Then::Ran(0));
}

#[test]
fn b071_an_ignored_file_is_no_input_and_no_silent_hit() {
    let bench =
        scene("echo .env > .gitignore; echo 1 > .env; gate; job t 'grep -q 1 .env' 'inputs = [\".env\"]'; save");
    let document = expect(&bench, &[], Then::Refused("inputs-match-nothing"));
    assert!(document["diagnostics"][0]["message"].as_str().unwrap().contains(".env"), "{document:#}");
}

#[test]
fn b073_what_is_cut_off_is_a_miss_and_a_warning_at_most() {
    let bench = scene("gate; job t true; save");
    expect(&bench, &[], Then::Ran(0));
    expect(&bench, &[], Then::Reused);
    play(
        &bench,
        "find .git/discern -type f -exec truncate -s 0 {} +
        mkdir ../packs; mv .git/objects/pack/* ../packs; for pack in ../packs/*.pack; do git unpack-objects -q < $pack; done
        for blob in $(git ls-tree -r refs/discern/ledger receipt | cut -f 1 | cut -d ' ' -f 3); do
            f=.git/objects/$(echo $blob | cut -c 1-2)/$(echo $blob | cut -c 3-); chmod +w $f; : > $f; done
        git commit -q --amend -m other",
    );
    expect(&bench, &[], Then::Ran(0));
    play(&bench, "git commit -q --amend -m another");
    expect(&bench, &[], Then::Reused);
}

#[test]
fn b074_a_failure_is_given_again_until_a_rerun_and_two_verdicts_are_flaky() {
    let bench = scene("gate; job t 'test -e ../luck'; save");
    expect(&bench, &[], Then::Ran(1));
    play(&bench, "touch ../luck");
    expect(&bench, &["--rerun"], Then::Ran(0));
    play(&bench, "rm ../luck");
    let document = expect(&bench, &["--rerun"], Then::Ran(1));
    assert_eq!(requirement(&document, "t")["flaky"], true, "{document:#}");
}
