//! The answer of `doctor`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Diagnostic;
use crate::exit::{Exit, OutcomeWord};

/// The answer of `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorDocument {
    /// `discern/doctor/1`.
    pub schema: String,
    /// Whether `exit` is 0.
    pub ok: bool,
    /// The word for it.
    pub outcome: OutcomeWord,
    /// The exit status: 2 when something keeps runs from working.
    pub exit: Exit,
    /// What was looked at, in a fixed order.
    pub checks: Vec<DoctorCheck>,
    /// What went wrong, most important first.
    pub diagnostics: Vec<Diagnostic>,
    /// Commands that help.
    pub hints: Vec<String>,
}

impl DoctorDocument {
    /// The answer that these checks make.
    pub fn new(checks: Vec<DoctorCheck>) -> Self {
        let broken = checks.iter().any(|check| check.state == CheckState::Broken);
        let exit = if broken { Exit::Refused } else { Exit::Success };
        Self {
            schema: "discern/doctor/1".to_owned(),
            ok: !broken,
            outcome: exit.outcome(),
            exit,
            checks,
            diagnostics: Vec::new(),
            hints: Vec::new(),
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorCheck {
    /// A stable word for it: `git`, `configuration`, `hook`.
    pub code: String,
    /// How it is.
    pub state: CheckState,
    /// What was found, half a sentence.
    pub message: String,
    /// The command that mends it.
    pub fix: Option<String>,
    /// What helps, in words, where it is more than a command or is for a person to decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// How a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    /// In order.
    Good,
    /// Worth knowing; nothing is broken by it.
    Note,
    /// It keeps runs from working, or is about to.
    Broken,
    /// It was out of order, and was mended.
    Mended,
}
