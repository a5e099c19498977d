//! What lies on disk in place of committed files without being their content: line endings, filters, encodings, and
//! submodules that nobody here works with.
//!
//! `git status` calls such a file clean, because cleaning it gives what is committed. A job sees the bytes on disk, and two
//! checkouts of one commit may differ in them: after a setting changed, or because a filter takes something out. So they
//! are part of what is checked. Where nothing can convert anything, this costs a look at a few small files.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use super::error::GitError;
use super::index::{Index, Tracked};
use super::location;
use super::repository::Repository;
use super::snapshot::to_path;
use super::tree::{InputEntry, MODE_SUBMODULE};
use crate::id::ObjectId;
use crate::os::{environment, files};

/// The largest file whose bytes are looked at, in bytes; of a larger one the size must do.
const BYTES_MAX: u64 = 1024 * 1024;

/// The largest file of settings or attributes that is read, in bytes; a larger one may say anything.
const SETTINGS_BYTES_MAX: u64 = 256 * 1024;

/// The mode of an entry that stands for a size: no file has it.
const MODE_SIZE: u32 = 0;

/// What may convert files here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Conversion {
    Nothing,
    /// Something that changes a file's size.
    Some,
    /// A filter, too, which may do anything; or what can't be told.
    Filters,
}

impl Repository {
    /// The tracked paths that are on disk otherwise than committed, each with the id of what is there; `size_of` says how
    /// many bytes a file has there.
    pub(super) fn on_disk(
        &self,
        index: &Index,
        size_of: &dyn Fn(&Tracked<'_>) -> Option<u64>,
    ) -> Result<Vec<InputEntry>, GitError> {
        let top = self.worktree()?;
        let mut found = Vec::new();
        for entry in index.tracked().filter(|entry| entry.mode == MODE_SUBMODULE) {
            if location::git_dir_of(&top.join(to_path(entry.path))).is_err() {
                found.push(InputEntry { path: entry.path.to_owned(), mode: entry.mode, id: ObjectId::null() });
            }
        }
        let conversion = self.conversion(index)?;
        if conversion == Conversion::Nothing {
            return Ok(found);
        }
        let objects = self.objects()?;
        let mut unchanged_in_size = Vec::new();
        for entry in index.tracked().filter(is_file) {
            let Some(size) = size_of(&entry) else { continue };
            match objects.header(entry.id)? {
                Some((_, committed)) if committed != size => found.extend(self.entry_of(&entry, size)?),
                _ => unchanged_in_size.push(entry),
            }
        }
        if conversion == Conversion::Filters {
            for entry in self.filtered(&unchanged_in_size)? {
                let size = size_of(entry).unwrap_or_default();
                found.extend(self.entry_of(entry, size)?.filter(|there| there.id != entry.id));
            }
        }
        found.sort();
        Ok(found)
    }

    /// What is on disk in place of `entry`, which has so many bytes there.
    fn entry_of(&self, entry: &Tracked<'_>, size: u64) -> Result<Option<InputEntry>, GitError> {
        let path = entry.path.to_owned();
        let objects = self.objects()?;
        if size > BYTES_MAX {
            let id = objects.blob_id(size.to_string().as_bytes())?;
            return Ok(Some(InputEntry { path, mode: MODE_SIZE, id }));
        }
        let file = self.worktree()?.join(to_path(entry.path));
        let bytes = match files::read_bounded(&file, BYTES_MAX) {
            // A file that is gone or grew is found by whoever compares the tree; one that can't be read is no other's equal.
            Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => None,
            read => read.map_err(GitError::io(format!("read `{}`", file.display())))?,
        };
        let id = bytes.map(|bytes| objects.blob_id(&bytes)).transpose()?;
        Ok(id.map(|id| InputEntry { path, mode: entry.mode, id }))
    }

    /// Those of `entries` that attributes give a filter.
    fn filtered<'t, 'i>(&self, entries: &'t [Tracked<'i>]) -> Result<Vec<&'t Tracked<'i>>, GitError> {
        let paths: Vec<u8> = entries.iter().flat_map(|entry| [entry.path.as_bytes(), b"\0"].concat()).collect();
        let printed = self.git().feed(&["check-attr", "-z", "--stdin", "filter"], &paths)?.success()?;
        // Path, attribute, value, one after another.
        let fields: Vec<&[u8]> = printed.split_str("\0").collect();
        let (answers, _) = fields.as_chunks::<3>();
        let has_filter = |value: &[u8]| ![&b"unspecified"[..], b"unset", b"set", b""].contains(&value);
        let pairs = entries.iter().zip(answers);
        Ok(pairs.filter(|(_, [_, _, value])| has_filter(value)).map(|(entry, _)| entry).collect())
    }

    /// Whether anything could convert a file here, as far as a glance at attributes and settings tells. A filter needs an
    /// attribute that gives it to a file; settings alone, which `git lfs install` leaves on a whole machine, convert nothing.
    fn conversion(&self, index: &Index) -> Result<Conversion, GitError> {
        let mut attributes = Texts::default();
        self.attribute_files(index)?.iter().for_each(|file| attributes.take(file));
        // Of a tracked file that is not on disk, git takes the attributes out of the index.
        let top = self.worktree()?;
        let mut tracked = index.tracked().filter(|entry| entry.path.ends_with(b".gitattributes") && is_file(entry));
        let only_in_index = tracked.any(|entry| !top.join(to_path(entry.path)).exists());
        let mut settings = Texts::default();
        self.settings_files().iter().for_each(|file| settings.take(file));
        settings.add(environment::variable("GIT_CONFIG_PARAMETERS").unwrap_or_default().as_bytes());
        settings.unknown |=
            ["GIT_CONFIG_COUNT", "GIT_ATTR_SOURCE"].iter().any(|it| environment::variable(it).is_some());
        // Settings that are elsewhere, and those that name attributes elsewhere.
        let elsewhere = ["[include", "include.path", "includeif.", "attributesfile", "[attr", "attr.tree"];
        let unknown = only_in_index || attributes.unknown || settings.unknown || settings.say(&elsewhere);
        let converting = ["autocrlf", "text", "eol", "crlf", "ident", "encoding"];
        Ok(if unknown || attributes.say(&["filter"]) {
            Conversion::Filters
        } else if attributes.say(&converting) || settings.say(&converting) {
            Conversion::Some
        } else {
            Conversion::Nothing
        })
    }

    /// Where git looks for attributes (gitattributes(5)), but for what settings name: in each folder above a tracked file,
    /// whether tracked, untracked or ignored, and for the repository, the user and the machine.
    fn attribute_files(&self, index: &Index) -> Result<Vec<PathBuf>, GitError> {
        let top = self.worktree()?;
        let mut folders: HashSet<&[u8]> = HashSet::new();
        let mut last: &[u8] = b"";
        for entry in index.tracked() {
            let Some(end) = entry.path.rfind_byte(b'/') else { continue };
            let mut folder = &entry.path[..end];
            // The index is sorted: most files are in the folder of the one before.
            if folder == last {
                continue;
            }
            last = folder;
            while folders.insert(folder) {
                let Some(end) = folder.rfind_byte(b'/') else { break };
                folder = &folder[..end];
            }
        }
        let in_folder = |folder: &[u8]| top.join(to_path(folder.as_bstr())).join(".gitattributes");
        let mut files: Vec<PathBuf> = folders.into_iter().map(in_folder).collect();
        files.push(top.join(".gitattributes"));
        files.extend([self.git_dir(), self.common_dir()].map(|folder| folder.join("info/attributes")));
        files.extend(user_folders().iter().map(|folder| folder.join("git/attributes")));
        files.extend(self.machine_folders().iter().map(|folder| folder.join("gitattributes")));
        Ok(files)
    }

    /// Where git looks for settings (git-config(1)), but for what settings include.
    fn settings_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for folder in [self.git_dir(), self.common_dir()] {
            files.extend(["config", "config.worktree"].map(|name| folder.join(name)));
        }
        files.extend(user_folders().iter().map(|folder| folder.join("git/config")));
        files.extend(path_named("HOME").map(|home| home.join(".gitconfig")));
        files.extend(["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"].iter().filter_map(|name| path_named(name)));
        files.extend(self.machine_folders().iter().map(|folder| folder.join("gitconfig")));
        files
    }

    /// The folders that hold the machine's settings: `/etc`, or the one beside the folder of git's program.
    fn machine_folders(&self) -> Vec<PathBuf> {
        let named = self.git_program();
        let resolved = named.as_ref().and_then(|program| program.canonicalize().ok());
        let beside = named.iter().chain(&resolved).filter_map(|program| Some(program.parent()?.parent()?.join("etc")));
        beside.chain([PathBuf::from("/etc")]).collect()
    }
}

/// What some files say, in lower case.
#[derive(Default)]
struct Texts {
    texts: Vec<Vec<u8>>,
    /// Whether they may say anything: one of them could not be read.
    unknown: bool,
}

impl Texts {
    fn take(&mut self, file: &Path) {
        match files::read_bounded(file, SETTINGS_BYTES_MAX) {
            Ok(text) => text.iter().for_each(|text| self.add(text)),
            Err(_) => self.unknown = true,
        }
    }

    fn add(&mut self, text: &[u8]) {
        self.texts.push(text.to_ascii_lowercase());
    }

    fn say(&self, words: &[&str]) -> bool {
        self.texts.iter().any(|text| words.iter().any(|word| text.contains_str(word)))
    }
}

/// The folders in which `git/config` and `git/attributes` may be the user's.
fn user_folders() -> Vec<PathBuf> {
    path_named("XDG_CONFIG_HOME").into_iter().chain(path_named("HOME").map(|home| home.join(".config"))).collect()
}

/// The path that a variable holds, if it holds any.
fn path_named(variable: &str) -> Option<PathBuf> {
    environment::variable(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn is_file(entry: &Tracked<'_>) -> bool {
    entry.mode == 0o100_644 || entry.mode == 0o100_755
}
