//! What this machine has seen of a candidate's record: the high-water mark and the last sighting.
//!
//! One small file per candidate in the private folder, shared by all worktrees. The *mark* is the highest (generation,
//! sequence) ever read or written: a record below it was put back by a mirror push or a backup and is unreadable (C27,
//! hazard 14). The mark is read *before* the ref and written after it. The *sighting* is when an unchanged record was
//! first seen, on which clock (C13). Both are advisory: without the sighting a takeover waits for a whole lease more, and
//! without the mark nobody notices that a record was put back.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::git::{Repository, Sharing};
use crate::id::{CommitId, RecordId};
use crate::os::files::{self, Durability};

/// The largest file that is taken for one of ours, in bytes.
const SEEN_BYTES_MAX: u64 = 4096;

/// What was seen of one candidate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The highest generation read or written; 0 when none.
    pub generation: u32,
    /// The highest sequence read or written; 0 when none.
    pub sequence: u64,
    /// The record that was there when last looked, unless it was finished or absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sighting: Option<Sighting>,
    /// A record that is finished, its outcome in the ledger: what has that id needs no second look, because a finished record
    /// never reopens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<RecordId>,
}

/// When an unchanged record was first seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sighting {
    /// The observer's boot identity.
    pub boot: String,
    /// The record.
    pub record: RecordId,
    /// The observer's monotonic clock when it first saw it, in milliseconds.
    pub monotonic_ms: u64,
}

/// The file's frame.
#[derive(Serialize, Deserialize)]
struct Stored {
    format: String,
    version: u32,
    #[serde(flatten)]
    seen: Seen,
}

/// The folder of these files.
#[derive(Debug, Clone)]
pub struct SeenFiles {
    folder: PathBuf,
    sharing: Sharing,
}

impl Seen {
    /// Whether a record of that generation and sequence lies below what was seen before.
    pub fn is_above(&self, generation: u32, sequence: u64) -> bool {
        (self.generation, self.sequence) > (generation, sequence)
    }

    /// Raises the mark to include a record that was read or written.
    pub fn raise(&mut self, generation: u32, sequence: u64) {
        (self.generation, self.sequence) = (self.generation, self.sequence).max((generation, sequence));
    }
}

impl SeenFiles {
    /// The files of a repository.
    pub fn of(repository: &Repository) -> Self {
        Self { folder: repository.private_dir().join("seen"), sharing: repository.sharing() }
    }

    /// What was seen of a candidate. A file that is missing, damaged or newer counts as nothing seen.
    pub fn read(&self, candidate: &CommitId) -> Seen {
        let stored = files::read_bounded(&self.file(candidate), SEEN_BYTES_MAX).ok().flatten();
        let stored: Option<Stored> = stored.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let known = stored.filter(|stored| stored.format == "discern/seen" && stored.version == 1);
        known.map(|stored| stored.seen).unwrap_or_default()
    }

    /// Keeps what was seen. The mark never goes down, whatever another process wrote meanwhile (but for an instant in
    /// which both write, which costs no more than the lower of the two marks).
    pub fn write(&self, candidate: &CommitId, seen: &Seen) -> std::io::Result<()> {
        let mut seen = seen.clone();
        let known = self.read(candidate);
        seen.raise(known.generation, known.sequence);
        if seen == known {
            return Ok(());
        }
        let stored = Stored { format: "discern/seen".to_owned(), version: 1, seen };
        let mut bytes = serde_json::to_vec(&stored)?;
        bytes.push(b'\n');
        files::create_dir_durably(&self.folder, self.sharing.directory_mode())?;
        files::replace(&self.file(candidate), &bytes, self.sharing.file_mode(), Durability::Advisory)
    }

    fn file(&self, candidate: &CommitId) -> PathBuf {
        self.folder.join(format!("{candidate}.json"))
    }
}
