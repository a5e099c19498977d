//! One recorded verdict, or reading, for one subject.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::format::{self, Unreadable};
use super::subject::{SubjectParts, beginning};
use crate::id::{AttemptId, CommitId, Digest, Name, OperationHandle, Subject};
use crate::standard::Decimal;
use crate::time::Timestamp;

/// What a requirement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RequirementKind {
    /// A command that passes or fails.
    Job,
    /// A number that may only improve.
    Standard,
}

/// Which requirement: names are told apart by kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct RequirementKey {
    /// Job or standard.
    pub kind: RequirementKind,
    /// Its name.
    pub name: Name,
}

impl RequirementKey {
    /// The key of the job called `name`.
    pub fn job(name: Name) -> Self {
        Self { kind: RequirementKind::Job, name }
    }

    /// The key of the standard called `name`.
    pub fn standard(name: Name) -> Self {
        Self { kind: RequirementKind::Standard, name }
    }
}

impl fmt::Display for RequirementKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
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
    /// The command itself said no, and had used products that an earlier run's jobs left in the checkout: gone or changed since,
    /// they may be what it failed on.
    Leftovers,
    /// The command was `[gate] prepare`, and exited with a status other than 0.
    Unprepared,
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

impl LogRef {
    /// The name of the file for the output of one try of a job or standard. Names differ in more than case, so files do, too.
    pub fn file_of(name: &Name, tries: u32) -> String {
        format!("{name}.{tries}.log")
    }
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

/// A receipt that contradicts itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// `passed` with a failure, an exit code other than 0 or a signal.
    #[error("it passed and says how it failed")]
    PassedWithFailure,
    /// `failed` without a failure.
    #[error("it failed and does not say how")]
    FailedWithoutFailure,
    /// A job with a reading.
    #[error("it is a job's and has a reading")]
    JobWithReading,
    /// A standard that passed without a reading, or failed with one.
    #[error("it is a standard's, and verdict and reading do not go together")]
    ReadingAgainstVerdict,
    /// A reading that is no decimal.
    #[error("its reading is not a number")]
    ReadingNotANumber,
    /// Try 0.
    #[error("its tries begin at 1")]
    NoTry,
    /// More text than a receipt may hold.
    #[error("its reason is longer than {REASON_BYTES_MAX} bytes")]
    ReasonTooLong,
}

/// The version of a receipt's line in the ledger.
const VERSION: u32 = 1;

impl Receipt {
    /// Which requirement it was for when it ran.
    pub fn key(&self) -> RequirementKey {
        RequirementKey { kind: self.kind, name: self.name.clone() }
    }

    /// Whether this receipt's verdict may be given again without running (storage: a pass always, a failure only where
    /// the command itself said no).
    pub fn may_be_replayed(&self) -> bool {
        self.failure.is_none_or(Failure::may_be_replayed)
    }

    /// `text` as a receipt's `reason`: its beginning, where it is longer than [`REASON_BYTES_MAX`] bytes.
    pub fn reason_from(text: &str) -> String {
        const CUT: &str = "…";
        if text.len() <= REASON_BYTES_MAX {
            return text.to_owned();
        }
        beginning(text, REASON_BYTES_MAX - CUT.len()) + CUT
    }

    /// Refuses what no run of ours publishes. Checked before publishing and after reading.
    pub fn check(&self) -> Result<(), Contradiction> {
        let clean_end = self.failure.is_none() && self.signal.is_none() && self.exit_code.is_none_or(|code| code == 0);
        match self.verdict {
            Verdict::Passed if !clean_end => return Err(Contradiction::PassedWithFailure),
            Verdict::Failed if self.failure.is_none() => return Err(Contradiction::FailedWithoutFailure),
            _ => {}
        }
        match (self.kind, &self.reading) {
            (RequirementKind::Job, Some(_)) => return Err(Contradiction::JobWithReading),
            (RequirementKind::Standard, reading) if reading.is_some() != (self.verdict == Verdict::Passed) => {
                return Err(Contradiction::ReadingAgainstVerdict);
            }
            (RequirementKind::Standard, Some(reading)) => {
                let numbers = [Some(&reading.value), Some(&reading.metric), reading.per.as_ref()];
                if !numbers.into_iter().flatten().all(|text| text.parse::<Decimal>().is_ok()) {
                    return Err(Contradiction::ReadingNotANumber);
                }
            }
            _ => {}
        }
        if self.tries == 0 {
            return Err(Contradiction::NoTry);
        }
        if self.reason.as_ref().is_some_and(|reason| reason.len() > REASON_BYTES_MAX) {
            return Err(Contradiction::ReasonTooLong);
        }
        Ok(())
    }

    /// The receipt as one line of JSON, without the line feed, beginning with its format's version.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        format::to_line(VERSION, self)
    }

    /// The receipt in a line that [`to_line`](Self::to_line) wrote.
    pub fn from_line(line: &[u8]) -> Result<Self, Unreadable> {
        let receipt: Self = format::from_line(VERSION, line)?;
        receipt.check().map_err(|why| Unreadable::Corrupt(why.to_string()))?;
        Ok(receipt)
    }

    /// What orders receipts of one subject in time.
    fn age(&self) -> (Timestamp, AttemptId, u32) {
        (self.finished_at, self.attempt, self.tries)
    }
}

/// The receipt that counts among those of one subject: the one whose command ended last.
pub fn newest<'a>(receipts: impl IntoIterator<Item = &'a Receipt>) -> Option<&'a Receipt> {
    receipts.into_iter().max_by_key(|receipt| receipt.age())
}

/// Whether receipts of one subject say both "passed" and "failed", or one of them passed only on a later try.
///
/// A failure that may not be replayed (a timeout, a missing program) says something about the machine or a setting that is no
/// part of the subject, and contradicts nothing.
pub fn flaky<'a>(receipts: impl IntoIterator<Item = &'a Receipt>) -> bool {
    let (mut passed, mut failed) = (false, false);
    for receipt in receipts {
        passed |= receipt.verdict == Verdict::Passed;
        failed |= receipt.verdict == Verdict::Failed && receipt.may_be_replayed();
        if receipt.flaky || (passed && failed) {
            return true;
        }
    }
    false
}

#[cfg(test)]
#[path = "receipt_tests.rs"]
mod tests;
