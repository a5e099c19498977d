//! What an owner is told, asks for, and has to say.

use crate::claim::record::{Attempt, Bound, EndedBy, Outcome, Record};
use crate::claim::transition::{History, Refusal, Settlement};
use crate::evidence::Receipt;
use crate::id::RecordId;

/// What a read of the record gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// There is no record.
    Absent,
    /// A record, and the value that a swap must name.
    Record(RecordId, Box<Record>),
    /// Something that can't be read, or older than what this machine has seen (C27); or the store did not answer. The text
    /// says which.
    Unreadable(String),
}

/// How a swap was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// It happened; the ref now names this.
    Applied(RecordId),
    /// The ref held something else; nothing was written.
    Stale,
    /// It may have happened or not.
    Unknown(String),
}

/// What happens to an owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Begin: reserve the claim.
    Reserve,
    /// The record was looked at, with what else is known about the candidate's attempts. Answers [`Effect::Survey`].
    Surveyed(Seen, History),
    /// The finished record that stood in the way was copied into the ledger, or could not be. Answers [`Effect::Absorb`].
    Absorbed(Result<(), String>),
    /// Planning is over.
    Bind(Vec<Bound>),
    /// A job is about to start.
    Check,
    /// Jobs ended.
    Publish(Vec<Receipt>),
    /// Time passed.
    Tick,
    /// The run is over. A later one replaces an earlier one that has not been written, as after an interrupt.
    Settle {
        /// How.
        settlement: Box<Settlement>,
        /// For how long to try, in milliseconds: one lease, or two seconds after an interrupt (C7).
        within_ms: u64,
    },
    /// The record was read. Answers [`Effect::Read`].
    Read(Seen),
    /// The ledger was asked for this attempt's outcome. Answers [`Effect::LookInLedger`].
    InLedger(Result<Option<Ended>, String>),
    /// A swap was answered. Answers [`Effect::Swap`].
    Written(Written),
}

/// What an owner asks for, or has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Read the record, the high-water mark and the ledger's highest generation; look whether a finished one is absorbed.
    Survey,
    /// Copy this finished record into the ledger.
    Absorb(Box<Record>),
    /// Read the record.
    Read,
    /// Look in the ledger for this attempt.
    LookInLedger,
    /// Replace the value `expected` (none: there must be no ref) by this record.
    Swap {
        /// What the ref must hold.
        expected: Option<RecordId>,
        /// What it shall hold.
        record: Box<Record>,
    },
    /// Something to act on.
    Say(Said),
}

impl Effect {
    /// Its name, for traces.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Survey => "survey",
            Self::Absorb(_) => "absorb",
            Self::Read => "read",
            Self::LookInLedger => "look in the ledger",
            Self::Swap { .. } => "swap",
            Self::Say(_) => "say",
        }
    }
}

/// What an owner has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// The claim is held; plan now.
    Reserved {
        /// Which attempt at this candidate it is.
        generation: u32,
    },
    /// The plan is recorded; run now.
    Bound,
    /// The plan was refused and nothing was written.
    BindRefused(Refusal),
    /// The job may start.
    MayStart,
    /// Receipts are recorded.
    Published {
        /// How many in this write.
        receipts: usize,
    },
    /// Receipts were refused for what they are; the claim is as it was.
    PublishRefused(Refusal),
    /// The lease was renewed.
    Renewed {
        /// Milliseconds since the renewal before.
        after_ms: u64,
    },
    /// The store could not do what was asked; the run goes on.
    Trouble {
        /// What was tried.
        doing: &'static str,
        /// What was said.
        problem: String,
    },
    /// It is over.
    Over(Over),
}

/// How an owner's attempt is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Over {
    /// This run settled it.
    Settled(Ended),
    /// Another run ended it; whatever this run would have reported, this is its outcome (C17).
    Lost(Loss),
    /// The claim was never held.
    NotReserved(NotReserved),
    /// It could not be settled; the claim lapses by itself (C7).
    Unsettled(String),
    /// The settlement was refused for what it says; a fault of this tool.
    SettleRefused(Refusal),
}

/// How an attempt ended, as record or ledger say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub outcome: Outcome,
    /// By whom and why.
    pub by: EndedBy,
    /// What `wait` hands on.
    pub exit_status: u8,
}

/// How a claim was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// Retired, by whom and why.
    Retired(Ended),
    /// Replaced by this attempt; how is not recorded (C8).
    Replaced(Box<Attempt>),
}

/// Why a claim could not be reserved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotReserved {
    /// Another attempt holds it.
    Held(RecordId, Box<Record>),
    /// The record can't be read (C27).
    Unreadable(String),
    /// The finished attempt there could not be copied into the ledger.
    LedgerUnwritable(String),
    /// The store could not be written.
    Store(String),
}
