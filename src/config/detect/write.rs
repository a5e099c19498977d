//! The text of a drafted `discern.toml`, and what is said about it.

use toml_edit::{Array, Value};

use super::{Draft, Suggestion};

const HEAD: &str = "\
# What a commit of this project must pass. `git discern done` proves one; `git discern run` tries the jobs on the worktree.
";

const GATE: &str = "
[gate]
# trunk = \"main\"     # the branch to compare with; without it: the one of origin/HEAD, else main, else master
timeout = 1800       # seconds for each job
";

const NOTHING_KNOWN: &str = "
# Nothing here says how this project is checked, so nothing is demanded yet and `git discern done` refuses this file.
# Take the marks away and write down the command that must exit with 0:
#
# [jobs.test]
# run = \"…\"
# toolchain = [\"… --version\"]    # commands whose output decides the verdict as well
";

/// What `suggestions`, each with its job's name, come to.
pub(super) fn draft(suggestions: &[(String, Suggestion)], advice: Vec<String>) -> Draft {
    let (kept, dropped): (Vec<_>, Vec<_>) = suggestions.iter().partition(|(_, suggestion)| suggestion.doubt.is_none());
    let mut toml = String::from(HEAD);
    toml.push_str(GATE);
    for (name, suggestion) in &kept {
        toml.push_str(&format!("\n# Found: {}.\n{}", one_line(&suggestion.because), job(name, suggestion)));
    }
    if kept.is_empty() {
        toml.push_str(NOTHING_KNOWN);
    }
    for (name, suggestion) in &dropped {
        let reason = suggestion.doubt.as_deref().unwrap_or_default();
        toml.push_str(&format!("\n# Left out: {}.\n", one_line(reason)));
        toml.extend(job(name, suggestion).lines().map(|line| format!("# {line}\n")));
    }
    let said = |(name, suggestion): &&(String, Suggestion)| {
        format!("{name}: `{}`, because of {}", suggestion.run, suggestion.because)
    };
    let omitted = |(name, suggestion): &&(String, Suggestion)| {
        format!("{name}: `{}`: {}", suggestion.run, suggestion.doubt.as_deref().unwrap_or_default())
    };
    Draft {
        toml,
        jobs: kept.iter().map(|(name, _)| name.clone()).collect(),
        guessed: kept.iter().map(said).collect(),
        left_out: dropped.iter().map(omitted).collect(),
        advice,
    }
}

/// `text` without control characters: the name of a file must not end a comment.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, "?")
}

/// A job's table.
fn job(name: &str, suggestion: &Suggestion) -> String {
    let Suggestion { run, needs, inputs, env, toolchain, .. } = suggestion;
    let mut text = format!("[jobs.{name}]\nrun = {}\n", Value::from(run.as_str()));
    let mut list = |key: &str, items: Vec<&str>| {
        if !items.is_empty() {
            text.push_str(&format!("{key} = {}\n", Value::from(Array::from_iter(items))));
        }
    };
    list("needs", needs.iter().map(String::as_str).collect());
    list("inputs", inputs.iter().map(String::as_str).collect());
    list("env", env.clone());
    list("toolchain", toolchain.iter().map(String::as_str).collect());
    text
}
