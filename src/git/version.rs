//! Which git is installed, without starting it each time.
//!
//! The answer is kept in the private folder with the identity of the program's file (path, inode, size, mtime, ctime); a
//! program that was replaced is asked again.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::command::GIT_MINIMUM;
use super::error::GitError;
use super::repository::Repository;
use crate::os::files::{self, Durability};

/// [`GIT_MINIMUM`] for people.
const NEEDED: &str = "2.45";

impl Repository {
    /// The version of git, as it says it; an error if it is older than 2.45.
    pub fn git_version(&self) -> Result<String, GitError> {
        let identity = self.git_program().and_then(|program| identity_of(&program));
        let kept = self.private_dir().join("git-version");
        if let Some(identity) = &identity
            && let Ok(Some(content)) = files::read_bounded(&kept, 4096)
            && let Ok(content) = String::from_utf8(content)
            && let Some(version) = content.strip_prefix(identity.as_str())
        {
            return Ok(version.trim().to_owned());
        }
        let (version, numbers) = self.git().version()?;
        if numbers < GIT_MINIMUM {
            return Err(GitError::TooOld { found: version, needed: NEEDED });
        }
        if let Some(identity) = identity {
            // Advisory: where it can't be kept, git is asked again next time.
            let _ = files::replace(
                &kept,
                format!("{identity}{version}\n").as_bytes(),
                self.sharing().file_mode(),
                Durability::Advisory,
            );
        }
        Ok(version)
    }

    /// The first `git` on the search path.
    pub(super) fn git_program(&self) -> Option<PathBuf> {
        let path = self.variables().path.clone()?;
        std::env::split_paths(&path).map(|folder| folder.join("git")).find(|program| program.is_file())
    }
}

fn identity_of(program: &Path) -> Option<String> {
    let meta = std::fs::metadata(program).ok()?;
    let numbers =
        [meta.ino() as i64, meta.size() as i64, meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
    Some(format!("{} {numbers:?}\n", program.display()))
}
