//! Objects by id: reading blobs, trees and commits, and writing blobs and trees so that they are on disk.
//!
//! Reading is done in this process, through packs and alternates, without replacement and without fetching what a
//! partial clone lacks. Writing makes a loose object: into a temporary file, synced, renamed, and then each directory that
//! changed is synced, because neither gix nor git sync the directories (hazard 4).

use std::cell::RefCell;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;
use gix::objs::{CommitRef, Kind};
use gix::prelude::{Find, Header};
use gix::zlib::Compression;

use super::error::GitError;
use super::pack::{self, NewObject, Pack};
use super::repository::{ObjectFormat, Sharing};
use crate::id::{CommitId, ObjectId, TreeId};
use crate::os::files;
use crate::time::Timestamp;

/// The largest object that is read whole, in bytes: configurations, trees, records and ledger shards are far smaller.
pub const OBJECT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// What needs more room than this to be unpacked keeps it, and is not copied, in bytes.
const ROOM_BYTES_MAX: usize = 1024 * 1024;

/// From so many bytes on, an object is stored as it is: deflating a record of the largest size, and git's inflating it to look at it,
/// take longer than all syncs of its swap. It stays for two hours at most (decision 31), or until git packs it.
const STORED_BYTES_MIN: usize = 64 * 1024;

/// How many packs there is room for at least.
const SLOTS_MIN: usize = 512;

/// The objects of one repository.
pub struct Objects {
    directory: PathBuf,
    format: ObjectFormat,
    sharing: Sharing,
    pub(super) database: gix::odb::Handle,
    /// Where objects are unpacked, the next where the last was: that takes several times an object's size, which would be
    /// asked of the system for each, and kept with it.
    room: RefCell<Vec<u8>>,
}

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// A file's content.
    Blob,
    /// A folder.
    Tree,
    /// A commit.
    Commit,
    /// An annotated tag.
    Tag,
}

/// A commit, as far as we look at one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub id: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// Its parents.
    pub parents: Vec<CommitId>,
    /// Its subject, as `git log --format=%s` has it: the lines before the first blank one, in one. Not UTF-8 is replaced.
    pub summary: String,
    /// When it was committed.
    pub committed_at: Timestamp,
}

/// One entry of one tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// Its name, without folders.
    pub name: Vec<u8>,
    /// 0o100644, 0o100755, 0o120000, 0o040000 or 0o160000.
    pub mode: u32,
    /// What it names.
    pub id: ObjectId,
}

/// The mode of a folder in a tree.
pub const MODE_TREE: u32 = 0o040_000;

impl Objects {
    /// Opens the object directory; packs are looked at when something is asked for.
    pub(super) fn open(directory: PathBuf, format: ObjectFormat, sharing: Sharing) -> Result<Self, GitError> {
        let doing = format!("open `{}`", directory.display());
        // Others add packs while a run works, and each takes a slot.
        let slots = gix::odb::store::init::Slots::AsNeededByDiskState { multiplier: 2.0, minimum: SLOTS_MIN };
        let options = gix::odb::store::init::Options { slots, ..Default::default() };
        let database =
            gix::odb::at_opts(directory.clone(), format.to_gix(), [], options).map_err(GitError::io(doing))?;
        Ok(Self { directory, format, sharing, database, room: RefCell::default() })
    }

    /// Kind and size in bytes of an object, or nothing if the repository does not have it.
    pub fn header(&self, id: ObjectId) -> Result<Option<(ObjectKind, u64)>, GitError> {
        let found = Header::try_header(&self.database, &to_gix(id)).map_err(|error| damaged(id, &error))?;
        Ok(found.map(|header| (from_gix_kind(header.kind()), header.size())))
    }

    /// Whether the repository has the object.
    pub fn contains(&self, id: ObjectId) -> bool {
        gix::objs::Exists::exists(&self.database, &to_gix(id))
    }

    /// Whether the object lies here as a file of its own.
    pub fn is_loose(&self, id: ObjectId) -> bool {
        self.loose_path(id).1.exists()
    }

    /// Removes the file of a loose object, if there is one. A copy in a pack stays.
    pub fn remove_loose(&self, id: ObjectId) -> Result<(), GitError> {
        let file = self.loose_path(id).1;
        files::remove_if_there(&file).map_err(GitError::io(format!("remove `{}`", file.display())))
    }

    /// The kind and content of an object, or nothing if the repository does not have it.
    pub fn read(&self, id: ObjectId) -> Result<Option<(ObjectKind, Vec<u8>)>, GitError> {
        if let Some((_, size)) = self.header(id)?
            && size > OBJECT_BYTES_MAX
        {
            return Err(GitError::Object { id, why: format!("it has {size} bytes") });
        }
        self.read_whatever_its_size(id)
    }

    /// As [`Objects::read`], by a caller who has looked at the [`Objects::header`].
    pub(crate) fn read_whatever_its_size(&self, id: ObjectId) -> Result<Option<(ObjectKind, Vec<u8>)>, GitError> {
        let mut room = self.room.take();
        let found = self.database.try_find(&to_gix(id), &mut room).map_err(|error| damaged(id, &error))?;
        let Some(kind) = found.map(|data| from_gix_kind(data.kind)) else { return Ok(None) };
        if room.capacity() > ROOM_BYTES_MAX {
            return Ok(Some((kind, room)));
        }
        let bytes = room.as_slice().to_owned();
        self.room.replace(room);
        Ok(Some((kind, bytes)))
    }

    /// A blob's content.
    pub fn blob(&self, id: ObjectId) -> Result<Vec<u8>, GitError> {
        self.expect(id, ObjectKind::Blob)
    }

    /// A tree's entries, in the tree's order.
    pub fn tree(&self, id: TreeId) -> Result<Vec<TreeEntry>, GitError> {
        let bytes = self.expect(id.id(), ObjectKind::Tree)?;
        let hash = self.format.to_gix();
        gix::objs::TreeRefIter::from_bytes(&bytes, hash)
            .map(|entry| {
                let entry = entry.map_err(|error| damaged(id.id(), &error))?;
                Ok(TreeEntry {
                    name: entry.filename.to_vec(),
                    mode: u32::from(entry.mode.value()),
                    id: from_gix(entry.oid),
                })
            })
            .collect()
    }

    /// The entry of that name in a tree, without reading what comes after it.
    pub fn entry(&self, id: TreeId, name: &[u8]) -> Result<Option<TreeEntry>, GitError> {
        let bytes = self.expect(id.id(), ObjectKind::Tree)?;
        for entry in gix::objs::TreeRefIter::from_bytes(&bytes, self.format.to_gix()) {
            let entry = entry.map_err(|error| damaged(id.id(), &error))?;
            if entry.filename == name {
                let mode = u32::from(entry.mode.value());
                return Ok(Some(TreeEntry { name: name.to_vec(), mode, id: from_gix(entry.oid) }));
            }
        }
        Ok(None)
    }

    /// A commit.
    pub fn commit(&self, id: CommitId) -> Result<Commit, GitError> {
        let bytes = self.expect(id.id(), ObjectKind::Commit)?;
        self.parse_commit(id, &bytes)
    }

    /// The commit of that id; nothing if it names something else, or nothing.
    pub fn commit_if_it_is_one(&self, id: ObjectId) -> Result<Option<Commit>, GitError> {
        match self.read(id)? {
            Some((ObjectKind::Commit, bytes)) => self.parse_commit(CommitId(id), &bytes).map(Some),
            _ => Ok(None),
        }
    }

    fn parse_commit(&self, id: CommitId, bytes: &[u8]) -> Result<Commit, GitError> {
        let parsed = CommitRef::from_bytes(bytes, self.format.to_gix()).map_err(|error| damaged(id.id(), &error))?;
        let seconds = parsed.committer().ok().and_then(|who| who.time().ok()).map_or(0, |time| time.seconds);
        Ok(Commit {
            id,
            tree: TreeId(from_gix(&parsed.tree())),
            parents: parsed.parents().map(|parent| CommitId(from_gix(&parent))).collect(),
            summary: subject(parsed.message),
            committed_at: Timestamp::from_millis(seconds.saturating_mul(1000)),
        })
    }

    /// Follows annotated tags to a commit.
    pub fn peel_to_commit(&self, mut id: ObjectId) -> Result<Option<CommitId>, GitError> {
        for _ in 0..16 {
            match self.read(id)? {
                Some((ObjectKind::Commit, _)) => return Ok(Some(CommitId(id))),
                Some((ObjectKind::Tag, bytes)) => {
                    let tag = gix::objs::TagRef::from_bytes(&bytes, self.format.to_gix())
                        .map_err(|error| damaged(id, &error))?;
                    id = from_gix(&tag.target());
                }
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// The id that `content` has as a blob.
    pub fn blob_id(&self, content: &[u8]) -> Result<ObjectId, GitError> {
        self.id_of(Kind::Blob, content)
    }

    /// Writes a blob; when this returns it is on disk.
    pub fn write_blob(&self, content: &[u8]) -> Result<ObjectId, GitError> {
        self.write(Kind::Blob, content)
    }

    /// A blob that is to be written.
    pub fn new_blob(&self, content: Vec<u8>) -> Result<NewObject, GitError> {
        Ok(NewObject { id: self.id_of(Kind::Blob, &content)?, kind: ObjectKind::Blob, content })
    }

    /// A tree that is to be written. The entries are sorted as git wants them.
    pub fn new_tree(&self, mut entries: Vec<TreeEntry>) -> Result<NewObject, GitError> {
        // git sorts a folder as if its name ended in a slash.
        let key = |entry: &TreeEntry| {
            let mut key = entry.name.clone();
            key.extend((entry.mode == MODE_TREE).then_some(b'/'));
            key
        };
        entries.sort_by_key(key);
        let mut content = Vec::new();
        for entry in entries {
            content.extend(format!("{:o} ", entry.mode).bytes());
            content.extend(&entry.name);
            content.push(0);
            content.extend(entry.id.as_bytes());
        }
        Ok(NewObject { id: self.id_of(Kind::Tree, &content)?, kind: ObjectKind::Tree, content })
    }

    /// Writes objects together, in one pack; when this returns they are on disk. Returns the pack's path.
    pub fn write_together<'o>(&self, objects: impl IntoIterator<Item = &'o NewObject>) -> Result<PathBuf, GitError> {
        let modes = (self.sharing.object_directory_mode(), self.sharing.object_mode());
        Pack::of(objects.into_iter(), self.format)
            .and_then(|pack| pack.write(&self.directory, modes.0, modes.1))
            .map_err(GitError::io("write a pack"))
    }

    /// Everything that a small pack of ours holds.
    pub fn objects_of_pack(&self, pack: &Path) -> Result<Vec<NewObject>, GitError> {
        let doing = || GitError::io(format!("read `{}`", pack.display()));
        let index = std::fs::read(pack.with_extension("idx")).map_err(doing())?;
        let ids = pack::ids_in(&index, self.format).map_err(doing())?;
        ids.into_iter()
            .map(|id| {
                let missing = || GitError::Object { id, why: "the pack does not hold it".to_owned() };
                let (kind, content) = self.read(id)?.ok_or_else(missing)?;
                Ok(NewObject { id, kind, content })
            })
            .collect()
    }

    /// Writes those objects again, each on its own, that a prune has taken (hazard 12).
    pub fn restore(&self, objects: &[NewObject]) -> Result<(), GitError> {
        // Opened anew: a pack that was removed lives on in a database that has looked into it.
        let now = Self::open(self.directory.clone(), self.format, self.sharing)?;
        for object in objects.iter().filter(|object| !now.is_loose(object.id) && !now.contains(object.id)) {
            self.write(to_gix_kind(object.kind), &object.content)?;
        }
        Ok(())
    }

    fn expect(&self, id: ObjectId, kind: ObjectKind) -> Result<Vec<u8>, GitError> {
        // Only a blob can be of any size; what names a commit or a tree was found where only those are.
        let found = if kind == ObjectKind::Blob { self.read(id)? } else { self.read_whatever_its_size(id)? };
        match found {
            Some((found, bytes)) if found == kind => Ok(bytes),
            Some((found, _)) => Err(GitError::Object { id, why: format!("it is a {found:?}, not a {kind:?}") }),
            None => Err(GitError::Object { id, why: "the repository does not have it".to_owned() }),
        }
    }

    fn id_of(&self, kind: Kind, content: &[u8]) -> Result<ObjectId, GitError> {
        gix::objs::compute_hash(self.format.to_gix(), kind, content).map(|id| from_gix(&id)).map_err(|error| {
            GitError::Io { doing: "hash an object".to_owned(), source: std::io::Error::other(error.to_string()) }
        })
    }

    fn write(&self, kind: Kind, content: &[u8]) -> Result<ObjectId, GitError> {
        let id = self.id_of(kind, content)?;
        let level = if content.len() < STORED_BYTES_MIN { Compression::BEST_SPEED } else { Compression::NONE };
        let bytes = pack::loose_bytes(kind, content, level).map_err(GitError::io("deflate an object"))?;
        let (folder, file) = self.loose_path(id);
        // A `git gc` may remove the folder, empty as it is, or the new object, which no ref names yet, under our hands.
        let mut tries = 0..32;
        loop {
            match self.write_file(&bytes, &folder, &file) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound && tries.next().is_some() => {}
                written => {
                    written.map_err(GitError::io(format!("write the object `{id}`")))?;
                    return Ok(id);
                }
            }
        }
    }

    /// Folder and file of a loose object.
    fn loose_path(&self, id: ObjectId) -> (PathBuf, PathBuf) {
        let hex = id.to_string();
        let folder = self.directory.join(&hex[..2]);
        let file = folder.join(&hex[2..]);
        (folder, file)
    }

    /// Writes the object beside the folders, where no `git prune` takes it for a leftover of git's, and moves it in.
    fn write_file(&self, bytes: &[u8], folder: &Path, file: &Path) -> std::io::Result<()> {
        let mut temporary = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(&self.directory)?;
        temporary.as_file_mut().write_all(bytes)?;
        let mode = self.sharing.object_mode();
        temporary.as_file().set_permissions(std::fs::Permissions::from_mode(mode))?;
        temporary.as_file().sync_all()?;
        let created = match std::fs::create_dir(folder) {
            Ok(()) => true,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(error),
        };
        // Replacing is right: a file of that name holds the same content, or a damaged one that this heals.
        temporary.persist(file).map_err(|error| error.error)?;
        files::sync_dir(folder)?;
        if created { files::sync_dir(&self.directory) } else { Ok(()) }
    }

    /// Removes what killed runs left half-written, if it is older than `age_seconds`. Returns how many files.
    pub fn sweep(&self, age_seconds: u64) -> std::io::Result<usize> {
        files::remove_older(&self.directory, age_seconds, |name| name.starts_with(TEMPORARY))
    }
}

/// How the names of our temporary files in the object directory begin.
pub(super) const TEMPORARY: &str = ".discern-";

pub(crate) fn to_gix(id: ObjectId) -> gix::hash::ObjectId {
    gix::hash::ObjectId::from_bytes_or_panic(id.as_bytes())
}

pub(crate) fn from_gix(id: &gix::hash::oid) -> ObjectId {
    ObjectId::from_bytes(id.as_bytes()).expect("a git object id has 20 or 32 bytes")
}

pub(super) fn to_gix_kind(kind: ObjectKind) -> Kind {
    match kind {
        ObjectKind::Blob => Kind::Blob,
        ObjectKind::Tree => Kind::Tree,
        ObjectKind::Commit => Kind::Commit,
        ObjectKind::Tag => Kind::Tag,
    }
}

fn from_gix_kind(kind: Kind) -> ObjectKind {
    match kind {
        Kind::Blob => ObjectKind::Blob,
        Kind::Tree => ObjectKind::Tree,
        Kind::Commit => ObjectKind::Commit,
        Kind::Tag => ObjectKind::Tag,
    }
}

fn subject(message: &[u8]) -> String {
    let lines = message.lines().map(|line| line.trim_end()).skip_while(|line| line.is_empty());
    let lines: Vec<&[u8]> = lines.take_while(|line| !line.is_empty()).collect();
    lines.join(&b' ').to_str_lossy().trim().to_owned()
}

fn damaged(id: ObjectId, error: &dyn std::fmt::Display) -> GitError {
    GitError::Object { id, why: error.to_string() }
}
