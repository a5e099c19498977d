//! Lock files that killed git processes left on refs of ours (C25).
//!
//! One is removed only when every process that could hold it has provably ended; a person may ask for more by name.

use std::collections::BTreeSet;

use super::session::Session;
use crate::git::LeftoverLock;
use crate::git::repository::RefFormat;
use crate::id::CommitId;
use crate::ledger::LEDGER_REF;
use crate::store::StoreError;
use crate::store::refs::{ATTEMPT_PREFIX, ref_name};

/// A lock file on a ref of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefLock {
    /// The ref.
    pub name: String,
    /// What is known of it.
    pub what: LeftoverLock,
}

/// Every lock file on a ref of ours that is there now. One that a live writer holds this instant is among them.
///
/// # Errors
/// The refs can't be listed, or a lock can't be looked at.
pub fn all(session: &mut Session<'_>) -> Result<Vec<RefLock>, StoreError> {
    let mut found = Vec::new();
    for candidate in lockable(session)? {
        let what = session.leftover_lock(&candidate)?;
        found.push(RefLock { name: ref_name(&candidate), what });
    }
    let what = session.ledger.leftover_lock()?;
    found.push(RefLock { name: LEDGER_REF.to_owned(), what });
    found.retain(|lock| lock.what != LeftoverLock::None);
    // In a reftable repository one lock guards all refs; it is named once.
    let mut seen = BTreeSet::new();
    found.retain(|lock| path(&lock.what).is_none_or(|path| seen.insert(path.to_owned())));
    Ok(found)
}

/// The lock on the ref of ours that `name` stands for: its full name, or the last part of it. In a reftable repository each of
/// them stands for the one lock. Nothing where there is none, or it is no ref of ours.
///
/// # Errors
/// The lock can't be looked at.
pub fn on(name: &str, session: &Session<'_>) -> Result<Option<RefLock>, StoreError> {
    let last = name.rsplit('/').next().unwrap_or(name);
    let (name, what) = if LEDGER_REF.ends_with(&format!("/{last}")) {
        let what = session.ledger.leftover_lock()?;
        (LEDGER_REF.to_owned(), what)
    } else {
        let Ok(candidate) = last.parse::<CommitId>() else { return Ok(None) };
        (ref_name(&candidate), session.leftover_lock(&candidate)?)
    };
    Ok(Some(RefLock { name, what }).filter(|lock| lock.what != LeftoverLock::None))
}

/// Removes each lock that is provably dead; the names of their refs.
///
/// # Errors
/// The refs can't be listed, or a lock can't be removed.
pub fn remove_dead(session: &mut Session<'_>) -> Result<Vec<String>, StoreError> {
    let mut removed = Vec::new();
    for candidate in lockable(session)? {
        if session.remove_dead_lock(&candidate)? {
            removed.push(ref_name(&candidate));
        }
    }
    if session.ledger.remove_dead_lock()? {
        removed.push(LEDGER_REF.to_owned());
    }
    Ok(removed)
}

/// Removes the lock on the ref `name`, dead or not; false if it is no ref of ours.
///
/// # Errors
/// It can't be removed.
pub fn break_lock(name: &str, session: &mut Session<'_>) -> Result<bool, StoreError> {
    if name == LEDGER_REF {
        session.ledger.break_lock()?;
        return Ok(true);
    }
    let candidate = name.strip_prefix(ATTEMPT_PREFIX).unwrap_or(name).parse::<CommitId>();
    let Ok(candidate) = candidate else { return Ok(false) };
    session.records.break_lock(&candidate)?;
    Ok(true)
}

/// The file of a lock.
pub fn path(lock: &LeftoverLock) -> Option<&std::path::Path> {
    match lock {
        LeftoverLock::None => None,
        LeftoverLock::Dead { path } | LeftoverLock::Unknown { path, .. } => Some(path),
    }
}

/// The candidates whose ref may be locked: those that have one, and those whose first record was being written.
fn lockable(session: &mut Session<'_>) -> Result<BTreeSet<CommitId>, StoreError> {
    let mut candidates: BTreeSet<CommitId> = session.candidates()?.into_iter().collect();
    if session.repository.ref_format() == RefFormat::Files {
        let folder = session.repository.common_dir().join(ATTEMPT_PREFIX);
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        candidates.extend(names.filter_map(|name| name.strip_suffix(".lock")?.parse::<CommitId>().ok()));
    }
    Ok(candidates)
}
