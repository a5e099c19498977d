//! Retention: what is ours is dropped when it is no longer needed, and never before.
//!
//! [`trim`] removes surplus attempt refs after each absorption: a listing, and nothing more while there are few. Everything
//! else is done by `git discern gc`, and by a run at most once a day, after it has answered. First everything is looked at,
//! then it is decided ([`choice`]), then it is done; a removal of a ref names the value that it removes, and comes only when
//! the outcome is seen in the ledger.

pub mod choice;

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use self::choice::{FinishedRef, RunFolder};
use super::candidate::committed_config;
use super::claims::Claims as _;
use super::kept::{self, Kept};
use super::no_answer::NoAnswer;
use super::session::Session;
use crate::claim::owner::Seen;
use crate::id::{AttemptId, CommitId, OperationHandle, RecordId};
use crate::journal::Liveness;
use crate::ledger::Removals;
use crate::os::files::{self, Durability};
use crate::os::{boot, clock, environment, process};
use crate::store::RecordStore as _;
use crate::time::Timestamp;

/// The file whose content is the instant of the last daily cleaning.
const STAMP: &str = "cleaned";

/// Files of a killed process that are older than this belong to nobody, in seconds.
const LEFTOVER_AGE_SECONDS: u64 = 60 * 60;

/// Files that a lock may still be proven dead by, and marks of candidates that are gone, stay so long, in seconds.
const ADVISORY_AGE_SECONDS: u64 = 7 * 24 * 60 * 60;

/// What retention drops.
#[derive(Debug, Clone, Default)]
pub struct Surplus {
    /// Refs of finished attempts.
    pub refs: Vec<(CommitId, RecordId)>,
    /// Runs whose logs and journals go.
    pub runs: Vec<OperationHandle>,
    /// What the ledger no longer keeps.
    pub ledger: Removals,
    /// Files in the private folder that belong to nobody any more.
    pub files: Vec<PathBuf>,
    /// Kept checkouts that nobody needs.
    pub checkouts: Vec<Kept>,
}

impl Surplus {
    /// Whether there is nothing to drop.
    pub fn is_empty(&self) -> bool {
        self.refs.is_empty()
            && self.runs.is_empty()
            && self.ledger.outcomes.is_empty()
            && self.ledger.receipts.is_empty()
            && self.files.is_empty()
            && self.checkouts.is_empty()
    }
}

/// Everything that is surplus now. Nothing is changed.
///
/// # Errors
/// The store or the ledger can't be read: then nothing is known to be surplus.
pub fn look(session: &mut Session<'_>) -> Result<Surplus, NoAnswer> {
    let now = session.now().wall;
    let (refs, unfinished, candidates) = refs(session, now)?;
    let runs = runs(session, &unfinished, now);
    let ledger = ledger(session, now)?;
    let files = files_of_nobody(session, &candidates);
    let checkouts = checkouts(session, now);
    Ok(Surplus { refs, runs, ledger, files, checkouts })
}

/// Drops it.
///
/// # Errors
/// The ledger or a ref can't be written. What was dropped before stays dropped; the rest is surplus the next time, too.
pub fn drop_surplus(surplus: &Surplus, session: &mut Session<'_>) -> Result<(), NoAnswer> {
    for (candidate, record) in &surplus.refs {
        session.records.remove(candidate, *record)?;
    }
    if !surplus.ledger.outcomes.is_empty() || !surplus.ledger.receipts.is_empty() {
        session.ledger.remove(&surplus.ledger)?;
    }
    for handle in &surplus.runs {
        // Somebody else may be cleaning, too.
        let _ = std::fs::remove_dir_all(session.journals.run_folder(handle));
    }
    for file in &surplus.files {
        let _ = std::fs::remove_file(file);
    }
    for kept in &surplus.checkouts {
        // One that was taken meanwhile is needed after all.
        let _ = kept.remove(session.repository);
    }
    if let Ok(objects) = session.repository.objects() {
        let _ = objects.sweep(LEFTOVER_AGE_SECONDS);
    }
    Ok(())
}

/// Removes surplus attempt refs, if there are too many. Cheap while there are not: one listing.
///
/// # Errors
/// The store or the ledger can't be read or written. Nothing is lost by that: the next run has them again.
pub fn trim(session: &mut Session<'_>) -> Result<(), NoAnswer> {
    session.repository.refs().forget();
    if session.records.list()?.len() <= choice::REFS_MAX {
        return Ok(());
    }
    let now = session.now().wall;
    let (surplus, ..) = refs(session, now)?;
    for (candidate, record) in surplus {
        session.records.remove(&candidate, record)?;
    }
    Ok(())
}

/// The cleaning that a run sees to by itself, at most once a day, in a process of its own, because a large ledger takes seconds to
/// look through. Whatever goes wrong is left to the next day.
pub fn daily(session: &mut Session<'_>) {
    let stamp = session.repository.private_dir().join(STAMP);
    let now = session.now().wall;
    let last = files::read_bounded(&stamp, 64).ok().flatten();
    let last = last.and_then(|bytes| String::from_utf8(bytes).ok()?.trim().parse::<Timestamp>().ok());
    if last.is_some_and(|last| (0..choice::DAY_MS).contains(&now.millis_since(last))) {
        return;
    }
    // Stamped first, so that others who end now do not clean as well.
    let mode = session.repository.sharing().file_mode();
    if files::replace(&stamp, format!("{now}\n").as_bytes(), mode, Durability::Advisory).is_err() {
        return;
    }
    // A fresh repository has nothing to clean; its first day is not spent on looking.
    if last.is_none() {
        return;
    }
    // Started by a job, that process would be something that the job left behind.
    let inside_a_job = environment::variable("DISCERN").is_some();
    if !inside_a_job && process::start_self_alone(&["gc", "--quiet"]).is_ok() {
        return;
    }
    if let Ok(surplus) = look(session)
        && !surplus.is_empty()
    {
        let _ = drop_surplus(&surplus, session);
    }
}

type Refs = (Vec<(CommitId, RecordId)>, BTreeSet<OperationHandle>, HashSet<CommitId>);

/// The surplus refs, whose outcome is in the ledger; the handles of unfinished attempts; and every candidate that has a ref.
fn refs(session: &mut Session<'_>, now: Timestamp) -> Result<Refs, NoAnswer> {
    let (mut finished, mut unfinished, mut candidates) = (Vec::new(), BTreeSet::new(), HashSet::new());
    for (candidate, _) in session.records.list()? {
        candidates.insert(candidate);
        let Seen::Record(id, record) = session.look(&candidate) else { continue };
        match record.state.finish() {
            Some(finish) => {
                let of = (candidate, id, record.attempt.id);
                finished.push(FinishedRef { of, finished_at: finish.at });
            }
            None => unfinished.extend(record.attempt.executor.journal.map(|journal| journal.handle)),
        }
    }
    let mut surplus = Vec::new();
    for (candidate, id, attempt) in choice::surplus_refs(finished, now) {
        if is_in_ledger(candidate, attempt, session)? {
            surplus.push((candidate, id));
        }
    }
    Ok((surplus, unfinished, candidates))
}

fn is_in_ledger(candidate: CommitId, attempt: AttemptId, session: &Session<'_>) -> Result<bool, NoAnswer> {
    Ok(session.ledger.outcomes(candidate)?.iter().any(|outcome| outcome.attempt == attempt))
}

fn runs(session: &Session<'_>, unfinished: &BTreeSet<OperationHandle>, now: Timestamp) -> Vec<OperationHandle> {
    let own_boot = boot::boot_identity();
    let headers = session.journals.list().unwrap_or_default();
    let folders = headers.into_iter().map(|header| {
        let journal = session.journals.follow(&header.handle).ok().and_then(|follower| follower.reference().ok());
        let liveness = journal.map_or(Liveness::Unknown, |it| session.journals.liveness(&it, &header.boot, &own_boot));
        let needed = unfinished.contains(&header.handle) || liveness == Liveness::Running;
        RunFolder { handle: header.handle, started_at: header.started_at, needed }
    });
    let of_nobody = session.journals.unreadable().into_iter().map(|(handle, started_at)| {
        let needed = unfinished.contains(&handle);
        RunFolder { handle, started_at, needed }
    });
    choice::surplus_runs(folders.chain(of_nobody).collect(), now)
}

/// Reachability is asked for only where something is old enough to go.
fn ledger(session: &Session<'_>, now: Timestamp) -> Result<Removals, NoAnswer> {
    let outcomes = session.ledger.all_outcomes()?;
    let receipts = session.ledger.all_receipts()?.receipts;
    let any_old = outcomes.iter().any(|outcome| choice::is_old(outcome.finished_at, now))
        || receipts.iter().any(|receipt| choice::is_old(receipt.finished_at, now));
    if !any_old {
        return Ok(Removals::default());
    }
    let commits: HashSet<CommitId> = outcomes.iter().map(|outcome| outcome.commit).collect();
    let reachable = session.repository.reachable(&commits)?;
    let gone = choice::surplus_outcomes(&outcomes, &reachable, now);
    let receipts = choice::surplus_receipts(&receipts, &outcomes, &reachable, now);
    Ok(Removals { outcomes: gone.into_iter().collect(), receipts })
}

/// Kept checkouts that are unused for long, or more than this commit's configuration asks for.
fn checkouts(session: &Session<'_>, now: Timestamp) -> Vec<Kept> {
    let repository = session.repository;
    let config = repository.head().ok().and_then(|head| committed_config(repository, &head).ok());
    let pool = config.map(|config| config.gate.pool.get());
    kept::all(repository).into_iter().filter(|kept| kept.is_surplus(pool, now)).collect()
}

/// Files in the private folder that belong to nobody: of killed processes, of candidates and locks that are gone.
fn files_of_nobody(session: &Session<'_>, candidates: &HashSet<CommitId>) -> Vec<PathBuf> {
    let private = session.repository.private_dir();
    let mut found = Vec::new();
    for folder in ["", "seen", "git", "run", "forgotten"] {
        let temporary = |name: &str| name.starts_with(".tmp-");
        found.extend(older(&private.join(folder), LEFTOVER_AGE_SECONDS, temporary));
    }
    let of_no_candidate = |name: &str| {
        let commit = name.split('.').next().and_then(|hex| hex.parse::<CommitId>().ok());
        commit.is_some_and(|commit| !candidates.contains(&commit))
    };
    found.extend(older(&private.join("seen"), ADVISORY_AGE_SECONDS, of_no_candidate));
    let mut tokens = older(&private.join("git"), ADVISORY_AGE_SECONDS, |name| !name.starts_with('.'));
    tokens.retain(|path| std::fs::File::open(path).is_ok_and(|file| files::is_locked(&file).is_ok_and(|it| !it)));
    found.extend(tokens);
    found
}

/// The files in `folder` that `chosen` picks by name and that were last written more than `age_seconds` ago.
fn older(folder: &Path, age_seconds: u64, chosen: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let now = clock::Clock::now(&clock::SystemClock).wall;
    let is_old = |entry: &std::fs::DirEntry| {
        let meta = entry.metadata().ok().filter(std::fs::Metadata::is_file);
        let written = meta.and_then(|meta| meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok());
        written.is_some_and(|written| now.as_millis() / 1000 - written.as_secs() as i64 > age_seconds as i64)
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let chosen = entries.filter(|entry| entry.file_name().to_str().is_some_and(&chosen) && is_old(entry));
    chosen.map(|entry| entry.path()).collect()
}
