//! What jobs left behind in a checkout: which job passed last here, with which subject.
//!
//! A job whose `needs` left their products in this very checkout need not have them made again. A small file in the worktree's
//! own git directory; losing it costs a repetition, so it is never synced.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::id::{Name, Subject};
use crate::os::files::{self, Durability};

/// The file, in the worktree's own git directory.
const FILE: &str = "discern.left";

/// The largest file that is taken for one of ours, in bytes.
const BYTES_MAX: u64 = 1024 * 1024;

/// The facts of one checkout.
#[derive(Debug)]
pub struct LeftHere {
    file: PathBuf,
    /// The subject that each job passed with, when it ran here last.
    pub passed: BTreeMap<Name, Subject>,
}

impl LeftHere {
    /// What is known of the worktree whose git directory this is. A file that is missing or damaged says nothing.
    pub fn read(git_dir: &Path) -> Self {
        let file = git_dir.join(FILE);
        let bytes = files::read_bounded(&file, BYTES_MAX).ok().flatten();
        let passed = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        Self { file, passed }
    }

    /// The job begins to run here: what it left before can't be relied on.
    pub fn begins(&mut self, job: &Name) {
        if self.passed.remove(job).is_some() {
            self.write();
        }
    }

    /// The job passed here.
    pub fn passes(&mut self, job: &Name, subject: Subject) {
        self.passed.insert(job.clone(), subject);
        self.write();
    }

    fn write(&self) {
        let Ok(bytes) = serde_json::to_vec(&self.passed) else { return };
        if files::replace(&self.file, &bytes, 0o600, Durability::Advisory).is_err() {
            // A stale fact would be worse than none.
            let _ = std::fs::remove_file(&self.file);
        }
    }
}
