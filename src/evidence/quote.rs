//! Text from outside (paths, answers, metric lines) as it may be shown: nothing in it moves a cursor or changes a colour.

/// `text` with its control characters written out (`\u{1b}`, `\n`).
pub(crate) fn printable(text: &str) -> String {
    let written_out = |c: char| if c.is_control() { c.escape_default().collect() } else { String::from(c) };
    text.chars().map(written_out).collect()
}
