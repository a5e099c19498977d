//! `git discern status`: this commit, and every claim in the repository; read-only.

use clap::Args;

use super::{Global, done};
use crate::claim::Record;
use crate::claim::record::Outcome;
use crate::config::Config;
use crate::document::{
    Candidate, ClaimReport, ClaimState, CommitStanding, Diagnostic, Expected, ExpectedRequirement, Progress, Refusal,
    StatusDocument,
};
use crate::engine::candidate::committed_config;
use crate::engine::forecast::{self, Prospect};
use crate::engine::hook::{self, HookState};
use crate::engine::known;
use crate::engine::no_answer::NoAnswer;
use crate::engine::recovery::{self, Finding, Mode};
use crate::engine::session::Session;
use crate::engine::trunk;
use crate::engine::worktree_lock::WorktreeLock;
use crate::evidence::RequirementKey;
use crate::exit::Exit;
use crate::git::{Cleanliness, GitError, Head, Look, Untracked};
use crate::id::{CommitId, OperationHandle};
use crate::plan::Decision;
use crate::report::live::View;
use crate::report::status;
use crate::report::story::retirement;
use crate::time::Timestamp;

/// What its help ends with.
const EXAMPLES: &str = "\
Examples:
  git discern status           proven or not, and who is at work on what
  git discern status --json    the same for a program";

/// The arguments of `git discern status`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Status {}

/// What proves this commit.
const PROVE: &str = "git discern done";

/// More than this is in the way of nobody's understanding, paths.
const PATHS_MAX: usize = 20;

/// Looks, and answers. Nothing is written, not even what was seen.
pub fn run(global: &Global, _args: &Status) -> anyhow::Result<Exit> {
    let repository = super::here::repository()?;
    // One listing for everything that is asked about our refs.
    repository.refs().remember(&["refs/discern/"])?;
    let mut session = Session::reading(&repository);
    let mut reporter = global.reporter();
    let (document, page) = document(&mut session).map_err(done::cause)?;
    if let Some(page) = page {
        reporter.tell_raw(&page);
    }
    let now = session.now().wall;
    reporter.answer(&document, |document| status::page(document, now));
    Ok(document.exit)
}

/// The answer, and for people the page of a broken configuration.
fn document(session: &mut Session<'_>) -> Result<(StatusDocument, Option<String>), NoAnswer> {
    let mut document = blank();
    let mut page = None;
    let repository = session.repository;
    // Nothing takes longer than git's look at the worktree: everything else is looked up while it works.
    let look = repository.worktree().is_ok().then(|| repository.begin_to_look(Untracked::Refuse)).transpose()?;
    document.claims = claims(session)?;
    document.unguarded = match hook::effective(repository)? {
        HookState::Effective { .. } => None,
        HookState::NotEffective { why } => Some(why),
    };
    match repository.head() {
        Ok(head) => page = this_commit(&head, look, session, &mut document)?,
        Err(GitError::Unborn { .. }) if repository.is_bare() => {}
        Err(GitError::Unborn { .. }) => document.hints.push("git add -A && git commit".to_owned()),
        Err(error) => return Err(error.into()),
    }
    settle_on_one_command(&mut document);
    Ok((document, page))
}

/// Where this very commit is claimed, what to do about the claim and what to do about the commit is one thing: a run at work is
/// followed, an abandoned one is taken over by the next `done`.
fn settle_on_one_command(document: &mut StatusDocument) {
    let commit = document.candidate.as_ref().map(|candidate| candidate.commit);
    for claim in document.claims.iter_mut().filter(|claim| claim.candidate == commit) {
        match claim.state {
            ClaimState::Running => {
                document.hints.clear();
                if document.standing == CommitStanding::None {
                    document.standing = CommitStanding::Running;
                }
            }
            ClaimState::Recoverable if document.hints == [PROVE] => {
                PROVE.clone_into(&mut claim.command);
                document.hints.clear();
            }
            ClaimState::Recoverable | ClaimState::Unreadable => {}
        }
    }
}

fn blank() -> StatusDocument {
    StatusDocument {
        schema: "discern/status/1".to_owned(),
        ok: true,
        outcome: Exit::Success.outcome(),
        exit: Exit::Success,
        candidate: None,
        summary: None,
        standing: CommitStanding::None,
        attempt: None,
        requirements: Vec::new(),
        proof: None,
        expected: Vec::new(),
        clean: None,
        in_the_way: Vec::new(),
        unguarded: None,
        claims: Vec::new(),
        diagnostics: Vec::new(),
        hints: Vec::new(),
    }
}

/// What is known of `HEAD`, and what comes next.
fn this_commit(
    head: &Head,
    look: Option<Look>,
    session: &mut Session<'_>,
    document: &mut StatusDocument,
) -> Result<Option<String>, NoAnswer> {
    let repository = session.repository;
    document.summary = Some(head.summary.clone());
    document.candidate = Some(Candidate {
        commit: head.commit,
        tree: head.tree,
        branch: head.branch.clone(),
        worktree: repository.worktree_name(),
    });
    let config = match committed_config(repository, head) {
        Ok(config) => config,
        Err(NoAnswer::Refused(refusal)) => return Ok(not_provable(refusal, document)),
        Err(error) => return Err(error),
    };
    let mut replayed = false;
    if let Some(outcome) = known::newest_outcome(session, head.commit)? {
        let known = known::as_document("status", session, &outcome, Some(&config))?;
        (document.attempt, document.requirements) = (known.attempt, known.requirements);
        document.standing = match (outcome.outcome, &outcome.proof) {
            (Outcome::Passed, Some(proof)) => {
                let unanswered = proof.answers(config.digest, &known::demanded(&config)).err();
                let misplaced = trunk::misplaced(repository, proof)?;
                match unanswered.map(|why| why.to_string()).or(misplaced) {
                    None => CommitStanding::Proven,
                    Some(why) => {
                        document.diagnostics.push(Diagnostic::new("proof-does-not-answer", why));
                        CommitStanding::None
                    }
                }
            }
            _ => CommitStanding::Failed,
        };
        document.proof = known.proof.filter(|_| document.standing == CommitStanding::Proven);
        replayed = outcome.failed.iter().all(|failed| failed.may_be_replayed);
    }
    if !repository.is_bare() {
        look_at_worktree(head, look, &config, session, document)?;
    }
    let possible = document.standing != CommitStanding::None || expect(head, &config, session, document)?;
    let next = match document.standing {
        // What is in the way comes first, and has said what helps.
        _ if document.clean == Some(false) || !possible => return Ok(None),
        CommitStanding::Proven => return Ok(None),
        CommitStanding::Failed if replayed => "git discern show",
        // Nothing can be proven where there is no worktree.
        _ if repository.is_bare() => return Ok(None),
        _ => PROVE,
    };
    document.hints.push(next.to_owned());
    Ok(None)
}

/// What a run would reuse and what it would run; or why there can't be one, and false.
fn expect(
    head: &Head,
    config: &Config,
    session: &Session<'_>,
    document: &mut StatusDocument,
) -> Result<bool, NoAnswer> {
    match forecast::prospects(head, config, session) {
        Ok(prospects) => {
            document.expected = prospects.into_iter().filter_map(expected).collect();
            Ok(true)
        }
        Err(NoAnswer::Refused(refusal)) => {
            if document.hints.is_empty() {
                document.hints.extend(refusal.diagnostics.iter().find_map(|diagnostic| diagnostic.fix.clone()));
            }
            document.diagnostics.extend(refusal.diagnostics);
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

fn expected(prospect: Prospect) -> Option<ExpectedRequirement> {
    let would = match prospect.decision {
        Decision::Reuse(_) => Expected::Reuse,
        Decision::Replay(_) => Expected::Fail,
        Decision::Run(_) => Expected::Run,
        Decision::NotNeeded => return None,
    };
    let RequirementKey { kind, name } = prospect.key;
    Some(ExpectedRequirement { kind, name, would, took_ms: prospect.expected_ms })
}

/// A commit without a usable configuration: one that is missing is a fact, one that is broken an error.
fn not_provable(refusal: Refusal, document: &mut StatusDocument) -> Option<String> {
    let missing = refusal.diagnostics.iter().all(|one| one.code.starts_with("config-") && one.code != "config-invalid");
    if !missing {
        document.exit = refusal.exit;
        document.ok = false;
        document.outcome = refusal.exit.outcome();
    }
    document.hints.extend(refusal.diagnostics.iter().filter_map(|one| one.fix.clone()));
    document.diagnostics = refusal.diagnostics;
    refusal.page
}

fn look_at_worktree(
    head: &Head,
    look: Option<Look>,
    config: &Config,
    session: &Session<'_>,
    document: &mut StatusDocument,
) -> Result<(), GitError> {
    let untracked = config.gate.untracked;
    match session.repository.cleanliness_now(look, head, untracked)? {
        Cleanliness::Clean(()) => document.clean = Some(true),
        Cleanliness::Dirty { paths, causes } => {
            document.clean = Some(false);
            // In the words of `done`, which refuses such a worktree.
            let mut refusal = crate::engine::dirty::refusal(&paths, &causes);
            let places = refusal.diagnostics.iter_mut().flat_map(|diagnostic| std::mem::take(&mut diagnostic.place));
            document.in_the_way = places.take(PATHS_MAX).collect();
            document.hints.extend(refusal.diagnostics.iter().filter_map(|diagnostic| diagnostic.fix.clone()).take(1));
            document.diagnostics.extend(refusal.diagnostics);
        }
    }
    Ok(())
}

/// Every unfinished run that is known in this repository, the oldest first.
fn claims(session: &mut Session<'_>) -> Result<Vec<ClaimReport>, NoAnswer> {
    let by = session.retiring_run("status", None);
    let mut claims = Vec::new();
    for candidate in session.claimed()? {
        let inspected = recovery::inspect(candidate, session, &by, Mode::Look);
        claims.extend(match inspected.what {
            Finding::Live { record, .. } => Some(claim(&record, ClaimState::Running, None, session)),
            Finding::Abandoned { record, reason } => {
                let why = Some(retirement(reason.word()).to_owned());
                Some(claim(&record, ClaimState::Recoverable, why, session))
            }
            Finding::Unreadable(why) => Some(unreadable(candidate, why, session)),
            Finding::Free | Finding::Retired { .. } | Finding::NotRetired { .. } => None,
        });
    }
    claims.extend(unclaimed(session, &claims));
    claims.sort_by_key(|claim| claim.since);
    Ok(claims)
}

fn claim(record: &Record, state: ClaimState, why: Option<String>, session: &Session<'_>) -> ClaimReport {
    let pending = known::pending(record);
    let suspended = pending.operation.as_ref().and_then(|handle| session.journals.suspended(handle));
    let command = match (state, suspended) {
        (ClaimState::Running, Some(pid)) => lets_go_on(pid),
        (ClaimState::Running, None) => pending.reconnect,
        (ClaimState::Recoverable | ClaimState::Unreadable, _) => "git discern recover".to_owned(),
    };
    ClaimReport {
        candidate: Some(record.attempt.commit),
        summary: summary(record.attempt.commit, session),
        attempt: pending.attempt,
        purpose: Some(record.attempt.purpose),
        progress: pending.operation.as_ref().and_then(|handle| progress(handle, session)),
        operation: pending.operation,
        worktree: Some(pending.worktree),
        branch: pending.branch,
        since: pending.since,
        lease_expires_at: pending.lease_expires_at,
        state,
        suspended: suspended.is_some(),
        why,
        command,
    }
}

/// What lets a suspended run go on, where its terminal is not at hand.
pub fn lets_go_on(pid: u32) -> String {
    format!("kill -CONT {pid}")
}

fn unreadable(candidate: CommitId, why: String, session: &Session<'_>) -> ClaimReport {
    ClaimReport {
        candidate: Some(candidate),
        summary: summary(candidate, session),
        attempt: None,
        purpose: None,
        operation: None,
        worktree: None,
        branch: None,
        since: None,
        lease_expires_at: None,
        state: ClaimState::Unreadable,
        suspended: false,
        why: Some(why),
        progress: None,
        command: format!("git discern recover --forget {candidate}"),
    }
}

/// A run that holds this worktree and no claim.
fn unclaimed(session: &Session<'_>, claims: &[ClaimReport]) -> Option<ClaimReport> {
    let occupant = WorktreeLock::occupant(session.repository.git_dir()).ok()??;
    let handle = occupant.operation.clone();
    if occupant.command != "run" || claims.iter().any(|claim| claim.operation == handle) {
        return None;
    }
    let suspended = handle.as_ref().and_then(|handle| session.journals.suspended(handle));
    let followed = handle.as_ref().map_or("git discern wait".to_owned(), |handle| format!("git discern wait {handle}"));
    Some(ClaimReport {
        candidate: None,
        summary: None,
        attempt: None,
        purpose: None,
        progress: handle.as_ref().and_then(|handle| progress(handle, session)),
        command: suspended.map_or(followed, lets_go_on),
        suspended: suspended.is_some(),
        operation: handle,
        worktree: Some(session.repository.worktree_name()),
        branch: session.repository.head_position().ok().and_then(|(branch, _)| branch),
        since: Some(occupant.since),
        lease_expires_at: None,
        state: ClaimState::Running,
        why: None,
    })
}

fn summary(commit: CommitId, session: &Session<'_>) -> Option<String> {
    session.repository.objects().ok()?.commit(commit).ok().map(|commit| commit.summary)
}

/// How far a run is, as its journal says.
fn progress(handle: &OperationHandle, session: &Session<'_>) -> Option<Progress> {
    let now: Timestamp = session.now().wall;
    let mut journal = session.journals.follow(handle).ok()?;
    let mut view = View::default();
    loop {
        let events = journal.next_events().ok()?;
        if events.is_empty() {
            return Some(view.progress(now));
        }
        events.iter().for_each(|event| view.apply(event));
    }
}
