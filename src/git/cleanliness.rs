//! Whether the worktree is the committed tree.
//!
//! git decides: `git status` knows filters, line endings, submodules and ignore rules. It is asked in a way that user
//! settings can't soften, and beside it the index is read for the two flags that make git look away,
//! `assume-unchanged` and `skip-worktree`; those files are compared here, directly. A rebase or bisect that stands on a
//! clean commit is clean. Where the paths alone would puzzle people, the cause is looked for.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use bstr::{BString, ByteSlice};

use super::candidate::{Head, Operation};
use super::error::GitError;
use super::index::{Index, Tracked};
use super::objects::MODE_TREE;
use super::repository::Repository;
use super::snapshot::{Snapshot, to_path};
use super::status::{Look, Reported};
use super::tree::{MODE_LINK, MODE_SUBMODULE};
use crate::config::Untracked;
use crate::id::{CommitId, ObjectId};
use crate::os::files;

/// The answer. A run keeps `S`, a [`Snapshot`]; whoever only asks whether it is clean now keeps nothing.
#[derive(Debug)]
pub enum Cleanliness<S = Snapshot> {
    /// The worktree is the committed tree.
    Clean(S),
    /// It is not.
    Dirty {
        /// What is in the way, sorted by path, each path once.
        paths: Vec<DirtyPath>,
        /// Why, where that is not plain from the paths.
        causes: Vec<Cause>,
    },
}

/// One thing in the way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirtyPath {
    /// From the top.
    pub path: BString,
    /// What is the matter with it.
    pub kind: DirtyKind,
}

/// What is the matter with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DirtyKind {
    /// A merge left it unresolved.
    Unmerged,
    /// The index differs from `HEAD`.
    Staged,
    /// The file differs from the index.
    Modified,
    /// The file's mode or kind differs from the index.
    Mode,
    /// The file is gone.
    Deleted,
    /// `git add --intent-to-add`, without content.
    IntentToAdd,
    /// It differs although `assume-unchanged` or `skip-worktree` hides that from `git status`.
    Hidden,
    /// A submodule stands on another commit, or holds changes of its own.
    Submodule,
    /// Neither tracked nor ignored.
    Untracked,
    /// Absent because a sparse checkout leaves it out, or a submodule that is not checked out: the tree is partial.
    Sparse,
}

/// Why a worktree is dirty, where the paths alone puzzle people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// Conflicts of an operation that is under way.
    Unfinished(Operation),
    /// `HEAD` moved while the check was made.
    HeadMoved,
    /// Only part of the tree is checked out (B064).
    PartialTree,
    /// The rules for line endings would change what is committed (B061).
    LineEndings {
        /// Which files.
        paths: Vec<BString>,
    },
    /// A clean filter would change what is committed (B062).
    Filter {
        /// The filter's name in `.gitattributes`.
        name: String,
        /// Which files.
        paths: Vec<BString>,
    },
    /// Names that this file system can't tell apart (B068).
    CaseCollision {
        /// Which names.
        paths: Vec<BString>,
    },
}

/// The most paths of one kind that are listed where there may be as many as files.
const SPARSE_PATHS_MAX: usize = 100;
/// The most changed files whose cause is looked for.
const CAUSE_PATHS_MAX: usize = 100;
/// The largest file that is read to find a cause, in bytes.
const CAUSE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What is in the way, and what `git status` said of it.
pub(super) struct Findings {
    index: Index,
    /// The commit that the index was compared with.
    pub(super) commit: Option<CommitId>,
    /// What is in the way.
    pub(super) reported: Vec<Reported>,
}

impl Repository {
    /// Whether this worktree is exactly the tree of `head`, by a look that was begun before or begins now; with what later looks
    /// compare against.
    ///
    /// The stat data is taken while git looks, and may be younger than what git saw of a file; [`Snapshot`] knows what follows.
    pub fn cleanliness(&self, look: Option<Look>, head: &Head, untracked: Untracked) -> Result<Cleanliness, GitError> {
        let look = self.fitting(look, untracked)?;
        let (findings, snapshot) = self.findings(look, |look, index| Snapshot::take(self, head, look, index))?;
        self.judged(head, findings, snapshot)
    }

    /// Whether it is that now; for an answer, which nothing is compared with later.
    pub fn cleanliness_now(
        &self,
        look: Option<Look>,
        head: &Head,
        untracked: Untracked,
    ) -> Result<Cleanliness<()>, GitError> {
        let (findings, ()) = self.findings(self.fitting(look, untracked)?, |_, _| Ok(()))?;
        self.judged(head, findings, ())
    }

    /// `look`, if it was begun and looks for what is asked; otherwise one that begins now.
    fn fitting(&self, look: Option<Look>, untracked: Untracked) -> Result<Look, GitError> {
        let fitting = look.filter(|look| look.untracked == untracked);
        fitting.map_or_else(|| self.begin_to_look(untracked), Ok)
    }

    pub(super) fn judged<S>(&self, head: &Head, findings: Findings, kept: S) -> Result<Cleanliness<S>, GitError> {
        if findings.reported.is_empty() && findings.commit == Some(head.commit) {
            return Ok(Cleanliness::Clean(kept));
        }
        let causes = self.causes(head, &findings)?;
        Ok(Cleanliness::Dirty { paths: sorted(findings.reported), causes })
    }

    /// What is in the way, as `look` sees it, of taking the worktree for the tree of `commit`.
    pub(super) fn dirty_now(&self, commit: CommitId, look: Look) -> Result<Vec<DirtyPath>, GitError> {
        let (findings, ()) = self.findings(look, |_, _| Ok(()))?;
        if findings.commit == Some(commit) {
            return Ok(sorted(findings.reported));
        }
        // HEAD moved, which the caller says by itself; against another commit "staged" would mean nothing.
        let files = findings.reported.into_iter().filter(|reported| reported.kind != DirtyKind::Staged);
        Ok(sorted(files.collect()))
    }

    /// Joins what `git status` says with what flags in the index, and submodules, hide from it; and what `keep` makes of the
    /// index meanwhile.
    pub(super) fn findings<S>(
        &self,
        look: Look,
        keep: impl FnOnce(&Look, &Index) -> Result<S, GitError>,
    ) -> Result<(Findings, S), GitError> {
        let looked = Index::read(self, self.git_dir()).and_then(|index| {
            let kept = keep(&look, &index)?;
            let mut hidden = self.hidden(&index)?;
            hidden.extend(self.dirty_submodules(&index, look.untracked)?);
            Ok((index, hidden, kept))
        });
        let (index, hidden, kept) = match looked {
            Ok(looked) => looked,
            Err(error) => {
                // git's own words about a broken index are better than ours.
                look.finish()?;
                return Err(error);
            }
        };
        let status = look.finish()?;
        let mut reported = status.reported;
        reported.extend(hidden);
        Ok((Findings { index, commit: status.commit, reported }, kept))
    }

    /// Files that `assume-unchanged` or `skip-worktree` hide from `git status` and that differ, or are absent.
    fn hidden(&self, index: &Index) -> Result<Vec<Reported>, GitError> {
        let top = self.worktree()?;
        let (mut found, mut present, mut sparse) = (Vec::new(), Vec::new(), 0);
        let report =
            |entry: &Tracked<'_>, kind| Reported { path: entry.path.to_owned(), kind, indexed: Some(entry.id) };
        for entry in index.tracked() {
            if entry.mode == MODE_TREE {
                sparse += 1;
                found.extend((sparse <= SPARSE_PATHS_MAX).then(|| report(&entry, DirtyKind::Sparse)));
            } else if (entry.skip_worktree || entry.assume_unchanged) && entry.mode != MODE_SUBMODULE {
                match std::fs::symlink_metadata(top.join(to_path(entry.path))) {
                    Ok(meta) if mode_of(&meta) == entry.mode => present.push(entry),
                    Ok(_) => found.push(report(&entry, DirtyKind::Hidden)),
                    Err(_) if entry.skip_worktree && self.is_sparse() => {
                        sparse += 1;
                        found.extend((sparse <= SPARSE_PATHS_MAX).then(|| report(&entry, DirtyKind::Sparse)));
                    }
                    Err(_) => found.push(report(&entry, DirtyKind::Hidden)),
                }
            }
        }
        let ids = self.ids_on_disk(top, &present)?;
        let differing = present.iter().zip(ids).filter(|(entry, id)| Some(entry.id) != *id);
        found.extend(differing.map(|(entry, _)| report(entry, DirtyKind::Hidden)));
        Ok(found)
    }

    /// The object that each file on disk would become, filters and line endings applied; none where that can't be told.
    fn ids_on_disk(&self, top: &Path, entries: &[Tracked<'_>]) -> Result<Vec<Option<ObjectId>>, GitError> {
        entries
            .iter()
            .map(|entry| {
                let path = top.join(to_path(entry.path));
                if entry.mode == MODE_LINK {
                    let target = std::fs::read_link(&path).ok();
                    return target.map(|to| self.objects()?.blob_id(to.as_os_str().as_bytes())).transpose();
                }
                // One child each, because a path may hold any byte; flagged files are few.
                let attributes = OsStr::from_bytes(entry.path);
                let arguments =
                    [OsStr::new("hash-object"), OsStr::new("--path"), attributes, "--".as_ref(), path.as_os_str()];
                let finished = self.git().run(&arguments)?;
                Ok(finished.stdout.to_str().ok().and_then(|hex| hex.trim().parse().ok()))
            })
            .collect()
    }

    fn causes(&self, head: &Head, findings: &Findings) -> Result<Vec<Cause>, GitError> {
        let has = |kind| findings.reported.iter().any(|reported| reported.kind == kind);
        let mut causes = Vec::new();
        if findings.commit != Some(head.commit) {
            causes.push(Cause::HeadMoved);
        }
        if has(DirtyKind::Unmerged)
            && let Some(operation) = self.operation()?
        {
            causes.push(Cause::Unfinished(operation));
        }
        if has(DirtyKind::Sparse) {
            causes.push(Cause::PartialTree);
        }
        causes.extend(self.conversions(&findings.reported)?);
        causes.extend(case_collision(findings));
        Ok(causes)
    }

    /// Files that count as changed although they hold the very bytes that are committed: line endings or a filter.
    fn conversions(&self, reported: &[Reported]) -> Result<Vec<Cause>, GitError> {
        let top = self.worktree()?;
        let (mut by_filter, mut line_endings) = (BTreeMap::<String, Vec<BString>>::new(), Vec::new());
        let modified = reported.iter().filter(|reported| reported.kind == DirtyKind::Modified);
        for Reported { path, indexed, .. } in modified.take(CAUSE_PATHS_MAX) {
            let file = top.join(to_path(path.as_bstr()));
            if !std::fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file()) {
                // A pipe in its place would be waited for.
                continue;
            }
            let bytes = files::read_bounded(&file, CAUSE_BYTES_MAX).ok().flatten();
            let id = bytes.map(|bytes| self.objects()?.blob_id(&bytes)).transpose()?;
            if id.is_none() || id != *indexed {
                continue;
            }
            match self.filter_of(path)? {
                Some(filter) => by_filter.entry(filter).or_default().push(path.clone()),
                None => line_endings.push(path.clone()),
            }
        }
        let mut causes: Vec<Cause> = by_filter.into_iter().map(|(name, paths)| Cause::Filter { name, paths }).collect();
        if !line_endings.is_empty() {
            causes.push(Cause::LineEndings { paths: line_endings });
        }
        Ok(causes)
    }

    /// The filter that `.gitattributes` gives a path.
    fn filter_of(&self, path: &BString) -> Result<Option<String>, GitError> {
        let arguments = ["check-attr", "-z", "filter", "--"].map(OsStr::new);
        let printed = self.git().ask(&[&arguments[..], &[OsStr::from_bytes(path)]].concat())?;
        let value = printed.split_str("\0").nth(2).unwrap_or_default().to_str_lossy().into_owned();
        Ok(Some(value).filter(|value| !["unspecified", "unset", "set", ""].contains(&value.as_str())))
    }
}

/// Names among what changed or is gone that differ from another tracked name in case alone.
fn case_collision(findings: &Findings) -> Option<Cause> {
    let mut paths = Vec::new();
    let kinds = [DirtyKind::Modified, DirtyKind::Mode, DirtyKind::Deleted];
    for reported in findings.reported.iter().filter(|reported| kinds.contains(&reported.kind)).take(CAUSE_PATHS_MAX) {
        let alike = findings.index.differing_in_case(reported.path.as_bstr());
        if !alike.is_empty() {
            paths.push(reported.path.clone());
            paths.extend(alike);
        }
    }
    paths.sort();
    paths.dedup();
    (!paths.is_empty()).then_some(Cause::CaseCollision { paths })
}

/// Each path once, with the first thing that is the matter with it.
fn sorted(reported: Vec<Reported>) -> Vec<DirtyPath> {
    let mut paths: Vec<DirtyPath> =
        reported.into_iter().map(|Reported { path, kind, .. }| DirtyPath { path, kind }).collect();
    paths.sort();
    paths.dedup_by(|later, first| later.path == first.path);
    paths
}

/// The mode that git would record for a file.
fn mode_of(meta: &Metadata) -> u32 {
    if meta.is_symlink() {
        MODE_LINK
    } else if !meta.is_file() {
        0
    } else if meta.mode() & 0o100 != 0 {
        0o100_755
    } else {
        0o100_644
    }
}
