//! Standards, on real repositories with real commands.

mod history;
mod limits;
mod measuring;
mod pin;
mod protocol;
mod trunk;

use serde_json::Value;

use crate::support::Outcome;

/// The report of the standard `name` in a JSON document.
#[track_caller]
fn report<'d>(document: &'d Value, name: &str) -> &'d Value {
    let reports = document["requirements"].as_array().expect("requirements");
    reports.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("no {name} in {document:#}"))
}

/// The message of the only diagnostic in a JSON document, and its code.
#[track_caller]
fn only_diagnostic(outcome: &Outcome) -> (String, String) {
    let document = outcome.json();
    let diagnostics = document["diagnostics"].as_array().expect("diagnostics");
    assert_eq!(diagnostics.len(), 1, "{}", outcome.shown());
    let text = |key: &str| diagnostics[0][key].as_str().expect("text").to_owned();
    (text("code"), text("message"))
}
