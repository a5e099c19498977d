//! Toolchain commands: what `toolchain` declares, each asked once, all at the same time.
//!
//! An answer decides which verdicts are reused, so half of one is none: a command that was killed, could not be started or said
//! more than is read has not answered. A status other than 0 is an answer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Machine;
use super::executions::Launch;
use crate::config::{Command, Config};
use crate::engine::job::RunningJob;
use crate::engine::job_end::{Exit, JobEnd};
use crate::evidence::subject::ToolchainAnswer;
use crate::git::with_causes;
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
        // A command that several jobs declare is asked once, and must find its tool as each of them would.
        let jobs = config.jobs.iter().map(|job| &job.influences);
        let all = jobs.chain(config.standards.iter().map(|standard| &standard.influences));
        let declared: Vec<String> = all.flat_map(|influences| influences.env.iter().cloned()).collect();
        for (number, command) in commands.iter().enumerate() {
            let log = self.logs.join(format!("toolchain.{number}.log"));
            let environment = self.environment(&name, &declared, config);
            let shell = Command::Shell(command.clone());
            let launch = Launch { command: &shell, environment: &environment, log: &log, input: None, slot: None };
            match self.launch(&name, &launch) {
                Ok(job) => self.toolchain.push(Asked { command: command.clone(), job, log }),
                Err(error) => {
                    self.unanswered.push(format!("`{command}` could not be started: {}", with_causes(&error)))
                }
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

    /// Toolchain commands without an answer, one clause each.
    pub fn toolchain_unanswered(&self) -> &[String] {
        &self.unanswered
    }

    /// Takes in what toolchain commands answered, and kills what takes too long.
    pub(super) fn look_at_toolchain(&mut self) {
        let now_ms = self.session.now().monotonic_ms;
        for at in (0..self.toolchain.len()).rev() {
            if let Some(end) = self.toolchain[at].job.advance() {
                let Asked { command, log, .. } = self.toolchain.remove(at);
                match answer(&end, &log) {
                    Ok((exit_code, output)) => {
                        self.answers.insert(command.clone(), ToolchainAnswer { command, exit_code, output });
                    }
                    Err(why) => self.unanswered.push(format!("`{command}` {why}")),
                }
            } else if self.toolchain[at].job.elapsed_ms(now_ms) >= TOOLCHAIN_MS_MAX {
                self.toolchain[at].job.kill();
            }
        }
    }
}

/// A command's exit code and all that it said; or why that is no answer.
fn answer(end: &JobEnd, log: &Path) -> Result<(i32, Vec<u8>), String> {
    let exit_code = match &end.exit {
        Exit::Process(ProcessEnd::Code(code)) if !end.by_order => *code,
        Exit::Process(ProcessEnd::Code(_) | ProcessEnd::Signal(_)) if end.by_order => {
            return Err(format!("did not answer within {} s", TOOLCHAIN_MS_MAX / 1000));
        }
        Exit::Process(ProcessEnd::Code(_) | ProcessEnd::Signal(_)) => return Err("was killed".to_owned()),
        Exit::NotStarted { .. } | Exit::Unknown { .. } => return Err("could not be started".to_owned()),
    };
    if let Some(lost) = &end.output_lost {
        return Err(format!("has an answer that can't be stored: {lost}"));
    }
    match crate::os::files::read_bounded(log, TOOLCHAIN_BYTES_MAX) {
        Ok(said) => Ok((exit_code, said.unwrap_or_default())),
        Err(error) => Err(format!("has an answer that can't be read: {error}")),
    }
}
