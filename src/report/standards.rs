//! Standards as people see them: one line each, with value, limits and distance. `standards`, the Proof's page and `--pin`
//! show them alike.

use super::chart::{self, Column};
use super::line::{Line, Role};
use crate::document::{HistoryDocument, HistoryPoint, PinnedLimits, RequirementReport};
use crate::evidence::RequirementKind;
use crate::standard::Direction;

/// What there is to show of one standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'r> {
    name: &'r str,
    /// Its number; nothing where it was not measured.
    value: Option<&'r str>,
    limit: Option<&'r str>,
    trunk_limit: Option<&'r str>,
    distance: Option<&'r str>,
}

impl<'r> Row<'r> {
    /// The row of a requirement in a report; nothing for a job.
    pub fn of_report(report: &'r RequirementReport) -> Option<Self> {
        (report.kind == RequirementKind::Standard).then(|| Self {
            name: report.name.as_str(),
            value: report.value.as_deref(),
            limit: report.limit.as_deref(),
            trunk_limit: report.trunk_limit.as_deref(),
            distance: report.distance.as_deref(),
        })
    }
}

/// A line for each standard, in columns: name, value, limit (and trunk's, where it differs), distance.
pub fn table(rows: &[Row<'_>]) -> Vec<Line> {
    let value = |row: &Row<'_>| row.value.unwrap_or("no value").to_owned();
    let widest = |text: &dyn Fn(&Row<'_>) -> String| rows.iter().map(|row| text(row).len()).max().unwrap_or(0);
    let names = widest(&|row| row.name.to_owned());
    let (values, limits) = (widest(&value), widest(&limit));
    let line = |row: &Row<'_>| {
        let (role, distance) = distance(row.distance);
        Line::text("  ")
            .column(Role::Strong, row.name, names + 2)
            .column(Role::Plain, value(row), values + 2)
            .column(Role::Faint, limit(row), limits + 2)
            .with(role, distance)
    };
    rows.iter().map(line).collect()
}

fn limit(row: &Row<'_>) -> String {
    match (row.limit, row.trunk_limit) {
        (Some(limit), Some(trunk)) if trunk != limit => format!("limit {limit}, trunk's {trunk}"),
        (Some(limit), _) => format!("limit {limit}"),
        (None, _) => String::new(),
    }
}

/// A distance in words.
fn distance(text: Option<&str>) -> (Role, String) {
    match text {
        None => (Role::Plain, String::new()),
        Some(text) if text.starts_with('-') => (Role::Bad, format!("{} beyond it", &text[1..])),
        Some("0") => (Role::Good, "exactly at it".to_owned()),
        Some(text) => (Role::Good, format!("{text} to spare")),
    }
}

/// What `--pin` did: the diff, then what is left to do.
pub fn pinned(pinned: &PinnedLimits) -> Vec<Line> {
    let role = |line: &str| match line.as_bytes().first() {
        _ if line.starts_with("---") || line.starts_with("+++") => Role::Strong,
        Some(b'-') => Role::Bad,
        Some(b'+') => Role::Good,
        Some(b'@') => Role::Faint,
        _ => Role::Plain,
    };
    let mut lines: Vec<Line> = pinned.diff.lines().map(|line| Line::new().with(role(line), line)).collect();
    let count = pinned.limits.len();
    lines.push(if count == 0 {
        Line::new().with(Role::Good, "pinned").with(Role::Plain, "  nothing: no value is better than limit and margin")
    } else {
        let limits = super::phrase::count(count, "limit");
        let text = format!("  {limits} in {}; commit it: ", pinned.path);
        let command = format!("git commit {}", pinned.path);
        Line::new().with(Role::Good, "pinned").with(Role::Plain, text).with(Role::Command, command)
    });
    lines
}

/// The values of standards over time: for each a chart, oldest on the left, and a table, newest first.
pub fn history(document: &HistoryDocument, unicode: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    if document.standards.is_empty() {
        let commits = super::phrase::count(document.commits, "commit");
        lines.push(Line::text(format!("no standard on the {commits} looked at")));
    }
    for standard in &document.standards {
        if !lines.is_empty() {
            lines.push(Line::new());
        }
        let better = match standard.direction {
            Direction::Up => "at least",
            Direction::Down => "at most",
        };
        let said = format!("  {better} {}", standard.limit);
        lines.push(Line::new().with(Role::Strong, standard.name.as_str()).with(Role::Faint, said));
        let columns = standard.points.iter();
        let columns = columns.map(|it| Column { value: &it.value, limit: &it.limit, meets: it.meets });
        lines.extend(chart::chart(&columns.collect::<Vec<_>>(), unicode));
        lines.extend(points(&standard.points));
        if standard.points.is_empty() {
            let commits = super::phrase::count(document.commits, "commit");
            lines.push(Line::text(format!("  no value on the {commits} looked at")));
        }
    }
    lines
}

fn points(points: &[HistoryPoint]) -> Vec<Line> {
    let widest = |text: &dyn Fn(&HistoryPoint) -> usize| points.iter().map(text).max().unwrap_or(0) + 2;
    let (values, limits) = (widest(&|it| it.value.len()), widest(&|it| it.limit.len()));
    let distances = widest(&|it| distance(Some(&it.distance)).1.len());
    let line = |point: &HistoryPoint| {
        let (role, distance) = distance(Some(&point.distance));
        let day = point.committed_at.to_string();
        Line::text("  ")
            .with(Role::Caution, point.commit.short())
            .with(Role::Faint, format!("  {}  ", day.get(..10).unwrap_or(&day)))
            .column(Role::Plain, &point.value, values)
            .column(Role::Faint, format!("limit {}", point.limit), limits + "limit ".len())
            .column(role, distance, distances)
            .with(Role::Plain, &point.summary)
    };
    points.iter().rev().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(rows: &[Row<'_>]) -> Vec<String> {
        table(rows).iter().map(|line| line.paint(false)).collect()
    }

    #[test]
    fn each_standard_has_value_limits_and_distance_in_columns() {
        let row = Row {
            name: "coverage",
            value: Some("83.2"),
            limit: Some("82"),
            trunk_limit: Some("81.5"),
            distance: Some("1.2"),
        };
        let exact = Row {
            name: "size",
            value: Some("1048576"),
            limit: Some("1048576"),
            trunk_limit: None,
            distance: Some("0"),
        };
        let beyond =
            Row { name: "todos", value: Some("7"), limit: Some("5"), trunk_limit: Some("5"), distance: Some("-2") };
        let unknown = Row { name: "slow", value: None, limit: Some("5"), trunk_limit: None, distance: None };
        assert_eq!(
            shown(&[row, exact, beyond, unknown]),
            [
                "  coverage  83.2      limit 82, trunk's 81.5  1.2 to spare",
                "  size      1048576   limit 1048576           exactly at it",
                "  todos     7         limit 5                 2 beyond it",
                "  slow      no value  limit 5",
            ]
        );
    }
}
