//! The command line itself: help, usage errors, what goes where, and readers that go away.

use std::ffi::OsString;
use std::path::Path;

use git_discern::command::arguments;

use crate::support::{Bench, Hash, Refs};

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

#[test]
fn a_number_that_is_none_is_refused_with_what_was_expected() {
    let bench = Bench::proven_by_true();
    let seconds = "expected a whole number of seconds";
    let count = "expected a whole number from 1 to 4294967295";
    for (arguments, expected) in [
        (&["done", "--wait="][..], seconds),
        (&["done", "--wait=-1"], seconds),
        (&["standards", "--wait=1.5"], seconds),
        (&["done", "--wait=99999999999999999999999"], seconds),
        (&["done", "HEAD", "--parallel", "0"], count),
        (&["done", "HEAD", "--parallel", "-1"], count),
        (&["done", "HEAD", "--parallel", "many"], count),
        (&["standards", "--history", "--commits", "0"], count),
        (&["standards", "--history", "--commits", "-1"], count),
        (&["standards", "--history", "--commits", "99999999999"], count),
    ] {
        let refused = bench.discern(arguments).exits(2);
        assert!(refused.stderr.contains(expected), "{arguments:?}: {}", refused.shown());
    }
}

#[test]
fn what_is_no_commit_is_refused_as_that_whatever_it_is() {
    let bench = Bench::proven_by_true();
    let long = "x".repeat(5000);
    for command in ["done", "show", "log", "verify", "wait", "stop"] {
        for revision in ["", " ", "a\nb", "nope", "HEAD:discern.toml", "HEAD^{tree}", &long] {
            let document = bench.discern(&[command, revision, "--json"]).exits(2).json();
            assert_eq!(document["diagnostics"][0]["code"], "no-such-revision", "{command} {revision}");
        }
    }
    for command in ["show", "wait", "stop"] {
        let refused = bench.discern(&[command, "HEAD..HEAD"]).exits(2);
        assert!(refused.stderr.contains("it is a range, and this takes one commit"), "{}", refused.shown());
    }
    let refused = bench.discern(&["explain", "ok", "HEAD..HEAD"]).exits(2);
    assert!(refused.stderr.contains("it is a range"), "{}", refused.shown());
}

#[test]
fn a_log_is_no_document() {
    let bench = Bench::proven_by_true();
    bench.discern(&["done"]).exits(0);
    assert_eq!(bench.discern(&["show", "--log", "ok"]).exits(0).stdout, "");
    let refused = bench.discern(&["show", "--log", "ok", "--json"]).exits(2).json();
    assert_eq!(refused["diagnostics"][0]["fix"], "git discern show --json");
}

#[test]
fn a_file_that_can_not_be_written_is_named_before_anything_runs() {
    let bench = Bench::proven_by_true();
    for (file, said) in [
        (".git", "could not write `.git`: it is a folder"),
        ("no/such/x.xml", "could not write `no/such/x.xml`: there is no folder `no/such`"),
    ] {
        let refused = bench.discern(&["done", "--junit", file]).exits(2);
        assert!(refused.stderr.contains(said), "{said}: {}", refused.shown());
        assert!(!bench.has(".git/discern"), "nothing was begun");
    }
    bench.discern(&["done"]).exits(0);
    let refused = bench.discern(&["show", "--html", "no/such/page.html"]).exits(2);
    assert!(refused.stderr.contains("there is no folder `no/such`"), "{}", refused.shown());
}

#[test]
fn a_branch_whose_name_is_no_utf_8_is_refused_as_that() {
    for refs in [Refs::Files, Refs::Reftable] {
        let bench = Bench::with(refs, Hash::Sha1);
        bench.gate();
        bench.job("ok", "true");
        bench.save("first");
        bench.discern(&["done"]).exits(0);
        bench.sh("git switch -q -c \"$(printf 'b\\377')\"").exits(0);
        for command in ["status", "done", "show", "log", "verify", "doctor"] {
            let refused = bench.discern(&[command]).exits(2).shown();
            assert!(refused.contains("`refs/heads/b\u{fffd}` is not UTF-8"), "{command}: {refused}");
            assert!(refused.contains("git branch -m NEW") || command == "doctor", "{command}: {refused}");
        }
        // What needs no branch goes on, and such a branch that is not checked out is in nobody's way.
        bench.discern(&["run"]).exits(0);
        bench.git(&["switch", "-q", "main"]);
        bench.discern(&["done", "--rerun"]).exits(0);
    }
}

#[test]
fn what_fails_is_told_once_where_story_and_answer_are_read_in_one_place() {
    let bench = Bench::new();
    bench.gate();
    bench.job("bad", "exit 3");
    bench.save("first");
    let reason = "exited with status 3";
    let apart = bench.discern(&["done"]).exits(1);
    assert_eq!([&apart.stderr, &apart.stdout].map(|text| text.matches(reason).count()), [1, 1], "{}", apart.shown());
    let together = bench.sh("git-discern done --rerun 2>&1").exits(1);
    assert_eq!(together.stdout.matches(reason).count(), 1, "{}", together.shown());
    // The time comes first: the reason may be long.
    let line = together.stdout.lines().find(|line| line.starts_with("failed  bad after ")).unwrap_or_default();
    assert!(line.ends_with(&format!(": {reason}")), "{}", together.shown());
}

#[test]
fn an_argument_that_is_no_utf_8_is_named() {
    let bench = Bench::proven_by_true();
    for command in ["show", "run", "explain"] {
        let refused = bench.sh(&format!("git-discern {command} \"$(printf 'b\\377')\"")).exits(2);
        assert!(refused.stderr.contains("the argument `b\u{fffd}` is not UTF-8\n"), "{}", refused.shown());
        assert!(refused.stderr.contains(&format!("hint: git discern {command} -h\n")), "{}", refused.shown());
    }
}

#[test]
fn where_there_is_no_worktree_no_command_is_offered_that_needs_one() {
    let bench = Bench::proven_by_true();
    let bare = bench.remote();
    bench.git(&["push", "-q", "origin", "main"]);
    for command in ["show", "wait"] {
        let refused = bare.discern(&[command]).exits(2);
        assert!(refused.stderr.contains("hint: git worktree list\n"), "{}", refused.shown());
    }
}
