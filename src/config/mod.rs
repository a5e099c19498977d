//! `discern.toml`: what a commit demands of itself, parsed once at the door, and everything that is wrong with it.
//!
//! [`Config::parse`] takes the file's bytes and answers with types that hold only what makes sense: names that exist,
//! numbers in range, no cycle. Otherwise it answers with *all* problems, each pointing at its text. It never reads a file, an
//! environment or a clock; whose bytes they are (the candidate's, trunk's, the worktree's) is the caller's business.

pub mod detect;
mod graph;
mod keys;
mod pathspec;
mod problem;
mod read;
mod reference;
mod references;
mod requirement;
mod sections;

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::id::{Digest, Name};
use crate::standard::{Decimal, Direction};
pub use pathspec::Pathspec;
pub use problem::{Colour, Invalid, Position, Problem, names_nothing};
pub use reference::{reference, schema};

/// The file's name, at the top of the worktree.
pub const FILE: &str = "discern.toml";

/// A longer file is refused.
pub const BYTES_MAX: usize = 1 << 20;

/// A whole configuration. Jobs and standards are in the file's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// SHA-256 of the file's bytes.
    pub digest: Digest,
    /// Its text, for messages that point into it.
    pub text: Arc<str>,
    /// How runs behave.
    pub gate: Gate,
    /// The checks. Each name occurs once among jobs and standards, also without regard to case.
    pub jobs: Vec<Job>,
    /// The numbers that may only improve.
    pub standards: Vec<Standard>,
    /// What the pre-push hook demands.
    pub push: Push,
}

/// `[gate]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// The branch to compare with; nothing means: look for the usual ones.
    pub trunk: Option<String>,
    /// What jobs and standards have where they set none, and what `prepare` has.
    pub timeout: Timeout,
    /// How often a failed job is tried again where it does not say so itself.
    pub retries: u32,
    /// Jobs of one run at a time; nothing means the machine's cores.
    pub parallel: Option<NonZeroU32>,
    /// Jobs of all runs on this machine at a time; nothing means no cap.
    pub slots: Option<NonZeroU32>,
    /// Which variables jobs get.
    pub environment: Environment,
    /// What to do about untracked files that are not ignored.
    pub untracked: Untracked,
    /// Whether trunk's jobs may be dropped or redefined.
    pub jobs: JobsOf,
    /// Where jobs run.
    pub workspace: Workspace,
    /// How many checkouts are kept for isolated runs.
    pub pool: NonZeroU32,
    /// The directory of the kept checkouts; nothing means the usual one.
    pub checkouts: Option<String>,
    /// Makes a kept checkout ready.
    pub prepare: Option<Prepare>,
    /// Ignored paths that a kept checkout keeps.
    pub keep: Vec<String>,
}

/// Which variables jobs get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Environment {
    /// Those of the run.
    Inherit,
    /// A short fixed list and what they declare.
    Strict,
}

/// What to do about untracked files that are not ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untracked {
    /// Refuse the candidate.
    Refuse,
    /// Let them be.
    Ignore,
}

/// Whose jobs count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum JobsOf {
    /// The candidate's own.
    #[default]
    Own,
    /// The candidate must have trunk's as they are there.
    Trunk,
}

/// Where jobs run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workspace {
    /// In the working checkout.
    InPlace,
    /// In a kept checkout that holds exactly the candidate.
    Isolated,
}

/// `prepare` and `prepare_inputs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepare {
    /// The command.
    pub run: Command,
    /// What it depends on; nothing means the whole tree.
    pub inputs: Option<Vec<Pathspec>>,
}

/// A command line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Command {
    /// For `sh -c`. Not blank.
    Shell(String),
    /// Program and arguments, run as they are. At least one, the first not empty.
    List(Vec<String>),
}

impl fmt::Display for Command {
    /// As a person would type it into a shell.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shell(line) => f.write_str(line),
            Self::List(words) => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                f.write_str(&words.join(" "))
            }
        }
    }
}

/// `word` so that a shell reads it as one word.
fn quoted(word: &str) -> String {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "-_./=:,@%+".contains(sign);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// How long a command may take, and which key says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeout {
    /// Whole seconds of awake time; nothing means for ever.
    pub limit: Option<Duration>,
    /// The key that sets it, for messages: "`timeout` of `[jobs.test]`", "`timeout` of `[gate]`".
    pub set_by: String,
}

/// What jobs and standards declare alike: what decides their verdict beside the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Influences {
    /// The tracked files; nothing means the whole tree.
    pub inputs: Option<Vec<Pathspec>>,
    /// Jobs that run first and whose products are used.
    pub needs: Vec<Name>,
    /// Names of environment variables.
    pub env: Vec<String>,
    /// Shell commands whose output counts.
    pub toolchain: Vec<String>,
}

/// `[jobs.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its name.
    pub name: Name,
    /// Where its name is written.
    pub at: Position,
    /// The command.
    pub run: Command,
    /// Where the command is written.
    pub run_at: Position,
    /// What decides its verdict.
    pub influences: Influences,
    /// Jobs that come first, for the order only.
    pub after: Vec<Name>,
    /// Tracked files that it may rewrite with equal content.
    pub touches: Vec<Pathspec>,
    /// Its own timeout or the gate's.
    pub timeout: Timeout,
    /// How often it is tried again: its own number or the gate's.
    pub retries: u32,
    /// Files that it makes and that are kept, below the top directory.
    pub artifacts: Vec<String>,
}

/// `[standards.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standard {
    /// Its name.
    pub name: Name,
    /// Where its name is written.
    pub at: Position,
    /// Whether the limit is a floor or a ceiling.
    pub direction: Direction,
    /// The limit, with the text that is written.
    pub limit: Decimal,
    /// Where the limit is written.
    pub limit_at: Position,
    /// Where the number comes from.
    pub source: Source,
    /// Where `run` or `from` is written.
    pub source_at: Position,
    /// The name in the `DISCERN_METRIC` line.
    pub metric: Name,
    /// Head-room that pinning leaves; not negative.
    pub margin: Option<Decimal>,
    /// When it is measured.
    pub measure: Measure,
    /// What the number is divided by.
    pub per: Option<Per>,
    /// What a rate is multiplied by; positive.
    pub scale: Option<Decimal>,
    /// What decides its reading.
    pub influences: Influences,
    /// Its own timeout or the gate's.
    pub timeout: Timeout,
}

/// Where a standard's number comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A command of its own.
    Run(Command),
    /// What a job left.
    From {
        /// The job.
        job: Name,
        /// The one of its artifacts to read; nothing means its captured output.
        artifact: Option<String>,
        /// Reads that as its input and prints the metric; nothing means that the output holds the line already.
        extract: Option<Command>,
    },
}

impl fmt::Display for Source {
    /// What is executed, for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(command) => command.fmt(f),
            Self::From { job, artifact, extract } => left_by(f, job, artifact.as_deref(), extract.as_ref()),
        }
    }
}

/// What is measured of what a job left, for people: `output of test | scripts/count`.
pub(crate) fn left_by(
    f: &mut fmt::Formatter<'_>,
    job: &Name,
    artifact: Option<&str>,
    extract: Option<&Command>,
) -> fmt::Result {
    match artifact {
        Some(path) => write!(f, "`{path}` of {job}")?,
        None => write!(f, "output of {job}")?,
    }
    extract.map_or(Ok(()), |command| write!(f, " | {command}"))
}

/// When a standard is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// By `done`, too.
    Gate,
    /// Only by `git discern standards`.
    OnDemand,
}

/// What a rate is divided by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Per {
    /// The lines of the selected tracked files.
    Lines(Vec<Pathspec>),
    /// Their number.
    Files(Vec<Pathspec>),
    /// Their size.
    Bytes(Vec<Pathspec>),
    /// Another metric that the same command prints.
    Metric(Name),
}

/// `[push]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    /// Patterns of full names of remote refs.
    pub require: Vec<String>,
    /// Which new commits must be proven.
    pub commits: PushedCommits,
    /// What to do about tags.
    pub tags: PushedTags,
}

impl Default for Push {
    /// The tip of what is pushed to any branch.
    fn default() -> Self {
        Self { require: vec!["refs/heads/**".into()], commits: PushedCommits::Tip, tags: PushedTags::Ignore }
    }
}

/// Which of the new commits of a push must be proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushedCommits {
    /// The last one.
    Tip,
    /// Each.
    All,
}

/// What a push does about tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushedTags {
    /// The commit that the tag names must be proven.
    Tip,
    /// Tags pass.
    Ignore,
}

impl Config {
    /// The configuration that `bytes` hold. `file` is what messages call it: `discern.toml`, `main:discern.toml`.
    pub fn parse(bytes: &[u8], file: &str) -> Result<Self, Invalid> {
        let digest = Digest(Sha256::digest(bytes).into());
        let (mut reader, document) = read::Reader::new(bytes, file)?;
        let config = sections::configuration(&mut reader, &document, digest);
        match config {
            Some(config) if reader.problems.is_empty() => Ok(config),
            _ => Err(Invalid::new(file, reader.source, reader.problems)),
        }
    }

    /// The page that shows `problems` where they are written, for what only the commit can tell.
    pub fn page(&self, problems: Vec<Problem>) -> String {
        Invalid::new(FILE, self.text.to_string(), problems).render(Colour::None)
    }

    /// The job of that name.
    pub fn job(&self, name: &Name) -> Option<&Job> {
        self.jobs.iter().find(|job| job.name == *name)
    }

    /// The standard of that name.
    pub fn standard(&self, name: &Name) -> Option<&Standard> {
        self.standards.iter().find(|standard| standard.name == *name)
    }

    /// The jobs in an order in which each follows everything in its `needs` and `after`; otherwise the file's.
    pub fn jobs_in_order(&self) -> Vec<&Job> {
        graph::in_order(&self.jobs)
    }
}

#[cfg(test)]
mod tests;
