//! Where a command stands: the repository that a git command started here would use, or the sentence that says why there
//! is none.

use crate::document::{Diagnostic, Refusal};
use crate::engine::candidate::committed_config;
use crate::engine::known;
use crate::evidence::{RequirementKey, RequirementKind};
use crate::exit::Exit;
use crate::git::{GitError, LocationVariables, NEWER_GIT, Repository, with_causes};
use crate::id::CommitId;
use crate::os::environment;

/// The repository around the current directory.
pub fn repository() -> anyhow::Result<Repository> {
    let here = std::env::current_dir().map_err(|error| {
        Refusal::new(Diagnostic::new("no-directory", format!("the current directory can't be used: {error}")))
    })?;
    let variables = LocationVariables::from_lookup(environment::variable);
    Ok(Repository::discover(&here, &variables)?)
}

/// The commit that `revision` names. One that names none, but a job or a standard of `HEAD`, is a slip between two commands:
/// `instead` makes the command that was meant of the requirement.
pub fn commit(
    repository: &Repository,
    revision: &str,
    instead: impl Fn(&RequirementKey) -> String,
) -> anyhow::Result<CommitId> {
    let error = match repository.resolve(revision) {
        Err(error @ GitError::NoSuchRevision { .. }) => error,
        resolved => return Ok(resolved?),
    };
    let config = repository.head().ok().and_then(|head| committed_config(repository, &head).ok());
    let demanded = config.map_or(Vec::new(), |config| known::demanded(&config));
    let Some(meant) = demanded.iter().find(|key| key.name.as_str() == revision) else { return Err(error.into()) };
    let kind = match meant.kind {
        RequirementKind::Job => "job",
        RequirementKind::Standard => "standard",
    };
    let message = format!("`{revision}` is a {kind}, and does not name a commit");
    Err(Refusal::new(Diagnostic::new("no-such-revision", message).fix(instead(meant))).into())
}

/// Whether a commit can be proven from here; the command that comes first where it can't: a run needs a worktree.
pub fn provable(repository: &Repository) -> Result<(), &'static str> {
    repository.worktree().map(|_| ()).map_err(|_| "git worktree list")
}

/// What a fault of git comes to at the edge: 2 where the user asked for what is not there, 5 where what is there could not
/// be read.
pub fn refusal(error: &GitError) -> Refusal {
    let (code, exit, fix) = match error {
        GitError::NotARepository { jj: false, .. } => ("not-a-repository", Exit::Refused, Some("git init".to_owned())),
        GitError::NotARepository { jj: true, .. } => {
            ("not-a-repository", Exit::Refused, Some("jj git colocation enable".to_owned()))
        }
        GitError::Refused { .. } => ("git-refused", Exit::Refused, None),
        GitError::Broken { .. } => ("broken-repository", Exit::Refused, Some("git worktree repair".to_owned())),
        GitError::Damaged { .. } => ("damaged-repository", Exit::Store, None),
        GitError::UnknownFormat { .. } => ("unknown-format", Exit::Refused, None),
        GitError::NoWorktree { .. } => ("no-worktree", Exit::Refused, Some("git worktree list".to_owned())),
        GitError::Unborn { .. } => ("no-commit", Exit::Refused, None),
        GitError::NoSuchRevision { revision } if revision.is_empty() || revision.contains("..") => {
            ("no-such-revision", Exit::Refused, None)
        }
        GitError::NoSuchRevision { .. } => ("no-such-revision", Exit::Refused, Some("git branch --all".to_owned())),
        GitError::Ambiguous { .. } => ("ambiguous-revision", Exit::Refused, None),
        GitError::NoTrunk { .. } => ("no-trunk", Exit::Refused, Some("git fetch origin".to_owned())),
        GitError::Pathspec { .. } => ("bad-pathspec", Exit::Refused, None),
        GitError::TooOld { .. } => ("git-too-old", Exit::Refused, Some("git --version".to_owned())),
        GitError::RefName { .. } => ("ref-name", Exit::Refused, None),
        GitError::Object { .. } | GitError::Command { .. } | GitError::TimedOut { .. } | GitError::Answer { .. } => {
            ("git-failed", Exit::Store, None)
        }
        GitError::Io { .. } => ("unreadable", Exit::Store, None),
    };
    let advice = match error {
        GitError::Unborn { .. } => Some("commit something first, or name a commit"),
        GitError::TooOld { .. } => Some(NEWER_GIT),
        GitError::Damaged { .. } => Some("restore it, from a clone or a backup; `git fsck` looks for more"),
        GitError::RefName { .. } => Some("rename that branch: `git branch -m NEW`"),
        GitError::NoSuchRevision { revision } if revision.is_empty() => {
            Some("it is empty: leave it out to mean `HEAD`")
        }
        GitError::NoSuchRevision { revision } if revision.contains("..") => {
            Some("it is a range, and this takes one commit; `done`, `log` and `verify` take ranges")
        }
        _ => None,
    };
    let diagnostic = Diagnostic { fix, ..Diagnostic::new(code, with_causes(error)) };
    Refusal { exit, ..Refusal::new(if let Some(advice) = advice { diagnostic.advice(advice) } else { diagnostic }) }
}
