//! Configuration that says what can't be.

use crate::soundness::scene::{Then, expect, play, requirement, scene};

#[test]
fn b094_an_impossible_value_is_an_error_with_its_line_in_every_command() {
    let bench = scene("gate; job t true 'timeout = \"soon\"'; save");
    for command in ["done", "status", "standards"] {
        let outcome = bench.discern(&[command]);
        assert_eq!(outcome.status, 2, "{}", outcome.shown());
        assert!(outcome.stderr.contains("discern.toml:6") && outcome.stderr.contains("timeout"), "{}", outcome.shown());
    }
}

#[test]
fn b095_a_missing_program_is_called_missing_and_never_given_again() {
    let bench = scene("gate; job t 'no-such-program --check'; save");
    let document = expect(&bench, &[], Then::Ran(1));
    let text = |key: &str| requirement(&document, "t")[key].as_str().unwrap().to_owned();
    assert!(text("reason").contains("`no-such-program` could not be started: not found"), "{}", text("reason"));
    let log = bench.read(&text("log"));
    assert!(log.contains("PATH is `"), "{log}");
    play(&bench, "mkdir ../b; ln -s /bin/true ../b/no-such-program");
    let path = format!("{}/b:{}", bench.root().display(), bench.sh("echo $PATH").stdout.trim());
    expect(&bench.with_variable("PATH", &path), &[], Then::Ran(0));
}
