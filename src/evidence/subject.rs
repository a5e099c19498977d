//! What decides a verdict, its digest, and what of it may be published.
//!
//! A [`SubjectInput`] holds everything that decides a requirement's verdict or reading, in full. Its
//! [`subject`](SubjectInput::subject) is SHA-256 over a canonical encoding ([`encoding`](super::encoding)); its
//! [`parts`](SubjectInput::parts) are what a receipt keeps so that a later difference can be named
//! ([`explain`](super::explain)). A job's name, its timeout, its retries and this tool's version are in neither.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::encoding;
use crate::config::{self, Command, Environment, Pathspec};
use crate::id::{Digest, Name, ObjectId, Subject, TreeId};

/// The version of the encoding under [`Subject`]. A subject of another scheme never equals one of ours.
pub const SCHEME: u32 = 1;
/// The longest beginning of a command that a receipt keeps, in bytes.
pub const COMMAND_BYTES_MAX: usize = 1024;
/// The longest beginning of a toolchain command's answer that a receipt keeps, in bytes.
pub const SAYS_BYTES_MAX: usize = 256;

/// What is executed, and how its output becomes a verdict or a reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Where the output comes from.
    pub source: Source,
    /// How a number is taken from it; `None` for a job.
    pub measure: Option<Measure>,
}

/// Where the output comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A command that runs in the tree.
    Run(Command),
    /// What a job printed or kept (`from`), optionally through a command that reads it on its standard input.
    From {
        /// The job.
        job: Name,
        /// The job's subject.
        subject: Subject,
        /// The artifact that is read; `None`: the job's captured output.
        artifact: Option<String>,
        /// The command that reads it (`extract`).
        extract: Option<Command>,
    },
}

/// How a standard's number is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// The name on the metric line.
    pub metric: Name,
    /// What the metric is divided by.
    pub per: Option<Denominator>,
    /// What the quotient is multiplied with, as written; `None` is 1.
    pub scale: Option<String>,
}

/// What a rate's metric is divided by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denominator {
    /// A count over files of the candidate's tree. Order and repetition of pathspecs and entries mean nothing.
    Counted {
        /// What is counted.
        unit: Unit,
        /// As declared.
        pathspecs: Vec<Pathspec>,
        /// What they select: the count depends on it whatever the standard's `inputs` are.
        entries: Vec<InputEntry>,
    },
    /// Another metric of the same output.
    Metric(Name),
}

/// What is counted over files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Their lines.
    Lines,
    /// The files themselves.
    Files,
    /// Their bytes.
    Bytes,
}

/// One selected entry of the candidate's tree: a file, a link, a submodule, or a directory selected whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InputEntry {
    /// Its path from the top, as git stores it.
    pub path: Vec<u8>,
    /// Its mode, as git stores it (`0o100644`, `0o040000` …).
    pub mode: u32,
    /// Its object.
    pub id: ObjectId,
}

/// What the requirement reads from the tree, as declared. Order and repetition mean nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inputs {
    /// Nothing is declared: the whole tree.
    WholeTree,
    /// The declared pathspecs, and what they select. Only what they select is in the subject.
    Selected {
        /// As declared.
        pathspecs: Vec<Pathspec>,
        /// What they select.
        entries: Vec<InputEntry>,
    },
}

/// One toolchain command and its whole answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToolchainAnswer {
    /// The command as declared, for `sh -c`.
    pub command: String,
    /// Its exit code. What was killed, or could not be started, has not answered.
    pub exit_code: i32,
    /// What it printed, standard output and error together.
    pub output: Vec<u8>,
}

/// Operating system and architecture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Platform {
    /// `linux`, `macos`.
    pub os: String,
    /// `x86_64`, `aarch64`.
    pub arch: String,
}

impl Platform {
    /// The platform that this program was built for, which is the one that it runs on.
    pub fn current() -> Self {
        Self { os: std::env::consts::OS.to_owned(), arch: std::env::consts::ARCH.to_owned() }
    }
}

/// Everything that decides one requirement's verdict or reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectInput {
    /// What is executed and how it is read.
    pub definition: Definition,
    /// The candidate's tree.
    pub tree: TreeId,
    /// What is read from it.
    pub inputs: Inputs,
    /// Of that, what is on disk otherwise than committed (line endings, filters, absent submodules), each with what is there.
    pub on_disk: Vec<InputEntry>,
    /// The subjects of everything in its `needs`.
    pub needs: BTreeMap<Name, Subject>,
    /// Which other variables the command sees.
    pub environment_mode: Environment,
    /// The declared variables; `None` where unset, which is not the same as empty.
    pub environment: BTreeMap<String, Option<Vec<u8>>>,
    /// The declared toolchain commands and what they answered.
    pub toolchain: Vec<ToolchainAnswer>,
    /// Where the command runs.
    pub platform: Platform,
}

/// Random bytes under the digests of variables' values. Two receipts' values compare only under the same salt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Salt(pub [u8; 16]);

impl SubjectInput {
    /// The digest of all of it.
    pub fn subject(&self) -> Subject {
        Subject(encoding::subject(self))
    }

    /// The digest of what is *executed*, whatever is then read from its output: standards that agree on it are served
    /// by one execution.
    pub fn execution(&self) -> Digest {
        encoding::execution(self)
    }

    /// What of it a receipt keeps. To compare with an older receipt, take that receipt's salt ([`SubjectParts::salt`]).
    pub fn parts(&self, salt: Salt) -> SubjectParts {
        let (inputs, inputs_digest) = match &self.inputs {
            Inputs::WholeTree => (Vec::new(), None),
            Inputs::Selected { pathspecs, entries } => (texts(pathspecs), Some(encoding::entries(entries))),
        };
        let from = match &self.definition.source {
            Source::Run(_) => None,
            Source::From { job, subject, .. } => Some((job.clone(), *subject)),
        };
        SubjectParts {
            scheme: SCHEME,
            command: beginning(&self.definition.to_string(), COMMAND_BYTES_MAX),
            definition: encoding::definition(&self.definition),
            tree: self.tree,
            inputs,
            inputs_digest,
            on_disk: (!self.on_disk.is_empty()).then(|| encoding::entries(&self.on_disk)),
            per: self.per_part(),
            from,
            needs: self.needs.iter().map(|(name, subject)| (name.clone(), *subject)).collect(),
            environment_mode: self.environment_mode,
            environment: self.salted_environment(salt),
            salt: if self.environment.is_empty() { String::new() } else { crate::id::hex(&salt.0) },
            toolchain: encoding::sorted(&self.toolchain).into_iter().map(ToolchainPart::from).collect(),
            platform: self.platform.clone(),
        }
    }

    fn per_part(&self) -> Option<PerPart> {
        match self.definition.measure.as_ref()?.per.as_ref()? {
            Denominator::Metric(_) => None,
            Denominator::Counted { pathspecs, entries, .. } => {
                Some(PerPart { pathspecs: texts(pathspecs), digest: encoding::entries(entries) })
            }
        }
    }

    fn salted_environment(&self, salt: Salt) -> Vec<(String, Option<Digest>)> {
        let salted = |name: &str, value: &[u8]| encoding::salted(salt, name, value);
        self.environment.iter().map(|(name, value)| (name.clone(), value.as_ref().map(|v| salted(name, v)))).collect()
    }
}

impl fmt::Display for Definition {
    /// The command, for people: what a receipt shows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Run(command) => command.fmt(f),
            Source::From { job, artifact, extract, .. } => {
                config::left_by(f, job, artifact.as_deref(), extract.as_ref())
            }
        }
    }
}

/// What a subject is made of, as far as it may be published: enough to say what differs between two receipts, and no
/// value of an environment variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubjectParts {
    /// The subject's scheme version.
    pub scheme: u32,
    /// What is executed: a string for the shell or a list; at most [`COMMAND_BYTES_MAX`] bytes of it.
    pub command: String,
    /// SHA-256 of the whole definition (command, shell, extraction, metric, `per`, `scale`).
    pub definition: Digest,
    /// The tree of the commit that the inputs were taken from.
    pub tree: TreeId,
    /// The declared pathspecs; empty where the whole tree is the input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// SHA-256 over the selected entries (path, mode, object id); absent where the whole tree is the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs_digest: Option<Digest>,
    /// SHA-256 over what of it was on disk otherwise than committed; absent where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_disk: Option<Digest>,
    /// What a rate's denominator is counted over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<PerPart>,
    /// The job whose output is measured, and its subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<(Name, Subject)>,
    /// The subjects of everything in its `needs`, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<(Name, Subject)>,
    /// Which other variables the command saw.
    pub environment_mode: Environment,
    /// Declared variables: name, and a digest of the salt, the name and the value; `None` where unset.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<(String, Option<Digest>)>,
    /// The salt of the values' digests, 16 random bytes in hex; empty where there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub salt: String,
    /// Declared toolchain commands and what each printed, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub toolchain: Vec<ToolchainPart>,
    /// Where the command ran.
    pub platform: Platform,
}

impl SubjectParts {
    /// The salt of its variables' digests; `None` where there are no variables, or it is damaged.
    pub fn salt(&self) -> Option<Salt> {
        let mut bytes = [0; 16];
        crate::id::unhex(&self.salt, &mut bytes).then_some(Salt(bytes))
    }
}

/// The files that a rate's denominator is counted over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PerPart {
    /// The declared pathspecs.
    pub pathspecs: Vec<String>,
    /// SHA-256 over the selected entries.
    pub digest: Digest,
}

/// One toolchain command and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolchainPart {
    /// The command as declared.
    pub command: String,
    /// The beginning of its output, at most [`SAYS_BYTES_MAX`] bytes.
    pub says: String,
    /// SHA-256 of how it ended and of its whole output.
    pub digest: Digest,
}

impl ToolchainPart {
    /// The answer that this is part of, where the part is all of it: its digest says so. Long answers, and those of commands
    /// that failed, can't be had back.
    pub fn whole_answer(&self) -> Option<ToolchainAnswer> {
        let endings = ["\n", "", "\r\n"];
        let answers = endings.iter().map(|ending| ToolchainAnswer {
            command: self.command.clone(),
            exit_code: 0,
            output: format!("{}{ending}", self.says).into_bytes(),
        });
        answers.into_iter().find(|answer| encoding::answer(answer) == self.digest)
    }
}

impl From<&ToolchainAnswer> for ToolchainPart {
    fn from(answer: &ToolchainAnswer) -> Self {
        Self {
            command: answer.command.clone(),
            says: beginning(String::from_utf8_lossy(&answer.output).trim(), SAYS_BYTES_MAX),
            digest: encoding::answer(answer),
        }
    }
}

fn texts(pathspecs: &[Pathspec]) -> Vec<String> {
    pathspecs.iter().map(|pathspec| pathspec.as_str().to_owned()).collect()
}

/// The longest beginning of `text` that has at most `bytes` bytes and ends at a character's end.
pub fn beginning(text: &str, bytes: usize) -> String {
    text[..text.floor_char_boundary(bytes)].to_owned()
}
