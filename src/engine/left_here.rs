//! What jobs left behind in a checkout: which job passed last here, with which subject.
//!
//! A job whose `needs` left their products in this very checkout need not have them made again. A small file in the worktree's
//! own git directory; losing it costs a repetition, so it is never synced. What it says holds only for the boot that wrote it: a
//! power cut may lose a product and keep this file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bstr::BString;
use serde::{Deserialize, Serialize};

use super::prepare;
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
    facts: Facts,
}

/// The file's content.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Facts {
    /// The boot that it was written in.
    boot: String,
    /// The subject that each job passed with, when it ran here last.
    passed: BTreeMap<Name, Subject>,
    /// What lay here, not tracked and not kept, when the checkout had been prepared.
    #[serde(default)]
    prepared: Vec<String>,
}

impl LeftHere {
    /// What is known of the worktree whose git directory this is, in this `boot`. A file that is missing, damaged or of
    /// another boot says nothing.
    pub fn read(git_dir: &Path, boot: String) -> Self {
        let file = git_dir.join(FILE);
        let bytes = files::read_bounded(&file, BYTES_MAX).ok().flatten();
        let facts: Option<Facts> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let nothing = Facts { boot: boot.clone(), ..Facts::default() };
        Self { file, facts: facts.filter(|facts| facts.boot == boot).unwrap_or(nothing) }
    }

    /// The subject that each job passed with, when it ran here last.
    pub fn passed(&self) -> &BTreeMap<Name, Subject> {
        &self.facts.passed
    }

    /// Nothing that was left here can be relied on.
    pub fn forget_all(&mut self) {
        self.facts = Facts { boot: std::mem::take(&mut self.facts.boot), ..Facts::default() };
        self.write();
    }

    /// `removed` was removed here: no job can rely on what another left. What preparing made is still whole unless some of
    /// it was among that.
    pub fn forget_removed(&mut self, removed: &[BString]) {
        let lost = removed.iter().any(|path| self.facts.prepared.contains(&path.to_string()));
        self.facts.passed.retain(|job, _| !lost && prepare::is_it(job));
        self.write();
    }

    /// The checkout is prepared, and `left` lies in it, not tracked and not kept.
    pub fn prepared(&mut self, left: &[BString]) {
        self.facts.prepared = left.iter().map(ToString::to_string).collect();
        self.write();
    }

    /// The job is about to run here: what it left before can't be relied on.
    pub fn begins(&mut self, job: &Name) {
        if self.facts.passed.remove(job).is_some() {
            self.write();
        }
    }

    /// The job passed here, and the tree was the commit's all the while.
    pub fn passes(&mut self, job: &Name, subject: Subject) {
        self.facts.passed.insert(job.clone(), subject);
        self.write();
    }

    fn write(&self) {
        let Ok(bytes) = serde_json::to_vec(&self.facts) else { return };
        if files::replace(&self.file, &bytes, 0o600, Durability::Advisory).is_err() {
            // A stale fact would be worse than none.
            let _ = std::fs::remove_file(&self.file);
        }
    }
}
