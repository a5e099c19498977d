//! Reading refs by their full names, on both ref formats.
//!
//! Files: the loose file first, then `packed-refs` as it is after that, which is git's own order: git writes the packed
//! file before it removes a loose one (hazard 3). Reftable: git is asked, one child for each question; a command that
//! needs several answers of one instant asks for them together with [`Refs::remember`].

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;
use gix::refs::packed;

use super::command::Git;
use super::error::GitError;
use super::format::Format;
use super::location::Location;
use super::repository::{ObjectFormat, RefFormat};
use crate::id::ObjectId;

/// What a ref's name holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefValue {
    /// There is no such ref.
    Absent,
    /// An object.
    Direct(ObjectId),
    /// Another ref's full name.
    Symbolic(String),
    /// Something that is no ref: an empty file, garbage.
    Broken(String),
}

/// The longest loose ref file that is looked at, in bytes.
const REF_BYTES_MAX: u64 = 4096;

/// The refs of one repository, as seen from one worktree.
pub struct Refs {
    git_dir: PathBuf,
    common_dir: PathBuf,
    format: RefFormat,
    objects: ObjectFormat,
    git: Git,
    /// For refs that all worktrees share: it works when this one has been removed.
    shared: Git,
    packed: RefCell<Option<Packed>>,
    remembered: RefCell<Option<Remembered>>,
}

/// `packed-refs` as it was when its file had this identity.
struct Packed {
    identity: (u64, u64, i64, i64, i64, i64),
    buffer: packed::Buffer,
}

/// One line of `git for-each-ref`.
struct Listed {
    name: String,
    value: RefValue,
    /// The object at the end, also of a symbolic ref.
    leads_to: Option<ObjectId>,
}

/// Answers of one instant.
struct Remembered {
    prefixes: Vec<String>,
    values: BTreeMap<String, RefValue>,
}

impl Refs {
    pub(super) fn new(location: &Location, format: &Format, git: Git) -> Self {
        Self {
            git_dir: location.git_dir.clone(),
            common_dir: location.common_dir.clone(),
            format: format.refs,
            objects: format.objects,
            git,
            shared: Git::at(&location.common_dir, None),
            packed: RefCell::new(None),
            remembered: RefCell::new(None),
        }
    }

    /// How refs are kept here.
    pub fn format(&self) -> RefFormat {
        self.format
    }

    /// What the ref with that full name (`HEAD`, `refs/…`) holds now; symbolic refs are not followed.
    pub fn read(&self, name: &str) -> Result<RefValue, GitError> {
        match self.format {
            RefFormat::Files => self.read_file(name),
            RefFormat::Reftable => self.read_through_git(name),
        }
    }

    /// The object that a ref leads to, following symbolic refs, and the full name of the last ref. Nothing if it is absent.
    pub fn resolve(&self, name: &str) -> Result<Option<(String, ObjectId)>, GitError> {
        let mut name = name.to_owned();
        for _ in 0..6 {
            match self.read(&name)? {
                RefValue::Direct(id) => return Ok(Some((name, id))),
                RefValue::Symbolic(next) => name = next,
                RefValue::Absent => return Ok(None),
                RefValue::Broken(why) => {
                    return Err(GitError::Damaged { place: self.place_of(&name), why });
                }
            }
        }
        Ok(None)
    }

    /// Every ref whose name begins with `prefix` (which ends in a slash), sorted by name.
    pub fn list(&self, prefix: &str) -> Result<Vec<(String, RefValue)>, GitError> {
        match self.format {
            RefFormat::Files => self.list_files(prefix),
            RefFormat::Reftable => self.list_through_git(prefix),
        }
    }

    /// On reftable: asks git once for `HEAD` and everything below `prefixes`, and answers reads from that until
    /// [`Refs::forget`]. On files it does nothing, because a read is cheap there. For read-only answers of one instant.
    pub fn remember(&self, prefixes: &[&str]) -> Result<(), GitError> {
        if self.format == RefFormat::Files {
            return Ok(());
        }
        let mut values = BTreeMap::new();
        for listed in self.for_each_ref(&[&["HEAD"], prefixes].concat())? {
            if let (RefValue::Symbolic(target), Some(id)) = (&listed.value, listed.leads_to) {
                values.insert(target.clone(), RefValue::Direct(id));
            }
            values.insert(listed.name, listed.value);
        }
        let prefixes = prefixes.iter().map(|prefix| (*prefix).to_owned()).collect();
        *self.remembered.borrow_mut() = Some(Remembered { prefixes, values });
        Ok(())
    }

    /// Ends [`Refs::remember`]: the next read is of that moment again.
    pub fn forget(&self) {
        *self.remembered.borrow_mut() = None;
    }

    /// The file or folder that a ref's name stands for, for messages and for syncing.
    pub(crate) fn place_of(&self, name: &str) -> PathBuf {
        match self.format {
            RefFormat::Reftable => self.common_dir.join("reftable"),
            RefFormat::Files if is_shared(name) => self.common_dir.join(name),
            RefFormat::Files => self.git_dir.join(name),
        }
    }

    fn read_file(&self, name: &str) -> Result<RefValue, GitError> {
        let value = read_loose(&self.place_of(name), self.objects)?;
        if value != RefValue::Absent || !name.starts_with("refs/") {
            return Ok(value);
        }
        Ok(self.packed_value(name)?.map_or(RefValue::Absent, RefValue::Direct))
    }

    fn packed_value(&self, name: &str) -> Result<Option<ObjectId>, GitError> {
        self.with_packed(|buffer| {
            let Ok(full) = <&gix::refs::FullNameRef>::try_from(name) else { return Ok(None) };
            let found = buffer.try_find(full.as_partial_name()).map_err(|error| GitError::Damaged {
                place: self.common_dir.join("packed-refs"),
                why: error.to_string(),
            })?;
            Ok(found.filter(|reference| reference.name == full).and_then(|reference| parse_id(reference.target)))
        })
        .map(Option::flatten)
    }

    /// Runs `with` on `packed-refs` as it is now; nothing when there is none.
    fn with_packed<T>(&self, with: impl FnOnce(&packed::Buffer) -> Result<T, GitError>) -> Result<Option<T>, GitError> {
        let path = self.common_dir.join("packed-refs");
        let meta = match std::fs::metadata(&path) {
            Ok(meta) => meta,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(GitError::io("read `packed-refs`")(error)),
        };
        let identity = (meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
        let mut kept = self.packed.borrow_mut();
        if kept.as_ref().is_none_or(|packed| packed.identity != identity) {
            let buffer = packed::Buffer::open(path.clone(), 32 * 1024, self.objects.to_gix())
                .map_err(|error| GitError::Damaged { place: path, why: error.to_string() })?;
            *kept = Some(Packed { identity, buffer });
        }
        kept.as_ref().map(|packed| with(&packed.buffer)).transpose()
    }

    fn list_files(&self, prefix: &str) -> Result<Vec<(String, RefValue)>, GitError> {
        let mut found = BTreeMap::new();
        // Loose first: what is packed and pruned meanwhile is then found in the packed file.
        let mut folders = vec![prefix.trim_end_matches('/').to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = match std::fs::read_dir(self.common_dir.join(&folder)) {
                Ok(entries) => entries,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => continue,
                Err(error) => return Err(GitError::io(format!("list `{folder}`"))(error)),
            };
            for entry in entries {
                let entry = entry.map_err(GitError::io(format!("list `{folder}`")))?;
                let Ok(name) = entry.file_name().into_string() else { continue };
                let name = format!("{folder}/{name}");
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(name);
                } else if !name.ends_with(".lock") {
                    found.insert(name.clone(), read_loose(&self.common_dir.join(&name), self.objects)?);
                }
            }
        }
        self.with_packed(|buffer| {
            let damaged = |why: String| GitError::Damaged { place: self.common_dir.join("packed-refs"), why };
            for reference in buffer.iter_prefixed(prefix.into()).map_err(|error| damaged(error.to_string()))? {
                let reference = reference.map_err(|error| damaged(error.to_string()))?;
                if let (Ok(name), Some(id)) = (reference.name.as_bstr().to_str(), parse_id(reference.target)) {
                    let known = found.entry(name.to_owned()).or_insert(RefValue::Direct(id));
                    if *known == RefValue::Absent {
                        *known = RefValue::Direct(id);
                    }
                }
            }
            Ok(())
        })?;
        found.retain(|_, value| *value != RefValue::Absent);
        Ok(found.into_iter().collect())
    }

    fn read_through_git(&self, name: &str) -> Result<RefValue, GitError> {
        if let Some(remembered) = &*self.remembered.borrow()
            && let Some(value) = remembered.answer(name)
        {
            return Ok(value);
        }
        if name == "HEAD" {
            return self.read_head_through_git();
        }
        let found = self.for_each_ref(&[name])?.into_iter().find(|listed| listed.name == name);
        Ok(found.map_or(RefValue::Absent, |listed| listed.value))
    }

    /// `HEAD` may name a branch without a commit, which `for-each-ref` does not list.
    fn read_head_through_git(&self) -> Result<RefValue, GitError> {
        let finished = self.git.run(&["symbolic-ref", "--quiet", "--no-recurse", "HEAD"])?;
        if finished.status.success() {
            return name_in(finished.stdout.trim_ascii()).map(RefValue::Symbolic);
        }
        let finished = self.git.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD"])?;
        let text = String::from_utf8_lossy(&finished.stdout).trim().to_owned();
        text.parse().map(RefValue::Direct).map_err(|_| finished.into_error())
    }

    fn list_through_git(&self, prefix: &str) -> Result<Vec<(String, RefValue)>, GitError> {
        if let Some(remembered) = &*self.remembered.borrow()
            && remembered.prefixes.iter().any(|known| prefix.starts_with(known.as_str()))
        {
            let within = remembered.values.iter().filter(|(name, _)| name.starts_with(prefix));
            return Ok(within.map(|(name, value)| (name.clone(), value.clone())).collect());
        }
        let mut found: Vec<_> =
            self.for_each_ref(&[prefix])?.into_iter().map(|listed| (listed.name, listed.value)).collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(found)
    }

    fn for_each_ref(&self, patterns: &[&str]) -> Result<Vec<Listed>, GitError> {
        let mut arguments = vec!["for-each-ref", "--format=%(refname)%00%(objectname)%00%(symref)"];
        arguments.extend(patterns.contains(&"HEAD").then_some("--include-root-refs"));
        arguments.extend(patterns);
        let shared = patterns.iter().all(|pattern| is_shared(pattern));
        let printed = if shared { &self.shared } else { &self.git }.ask(&arguments)?;
        let mut found = Vec::new();
        for line in printed.lines() {
            let fields: Vec<&[u8]> = line.split_str("\0").collect();
            let &[name, id, symbolic] = fields.as_slice() else {
                let why = line.to_str_lossy().into_owned();
                return Err(GitError::Answer { command: "git for-each-ref".to_owned(), why });
            };
            // None of ours has such a name, and no other can be asked for by it.
            let Ok(name) = name.to_str() else { continue };
            let leads_to = parse_id(id.as_bstr());
            let value = match (symbolic, leads_to) {
                (b"", Some(id)) => RefValue::Direct(id),
                (b"", None) => RefValue::Broken(format!("it holds `{}`", id.as_bstr())),
                (target, _) => RefValue::Symbolic(name_in(target)?),
            };
            found.push(Listed { name: name.to_owned(), value, leads_to });
        }
        Ok(found)
    }
}

impl Remembered {
    /// The value of a ref that was asked for, [`RefValue::Absent`] included; nothing for one that was not.
    fn answer(&self, name: &str) -> Option<RefValue> {
        if let Some(value) = self.values.get(name) {
            return Some(value.clone());
        }
        self.prefixes.iter().any(|prefix| name.starts_with(prefix.as_str())).then_some(RefValue::Absent)
    }
}

/// Whether a ref, or whatever begins so, is the same in all worktrees.
fn is_shared(name: &str) -> bool {
    name.starts_with("refs/") && !is_per_worktree(name)
}

/// Refs that each worktree has of its own.
fn is_per_worktree(name: &str) -> bool {
    ["refs/worktree/", "refs/bisect/", "refs/rewritten/"].iter().any(|prefix| name.starts_with(prefix))
}

fn parse_id(hex: &bstr::BStr) -> Option<ObjectId> {
    hex.to_str().ok()?.parse().ok()
}

/// The name of a ref, as documents and messages have it.
fn name_in(name: &[u8]) -> Result<String, GitError> {
    let text = name.to_str().map(str::to_owned);
    text.map_err(|_| GitError::RefName { name: name.to_str_lossy().into_owned() })
}

/// Reads one loose ref file. A symbolic link counts as a symbolic ref and is not followed.
fn read_loose(path: &Path, objects: ObjectFormat) -> Result<RefValue, GitError> {
    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => std::fs::File::from(file),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ISDIR | Errno::NAMETOOLONG) => return Ok(RefValue::Absent),
        Err(Errno::LOOP) => {
            let target = std::fs::read_link(path).unwrap_or_default();
            return Ok(RefValue::Symbolic(target.to_string_lossy().into_owned()));
        }
        Err(error) => return Err(GitError::io(format!("read `{}`", path.display()))(error.into())),
    };
    let mut content = Vec::new();
    match file.take(REF_BYTES_MAX).read_to_end(&mut content) {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::IsADirectory => return Ok(RefValue::Absent),
        Err(error) => return Err(GitError::io(format!("read `{}`", path.display()))(error)),
    }
    parse_loose(&content, objects)
}

fn parse_loose(content: &[u8], objects: ObjectFormat) -> Result<RefValue, GitError> {
    if let Some(target) = content.strip_prefix(b"ref:") {
        return name_in(target.trim_ascii()).map(RefValue::Symbolic);
    }
    let hex = content.get(..objects.hex_length()).and_then(|hex| hex.to_str().ok());
    let ends = content.get(objects.hex_length()).is_none_or(u8::is_ascii_whitespace);
    Ok(match hex.and_then(|hex| hex.parse().ok()) {
        Some(id) if ends => RefValue::Direct(id),
        _ if content.is_empty() => RefValue::Broken("it is empty".to_owned()),
        _ => {
            let shown = &content[..content.len().min(64)];
            RefValue::Broken(format!("it holds `{}`", shown.to_str_lossy().trim().escape_debug()))
        }
    })
}
