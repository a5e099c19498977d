//! The exit statuses, once. Scripts rely on them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// How a command ends, as the shell sees it. In documents it is the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "u8", into = "u8")]
pub enum Exit {
    /// 0: proven, passed, verified.
    Success,
    /// 1: at least one requirement's verdict is failed, or a standard is looser than trunk's (`verify`: not proven).
    Failed,
    /// 2: usage, configuration or precondition; or the candidate moved, changed or was deleted while it ran.
    Refused,
    /// 3: another run holds the claim or the worktree; nothing was run.
    Pending,
    /// 4: another run retired this one.
    Retired,
    /// 5: the store could not be read or written.
    Store,
    /// 70: an internal error.
    Internal,
    /// 129: stopped by SIGHUP.
    Hangup,
    /// 130: stopped by SIGINT.
    Interrupted,
    /// 143: stopped by SIGTERM, or by `git discern stop`.
    Terminated,
}

impl Exit {
    /// Every status, for tables and tests.
    pub const ALL: [Self; 10] = [
        Self::Success,
        Self::Failed,
        Self::Refused,
        Self::Pending,
        Self::Retired,
        Self::Store,
        Self::Internal,
        Self::Hangup,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// The number given to the operating system.
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failed => 1,
            Self::Refused => 2,
            Self::Pending => 3,
            Self::Retired => 4,
            Self::Store => 5,
            Self::Internal => 70,
            Self::Hangup => 129,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// The word that JSON documents have for it, where nothing more is known.
    pub fn outcome(self) -> OutcomeWord {
        match self {
            Self::Success => OutcomeWord::Passed,
            Self::Failed => OutcomeWord::Failed,
            Self::Refused => OutcomeWord::Refused,
            Self::Pending => OutcomeWord::Pending,
            Self::Store => OutcomeWord::StoreError,
            Self::Internal => OutcomeWord::InternalError,
            Self::Retired | Self::Hangup | Self::Interrupted | Self::Terminated => OutcomeWord::Cancelled,
        }
    }

    /// Which of several statuses stands for all: the greatest. A failure outranks what another run has or had; that something
    /// could not be looked at outranks a failure; an interrupt outranks all.
    pub fn severity(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Pending => 1,
            Self::Retired => 2,
            Self::Failed => 3,
            Self::Refused => 4,
            Self::Store => 5,
            Self::Internal => 6,
            Self::Hangup | Self::Interrupted | Self::Terminated => 7,
        }
    }
}

impl From<u8> for Exit {
    /// The status with that number; one that nobody gives is a fault of whoever gave it.
    fn from(code: u8) -> Self {
        Self::ALL.into_iter().find(|exit| exit.code() == code).unwrap_or(Self::Internal)
    }
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> Self {
        exit.code()
    }
}

impl JsonSchema for Exit {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        u8::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        u8::json_schema(generator)
    }
}

/// The word for an exit status in JSON documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeWord {
    /// Everything demanded holds.
    Passed,
    /// At least one verdict is failed.
    Failed,
    /// The run was retired or interrupted, or its candidate changed under it.
    Cancelled,
    /// Another run has it.
    Pending,
    /// Nothing was run, for a reason that the user can mend.
    Refused,
    /// The store could not be read or written.
    StoreError,
    /// A fault of this tool.
    InternalError,
}
