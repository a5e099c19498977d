//! What a candidate is compared with: trunk, at the merge base, and its tip where that is tighter.

use std::collections::BTreeMap;

use super::no_answer::NoAnswer;
use crate::config::{self, Colour, Config, JobsOf};
use crate::document::{Diagnostic, Refusal};
use crate::evidence::{Proof, TrunkCompared};
use crate::git::revision::Trunk;
use crate::git::{GitError, Repository};
use crate::id::{CommitId, Name};
use crate::plan::departures;
use crate::standard::{Decimal, Looser, Written, ratchet};

/// What comparing with trunk gave.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// What was compared with; nothing where there is no trunk here and none is needed.
    pub compared: Option<TrunkCompared>,
    /// Trunk's limit of each standard, at the merge base; without those that are loosened on purpose.
    pub limits: BTreeMap<Name, Decimal>,
    /// Jobs of trunk that the candidate lacks or redefines, one sentence each.
    pub departures: Vec<String>,
    /// Whether trunk's tip refuses the candidate for them (`[gate] jobs`).
    pub refuses_departures: bool,
    /// Where the candidate's standards are looser than trunk's, and may not be.
    pub looser: Vec<Looser>,
    /// Where they are looser on purpose: trunk's own branch here has the candidate. One sentence each.
    pub loosened: Vec<String>,
    /// What else there is to say about the comparison, one sentence each.
    pub notes: Vec<String>,
    /// That trunk has moved on since the merge base, a sentence: only worth telling where standards are the subject.
    pub moved_on: Option<String>,
}

/// Compares `config`, the candidate's, with trunk's at the merge base.
///
/// # Errors
/// With standards, or with `[gate] jobs = "trunk"`, trunk and the merge base must be here and readable (B089): otherwise it is
/// refused with the command that fetches them. Else a trunk that is not here compares nothing, and says so where one was to
/// be expected.
pub fn compare(repository: &Repository, candidate: CommitId, config: &Config) -> Result<Comparison, NoAnswer> {
    let (trunk, merge_base) = match meet(repository, candidate, config) {
        Ok(met) => met,
        Err(NoAnswer::Refused(refusal)) if config.standards.is_empty() && config.gate.jobs == JobsOf::Own => {
            return Ok(nothing(&refusal, repository, config));
        }
        Err(error) => return Err(error),
    };
    let compared = TrunkCompared { name: trunk.name.clone(), tip: trunk.tip, merge_base };
    let tip_file = format!("{}:{}", short_name(&trunk.name), config::FILE);
    let tip = config_of(repository, trunk.tip, &tip_file)?;
    let jobs = tip.as_ref().map_or(config.gate.jobs, |tip| tip.gate.jobs);
    let base_file = format!("{}:{}", merge_base.short(), config::FILE);
    let base = if trunk.tip == merge_base { tip.clone() } else { config_of(repository, merge_base, &base_file)? };
    let empty = Comparison { compared: Some(compared), ..Comparison::default() };
    let Some(base) = base else { return Ok(empty) };
    let moved_on = (trunk.tip != merge_base).then(|| {
        let (of, base, tip) = (short_name(&trunk.name), merge_base.short(), trunk.tip.short());
        format!("compared with `{of}` at {base}, where this branch parted from it; it has moved on to {tip}")
    });
    let own = Written { config, file: config::FILE };
    let base_written = Written { config: &base, file: &base_file };
    let own_name = config.gate.trunk.as_ref().filter(|own| format!("refs/heads/{own}") != trunk.branch);
    let mut notes: Vec<String> = own_name.iter().map(|own| other_trunk(own, &trunk)).collect();
    if let Some(tip) = tip.filter(|_| trunk.tip != merge_base) {
        let tip = Written { config: &tip, file: &tip_file };
        notes.extend(ratchet::tighter_at_tip(own, base_written, tip).iter().map(ToString::to_string));
    }
    let looser = ratchet::compare(own, base_written);
    let counts = |name: &Name| !looser.iter().any(|it| it.name == *name);
    let limits = base.standards.iter().filter(|it| counts(&it.name));
    let limits = limits.map(|it| (it.name.clone(), it.limit.clone())).collect();
    let departures: Vec<String> = departures(own, base_written).iter().map(ToString::to_string).collect();
    let refused = jobs == JobsOf::Trunk && !departures.is_empty();
    // Loosening on purpose is done on trunk's own branch, in the open (docs/standards.md); so is changing its jobs.
    let allowed = (refused || !looser.is_empty()) && is_on(repository, candidate, &trunk.branch)?;
    let (mut loosened, looser): (Vec<String>, _) =
        if allowed { (looser.iter().map(ToString::to_string).collect(), Vec::new()) } else { (Vec::new(), looser) };
    if merge_base == candidate {
        loosened.extend(loosened_on_trunk(repository, own, candidate)?);
    }
    let refuses_departures = refused && !allowed;
    Ok(Comparison { limits, departures, refuses_departures, looser, loosened, notes, moved_on, ..empty })
}

/// Where a commit that trunk has already, and that would be compared with itself, is looser than its first parent: trunk as it
/// was before. A parent that is not here (a shallow clone), or whose configuration can't be used, says nothing.
fn loosened_on_trunk(repository: &Repository, own: Written<'_>, commit: CommitId) -> Result<Vec<String>, NoAnswer> {
    let objects = repository.objects()?;
    let before = objects.commit(commit)?.parents.first().copied().filter(|before| objects.contains(before.id()));
    let Some(before) = before else { return Ok(Vec::new()) };
    let file = format!("{}:{}", before.short(), config::FILE);
    let Some(config) = config_of(repository, before, &file).ok().flatten() else { return Ok(Vec::new()) };
    Ok(ratchet::compare(own, Written { config: &config, file: &file }).iter().map(ToString::to_string).collect())
}

/// Why the Proof of a commit that loosens standards, or departs from trunk's jobs where trunk's tip refuses that, does not count:
/// the commit is not, or no longer, on trunk or on trunk's own branch. Nothing where it is, and for any other Proof.
///
/// # Errors
/// The repository can't be read.
pub fn misplaced(repository: &Repository, proof: &Proof) -> Result<Option<String>, GitError> {
    let Some(trunk) = &proof.trunk else { return Ok(None) };
    let Some(first) = proof.loosened.iter().chain(&proof.departures).next() else { return Ok(None) };
    if proof.loosened.is_empty() && !tip_refuses_departures(repository, &trunk.name)? {
        return Ok(None);
    }
    // `refs/remotes/origin/main` is the remote's `refs/heads/main`.
    let tracked = trunk.name.strip_prefix("refs/remotes/").and_then(|rest| rest.split_once('/'));
    let branch = tracked.map(|(_, branch)| format!("refs/heads/{branch}"));
    for name in branch.iter().chain([&trunk.name]) {
        if is_on(repository, proof.commit, name)? {
            return Ok(None);
        }
    }
    Ok(Some(format!("it is not on `{}`, and only there this is allowed: {first}", short_name(&trunk.name))))
}

/// Whether the configuration at the tip of this branch says `[gate] jobs = "trunk"`. One that can't be used says nothing.
fn tip_refuses_departures(repository: &Repository, branch: &str) -> Result<bool, GitError> {
    let Some((_, tip)) = repository.refs().resolve(branch)? else { return Ok(false) };
    let config = usable_config_of(repository, CommitId(tip))?;
    Ok(config.is_some_and(|config| config.gate.jobs == JobsOf::Trunk))
}

/// Whether there is a branch of that full name and it has the commit.
fn is_on(repository: &Repository, commit: CommitId, branch: &str) -> Result<bool, GitError> {
    match repository.refs().resolve(branch)? {
        Some((_, tip)) => Ok(repository.merge_base(commit, CommitId(tip))? == Some(commit)),
        None => Ok(false),
    }
}

/// Trunk, and where the candidate parted from it.
fn meet(repository: &Repository, candidate: CommitId, config: &Config) -> Result<(Trunk, CommitId), NoAnswer> {
    let compared = if config.standards.is_empty() { "jobs are" } else { "standards are" };
    let (trunk, merge_base) = match trunk_that_counts(repository, candidate, config) {
        Ok(counts) => counts,
        Err(GitError::NoTrunk { name }) => {
            let message = format!("{compared} compared with trunk's, and there is no branch `{name}` here");
            return Err(refusal(repository, "no-trunk", message, &name).into());
        }
        Err(error) => return Err(error.into()),
    };
    let merge_base = match merge_base {
        Some(known) => Some(known),
        None => repository.merge_base(candidate, trunk.tip)?,
    };
    if let Some(merge_base) = merge_base {
        return Ok((trunk, merge_base));
    }
    let (name, of) = (short_name(&trunk.branch), short_name(&trunk.name));
    Err(if repository.is_shallow() {
        let message = format!(
            "{compared} compared with trunk's at the merge base, and this shallow clone does not reach back to where \
             this commit parted from `{of}`"
        );
        refusal(repository, "no-merge-base", message, name).into()
    } else {
        let message =
            format!("{compared} compared with trunk's, and this commit has no ancestor in common with `{of}`");
        Refusal::new(Diagnostic::new("no-merge-base", message)).into()
    })
}

/// The trunk that counts. `[gate] trunk` is like a limit: a candidate can't change by itself what it is compared with, or it would
/// name its own branch. Its own word counts where the default trunk (origin/HEAD, main, master) agreed at the merge base
/// or says nothing, and where the branch that it names is on a remote and calls itself trunk. With it goes the merge base,
/// where that came out on the way.
fn trunk_that_counts(
    repository: &Repository,
    candidate: CommitId,
    config: &Config,
) -> Result<(Trunk, Option<CommitId>), GitError> {
    let own_name = config.gate.trunk.as_deref();
    let Some(default) = repository.trunk_if_here(None)? else { return Ok((repository.trunk(own_name)?, None)) };
    let Some(base) = repository.merge_base(candidate, default.tip)? else {
        return Ok((repository.trunk(own_name)?, None));
    };
    let declared = |commit| Ok::<_, GitError>(usable_config_of(repository, commit)?.map(|it| it.gate.trunk));
    let counts = match declared(base)?.filter(|agreed| agreed.as_deref() != own_name) {
        None => repository.trunk(own_name)?,
        Some(agreed) => {
            let on_remote = repository.trunk_if_here(own_name)?.filter(|own| own.name.starts_with("refs/remotes/"));
            match on_remote {
                Some(own) if declared(own.tip)?.is_some_and(|its| its.as_deref() == own_name) => own,
                _ => repository.trunk(agreed.as_deref())?,
            }
        }
    };
    let is_default = counts.tip == default.tip;
    Ok((counts, is_default.then_some(base)))
}

/// Nothing to compare with. Without standards that is no fault; it is told where a trunk was to be expected, because one
/// that is not here can't be asked what it demands.
fn nothing(refusal: &Refusal, repository: &Repository, config: &Config) -> Comparison {
    let expected = config.gate.trunk.is_some() || repository.is_shallow();
    let why = refusal.diagnostics.iter().filter(|_| expected);
    let notes = why.map(|it| format!("nothing was compared with trunk: {}", it.message)).collect();
    Comparison { notes, ..Comparison::default() }
}

/// The configuration of a commit of trunk; nothing where it has none.
fn config_of(repository: &Repository, commit: CommitId, file: &str) -> Result<Option<Config>, NoAnswer> {
    let tree = repository.objects()?.commit(commit)?.tree;
    let Some(bytes) = repository.file_at(tree, config::FILE)? else { return Ok(None) };
    Config::parse(&bytes, file).map(Some).map_err(|invalid| NoAnswer::Refused(invalid.refusal(Colour::None)))
}

/// The same, where a configuration that is broken says nothing either.
fn usable_config_of(repository: &Repository, commit: CommitId) -> Result<Option<Config>, GitError> {
    let tree = repository.objects()?.commit(commit)?.tree;
    let bytes = repository.file_at(tree, config::FILE)?;
    Ok(bytes.and_then(|bytes| Config::parse(&bytes, config::FILE).ok()))
}

/// A refusal with the command that fetches `branch` as trunk, with all of its history where this clone is shallow. A clone of
/// a single branch fetches no other by itself, so the command names it.
fn refusal(repository: &Repository, code: &str, message: String, branch: &str) -> Refusal {
    let diagnostic = Diagnostic::new(code, message);
    let Some(remote) = remote(repository) else {
        return Refusal::new(diagnostic.advice(format!("make the branch: `git branch {branch} COMMIT`")));
    };
    let unshallow = if repository.is_shallow() { " --unshallow" } else { "" };
    let fetch = format!("git fetch{unshallow} {remote} +refs/heads/{branch}:refs/remotes/{remote}/{branch}");
    Refusal::new(diagnostic.fix(fetch))
}

/// The remote to fetch trunk from: `origin`, or else the first one.
fn remote(repository: &Repository) -> Option<String> {
    let listed = repository.git().run(&["remote"]).ok()?.success().ok()?;
    let names: Vec<String> = String::from_utf8_lossy(&listed).lines().map(ToOwned::to_owned).collect();
    names.iter().find(|name| *name == "origin").or_else(|| names.first()).cloned()
}

fn other_trunk(own: &str, trunk: &Trunk) -> String {
    let counts = short_name(&trunk.name);
    format!("`[gate] trunk` is `{own}` in this commit; compared with `{counts}`, until the change of trunk is there")
}

/// A branch as people call it: `main`, `origin/main`.
fn short_name(full: &str) -> &str {
    full.strip_prefix("refs/heads/").or_else(|| full.strip_prefix("refs/remotes/")).unwrap_or(full)
}
