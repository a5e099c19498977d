//! Whether commits are proven, each under its own committed configuration. Looks, and executes nothing.
//!
//! The newest passed or failed `done` outcome of a commit decides, in its record or in the ledger; a passed one counts only if its
//! Proof speaks of this very commit and answers what the commit's `discern.toml` demands. Records are read before the
//! ledger: an outcome is absorbed before its record is replaced or removed, so that it is seen in one of the two.

use std::collections::HashMap;
use std::rc::Rc;

use super::claims::Claims as _;
use super::known;
use super::recovery::{self, Finding, Mode};
use super::session::Session;
use super::trunk;
use crate::claim::owner::Seen;
use crate::claim::record::{Bound, Outcome};
use crate::config::{self, Config, Invalid};
use crate::document::{CommitReport, CommitStanding, FlakyRequirement, HowOften};
use crate::evidence::{self, Proof, RequirementKey, RequirementKind, Verdict};
use crate::git::revision::Listed;
use crate::git::{GitError, Repository};
use crate::id::{CommitId, Digest, Name, ObjectId, Subject, TreeId};
use crate::ledger::{LedgerError, OutcomeEntry, Snapshot};
use crate::store::StoreError;

/// Up to so many commits have their records looked for one by one; more, and all records are listed.
const LOOKED_FOR_MAX: usize = 16;

/// Answers for many commits, at one instant.
pub struct Verifier<'s, 'r> {
    session: &'s mut Session<'r>,
    records: HashMap<CommitId, Seen>,
    ledger: Snapshot<'r>,
    /// What each `discern.toml` demands, by its blob.
    demands: HashMap<ObjectId, Rc<Demanded>>,
    /// The `discern.toml` of each tree.
    files: HashMap<TreeId, Option<ObjectId>>,
    /// Whether both verdicts are known for a subject: commits on which one thing failed share the subjects of all else.
    flaky: HashMap<(RequirementKind, Subject), bool>,
}

/// What a committed configuration demands of a Proof.
enum Demanded {
    These(Digest, Vec<RequirementKey>),
    /// The file can't be used; the first problem.
    Invalid(String),
}

/// Why nothing can be said of any commit.
#[derive(Debug, thiserror::Error)]
pub enum VerifierError {
    /// The repository can't be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The store can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<LedgerError> for VerifierError {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Damaged(why) | LedgerError::Store(why) => Self::Store(why),
        }
    }
}

impl<'s, 'r> Verifier<'s, 'r> {
    /// A verifier for `commits`, with their records read.
    ///
    /// # Errors
    /// The refs or the ledger can't be read.
    pub fn of(session: &'s mut Session<'r>, commits: &[CommitId]) -> Result<Self, VerifierError> {
        if commits.len() > LOOKED_FOR_MAX {
            let wanted: std::collections::HashSet<_> = commits.iter().copied().collect();
            let listed = session.candidates()?.into_iter().filter(|candidate| wanted.contains(candidate)).collect();
            return Self::with_records_of(session, listed);
        }
        Self::with_records_of(session, commits.to_vec())
    }

    /// A verifier for any commit, with all records read.
    ///
    /// # Errors
    /// The refs or the ledger can't be read.
    pub fn of_any(session: &'s mut Session<'r>) -> Result<Self, VerifierError> {
        let candidates = session.candidates()?;
        Self::with_records_of(session, candidates)
    }

    fn with_records_of(session: &'s mut Session<'r>, candidates: Vec<CommitId>) -> Result<Self, VerifierError> {
        let records = candidates.into_iter().map(|candidate| (candidate, session.look(&candidate))).collect();
        let ledger = session.ledger.snapshot()?;
        let (demands, files, flaky) = (HashMap::new(), HashMap::new(), HashMap::new());
        Ok(Self { session, records, ledger, demands, files, flaky })
    }

    /// The repository.
    pub fn repository(&self) -> &'r Repository {
        self.session.repository
    }

    /// What is known of `commit`. What can't be read makes it [`CommitStanding::Unknown`] and is no error.
    ///
    /// # Errors
    /// The repository has no such commit.
    pub fn report(&mut self, commit: CommitId) -> Result<CommitReport, GitError> {
        Ok(self.report_on(self.session.repository.objects()?.commit(commit)?.into()))
    }

    /// As [`report`](Self::report), for a commit that was read already.
    pub fn report_on(&mut self, Listed { id: commit, tree, summary }: Listed) -> CommitReport {
        let mut report = CommitReport {
            commit,
            summary,
            standing: CommitStanding::None,
            reason: None,
            departures: Vec::new(),
            flaky: Vec::new(),
            attempt: None,
            running: None,
            abandoned: false,
        };
        match self.unfinished(commit) {
            Finding::Live { record, .. } => report.running = Some(known::pending(&record)),
            Finding::Abandoned { .. } => report.abandoned = true,
            _ => {}
        }
        match self.outcomes(commit) {
            Ok(outcomes) => self.decide(tree, &outcomes, &mut report),
            Err(why) => (report.standing, report.reason) = (CommitStanding::Unknown, Some(why)),
        }
        if report.standing == CommitStanding::None && report.running.is_some() {
            report.standing = CommitStanding::Running;
        }
        report
    }

    /// How often each flaky requirement of a report failed, as far as receipts are kept. Those that can't be read say nothing.
    pub fn count(&mut self, report: &mut CommitReport) {
        for flaky in &mut report.flaky {
            let receipts = self.ledger.receipts(flaky.subject).receipts;
            let of_kind = receipts.iter().filter(|receipt| receipt.kind == flaky.kind);
            let mut counted = HowOften { failed: 0, tries: 0 };
            for receipt in of_kind {
                // Earlier tries of one attempt failed, or there would be no later one.
                let passed = u32::from(receipt.verdict == Verdict::Passed);
                counted.tries += receipt.tries;
                counted.failed += receipt.tries - passed.min(receipt.tries);
            }
            flaky.how_often = Some(counted);
        }
    }

    /// Every outcome that decides, oldest first; or why that can't be known.
    fn outcomes(&mut self, commit: CommitId) -> Result<Vec<OutcomeEntry>, String> {
        let in_record = match self.records.get(&commit) {
            Some(Seen::Record(_, record)) => OutcomeEntry::from_record(record),
            Some(Seen::Unreadable(why)) => return Err(format!("its attempt record can't be read: {why}")),
            Some(Seen::Absent) | None => None,
        };
        let mut outcomes = self.ledger.outcomes(commit).map_err(|error| error.to_string())?;
        outcomes.retain(|known| in_record.as_ref().is_none_or(|newer| newer.generation != known.generation));
        outcomes.extend(in_record);
        outcomes.retain(OutcomeEntry::decides);
        outcomes.sort_by_key(|outcome| outcome.generation);
        Ok(outcomes)
    }

    fn decide(&mut self, tree: TreeId, outcomes: &[OutcomeEntry], report: &mut CommitReport) {
        let Some(newest) = outcomes.last() else {
            report.reason = Some(self.nothing_known(tree));
            return;
        };
        report.attempt = Some(known::summary(newest));
        match (newest.outcome, &newest.proof) {
            (Outcome::Passed, Some(proof)) => match self.objection((report.commit, tree), proof) {
                None => {
                    report.standing = CommitStanding::Proven;
                    report.departures = proof.departures.iter().chain(&proof.loosened).cloned().collect();
                    let flaky = proof.requirements.iter().filter(|requirement| requirement.flaky);
                    report.flaky = flaky.map(|it| flaky_requirement(it.kind, &it.name, it.subject)).collect();
                }
                Some(why) => report.reason = Some(why),
            },
            (Outcome::Failed, _) => {
                report.standing = CommitStanding::Failed;
                let names: Vec<String> = newest.failed.iter().map(|failed| format!("`{}`", failed.name)).collect();
                report.reason = Some(if names.is_empty() { "it failed".to_owned() } else { failed(&names) });
                let passed_before = outcomes.iter().any(|outcome| outcome.outcome == Outcome::Passed);
                let failed =
                    |it: &Bound| newest.failed.iter().any(|failed| (failed.kind, &failed.name) == (it.kind, &it.name));
                let mut those = newest.bound();
                those.retain(|it| passed_before && failed(it) || self.is_flaky(it));
                report.flaky = those.iter().map(|it| flaky_requirement(it.kind, &it.name, it.subject)).collect();
            }
            _ => report.reason = Some("its outcome holds no Proof".to_owned()),
        }
    }

    /// Whether both verdicts are known for what was checked. Receipts that can't be read say nothing.
    fn is_flaky(&mut self, &Bound { kind, subject, .. }: &Bound) -> bool {
        *self.flaky.entry((kind, subject)).or_insert_with(|| {
            let receipts = self.ledger.receipts(subject).receipts;
            evidence::flaky(receipts.iter().filter(|receipt| receipt.kind == kind))
        })
    }

    /// Why a Proof does not count for a commit.
    fn objection(&mut self, (commit, tree): (CommitId, TreeId), proof: &Proof) -> Option<String> {
        if proof.commit != commit || proof.tree != tree {
            return Some("its Proof speaks of another commit".to_owned());
        }
        let demanded = match self.demanded(tree) {
            Ok(Some(demanded)) => demanded,
            Ok(None) => return Some(format!("it has no `{}`", config::FILE)),
            Err(error) => return Some(format!("its `{}` can't be read: {error}", config::FILE)),
        };
        match &*demanded {
            Demanded::These(digest, these) => {
                let unanswered = proof.answers(*digest, these).err().map(|why| why.to_string());
                let misplaced =
                    || trunk::misplaced(self.session.repository, proof).unwrap_or_else(|it| Some(it.to_string()));
                unanswered.or_else(misplaced).map(|why| format!("its Proof does not count: {why}"))
            }
            Demanded::Invalid(why) => Some(format!("its `{}` can't be used: {why}", config::FILE)),
        }
    }

    /// Why a commit without any outcome is not proven.
    fn nothing_known(&mut self, tree: TreeId) -> String {
        match self.demanded(tree) {
            Ok(None) => format!("it has no `{}`", config::FILE),
            Ok(Some(demanded)) => match &*demanded {
                Demanded::These(..) => "it was never proven".to_owned(),
                Demanded::Invalid(why) => format!("its `{}` can't be used: {why}", config::FILE),
            },
            Err(error) => format!("its `{}` can't be read: {error}", config::FILE),
        }
    }

    /// What the `discern.toml` in a tree demands; nothing where there is none.
    fn demanded(&mut self, tree: TreeId) -> Result<Option<Rc<Demanded>>, GitError> {
        let objects = self.session.repository.objects()?;
        let file = match self.files.get(&tree) {
            Some(file) => *file,
            None => {
                let entry = objects.entry(tree, config::FILE.as_bytes())?;
                let file = entry.filter(|entry| entry.mode & 0o170_000 == 0o100_000);
                *self.files.entry(tree).or_insert(file.map(|entry| entry.id))
            }
        };
        let Some(file) = file else { return Ok(None) };
        if let Some(known) = self.demands.get(&file) {
            return Ok(Some(known.clone()));
        }
        let demanded = Rc::new(match Config::parse(&objects.blob(file)?, config::FILE) {
            Ok(config) => Demanded::These(config.digest, known::demanded(&config)),
            Err(invalid) => Demanded::Invalid(first_problem(&invalid)),
        });
        self.demands.insert(file, demanded.clone());
        Ok(Some(demanded))
    }

    /// What there is of an unfinished claim on a commit.
    fn unfinished(&mut self, commit: CommitId) -> Finding {
        match self.records.get(&commit) {
            Some(Seen::Record(_, record)) if !record.is_finished() => {}
            _ => return Finding::Free,
        }
        let by = self.session.retiring_run("verify", None);
        recovery::inspect(commit, self.session, &by, Mode::Look).what
    }
}

fn flaky_requirement(kind: RequirementKind, name: &Name, subject: Subject) -> FlakyRequirement {
    FlakyRequirement { kind, name: name.clone(), subject, how_often: None }
}

fn first_problem(invalid: &Invalid) -> String {
    invalid
        .problems
        .first()
        .map_or_else(String::new, |problem| format!("{} (line {})", problem.message, invalid.position(problem).line))
}

fn failed(names: &[String]) -> String {
    format!("{} failed", names.join(", "))
}
