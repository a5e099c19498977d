//! The ledger's tree: reads the few objects on the way to a shard, and writes those on the way to the changed ones.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use bstr::ByteSlice as _;

use super::packs::Packs;
use super::shard::{Shard, ShardPath};
use crate::git::objects::{MODE_TREE, ObjectKind, TreeEntry};
use crate::git::pack::NewObject;
use crate::git::{GitError, Repository};
use crate::id::{ObjectId, Token, TreeId};

/// The mode of a file in a tree.
const MODE_FILE: u32 = 0o100_644;

/// One version of the ledger, with the changes made to it.
pub(super) struct LedgerTree<'r> {
    repository: &'r Repository,
    root: Option<TreeId>,
    /// Trees that were read.
    trees: BTreeMap<TreeId, Rc<[TreeEntry]>>,
    /// Shards to write, by their path.
    changed: BTreeMap<ShardPath, Shard>,
    /// What was written, and the pack that holds it.
    written: Vec<NewObject>,
    pack: Option<PathBuf>,
}

/// Changed shards below one folder: by the first step, then the second with its content.
type Steps = BTreeMap<String, Vec<(String, Shard)>>;

impl<'r> LedgerTree<'r> {
    pub(super) fn new(repository: &'r Repository, root: Option<TreeId>) -> Self {
        let (trees, changed, written) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Self { repository, root, trees, changed, written, pack: None }
    }

    /// The shard at `path` as it stands, changes included; empty where there is none.
    pub(super) fn shard(&mut self, path: &ShardPath) -> Result<Shard, GitError> {
        if let Some(shard) = self.changed.get(path) {
            return Ok(shard.clone());
        }
        Ok(Shard::from_bytes(&self.shard_bytes(path)?))
    }

    /// The stored bytes of the shard at `path`, which have the id that the tree names; none where there is no shard.
    pub(super) fn shard_bytes(&mut self, path: &ShardPath) -> Result<Vec<u8>, GitError> {
        let Some(id) = self.blob_at(path)? else { return Ok(Vec::new()) };
        let objects = self.repository.objects()?;
        // Looked up once, and not for its size first: a shard is ours and small.
        match objects.read_whatever_its_size(id)? {
            Some((ObjectKind::Blob, bytes)) if objects.blob_id(&bytes)? == id => Ok(bytes),
            Some((ObjectKind::Blob, _)) => {
                Err(GitError::Object { id, why: "its bytes do not have that id".to_owned() })
            }
            Some(_) | None => Err(GitError::Object { id, why: "the repository does not have that blob".to_owned() }),
        }
    }

    fn blob_at(&mut self, path: &ShardPath) -> Result<Option<ObjectId>, GitError> {
        let folder = self.below(self.root, path.folder)?.map(TreeId);
        let first = self.below(folder, &path.first)?.map(TreeId);
        self.below(first, &path.second)
    }

    /// Replaces the shard at `path`.
    pub(super) fn put(&mut self, path: &ShardPath, shard: Shard) {
        self.changed.insert(path.clone(), shard);
    }

    /// Changes the shard at `path` in place; true if `change` says that it did.
    pub(super) fn change(
        &mut self,
        path: &ShardPath,
        change: impl FnOnce(&mut Shard) -> bool,
    ) -> Result<bool, GitError> {
        let mut shard = self.shard(path)?;
        let changed = change(&mut shard);
        if changed {
            self.put(path, shard);
        }
        Ok(changed)
    }

    /// The paths of all shards in a folder.
    pub(super) fn shards(&mut self, folder: &'static str) -> Result<Vec<ShardPath>, GitError> {
        let mut paths = Vec::new();
        let top = self.below(self.root, folder)?.map(TreeId);
        for first in self.entries(top)?.iter() {
            let name = |entry: &TreeEntry| String::from_utf8_lossy(&entry.name).into_owned();
            for second in self.entries(Some(TreeId(first.id)))?.iter() {
                paths.push(ShardPath { folder, first: name(first), second: name(second) });
            }
        }
        Ok(paths)
    }

    /// Writes every changed shard and the trees above them; the new root, signed by its writer. All of it is on disk when
    /// this returns.
    pub(super) fn write(&mut self, writer: Option<Token>) -> Result<TreeId, GitError> {
        let changed = std::mem::take(&mut self.changed);
        let mut folders: BTreeMap<&'static str, Steps> = BTreeMap::new();
        for (path, shard) in changed {
            folders.entry(path.folder).or_default().entry(path.first).or_default().push((path.second, shard));
        }
        let mut root = self.entries(self.root)?.to_vec();
        for (folder, firsts) in folders {
            let top = self.below(self.root, folder)?.map(TreeId);
            let mut top_entries = self.entries(top)?.to_vec();
            for (first, shards) in firsts {
                let below = self.below(top, &first)?.map(TreeId);
                let mut entries = self.entries(below)?.to_vec();
                for (second, shard) in shards {
                    let blob = if shard.is_empty() { None } else { Some(self.add_blob(shard.to_bytes())?) };
                    place(&mut entries, &second, MODE_FILE, blob);
                }
                let tree = if entries.is_empty() { None } else { Some(self.add_tree(entries)?) };
                place(&mut top_entries, &first, MODE_TREE, tree);
            }
            let tree = if top_entries.is_empty() { None } else { Some(self.add_tree(top_entries)?) };
            place(&mut root, folder, MODE_TREE, tree);
        }
        if let Some(writer) = writer {
            sign(&mut root, writer);
        }
        let root = TreeId(self.add_tree(root)?);
        let mut packs = Packs::of(self.repository);
        // What can't be taken along stays where it is.
        let along = packs.take().unwrap_or_default();
        let pack = self.repository.objects()?.write_together(self.written.iter().chain(&along))?;
        packs.settle(&pack);
        self.pack = Some(pack);
        Ok(root)
    }

    /// The writer of a version of the ledger.
    pub(super) fn writer_of(repository: &Repository, root: ObjectId) -> Option<Token> {
        let entries = repository.objects().ok()?.tree(TreeId(root)).ok()?;
        entries.iter().find_map(|entry| entry.name.strip_prefix(WRITER)?.to_str().ok()?.parse().ok())
    }

    /// Writes again whatever a prune took of what was written here (hazard 12).
    pub(super) fn restore(&self) -> Result<(), GitError> {
        if self.pack.as_ref().is_some_and(|pack| pack.exists()) {
            return Ok(());
        }
        self.repository.objects()?.restore(&self.written)
    }

    fn add_blob(&mut self, bytes: Vec<u8>) -> Result<ObjectId, GitError> {
        let object = self.repository.objects()?.new_blob(bytes)?;
        Ok(self.add(object))
    }

    fn add_tree(&mut self, entries: Vec<TreeEntry>) -> Result<ObjectId, GitError> {
        let object = self.repository.objects()?.new_tree(entries)?;
        Ok(self.add(object))
    }

    fn add(&mut self, object: NewObject) -> ObjectId {
        let id = object.id;
        self.written.push(object);
        id
    }

    /// The object at `name` in a tree.
    fn below(&mut self, tree: Option<TreeId>, name: &str) -> Result<Option<ObjectId>, GitError> {
        let entries = self.entries(tree)?;
        Ok(entries.iter().find(|entry| entry.name == name.as_bytes()).map(|entry| entry.id))
    }

    fn entries(&mut self, tree: Option<TreeId>) -> Result<Rc<[TreeEntry]>, GitError> {
        let Some(tree) = tree else { return Ok([].into()) };
        if let Some(known) = self.trees.get(&tree) {
            return Ok(known.clone());
        }
        let entries: Rc<[TreeEntry]> = self.repository.objects()?.tree(tree)?.into();
        self.trees.insert(tree, entries.clone());
        Ok(entries)
    }
}

/// How the name of the root's signature begins.
const WRITER: &[u8] = b"writer-";

/// Puts the writer's token into the root as the name of one more entry (which names a folder that is there anyway, and so
/// costs no object): a root of this writer's is nobody else's, and a lock that holds it tells whose it is (hazard 9).
fn sign(root: &mut Vec<TreeEntry>, writer: Token) {
    root.retain(|entry| !entry.name.starts_with(WRITER));
    let signature = root.first().map(|any| {
        let name = [WRITER, writer.to_string().as_bytes()].concat();
        TreeEntry { name, mode: any.mode, id: any.id }
    });
    root.extend(signature);
}

/// Puts an entry in place of the one of that name, or removes it.
fn place(entries: &mut Vec<TreeEntry>, name: &str, mode: u32, id: Option<ObjectId>) {
    entries.retain(|entry| entry.name != name.as_bytes());
    entries.extend(id.map(|id| TreeEntry { name: name.as_bytes().to_vec(), mode, id }));
}
