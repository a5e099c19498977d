//! A repository whose job `t` is proven once, a change of the world, and what the gate says then.

use serde_json::Value;

use crate::support::{Bench, Outcome, Place};

/// Words of the scripts, beside `sh` itself.
const WORDS: &str = r#"
set -e
gate() { printf '[gate]\ntrunk = "main"\n%s\n' "${1:-}" > discern.toml; }
job() { printf '[jobs.%s]\nrun = "%s"\n%s\n' "$1" "$2" "${3:-}" >> discern.toml; }
std() { printf '[standards.%s]\ndirection = "%s"\nlimit = %s\nrun = "%s"\n%s\n' "$1" "$2" "$3" "$4" "${5:-}" >> discern.toml; }
save() { git add -A && git commit -q --allow-empty -m "${1:-c}"; }
"#;

/// What the gate says when it is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// Job `t` ran, and the gate ended so.
    Ran(i32),
    /// The verdict of `t` was reused, and the gate passed.
    Reused,
    /// A failed verdict of `t` was given again.
    Replayed,
    /// Nothing ran: refused with this code.
    Refused(&'static str),
}

/// A repository on branch `main` with what `script` makes of it.
pub(crate) fn scene(script: &str) -> Bench {
    let bench = Bench::new();
    play(&bench, script);
    bench
}

/// Runs `script` with the words above.
#[track_caller]
pub(crate) fn play(place: &Place, script: &str) {
    let outcome = place.sh(&format!("{WORDS}{script}"));
    assert!(outcome.status == 0, "{}", outcome.shown());
}

/// Asks the gate; the document is the answer.
pub(crate) fn ask(place: &Place, arguments: &[&str]) -> (Outcome, Value) {
    let outcome = place.discern(&[&["done", "--json"], arguments].concat());
    let document = outcome.json();
    (outcome, document)
}

/// The entry of one requirement.
#[track_caller]
pub(crate) fn requirement<'d>(document: &'d Value, name: &str) -> &'d Value {
    let all = document["requirements"].as_array().expect("a list");
    all.iter().find(|entry| entry["name"] == name).unwrap_or_else(|| panic!("no `{name}` in {document:#}"))
}

/// Asks the gate with `arguments` and holds the answer against `then`.
#[track_caller]
pub(crate) fn expect(place: &Place, arguments: &[&str], then: Then) -> Value {
    let (outcome, document) = ask(place, arguments);
    let shown = || outcome.shown();
    match then {
        Then::Refused(code) => {
            assert_eq!((outcome.status, &document["diagnostics"][0]["code"]), (2, &code.into()), "{}", shown());
        }
        Then::Ran(status) => {
            assert_eq!(
                (outcome.status, &requirement(&document, "t")["source"]),
                (status, &"ran".into()),
                "{}",
                shown()
            );
        }
        Then::Reused => {
            assert_eq!((outcome.status, &requirement(&document, "t")["source"]), (0, &"reused".into()), "{}", shown());
        }
        Then::Replayed => {
            assert_eq!((outcome.status, &requirement(&document, "t")["source"]), (1, &"reused".into()), "{}", shown());
        }
    }
    document
}

/// Sets up and proves (the first `done` must end with 0), changes the world, and asks again.
#[track_caller]
pub(crate) fn changed_after_a_pass(before: &str, change: &str, then: Then) {
    let bench = scene(before);
    prove(&bench);
    play(&bench, change);
    expect(&bench, &[], then);
}

/// The gate passes.
#[track_caller]
pub(crate) fn prove(place: &Place) {
    let outcome = place.discern(&["done"]);
    assert!(outcome.status == 0, "{}", outcome.shown());
}
