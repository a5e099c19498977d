//! Files and functions that a reader can hold in their head, and files that say what they are for.

use super::{Finding, Source};

/// A file may have so many lines, without its tests.
const FILE_LINES_MAX: usize = 500;
/// Longer files, each with the length that it may not grow beyond and why it is one.
const LONGER: [(&str, usize, &str); 1] = [("src/claim/owner.rs", 520, "one state machine, read from top to bottom")];
/// A function may have so many lines: a screen.
const FUNCTION_LINES_MAX: usize = 70;

/// Files and functions that are too long, and files without a module's documentation.
pub(crate) fn check(source: &Source<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let opening = source.text.lines().next().unwrap_or_default();
    if !source.is_tests() && (!opening.starts_with("//! ") || opening.len() < 12) {
        findings.push(Finding::at(source.path, 0, "opens without saying what it is for (`//! …`)"));
    }
    let lines: Vec<&str> = source.product_lines().map(|(_, line)| line).collect();
    let longer = LONGER.iter().find(|(path, ..)| *path == source.path);
    let most = longer.map_or(FILE_LINES_MAX, |(_, most, _)| *most);
    if lines.len() > most {
        let what = format!("{} lines without its tests, more than {most}", lines.len());
        findings.push(Finding::at(source.path, 0, what));
    }
    for (start, length, name) in functions(&lines) {
        if length > FUNCTION_LINES_MAX {
            let what = format!("`{name}` has {length} lines, more than {FUNCTION_LINES_MAX}");
            findings.push(Finding::at(source.path, start, what));
        }
    }
    findings
}

/// Where each function starts, how many lines it has, and its name. The code is formatted, so a function ends at the brace
/// in the column in which it starts.
fn functions<'a>(lines: &[&'a str]) -> Vec<(usize, usize, &'a str)> {
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let has_body = lines[start..].iter().find(|line| line.ends_with('{') || line.ends_with(';'));
        if has_body.is_none_or(|line| line.ends_with(';')) {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let closes = |line: &&str| line.starts_with(&format!("{}}}", " ".repeat(indent)));
        if let Some(length) = lines[start..].iter().position(closes) {
            found.push((start, length + 1, name));
        }
    }
    found
}

/// The name of the function that `line` begins to define.
fn function_name(line: &str) -> Option<&str> {
    let words = line.trim_start();
    let before = words.find("fn ")?;
    let qualifiers = ["pub", "pub(crate)", "pub(super)", "const", "async"];
    if !words[..before].split_whitespace().all(|word| qualifiers.contains(&word)) || line.ends_with("}") {
        return None;
    }
    words[before + 3..].split(['(', '<']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        check(&Source { path: "src/x.rs", text }).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_function_of_a_screen_is_fine_and_a_longer_one_is_not() {
        let of =
            |lines: usize| format!("//! What it is.\n\npub fn long(a: u8) {{\n{}}}\n", "    x();\n".repeat(lines - 2));
        assert_eq!(findings(&of(70)), Vec::<String>::new());
        assert_eq!(findings(&of(71)), ["`long` has 71 lines, more than 70"]);
    }

    #[test]
    fn what_a_trait_demands_has_no_body() {
        let text =
            format!("//! What it is.\ntrait T {{\n    fn a(\n        b: u8,\n    );\n{}}}\n", "    // x\n".repeat(90));
        assert_eq!(findings(&text), Vec::<String>::new());
    }

    #[test]
    fn tests_do_not_count() {
        let text = format!("//! What it is.\n#[cfg(test)]\nmod tests {{\n{}}}\n", "    // x\n".repeat(900));
        assert_eq!(findings(&text), Vec::<String>::new());
        let long = format!("//! What it is.\n{}", "// x\n".repeat(900));
        assert_eq!(findings(&long).len(), 1);
    }

    #[test]
    fn a_file_says_what_it_is_for() {
        assert_eq!(findings("fn main() {}\n").len(), 1);
        assert_eq!(findings("//! x\n").len(), 1);
    }
}
