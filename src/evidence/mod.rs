//! What is known about a commit: verdicts and readings, each for one subject, and the Proof that they add up to.
//!
//! A *subject* is the digest of everything that decides a verdict; a *receipt* is one recorded verdict (or reading) for
//! one subject; a *Proof* says that each requirement of one commit has a passing receipt. Receipts belong to what was
//! checked, not to a commit: two commits that agree on a job's inputs share its receipt.
//!
//! Everything here is data and arithmetic on data. It never asks git, a clock or the environment.

mod encoding;
pub mod explain;
pub(crate) mod format;
pub mod proof;
pub(crate) mod quote;
pub mod receipt;
mod room;
#[cfg(test)]
pub(crate) mod samples;
pub mod subject;

pub use explain::{Difference, explain};
pub use format::Unreadable;
pub use proof::{Demand, Proof, ProofRequirement, TrunkCompared};
pub use receipt::{
    Artifact, Contradiction, Failure, LogRef, Place, Reading, Receipt, RequirementKey, RequirementKind, Verdict, flaky,
    newest,
};
pub use room::room_bytes;
pub use subject::{
    Definition, Denominator, InputEntry, Inputs, Measure, Platform, Salt, Source, SubjectInput, SubjectParts,
    ToolchainAnswer, Unit,
};
