//! Everything that can happen in a run, as data.
//!
//! The engine emits events; `report` renders them (terminal, plain, JSON) and the journal keeps them one to a line, so that
//! `git discern wait` can show another run's live view as if it were one's own. An event states facts and holds no
//! sentence; it never decides anything.

use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::document::{Candidate, Pending, RequirementReport};
use crate::evidence::RequirementKind;
use crate::exit::OutcomeWord;
use crate::id::{AttemptId, CommitId, Name, OperationHandle};

/// One thing that happened, with its instant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When, on the wall clock, for people.
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "events are made, told and dropped one at a time")]
pub enum What {
    /// A run took its candidate.
    Began {
        /// `done`, `standards`, `run`.
        command: String,
        /// What it works on.
        candidate: Candidate,
        /// The first line of the commit's message.
        summary: String,
    },
    /// The run waits for another one before it reserves (C28, or `--wait`).
    Waiting {
        /// Whom for.
        pending: Pending,
    },
    /// The run has a claim.
    Reserved {
        /// Its attempt.
        attempt: AttemptId,
        /// Its journal's handle, unless it could not be made.
        handle: Option<OperationHandle>,
        /// Which attempt at this candidate it is.
        generation: u32,
    },
    /// Another run's abandoned claim was retired.
    Retired {
        /// The candidate that it was for.
        candidate: CommitId,
        /// The retired attempt.
        attempt: AttemptId,
        /// The worktree that it ran in.
        worktree: String,
        /// Why that was permitted: `executor-gone` or `lease-lapsed`.
        why: String,
    },
    /// What will run and what is reused.
    Planned {
        /// Every requirement, in the order of the configuration.
        requirements: Vec<PlannedRequirement>,
    },
    /// A job waits for a capacity slot (`[gate] slots`).
    SlotAwaited {
        /// The job.
        name: Name,
    },
    /// A job's command was started.
    Started {
        /// The requirement.
        name: Name,
        /// Which try, from 1.
        tries: u32,
        /// The file that its output goes to.
        log: Option<String>,
        /// How long it took last time, in milliseconds.
        expected_ms: Option<u64>,
    },
    /// A requirement's command ended.
    Finished {
        /// The requirement with its verdict.
        requirement: RequirementReport,
    },
    /// A failed job will be tried again.
    Retrying {
        /// The requirement.
        name: Name,
        /// The next try, from 2.
        tries: u32,
    },
    /// Something was left behind by a job and was ended.
    LeftBehind {
        /// The job.
        name: Name,
        /// How many processes.
        processes: usize,
    },
    /// Receipts are recorded.
    Published {
        /// How many in this write.
        receipts: usize,
    },
    /// The store did not answer or could not be written; the run goes on.
    StoreTrouble {
        /// What it was about to do.
        doing: String,
        /// What was said.
        problem: String,
    },
    /// The claim was renewed late.
    RenewedLate {
        /// Milliseconds since the renewal before.
        after_ms: u64,
    },
    /// A signal or a stop request came in.
    Interrupted {
        /// `SIGINT`, `SIGTERM`, `SIGHUP`, `stop`.
        by: String,
        /// How many so far.
        times: u32,
    },
    /// The run was stopped (Ctrl-Z) and goes on.
    Resumed {
        /// How long it stood, in milliseconds.
        after_ms: u64,
    },
    /// Something to know that is no failure.
    Note {
        /// A sentence.
        text: String,
    },
    /// The run is over.
    Ended {
        /// How.
        outcome: OutcomeWord,
        /// The exit status.
        exit: u8,
        /// Milliseconds since it began.
        duration_ms: u64,
    },
}

/// Whoever is told what happens while it happens. It is told synchronously: an audience that stops listening stops the run
/// (C14).
pub trait Audience {
    /// Takes in what happened.
    fn event(&mut self, event: &Event);

    /// A little time has passed; it is `now`.
    fn tick(&mut self, now: Timestamp);

    /// The process is about to stop (Ctrl-Z): what is in motion has to come to rest.
    fn pause(&mut self);
}

/// Nobody listens.
#[derive(Debug, Clone, Copy)]
pub struct Nobody;

impl Audience for Nobody {
    fn event(&mut self, _: &Event) {}
    fn tick(&mut self, _: Timestamp) {}
    fn pause(&mut self) {}
}

/// One requirement as planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedRequirement {
    /// Job or standard.
    pub kind: RequirementKind,
    /// Its name.
    pub name: Name,
    /// The command, for people.
    pub command: String,
    /// What is planned.
    pub decision: Decision,
    /// How long it took last time, in milliseconds.
    pub expected_ms: Option<u64>,
}

/// Whether a requirement runs, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "plan", rename_all = "kebab-case")]
pub enum Decision {
    /// An earlier verdict for the equal subject counts.
    Reuse {
        /// The commit it was obtained on.
        commit: CommitId,
        /// The attempt that published it.
        attempt: AttemptId,
        /// When.
        at: Timestamp,
    },
    /// The command runs.
    Run {
        /// Why no earlier verdict counts: `first time`, "`src/lib.rs` changed", `needed by test`, `--rerun`.
        why: String,
        /// Whether it runs although an earlier verdict is known, and nobody asked for that.
        #[serde(default)]
        despite: bool,
    },
}
