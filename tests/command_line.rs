//! The command line itself: help, usage errors, what goes where, and readers that go away.

use std::ffi::OsString;
use std::path::Path;

use git_discern::command::arguments;

use crate::support::Bench;

const SUBCOMMANDS: [&str; 17] = [
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
    "manual",
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

#[test]
fn the_manual_pages_are_written_where_man_looks_for_them() {
    let bench = Bench::new();
    let wrote = bench.discern(&["manual", "--into", "share"]).exits(0);
    assert!(wrote.stdout.contains("21 manual pages in share"), "{}", wrote.shown());
    for command in SUBCOMMANDS {
        let page = bench.read(&format!("share/man1/git-discern-{command}.1"));
        assert!(page.contains(&format!("git discern {command}").replace('-', "\\-")), "{page}");
    }
    bench.write("taken", "");
    let refused = bench.discern(&["manual", "--into", "taken"]).exits(2);
    assert!(refused.stderr.contains("hint: git discern manual --into"), "{}", refused.shown());
}

/// Every command line of ours that the texts of `folder` name: in backticks, and as whole string literals.
fn command_lines(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("it is there").path();
        if path.is_dir() {
            command_lines(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs" || kind == "md") {
            let text = std::fs::read_to_string(&path).expect("text");
            for quote in ['`', '"'] {
                for piece in text.split(&format!("{quote}git discern ")).skip(1) {
                    let line = piece.split(['`', '"', '\n']).next().unwrap_or_default();
                    found.push((path.display().to_string(), line.trim_end_matches('\\').to_owned()));
                }
            }
        }
    }
}

#[test]
fn every_command_that_a_message_or_a_page_names_can_be_typed() {
    let mut found = Vec::new();
    for folder in ["src", "docs"] {
        command_lines(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
    }
    let mut wrong = Vec::new();
    for (file, line) in &found {
        // What is filled in when it is said, what is left out, and what a shell does with the rest.
        let filled = line.split('#').next().unwrap_or_default().replace("{verb}", "run").replace(['[', ']'], "");
        let words = filled.split_whitespace().take_while(|word| !["&&", "|", ">", "…"].contains(word));
        let words: Vec<String> =
            words.map(|word| if word.contains(['{', '<']) { "x".to_owned() } else { word.to_owned() }).collect();
        // A subcommand alone is its name, not a line to type.
        let unknown = words.len() < 2 || words[0] == "x";
        let arguments: Vec<OsString> =
            ["git-discern".to_owned()].into_iter().chain(words).map(OsString::from).collect();
        if !unknown
            && let Err(error) = arguments::parse(&arguments)
            && error.use_stderr()
        {
            wrong.push(format!("{file}: git discern {line}: {}", error.to_string().lines().next().unwrap_or_default()));
        }
    }
    assert!(found.len() > 100, "only {} were found", found.len());
    assert_eq!(wrong, Vec::<String>::new());
}
