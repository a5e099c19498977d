//! One file of the ledger: sorted JSON lines, each with a key.

use bstr::{ByteSlice as _, Finder};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::FoundReceipts;
use super::outcome::OutcomeEntry;
use crate::evidence::format::{self, Unreadable};
use crate::evidence::{Receipt, RequirementKind};
use crate::id::{AttemptId, CommitId, Name, Subject};
use crate::time::Timestamp;

/// The folder of outcomes.
pub(super) const OUTCOME: &str = "outcome";
/// The folder of receipts.
pub(super) const RECEIPT: &str = "receipt";
/// The folder of pointers to the newest receipts of each name.
pub(super) const RECENT: &str = "recent";

/// The version of an outcome's line.
const OUTCOME_VERSION: u32 = 1;

/// Where a shard is: a folder, then two steps of six bits, each written as two octal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ShardPath {
    pub(super) folder: &'static str,
    pub(super) first: String,
    pub(super) second: String,
}

impl ShardPath {
    pub(super) fn outcome(commit: &CommitId) -> Self {
        Self::chosen_by(OUTCOME, commit.to_string().as_bytes())
    }

    pub(super) fn receipt(subject: &Subject) -> Self {
        Self::chosen_by(RECEIPT, subject.to_string().as_bytes())
    }

    pub(super) fn recent(kind: RequirementKind, name: &Name) -> Self {
        Self::chosen_by(RECENT, format!("{kind:?} {name}").as_bytes())
    }

    fn chosen_by(folder: &'static str, key: &[u8]) -> Self {
        let digest = Sha256::digest(key);
        let bits = u16::from_be_bytes([digest[0], digest[1]]) >> 4;
        Self { folder, first: format!("{:02o}", bits >> 6), second: format!("{:02o}", bits & 0o77) }
    }
}

/// One line with the key that it is found by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    key: String,
    /// As it is stored: what is not ours to read is kept byte for byte.
    text: Vec<u8>,
}

/// The stored lines that hold `text`, without looking at the others one by one: a shard grows with the ledger.
pub(super) fn lines_with<'s>(shard: &'s [u8], text: &str) -> impl Iterator<Item = &'s [u8]> {
    let finder = Finder::new(text.as_bytes()).into_owned();
    let mut rest = shard;
    std::iter::from_fn(move || {
        let at = finder.find(rest)?;
        let begin = rest[..at].rfind_byte(b'\n').map_or(0, |end| end + 1);
        let end = rest[at..].find_byte(b'\n').map_or(rest.len(), |length| at + length);
        let line = &rest[begin..end];
        rest = &rest[end..];
        Some(line)
    })
}

/// The stored lines, each without its end; what is empty is none.
pub(super) fn lines(shard: &[u8]) -> impl Iterator<Item = &[u8]> {
    shard.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// Every receipt in `lines` that can be read.
pub(super) fn receipts<'s>(lines: impl Iterator<Item = &'s [u8]>) -> FoundReceipts {
    let mut found = FoundReceipts::default();
    for line in lines {
        match Receipt::from_line(line) {
            Ok(receipt) => found.receipts.push(receipt),
            Err(error) => {
                found.newer |= matches!(error, Unreadable::Newer { .. });
                found.warnings.push(format!("a receipt can't be read: {error}"));
            }
        }
    }
    found
}

/// The outcome in a stored line.
///
/// # Errors
/// It is damaged, or newer than this version.
pub(super) fn outcome(line: &[u8]) -> Result<OutcomeEntry, Unreadable> {
    format::from_line(OUTCOME_VERSION, line)
}

/// The key of an outcome's line.
pub(super) fn outcome_key(commit: &CommitId, generation: u32) -> String {
    format!("{commit} {generation:010}")
}

/// The key of a receipt's line. Requirements of one subject in one attempt share it, but for their kind and name.
pub(super) fn receipt_key(subject: &Subject, attempt: AttemptId) -> String {
    format!("{subject} {attempt}")
}

#[derive(Deserialize)]
struct OutcomeKey {
    commit: CommitId,
    generation: u32,
}

#[derive(Deserialize)]
struct ReceiptKey {
    subject: Subject,
    attempt: AttemptId,
    kind: RequirementKind,
    name: Name,
}

impl Line {
    pub(super) fn outcome(outcome: &OutcomeEntry) -> Result<Self, serde_json::Error> {
        let text = format::to_line(OUTCOME_VERSION, outcome)?.into_bytes();
        Ok(Self { key: outcome_key(&outcome.commit, outcome.generation), text })
    }

    pub(super) fn receipt(receipt: &Receipt) -> Result<Self, serde_json::Error> {
        let key = receipt_key(&receipt.subject, receipt.attempt);
        Ok(Self { key: format!("{key} {:?} {}", receipt.kind, receipt.name), text: receipt.to_line()?.into_bytes() })
    }

    /// A stored line, whichever it is; one without a key of ours keeps itself as its key.
    fn stored(text: &[u8]) -> Self {
        let outcome = || serde_json::from_slice::<OutcomeKey>(text).map(|it| outcome_key(&it.commit, it.generation));
        let receipt = || {
            serde_json::from_slice::<ReceiptKey>(text)
                .map(|it| format!("{} {:?} {}", receipt_key(&it.subject, it.attempt), it.kind, it.name))
        };
        let key = receipt().or_else(|_| outcome()).unwrap_or_else(|_| String::from_utf8_lossy(text).into_owned());
        Self { key, text: text.to_owned() }
    }
}

/// A pointer to a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Recent {
    of: RequirementKind,
    requirement: Name,
    at: Timestamp,
    pub(super) subject: Subject,
    pub(super) attempt: AttemptId,
}

impl Recent {
    pub(super) fn of(receipt: &Receipt) -> Self {
        Self {
            of: receipt.kind,
            requirement: receipt.name.clone(),
            at: receipt.finished_at,
            subject: receipt.subject,
            attempt: receipt.attempt,
        }
    }
}

/// The lines of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shard {
    lines: Vec<Line>,
}

impl Shard {
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        Self { lines: lines(bytes).map(Line::stored).collect() }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.lines.iter().flat_map(|line| line.text.iter().copied().chain([b'\n'])).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Adds a line, unless one with its key is there: entries never change. True if it was new.
    pub(super) fn add(&mut self, line: Line) -> bool {
        match self.lines.binary_search_by(|known| known.key.cmp(&line.key)) {
            Ok(_) => false,
            Err(at) => {
                self.lines.insert(at, line);
                true
            }
        }
    }

    /// Removes the lines whose key is `key` or begins with it; true if there were any.
    pub(super) fn remove(&mut self, key: &str) -> bool {
        let before = self.lines.len();
        let named =
            |line: &Line| line.key.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        self.lines.retain(|line| !named(line));
        self.lines.len() != before
    }

    /// It without the lines that are damaged; nothing if none is. A shard of `folder`.
    pub(super) fn without_damage(&self, folder: &str) -> Option<Self> {
        let corrupt = |line: &Line| match folder {
            OUTCOME => matches!(outcome(&line.text), Err(Unreadable::Corrupt(_))),
            RECEIPT => matches!(Receipt::from_line(&line.text), Err(Unreadable::Corrupt(_))),
            _ => serde_json::from_slice::<Recent>(&line.text).is_err(),
        };
        let lines: Vec<Line> = self.lines.iter().filter(|line| !corrupt(line)).cloned().collect();
        (lines.len() < self.lines.len()).then_some(Self { lines })
    }

    /// The pointers of one requirement name, newest first.
    pub(super) fn recent(&self, kind: RequirementKind, name: &Name) -> Vec<Recent> {
        let pointers = self.lines.iter().filter_map(|line| serde_json::from_slice::<Recent>(&line.text).ok());
        let mut of_name: Vec<Recent> = pointers.filter(|it| it.of == kind && it.requirement == *name).collect();
        of_name.sort_by_key(|pointer| std::cmp::Reverse(pointer.at));
        of_name
    }

    /// Adds a pointer and drops the oldest of its name beyond `at_most`.
    pub(super) fn point_at(&mut self, pointer: Recent, at_most: usize) {
        let mut kept = self.recent(pointer.of, &pointer.requirement);
        kept.retain(|known| (known.subject, known.attempt) != (pointer.subject, pointer.attempt));
        kept.insert(0, pointer.clone());
        kept.sort_by_key(|pointer| std::cmp::Reverse(pointer.at));
        kept.truncate(at_most);
        self.lines.retain(|line| {
            serde_json::from_slice::<Recent>(&line.text)
                .is_ok_and(|known| known.of != pointer.of || known.requirement != pointer.requirement)
        });
        for pointer in kept {
            if let Ok(text) = serde_json::to_string(&pointer) {
                self.lines.push(Line { key: text.clone(), text: text.into_bytes() });
            }
        }
        self.lines.sort_by(|one, other| one.key.cmp(&other.key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_not_ours_to_read_are_kept_byte_for_byte() {
        let stored = b"{\"from\":\"a newer one\"}\n{\"name\":\"\xff\xfe\"}\r\n\xe2\x28 cut";
        let mut shard = Shard::from_bytes(stored);
        assert!(shard.add(Line { key: "a".to_owned(), text: b"added".to_vec() }));
        assert!(shard.remove("a"));
        assert_eq!(shard.to_bytes(), [&stored[..], b"\n"].concat());
        assert!(Shard::from_bytes(b"").is_empty());
    }
}
