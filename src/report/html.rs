//! The page of `show --html`: one file that needs nothing else, in light and dark, readable without scripts.
//!
//! Pure: what is shown comes in, text goes out. Everything from outside passes through [`Escaped`].

use std::fmt::{self, Write as _};

use super::show::number;
use super::story::{between, standing};
use super::{phrase, tail};
use crate::document::{RequirementReport, RunDocument, Source, StandardHistory, Standing};
use crate::time::Timestamp;

/// The style: system colours follow light and dark by themselves.
const STYLE: &str = include_str!("show.css");

/// The drawing surface of a history chart, in units of the picture.
const CHART_WIDTH: f64 = 320.0;
/// Its height.
const CHART_HEIGHT: f64 = 72.0;

/// What the page shows besides the document.
#[derive(Debug, Clone, Default)]
pub struct Besides {
    /// The first line of the commit's message.
    pub summary: String,
    /// When each requirement's command ended, in the document's order; nothing where that is not kept.
    pub finished_at: Vec<Option<Timestamp>>,
    /// The end of each failed requirement's log, in the document's order.
    pub logs: Vec<Option<tail::Tail>>,
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
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>{short} {word}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<main>\n<header>\n<p class=\"verdict {class}\">{word}</p>\n<h1>{summary}</h1>\n<p><code>{commit}</code>{place}</p>\n",
        class = if document.ok { "passed" } else { "failed" },
        summary = Escaped(&besides.summary),
        place = document.candidate.as_ref().map_or(String::new(), |it| Escaped(&phrase::standing_on(it)).to_string()),
    );
    text.push_str(&facts(document));
    text.push_str("</header>\n");
    text.push_str(&requirements(document));
    text.push_str(&timeline(document, besides));
    text.push_str(&standards(document, besides));
    text.push_str(&failures(document, besides));
    text.push_str("</main>\n</body>\n</html>\n");
    text
}

/// When, by whom, with what, compared with what.
fn facts(document: &RunDocument) -> String {
    let mut facts: Vec<(&str, String)> = Vec::new();
    if let Some(attempt) = &document.attempt {
        let took = attempt.finished_at.map(|end| phrase::duration(between(attempt.started_at, end)));
        facts.push(("Began", attempt.started_at.to_string()));
        facts.extend(took.map(|took| ("Took", took)));
        facts.push(("Attempt", format!("{} (number {})", attempt.id, attempt.generation)));
    }
    if let Some(proof) = &document.proof {
        facts.push(("Checked with", format!("git-discern {}, {}", proof.tool_version, proof.git_version)));
        facts.push(("On", format!("{}/{}", proof.platform.os, proof.platform.arch)));
        if let Some(trunk) = &proof.trunk {
            facts.push(("Compared with", format!("{} at {}", trunk.name, trunk.merge_base.short())));
        }
        facts.extend(proof.departures.iter().chain(&proof.loosened).map(|one| ("Note", one.clone())));
    }
    facts.extend(document.diagnostics.iter().map(|one| ("Note", one.message.clone())));
    let rows = facts.iter().map(|(label, fact)| format!("<dt>{label}</dt><dd>{}</dd>\n", Escaped(fact)));
    format!("<dl>\n{}</dl>\n", rows.collect::<String>())
}

fn requirements(document: &RunDocument) -> String {
    let rows: String = document.requirements.iter().map(row).collect();
    format!(
        "<section>\n<h2>Requirements</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>Verdict</th><th>Name</th>\
         <th>Took</th><th>Where from</th><th>Command</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n</section>\n"
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
    let from = match (report.source, &report.reused_from) {
        (Some(Source::Reused), Some(from)) => {
            format!("<span class=\"mark reused\">reused</span> from <code>{}</code>, {}", from.commit.short(), from.at)
        }
        (Some(Source::Ran), _) => "ran".to_owned(),
        _ => String::new(),
    };
    format!(
        "<tr><td class=\"{class}\">{said}</td><th scope=\"row\">{name}{marks}</th><td class=\"number\">{took}</td>\
         <td>{from}</td><td><code>{command}</code></td></tr>\n",
        class = if report.verdict == Standing::Passed { "passed" } else { "failed" },
        name = Escaped(report.name.as_str()),
        command = Escaped(&report.command),
    )
}

/// What ran beside what: one bar for each command that ran in this attempt. Reused verdicts took no time.
fn timeline(document: &RunDocument, besides: &Besides) -> String {
    let ran: Vec<(&RequirementReport, i64, i64)> = document
        .requirements
        .iter()
        .zip(&besides.finished_at)
        .filter(|(report, _)| report.source == Some(Source::Ran) || report.verdict == Standing::Failed)
        .filter_map(|(report, end)| {
            let (end, took) = ((*end)?.as_millis(), i64::try_from(report.duration_ms?).ok()?);
            Some((report, end - took, end))
        })
        .collect();
    let began = document.attempt.as_ref().map(|attempt| attempt.started_at.as_millis());
    let (Some(first), Some(last)) = (ran.iter().map(|one| one.1).chain(began).min(), ran.iter().map(|one| one.2).max())
    else {
        return String::new();
    };
    let whole = (last - first).max(1) as f64;
    let bars: String = ran
        .iter()
        .map(|(report, start, end)| {
            let (left, width) = ((start - first) as f64 / whole * 100.0, (end - start) as f64 / whole * 100.0);
            let from = phrase::duration(u64::try_from(start - first).unwrap_or(0));
            let took = phrase::duration(u64::try_from(end - start).unwrap_or(0));
            format!(
                "<li><span class=\"name\">{name}</span><span class=\"lane\"><span class=\"bar {class}\" \
                 style=\"left:{left:.2}%;width:{width:.2}%\" title=\"from {from}, for {took}\"></span></span>\
                 <span class=\"took\">{took}</span></li>\n",
                name = Escaped(report.name.as_str()),
                class = if report.verdict == Standing::Passed { "passed" } else { "failed" },
            )
        })
        .collect();
    let span = phrase::duration(u64::try_from(last - first).unwrap_or(0));
    format!("<section>\n<h2>Timeline, {span}</h2>\n<ol class=\"timeline\">\n{bars}</ol>\n</section>\n")
}

fn standards(document: &RunDocument, besides: &Besides) -> String {
    let items: String = document
        .requirements
        .iter()
        .filter_map(|report| {
            let value = report.value.as_ref()?;
            let history = besides.histories.iter().find(|history| history.name == report.name);
            let chart = history.map_or(String::new(), chart);
            Some(format!(
                "<li><b>{}</b> {}{chart}</li>\n",
                Escaped(report.name.as_str()),
                Escaped(&number(value, report))
            ))
        })
        .collect();
    if items.is_empty() {
        return items;
    }
    format!("<section>\n<h2>Standards</h2>\n<ul class=\"standards\">\n{items}</ul>\n</section>\n")
}

/// The values of the commits before, oldest first, with the limit as a line. For looking only: drawn with rounded numbers.
fn chart(history: &StandardHistory) -> String {
    let values: Vec<f64> = history.points.iter().filter_map(|point| point.value.parse().ok()).collect();
    let limit: Option<f64> = history.limit.parse().ok();
    let all = || values.iter().copied().chain(limit).filter(|value| value.is_finite());
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    if values.len() < 2 || values.len() != history.points.len() || !(high - low).is_finite() {
        return String::new();
    }
    let span = if high > low { high - low } else { 1.0 };
    let y = |value: f64| CHART_HEIGHT - 6.0 - (value - low) / span * (CHART_HEIGHT - 12.0);
    let x = |at: usize| 6.0 + at as f64 / (values.len() - 1) as f64 * (CHART_WIDTH - 12.0);
    let points: Vec<String> =
        values.iter().enumerate().map(|(at, value)| format!("{:.1},{:.1}", x(at), y(*value))).collect();
    let dots: String = values
        .iter()
        .zip(&history.points)
        .enumerate()
        .map(|(at, (value, point))| {
            let title = format!("{} on {} {}", point.value, point.commit.short(), point.summary);
            format!(
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\"><title>{}</title></circle>",
                x(at),
                y(*value),
                Escaped(&title)
            )
        })
        .collect();
    let line = limit.map_or(String::new(), |limit| {
        let y = y(limit);
        format!("<line class=\"limit\" x1=\"0\" y1=\"{y:.1}\" x2=\"{CHART_WIDTH}\" y2=\"{y:.1}\"/>")
    });
    format!(
        "<svg viewBox=\"0 0 {CHART_WIDTH} {CHART_HEIGHT}\" role=\"img\" aria-label=\"{label}\">{line}<polyline \
         points=\"{points}\"/>{dots}</svg>",
        label = Escaped(&format!("{} values of {}, limit {}", values.len(), history.name, history.limit)),
        points = points.join(" "),
    )
}

/// What failed, with the end of what it printed.
fn failures(document: &RunDocument, besides: &Besides) -> String {
    let failed = document.requirements.iter().zip(&besides.logs).filter(|(it, _)| it.verdict == Standing::Failed);
    let items: String = failed
        .map(|(report, log)| {
            let reason = report.reason.as_deref().unwrap_or_default();
            let shown = match log {
                Some(tail) => {
                    let lines = tail.lines.iter().map(|line| String::from_utf8_lossy(line).into_owned() + "\n");
                    let cut = if tail.cut { "<p>The end of its log:</p>\n" } else { "" };
                    format!("{cut}<pre>{}</pre>\n", Escaped(&lines.collect::<String>()))
                }
                None => "<p>Its log is no longer kept.</p>\n".to_owned(),
            };
            format!("<h3>{}: {}</h3>\n{shown}", Escaped(report.name.as_str()), Escaped(reason))
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
