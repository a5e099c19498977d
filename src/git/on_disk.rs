//! What lies on disk in place of committed files without being their content: line endings, filters, encodings, and
//! submodules that nobody here works with.
//!
//! `git status` calls such a file clean, because cleaning it gives what is committed. A job sees the bytes on disk, and two
//! checkouts of one commit may differ in them: after a setting changed, or because a filter takes something out. So they
//! are part of what is checked. Where nothing can convert anything, this costs a look at a few small files.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use bstr::{BString, ByteSlice};

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
    /// A filter, too, which may do anything.
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

    /// Whether anything could convert a file here, as far as a glance at attributes and settings tells.
    fn conversion(&self, index: &Index) -> Result<Conversion, GitError> {
        let mut texts = Vec::new();
        let mut unknown = false;
        let mut take = |path: PathBuf| match files::read_bounded(&path, SETTINGS_BYTES_MAX) {
            Ok(text) => texts.extend(text.map(BString::from)),
            Err(_) => unknown = true,
        };
        let top = self.worktree()?;
        for entry in index.tracked().filter(|it| it.path.ends_with(b".gitattributes")).filter(is_file) {
            take(top.join(to_path(entry.path)));
        }
        let variable = |name: &str| environment::variable(name).map(PathBuf::from);
        let home = variable("HOME");
        let configured = variable("XDG_CONFIG_HOME").or_else(|| home.as_ref().map(|home| home.join(".config")));
        for folder in [self.git_dir(), self.common_dir()] {
            ["config", "config.worktree", "info/attributes"].iter().for_each(|name| take(folder.join(name)));
        }
        let of_user = configured.iter().flat_map(|folder| [folder.join("git/config"), folder.join("git/attributes")]);
        of_user.for_each(&mut take);
        home.iter().for_each(|home| take(home.join(".gitconfig")));
        let elsewhere = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"].iter().filter_map(|name| variable(name));
        elsewhere.chain(["/etc/gitconfig", "/etc/gitattributes"].map(PathBuf::from)).for_each(&mut take);
        let said = |name: &str| environment::variable(name).map(|text| BString::from(text.as_bytes()));
        texts.extend(said("GIT_CONFIG_PARAMETERS"));
        unknown |= environment::variable("GIT_CONFIG_COUNT").is_some();
        let says = |word: &str| texts.iter().any(|text| text.to_ascii_lowercase().contains_str(word));
        let elsewhere = unknown || ["[include", "attributesfile", "include.path"].iter().any(|word| says(word));
        Ok(if elsewhere || says("filter") {
            Conversion::Filters
        } else if ["autocrlf", "text", "eol", "crlf", "ident", "encoding"].iter().any(|word| says(word)) {
            Conversion::Some
        } else {
            Conversion::Nothing
        })
    }
}

fn is_file(entry: &Tracked<'_>) -> bool {
    entry.mode == 0o100_644 || entry.mode == 0o100_755
}
