//! The repository's format, as its own configuration states it: object ids, ref format, bare or not.
//!
//! git honours these keys in the repository's own file only, without includes; so do we.

use std::path::{Path, PathBuf};

use bstr::ByteSlice;
use gix::config::File;

use super::error::GitError;
use super::repository::{ObjectFormat, RefFormat};

/// Extensions that change nothing about what we read.
const HARMLESS: &[&str] = &[
    "noop",
    "noop-v1",
    "preciousobjects",
    "partialclone",
    "worktreeconfig",
    "compatobjectformat",
    "relativeworktrees",
];

/// What the configuration says about the format.
#[derive(Debug, Clone)]
pub(super) struct Format {
    pub(super) objects: ObjectFormat,
    pub(super) refs: RefFormat,
    pub(super) bare: bool,
    /// `core.worktree`.
    pub(super) worktree: Option<PathBuf>,
    /// `core.bare` or `core.worktree` were read from this worktree's own `config.worktree`.
    pub(super) own_worktree_setting: bool,
    /// `core.sparseCheckout`.
    pub(super) sparse: bool,
    /// `core.sharedRepository`.
    pub(super) shared: Option<String>,
}

impl Format {
    /// Reads `config` in the common directory and, with `extensions.worktreeConfig`, `config.worktree` in the git directory.
    pub(super) fn read(git_dir: &Path, common_dir: &Path) -> Result<Self, GitError> {
        let config = open(&common_dir.join("config"))?;
        let text = |config: &File, key: &str| config.string(key).map(|value| value.to_string());
        let version: u32 = text(&config, "core.repositoryFormatVersion").and_then(|v| v.parse().ok()).unwrap_or(0);
        let unknown = |feature: String| GitError::UnknownFormat { place: common_dir.to_owned(), feature };
        if version > 1 {
            return Err(unknown(format!("repository format {version}")));
        }
        let mut format = Self {
            objects: ObjectFormat::Sha1,
            refs: RefFormat::Files,
            bare: boolean(&config, "core.bare").unwrap_or(false),
            worktree: config.string("core.worktree").map(to_path),
            own_worktree_setting: false,
            sparse: boolean(&config, "core.sparseCheckout").unwrap_or(false),
            shared: text(&config, "core.sharedRepository"),
        };
        if version == 1 {
            format.read_extensions(&config).map_err(unknown)?;
        }
        if boolean(&config, "extensions.worktreeConfig") == Some(true) {
            let own = open(&git_dir.join("config.worktree"))?;
            let (bare, worktree) = (boolean(&own, "core.bare"), own.string("core.worktree").map(to_path));
            format.own_worktree_setting = bare.is_some() || worktree.is_some();
            format.sparse = boolean(&own, "core.sparseCheckout").unwrap_or(format.sparse);
            format.bare = bare.unwrap_or(format.bare);
            format.worktree = worktree.or(format.worktree);
        }
        Ok(format)
    }

    fn read_extensions(&mut self, config: &File) -> Result<(), String> {
        let Some(sections) = config.sections_by_name("extensions") else { return Ok(()) };
        for section in sections {
            for name in section.value_names() {
                let key = name.to_string().to_lowercase();
                let value = section.value(&key).map(|value| value.to_string().to_lowercase()).unwrap_or_default();
                match (key.as_str(), value.as_str()) {
                    ("objectformat", "sha1") => self.objects = ObjectFormat::Sha1,
                    ("objectformat", "sha256") => self.objects = ObjectFormat::Sha256,
                    ("refstorage", "files") => self.refs = RefFormat::Files,
                    ("refstorage", "reftable") => self.refs = RefFormat::Reftable,
                    (harmless, _) if HARMLESS.contains(&harmless) => {}
                    (other, value) => return Err(format!("`extensions.{other} = {value}`")),
                }
            }
        }
        Ok(())
    }
}

fn open(path: &Path) -> Result<File, GitError> {
    let doing = || format!("read `{}`", path.display());
    match std::fs::read(path) {
        Ok(bytes) => {
            let meta = gix::config::file::Metadata::from(gix::config::Source::Local);
            File::from_bytes_no_includes(&bytes, meta, gix::config::file::init::Options::default())
                .map_err(|error| GitError::Damaged { place: path.to_owned(), why: error.to_string() })
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(File::default()),
        Err(error) => Err(GitError::io(doing())(error)),
    }
}

fn boolean(config: &File, key: &str) -> Option<bool> {
    config.boolean(key).ok().flatten()
}

fn to_path(value: bstr::BString) -> PathBuf {
    value.to_path_lossy().into_owned()
}

/// `branch.<name>.remote` in the repository's own configuration.
pub(super) fn branch_remote(common_dir: &Path, branch: &str) -> Option<String> {
    let config = open(&common_dir.join("config")).ok()?;
    config.string_by("branch", Some(branch.into()), "remote").map(|remote| remote.to_string())
}
