//! Reading a job's output while it is written, and after.
//!
//! The log is the job's own standard output: bytes of any size, encoding and shape. Only its end is ever read, so what is
//! held in memory does not depend on what a job prints. What is shown is cleaned for a terminal; the file is left as it is.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The longest line that is shown, in characters; the rest of it is cut, and said to be.
pub const LINE_CHARS_MAX: usize = 400;

/// The columns between tab stops.
const TAB_COLUMNS: usize = 8;

/// The end of a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tail {
    /// Its last lines, oldest first, as [`display_line`] makes them.
    pub lines: Vec<String>,
    /// How many bytes of the log come before them.
    pub omitted_bytes: u64,
}

/// Follows one log. It holds no descriptor while nobody looks, so a hundred jobs cost none.
#[derive(Debug, Clone)]
pub struct LogFollower {
    path: std::path::PathBuf,
}

impl LogFollower {
    /// Follows the log at `path`, which need not exist yet.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// The last `lines` lines, from at most the last `bytes_max` bytes. Blank lines at the end don't count.
    pub fn tail(&self, lines: usize, bytes_max: usize) -> io::Result<Tail> {
        let (bytes, before) = self.end(bytes_max)?;
        Ok(tail_of(&bytes, before, lines))
    }

    /// The log's last `bytes_max` bytes, and how many come before them.
    fn end(&self, bytes_max: usize) -> io::Result<(Vec<u8>, u64)> {
        let mut file = File::open(&self.path)?;
        let size = file.metadata()?.len();
        let before = size.saturating_sub(bytes_max as u64);
        file.seek(SeekFrom::Start(before))?;
        let mut bytes = Vec::new();
        file.take(bytes_max as u64).read_to_end(&mut bytes)?;
        Ok((bytes, before))
    }
}

/// The last `lines` lines of `bytes`, which follow `before` others.
fn tail_of(bytes: &[u8], before: u64, lines: usize) -> Tail {
    let is_blank = |byte: &u8| matches!(byte, b'\n' | b'\r' | b' ' | b'\t' | 0);
    let mut first_byte = bytes.iter().rposition(|byte| !is_blank(byte)).map_or(0, |at| at + 1);
    // Where the next line up ends; none after the first one.
    let mut end = (first_byte > 0).then_some(first_byte);
    let mut found = Vec::new();
    while let Some(line_end) = end.filter(|_| found.len() < lines) {
        let newline = bytes[..line_end].iter().rposition(|&byte| byte == b'\n');
        first_byte = newline.map_or(0, |at| at + 1);
        let line = display_line(&bytes[first_byte..line_end]);
        // The beginning of this one may lie outside what was read.
        let is_cut = newline.is_none() && before > 0;
        found.push(if is_cut { format!("…{line}") } else { line });
        end = newline;
    }
    found.reverse();
    Tail { lines: found, omitted_bytes: before + first_byte as u64 }
}

/// One line of output as a terminal would show it in the end: what stands after the last carriage return, without escape
/// sequences and control characters, tabs as spaces, bytes that are no UTF-8 as `\u{fffd}`, and at most
/// [`LINE_CHARS_MAX`] characters, with the mark `… (N bytes)` where it was longer.
pub fn display_line(raw: &[u8]) -> String {
    let raw = raw.trim_ascii_end();
    let shown = raw.rsplit(|&byte| byte == b'\r').next().unwrap_or_default();
    // A few bytes for each character are more than enough, whatever the line's size.
    let looked_at = &shown[..shown.len().min(LINE_CHARS_MAX * 16)];
    let text = String::from_utf8_lossy(looked_at);
    let mut line = String::new();
    let mut columns = 0;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => skip_escape(&mut characters),
            '\u{9b}' => skip_until_final(&mut characters),
            '\t' => {
                let width = TAB_COLUMNS - columns % TAB_COLUMNS;
                line.extend(std::iter::repeat_n(' ', width));
                columns += width;
            }
            other if other.is_control() => {}
            other => {
                line.push(other);
                columns += 1;
            }
        }
        if columns >= LINE_CHARS_MAX {
            break;
        }
    }
    if looked_at.len() < shown.len() || characters.next().is_some() {
        line = line.chars().take(LINE_CHARS_MAX).collect();
        line.push_str(&format!("… ({} bytes)", raw.len()));
    }
    line
}

/// Skips what follows an escape character (ECMA-48): a control sequence, a string up to its terminator, or one character.
fn skip_escape(characters: &mut std::str::Chars<'_>) {
    match characters.next() {
        Some('[') => skip_until_final(characters),
        // Operating system command (titles, links), device control, and their kin.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(character) = characters.next() {
                if character == '\u{7}' || (character == '\u{1b}' && characters.next() == Some('\\')) {
                    break;
                }
            }
        }
        // A character set is chosen by one more.
        Some('(' | ')' | '*' | '+' | '#' | '%' | ' ') => _ = characters.next(),
        _ => {}
    }
}

fn skip_until_final(characters: &mut std::str::Chars<'_>) {
    let _ = characters.find(|character| ('@'..='~').contains(character));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn lines(bytes: &[u8], count: usize) -> Vec<String> {
        tail_of(bytes, 0, count).lines
    }

    #[test]
    fn the_last_lines_are_found_with_and_without_a_final_newline() {
        assert_eq!(lines(b"a\nb\nc\n", 2), ["b", "c"]);
        assert_eq!(lines(b"a\nb\nc", 2), ["b", "c"]);
        assert_eq!(lines(b"a\n\nc\n\n\n", 9), ["a", "", "c"]);
        assert_eq!(lines(b"\n\nc", 9), ["", "", "c"]);
        assert!(lines(b"", 3).is_empty());
        assert!(lines(b"\n\n", 3).is_empty());
        assert!(lines(b"a", 0).is_empty());
    }

    #[test]
    fn what_was_left_out_is_counted() {
        assert_eq!(tail_of(b"a\nb\nc\n", 0, 1).omitted_bytes, 4);
        assert_eq!(tail_of(b"a\nb\n", 0, 5).omitted_bytes, 0);
        let cut = tail_of(b"rest\nb\n", 1000, 5);
        assert_eq!((cut.lines, cut.omitted_bytes), (vec!["…rest".to_owned(), "b".to_owned()], 1000));
    }

    #[test]
    fn a_line_is_shown_as_a_terminal_would_leave_it() {
        assert_eq!(display_line(b"10%\r50%\r100%\r"), "100%");
        assert_eq!(display_line(b"\x1b[1;31merror\x1b[0m: x\x1b[K"), "error: x");
        assert_eq!(display_line(b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x07 \x1b(Bend"), "link end");
        assert_eq!(display_line(b"a\tb\0\x08c\x7f"), "a       bc");
        assert_eq!(display_line(b"\xfcber"), "\u{fffd}ber");
        assert_eq!(display_line("naïve ☃".as_bytes()), "naïve ☃");
        assert_eq!(display_line(b"\x1b["), "");
    }

    #[test]
    fn a_long_line_is_cut_with_a_mark() {
        let shown = display_line(&vec![b'x'; 10_000_000]);
        assert!(shown.starts_with("xxx") && shown.ends_with("… (10000000 bytes)"), "{shown}");
        assert!(shown.chars().count() < LINE_CHARS_MAX + 30);
        assert_eq!(display_line("é".repeat(LINE_CHARS_MAX).as_bytes()), "é".repeat(LINE_CHARS_MAX));
    }

    #[test]
    fn only_the_end_of_a_file_is_read() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 40).unwrap();
        file.as_file_mut().seek(SeekFrom::End(0)).unwrap();
        file.write_all(b"\nthe end\n").unwrap();
        let follower = LogFollower::new(file.path());
        let tail = follower.tail(1, 4096).unwrap();
        assert_eq!((tail.lines, tail.omitted_bytes), (vec!["the end".to_owned()], (1 << 40) + 1));
    }
}
