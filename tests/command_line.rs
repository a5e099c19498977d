//! The command line itself: help, usage errors, what goes where, and readers that go away.

use crate::support::Bench;

const SUBCOMMANDS: [&str; 16] = [
    "done",
    "run",
    "standards",
    "status",
    "wait",
    "stop",
    "recover",
    "verify",
    "show",
    "log",
    "explain",
    "hook",
    "init",
    "doctor",
    "gc",
    "completions",
];

#[test]
fn help_names_every_subcommand_and_goes_to_standard_output() {
    let bench = Bench::new();
    for flag in ["-h", "--help"] {
        let help = bench.discern(&[flag]).exits(0);
        assert_eq!(help.stderr, "");
        for command in SUBCOMMANDS {
            assert!(help.stdout.lines().any(|line| line.trim_start().starts_with(command)), "{command}");
        }
    }
    for command in SUBCOMMANDS {
        let help = bench.discern(&[command, "--help"]).exits(0);
        assert!(help.stdout.contains(&format!("Usage: git discern {command}")), "{}", help.shown());
    }
}

#[test]
fn the_version_is_one_line() {
    let bench = Bench::new();
    let version = bench.discern(&["--version"]).exits(0);
    assert_eq!(version.stdout, format!("git-discern {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_misspelt_subcommand_or_option_is_refused_with_the_nearest_spelling() {
    let bench = Bench::new();
    let refused = bench.discern(&["dome"]).exits(2);
    assert!(refused.stderr.contains("'done'") && refused.stdout.is_empty(), "{}", refused.shown());
    let refused = bench.discern(&["done", "--keep-on"]).exits(2);
    assert!(refused.stderr.contains("--keep-going"), "{}", refused.shown());
}

#[test]
fn a_usage_error_is_a_json_document_when_json_is_asked_for() {
    let bench = Bench::new();
    for (arguments, schema) in
        [(&["dome", "--json"][..], "discern/usage/1"), (&["--json", "verify", "--bogus"], "discern/verify/1")]
    {
        let document = bench.discern(arguments).exits(2).json();
        assert_eq!(document["schema"], schema);
        assert_eq!(document["outcome"], "refused");
        assert_eq!(document["exit"], 2);
        assert_eq!(document["diagnostics"][0]["code"], "usage");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let bench = Bench::proven_by_true();
    for command in ["--help", "-h", "completions bash", "status", "status --json", "done --json", "verify --json HEAD"]
    {
        // `true` is gone before anything is written: the writer waits for it.
        let script = format!(
            "{{ read x <&3; git-discern {command}; echo $? >status; }} 3<fifo 2>stderr | {{ exec <&-; echo > fifo; }}"
        );
        let outcome = bench.sh(&format!("rm -f fifo && mkfifo fifo && {script}"));
        let stderr = bench.read("stderr");
        assert!(!stderr.contains("panicked") && !stderr.contains("fault"), "{command}: {stderr} {}", outcome.shown());
        assert!(["0", "1", "2", "3"].contains(&bench.read("status").trim()), "{command}: {}", bench.read("status"));
    }
}

#[test]
fn no_escape_code_is_written_where_there_is_no_terminal() {
    let bench = Bench::new();
    for arguments in [&["--help"][..], &["dome"], &["status"], &["--color=auto", "done"]] {
        let place = bench.with_variable("TERM", "xterm-256color");
        let outcome = place.discern(arguments);
        assert!(!outcome.stdout.contains('\x1b') && !outcome.stderr.contains('\x1b'), "{}", outcome.shown());
    }
}
