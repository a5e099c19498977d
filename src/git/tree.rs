//! What a commit's tree holds under given names, from tree objects alone.
//!
//! Only folders that a pathspec can reach are read, and a folder that is selected whole is one entry with its tree's id.
//! Trees read once are kept for the next question about the same commit, because fifty jobs ask about one tree.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};

use super::error::GitError;
use super::objects::{MODE_TREE, Objects, TreeEntry};
use super::pathspec::{Covers, Pathspecs, Spec};
use super::repository::Repository;
use crate::id::{ObjectId, TreeId};

/// The mode of a symbolic link in a tree.
pub const MODE_LINK: u32 = 0o120_000;

/// The mode of a submodule in a tree.
pub const MODE_SUBMODULE: u32 = 0o160_000;

/// Something that was selected: a file, a symbolic link, a submodule, or a folder as a whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InputEntry {
    /// Its path from the top, any bytes but NUL.
    pub path: BString,
    /// Its mode, as in the tree.
    pub mode: u32,
    /// Its object.
    pub id: ObjectId,
}

/// What pathspecs select.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inputs {
    /// The entries, in the tree's order.
    pub entries: Vec<InputEntry>,
    /// The pathspecs, as written, that match no name in the tree. (Exclusions are never among them.)
    pub unmatched: Vec<String>,
}

/// Whether a folder that is selected whole is one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folders {
    /// One entry with the tree's id: for digests.
    Whole,
    /// Each file in it: for counting and for showing.
    Expanded,
}

/// Reads trees, and keeps those that it read.
pub struct Trees<'r> {
    objects: &'r Objects,
    read: RefCell<HashMap<TreeId, Rc<[TreeEntry]>>>,
}

impl Repository {
    /// A reader of trees.
    pub fn trees(&self) -> Result<Trees<'_>, GitError> {
        Ok(Trees { objects: self.objects()?, read: RefCell::default() })
    }

    /// The content of a file at `path` in a tree; nothing if there is none, or if it is a folder, a link or a submodule.
    pub fn file_at(&self, tree: TreeId, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        match self.trees()?.entry_at(tree, path.into())? {
            Some(entry) if entry.mode & 0o170_000 == 0o100_000 => self.objects()?.blob(entry.id).map(Some),
            _ => Ok(None),
        }
    }
}

impl Trees<'_> {
    /// The entry at `path` in a tree.
    pub fn entry_at(&self, tree: TreeId, path: &BStr) -> Result<Option<InputEntry>, GitError> {
        let mut folder = tree;
        let mut parts = path.split(|&byte| byte == b'/').peekable();
        while let Some(part) = parts.next() {
            let entries = self.entries(folder)?;
            let Some(entry) = entries.iter().find(|entry| entry.name == part) else { return Ok(None) };
            if parts.peek().is_none() {
                return Ok(Some(InputEntry { path: path.to_owned(), mode: entry.mode, id: entry.id }));
            }
            if entry.mode != MODE_TREE {
                return Ok(None);
            }
            folder = TreeId(entry.id);
        }
        Ok(None)
    }

    /// What `specs` select in a tree.
    pub fn select(&self, tree: TreeId, specs: &Pathspecs, folders: Folders) -> Result<Inputs, GitError> {
        let mut walk = Walk { trees: self, specs, folders, seen: vec![false; specs.includes.len()], found: Vec::new() };
        let all = specs.includes.iter().any(|spec| spec.covers("".into()) == Covers::All);
        let covered = if all && specs.excludes.is_empty() && folders == Folders::Whole {
            walk.found.push(InputEntry { path: BString::default(), mode: MODE_TREE, id: tree.id() });
            Covered::Yes
        } else {
            Covered::No
        };
        walk.folder(tree, &BString::default(), covered)?;
        let unmatched = specs.includes.iter().zip(&walk.seen);
        let unmatched = unmatched.filter(|(_, seen)| !**seen).map(|(spec, _)| spec.text.clone()).collect();
        Ok(Inputs { entries: walk.found, unmatched })
    }

    /// The paths at which two trees differ, as far as `specs` select them, sorted, at most `at_most` of them.
    pub fn changed(
        &self,
        old: TreeId,
        new: TreeId,
        specs: &Pathspecs,
        at_most: usize,
    ) -> Result<Vec<BString>, GitError> {
        let mut changed = Vec::new();
        let mut pending = vec![(BString::default(), Some(old), Some(new))];
        while let Some((folder, old, new)) = pending.pop() {
            if old == new || changed.len() >= at_most {
                continue;
            }
            let sides = [old, new].map(|side| side.map_or_else(|| Ok(Rc::from([])), |tree| self.entries(tree)));
            let [old, new] = sides;
            let (old, new) = (old?, new?);
            let names: std::collections::BTreeSet<&Vec<u8>> =
                old.iter().chain(new.iter()).map(|entry| &entry.name).collect();
            for name in names {
                let find = |side: &[TreeEntry]| side.iter().find(|entry| entry.name == *name).cloned();
                let (was, is) = (find(&old), find(&new));
                if was == is {
                    continue;
                }
                let path = below(&folder, name);
                let tree = |entry: &Option<TreeEntry>| {
                    entry.as_ref().filter(|entry| entry.mode == MODE_TREE).map(|entry| TreeId(entry.id))
                };
                let (was_tree, is_tree) = (tree(&was), tree(&is));
                if (was_tree.is_some() || is_tree.is_some()) && specs.reach(&path) {
                    pending.push((path.clone(), was_tree, is_tree));
                }
                let file = |entry: &Option<TreeEntry>| entry.as_ref().is_some_and(|entry| entry.mode != MODE_TREE);
                let submodule = [&was, &is].iter().any(|side| side.as_ref().is_some_and(|e| e.mode == MODE_SUBMODULE));
                if (file(&was) || file(&is)) && specs.selects(path.as_bstr(), submodule) {
                    changed.push(path);
                }
            }
        }
        changed.sort();
        changed.truncate(at_most);
        Ok(changed)
    }

    fn entries(&self, tree: TreeId) -> Result<Rc<[TreeEntry]>, GitError> {
        if let Some(known) = self.read.borrow().get(&tree) {
            return Ok(Rc::clone(known));
        }
        let entries: Rc<[TreeEntry]> = self.objects.tree(tree)?.into();
        self.read.borrow_mut().insert(tree, Rc::clone(&entries));
        Ok(entries)
    }
}

impl Pathspecs {
    /// Whether something below that folder may be selected.
    fn reach(&self, folder: &BString) -> bool {
        self.includes.iter().any(|spec| spec.covers(folder.as_bstr()) != Covers::Nothing)
    }
}

/// Whether what is walked lies in a folder that is an entry already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Covered {
    /// It is walked only to see which pathspecs match something.
    Yes,
    No,
}

struct Walk<'w, 'r> {
    trees: &'w Trees<'r>,
    specs: &'w Pathspecs,
    folders: Folders,
    /// For each inclusion, whether it matched a name.
    seen: Vec<bool>,
    found: Vec<InputEntry>,
}

impl Walk<'_, '_> {
    fn folder(&mut self, tree: TreeId, path: &BString, covered: Covered) -> Result<(), GitError> {
        if covered == Covered::Yes && self.nothing_unseen_below(path) {
            return Ok(());
        }
        for entry in &*self.trees.entries(tree)? {
            let path = below(path, &entry.name);
            if entry.mode == MODE_TREE {
                self.subfolder(entry, path, covered)?;
            } else {
                self.file(entry, path, covered);
            }
        }
        Ok(())
    }

    fn subfolder(&mut self, entry: &TreeEntry, path: BString, covered: Covered) -> Result<(), GitError> {
        let mut strongest = Covers::Nothing;
        for (spec, seen) in self.specs.includes.iter().zip(&mut self.seen) {
            match spec.covers(path.as_bstr()) {
                Covers::All => (*seen, strongest) = (true, Covers::All),
                Covers::Perhaps if strongest == Covers::Nothing => strongest = Covers::Perhaps,
                _ => {}
            }
        }
        let excluded = |spec: &Spec| spec.covers(path.as_bstr()) != Covers::Nothing;
        match strongest {
            Covers::Nothing => Ok(()),
            Covers::All
                if covered == Covered::No
                    && self.folders == Folders::Whole
                    && !self.specs.excludes.iter().any(excluded) =>
            {
                self.found.push(InputEntry { path: path.clone(), mode: MODE_TREE, id: entry.id });
                self.folder(TreeId(entry.id), &path, Covered::Yes)
            }
            _ => self.folder(TreeId(entry.id), &path, covered),
        }
    }

    fn file(&mut self, entry: &TreeEntry, path: BString, covered: Covered) {
        let submodule = entry.mode == MODE_SUBMODULE;
        let mut included = false;
        for (spec, seen) in self.specs.includes.iter().zip(&mut self.seen) {
            if spec.matches(path.as_bstr(), submodule) {
                (*seen, included) = (true, true);
            }
        }
        let excluded = |spec: &Spec| spec.matches(path.as_bstr(), submodule);
        if included && covered == Covered::No && !self.specs.excludes.iter().any(excluded) {
            self.found.push(InputEntry { path, mode: entry.mode, id: entry.id });
        }
    }

    fn nothing_unseen_below(&self, folder: &BString) -> bool {
        let unseen = self.specs.includes.iter().zip(&self.seen).filter(|(_, seen)| !**seen);
        unseen.map(|(spec, _)| spec).all(|spec| spec.covers(folder.as_bstr()) == Covers::Nothing)
    }
}

fn below(folder: &BString, name: &[u8]) -> BString {
    let mut path = folder.clone();
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}
