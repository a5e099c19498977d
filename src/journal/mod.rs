//! Progress files of runs, behind short handles.
//!
//! A run keeps one folder, `<common git dir>/discern/run/<handle>/`:
//!
//! | file | what |
//! | --- | --- |
//! | `journal` | first line: who runs ([`Header`]); then each [`Event`], one JSON object to a line |
//! | `request` | there when somebody asked the run to stop |
//! | `<job>.<try>.log` | what a job printed |
//!
//! The executor creates `journal` exclusively, locks it *before* it writes the first line, and holds that lock for as long
//! as it lives. So whoever finds the very file that a record names (same inode, same token in the first line) free, on the
//! same boot and on a local file system, knows that its executor is gone (C20); everything else proves nothing. Children
//! do not get the descriptor: it is close-on-exec.
//!
//! A journal is advisory (C21): losing it loses progress, never a result. Writing to it fails no run.

mod follow;
mod liveness;

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::claim::record::JournalRef;
use crate::event::Event;
use crate::git::Sharing;
use crate::id::{AttemptId, CommitId, OperationHandle, Token};
use crate::os::boot;
use crate::time::Timestamp;

pub use follow::Follower;
pub use liveness::Liveness;

/// The format's name in the first line.
const FORMAT: &str = "discern/journal";
/// The newest version of the format.
const VERSION: u32 = 1;
/// A longer line is no journal line, in bytes.
const LINE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// More runs than this are not listed; retention keeps far fewer.
const RUNS_LISTED_MAX: usize = 4096;

/// The first line of a journal: who runs. It stays on this machine, so it may hold paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The run's handle.
    pub handle: OperationHandle,
    /// What a record names beside the inode, so that a file that was put in its place is not taken for it.
    pub token: Token,
    /// `done`, `standards`, `run`.
    pub command: String,
    /// The attempt, where there is a claim.
    pub attempt: Option<AttemptId>,
    /// The commit, where one is to be proven.
    pub candidate: Option<CommitId>,
    /// The process, for people.
    pub pid: u32,
    /// The boot that it runs in.
    pub boot: String,
    /// When it began.
    pub started_at: Timestamp,
    /// The worktree's name; empty for the main one.
    pub worktree: String,
    /// The top directory that it runs in.
    pub directory: PathBuf,
}

impl Header {
    /// The header of a new journal in the newest format; the rest is for the caller to fill in.
    pub fn new(handle: OperationHandle, token: Token, command: &str, boot: String, started_at: Timestamp) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            handle,
            token,
            command: command.to_owned(),
            attempt: None,
            candidate: None,
            pid: std::process::id(),
            boot,
            started_at,
            worktree: String::new(),
            directory: PathBuf::new(),
        }
    }
}

/// The journals of one repository.
#[derive(Debug, Clone)]
pub struct Journals {
    folder: PathBuf,
    sharing: Sharing,
}

impl Journals {
    /// Those under `private`, which is `<common git dir>/discern`; new ones are for those whom `sharing` names.
    pub fn new(private: &Path, sharing: Sharing) -> Self {
        Self { folder: private.join("run"), sharing }
    }

    /// The folder of all runs.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of one run.
    pub fn run_folder(&self, handle: &OperationHandle) -> PathBuf {
        self.folder.join(handle.as_str())
    }

    /// Starts a journal, and holds it until the returned value is dropped.
    ///
    /// # Errors
    /// It can't be created or locked; the run goes on without one (C21).
    pub fn create(&self, header: &Header) -> io::Result<Journal> {
        let folder = self.run_folder(&header.handle);
        if !self.folder.is_dir() {
            DirBuilder::new().recursive(true).mode(self.sharing.directory_mode()).create(&self.folder)?;
            self.share(&self.folder, self.sharing.directory_mode())?;
        }
        DirBuilder::new().mode(self.sharing.directory_mode()).create(&folder)?;
        self.share(&folder, self.sharing.directory_mode())?;
        let path = folder.join("journal");
        let file = OpenOptions::new().append(true).create_new(true).mode(self.sharing.file_mode()).open(&path)?;
        self.share(&path, self.sharing.file_mode())?;
        file.try_lock()?;
        let reference =
            JournalRef { handle: header.handle.clone(), inode: file.metadata()?.ino(), token: header.token };
        let mut journal = Journal { folder, file, reference, trouble: None };
        journal.write_line(header);
        match journal.trouble.take() {
            Some(problem) => Err(problem),
            None => Ok(journal),
        }
    }

    /// Gives `path` its `mode` whatever the umask took away, where it is shared at all.
    fn share(&self, path: &Path, mode: u32) -> io::Result<()> {
        match self.sharing {
            Sharing::Private => Ok(()),
            _ => std::fs::set_permissions(path, Permissions::from_mode(mode)),
        }
    }

    /// Follows the run with this handle, from its beginning.
    ///
    /// # Errors
    /// There is no such journal, or it is not one.
    pub fn follow(&self, handle: &OperationHandle) -> io::Result<Follower> {
        Follower::open(&self.run_folder(handle).join("journal"))
    }

    /// What the journal that a record names proves about its executor (C20). `record_boot` stands in the record.
    pub fn liveness(&self, journal: &JournalRef, record_boot: &str, own_boot: &str) -> Liveness {
        if record_boot == own_boot {
            liveness::of(&self.run_folder(&journal.handle).join("journal"), journal, own_boot)
        } else {
            Liveness::Unknown
        }
    }

    /// The process behind a handle, if it is seen to be suspended here (Ctrl-Z, SIGSTOP).
    pub fn suspended(&self, handle: &OperationHandle) -> Option<u32> {
        liveness::suspended(&self.run_folder(handle).join("journal"), &boot::boot_identity())
    }

    /// The headers of all runs that can be read, the newest first.
    ///
    /// # Errors
    /// The folder is there and can't be read.
    pub fn list(&self) -> io::Result<Vec<Header>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let names = entries.take(RUNS_LISTED_MAX).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let handles = names.filter_map(|name| name.parse::<OperationHandle>().ok());
        let mut headers: Vec<Header> =
            handles.filter_map(|handle| Some(self.follow(&handle).ok()?.header().clone())).collect();
        headers.sort_by_key(|header| std::cmp::Reverse(header.started_at));
        Ok(headers)
    }

    /// The runs of whose journal nothing can be read, with when their folder was last changed: what a crash left, most often.
    pub fn unreadable(&self) -> Vec<(OperationHandle, Timestamp)> {
        let entries =
            std::fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok).take(RUNS_LISTED_MAX);
        let unreadable = entries.filter_map(|entry| {
            let handle = entry.file_name().to_str()?.parse::<OperationHandle>().ok()?;
            let changed = entry.metadata().ok().filter(std::fs::Metadata::is_dir)?.mtime();
            self.follow(&handle).is_err().then_some((handle, Timestamp::from_millis(changed.saturating_mul(1000))))
        });
        unreadable.collect()
    }

    /// Asks the run with this handle to cancel and settle. Its own loop looks at the request and does it.
    ///
    /// # Errors
    /// There is no such run, or the request can't be written.
    pub fn request_stop(&self, handle: &OperationHandle) -> io::Result<()> {
        let path = self.run_folder(handle).join("request");
        OpenOptions::new().create(true).append(true).mode(self.sharing.file_mode()).open(path)?.write_all(b"stop\n")
    }
}

/// The journal of this very run; its lock is held until it is dropped.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    file: File,
    reference: JournalRef,
    trouble: Option<io::Error>,
}

impl Journal {
    /// What the attempt record says of it.
    pub fn reference(&self) -> &JournalRef {
        &self.reference
    }

    /// Its handle.
    pub fn handle(&self) -> &OperationHandle {
        &self.reference.handle
    }

    /// The run's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps an event. After the first failure nothing more is written; the run goes on (C21).
    pub fn append(&mut self, event: &Event) {
        self.write_line(event);
    }

    /// Whether somebody asked this run to stop.
    pub fn stop_requested(&self) -> bool {
        self.folder.join("request").exists()
    }

    /// One line in one write, so that a follower never sees the middle of another's.
    fn write_line(&mut self, value: &impl Serialize) {
        if self.trouble.is_some() {
            return;
        }
        let written = serde_json::to_vec(value).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            self.file.write_all(&line)
        });
        self.trouble = written.err();
    }
}

#[cfg(test)]
mod tests;
