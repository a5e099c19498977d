//! The end of a job's log, bounded and made safe for a terminal, while it is written and after.
//!
//! A log is what the job printed, byte for byte, of any size, encoding and shape. Only its end is read, so that what is held
//! in memory does not depend on it. What moves the cursor or talks to the terminal is taken out of what is shown; bytes that
//! are no UTF-8 stay as they are.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// How much of a log's end is read to show its last lines, in bytes.
const TAIL_BYTES_MAX: u64 = 32 * 1024;
/// How much of it is read to show its very last line.
const GLIMPSE_BYTES_MAX: u64 = 1024;
/// A longer line is cut, in bytes.
const LINE_BYTES_MAX: usize = 2000;

/// The last lines of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tail {
    /// The lines, safe to show.
    pub lines: Vec<Vec<u8>>,
    /// Something came before them.
    pub cut: bool,
}

impl Tail {
    /// The lines as text, in which what is no UTF-8 is marked.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.lines.iter().map(|line| String::from_utf8_lossy(line).into_owned())
    }
}

/// The last `count` lines of the file at `path`. Blank ones at the end say nothing and don't count.
///
/// # Errors
/// It can't be read.
pub fn last_lines(path: &Path, count: usize) -> io::Result<Tail> {
    let (bytes, mut cut) = end_of(path, TAIL_BYTES_MAX)?;
    let bytes = if cut { after_first_line(&bytes) } else { &bytes };
    let bytes = bytes.trim_ascii_end();
    if bytes.is_empty() {
        return Ok(Tail { lines: Vec::new(), cut });
    }
    let all: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    let first = all.len().saturating_sub(count);
    cut |= first > 0;
    Ok(Tail { lines: all[first..].iter().map(|line| shown(line)).collect(), cut })
}

/// The last line with something in it that the file at `path` holds, for a live view.
pub fn last_line(path: &Path) -> Option<String> {
    let (bytes, _) = end_of(path, GLIMPSE_BYTES_MAX).ok()?;
    let lines = bytes.rsplit(|&byte| byte == b'\n').map(shown);
    let text = lines.map(|line| String::from_utf8_lossy(&line).trim().to_owned()).find(|line| !line.is_empty())?;
    Some(text)
}

/// The last `limit` bytes of a file, and whether something comes before them.
fn end_of(path: &Path, limit: u64) -> io::Result<(Vec<u8>, bool)> {
    let mut file = File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(limit);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok((bytes, start > 0))
}

/// What comes after the first line, which is not whole; all of it where there is only one.
fn after_first_line(bytes: &[u8]) -> &[u8] {
    match bytes.iter().position(|&byte| byte == b'\n') {
        Some(at) if at + 1 < bytes.len() => &bytes[at + 1..],
        _ => bytes,
    }
}

/// A line as it would stand on a terminal after it was printed: the last state of a line that was redrawn with carriage
/// returns, without escape sequences and control characters, cut if it is too long.
pub fn shown(line: &[u8]) -> Vec<u8> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = line.rsplit(|&byte| byte == b'\r').next().unwrap_or(line);
    let mut kept = Vec::with_capacity(line.len().min(LINE_BYTES_MAX));
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        if kept.len() >= LINE_BYTES_MAX {
            kept.extend_from_slice(b" [...]");
            break;
        }
        rest = match byte {
            0x1b => after_escape(after),
            // A C1 control in UTF-8. Some terminals read U+009B as ESC [.
            0xc2 if after.first() == Some(&0x9b) => after_parameters(&after[1..]),
            0xc2 if after.first().is_some_and(|next| (0x80..0xa0).contains(next)) => &after[1..],
            b'\t' | 0x20..=0x7e | 0x80.. => {
                kept.push(byte);
                after
            }
            _ => after,
        };
    }
    kept
}

/// What follows an escape sequence (ECMA-48) whose ESC was just read.
fn after_escape(bytes: &[u8]) -> &[u8] {
    match bytes.split_first() {
        Some((b'[', parameters)) => after_parameters(parameters),
        // Operating system command (titles, links), device control and their kin: up to BEL or ESC \.
        Some((b']' | b'P' | b'_' | b'^' | b'X', text)) => {
            let end = text.iter().position(|&byte| byte == 0x07 || byte == 0x1b);
            match end {
                Some(end) if text[end] == 0x07 => &text[end + 1..],
                Some(end) => text.get(end + 2..).unwrap_or(&[]),
                None => &[],
            }
        }
        // `tput sgr0` chooses a character set: some of these, then one more.
        Some((0x20..=0x2f, _)) => {
            let end = bytes.iter().position(|byte| !(0x20..=0x2f).contains(byte));
            end.map_or(&[], |end| &bytes[end + 1..])
        }
        Some((_, after)) => after,
        None => &[],
    }
}

/// What follows a control sequence's parameters and the one final byte after them.
fn after_parameters(parameters: &[u8]) -> &[u8] {
    let end = parameters.iter().position(|byte| (0x40..=0x7e).contains(byte));
    end.map_or(&[], |end| &parameters[end + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &[u8]) -> String {
        String::from_utf8_lossy(&shown(line)).into_owned()
    }

    #[test]
    fn escape_sequences_and_redrawn_states_are_not_shown() {
        assert_eq!(text(b"\x1b[31;1mred\x1b[0m and \x1b]0;title\x07more\x1b]8;;x\x1b\\link"), "red and morelink");
        assert_eq!(text(b" 10%\r 50%\r100%"), "100%");
        assert_eq!(text(b"dos\r"), "dos");
        assert_eq!(text("a\0b\u{9b}2Jc\td\u{85}e".as_bytes()), "abc\tde");
        assert_eq!(text(b"\x1b[1mbold\x1b(B\x1b[m and\x1b"), "bold and");
        assert_eq!(text(b"\x1b["), "");
    }

    #[test]
    fn blank_lines_at_the_end_push_nothing_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        for (log, last) in [("a\n\nc\n\n \n\n", vec!["", "c"]), ("a\nb\nc", vec!["b", "c"]), ("\n\n", vec![])] {
            std::fs::write(&path, log).expect("a log");
            let tail = last_lines(&path, 2).expect("it is readable");
            assert_eq!(tail.texts().collect::<Vec<_>>(), last, "{log:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_utf_8_are_kept() {
        assert_eq!(shown(b"\xfcber"), b"\xfcber");
    }

    #[test]
    fn only_the_end_of_a_long_log_is_shown_and_said_to_be_cut() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        std::fs::write(&path, "x\n".repeat(100_000) + "last without an end").expect("a log");
        let tail = last_lines(&path, 3).expect("it is readable");
        assert_eq!(tail, Tail { lines: vec![b"x".into(), b"x".into(), b"last without an end".into()], cut: true });
        std::fs::write(&path, vec![b'y'; 1_000_000]).expect("a log");
        let tail = last_lines(&path, 3).expect("it is readable");
        assert!(tail.cut && tail.lines.len() == 1 && tail.lines[0].len() < 2100);
        std::fs::write(&path, "").expect("a log");
        assert_eq!(last_lines(&path, 3).expect("it is readable"), Tail::default());
    }
}
