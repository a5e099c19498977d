//! Whether a push may go on: each new commit that `[push] require` covers must be proven.
//!
//! Nothing is run and nothing is waited for; git has opened the connection already. The ids in git's lines are judged: `HEAD`,
//! branches and worktrees play no part. `[push]` counts as trunk's tip has it, so that a branch can't excuse itself.
//! Where everything is proven git is never asked; only commits that are not proven are looked for on the remote.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::update::{self, RefUpdate};
use crate::config::{self, Config, Push, PushedCommits, PushedTags};
use crate::document::{CommitReport, CommitStanding};
use crate::engine::session::Session;
use crate::engine::verifier::{Verifier, VerifierError};
use crate::git::{GitError, Repository};
use crate::id::{CommitId, ObjectId};

/// So many ids are named on one command line of git's.
const IDS_AT_A_TIME: usize = 5000;

/// The push that git asks about.
#[derive(Debug, Clone)]
pub struct Request {
    /// The remote's name, or its URL where it has none.
    pub remote: String,
    /// Its URL.
    pub url: String,
    /// The refs that would change.
    pub updates: Vec<RefUpdate>,
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Commits that stop the push, each once, in the order of git's lines.
    pub unproven: Vec<Unproven>,
    /// What passes although it is not proven, a sentence each.
    pub told: Vec<String>,
}

/// A commit that stops a push.
#[derive(Debug, Clone, PartialEq)]
pub struct Unproven {
    /// What is known of it.
    pub report: CommitReport,
    /// The remote refs that it is pushed to.
    pub refs: Vec<String>,
    /// What is pushed there, as the user named it, where this commit is the tip.
    pub local_ref: Option<String>,
}

/// Decides about a push.
///
/// # Errors
/// The repository or the store can't be read: then nothing is known, and the push must not go on.
pub fn decide(session: &mut Session<'_>, request: &Request) -> Result<Answer, VerifierError> {
    let repository = session.repository;
    let (policy, note) = policy(repository, &request.updates)?;
    let mut answer = Answer { told: note.into_iter().collect(), ..Answer::default() };
    let tips = covered(repository, &policy, &request.updates)?;
    if tips.order.is_empty() {
        return Ok(answer);
    }
    let mut verifier = Verifier::of(session, &tips.order)?;
    let mut unproven = Vec::new();
    for tip in &tips.order {
        let report = verifier.report(*tip)?;
        if report.standing != CommitStanding::Proven {
            unproven.push(report);
        }
    }
    if policy.commits == PushedCommits::All {
        let new = new_commits(repository, request, &tips.order, &mut |_| ControlFlow::Continue(()))?;
        return each(session, &tips, new, answer);
    }
    if unproven.is_empty() {
        return Ok(answer);
    }
    let asked: Vec<CommitId> = unproven.iter().map(|report| report.commit).collect();
    let new = new_among(repository, request, &asked)?;
    for report in unproven {
        let refs = tips.refs_of(report.commit);
        if new.contains(&report.commit) {
            let local_ref = tips.local_refs.get(&report.commit).cloned();
            answer.unproven.push(Unproven { report, refs, local_ref });
        } else {
            let (commit, refs) = (report.commit.short(), refs.join(", "));
            answer.told.push(format!("{refs}: the remote has {commit} already; it is not proven"));
        }
    }
    Ok(answer)
}

/// With `commits = "all"`: each new commit must be proven.
fn each(
    session: &mut Session<'_>,
    tips: &Tips,
    new: Vec<CommitId>,
    mut answer: Answer,
) -> Result<Answer, VerifierError> {
    let mut verifier = Verifier::of(session, &new)?;
    // What is on the way to one ref only is said to be; else the refs of the tips are named once, with them.
    let only = (tips.order.len() == 1).then(|| tips.refs_of(tips.order[0]));
    for commit in new {
        let report = verifier.report(commit)?;
        if report.standing == CommitStanding::Proven {
            continue;
        }
        let own = tips.refs_of(commit);
        let refs = if own.is_empty() { only.clone().unwrap_or_default() } else { own };
        answer.unproven.push(Unproven { report, refs, local_ref: tips.local_refs.get(&commit).cloned() });
    }
    Ok(answer)
}

/// The commits that a push makes refs name, as far as they are covered.
#[derive(Default)]
struct Tips {
    order: Vec<CommitId>,
    refs: HashMap<CommitId, Vec<String>>,
    local_refs: HashMap<CommitId, String>,
}

impl Tips {
    fn refs_of(&self, commit: CommitId) -> Vec<String> {
        self.refs.get(&commit).cloned().unwrap_or_default()
    }
}

/// Deletions, unchanged refs, refs and tags that are not covered, and what is no commit are left out.
fn covered(repository: &Repository, policy: &Push, updates: &[RefUpdate]) -> Result<Tips, GitError> {
    let mut tips = Tips::default();
    for update in updates.iter().filter(|update| !update.local.is_null() && update.local != update.remote) {
        let counts = if update.remote_ref.starts_with("refs/tags/") {
            policy.tags == PushedTags::Tip
        } else {
            policy.require.iter().any(|pattern| update::selects(pattern, &update.remote_ref))
        };
        if !counts {
            continue;
        }
        let Some(commit) = repository.objects()?.peel_to_commit(update.local)? else { continue };
        let refs = tips.refs.entry(commit).or_default();
        if refs.is_empty() {
            tips.order.push(commit);
            tips.local_refs.insert(commit, update.local_ref.clone());
        }
        refs.push(update.remote_ref.clone());
    }
    Ok(tips)
}

/// `[push]` of trunk's tip, or git discern's own rule where trunk has no usable configuration; and a word, if that matters.
///
/// Trunk is the usual one, or the one that its configuration names. Only where there is no such branch does the pushed
/// commit say what trunk is.
fn policy(repository: &Repository, updates: &[RefUpdate]) -> Result<(Push, Option<String>), GitError> {
    let usual = repository.trunk_if_here(None)?;
    let config = match &usual {
        Some(trunk) => config_at(repository, trunk.tip)?,
        None => match updates.iter().find(|update| !update.local.is_null()) {
            Some(update) => match repository.objects()?.peel_to_commit(update.local)? {
                Some(commit) => config_at(repository, commit)?,
                None => None,
            },
            None => None,
        },
    };
    let Some(config) = config else { return Ok((Push::default(), None)) };
    let config = match config {
        Ok(config) => config,
        Err(why) => {
            let name = usual.as_ref().map_or("the pushed commit", |trunk| &trunk.name);
            return Ok((Push::default(), Some(unusable(name, &why))));
        }
    };
    let named = match &config.gate.trunk {
        Some(name) => repository.trunk_if_here(Some(name))?,
        None => None,
    };
    let other = named.filter(|named| usual.as_ref().is_none_or(|usual| usual.tip != named.tip));
    match other {
        Some(other) => match config_at(repository, other.tip)? {
            Some(Ok(config)) => Ok((config.push, None)),
            Some(Err(why)) => Ok((Push::default(), Some(unusable(&other.name, &why)))),
            None => Ok((Push::default(), None)),
        },
        None => Ok((config.push, None)),
    }
}

/// That git discern's own rule holds, and why.
fn unusable(of: &str, why: &str) -> String {
    format!("the `{}` of {of} can't be used ({why}): every branch must be proven", config::FILE)
}

/// The configuration that a commit holds; nothing where it has none.
fn config_at(repository: &Repository, commit: CommitId) -> Result<Option<Result<Config, String>>, GitError> {
    let tree = repository.objects()?.commit(commit)?.tree;
    let bytes = repository.file_at(tree, config::FILE)?;
    Ok(bytes.map(|bytes| Config::parse(&bytes, config::FILE).map_err(|invalid| invalid.to_string())))
}

/// Which of `asked` the remote lacks.
fn new_among(repository: &Repository, request: &Request, asked: &[CommitId]) -> Result<HashSet<CommitId>, GitError> {
    let mut missing: HashSet<CommitId> = asked.iter().copied().collect();
    let mut new = HashSet::new();
    new_commits(repository, request, asked, &mut |commit| {
        if missing.remove(&commit) {
            new.insert(commit);
        }
        if missing.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(new)
}

/// The commits reachable from `tips` and not from what the remote has, as far as that is known here: what its refs name
/// now, and its remote-tracking branches. `seen` may end the search early.
fn new_commits(
    repository: &Repository,
    request: &Request,
    tips: &[CommitId],
    seen: &mut dyn FnMut(CommitId) -> ControlFlow<()>,
) -> Result<Vec<CommitId>, GitError> {
    let objects = repository.objects()?;
    let named = request.updates.iter().map(|update| update.remote);
    let there = named.filter(|id| !id.is_null() && objects.contains(*id)).take(IDS_AT_A_TIME);
    let mut has = vec!["--not".to_owned()];
    has.extend(there.map(|id: ObjectId| id.to_string()));
    for remote in remotes(repository, request)? {
        has.extend(remote.others.iter().map(|other| format!("--exclude={other}/*")));
        has.push(format!("--remotes={}", remote.name));
    }
    let (mut new, mut known) = (Vec::new(), HashSet::new());
    for some in tips.chunks(IDS_AT_A_TIME) {
        let mut arguments = vec!["rev-list".to_owned()];
        arguments.extend(some.iter().map(ToString::to_string));
        arguments.extend(has.iter().cloned());
        let mut strange = None;
        repository.git().each_line(&arguments, |line| {
            let text = String::from_utf8_lossy(line);
            let Ok(commit) = text.parse::<CommitId>() else {
                strange = Some(text.into_owned());
                return ControlFlow::Break(());
            };
            if known.insert(commit) {
                new.push(commit);
            }
            seen(commit)
        })?;
        if let Some(why) = strange {
            return Err(GitError::Answer { command: "git rev-list".to_owned(), why });
        }
    }
    Ok(new)
}

/// A configured remote, and the others whose tracking branches lie within its own.
struct Remote {
    name: String,
    others: Vec<String>,
}

/// The remotes that the push goes to: the one of that name or, where it was named by its URL, those with that URL.
fn remotes(repository: &Repository, request: &Request) -> Result<Vec<Remote>, GitError> {
    let asked = repository.git().run(&["config", "-z", "--get-regexp", r"^remote\..*\.(url|pushurl)$"])?;
    let printed = String::from_utf8_lossy(&asked.stdout).into_owned();
    let entries: Vec<(&str, &str)> = printed.split('\0').filter_map(|entry| entry.split_once('\n')).collect();
    let name_of = |key: &str| {
        let name = key.strip_prefix("remote.")?;
        name.strip_suffix(".pushurl").or(name.strip_suffix(".url")).map(str::to_owned)
    };
    let names: HashSet<String> = entries.iter().filter_map(|(key, _)| name_of(key)).collect();
    let chosen: HashSet<String> = if names.contains(&request.remote) {
        HashSet::from([request.remote.clone()])
    } else {
        let same = entries.iter().filter(|(_, url)| *url == request.url || *url == request.remote);
        same.filter_map(|(key, _)| name_of(key)).collect()
    };
    let others = |name: &str| {
        let within = |other: &&String| other.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
        names.iter().filter(within).cloned().collect()
    };
    Ok(chosen.into_iter().map(|name| Remote { others: others(&name), name }).collect())
}
