//! Which repositories use a hook file that serves more than one.
//!
//! A list of common git directories, one to a line, beside the hooks folder. A repository whose hook was taken out, or that is gone,
//! counts no more.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::script::PROGRAM_FILE;
use super::{HookError, HooksFolder};
use crate::os::files::{self, Durability};

/// The list's name, in the folder of hooks that were moved aside.
const FILE: &str = "repositories";

/// The longest list, in bytes.
const BYTES_MAX: u64 = 1024 * 1024;

/// The repositories that use one hook file.
pub(super) struct Users {
    file: PathBuf,
    list: Vec<PathBuf>,
}

impl Users {
    /// Those that still have the hook installed.
    ///
    /// # Errors
    /// The list can't be read: then nobody knows whom the hook file serves, and it must stay.
    pub(super) fn of(folder: &HooksFolder) -> Result<Self, HookError> {
        let file = folder.aside().with_file_name(FILE);
        let doing = || format!("read `{}`", file.display());
        let bytes = files::read_bounded(&file, BYTES_MAX).map_err(HookError::io(doing()))?.unwrap_or_default();
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let paths = lines.map(|line| PathBuf::from(OsStr::from_bytes(line)));
        let list = paths.filter(|common_dir| common_dir.join(PROGRAM_FILE).is_file()).collect();
        Ok(Self { file, list })
    }

    /// Adds a repository.
    pub(super) fn add(mut self, common_dir: &Path) -> Result<(), HookError> {
        if !self.list.iter().any(|known| known == common_dir) {
            self.list.push(common_dir.to_owned());
        }
        self.write()
    }

    /// Takes a repository away; how many are left.
    pub(super) fn remove(mut self, common_dir: &Path) -> Result<usize, HookError> {
        self.list.retain(|known| known != common_dir);
        if self.list.is_empty() {
            let _ = std::fs::remove_file(&self.file);
            // Anything else in it is somebody's.
            let _ = self.file.parent().map(std::fs::remove_dir);
        } else {
            self.write()?;
        }
        Ok(self.list.len())
    }

    fn write(&self) -> Result<(), HookError> {
        let doing = || format!("write `{}`", self.file.display());
        let text: Vec<u8> = self.list.iter().flat_map(|path| [path.as_os_str().as_bytes(), b"\n"].concat()).collect();
        std::fs::create_dir_all(self.file.parent().unwrap_or(&self.file)).map_err(HookError::io(doing()))?;
        files::replace(&self.file, &text, 0o600, Durability::Advisory).map_err(HookError::io(doing()))
    }
}
