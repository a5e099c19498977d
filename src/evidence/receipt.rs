//! One recorded verdict, or reading, for one subject.

use crate::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::subject::SubjectParts;
use crate::id::{AttemptId, CommitId, Digest, Name, OperationHandle, Subject};

/// What a requirement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RequirementKind {
    /// A command that passes or fails.
    Job,
    /// A number that may only improve.
    Standard,
}

/// How a check ended. "Cancelled" and "unrun" are no verdicts and are never recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The command succeeded (a standard: its reading was taken).
    Passed,
    /// The command failed, or a standard could not be read.
    Failed,
}

/// Where the command ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// In the user's own worktree.
    InPlace,
    /// In an exact checkout that belongs to the gate.
    Isolated,
}

/// Why a verdict is `failed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// The command exited with a status other than 0.
    Exit,
    /// The command died by a signal.
    Signal,
    /// The command ran longer than its `timeout`.
    Timeout,
    /// The command could not be started (also 126 and 127 from the shell).
    NotStarted,
    /// What the command printed could not be stored.
    OutputLost,
    /// A standard's line was missing, malformed or contradicted itself.
    Reading,
}

impl Failure {
    /// Whether the same failure may be answered again without running: true only where the command itself said no.
    /// A timeout, a signal, a missing program and lost output say something about the machine as well.
    pub fn may_be_replayed(self) -> bool {
        matches!(self, Self::Exit | Self::Reading)
    }
}

/// A standard's number as it was printed, and what it came from.
///
/// `value` is the exact decimal that limits are compared with; it is kept as text so that nothing is rounded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    /// The number that is compared with the limit: the metric itself, or the rate where the standard has `per`.
    pub value: String,
    /// The metric as the command printed it.
    pub metric: String,
    /// What the metric was divided by, where the standard has `per`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<String>,
}

/// Where a command's output is kept. Logs are private files and may be gone while the receipt lives on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogRef {
    /// The run that wrote it.
    pub handle: OperationHandle,
    /// Its file's name inside that run's folder.
    pub file: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A file that the job declared and that was kept with its log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Artifact {
    /// Its path in the worktree.
    pub path: String,
    /// The SHA-256 of its bytes.
    pub digest: Digest,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The longest `reason` of a receipt, in bytes.
pub const REASON_BYTES_MAX: usize = 2048;

/// One verdict (job) or reading (standard) for one subject, as it is published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Receipt {
    /// Job or standard.
    pub kind: RequirementKind,
    /// The requirement's name when it ran; not part of the subject.
    pub name: Name,
    /// What was checked.
    pub subject: Subject,
    /// What the subject is made of, so that a difference can be explained.
    pub parts: SubjectParts,
    /// The verdict. A standard's is `passed` when its reading was taken, whatever the limit says.
    pub verdict: Verdict,
    /// A standard's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Which try of this attempt it was, from 1.
    pub tries: u32,
    /// Passed only on a later try of the same attempt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flaky: bool,
    /// The exit code, when it exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal's name (`SIGKILL`), when it died by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// How long the command ran, in milliseconds of awake time.
    pub duration_ms: u64,
    /// Where it ran.
    pub place: Place,
    /// The attempt that published it.
    pub attempt: AttemptId,
    /// The commit that it was obtained on.
    pub commit: CommitId,
    /// When the command ended.
    pub finished_at: Timestamp,
    /// Its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<LogRef>,
    /// Files kept with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// What there is to say about it, at most [`REASON_BYTES_MAX`] bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Receipt {
    /// Whether this receipt's verdict may be given again without running (storage: a pass always, a failure only where
    /// the command itself said no).
    pub fn may_be_replayed(&self) -> bool {
        self.failure.is_none_or(Failure::may_be_replayed)
    }
}
