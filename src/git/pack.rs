//! Several objects in one pack file, so that they cost three syncs together and not three each.
//!
//! The pack holds whole objects, no deltas: gitformat-pack, version 2, with an index of version 2. It gets git's own name, so
//! that the user's `git gc` takes it in like any other. Pack and index are synced before they get their names, and the
//! folder after.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use gix::zlib::Compression;

use super::objects::{ObjectKind, TEMPORARY};
use super::repository::ObjectFormat;
use crate::id::ObjectId;
use crate::os::files;

/// The largest pack that is written, in bytes: offsets beyond need another form of index.
const PACK_BYTES_MAX: usize = 0x7fff_ffff;

/// An object that is not written yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewObject {
    /// Its id.
    pub id: ObjectId,
    pub(super) kind: ObjectKind,
    pub(super) content: Vec<u8>,
}

impl NewObject {
    /// The content of its file, if it lies loose.
    ///
    /// # Errors
    /// It can't be deflated.
    pub fn loose(&self) -> io::Result<Vec<u8>> {
        loose_bytes(super::objects::to_gix_kind(self.kind), &self.content, Compression::BEST_SPEED)
    }
}

/// The content of a loose object's file.
pub(super) fn loose_bytes(kind: gix::objs::Kind, content: &[u8], level: Compression) -> io::Result<Vec<u8>> {
    let header = gix::objs::encode::loose_header(kind, content.len() as u64);
    let mut deflate = gix::zlib::stream::deflate::Write::new(Vec::new(), level);
    deflate.write_all(&header)?;
    deflate.write_all(content)?;
    deflate.flush()?;
    Ok(deflate.into_inner())
}

/// A pack and its index, as bytes.
pub(super) struct Pack {
    /// The pack's own checksum in hex, which names it.
    name: String,
    pack: Vec<u8>,
    index: Vec<u8>,
}

/// Where one object lies in the pack.
struct Placed {
    offset: u32,
    crc: u32,
}

impl Pack {
    /// Lays out `objects`, each once.
    pub(super) fn of<'o>(objects: impl Iterator<Item = &'o NewObject>, format: ObjectFormat) -> io::Result<Self> {
        let once: BTreeMap<ObjectId, &NewObject> = objects.map(|object| (object.id, object)).collect();
        let count = u32::try_from(once.len()).map_err(io::Error::other)?;
        let mut pack = [b"PACK".as_slice(), &2_u32.to_be_bytes(), &count.to_be_bytes()].concat();
        let mut placed = BTreeMap::new();
        for (id, object) in once {
            let start = pack.len();
            append_entry(&mut pack, object)?;
            let offset = u32::try_from(start).map_err(io::Error::other)?;
            placed.insert(id, Placed { offset, crc: crc32fast::hash(&pack[start..]) });
        }
        let checksum = digest(&pack, format)?;
        pack.extend_from_slice(checksum.as_bytes());
        if pack.len() > PACK_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let index = index(&placed, checksum, format)?;
        Ok(Self { name: checksum.to_string(), pack, index })
    }

    /// Writes pack and index into the object directory; when this returns they are on disk. Returns the pack's path.
    pub(super) fn write(&self, objects: &Path, folder_mode: u32, file_mode: u32) -> io::Result<PathBuf> {
        let folder = objects.join("pack");
        files::create_dir_durably(&folder, folder_mode)?;
        let pack = temporary(objects, &self.pack, file_mode)?;
        let index = temporary(objects, &self.index, file_mode)?;
        let path = folder.join(format!("pack-{}.pack", self.name));
        // A pack that lies there without its index is nothing to git; the other way round it would be a broken one.
        pack.persist(&path).map_err(|error| error.error)?;
        index.persist(path.with_extension("idx")).map_err(|error| error.error)?;
        files::sync_dir(&folder)?;
        Ok(path)
    }
}

/// The ids in a pack's index of version 2, as this module and git write them.
pub(super) fn ids_in(index: &[u8], format: ObjectFormat) -> io::Result<Vec<ObjectId>> {
    const NAMES: usize = 8 + 256 * 4;
    let damaged = || io::Error::from(io::ErrorKind::InvalidData);
    let count = index.get(NAMES - 4..NAMES).and_then(|last| last.try_into().ok()).map(u32::from_be_bytes);
    let length = format.hex_length() / 2;
    let names = index.get(NAMES..).and_then(|rest| rest.get(..count? as usize * length)).ok_or_else(damaged)?;
    names.chunks_exact(length).map(|name| ObjectId::from_bytes(name).map_err(|_| damaged())).collect()
}

/// A file with that content, on disk but for its name.
fn temporary(folder: &Path, content: &[u8], mode: u32) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder)?;
    file.write_all(content)?;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(mode))?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Kind and size in seven-bit groups, the lowest first (but for four bits in the first byte), then the content deflated.
fn append_entry(pack: &mut Vec<u8>, object: &NewObject) -> io::Result<()> {
    let kind: u8 = match object.kind {
        ObjectKind::Commit => 1,
        ObjectKind::Tree => 2,
        ObjectKind::Blob => 3,
        ObjectKind::Tag => 4,
    };
    let mut size = object.content.len();
    let mut byte = kind << 4 | (size & 0xf) as u8;
    size >>= 4;
    while size > 0 {
        pack.push(byte | 0x80);
        byte = (size & 0x7f) as u8;
        size >>= 7;
    }
    pack.push(byte);
    let mut deflate = gix::zlib::stream::deflate::Write::new(pack, Compression::BEST_SPEED);
    deflate.write_all(&object.content)?;
    deflate.flush()
}

fn index(placed: &BTreeMap<ObjectId, Placed>, pack: ObjectId, format: ObjectFormat) -> io::Result<Vec<u8>> {
    let mut index = [b"\xfftOc".as_slice(), &2_u32.to_be_bytes()].concat();
    for first in 0..=u8::MAX {
        let up_to = placed.keys().filter(|id| id.as_bytes()[0] <= first).count() as u32;
        index.extend_from_slice(&up_to.to_be_bytes());
    }
    index.extend(placed.keys().flat_map(|id| id.as_bytes().to_vec()));
    index.extend(placed.values().flat_map(|object| object.crc.to_be_bytes()));
    index.extend(placed.values().flat_map(|object| object.offset.to_be_bytes()));
    index.extend_from_slice(pack.as_bytes());
    let checksum = digest(&index, format)?;
    index.extend_from_slice(checksum.as_bytes());
    Ok(index)
}

fn digest(bytes: &[u8], format: ObjectFormat) -> io::Result<ObjectId> {
    let mut hasher = gix::hash::hasher(format.to_gix());
    hasher.update(bytes);
    hasher.try_finalize().map(|id| super::objects::from_gix(&id)).map_err(|error| io::Error::other(error.to_string()))
}
