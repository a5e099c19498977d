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
        let outcome = Self { command, status, stdout: text, stderr, stdout_bytes };
        if outcome.command.starts_with("git-discern") {
            outcome.offers_only_commands();
        }
        outcome
    }

    /// What is offered as a command can be typed and throws no work away: each line that begins with `hint: `, and in
    /// documents each `fix`, and each of `hints`.
    fn offers_only_commands(&self) {
        let lines = self.stdout.lines().chain(self.stderr.lines());
        let mut offered: Vec<String> =
            lines.filter_map(|line| line.strip_prefix("hint: ")).map(str::to_owned).collect();
        if let Ok(document) = serde_json::from_str::<serde_json::Value>(&self.stdout) {
            let texts = |list: &serde_json::Value, of: fn(&serde_json::Value) -> &serde_json::Value| {
                let items = list.as_array().cloned().unwrap_or_default();
                items.iter().filter_map(|item| of(item).as_str().map(str::to_owned)).collect::<Vec<_>>()
            };
            offered.extend(texts(&document["hints"], |hint| hint));
            for list in ["diagnostics", "checks", "unproven"] {
                offered.extend(texts(&document[list], |item| &item["fix"]));
            }
        }
        for command in offered {
            let typed = ["git ", "jj ", "cd ", "kill -CONT "].iter().any(|word| command.starts_with(word));
            let filled_in = !command.contains(", ") && !command.contains("COMMIT") && !command.contains('\n');
            let keeps =
                ["--abort", "--hard", "--force", "stash drop", "git clean"].iter().all(|it| !command.contains(it));
            assert!(typed && filled_in && keeps, "`{command}` is offered\n{}", self.shown());
        }
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
