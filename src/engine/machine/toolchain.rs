//! Toolchain commands: what `toolchain` declares, each asked once, all at the same time.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Machine;
use super::executions::Launch;
use crate::config::{Command, Config};
use crate::engine::job::RunningJob;
use crate::engine::job_end::Exit;
use crate::evidence::subject::{ToolchainAnswer, ToolchainEnd};
use crate::id::Name;
use crate::os::process::ProcessEnd;

/// How long a toolchain command may take, in milliseconds.
const TOOLCHAIN_MS_MAX: u64 = 60_000;

/// The longest answer of a toolchain command, in bytes.
const TOOLCHAIN_BYTES_MAX: u64 = 1024 * 1024;

/// A toolchain command that runs.
pub(super) struct Asked {
    command: String,
    pub(super) job: RunningJob,
    log: PathBuf,
}

impl Machine<'_, '_> {
    /// Starts every toolchain command, all at once.
    pub fn ask_toolchain(&mut self, commands: &[String], config: &Config) {
        let Ok(name) = "toolchain".parse::<Name>() else { return };
        for (number, command) in commands.iter().enumerate() {
            let log = self.logs.join(format!("toolchain.{number}.log"));
            let environment = self.environment(&name, &[], config);
            let shell = Command::Shell(command.clone());
            let launch = Launch { command: &shell, environment: &environment, log: &log, input: None, slot: None };
            match self.launch(&name, &launch) {
                Ok(job) => self.toolchain.push(Asked { command: command.clone(), job, log }),
                Err(_) => self.answer(command.clone(), ToolchainEnd::NotStarted, Vec::new()),
            }
        }
    }

    /// Whether a toolchain command has not answered yet.
    pub fn toolchain_is_open(&self) -> bool {
        !self.toolchain.is_empty()
    }

    /// What the toolchain commands answered.
    pub fn toolchain_answers(&self) -> &BTreeMap<String, ToolchainAnswer> {
        &self.answers
    }

    fn answer(&mut self, command: String, end: ToolchainEnd, output: Vec<u8>) {
        self.answers.insert(command.clone(), ToolchainAnswer { command, end, output });
    }

    /// Takes in what toolchain commands answered, and kills what takes too long.
    pub(super) fn look_at_toolchain(&mut self) {
        let now_ms = self.session.now().monotonic_ms;
        for at in (0..self.toolchain.len()).rev() {
            if let Some(end) = self.toolchain[at].job.advance() {
                let asked = self.toolchain.remove(at);
                let output = crate::os::files::read_bounded(&asked.log, TOOLCHAIN_BYTES_MAX).ok().flatten();
                let how = match end.exit {
                    Exit::Process(ProcessEnd::Code(code)) => ToolchainEnd::Exited(code),
                    Exit::Process(ProcessEnd::Signal(signal)) => ToolchainEnd::Killed(signal),
                    Exit::NotStarted { .. } | Exit::Unknown { .. } => ToolchainEnd::NotStarted,
                };
                self.answer(asked.command, how, output.unwrap_or_default());
            } else if self.toolchain[at].job.elapsed_ms(now_ms) >= TOOLCHAIN_MS_MAX {
                self.toolchain[at].job.kill();
            }
        }
    }
}
