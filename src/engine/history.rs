//! The values of standards over the commits of a branch, from Proofs and receipts. Nothing is measured and nothing is run.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::no_answer::NoAnswer;
use crate::config::{self, Config, Standard};
use crate::document::{Diagnostic, HistoryDocument, HistoryPoint, Refusal, StandardHistory};
use crate::evidence::{Proof, Reading, RequirementKind, newest};
use crate::git::Repository;
use crate::git::objects::Commit;
use crate::id::{AttemptId, CommitId, Name, Subject};
use crate::ledger::{Ledger, LedgerError, OutcomeEntry};
use crate::standard::Limit;
use crate::time::Timestamp;

/// A reading with where it comes from.
#[derive(Clone)]
struct Known {
    reading: Reading,
    obtained_on: CommitId,
    attempt: AttemptId,
    measured_at: Timestamp,
}

/// The values of the standards `names`, of every standard if there are none, on `tip` and its first parents, at most
/// `commits_max` commits.
///
/// # Errors
/// None of these commits has a standard of that name; repository or ledger can't be read.
pub fn history(
    repository: &Repository,
    tip: CommitId,
    names: &[Name],
    commits_max: usize,
) -> Result<HistoryDocument, NoAnswer> {
    let ledger = Ledger::new(repository);
    let commits = first_parents(repository, tip, commits_max)?;
    let mut standards: Vec<StandardHistory> = Vec::new();
    let mut readings = BTreeMap::new();
    for commit in &commits {
        let Some(config) = config_of(repository, commit)? else { continue };
        let mut known = known_on(&ledger, commit.id, &mut readings)?;
        for standard in config.standards.iter().filter(|it| names.is_empty() || names.contains(&it.name)) {
            let history = of_standard(&mut standards, standard);
            let point = known.remove(&standard.name).and_then(|known| point(commit, standard, known));
            history.points.extend(point);
        }
    }
    let unknown = names.iter().find(|name| !standards.iter().any(|it| it.name == **name));
    if let Some(unknown) = unknown {
        let place = format!("on {} or the commits before it", tip.short());
        let known: BTreeSet<Name> = commits
            .iter()
            .filter_map(|commit| config_of(repository, commit).ok().flatten())
            .flat_map(|config| config.standards.into_iter().map(|it| it.name))
            .collect();
        let known = known.iter().map(Name::as_str);
        let message = config::names_nothing(unknown.as_str(), "standard", &place, known);
        return Err(Refusal::new(Diagnostic::new("unknown-name", message)).into());
    }
    standards.iter_mut().for_each(|history| history.points.reverse());
    Ok(HistoryDocument::new(tip, commits.len(), standards))
}

/// `tip` and the first parents before it, newest first, as far as they are here.
fn first_parents(repository: &Repository, tip: CommitId, commits_max: usize) -> Result<Vec<Commit>, NoAnswer> {
    let objects = repository.objects()?;
    let mut commits = Vec::new();
    let mut next = Some(tip);
    while let Some(id) = next.filter(|id| commits.len() < commits_max && objects.contains(id.id())) {
        let commit = objects.commit(id)?;
        next = commit.parents.first().copied();
        commits.push(commit);
    }
    Ok(commits)
}

/// The configuration of a commit; nothing where it has none that can be read.
fn config_of(repository: &Repository, commit: &Commit) -> Result<Option<Config>, NoAnswer> {
    let bytes = repository.file_at(commit.tree, config::FILE)?;
    Ok(bytes.and_then(|bytes| Config::parse(&bytes, config::FILE).ok()))
}

fn of_standard<'s>(standards: &'s mut Vec<StandardHistory>, standard: &Standard) -> &'s mut StandardHistory {
    let at = standards.iter().position(|it| it.name == standard.name).unwrap_or_else(|| {
        let (name, direction, limit) = (standard.name.clone(), standard.direction, standard.limit.plain());
        standards.push(StandardHistory { name, direction, limit, points: Vec::new() });
        standards.len() - 1
    });
    &mut standards[at]
}

/// What is known of the standards of a commit: of each one the reading of the newest attempt that has one.
fn known_on(
    ledger: &Ledger<'_>,
    commit: CommitId,
    readings: &mut BTreeMap<Subject, Option<Known>>,
) -> Result<BTreeMap<Name, Known>, LedgerError> {
    let mut known = BTreeMap::new();
    for outcome in ledger.outcomes(commit)? {
        known.extend(outcome.proof.iter().flat_map(of_proof));
        known.extend(of_receipts(ledger, &outcome, readings)?);
    }
    Ok(known)
}

fn of_proof(proof: &Proof) -> impl Iterator<Item = (Name, Known)> {
    proof.requirements.iter().filter_map(|it| {
        let known = Known {
            reading: it.reading.clone()?,
            obtained_on: it.obtained_on,
            attempt: it.attempt,
            measured_at: it.obtained_at,
        };
        Some((it.name.clone(), known))
    })
}

/// The readings of an outcome without a Proof. `readings` holds those that were looked up before: the commits of a branch often
/// share them.
fn of_receipts(
    ledger: &Ledger<'_>,
    outcome: &OutcomeEntry,
    readings: &mut BTreeMap<Subject, Option<Known>>,
) -> Result<Vec<(Name, Known)>, LedgerError> {
    let mut found = Vec::new();
    for measured in &outcome.measured {
        let known = match readings.entry(measured.subject) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(newest_reading(ledger, measured.subject)?),
        };
        found.extend(known.clone().map(|known| (measured.name.clone(), known)));
    }
    Ok(found)
}

fn newest_reading(ledger: &Ledger<'_>, subject: Subject) -> Result<Option<Known>, LedgerError> {
    let found = ledger.receipts(subject)?.receipts;
    let of_standards = found.iter().filter(|receipt| receipt.kind == RequirementKind::Standard);
    Ok(newest(of_standards).and_then(|receipt| {
        Some(Known {
            reading: receipt.reading.clone()?,
            obtained_on: receipt.commit,
            attempt: receipt.attempt,
            measured_at: receipt.finished_at,
        })
    }))
}

/// One value, held against the limit that its commit writes; nothing where they can't be compared.
fn point(commit: &Commit, standard: &Standard, known: Known) -> Option<HistoryPoint> {
    let judgement = Limit::of(standard, None).judge(&known.reading).ok()?;
    Some(HistoryPoint {
        commit: commit.id,
        summary: commit.summary.clone(),
        committed_at: commit.committed_at,
        value: known.reading.value.clone(),
        reading: known.reading,
        limit: standard.limit.plain(),
        distance: judgement.distance.to_string(),
        meets: judgement.passes,
        obtained_on: known.obtained_on,
        attempt: known.attempt,
        measured_at: known.measured_at,
    })
}
