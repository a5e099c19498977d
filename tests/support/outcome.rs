//! How a command ended and what it printed.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How a command ended and what it printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The command, for messages.
    pub(crate) command: String,
    /// The exit status; 128 and the signal's number if it died by one.
    pub(crate) status: i32,
    /// What it printed to standard output, with anything that is no UTF-8 replaced.
    pub(crate) stdout: String,
    /// The same for standard error.
    pub(crate) stderr: String,
    /// The bytes of standard output.
    pub(crate) stdout_bytes: Vec<u8>,
}

impl Outcome {
    pub(super) fn new(command: String, status: ExitStatus, stdout: Vec<u8>, stderr: &[u8]) -> Self {
        let status = status.code().or(status.signal().map(|signal| 128 + signal)).expect("it ended");
        let (stdout_bytes, text) = (stdout.clone(), String::from_utf8_lossy(&stdout).into_owned());
        let stderr = String::from_utf8_lossy(stderr).into_owned();
        Self { command, status, stdout: text, stderr, stdout_bytes }
    }

    /// The same, if it ended with `status`; otherwise the test fails and shows everything.
    #[track_caller]
    pub(crate) fn exits(self, status: i32) -> Self {
        assert!(self.status == status, "expected exit status {status}\n{}", self.shown());
        self
    }

    /// The one JSON document on standard output.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|problem| panic!("{problem}\n{}", self.shown()))
    }

    /// Everything about it, as a snapshot has it.
    pub(crate) fn shown(&self) -> String {
        let Self { command, status, stdout, stderr, .. } = self;
        format!("$ {command}\n{stdout}--- stderr\n{stderr}--- exit status {status}\n")
    }
}
