//! Every console block of the documentation, run.
//!
//! The blocks of one page are one session of a shell, in an empty folder with a home of its own. A line that begins with `$ `
//! is a command; it must succeed, unless it ends in `# exit N`. The lines below it are what it prints, on both streams: `…`
//! stands for any text, alone on a line for any lines. A command with nothing below it may print anything.

use crate::support::Bench;

struct Step {
    command: String,
    expected: Vec<String>,
    status: i32,
}

/// The steps of the console blocks of a page.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        if line.starts_with("```") {
            inside = !inside && line == "```console";
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            let status = command.rsplit_once("# exit ").and_then(|(_, status)| status.trim().parse().ok());
            steps.push(Step { command: command.to_owned(), expected: Vec::new(), status: status.unwrap_or(0) });
        } else if inside && let Some(step) = steps.last_mut() {
            if step.expected.is_empty() && step.command.ends_with('\\') {
                step.command = format!("{}\n{line}", step.command);
            } else {
                step.expected.push(line.to_owned());
            }
        }
    }
    steps
}

/// Whether `text` is `pattern`, in which each `…` stands for any text.
fn matches_line(pattern: &str, text: &str) -> bool {
    match pattern.split_once('…') {
        None => pattern == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| matches_line(after, &rest[at..]))
        }),
    }
}

/// Whether `lines` are `pattern`, in which a `…` alone stands for any lines.
fn matches(pattern: &[String], lines: &[&str]) -> bool {
    match (pattern.split_first(), lines.split_first()) {
        (None, first) => first.is_none(),
        (Some((any, rest)), _) if any == "…" => (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..])),
        (Some(_), None) => false,
        (Some((wanted, rest)), Some((line, others))) => matches_line(wanted, line.trim_end()) && matches(rest, others),
    }
}

/// Runs a page's session and compares.
fn run(page: &str, text: &str) {
    let steps = steps(text);
    let mark = "%%% step";
    let script: String =
        steps.iter().map(|step| format!("{{ {}\n}} 2>&1\ns=$?; echo; echo '{mark}' $s\n", step.command)).collect();
    let bench = Bench::new();
    let outcome = bench.at("../tmp").sh(&script);
    let mut parts = outcome.stdout.split(mark);
    let mut output = parts.next().unwrap_or_default();
    for step in &steps {
        let rest = parts
            .next()
            .unwrap_or_else(|| panic!("{page}: `{}` ended the session:\n{}", step.command, outcome.shown()));
        let (status, next) = rest.split_once('\n').unwrap_or((rest, ""));
        let lines: Vec<&str> = output.trim_end().lines().collect();
        let shown = format!("{page}: `{}` ended with{status} and printed\n{output}", step.command);
        assert_eq!(status.trim(), step.status.to_string(), "{shown}");
        assert!(
            step.expected.is_empty() || matches(&step.expected, &lines),
            "{shown}\nnot\n{}",
            step.expected.join("\n")
        );
        output = next;
    }
}

#[test]
fn every_console_block_does_what_it_shows() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let pages =
        std::fs::read_dir(&folder).expect("docs").filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut pages: Vec<String> = pages.filter(|name| name.ends_with(".md")).collect();
    pages.sort();
    let mut steps_run = 0;
    for page in &pages {
        let text = std::fs::read_to_string(folder.join(page)).expect("a page");
        steps_run += steps(&text).len();
        run(page, &text);
    }
    assert!(steps_run > 20, "only {steps_run} commands in {pages:?}");
}

#[test]
fn a_page_that_shows_something_else_is_caught() {
    let pattern = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    assert!(matches(&pattern(&["proven  … in …", "…", "end"]), &["proven  1 job in 3 s", "a", "b", "end"]));
    assert!(!matches(&pattern(&["proven  …"]), &["failed  1 job"]));
    assert!(!matches(&pattern(&["proven"]), &["proven", "and more"]));
    let caught = std::panic::catch_unwind(|| run("a page", "```console\n$ echo yes\nno\n```\n"));
    assert!(caught.is_err());
    let caught = std::panic::catch_unwind(|| run("a page", "```console\n$ false\n```\n"));
    assert!(caught.is_err());
}
