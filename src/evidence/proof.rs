//! The statement that one commit passed its own checks.

use crate::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::receipt::{Reading, RequirementKind};
use super::subject::Platform;
use crate::id::{AttemptId, CommitId, Digest, Name, Subject, TreeId};

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
    /// Jobs and standards of trunk that this commit lacks or redefines, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub departures: Vec<String>,
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
