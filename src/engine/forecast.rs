//! What decides a requirement's verdict, found out without executing anything of the project.
//!
//! A toolchain command is not asked: its answer is the one that was recorded last, and whoever shows the result says so. Where
//! none was recorded, or too little of it, the subject itself can't be known, and everything else still can.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::committed_config;
use super::no_answer::NoAnswer;
use super::requirements::{self, Chosen, Detailed, Scope, Surroundings, Unplanned};
use super::session::Session;
use super::trunk;
use crate::config::{self, Config};
use crate::document::{Diagnostic, LOOSER, Refusal};
use crate::evidence::subject::{Salt, SubjectInput, SubjectParts, ToolchainPart};
use crate::evidence::{Place, Receipt, RequirementKey, RequirementKind, explain, newest};
use crate::git::{Cleanliness, Head, InputEntry, Pathspecs, Untracked};
use crate::id::{CommitId, Name, Subject, TreeId};
use crate::os::environment;
use crate::plan::{self, Decision, Known, PlanItem};

/// How many changed paths are looked for.
const CHANGED_PATHS_MAX: usize = 20;

/// What decides one requirement of one commit.
#[derive(Debug, Clone)]
pub struct Forecast {
    /// Which requirement.
    pub key: RequirementKey,
    /// The commit.
    pub commit: CommitId,
    input: SubjectInput,
    /// Answers that are known only in part, by command.
    partly_known: BTreeMap<String, ToolchainPart>,
    /// The toolchain commands whose answer is taken from an earlier run.
    pub recorded: Vec<String>,
    /// Those without any.
    pub unknown: Vec<String>,
    /// Whether everything is known that its subject is made of.
    complete: bool,
}

impl Forecast {
    /// Its subject, if everything that it is made of is known.
    pub fn subject(&self) -> Option<Subject> {
        self.complete.then(|| self.input.subject())
    }

    /// Its parts, with the values of variables under `salt`.
    pub fn parts(&self, salt: Salt) -> SubjectParts {
        let mut parts = self.input.parts(salt);
        parts.toolchain.extend(self.partly_known.values().cloned());
        parts.toolchain.sort_by(|one, other| one.command.cmp(&other.command));
        parts
    }
}

/// `commit` and its configuration, which declares a job or a standard `name`.
///
/// # Errors
/// The commit has no such requirement, or no usable configuration; the repository can't be read.
pub fn declaring(name: &Name, commit: CommitId, session: &Session<'_>) -> Result<(Head, Config), NoAnswer> {
    let repository = session.repository;
    let read = repository.objects()?.commit(commit)?;
    let head = Head { commit, tree: read.tree, branch: None, summary: read.summary };
    let config = committed_config(repository, &head)?;
    if config.job(name).is_some() || config.standard(name).is_some() {
        return Ok((head, config));
    }
    let jobs = config.jobs.iter().map(|job| job.name.as_str());
    let all = jobs.chain(config.standards.iter().map(|it| it.name.as_str()));
    let message = config::names_nothing(name.as_str(), "job or standard", &format!("in {}", commit.short()), all);
    Err(Refusal::new(Diagnostic::new("unknown-name", message)).into())
}

/// What decides the requirement `name` of `commit`, where `on_disk` lies on disk otherwise than committed.
///
/// # Errors
/// The commit has no such requirement, or no usable configuration; the repository or the ledger can't be read.
pub fn forecast(
    name: &Name,
    commit: CommitId,
    on_disk: &[InputEntry],
    session: &Session<'_>,
) -> Result<Forecast, NoAnswer> {
    let repository = session.repository;
    let (head, config) = declaring(name, commit, session)?;
    let answers = recorded_answers(&config, session)?;
    let whole = answers.iter().filter_map(|(command, part)| Some((command.clone(), part.whole_answer()?))).collect();
    let limits =
        trunk::compare(repository, head.commit, &config).map(|comparison| comparison.limits).unwrap_or_default();
    let surroundings = Surroundings { variable: &variable, on_disk, toolchain: &whole, trunk_limits: &limits };
    let trees = repository.trees()?;
    let chosen = Chosen::Named(vec![name.clone()]);
    let scope = if config.job(name).is_some() { Scope::Gate } else { Scope::Standards(&chosen) };
    let details = requirements::requirements(&config, scope, head.tree, &trees, &surroundings).map_err(cause)?;
    let detailed = details.iter().rev().find(|detailed| detailed.requirement.key.name == *name);
    let Some(detailed) = detailed.cloned() else {
        return Err(Refusal::new(Diagnostic::new("unknown-name", format!("`{name}` is not measured"))).into());
    };
    let declared = commands_of(&detailed.requirement.key, &config);
    let through_needs = commands_through_needs(&detailed, &details, &config);
    Ok(Forecast {
        commit,
        complete: through_needs.iter().all(|command| whole.contains_key(command)),
        partly_known: declared
            .iter()
            .filter(|command| !whole.contains_key(*command))
            .filter_map(|command| Some((command.clone(), answers.get(command)?.clone())))
            .collect(),
        recorded: declared.iter().filter(|command| answers.contains_key(*command)).cloned().collect(),
        unknown: declared.into_iter().filter(|command| !answers.contains_key(command)).collect(),
        key: detailed.requirement.key,
        input: detailed.input,
    })
}

/// What a run would do about one requirement.
#[derive(Debug, Clone)]
pub struct Prospect {
    /// Which requirement.
    pub key: RequirementKey,
    /// What is decided about it.
    pub decision: Decision,
    /// How long its command took last time for the same content, or for the nearest.
    pub expected_ms: Option<u64>,
}

/// What `git discern done` would do about each requirement of `head`, as the committed tree and the ledger have it. Nothing of
/// the project is executed and the worktree is not looked at: where a toolchain command's answer is not known, its job is said
/// to run.
///
/// # Errors
/// What can't be planned is refused as a run would be; the repository or the ledger can't be read.
pub fn prospects(head: &Head, config: &Config, session: &Session<'_>) -> Result<Vec<Prospect>, NoAnswer> {
    let repository = session.repository;
    let answers = recorded_answers(config, session)?;
    let whole: BTreeMap<_, _> =
        answers.iter().filter_map(|(command, part)| Some((command.clone(), part.whole_answer()?))).collect();
    let comparison = trunk::compare(repository, head.commit, config)?;
    if let Some(looser) = comparison.looser.first() {
        return Err(Refusal::new(Diagnostic::new(LOOSER, looser.to_string())).into());
    }
    let surroundings =
        Surroundings { variable: &variable, on_disk: &[], toolchain: &whole, trunk_limits: &comparison.limits };
    let mut details = requirements::requirements(config, Scope::Gate, head.tree, &repository.trees()?, &surroundings)
        .map_err(cause)?;
    let mut known = Known::nothing(Place::InPlace);
    let complete = |detailed: &Detailed| {
        commands_through_needs(detailed, &details, config).iter().all(|command| whole.contains_key(command))
    };
    let complete: Vec<bool> = details.iter().map(complete).collect();
    for (detailed, complete) in details.iter_mut().zip(complete) {
        let requirement = &mut detailed.requirement;
        let found = if complete { session.ledger.receipts(requirement.subject)? } else { Default::default() };
        let receipts = if found.newer { Vec::new() } else { found.receipts };
        let same = newest(receipts.iter().filter(|receipt| receipt.kind == requirement.key.kind));
        requirement.expected_ms = match same {
            Some(receipt) => Some(receipt.duration_ms),
            None => {
                let near = session.ledger.nearest(requirement.key.kind, &requirement.key.name)?.receipts;
                newest(&near).map(|receipt| receipt.duration_ms)
            }
        };
        known.receipts.insert(requirement.subject, receipts);
    }
    let planned = plan::plan(details.into_iter().map(|detailed| detailed.requirement).collect(), &known);
    let prospect = |item: PlanItem| Prospect {
        key: item.requirement.key,
        decision: item.decision,
        expected_ms: item.requirement.expected_ms,
    };
    Ok(planned.items.into_iter().map(prospect).collect())
}

/// What lies otherwise than committed in the worktree, if it stands at `commit`, and a sentence where it is not that commit's tree.
/// A commit without a checkout is as committed.
///
/// # Errors
/// The repository can't be read.
pub fn on_disk(commit: CommitId, session: &Session<'_>) -> Result<(Vec<InputEntry>, Option<String>), NoAnswer> {
    let repository = session.repository;
    let Some(head) = repository.worktree().and_then(|_| repository.head()).ok().filter(|head| head.commit == commit)
    else {
        return Ok((Vec::new(), None));
    };
    match repository.cleanliness(None, &head, Untracked::Ignore)? {
        Cleanliness::Clean(snapshot) => Ok((snapshot.on_disk().to_vec(), None)),
        Cleanliness::Dirty { paths, .. } => {
            let first = paths.first().map_or_else(String::new, |first| format!(" (`{}`)", first.path));
            let count = phrase_count(paths.len());
            Ok((Vec::new(), Some(format!("this is about the commit; the worktree differs from it in {count}{first}"))))
        }
    }
}

fn phrase_count(paths: usize) -> String {
    if paths == 1 { "1 path".to_owned() } else { format!("{paths} paths") }
}

/// The verdict of a newer git-discern that is recorded for a subject and can't be read here: which one is the newest is unknown then.
///
/// # Errors
/// The ledger can't be read.
pub fn is_beyond_us(forecast: &Forecast, session: &Session<'_>) -> Result<bool, NoAnswer> {
    forecast.subject().map_or(Ok(false), |subject| Ok(session.ledger.receipts(subject)?.newer))
}

/// The receipt to compare with: the newest of its very subject, or else the newest of its name.
///
/// # Errors
/// The ledger can't be read.
pub fn nearest(forecast: &Forecast, session: &Session<'_>) -> Result<Option<Receipt>, NoAnswer> {
    if let Some(subject) = forecast.subject() {
        let same = session.ledger.receipts(subject)?.receipts;
        if let Some(receipt) = newest(same.iter().filter(|receipt| receipt.kind == forecast.key.kind)) {
            return Ok(Some(receipt.clone()));
        }
    }
    Ok(newest(&session.ledger.nearest(forecast.key.kind, &forecast.key.name)?.receipts).cloned())
}

/// What differs between older parts and `forecast`, a clause each.
///
/// # Errors
/// The repository can't be read.
pub fn differences(older: &SubjectParts, forecast: &Forecast, session: &Session<'_>) -> Result<Vec<String>, NoAnswer> {
    let trees = session.repository.trees()?;
    let changed = |old: TreeId, new: TreeId, specs: &[String]| {
        let specs = Pathspecs::parse(specs).ok();
        let paths = specs.and_then(|specs| trees.changed(old, new, &specs, CHANGED_PATHS_MAX).ok());
        paths.unwrap_or_default().iter().map(ToString::to_string).collect()
    };
    let new = forecast.parts(older.salt().unwrap_or(Salt([0; 16])));
    Ok(explain(older, &new, &changed).iter().map(ToString::to_string).collect())
}

/// The newest recorded answer of each toolchain command that `config` declares.
fn recorded_answers(config: &Config, session: &Session<'_>) -> Result<BTreeMap<String, ToolchainPart>, NoAnswer> {
    let jobs = config.jobs.iter().map(|job| (RequirementKind::Job, &job.name, &job.influences));
    let standards = config.standards.iter().map(|it| (RequirementKind::Standard, &it.name, &it.influences));
    let mut answers = BTreeMap::new();
    for (kind, name, _) in jobs.chain(standards).filter(|(.., influences)| !influences.toolchain.is_empty()) {
        for receipt in session.ledger.nearest(kind, name)?.receipts {
            for part in receipt.parts.toolchain {
                let known = answers.entry(part.command.clone()).or_insert((receipt.finished_at, part.clone()));
                if known.0 < receipt.finished_at {
                    *known = (receipt.finished_at, part);
                }
            }
        }
    }
    Ok(answers.into_iter().map(|(command, (_, part))| (command, part)).collect())
}

fn commands_of(key: &RequirementKey, config: &Config) -> Vec<String> {
    let influences = match key.kind {
        RequirementKind::Job => config.job(&key.name).map(|job| &job.influences),
        RequirementKind::Standard => config.standard(&key.name).map(|standard| &standard.influences),
    };
    influences.map(|influences| influences.toolchain.clone()).unwrap_or_default()
}

/// The toolchain commands of a requirement and of everything that it needs or measures.
fn commands_through_needs(detailed: &Detailed, details: &[Detailed], config: &Config) -> BTreeSet<String> {
    let mut commands = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut pending = vec![&detailed.requirement];
    while let Some(requirement) = pending.pop() {
        if !seen.insert(requirement.key.clone()) {
            continue;
        }
        commands.extend(commands_of(&requirement.key, config));
        let used = requirement.needs.iter().chain(&requirement.from);
        let jobs = used.filter_map(|name| {
            let is_it = |it: &&Detailed| it.requirement.key == RequirementKey::job(name.clone());
            details.iter().find(is_it).map(|it| &it.requirement)
        });
        pending.extend(jobs);
    }
    commands
}

fn variable(name: &str) -> Option<Vec<u8>> {
    use std::os::unix::ffi::OsStringExt as _;
    environment::variable(name).map(|value| value.into_vec())
}

fn cause(error: Unplanned) -> NoAnswer {
    match error {
        Unplanned::Refused(refusal) => refusal.into(),
        Unplanned::Git(error) => error.into(),
    }
}
