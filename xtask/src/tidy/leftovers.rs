//! What must not be left in what is committed.

use super::{Finding, Source};

/// Spelt in two halves, so that this file does not hold what it looks for.
const ANYWHERE: [(&str, &str, &str); 2] = [("<<<<<", "<< ", "a conflict"), (">>>>>", ">> ", "a conflict")];

/// The same, in Rust sources.
const IN_RUST: [(&str, &str, &str); 8] = [
    ("// TO", "DO", "finish it, or write it down as an issue"),
    ("// FIX", "ME", "finish it, or write it down as an issue"),
    ("#[al", "low(", "use #[expect(…, reason = \"…\")]"),
    ("#![al", "low(", "use #![expect(…, reason = \"…\")]"),
    ("#[ig", "nore", "a test that is not run proves nothing"),
    ("to", "do!(", "finish it"),
    ("unimpl", "emented!(", "finish it"),
    ("db", "g!(", "debugging"),
];

/// Names of modules that say nothing.
const EMPTY_NAMES: [&str; 5] = ["util", "utils", "helpers", "common", "misc"];

/// Leftovers in one file.
pub(crate) fn check(source: &Source<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_rust = source.path.ends_with(".rs");
    let stem = source.path.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
    if is_rust && EMPTY_NAMES.contains(&stem) {
        findings.push(Finding::at(source.path, 0, format!("`{stem}` is no name for a module")));
    }
    if source.path.ends_with(".md") && !source.text.starts_with("# ") {
        findings.push(Finding::at(source.path, 0, "a page begins with its title (`# …`)"));
    }
    for (number, line) in source.text.lines().enumerate() {
        let banned = ANYWHERE.iter().chain(IN_RUST.iter().filter(|_| is_rust));
        for (first, second, why) in banned {
            // A test binary that plays a process of its own says so in these words.
            let plays = line.contains("= \"no test: ");
            if line.contains(&format!("{first}{second}")) && !plays {
                findings.push(Finding::at(source.path, number, format!("`{first}{second}`: {why}")));
            }
        }
        if is_rust
            && source.path.starts_with("tests/")
            && !source.path.starts_with("tests/support/")
            && line.contains("thread::sleep")
        {
            findings.push(Finding::at(source.path, number, "wait for a condition, not for a guess"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&Source { path, text }).len()
    }

    #[test]
    fn leftovers_are_found() {
        assert_eq!(count("src/x.rs", &format!("{}{}: later\n", "// TO", "DO")), 1);
        assert_eq!(count("src/x.rs", &format!("#[al{}dead_code)]\n", "low(")), 1);
        assert_eq!(count("docs/x.md", "no title\n"), 1);
        assert_eq!(count("src/util.rs", ""), 1);
        assert_eq!(count("tests/x.rs", "std::thread::sleep(x);\n"), 1);
        assert_eq!(count("src/x.rs", "fn fine() {}\n"), 0);
    }
}
