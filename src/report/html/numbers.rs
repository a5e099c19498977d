//! The standards: each one's number with its limits, and its values over the commits before, as a chart and as a table.

use std::fmt::Write as _;

use super::{Besides, Escaped, class};
use crate::document::{HistoryPoint, RequirementReport, RunDocument, StandardHistory};
use crate::report::show::number;
use crate::report::story::standing;

/// The drawing surface of a chart, in units of the picture.
const WIDTH: f64 = 640.0;
/// Its height.
const HEIGHT: f64 = 140.0;
/// Room for the numbers at its right edge.
const RIGHT: f64 = 96.0;
/// Room above and below.
const MARGIN: f64 = 14.0;

/// One part for each standard that was read.
pub(super) fn section(document: &RunDocument, besides: &Besides) -> String {
    let read = document.requirements.iter().filter_map(|report| report.value.as_ref().map(|value| (report, value)));
    let items: String = read.map(|(report, value)| one(report, value, besides)).collect();
    if items.is_empty() { items } else { format!("<section>\n<h2>Standards</h2>\n{items}</section>\n") }
}

fn one(report: &RequirementReport, value: &str, besides: &Besides) -> String {
    let history = besides.histories.iter().find(|history| history.name == report.name);
    let (_, said) = standing(report);
    format!(
        "<h3>{name} <span class=\"{class}\">{said}</span></h3>\n<p>{number}</p>\n{history}",
        name = Escaped(report.name.as_str()),
        class = class(report),
        number = Escaped(&number(value, report)),
        history = history.map_or(String::new(), |history| format!("{}{}", chart(history), table(history))),
    )
}

/// A number to draw with. For looking only: what decides is exact.
fn drawn(number: &str) -> Option<f64> {
    number.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// The values, oldest first, with the limit that each commit wrote as a line of its own.
fn chart(history: &StandardHistory) -> String {
    let read = |point: &HistoryPoint| Some((drawn(&point.value)?, drawn(&point.limit)?));
    let Some(points) = history.points.iter().map(read).collect::<Option<Vec<(f64, f64)>>>() else {
        return String::new();
    };
    let [.., (newest, newest_limit)] = points[..] else { return String::new() };
    if points.len() < 2 {
        return String::new();
    }
    let all = || points.iter().flat_map(|(value, limit)| [*value, *limit]);
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    let span = if high > low { high - low } else { 1.0 };
    let y = |value: f64| HEIGHT - MARGIN - (value - low) / span * (HEIGHT - 2.0 * MARGIN);
    let x = |at: usize| MARGIN + at as f64 / (points.len() - 1) as f64 * (WIDTH - RIGHT - MARGIN);
    let line = |of: &dyn Fn(&(f64, f64)) -> f64| {
        let places = points.iter().enumerate().map(|(at, point)| format!("{:.1},{:.1}", x(at), y(of(point))));
        places.collect::<Vec<String>>().join(" ")
    };
    let mut dots = String::new();
    for (at, (point, (value, _))) in history.points.iter().zip(&points).enumerate() {
        let title = format!("{} on {} {}", point.value, point.commit.short(), point.summary);
        let class = if point.meets { "" } else { " class=\"miss\"" };
        let _ = write!(
            dots,
            "<circle{class} cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\"><title>{}</title></circle>",
            x(at),
            y(*value),
            Escaped(&title)
        );
    }
    let (value_y, limit_y) = apart(y(newest), y(newest_limit));
    let newest = history.points.last().map_or("", |point| &point.value);
    let limit = history.points.last().map_or("", |point| &point.limit);
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{label}\"><polyline class=\"limit\" \
         points=\"{limits}\"/><polyline points=\"{values}\"/>{dots}<text x=\"{text:.0}\" y=\"{value_y:.1}\">{newest}</text>\
         <text class=\"limit\" x=\"{text:.0}\" y=\"{limit_y:.1}\">limit {limit}</text></svg>\n",
        label = Escaped(&format!(
            "chart of {} over {} commits, oldest first; the table has the numbers",
            history.name,
            points.len()
        )),
        limits = line(&|point| point.1),
        values = line(&|point| point.0),
        text = WIDTH - RIGHT + 10.0,
        newest = Escaped(newest),
        limit = Escaped(limit),
    )
}

/// Where two labels stand so that neither covers the other.
fn apart(one: f64, other: f64) -> (f64, f64) {
    const LINE: f64 = 16.0;
    let missing = (LINE - (one - other).abs()).max(0.0) / 2.0;
    let (one, other) = if one <= other { (one - missing, other + missing) } else { (one + missing, other - missing) };
    // A line of text stands on its bottom edge.
    (one + LINE / 4.0, other + LINE / 4.0)
}

fn table(history: &StandardHistory) -> String {
    let mut rows = String::new();
    for point in history.points.iter().rev() {
        let (class, said) = if point.meets { ("passed", "meets it") } else { ("failed", "misses it") };
        let _ = writeln!(
            rows,
            "<tr><td><code>{commit}</code></td><td class=\"number\">{value}</td><td class=\"number\">{limit}</td>\
             <td class=\"{class}\">{said}</td><td>{summary}</td></tr>",
            commit = point.commit.short(),
            value = Escaped(&point.value),
            limit = Escaped(&point.limit),
            summary = Escaped(&point.summary),
        );
    }
    if rows.is_empty() {
        return rows;
    }
    format!(
        "<details>\n<summary>{count}</summary>\n<table>\n<thead><tr><th scope=\"col\">Commit</th><th scope=\"col\" \
         class=\"number\">Value</th><th scope=\"col\" class=\"number\">Limit</th><th scope=\"col\">Against it</th>\
         <th scope=\"col\">Message</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</details>\n",
        count = match history.points.len() {
            1 => "Measured on one commit so far".to_owned(),
            more => format!("The values on the last {more} measured commits"),
        },
    )
}
