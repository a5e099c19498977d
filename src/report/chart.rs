//! A small chart of numbers over time, for the terminal. For looking only: drawn with rounded numbers.

use super::line::{Line, Role};

/// How many rows a chart has.
const ROWS: usize = 7;
/// How many columns, at most: the newest points are drawn.
const COLUMNS_MAX: usize = 60;

/// What is drawn in one column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column<'c> {
    /// The value, a decimal.
    pub value: &'c str,
    /// The limit that it was held against, a decimal.
    pub limit: &'c str,
    /// Whether it meets it.
    pub meets: bool,
}

/// The rows of a chart, oldest column first; none where there is nothing that could be compared by eye.
///
/// Values stand as dots (as crosses where they miss their limit), limits as a line. All values and the newest limit fit;
/// a limit beyond them is not drawn, so that one that was loose long ago flattens nothing. Without `unicode` only ASCII is used.
pub fn chart(columns: &[Column<'_>], unicode: bool) -> Vec<Line> {
    let columns = &columns[columns.len().saturating_sub(COLUMNS_MAX)..];
    let newest_limit = columns.last().map(|column| column.limit);
    let shown = columns.iter().map(|column| column.value).chain(newest_limit);
    let shown: Option<Vec<(f64, &str)>> = shown.map(|text| Some((finite(text)?, text))).collect();
    let Some(shown) = shown.filter(|_| columns.len() > 1) else { return Vec::new() };
    let by_size = |one: &&(f64, &str), other: &&(f64, &str)| one.0.total_cmp(&other.0);
    let (Some(&(low, least)), Some(&(high, most))) = (shown.iter().min_by(by_size), shown.iter().max_by(by_size))
    else {
        return Vec::new();
    };
    let row_of = |text: &str| {
        let number = finite(text).filter(|number| (low..=high).contains(number))?;
        let part = if high > low { (number - low) / (high - low) } else { 0.0 };
        Some((part * (ROWS - 1) as f64).round() as usize)
    };
    let rows = if high > low { ROWS } else { 1 };
    let label_columns = most.len().max(least.len());
    let draw = |row: usize| {
        let label = match row {
            _ if row + 1 == rows => most,
            0 => least,
            _ => "",
        };
        let blanks = label_columns - label.len();
        let axis = if unicode { " │" } else { " |" };
        let line = Line::text("  ").with(Role::Faint, format!("{}{label}{axis}", " ".repeat(blanks)));
        columns.iter().fold(line, |line, column| {
            let is_here = |text: &str| row_of(text) == Some(row);
            let (role, mark) = mark(*column, is_here(column.value), is_here(column.limit), unicode);
            line.with(role, mark)
        })
    };
    (0..rows).rev().map(draw).collect()
}

fn mark(column: Column<'_>, value: bool, limit: bool, unicode: bool) -> (Role, &'static str) {
    match (value, column.meets, limit) {
        (true, true, _) => (Role::Good, if unicode { "●" } else { "o" }),
        (true, false, _) => (Role::Bad, if unicode { "×" } else { "x" }),
        (false, _, true) => (Role::Faint, if unicode { "─" } else { "-" }),
        (false, _, false) => (Role::Plain, " "),
    }
}

fn finite(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(columns: &[Column<'_>], unicode: bool) -> Vec<String> {
        chart(columns, unicode).iter().map(|line| line.paint(false)).collect()
    }

    fn column<'c>(value: &'c str, limit: &'c str) -> Column<'c> {
        let number = |text: &str| text.parse::<f64>().expect("a number");
        Column { value, limit, meets: number(value) >= number(limit) }
    }

    #[test]
    fn values_are_dots_limits_a_line_and_misses_crosses() {
        let columns = [column("80", "80"), column("83", "80"), column("81", "82"), column("86", "82")];
        assert_eq!(
            drawn(&columns, true),
            ["  86 │   ●", "     │", "     │", "     │ ●", "     │  ──", "     │  ×", "  80 │●─"]
        );
        assert_eq!(drawn(&columns, false)[3..], ["     | o", "     |  --", "     |  x", "  80 |o-"]);
    }

    #[test]
    fn a_limit_that_was_loose_long_ago_flattens_nothing() {
        let columns = [column("80", "5"), column("83", "80"), column("86", "80")];
        assert_eq!(drawn(&columns, false)[6], "  80 |o--");
        assert_eq!(drawn(&columns, false)[0], "  86 |  o");
    }

    #[test]
    fn equal_numbers_are_one_row() {
        assert_eq!(drawn(&[column("5", "5"), column("5.0", "5")], true), ["  5 │●●"]);
    }

    #[test]
    fn the_newest_columns_are_drawn_and_one_point_is_no_chart() {
        let many = vec![column("1", "1"); 100];
        assert_eq!(drawn(&many, false)[0].matches('o').count(), COLUMNS_MAX);
        assert_eq!(drawn(&many[..1], false), Vec::<String>::new());
        assert_eq!(drawn(&[column("1e400", "1"), column("2", "1")], true), Vec::<String>::new());
    }
}
