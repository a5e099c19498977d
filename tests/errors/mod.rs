//! Every error that a person can cause, as that person sees it: one snapshot each, under the error's code.
//!
//! What is wrong inside `discern.toml` has its own pages, under `fixtures/config/invalid`.

mod places;
mod requests;
mod runs;

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::{Bench, Place};

/// Refused with `code` and `status`, in a document, too; and the page is the one that was approved as `error-NAME`.
#[track_caller]
fn is_refused(bench: &Bench, place: &Place, name: &str, status: i32, arguments: &[&str]) {
    let _stable = bench.stable_snapshots();
    let page = place.discern(arguments).exits(status).shown();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.bind(|| insta::assert_snapshot!(format!("error-{name}"), page));
}

/// The same, and its document has `code`.
#[track_caller]
fn is_refused_as(bench: &Bench, place: &Place, code: &str, status: i32, arguments: &[&str]) {
    is_refused(bench, place, code, status, arguments);
    // `--` ends the options.
    let at = arguments.iter().position(|argument| *argument == "--").unwrap_or(arguments.len());
    let document = place.discern(&[&arguments[..at], &["--json"], &arguments[at..]].concat()).exits(status).json();
    let codes: Vec<&str> =
        document["diagnostics"].as_array().expect("a list").iter().filter_map(|it| it["code"].as_str()).collect();
    assert!(codes.contains(&code), "{code}: {codes:?}");
}

/// Codes that no person causes with this tool and this machine alone, and why.
const NOT_CAUSED: &[(&str, &str)] = &[
    ("advice", "what `init` adds to what it wrote"),
    ("candidate-moved", "a race: a commit lands in the moment between two looks"),
    ("case-collision", "a file system that ignores case"),
    ("claim-not-retired", "a git that was killed; tests/retirement.rs"),
    ("config-changed", "a race: the file is edited while the standards are measured"),
    ("config-unreadable", "a file that can't be read; root can read everything"),
    ("abandoned", "tests/commands/wait.rs: a run that was killed"),
    ("gone", "tests/commands/wait.rs: a run that was killed"),
    ("no-journal", "a run on another machine that shares the repository"),
    ("proof-does-not-answer", "a Proof that somebody wrote by hand; tests/verify.rs"),
    ("head-moved", "a race: HEAD moves in the moment of a look"),
    ("hook-file", "a folder of hooks that can't be written; root can write everything"),
    ("internal-error", "a fault of ours"),
    ("log-unreadable", "a log that can't be read; root can read everything"),
    ("ledger-unreadable", "a damaged ledger; tests/soundness"),
    ("newer-receipt", "a newer version of this tool"),
    ("no-directory", "a current directory that was removed; the shell's own commands fail there as well"),
    ("no-program", "a binary that was removed while it runs"),
    ("not-absorbed", "a full disk; tests/runs"),
    ("not-checked-out", "a full disk; tests/isolated"),
    ("not-exact", "a file system that can't hold the commit"),
    ("not-settled", "a full disk; tests/runs"),
    ("run-broken", "a full disk; tests/runs"),
    ("suspended", "tests/commands/stop.rs: a run that was stopped"),
    ("store-error", "a full disk; tests/runs"),
];

/// Every code that the sources give to a diagnostic.
fn codes_in(folder: &Path, codes: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the sources") {
        let path = entry.expect("it is there").path();
        if path.is_dir() {
            codes_in(&path, codes);
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("text");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for rest in text.split("Diagnostic::new(").skip(1) {
            if let Some(code) = rest.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next()) {
                codes.insert(code.to_owned());
            }
        }
    }
}

#[test]
fn no_error_is_without_a_page_that_was_looked_at() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut codes = BTreeSet::new();
    codes_in(&top.join("src"), &mut codes);
    assert!(codes.len() > 40, "{codes:?}");
    let shown = |code: &String| top.join(format!("tests/errors/snapshots/error-{code}.snap")).exists();
    let excused = |code: &String| NOT_CAUSED.iter().any(|(known, _)| known == code);
    let without: Vec<&String> = codes.iter().filter(|code| !shown(code) && !excused(code)).collect();
    assert_eq!(without, Vec::<&String>::new());
    let needless: Vec<&str> = NOT_CAUSED
        .iter()
        .map(|(code, _)| *code)
        .filter(|code| !codes.contains(*code) || shown(&(*code).to_owned()))
        .collect();
    assert_eq!(needless, Vec::<&str>::new());
}
