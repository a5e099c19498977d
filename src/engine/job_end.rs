//! How a job ended, and what that means: a pure reading of facts.

use std::io;

use super::stage::ExecutionHow;
use crate::config::Command;
use crate::os::process::ProcessEnd;

/// The end of a job, after which nothing of it is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEnd {
    /// How its own process ended.
    pub exit: Exit,
    /// How long that ran: milliseconds of awake time, without those that it was paused.
    pub duration_ms: u64,
    /// Whether it had been told to end before it did. A job that ended by itself before that counts as it ended, whatever
    /// the run had decided meanwhile (C15).
    pub by_order: bool,
    /// How many processes it left behind that had to be killed.
    pub left_behind: usize,
    /// How many could not be, because they are another user's.
    pub out_of_reach: usize,
    /// Why output may be missing from the log, where it may.
    pub output_lost: Option<String>,
    /// The size of the log in bytes.
    pub log_bytes: u64,
}

/// How a job's own process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// It ran and ended.
    Process(ProcessEnd),
    /// It could not be started.
    NotStarted {
        /// The program that was looked for.
        program: String,
        /// The operating system's reason.
        errno: i32,
    },
    /// Nobody saw it: its supervisor was killed.
    Unknown {
        /// What is known: `its supervisor was killed by SIGKILL (signal 9)`.
        why: String,
    },
}

/// The shell's status for a program that is there and can't be executed.
const SHELL_CANNOT_EXECUTE: i32 = 126;
/// The shell's status for a program that is not there.
const SHELL_NOT_FOUND: i32 = 127;
/// What a shell adds to the number of the signal that ended its command.
const SHELL_SIGNAL_BASE: i32 = 128;

impl JobEnd {
    /// The program that could not be started, if that is what ended it and it is known: of a list it always is.
    pub fn not_started<'l>(&'l self, command: &Command, last_lines: &'l [String]) -> Option<&'l str> {
        match (&self.exit, command) {
            (Exit::NotStarted { program, .. }, _) => Some(program),
            (Exit::Process(ProcessEnd::Code(SHELL_CANNOT_EXECUTE | SHELL_NOT_FOUND)), Command::Shell(_)) => {
                named_by_shell(last_lines)
            }
            _ => None,
        }
    }

    /// What ended it, with the sentence for a person. Whether it was too late, or its run had told it to end, is for the
    /// owner to say, who knows what it asked for; [`by_order`](Self::by_order) says whether that came in time.
    ///
    /// `last_lines` are the last of the log, in which a shell says what it did not find.
    pub fn how(&self, command: &Command, last_lines: &[String]) -> ExecutionHow {
        let by_shell = matches!(command, Command::Shell(_));
        let program = self.not_started(command, last_lines);
        let not_started = |program: &str, why: &str| format!("`{program}` could not be started: {why}");
        match &self.exit {
            Exit::NotStarted { program, errno } => ExecutionHow::NotStarted {
                code: None,
                why: not_started(program, &in_brief(&io::Error::from_raw_os_error(*errno))),
            },
            Exit::Unknown { why } => ExecutionHow::Unseen(why.clone()),
            Exit::Process(end @ ProcessEnd::Code(code @ (SHELL_CANNOT_EXECUTE | SHELL_NOT_FOUND))) if by_shell => {
                let problem = if *code == SHELL_NOT_FOUND { "not found" } else { "it can't be executed" };
                let why = program.map_or_else(|| in_words(*end), |program| not_started(program, problem));
                ExecutionHow::NotStarted { code: Some(*code), why }
            }
            Exit::Process(end @ ProcessEnd::Code(code)) => ExecutionHow::Exited { code: *code, why: in_words(*end) },
            Exit::Process(end @ ProcessEnd::Signal(number)) => {
                ExecutionHow::Signalled { signal: crate::os::signal::name(*number), why: end.to_string() }
            }
        }
    }
}

fn in_words(end: ProcessEnd) -> String {
    match end {
        ProcessEnd::Code(SHELL_NOT_FOUND) => format!("{end} (how a shell says that a command was not found)"),
        ProcessEnd::Code(SHELL_CANNOT_EXECUTE) => format!("{end} (how a shell says that a command can't be executed)"),
        ProcessEnd::Code(code @ 129..=192) => {
            let signal = crate::os::signal::name(code - SHELL_SIGNAL_BASE);
            format!("{end} (how a shell says that {signal} killed a command)")
        }
        _ => end.to_string(),
    }
}

/// The operating system's reason, as a fragment and without the number, which helps nobody.
pub(super) fn in_brief(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// The program that a shell did not find or could not execute, if one says so with the line where: `sh: 1: tsc: not found`,
/// `bash: line 1: tsc: command not found`. Other programs have such sentences about other things, without a line.
fn named_by_shell(last_lines: &[String]) -> Option<&str> {
    let complaints = [": command not found", ": not found", ": No such file or directory", ": Permission denied"];
    last_lines.iter().rev().find_map(|line| {
        let line = line.trim_end();
        let before = complaints.iter().find_map(|complaint| line.strip_suffix(complaint))?;
        let (place, program) = before.rsplit_once(": ")?;
        let number = place.rsplit_once(": ")?.1;
        let is_line = number.strip_prefix("line ").unwrap_or(number).bytes().all(|byte| byte.is_ascii_digit());
        (is_line && !program.contains(char::is_whitespace)).then_some(program)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(exit: Exit) -> JobEnd {
        JobEnd {
            exit,
            duration_ms: 1,
            by_order: false,
            left_behind: 0,
            out_of_reach: 0,
            output_lost: None,
            log_bytes: 0,
        }
    }

    fn how(exit: Exit, command: &Command, last_line: &str) -> ExecutionHow {
        end(exit).how(command, &[last_line.to_owned()])
    }

    fn code(code: i32) -> Exit {
        Exit::Process(ProcessEnd::Code(code))
    }

    fn shell(line: &str) -> Command {
        Command::Shell(line.to_owned())
    }

    #[test]
    fn a_signal_is_said_in_words_and_a_shells_word_for_one_stays_a_status() {
        assert_eq!(
            how(Exit::Process(ProcessEnd::Signal(9)), &shell("x"), ""),
            ExecutionHow::Signalled { signal: "SIGKILL".into(), why: "was killed by SIGKILL (signal 9)".into() }
        );
        let why = "exited with status 137 (how a shell says that SIGKILL killed a command)".into();
        assert_eq!(how(code(137), &shell("x"), ""), ExecutionHow::Exited { code: 137, why });
        assert_eq!(how(code(3), &shell("x"), ""), ExecutionHow::Exited { code: 3, why: "exited with status 3".into() });
    }

    #[test]
    fn a_program_that_the_shell_does_not_find_is_named() {
        let named = |line: &str, said: &str| how(code(127), &shell(line), said);
        let tsc = ExecutionHow::NotStarted { code: Some(127), why: "`tsc` could not be started: not found".to_owned() };
        assert_eq!(named("cd web && tsc -p .", "/bin/sh: 1: tsc: not found"), tsc);
        assert_eq!(named("cd web && tsc -p .", "bash: line 1: tsc: command not found"), tsc);
        let why = "`./run` could not be started: it can't be executed".to_owned();
        assert_eq!(
            how(code(126), &shell("./run"), "/bin/sh: 1: ./run: Permission denied"),
            ExecutionHow::NotStarted { code: Some(126), why }
        );
        assert!(matches!(how(code(127), &Command::List(vec!["x".into()]), ""), ExecutionHow::Exited { .. }));
    }

    #[test]
    fn what_no_shell_says_is_not_made_up() {
        for said in ["", "npm error code 127", "cat: notes: No such file or directory", "error: it was: not found"] {
            let why = "exited with status 127 (how a shell says that a command was not found)".to_owned();
            let unnamed = ExecutionHow::NotStarted { code: Some(127), why };
            assert_eq!(how(code(127), &shell("npm run lint"), said), unnamed, "{said}");
        }
    }

    #[test]
    fn a_program_of_a_list_that_is_not_there_is_named() {
        let missing = Exit::NotStarted { program: "tsc".into(), errno: 2 };
        let why = "`tsc` could not be started: no such file or directory".to_owned();
        assert_eq!(how(missing, &Command::List(vec!["tsc".into()]), ""), ExecutionHow::NotStarted { code: None, why });
    }
}
