//! What a run works on: a commit with its committed configuration, on a worktree that is exactly its tree.

use super::no_answer::NoAnswer;
use super::trunk::Comparison;
use crate::config::{self, Colour, Config};
use crate::document::{Candidate, Diagnostic, Refusal};
use crate::git::{self, Cleanliness, Head, Look, Snapshot};
use crate::id::CommitId;

/// What a run works on.
pub struct Subject {
    /// The commit.
    pub head: Head,
    /// As documents name it.
    pub candidate: Candidate,
    /// Its committed configuration.
    pub config: Config,
    /// What comparing that with trunk's gave.
    pub comparison: Comparison,
}

/// A `done` that a job of the same repository starts would wait for itself.
pub(super) fn refuse_inside_own_job(repository: &git::Repository) -> Result<(), Refusal> {
    let outer = crate::os::environment::variable("DISCERN_REPOSITORY");
    if outer.is_none_or(|outer| outer != repository.common_dir()) {
        return Ok(());
    }
    let job = crate::os::environment::variable("DISCERN_JOB").unwrap_or_default();
    let message = format!(
        "this was started by job `{}` of a run in this very repository, and would wait for itself",
        job.to_string_lossy()
    );
    Err(Refusal::new(Diagnostic::new("inside-own-job", message)))
}

/// `commit`, or else `HEAD`, with its committed configuration.
///
/// # Errors
/// There is no commit, no configuration, or a broken one.
pub fn take_candidate(repository: &git::Repository, commit: Option<CommitId>) -> Result<Subject, NoAnswer> {
    let head = match commit {
        Some(commit) => repository.detached(commit)?,
        None => repository.head()?,
    };
    let config = committed_config(repository, &head)?;
    let candidate = Candidate {
        commit: head.commit,
        tree: head.tree,
        branch: head.branch.clone(),
        worktree: repository.worktree_name(),
    };
    Ok(Subject { head, candidate, config, comparison: Comparison::default() })
}

/// The configuration that counts: the one that is committed.
///
/// # Errors
/// There is none, or a broken one.
pub fn committed_config(repository: &git::Repository, head: &Head) -> Result<Config, NoAnswer> {
    let Some(bytes) = repository.file_at(head.tree, config::FILE)? else {
        if let Some(entry) = repository.objects()?.entry(head.tree, config::FILE.as_bytes())? {
            let kind = if entry.mode == git::tree::MODE_SUBMODULE { "a submodule" } else { "not a plain file" };
            let message = format!("`{}` is {kind} in commit {}", config::FILE, head.commit.short());
            return Err(Refusal::new(Diagnostic::new("config-no-file", message).at(config::FILE)).into());
        }
        let is_here = repository.head_position().is_ok_and(|(_, commit)| commit == head.commit);
        let uncommitted = is_here && repository.worktree().is_ok_and(|top| top.join(config::FILE).is_file());
        let diagnostic = if uncommitted {
            let message = format!("`{}` is not committed", config::FILE);
            Diagnostic::new("config-uncommitted", message)
                .at(config::FILE)
                .fix(format!("git add {} && git commit", config::FILE))
        } else {
            let message = format!("commit {} has no `{}`", head.commit.short(), config::FILE);
            Diagnostic::new("config-missing", message).at(config::FILE).fix("git discern init")
        };
        return Err(Refusal::new(diagnostic).into());
    };
    Ok(Config::parse(&bytes, config::FILE).map_err(|invalid| invalid.refusal(Colour::None))?)
}

/// Refuses a worktree that is not exactly the candidate's tree, naming what is in the way. `look` was begun before, if there is one.
pub(super) fn check_clean(
    repository: &git::Repository,
    look: Option<Look>,
    subject: &Subject,
) -> Result<Snapshot, NoAnswer> {
    clean(repository.cleanliness(look, &subject.head, subject.config.gate.untracked)?)
}

/// What a look at the worktree comes to.
pub(super) fn clean<S>(cleanliness: Cleanliness<S>) -> Result<S, NoAnswer> {
    match cleanliness {
        Cleanliness::Clean(kept) => Ok(kept),
        Cleanliness::Dirty { paths, causes } => Err(super::dirty::refusal(&paths, &causes).into()),
    }
}
