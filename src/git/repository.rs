//! One repository, found once, with its objects, its refs and the way to start git for it.

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};

use super::command::Git;
use super::error::GitError;
use super::format::Format;
use super::location::{self, Location, LocationVariables};
use super::objects::Objects;
use super::ref_writer::RefWriter;
use super::refs::Refs;

/// How object ids are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectFormat {
    /// 20 bytes.
    Sha1,
    /// 32 bytes.
    Sha256,
}

impl ObjectFormat {
    pub(crate) fn to_gix(self) -> gix::hash::Kind {
        match self {
            Self::Sha1 => gix::hash::Kind::Sha1,
            Self::Sha256 => gix::hash::Kind::Sha256,
        }
    }

    /// The length of an id in hex digits.
    pub fn hex_length(self) -> usize {
        match self {
            Self::Sha1 => 40,
            Self::Sha256 => 64,
        }
    }
}

/// How refs are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefFormat {
    /// One file each, and `packed-refs`.
    Files,
    /// Binary tables; read and written through git alone.
    Reftable,
}

/// Who may use what we create, after `core.sharedRepository`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// The user alone: 0700 and 0600.
    Private,
    /// The group as well.
    Group,
    /// Everybody may read.
    Everybody,
    /// These very permissions.
    Exactly(u32),
}

impl Sharing {
    /// git's reading of the setting.
    fn parse(setting: Option<&str>) -> Self {
        let Some(setting) = setting else { return Self::Private };
        match setting.to_ascii_lowercase().as_str() {
            "group" | "true" | "1" | "yes" | "on" => Self::Group,
            "all" | "world" | "everybody" | "2" | "3" => Self::Everybody,
            "umask" | "false" | "0" | "no" | "off" => Self::Private,
            octal => u32::from_str_radix(octal, 8)
                .ok()
                .filter(|mode| mode & 0o600 == 0o600 && *mode <= 0o777)
                .map_or(Self::Private, |mode| Self::Exactly(mode & 0o666)),
        }
    }

    /// The mode of a file of ours in the private folder.
    pub fn file_mode(self) -> u32 {
        match self {
            Self::Private => 0o600,
            Self::Group => 0o660,
            Self::Everybody => 0o664,
            Self::Exactly(mode) => mode,
        }
    }

    /// The mode of a folder: as the files', searchable where readable; new files inherit the group when it is shared.
    pub fn directory_mode(self) -> u32 {
        let files = self.file_mode();
        let search = (files & 0o444) >> 2;
        let inherit = if files & 0o060 == 0 { 0 } else { 0o2000 };
        files | search | inherit
    }

    /// The mode of a folder in the object directory: as git makes them where nothing is shared.
    pub fn object_directory_mode(self) -> u32 {
        match self {
            Self::Private => 0o755,
            other => other.directory_mode(),
        }
    }

    /// The mode of an object, which nobody writes: as git makes them where nothing is shared.
    pub fn object_mode(self) -> u32 {
        match self {
            Self::Private => 0o444,
            other => other.file_mode() & 0o444,
        }
    }
}

/// A repository as seen from one place.
pub struct Repository {
    location: Location,
    format: Format,
    sharing: Sharing,
    git: Git,
    variables: LocationVariables,
    objects: OnceCell<Objects>,
    refs: Refs,
    writer: RefCell<RefWriter>,
}

impl Repository {
    /// Finds the repository that a git command started in `cwd` would use.
    pub fn discover(cwd: &Path, variables: &LocationVariables) -> Result<Self, GitError> {
        let (location, format) = location::find(cwd, variables)?;
        let git = Git::at(&location.git_dir, location.worktree.as_deref());
        let refs = Refs::new(&location, &format, git.clone());
        let sharing = Sharing::parse(format.shared.as_deref());
        let writer = RefCell::new(RefWriter::new(&location.common_dir, format.refs, sharing));
        let (variables, objects) = (variables.clone(), OnceCell::new());
        Ok(Self { location, format, sharing, git, variables, objects, refs, writer })
    }

    /// The worktree's top; an error in a bare repository and inside a git directory.
    pub fn worktree(&self) -> Result<&Path, GitError> {
        self.location
            .worktree
            .as_deref()
            .ok_or_else(|| GitError::NoWorktree { git_dir: self.location.git_dir.clone(), bare: self.format.bare })
    }

    /// The worktree's name: the empty string for the main one, else the name of its folder under `worktrees/`.
    pub fn worktree_name(&self) -> String {
        if self.location.git_dir == self.location.common_dir {
            return String::new();
        }
        self.location.git_dir.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Whether the repository says that it is bare and we stand in no worktree of it.
    pub fn is_bare(&self) -> bool {
        self.format.bare && self.location.worktree.is_none()
    }

    /// Whether history is cut off (a shallow clone).
    pub fn is_shallow(&self) -> bool {
        std::fs::metadata(self.location.common_dir.join("shallow")).is_ok_and(|meta| meta.len() > 0)
    }

    /// This worktree's own git directory.
    pub fn git_dir(&self) -> &Path {
        &self.location.git_dir
    }

    /// The git directory that all worktrees share.
    pub fn common_dir(&self) -> &Path {
        &self.location.common_dir
    }

    /// Our own folder, shared by all worktrees: `<common git dir>/discern`. It may not exist yet.
    pub fn private_dir(&self) -> PathBuf {
        self.location.common_dir.join("discern")
    }

    /// How object ids are made here.
    pub fn object_format(&self) -> ObjectFormat {
        self.format.objects
    }

    /// How refs are kept here.
    pub fn ref_format(&self) -> RefFormat {
        self.format.refs
    }

    /// Modes for what we create.
    pub fn sharing(&self) -> Sharing {
        self.sharing
    }

    /// git, for this repository and worktree.
    pub fn git(&self) -> &Git {
        &self.git
    }

    /// The variables that it was found with.
    pub(super) fn variables(&self) -> &LocationVariables {
        &self.variables
    }

    /// Its refs.
    pub fn refs(&self) -> &Refs {
        &self.refs
    }

    /// The one writer of refs, shared by records and ledger; its git child is started by the first write.
    pub(crate) fn ref_writer(&self) -> &RefCell<RefWriter> {
        &self.writer
    }

    /// Its objects.
    pub fn objects(&self) -> Result<&Objects, GitError> {
        if let Some(open) = self.objects.get() {
            return Ok(open);
        }
        let open = Objects::open(self.location.common_dir.join("objects"), self.format.objects, self.sharing)?;
        Ok(self.objects.get_or_init(|| open))
    }
}

impl Repository {
    /// Whether only part of the tree is to be checked out.
    pub(super) fn is_sparse(&self) -> bool {
        self.format.sparse
    }

    /// The remote that a branch follows, as the repository's own configuration says.
    pub(super) fn configured_remote(&self, branch: &str) -> Option<String> {
        super::format::branch_remote(&self.location.common_dir, branch)
    }
}
