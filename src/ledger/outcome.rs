//! One line of the ledger that says how an attempt ended.

use serde::{Deserialize, Serialize};

use crate::claim::record::{Bound, EndedBy, Outcome, Purpose, Record};
use crate::evidence::{Proof, Receipt, RequirementKind};
use crate::id::{AttemptId, CommitId, Name, Subject};
use crate::time::Timestamp;

/// How one attempt ended: what the ledger keeps of its record, beside the receipts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeEntry {
    /// The candidate.
    pub commit: CommitId,
    /// Which attempt at it; with `commit` the key.
    pub generation: u32,
    /// The attempt.
    pub attempt: AttemptId,
    /// What it was for.
    pub purpose: Purpose,
    /// How it ended.
    pub outcome: Outcome,
    /// Who ended it, and why.
    pub by: EndedBy,
    /// What `wait` hands on.
    pub exit_status: u8,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub finished_at: Timestamp,
    /// The worktree's name, empty for the main one.
    pub worktree: String,
    /// Its branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The requirements whose verdict is failed; their receipts are in the ledger under subject and attempt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedRequirement>,
    /// Everything that it was to check, where there is no Proof to say so, in the order of the configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound: Vec<Bound>,
    /// The standards that it measured or knew, where there is no Proof to say so; their receipts are in the ledger.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<MeasuredStandard>,
    /// The Proof, when a `done` passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

/// A requirement that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedRequirement {
    /// Job or standard.
    pub kind: RequirementKind,
    /// Its name.
    pub name: Name,
    /// What was checked.
    pub subject: Subject,
    /// Whether the verdict may be given again without running.
    pub may_be_replayed: bool,
}

/// A standard, and what its reading is a reading of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredStandard {
    /// Its name.
    pub name: Name,
    /// What was to be measured.
    pub subject: Subject,
}

impl OutcomeEntry {
    /// What the ledger keeps of a finished record; nothing while it is unfinished.
    pub fn from_record(record: &Record) -> Option<Self> {
        let finish = record.state.finish()?;
        // A failed verdict that an earlier attempt published was given again, so it may be (storage: replay).
        let may_be_replayed = |failed: &Bound| {
            let mut own = record.receipts.iter().filter(|it| it.kind == failed.kind && it.name == failed.name);
            own.next_back().is_none_or(Receipt::may_be_replayed)
        };
        let standards = record.requirements.iter().filter(|it| it.kind == RequirementKind::Standard);
        let standards = standards.filter(|_| finish.proof.is_none());
        Some(Self {
            bound: if finish.proof.is_none() { record.requirements.clone() } else { Vec::new() },
            measured: standards.map(|it| MeasuredStandard { name: it.name.clone(), subject: it.subject }).collect(),
            commit: record.attempt.commit,
            generation: record.attempt.generation,
            attempt: record.attempt.id,
            purpose: record.attempt.purpose,
            outcome: finish.outcome,
            by: finish.by.clone(),
            exit_status: finish.exit_status,
            started_at: record.attempt.executor.started_at,
            finished_at: finish.at,
            worktree: record.attempt.executor.worktree.clone(),
            branch: record.attempt.executor.branch.clone(),
            failed: finish
                .failed
                .iter()
                .map(|failed| FailedRequirement {
                    kind: failed.kind,
                    name: failed.name.clone(),
                    subject: failed.subject,
                    may_be_replayed: may_be_replayed(failed),
                })
                .collect(),
            proof: finish.proof.clone(),
        })
    }

    /// Everything that it was to check, where there is no Proof; an outcome of an older version names only what failed.
    pub fn bound(&self) -> Vec<Bound> {
        if !self.bound.is_empty() {
            return self.bound.clone();
        }
        let failed = self.failed.iter();
        failed.map(|it| Bound { kind: it.kind, name: it.name.clone(), subject: it.subject }).collect()
    }

    /// Whether it decides what is known of its commit: a `done` that passed or failed. Cancelled changes nothing.
    pub fn decides(&self) -> bool {
        self.purpose == Purpose::Done && self.outcome != Outcome::Cancelled
    }
}
