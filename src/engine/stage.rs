//! What a run acts on, as its loop sees it: the machine it runs on, or a simulated one.
//!
//! The loop in [`run`](super::run) decides; a stage does. Every call returns before the next is made, on the one thread that
//! there is (C14).

use crate::claim::owner::{Input, Owner, Said};
use crate::event::What;
use crate::evidence::{Artifact, Reading, RequirementKey};
use crate::exit::Exit;
use crate::os::signal::Signal;
use crate::plan::Start;
use crate::time::{self, Timestamp};

/// A machine with a store, processes, signals and somebody to talk to.
pub trait Stage {
    /// Lets the owner take a step, with everything that it leads to.
    fn drive(&mut self, owner: &mut Owner, input: Input) -> Vec<Said>;

    /// What the clocks show.
    fn now(&self) -> time::Reading;

    /// Tells, and notes in the journal, what happened.
    fn tell(&mut self, what: What);

    /// Takes capacity for at most `wanted` executions (`[gate] slots`); how many there are. What is not started is given back. To
    /// want none is to wait for none any more.
    fn take_slots(&mut self, wanted: usize) -> usize;

    /// Starts an execution. One that can't be started ends at once.
    fn start(&mut self, start: &Start);

    /// Ends every execution that runs; their ends still come out of [`Stage::wait`].
    fn end_executions(&mut self, how: Ending);

    /// How many executions run.
    fn running(&self) -> usize;

    /// Waits until something happens or the monotonic clock shows `until_ms`; draws meanwhile. An execution that has ended is
    /// looked at before its timer (C15).
    fn wait(&mut self, until_ms: Option<u64>) -> Vec<Happening>;

    /// What is no longer as the candidate has it, executions of `ended` having ended.
    fn look_at_tree(&mut self, ended: &[RequirementKey]) -> TreeState;
}

/// How executions are ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// SIGTERM, five seconds, SIGKILL.
    Gently,
    /// SIGKILL.
    AtOnce,
}

/// Something that a stage reports.
#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    /// An execution ended.
    Ended(ExecutionEnd),
    /// A signal arrived that asks the run to end.
    Signal(EndingSignal),
    /// `git discern stop` asked for it.
    StopRequested,
}

/// The signals that end a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndingSignal {
    /// SIGINT.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP.
    Hangup,
}

impl EndingSignal {
    /// The exit status of whoever is ended by it.
    pub fn exit(self) -> Exit {
        match self {
            Self::Interrupt => Exit::Interrupted,
            Self::Terminate => Exit::Terminated,
            Self::Hangup => Exit::Hangup,
        }
    }

    /// What `signal` is among those that end a run.
    pub fn of(signal: Signal) -> Option<Self> {
        match signal {
            Signal::Interrupt => Some(Self::Interrupt),
            Signal::Terminate => Some(Self::Terminate),
            Signal::Hangup => Some(Self::Hangup),
            _ => None,
        }
    }
}

/// How an execution ended.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecutionEnd {
    /// What was started.
    pub start: Start,
    /// When it ended.
    pub at: Timestamp,
    /// How.
    pub how: ExecutionHow,
    /// Milliseconds of awake time that it ran.
    pub duration_ms: u64,
    /// Its log's size in bytes.
    pub log_bytes: u64,
    /// Why its output could not be stored, if so.
    pub output_lost: Option<String>,
    /// The name of its log's file, where there is one.
    pub log: Option<String>,
    /// What it printed in metric lines, for each standard that it serves.
    pub readings: Vec<(RequirementKey, Result<Reading, String>)>,
    /// Files that it declared, kept.
    pub artifacts: Vec<Artifact>,
}

impl ExecutionEnd {
    /// The requirement that stands for it.
    pub fn key(&self) -> &RequirementKey {
        // A start serves at least one (`plan::Start`).
        &self.start.serves[0]
    }
}

/// What ended an execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecutionHow {
    /// It exited.
    Exited {
        /// Its status.
        code: i32,
        /// The sentence, where it is not 0.
        why: String,
    },
    /// It died by a signal.
    Signalled {
        /// Its name.
        signal: String,
        /// The sentence.
        why: String,
    },
    /// Nobody saw how it ended; the sentence.
    Unseen(String),
    /// It could not be started; why, with the program.
    NotStarted {
        /// The exit code, where a shell said so.
        code: Option<i32>,
        /// The sentence.
        why: String,
    },
    /// It ran longer than it may; the sentence names the key that sets it.
    TimedOut(String),
    /// The run ended it.
    Ended,
}

/// The state of the tree under a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeState {
    /// Exactly the candidate's.
    Same,
    /// These differ, one sentence each; the first word is the path.
    Changed(Vec<String>),
    /// The worktree is gone.
    Gone,
    /// It could not be looked at.
    Unknown(String),
}
