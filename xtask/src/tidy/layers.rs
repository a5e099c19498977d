//! The layers of `src/lib.rs`: arrows only point downward, and each outside crate stays where it belongs.

use super::{Finding, Source};

/// The modules of each layer, the lowest first.
const LAYERS: [&[&str]; 5] = [
    &["id", "time", "exit", "claim", "evidence", "standard", "config", "plan", "schedule", "event", "document"],
    &["os", "git", "store", "ledger", "journal"],
    &["engine"],
    &["report"],
    &["command"],
];

/// Text that may stand only in files whose path begins with one of these.
const ONLY_IN: [(&str, &[&str]); 11] = [
    ("gix::", &["src/git/", "src/store/", "src/ledger/"]),
    ("gix_", &["src/git/", "src/store/", "src/ledger/"]),
    ("anyhow::", &["src/command/", "src/main.rs"]),
    ("clap::", &["src/command/"]),
    ("println!", &[]),
    ("eprintln!", &[]),
    ("print!(", &[]),
    ("std::io::stdout", &["src/os/"]),
    ("std::io::stderr", &["src/os/"]),
    ("schemars::schema_for", &["src/report/"]),
    ("signal_hook", &["src/os/"]),
];

/// What the pure layer must not name: it has no machine.
const IMPURE: [&str; 8] = [
    "std::fs",
    "std::process",
    "std::env::var",
    "std::env::args",
    "Instant::now",
    "SystemTime::now",
    "std::net",
    "rustix::",
];

/// The lease's own fields, which no file may name (C11) but these two: the lease itself, and how it is written down.
const LEASE_FIELDS: [&str; 4] = ["expires_at", "renewed_at", "acquired_at", "renewed_monotonic_ms"];
const LEASE_FILES: [&str; 2] = ["src/claim/lease.rs", "src/claim/wire.rs"];

/// Arrows that point upward, and names that stand where they don't belong.
pub(crate) fn check(source: &Source<'_>) -> Vec<Finding> {
    if !source.path.starts_with("src/") {
        return Vec::new();
    }
    let module = source.path["src/".len()..].split(['/', '.']).next().unwrap_or_default();
    let layer = LAYERS.iter().position(|modules| modules.contains(&module));
    let mut findings = Vec::new();
    for (number, line) in source.product_lines() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        let mut say = |what: String| findings.push(Finding::at(source.path, number, what));
        if let Some(layer) = layer {
            for used in used_modules(line) {
                if LAYERS[layer + 1..].iter().any(|above| above.contains(&used)) {
                    say(format!("`{module}` uses `{used}`, which lies above it"));
                }
            }
        }
        if layer == Some(0) {
            let named = IMPURE.iter().filter(|name| line.contains(*name));
            named.for_each(|name| say(format!("`{module}` is pure and names `{name}`")));
        }
        for (text, places) in ONLY_IN {
            if holds(line, text) && !places.iter().any(|place| source.path.starts_with(place)) {
                say(format!("`{text}` may stand only in {places:?}"));
            }
        }
        if !LEASE_FILES.contains(&source.path) {
            let named = LEASE_FIELDS.iter().filter(|field| holds(line, field));
            named.for_each(|field| say(format!("`{field}` is the lease's own (C11)")));
        }
    }
    findings
}

/// The modules of this crate that `line` names.
fn used_modules(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::").skip(1).filter_map(|rest| rest.split(|letter: char| !is_word(letter)).next())
}

/// Whether `line` holds `text` as a word of its own.
fn holds(line: &str, text: &str) -> bool {
    line.match_indices(text).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(is_word);
        let ends_open = !text.ends_with(is_word);
        let after = line[at + text.len()..].chars().next().is_some_and(is_word);
        !before && (ends_open || text.ends_with('_') || !after)
    })
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        check(&Source { path, text }).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn arrows_point_downward() {
        assert_eq!(findings("src/engine/x.rs", "use crate::store::Found;\n"), Vec::<String>::new());
        assert_eq!(
            findings("src/claim/x.rs", "use crate::store::Found;\n"),
            ["`claim` uses `store`, which lies above it"]
        );
        assert_eq!(findings("src/store/x.rs", "    let x = crate::report::y();\n").len(), 1);
        assert_eq!(findings("src/store/x.rs", "// crate::report\n"), Vec::<String>::new());
    }

    #[test]
    fn the_pure_layer_has_no_machine() {
        assert_eq!(findings("src/plan.rs", "use std::fs;\n"), ["`plan` is pure and names `std::fs`"]);
    }

    #[test]
    fn only_the_lease_and_its_wire_format_name_its_fields() {
        assert_eq!(findings("src/store/x.rs", "record.expires_at\n"), ["`expires_at` is the lease's own (C11)"]);
        assert_eq!(findings("src/claim/owner.rs", "record.renewed_at\n"), ["`renewed_at` is the lease's own (C11)"]);
        for own in LEASE_FILES {
            assert_eq!(findings(own, "record.expires_at\n"), Vec::<String>::new());
        }
        assert_eq!(findings("src/document.rs", "pub lease_expires_at: u8,\n"), Vec::<String>::new());
    }

    #[test]
    fn outside_crates_stay_where_they_belong() {
        assert_eq!(findings("src/engine/x.rs", "gix::open();\n").len(), 1);
        assert_eq!(findings("src/git/x.rs", "gix::open();\n"), Vec::<String>::new());
        assert_eq!(findings("src/report/x.rs", "eprintln!(\"x\");\n").len(), 1);
    }
}
