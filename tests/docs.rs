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

/// The pages of the book, as its table of contents has them, relative to `docs/`.
fn pages() -> Vec<String> {
    links(&read("SUMMARY.md")).into_iter().collect()
}

fn read(page: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(page);
    std::fs::read_to_string(&path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

/// Where the links of a page lead that stay in this repository.
fn links(text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://") && !target.contains(' ')).map(str::to_owned).collect()
}

/// The anchor that the book gives a heading.
fn anchor(heading: &str) -> String {
    let letters = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = letters.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

#[test]
fn every_link_of_the_book_leads_to_a_page_of_it_or_to_a_file_beside_it() {
    let pages = pages();
    let mut broken = Vec::new();
    for page in &pages {
        let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
        for link in links(&read(page)) {
            let (file, at) = link.split_once('#').unwrap_or((&link, ""));
            let mut target: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
            for part in file.split('/') {
                match part {
                    ".." if target.pop().is_none() => target.push(".."),
                    "" | "." | ".." => {}
                    part => target.push(part),
                }
            }
            let target = if file.is_empty() { page.clone() } else { target.join("/") };
            let is_page = target.ends_with(".md");
            let is_there = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(&target).exists();
            let has_heading =
                || at.is_empty() || read(&target).lines().any(|line| line.starts_with('#') && anchor(line) == at);
            if !is_there || target.starts_with("..") || is_page && !(pages.contains(&target) && has_heading()) {
                broken.push(format!("{page}: {link}"));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn the_recovery_page_quotes_what_messages_really_say() {
    fn sources(folder: &std::path::Path, text: &mut String) {
        for entry in std::fs::read_dir(folder).expect("a folder of the sources") {
            let path = entry.expect("it is there").path();
            if path.is_dir() {
                sources(&path, text);
            } else {
                // A long literal goes on after a line that ends in a backslash.
                let source = std::fs::read_to_string(&path).expect("text");
                let joined = source.split("\\\n").map(str::trim_start).collect::<String>();
                text.push_str(&joined);
            }
        }
    }
    let mut all = String::new();
    sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut all);
    let page = read("recovery.md");
    let headings = page.lines().filter(|line| line.starts_with("## "));
    let quoted = headings.flat_map(|line| line.split('`').skip(1).step_by(2)).flat_map(|quote| quote.split('…'));
    let pieces: Vec<&str> = quoted.map(str::trim).filter(|piece| !piece.is_empty()).collect();
    assert!(pieces.len() > 12, "{pieces:?}");
    for piece in pieces {
        assert!(all.contains(piece), "no message says `{piece}`");
    }
}
