//! Attempt records as blobs at `refs/discern/attempt/<commit>`, in the user's own repository.
//!
//! Reading is done in this process (through git on reftable); a swap writes the blob durably, moves the ref with
//! [`RefWriter`](crate::git::ref_writer::RefWriter), and then looks whether the blob is still there: a prune between the two
//! would leave a ref to nothing, which breaks the user's own `git gc` (hazard 12). The bytes of the last write stay in
//! the private folder, and whoever finds the ref dangling writes them back.

use std::path::PathBuf;

use super::{Found, RecordStore, StoreError, Swap, Unreadable};
use crate::claim::record::RECORD_BYTES_MAX;
use crate::git::objects::ObjectKind;
use crate::git::ref_lock;
use crate::git::ref_writer::{Change, Mark, Written};
use crate::git::refs::RefValue;
use crate::git::{GitError, LeftoverLock, Repository, with_causes};
use crate::id::{CommitId, ObjectId, RecordId, Token};
use crate::os::files::{self, Durability};
use crate::os::hooks;

/// Where the refs are: followed by a full commit id.
pub const ATTEMPT_PREFIX: &str = "refs/discern/attempt/";

/// The largest blob that is taken for a record, in bytes: the largest that is ever written, and room for a newer format's.
const READ_BYTES_MAX: u64 = RECORD_BYTES_MAX as u64 + 64 * 1024;

/// How often a read is tried again when the ref moves under it.
const READS_MAX: u32 = 8;

/// Records in a repository's refs.
pub struct RefStore<'r> {
    repository: &'r Repository,
}

impl<'r> RefStore<'r> {
    /// The records of a repository; nothing is read yet.
    pub fn new(repository: &'r Repository) -> Self {
        Self { repository }
    }

    /// The token of the locked file that this store's git children hold: every record written names it (hazard 9).
    /// None if the file can't be made; then a leftover lock is never provably dead.
    pub fn writer_token(&mut self) -> Option<Token> {
        self.repository.ref_writer().borrow_mut().token()
    }

    /// Whether a candidate's ref still names `record`, and the object is there: its bytes need not be read again then.
    pub fn still_holds(&self, candidate: &CommitId, record: RecordId) -> bool {
        let value = self.repository.refs().read(&ref_name(candidate));
        value.is_ok_and(|value| value == RefValue::Direct(record.id())) && self.is_there(record)
    }

    /// Whether a record's object is in the repository.
    pub fn is_there(&self, record: RecordId) -> bool {
        let id = record.id();
        self.repository.objects().is_ok_and(|objects| objects.is_loose(id) || objects.contains(id))
    }

    /// The id that a record of these bytes has.
    pub fn id_of(&self, bytes: &[u8]) -> Option<RecordId> {
        self.repository.objects().and_then(|objects| objects.blob_id(bytes)).ok().map(RecordId)
    }

    /// Removes the loose objects of `records`, each unless some ref of the repository names it, whoever's ref that is;
    /// returns those that need no second look.
    ///
    /// # Errors
    /// The refs can't be listed, and nothing was removed; or a file can't be removed.
    pub fn drop_unnamed(&self, records: &[RecordId]) -> Result<Vec<RecordId>, StoreError> {
        let doing = "remove superseded records";
        let refs = self.repository.refs();
        refs.forget();
        let named = refs.list("refs/").map_err(StoreError::because(doing))?;
        let is_named = |record: &RecordId| named.iter().any(|(_, value)| *value == RefValue::Direct(record.id()));
        let unnamed: Vec<RecordId> = records.iter().filter(|record| !is_named(record)).copied().collect();
        let objects = self.repository.objects().map_err(StoreError::because(doing))?;
        unnamed.iter().try_for_each(|record| objects.remove_loose(record.id())).map_err(StoreError::because(doing))?;
        Ok(unnamed)
    }

    /// What is known of a lock on a candidate's ref. `writer_of` finds the writer's token in a record's bytes.
    pub fn leftover_lock(
        &self,
        candidate: &CommitId,
        writer_of: &dyn Fn(&[u8]) -> Option<Token>,
    ) -> Result<LeftoverLock, StoreError> {
        let name = ref_name(candidate);
        let token = |id| self.writer_of_blob(id, writer_of);
        ref_lock::leftover_lock(self.repository.refs(), self.repository.common_dir(), &name, token)
            .map_err(StoreError::because(format!("look at the lock of `{name}`")))
    }

    /// Removes the lock on a candidate's ref if it is provably dead; true if it was.
    pub fn remove_dead_lock(
        &mut self,
        candidate: &CommitId,
        writer_of: &dyn Fn(&[u8]) -> Option<Token>,
    ) -> Result<bool, StoreError> {
        let name = ref_name(candidate);
        let token = |id| self.writer_of_blob(id, writer_of);
        ref_lock::remove_dead_lock(self.repository.refs(), self.repository.common_dir(), &name, token)
            .map_err(StoreError::because(format!("remove the lock of `{name}`")))
    }

    fn writer_of_blob(&self, id: ObjectId, writer_of: &dyn Fn(&[u8]) -> Option<Token>) -> Option<Token> {
        let objects = self.repository.objects().ok()?;
        match objects.header(id) {
            Ok(Some((ObjectKind::Blob, size))) if size <= READ_BYTES_MAX => writer_of(&objects.blob(id).ok()?),
            _ => None,
        }
    }

    /// Removes the lock on a candidate's ref, dead or not: only for `recover --break-lock`, which a person asked for.
    pub fn break_lock(&mut self, candidate: &CommitId) -> Result<(), StoreError> {
        let path = ref_lock::lock_of(self.repository.refs(), &ref_name(candidate));
        files::remove_if_there(&path).map_err(StoreError::because(format!("remove `{}`", path.display())))
    }

    /// Removes a ref that can't be read (C27) and returns the file in the private folder that keeps its raw value.
    /// The caller has made sure that it is not a readable, unfinished record.
    pub fn forget(&mut self, candidate: &CommitId) -> Result<PathBuf, StoreError> {
        self.forget_ref(&ref_name(candidate), &candidate.to_string())
    }

    /// The same for any ref of ours; the file's name begins with `stem`.
    pub fn forget_ref(&mut self, name: &str, stem: &str) -> Result<PathBuf, StoreError> {
        let value = self.repository.refs().read(name).map_err(StoreError::because(format!("read `{name}`")))?;
        let raw = match &value {
            RefValue::Direct(id) => format!("{name} {id}\n"),
            RefValue::Symbolic(target) => format!("{name} ref: {target}\n"),
            RefValue::Broken(why) => format!("{name} is broken: {why}\n"),
            RefValue::Absent => {
                let (doing, problem) = (format!("forget `{name}`"), "there is no such ref".to_owned());
                return Err(StoreError { doing, problem });
            }
        };
        let mut kept = raw.into_bytes();
        if let RefValue::Direct(id) = value
            && let Ok(Some((_, bytes))) = self.repository.objects().and_then(|objects| objects.read(id))
        {
            kept.extend(bytes);
        }
        let file = self.private_folder("forgotten")?.join(format!("{stem}.{}", unique()));
        files::replace(&file, &kept, self.repository.sharing().file_mode(), Durability::Synced)
            .map_err(StoreError::because(format!("write `{}`", file.display())))?;
        match value {
            RefValue::Direct(id) => drop(self.remove_ref(name, id)?),
            RefValue::Broken(_) => {
                let mut writer = self.repository.ref_writer().borrow_mut();
                let removed = writer.remove_broken(self.repository.refs(), name);
                removed.map_err(StoreError::because(format!("remove `{name}`")))?;
            }
            _ => self.remove_unread(name)?,
        }
        Ok(file)
    }

    /// Removes a ref if it still names `expected`; true if it did.
    fn remove_ref(&self, name: &str, expected: ObjectId) -> Result<bool, StoreError> {
        let doing = format!("remove `{name}`");
        let change = Change::Remove { expected };
        let mut writer = self.repository.ref_writer().borrow_mut();
        let written = writer.write(self.repository.refs(), name, change, Mark::Unique, &|| Ok(()));
        match written.map_err(StoreError::because(&*doing))? {
            Written::Done => Ok(true),
            Written::Stale => Ok(false),
            Written::Unknown(problem) => Err(StoreError { doing, problem }),
        }
    }

    /// Removes a ref without naming its old value, which is no object.
    fn remove_unread(&self, name: &str) -> Result<(), StoreError> {
        let doing = StoreError::because(format!("remove `{name}`"));
        let git = ["core.logAllRefUpdates=false", "core.hooksPath=", "hook.reference-transaction.enabled=false"]
            .into_iter()
            .fold(self.repository.git().clone(), |git, setting| git.with_setting(setting));
        git.ask(&["update-ref", "--no-deref", "-d", name]).map_err(doing)?;
        Ok(())
    }

    fn private_folder(&self, name: &str) -> Result<PathBuf, StoreError> {
        let folder = self.repository.private_dir().join(name);
        files::create_dir_durably(&folder, self.repository.sharing().directory_mode())
            .map_err(StoreError::because(format!("make `{}`", folder.display())))?;
        Ok(folder)
    }

    fn last_bytes_file(&self, candidate: &CommitId) -> PathBuf {
        self.repository.private_dir().join("seen").join(format!("{candidate}.last"))
    }

    /// The record behind an id; nothing if the object is missing and can't be written back.
    fn record(&self, candidate: &CommitId, id: ObjectId) -> Result<Option<Found>, GitError> {
        let objects = self.repository.objects()?;
        let record = RecordId(id);
        let damaged = |why: String| Found::Unreadable(Unreadable::Damaged { id: record, why });
        match objects.header(id) {
            Ok(Some((ObjectKind::Blob, bytes))) if bytes > READ_BYTES_MAX => {
                Ok(Some(Found::Unreadable(Unreadable::TooLarge { id: record, bytes })))
            }
            Ok(Some((ObjectKind::Blob, _))) => match objects.read_whatever_its_size(id) {
                Ok(Some((_, bytes))) if objects.blob_id(&bytes)? == id => Ok(Some(Found::Record { id: record, bytes })),
                Ok(Some(_)) => Ok(Some(damaged("its bytes do not have that id".to_owned()))),
                Ok(None) => Ok(None),
                Err(error) => Ok(Some(damaged(error.to_string()))),
            },
            Ok(Some((kind, _))) => Ok(Some(damaged(format!("it is a {kind:?}, not a blob")))),
            Ok(None) => self.written_back(candidate, id),
            Err(error) => Ok(Some(damaged(error.to_string()))),
        }
    }

    /// Writes back a pruned record from the bytes of its last write.
    fn written_back(&self, candidate: &CommitId, id: ObjectId) -> Result<Option<Found>, GitError> {
        let kept = files::read_bounded(&self.last_bytes_file(candidate), READ_BYTES_MAX).ok().flatten();
        let objects = self.repository.objects()?;
        match kept {
            Some(bytes) if objects.blob_id(&bytes)? == id => {
                objects.write_blob(&bytes)?;
                Ok(Some(Found::Record { id: RecordId(id), bytes }))
            }
            _ => Ok(None),
        }
    }

    fn try_read(&self, candidate: &CommitId) -> Result<Found, GitError> {
        let name = ref_name(candidate);
        let mut last = None;
        for _ in 0..READS_MAX {
            let id = match self.repository.refs().read(&name)? {
                RefValue::Absent => return Ok(Found::Absent),
                RefValue::Symbolic(target) => return Ok(Found::Unreadable(Unreadable::Symbolic(target))),
                RefValue::Broken(why) => return Ok(Found::Unreadable(Unreadable::Ref(why))),
                RefValue::Direct(id) => id,
            };
            if let Some(found) = self.record(candidate, id)? {
                return Ok(found);
            }
            // Missing twice under one id is missing; under another id the ref moved between the two looks.
            if last == Some(id) {
                return Ok(Found::Unreadable(Unreadable::Missing(RecordId(id))));
            }
            last = Some(id);
        }
        Ok(Found::Unreadable(Unreadable::Ref("it moves faster than it can be read".to_owned())))
    }

    fn try_swap(&self, candidate: &CommitId, expected: Option<RecordId>, bytes: &[u8]) -> Result<Swap, GitError> {
        let objects = self.repository.objects()?;
        let new = objects.write_blob(bytes)?;
        self.keep_last_bytes(candidate, bytes);
        hooks::at("record written");
        let change = Change::Set { new, expected: expected.map(|record| record.id()) };
        let restore = || match objects.is_loose(new) || objects.contains(new) {
            true => Ok(()),
            false => objects.write_blob(bytes).map(drop),
        };
        let mut writer = self.repository.ref_writer().borrow_mut();
        let written = writer.write(self.repository.refs(), &ref_name(candidate), change, Mark::Unique, &restore)?;
        match written {
            Written::Done => {
                hooks::at("record named");
                restore()?;
                Ok(Swap::Applied(RecordId(new)))
            }
            Written::Stale => self.try_read(candidate).map(Swap::Stale),
            Written::Unknown(why) => Ok(Swap::Unknown(why)),
        }
    }

    /// Advisory: without it a dangling ref stays unreadable.
    fn keep_last_bytes(&self, candidate: &CommitId, bytes: &[u8]) {
        let mode = self.repository.sharing().file_mode();
        if self.private_folder("seen").is_ok() {
            let _ = files::replace(&self.last_bytes_file(candidate), bytes, mode, Durability::Advisory);
        }
    }
}

impl RecordStore for RefStore<'_> {
    fn read(&mut self, candidate: &CommitId) -> Result<Found, StoreError> {
        self.try_read(candidate).map_err(StoreError::because(format!("read `{}`", ref_name(candidate))))
    }

    fn list(&mut self) -> Result<Vec<(CommitId, RecordId)>, StoreError> {
        let listed = self.repository.refs().list(ATTEMPT_PREFIX).map_err(StoreError::because("list the attempts"))?;
        let length = self.repository.object_format().hex_length();
        let null = ObjectId::from_bytes(&vec![0; length / 2]).map_err(StoreError::because("list the attempts"))?;
        let ours = listed.into_iter().filter_map(|(name, value)| {
            let candidate = name.strip_prefix(ATTEMPT_PREFIX).filter(|hex| hex.len() == length)?.parse().ok()?;
            let id = if let RefValue::Direct(id) = value { id } else { null };
            Some((candidate, RecordId(id)))
        });
        Ok(ours.collect())
    }

    fn swap(&mut self, candidate: &CommitId, expected: Option<RecordId>, bytes: &[u8]) -> Swap {
        self.try_swap(candidate, expected, bytes).unwrap_or_else(|error| Swap::Unknown(with_causes(&error)))
    }

    fn remove(&mut self, candidate: &CommitId, expected: RecordId) -> Result<bool, StoreError> {
        self.remove_ref(&ref_name(candidate), expected.id())
    }
}

/// The ref of a candidate's record.
pub fn ref_name(candidate: &CommitId) -> String {
    format!("{ATTEMPT_PREFIX}{candidate}")
}

fn unique() -> String {
    use crate::os::random::{Random, SystemRandom};
    let mut text = SystemRandom.uuid().simple().to_string();
    text.truncate(8);
    text
}
