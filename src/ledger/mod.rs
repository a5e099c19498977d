//! Outcomes and receipts of finished attempts, kept forward from their records.
//!
//! `refs/discern/ledger` points at a tree: `outcome/<xx>/<xx>` by commit, `receipt/<xx>/<xx>` by subject, `recent/<xx>/<xx>`
//! by requirement name; two steps of six bits, chosen by SHA-256, each file sorted JSON lines. Finding an entry costs a
//! few object reads, however many there are; adding one rewrites its shard and three small trees. Entries never change;
//! only `gc` removes them. A lost swap is retried by re-applying *its own* additions or removals to the tree just read;
//! two trees are never united. The ledger has no say in who owns a candidate (C3).
//!
//! `recent` points at the newest few receipts of each requirement name, whatever their subject: how `done` and `explain` find
//! what differs. It holds nothing that the receipts do not, so it is the one part whose lines are replaced.

mod mend;
pub mod outcome;
mod packs;
mod shard;
pub mod snapshot;
mod tree;

use std::collections::BTreeMap;

use crate::claim::record::Record;
use crate::evidence::format::Unreadable;
use crate::evidence::{Receipt, RequirementKind};
use crate::git::ref_lock;
use crate::git::ref_writer::{Change, Mark, Written};
use crate::git::refs::RefValue;
use crate::git::{GitError, LeftoverLock, Repository, with_causes};
use crate::id::{AttemptId, CommitId, Name, Subject, TreeId};
use crate::os::{files, hooks};
use crate::store::StoreError;
pub use outcome::{FailedRequirement, MeasuredStandard, OutcomeEntry};
use shard::{Line, Recent, Shard, ShardPath};
pub use snapshot::Snapshot;
use tree::LedgerTree;

/// How often a lost swap is answered by applying the same changes to the tree that is there now.
const SWAPS_MAX: usize = 64;
/// How often a swap may end unknown, each after two seconds of contention, before that is the answer.
const UNKNOWN_MAX: u32 = 3;

/// How many receipts of one requirement name `recent` points at.
const RECENT_MAX: usize = 8;

/// The ref that points at the ledger's tree.
pub const LEDGER_REF: &str = "refs/discern/ledger";

/// Why the ledger could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// What is there is damaged: `recover --forget` takes it out. What is only newer than this version is not.
    #[error(transparent)]
    Damaged(StoreError),
    /// It could not be reached, is newer, or was not written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What one absorption adds. Adding an entry that is there already changes nothing.
#[derive(Debug, Clone, Default)]
pub struct Additions {
    /// Outcomes, keyed by commit and generation.
    pub outcomes: Vec<OutcomeEntry>,
    /// Receipts, keyed by subject and attempt.
    pub receipts: Vec<Receipt>,
}

impl Additions {
    /// Everything that the ledger keeps of a finished record; nothing while it is unfinished.
    pub fn from_record(record: &Record) -> Option<Self> {
        let outcome = OutcomeEntry::from_record(record)?;
        Some(Self { outcomes: vec![outcome], receipts: record.receipts.clone() })
    }
}

/// What retention takes away.
#[derive(Debug, Clone, Default)]
pub struct Removals {
    /// Outcomes, by commit and generation.
    pub outcomes: Vec<(CommitId, u32)>,
    /// Receipts, by subject and attempt.
    pub receipts: Vec<(Subject, AttemptId)>,
}

/// Receipts, and what could not be read on the way: an unreadable shard of receipts is a miss (B073).
#[derive(Debug, Clone, Default)]
pub struct FoundReceipts {
    /// Newest first.
    pub receipts: Vec<Receipt>,
    /// One sentence for each shard or line that could not be read.
    pub warnings: Vec<String>,
    /// Whether a newer git-discern wrote some of them: which verdict is the newest is not known here then.
    pub newer: bool,
}

impl FoundReceipts {
    /// Nothing was found, because of `warning`.
    pub fn nothing(warning: String) -> Self {
        Self { warnings: vec![warning], ..Self::default() }
    }

    /// Takes in what was found elsewhere.
    fn add(&mut self, other: Self) {
        self.receipts.extend(other.receipts);
        self.warnings.extend(other.warnings);
        self.newer |= other.newer;
    }
}

/// The ledger of one repository.
pub struct Ledger<'r> {
    repository: &'r Repository,
}

impl<'r> Ledger<'r> {
    /// The ledger of a repository; nothing is read yet.
    pub fn new(repository: &'r Repository) -> Self {
        Self { repository }
    }

    /// Adds entries, durably; when this returns they are found. True if anything was new.
    ///
    /// # Errors
    /// The ledger can't be read or written. A shard of outcomes that can't be read is never overwritten.
    pub fn absorb(&mut self, additions: &Additions) -> Result<bool, LedgerError> {
        let mut edits: BTreeMap<ShardPath, Vec<Line>> = BTreeMap::new();
        for outcome in &additions.outcomes {
            let line = Line::outcome(outcome).map_err(|error| failed("write an outcome", &error))?;
            edits.entry(ShardPath::outcome(&outcome.commit)).or_default().push(line);
        }
        for receipt in &additions.receipts {
            let line = Line::receipt(receipt).map_err(|error| failed("write a receipt", &error))?;
            edits.entry(ShardPath::receipt(&receipt.subject)).or_default().push(line);
        }
        self.edit("add to the ledger", |tree| {
            let mut changed = false;
            for (path, lines) in &edits {
                let mut shard = match tree.shard(path) {
                    // A shard of receipts that is lost is a miss (B073); in its place a new one, so that the ledger no
                    // longer names what is not there.
                    Err(GitError::Object { .. }) if path.folder == shard::RECEIPT => Shard::default(),
                    shard => shard?,
                };
                for line in lines {
                    changed |= shard.add(line.clone());
                }
                tree.put(path, shard);
            }
            if changed {
                point_at_recent(tree, &additions.receipts)?;
            }
            Ok(changed)
        })
    }

    /// Removes entries, durably. Those that are not there are passed over.
    ///
    /// # Errors
    /// The ledger can't be read or written.
    pub fn remove(&mut self, removals: &Removals) -> Result<(), LedgerError> {
        self.edit("remove from the ledger", |tree| {
            let mut changed = false;
            for (commit, generation) in &removals.outcomes {
                changed |= tree.change(&ShardPath::outcome(commit), |shard| {
                    shard.remove(&shard::outcome_key(commit, *generation))
                })?;
            }
            for (subject, attempt) in &removals.receipts {
                changed |= tree.change(&ShardPath::receipt(subject), |shard| {
                    shard.remove(&shard::receipt_key(subject, *attempt))
                })?;
            }
            Ok(changed)
        })
        .map(drop)
    }

    /// Every outcome of a commit, by generation, lowest first.
    ///
    /// # Errors
    /// The ledger or the shard can't be read.
    pub fn outcomes(&self, commit: CommitId) -> Result<Vec<OutcomeEntry>, LedgerError> {
        self.snapshot()?.outcomes(commit)
    }

    /// The ledger as it is now, for questions about many commits.
    ///
    /// # Errors
    /// The ledger's ref can't be read.
    pub fn snapshot(&self) -> Result<Snapshot<'r>, LedgerError> {
        let root = self.root().map_err(|error| failed("read the ledger", &error))?;
        Ok(Snapshot::new(self.repository, root))
    }

    /// The newest passed or failed `done` outcome of a commit: the one that decides.
    ///
    /// # Errors
    /// The ledger can't be read.
    pub fn newest_done_outcome(&self, commit: CommitId) -> Result<Option<OutcomeEntry>, LedgerError> {
        Ok(self.outcomes(commit)?.into_iter().rev().find(OutcomeEntry::decides))
    }

    /// Every receipt for a subject, newest first; an unreadable shard is a miss.
    ///
    /// # Errors
    /// The ledger's ref can't be read.
    pub fn receipts(&self, subject: Subject) -> Result<FoundReceipts, LedgerError> {
        Ok(self.snapshot()?.receipts(subject))
    }

    /// The newest receipts of a requirement of that name, as [`Snapshot::nearest`] has them.
    ///
    /// # Errors
    /// The ledger's ref can't be read.
    pub fn nearest(&self, kind: RequirementKind, name: &Name) -> Result<FoundReceipts, LedgerError> {
        Ok(self.snapshot()?.nearest(kind, name))
    }

    /// Every outcome, for retention and for lists.
    ///
    /// # Errors
    /// The ledger or a shard can't be read.
    pub fn all_outcomes(&self) -> Result<Vec<OutcomeEntry>, LedgerError> {
        let Some(mut tree) = self.tree()? else { return Ok(Vec::new()) };
        let doing = |error: GitError| failed("read the ledger", &error);
        let mut outcomes = Vec::new();
        for path in tree.shards(shard::OUTCOME).map_err(doing)? {
            let shard = tree.shard_bytes(&path).map_err(doing)?;
            for line in shard::lines(&shard) {
                outcomes.push(shard::outcome(line).map_err(|error| failed("read the ledger", &error))?);
            }
        }
        Ok(outcomes)
    }

    /// Every receipt, for retention and for lists.
    ///
    /// # Errors
    /// The ledger can't be read; an unreadable shard is a miss.
    pub fn all_receipts(&self) -> Result<FoundReceipts, LedgerError> {
        let Some(mut tree) = self.tree()? else { return Ok(FoundReceipts::default()) };
        let mut found = FoundReceipts::default();
        for path in tree.shards(shard::RECEIPT).map_err(|error| failed("read the ledger", &error))? {
            found.add(match tree.shard_bytes(&path) {
                Ok(shard) => shard::receipts(shard::lines(&shard)),
                Err(error) => FoundReceipts::nothing(error.to_string()),
            });
        }
        Ok(found)
    }

    /// The tree that the ref names now; nothing where there is no ledger yet.
    fn tree(&self) -> Result<Option<LedgerTree<'r>>, LedgerError> {
        let root = self.root().map_err(|error| failed("read the ledger", &error))?;
        Ok(root.map(|root| LedgerTree::new(self.repository, Some(root))))
    }

    fn root(&self) -> Result<Option<TreeId>, GitError> {
        match self.repository.refs().read(LEDGER_REF)? {
            RefValue::Absent => Ok(None),
            RefValue::Direct(id) => Ok(Some(TreeId(id))),
            RefValue::Symbolic(target) => Err(unusable(format!("it is a symbolic ref to `{target}`"))),
            RefValue::Broken(why) => Err(unusable(why)),
        }
    }

    /// What is known of a lock on the ledger's ref.
    ///
    /// # Errors
    /// The lock can't be looked at.
    pub fn leftover_lock(&self) -> Result<LeftoverLock, StoreError> {
        let writer_of = |root| LedgerTree::writer_of(self.repository, root);
        ref_lock::leftover_lock(self.repository.refs(), self.repository.common_dir(), LEDGER_REF, writer_of)
            .map_err(StoreError::because("look at the ledger's lock"))
    }

    /// Removes the lock on the ledger's ref, dead or not: only for `recover --break-lock`, which a person asked for.
    ///
    /// # Errors
    /// It can't be removed.
    pub fn break_lock(&mut self) -> Result<(), StoreError> {
        let lock = ref_lock::lock_of(self.repository.refs(), LEDGER_REF);
        files::remove_if_there(&lock).map_err(StoreError::because("remove the ledger's lock"))
    }

    /// Removes the lock on the ledger's ref if it is provably dead; true if it was.
    ///
    /// # Errors
    /// It can't be looked at or removed.
    pub fn remove_dead_lock(&self) -> Result<bool, StoreError> {
        let writer_of = |root| LedgerTree::writer_of(self.repository, root);
        let (refs, common_dir) = (self.repository.refs(), self.repository.common_dir());
        ref_lock::remove_dead_lock(refs, common_dir, LEDGER_REF, writer_of)
            .map_err(StoreError::because("remove the ledger's lock"))
    }

    /// Applies `change` to the tree that is there and swaps the ref; a lost swap applies it again to the tree that won.
    fn edit(
        &mut self,
        doing: &str,
        change: impl Fn(&mut LedgerTree<'r>) -> Result<bool, GitError>,
    ) -> Result<bool, LedgerError> {
        let mut last = "others keep writing it".to_owned();
        let mut unknown = 0;
        for _ in 0..SWAPS_MAX {
            self.repository.refs().forget();
            let root = self.root().map_err(|error| failed(doing, &error))?;
            let mut tree = LedgerTree::new(self.repository, root);
            if !change(&mut tree).map_err(|error| failed(doing, &error))? {
                return Ok(false);
            }
            let mut writer = self.repository.ref_writer().borrow_mut();
            let token = writer.token();
            let new = tree.write(token).map_err(|error| failed(doing, &error))?;
            hooks::at("ledger written");
            let mark = if token.is_some() { Mark::Unique } else { Mark::Shared };
            let swap = Change::Set { new: new.id(), expected: root.map(|root| root.id()) };
            let restore = || tree.restore();
            match writer.write(self.repository.refs(), LEDGER_REF, swap, mark, &restore) {
                Ok(Written::Done) => {
                    hooks::at("ledger named");
                    tree.restore().map_err(|error| failed(doing, &error))?;
                    return Ok(true);
                }
                Ok(Written::Stale) => {}
                Ok(Written::Unknown(problem)) => {
                    last = problem;
                    // Nobody is asked about the ledger's lock: it is removed where its writer provably ended.
                    unknown += 1;
                    if !self.remove_dead_lock()? && unknown >= UNKNOWN_MAX {
                        break;
                    }
                }
                Err(error) => return Err(failed(doing, &error)),
            }
        }
        Err(StoreError { doing: doing.to_owned(), problem: last }.into())
    }
}

/// Points `recent` at receipts that were just added, the newest few of each name.
fn point_at_recent(tree: &mut LedgerTree<'_>, receipts: &[Receipt]) -> Result<(), GitError> {
    for receipt in receipts {
        let path = ShardPath::recent(receipt.kind, &receipt.name);
        // What can't be read here holds nothing that is not elsewhere.
        let mut shard = tree.shard(&path).unwrap_or_default();
        shard.point_at(Recent::of(receipt), RECENT_MAX);
        tree.put(&path, shard);
    }
    Ok(())
}

fn failed(doing: &str, error: &(dyn std::error::Error + 'static)) -> LedgerError {
    let corrupt = matches!(error.downcast_ref(), Some(Unreadable::Corrupt(_)));
    let damaged = corrupt || matches!(error.downcast_ref(), Some(GitError::Object { .. } | GitError::Answer { .. }));
    let error = StoreError { doing: doing.to_owned(), problem: with_causes(error) };
    if damaged { LedgerError::Damaged(error) } else { LedgerError::Store(error) }
}

fn unusable(why: String) -> GitError {
    GitError::Answer { command: LEDGER_REF.to_owned(), why }
}
