//! What can go wrong between us and the user's repository. Facts only; the edge writes the sentences.

use std::path::PathBuf;

use crate::id::ObjectId;

/// Why git, or the repository, could not answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no repository here or above.
    #[error("`{}` is not inside a git repository", from.display())]
    NotARepository {
        /// Where the search began.
        from: PathBuf,
        /// There is a `.jj` folder here or above: a jj workspace without git beside it.
        jj: bool,
    },
    /// git refuses to work here (`safe.directory`, most often); its own words say why.
    #[error("git refuses to use `{}`: {stderr}", place.display())]
    Refused {
        /// The repository.
        place: PathBuf,
        /// What git said.
        stderr: String,
    },
    /// What should be a repository is none: a `.git` file that leads nowhere, a missing `HEAD`.
    #[error("`{}` is not a git repository: {why}", place.display())]
    Broken {
        /// The place.
        place: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A file of the repository's own holds what git never writes.
    #[error("`{}` is damaged: {why}", place.display())]
    Damaged {
        /// The file.
        place: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The repository's format is one that this version does not know.
    #[error("`{}` uses {feature}, which this version does not know", place.display())]
    UnknownFormat {
        /// The repository.
        place: PathBuf,
        /// What is not known: "`extensions.foo`".
        feature: String,
    },
    /// A command that needs a worktree was given a bare repository, or a place inside the git directory.
    #[error("`{}` has no worktree here", git_dir.display())]
    NoWorktree {
        /// The git directory.
        git_dir: PathBuf,
        /// The repository is bare (otherwise we stand inside the git directory).
        bare: bool,
    },
    /// `HEAD` names a branch that has no commit yet.
    #[error("`{branch}` has no commit yet")]
    Unborn {
        /// The full ref name.
        branch: String,
    },
    /// A revision does not name a commit.
    #[error("`{revision}` does not name a commit")]
    NoSuchRevision {
        /// As given.
        revision: String,
    },
    /// A name that stands for more than one ref (B083).
    #[error("`{revision}` is ambiguous: write one of {}", candidates.join(", "))]
    Ambiguous {
        /// As given.
        revision: String,
        /// Every full ref name that it could mean.
        candidates: Vec<String>,
    },
    /// There is no such branch to compare with.
    #[error("there is no branch `{name}` to compare with")]
    NoTrunk {
        /// The name looked for.
        name: String,
    },
    /// A pathspec can't be used.
    #[error("the pathspec `{pathspec}` can't be used: {why}")]
    Pathspec {
        /// As given.
        pathspec: String,
        /// Why.
        why: String,
    },
    /// The repository has no such object, or holds it damaged.
    #[error("the object `{id}` can't be read: {why}")]
    Object {
        /// Which.
        id: ObjectId,
        /// What is wrong with it.
        why: String,
    },
    /// A git command ended with a status other than 0.
    #[error("`{command}` ended with {status}: {stderr}")]
    Command {
        /// The command line, abridged.
        command: String,
        /// "status 128", "signal 9".
        status: String,
        /// What it said.
        stderr: String,
    },
    /// A git command took longer than it may.
    #[error("`{command}` took longer than {limit_ms} ms and was ended")]
    TimedOut {
        /// The command line, abridged.
        command: String,
        /// The limit in milliseconds.
        limit_ms: u64,
    },
    /// A git command printed what it never prints.
    #[error("`{command}` answered what can't be read: {why}")]
    Answer {
        /// The command line, abridged.
        command: String,
        /// What was wrong.
        why: String,
    },
    /// The name of a ref is not UTF-8.
    #[error("the ref name `{name}` is not UTF-8")]
    RefName {
        /// It, with what is no UTF-8 replaced.
        name: String,
    },
    /// The git that is installed is too old.
    #[error("git {found} is older than {needed}")]
    TooOld {
        /// The version found.
        found: String,
        /// The oldest that will do.
        needed: &'static str,
    },
    /// The operating system refused.
    #[error("could not {doing}")]
    Io {
        /// What was being done: "read `.git/HEAD`".
        doing: String,
        /// What it said.
        #[source]
        source: std::io::Error,
    },
}

impl GitError {
    /// Wraps an operating system's error with what was being done.
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }
}

/// What helps against [`GitError::TooOld`].
pub const NEWER_GIT: &str = "install git 2.45 or newer; `PATH` decides which git is used";

/// An error and what caused it, in one line.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |line, cause| format!("{line}: {cause}"))
}
