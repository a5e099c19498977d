//! The page of `show --html`: one file that needs nothing else, in light and dark, readable without scripts, on paper and on
//! a phone.
//!
//! Pure: what is shown comes in, text goes out. Everything from outside passes through [`Escaped`].

mod numbers;
mod timeline;

use std::fmt::{self, Write as _};

use super::phrase;
use super::story::{between, standing};
use crate::document::{RequirementReport, RunDocument, Source, StandardHistory, Standing};
use crate::engine::log::Tail;
use crate::time::Timestamp;

/// The style: system colours follow light and dark by themselves.
const STYLE: &str = include_str!("show.css");

/// What the page shows besides the document.
#[derive(Debug, Clone, Default)]
pub struct Besides {
    /// The first line of the commit's message.
    pub summary: String,
    /// When each requirement's command ended, in the document's order; nothing where that is not kept.
    pub finished_at: Vec<Option<Timestamp>>,
    /// The end of each failed requirement's log, in the document's order.
    pub logs: Vec<Option<Tail>>,
    /// The standards' values over the commits before.
    pub histories: Vec<StandardHistory>,
}

/// Text from outside, safe between tags and in attributes.
struct Escaped<'t>(&'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// The page.
pub fn page(document: &RunDocument, besides: &Besides) -> String {
    let commit = document.candidate.as_ref().map_or(String::new(), |candidate| candidate.commit.to_string());
    let word = if document.ok { "proven" } else { "not proven" };
    let short = commit.get(..10).unwrap_or(&commit);
    let summary = Escaped(&besides.summary);
    let place = document.candidate.as_ref().map_or(String::new(), phrase::standing_on);
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>{word}: {short} {summary}</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n<main>\n<header>\n<p class=\"verdict {class}\">{word}</p>\n<h1>{summary}</h1>\n\
         <p><code>{commit}</code>{place}</p>\n",
        class = if document.ok { "passed" } else { "failed" },
        place = Escaped(&place),
    );
    text.push_str(&facts(document));
    text.push_str("</header>\n");
    text.push_str(&requirements(document));
    text.push_str(&timeline::section(document, besides));
    text.push_str(&numbers::section(document, besides));
    text.push_str(&failures(document, besides));
    text.push_str("</main>\n</body>\n</html>\n");
    text
}

/// An instant, for people and for programs.
fn instant(at: Timestamp) -> String {
    format!("<time datetime=\"{at}\">{}</time>", phrase::instant(at))
}

/// When, by whom, with what, compared with what.
fn facts(document: &RunDocument) -> String {
    let mut facts: Vec<(&str, String)> = Vec::new();
    let text = |text: &str| Escaped(text).to_string();
    if !document.requirements.is_empty() {
        facts.push(("Verdicts", tally(&document.requirements)));
    }
    if let Some(attempt) = &document.attempt {
        let took = attempt.finished_at.map(|end| phrase::duration(between(attempt.started_at, end)));
        facts.push(("Began", instant(attempt.started_at)));
        facts.extend(took.map(|took| ("Took", took)));
        facts.push(("Attempt", format!("{} (number {})", attempt.id, attempt.generation)));
    }
    if let Some(proof) = &document.proof {
        let tools = format!("git-discern {}, git {}", proof.tool_version, proof.git_version);
        facts.push(("Checked with", text(&tools)));
        facts.push(("On", text(&format!("{}/{}", proof.platform.os, proof.platform.arch))));
        if let Some(trunk) = &proof.trunk {
            facts.push(("Compared with", text(&format!("{} at {}", trunk.name, trunk.merge_base.short()))));
        }
        facts.extend(proof.departures.iter().chain(&proof.loosened).map(|one| ("Note", text(one))));
    }
    facts.extend(document.diagnostics.iter().map(|one| ("Note", text(&one.message))));
    let rows = facts.iter().map(|(label, fact)| format!("<dt>{label}</dt><dd>{fact}</dd>\n"));
    if facts.is_empty() { String::new() } else { format!("<dl>\n{}</dl>\n", rows.collect::<String>()) }
}

/// `3 passed (2 reused), 1 failed (lint), 1 not run`; what failed leads to its log.
fn tally(reports: &[RequirementReport]) -> String {
    let count = |counts: &dyn Fn(&RequirementReport) -> bool| reports.iter().filter(|it| counts(it)).count();
    let mut parts = Vec::new();
    let reused = count(&|it| it.verdict == Standing::Passed && it.source == Some(Source::Reused));
    match (count(&|it| it.verdict == Standing::Passed), reused) {
        (0, _) => {}
        (passed, 0) => parts.push(format!("{passed} passed")),
        (passed, reused) => parts.push(format!("{passed} passed ({reused} reused)")),
    }
    let failed = reports.iter().filter(|it| it.verdict == Standing::Failed);
    let failed =
        failed.map(|it| format!("<a class=\"reason\" href=\"#{}\">{}</a>", anchor(it), Escaped(it.name.as_str())));
    let failed: Vec<String> = failed.collect();
    if !failed.is_empty() {
        parts.push(format!("{} failed ({})", failed.len(), failed.join(", ")));
    }
    for (verdict, word) in [(Standing::Cancelled, "cancelled"), (Standing::Unrun, "not run")] {
        match count(&|it| it.verdict == verdict) {
            0 => {}
            some => parts.push(format!("{some} {word}")),
        }
    }
    match count(&|it| it.flaky) {
        0 => {}
        some => parts.push(format!("{some} flaky")),
    }
    parts.join(", ")
}

fn requirements(document: &RunDocument) -> String {
    if document.requirements.is_empty() {
        return String::new();
    }
    let rows: String = document.requirements.iter().map(row).collect();
    format!(
        "<section>\n<h2>Requirements</h2>\n<table class=\"requirements\">\n<thead><tr><th scope=\"col\">Verdict</th>\
         <th scope=\"col\">Name</th><th scope=\"col\" class=\"number\">Took</th><th scope=\"col\">Where from</th>\
         <th scope=\"col\">Command</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</section>\n"
    )
}

fn row(report: &RequirementReport) -> String {
    let (_, said) = standing(report);
    let took = report.duration_ms.map_or(String::new(), phrase::duration);
    let mut marks = String::new();
    if report.flaky {
        marks.push_str(" <span class=\"mark flaky\">flaky</span>");
    }
    if report.tries > 1 {
        let _ = write!(marks, " <span class=\"mark\">try {}</span>", report.tries);
    }
    if let Some(reason) = &report.reason {
        let reason = Escaped(reason);
        let _ = match report.verdict {
            Standing::Failed => {
                write!(marks, "<br><a class=\"reason\" href=\"#{}\">{reason}</a>", anchor(report))
            }
            Standing::Passed => Ok(()),
            Standing::Cancelled | Standing::Unrun => write!(marks, "<br><span class=\"reason\">{reason}</span>"),
        };
    }
    let from = match (report.source, &report.reused_from) {
        (Some(Source::Reused), Some(from)) => {
            let (commit, at) = (from.commit.short(), instant(from.at));
            format!("<span class=\"mark reused\">reused</span> from <code>{commit}</code><br>{at}")
        }
        (Some(Source::Reused), None) => "<span class=\"mark reused\">reused</span>".to_owned(),
        (Some(Source::Ran), _) => "ran".to_owned(),
        _ => String::new(),
    };
    format!(
        "<tr><td class=\"{class}\">{said}</td><th scope=\"row\">{name}{marks}</th><td class=\"number\">{took}</td>\
         <td class=\"from\">{from}</td><td><code>{command}</code></td></tr>\n",
        class = class(report),
        name = Escaped(report.name.as_str()),
        command = Escaped(&report.command),
    )
}

/// How a verdict is coloured. The word always stands beside it.
fn class(report: &RequirementReport) -> &'static str {
    match report.verdict {
        Standing::Passed => "passed",
        Standing::Failed => "failed",
        Standing::Cancelled | Standing::Unrun => "unrun",
    }
}

/// Where the failure of a requirement stands on the page. A job and a standard never share a name.
fn anchor(report: &RequirementReport) -> String {
    format!("failed-{}", Escaped(report.name.as_str()))
}

/// What failed, with the end of what it printed.
fn failures(document: &RunDocument, besides: &Besides) -> String {
    let failed = document.requirements.iter().zip(&besides.logs).filter(|(it, _)| it.verdict == Standing::Failed);
    let items: String = failed
        .map(|(report, log)| {
            let reason = report.reason.as_deref().unwrap_or_default();
            let shown = match log {
                Some(tail) if tail.lines.is_empty() => "<p>It printed nothing.</p>\n".to_owned(),
                Some(tail) => {
                    let lines = tail.texts().map(|line| line + "\n");
                    let label = if tail.cut { "The end of its log" } else { "Its log" };
                    format!(
                        "<p>{label}:</p>\n<div class=\"log\" tabindex=\"0\"><pre>{}</pre></div>\n",
                        Escaped(&lines.collect::<String>())
                    )
                }
                None => "<p>Its log is no longer kept.</p>\n".to_owned(),
            };
            format!(
                "<h3 id=\"{}\">{}: {}</h3>\n{shown}",
                anchor(report),
                Escaped(report.name.as_str()),
                Escaped(reason)
            )
        })
        .collect();
    if items.is_empty() { items } else { format!("<section>\n<h2>Failures</h2>\n{items}</section>\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_becomes_markup() {
        let besides = Besides { summary: "<script>alert('x')</script> & \"more\"".to_owned(), ..Besides::default() };
        let page = page(&RunDocument::new("show", crate::exit::Exit::Failed), &besides);
        assert!(page.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;more&quot;"), "{page}");
        assert!(!page.contains("<script"));
    }
}
