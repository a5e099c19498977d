//! The statement that one commit passed its own checks.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::receipt::{self, Reading, Receipt, RequirementKey, RequirementKind, Verdict};
use super::subject::Platform;
use crate::id::{AttemptId, CommitId, Digest, Name, Subject, TreeId};
use crate::standard::{Decimal, Limit};
use crate::time::Timestamp;

/// For one commit: every requirement, each with a passing receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// The commit that it speaks of.
    pub commit: CommitId,
    /// That commit's tree.
    pub tree: TreeId,
    /// SHA-256 of the commit's `discern.toml`.
    pub configuration: Digest,
    /// Every requirement that the configuration demands, jobs first, each in the file's order.
    pub requirements: Vec<ProofRequirement>,
    /// What limits and redefinitions were compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trunk: Option<TrunkCompared>,
    /// Jobs of trunk that this commit lacks or redefines, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub departures: Vec<String>,
    /// Standards that are looser than trunk's on purpose, one sentence each: the commit was on trunk's own branch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loosened: Vec<String>,
    /// The attempt that settled with it.
    pub attempt: AttemptId,
    /// When the attempt began.
    pub started_at: Timestamp,
    /// When it was assembled.
    pub finished_at: Timestamp,
    /// The version of this tool.
    pub tool_version: String,
    /// The version of git.
    pub git_version: String,
    /// Where the checks ran.
    pub platform: Platform,
}

/// One requirement of a Proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProofRequirement {
    /// Job or standard.
    pub kind: RequirementKind,
    /// Its name.
    pub name: Name,
    /// What was checked.
    pub subject: Subject,
    /// The attempt whose receipt counts.
    pub attempt: AttemptId,
    /// The commit that the receipt was obtained on.
    pub obtained_on: CommitId,
    /// When the receipt's command ended.
    pub obtained_at: Timestamp,
    /// How long the command took, in milliseconds.
    pub duration_ms: u64,
    /// Whether the receipt existed before this attempt.
    pub reused: bool,
    /// Both verdicts are known for this subject, or it passed only on a later try.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flaky: bool,
    /// A standard's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
    /// A standard's limit, as written in this commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// How far the reading is on the good side of the stricter of both limits; 0 where it just passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<String>,
    /// Trunk's limit at the merge base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trunk_limit: Option<String>,
}

/// The commit of trunk that a candidate was compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrunkCompared {
    /// The full ref name.
    pub name: String,
    /// Its commit then.
    pub tip: CommitId,
    /// The merge base with the candidate.
    pub merge_base: CommitId,
}

/// One requirement that a commit's configuration demands, with what was planned for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// Which requirement.
    pub key: RequirementKey,
    /// What must have been checked.
    pub subject: Subject,
    /// A standard's limits; `None` for a job.
    pub limit: Option<Limit>,
}

/// What a Proof says besides its requirements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occasion {
    /// The commit that it speaks of.
    pub commit: CommitId,
    /// That commit's tree.
    pub tree: TreeId,
    /// SHA-256 of the commit's `discern.toml`.
    pub configuration: Digest,
    /// What limits and redefinitions were compared with.
    pub trunk: Option<TrunkCompared>,
    /// Jobs of trunk that this commit lacks or redefines.
    pub departures: Vec<String>,
    /// Standards that are looser than trunk's on purpose.
    pub loosened: Vec<String>,
    /// The attempt that settles with it.
    pub attempt: AttemptId,
    /// When the attempt began.
    pub started_at: Timestamp,
    /// Now.
    pub finished_at: Timestamp,
    /// The version of this tool.
    pub tool_version: String,
    /// The version of git.
    pub git_version: String,
    /// Where the checks ran.
    pub platform: Platform,
}

/// Why a requirement does not hold, so that there is no Proof.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` {why}")]
pub struct Lacking {
    /// The requirement.
    pub key: RequirementKey,
    /// What is missing.
    pub why: LackingWhy,
}

/// What is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LackingWhy {
    /// No receipt has its subject and kind.
    #[error("has no receipt for what was to be checked")]
    NoReceipt,
    /// The newest receipt for its subject failed.
    #[error("failed")]
    Failed,
    /// Its reading does not meet the limit.
    #[error("is beyond its limit")]
    BeyondLimit,
    /// Limit or reading where there should be none, none where there should be one, or a number that can't be read.
    #[error("has a reading that can't be compared with its limit")]
    Incomparable,
    /// It is demanded twice.
    #[error("is demanded twice")]
    Twice,
}

/// Why a Proof does not answer what a commit demands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// It speaks of another configuration.
    #[error("it was assembled under another `discern.toml`")]
    Configuration,
    /// It lacks these.
    #[error("it lacks {}", names(.0))]
    Lacks(Vec<RequirementKey>),
    /// It has these, which nobody demands.
    #[error("it has {}, which is not demanded", names(.0))]
    NotDemanded(Vec<RequirementKey>),
    /// One requirement stands in it twice.
    #[error("it names a requirement twice")]
    Twice,
}

fn names(keys: &[RequirementKey]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

impl Proof {
    /// The Proof for `occasion`, if the newest receipt for each demanded subject passes and each reading meets its limits.
    ///
    /// `receipts` are all that are known for the demanded subjects, in any order: older ones decide only whether a
    /// requirement is flaky.
    pub fn assemble(occasion: Occasion, demands: &[Demand], receipts: &[Receipt]) -> Result<Self, Vec<Lacking>> {
        let attempt = occasion.attempt;
        let (mut requirements, mut lacking) = (Vec::new(), Vec::new());
        let mut seen = BTreeSet::new();
        for demand in demands {
            let requirement = if seen.insert(&demand.key) {
                ProofRequirement::answer(demand, attempt, receipts)
            } else {
                Err(LackingWhy::Twice)
            };
            match requirement {
                Ok(requirement) => requirements.push(requirement),
                Err(why) => lacking.push(Lacking { key: demand.key.clone(), why }),
            }
        }
        if !lacking.is_empty() {
            return Err(lacking);
        }
        let Occasion { commit, tree, configuration, trunk, departures, loosened, .. } = occasion;
        let Occasion { started_at, finished_at, tool_version, git_version, platform, .. } = occasion;
        Ok(Self {
            commit,
            tree,
            configuration,
            requirements,
            trunk,
            departures,
            loosened,
            attempt,
            started_at,
            finished_at,
            tool_version,
            git_version,
            platform,
        })
    }

    /// Whether it proves everything that a commit with this `configuration` demands, and nothing else: kinds and names are
    /// compared as sets.
    pub fn answers(&self, configuration: Digest, demanded: &[RequirementKey]) -> Result<(), Unanswered> {
        if self.configuration != configuration {
            return Err(Unanswered::Configuration);
        }
        let has: BTreeSet<_> = self.requirements.iter().map(ProofRequirement::key).collect();
        let demanded: BTreeSet<_> = demanded.iter().cloned().collect();
        let lacks: Vec<_> = demanded.difference(&has).cloned().collect();
        let besides: Vec<_> = has.difference(&demanded).cloned().collect();
        match (lacks.is_empty(), besides.is_empty()) {
            (false, _) => Err(Unanswered::Lacks(lacks)),
            (true, false) => Err(Unanswered::NotDemanded(besides)),
            _ if has.len() != self.requirements.len() => Err(Unanswered::Twice),
            _ => Ok(()),
        }
    }
}

impl ProofRequirement {
    /// Which requirement.
    pub fn key(&self) -> RequirementKey {
        RequirementKey { kind: self.kind, name: self.name.clone() }
    }

    fn answer(demand: &Demand, attempt: AttemptId, receipts: &[Receipt]) -> Result<Self, LackingWhy> {
        let matching = |receipt: &&Receipt| receipt.subject == demand.subject && receipt.kind == demand.key.kind;
        let known: Vec<&Receipt> = receipts.iter().filter(matching).collect();
        let receipt = receipt::newest(known.iter().copied()).ok_or(LackingWhy::NoReceipt)?;
        if receipt.verdict != Verdict::Passed || receipt.check().is_err() {
            return Err(LackingWhy::Failed);
        }
        let distance = match (&demand.limit, &receipt.reading) {
            (None, None) if demand.key.kind == RequirementKind::Job => None,
            (Some(limit), Some(reading)) => {
                let judgement = limit.judge(reading).map_err(|_| LackingWhy::Incomparable)?;
                if !judgement.passes {
                    return Err(LackingWhy::BeyondLimit);
                }
                Some(judgement.distance.to_string())
            }
            _ => return Err(LackingWhy::Incomparable),
        };
        Ok(Self {
            kind: demand.key.kind,
            name: demand.key.name.clone(),
            subject: demand.subject,
            attempt: receipt.attempt,
            obtained_on: receipt.commit,
            obtained_at: receipt.finished_at,
            duration_ms: receipt.duration_ms,
            reused: receipt.attempt != attempt,
            flaky: receipt::flaky(known),
            reading: receipt.reading.clone(),
            limit: demand.limit.as_ref().map(|limit| limit.own.plain()),
            distance,
            trunk_limit: demand.limit.as_ref().and_then(|limit| limit.trunk.as_ref()).map(Decimal::plain),
        })
    }
}

#[cfg(test)]
#[path = "proof_tests.rs"]
mod tests;
