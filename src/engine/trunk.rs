//! What a candidate is compared with: trunk, at the merge base, and its tip where that is tighter.

use std::collections::BTreeMap;

use crate::config::{self, Colour, Config};
use crate::document::{Diagnostic, Refusal};
use crate::evidence::TrunkCompared;
use crate::git::{GitError, Repository};
use crate::id::{CommitId, Name};
use crate::plan::departures;
use crate::standard::{Decimal, Written, ratchet};

/// What comparing with trunk gave.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// What was compared with; nothing where there is no trunk here and none is needed.
    pub compared: Option<TrunkCompared>,
    /// Trunk's limit of each standard, at the merge base.
    pub limits: BTreeMap<Name, Decimal>,
    /// Jobs of trunk that the candidate lacks or redefines, one sentence each.
    pub departures: Vec<String>,
    /// Where the candidate's standards are looser than trunk's, one sentence each.
    pub looser: Vec<String>,
    /// Where trunk's tip is tighter than what was compared with, one sentence each.
    pub notes: Vec<String>,
}

/// Why nothing could be compared.
#[derive(Debug, thiserror::Error)]
pub enum NotCompared {
    /// Trunk is needed and is not to be had.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The repository can't be read.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Compares `config`, the candidate's, with trunk's at the merge base.
///
/// # Errors
/// With standards, trunk and the merge base must be here and readable (B089): otherwise it is refused with the command that
/// fetches them. Without any, a trunk that is not here compares nothing.
pub fn compare(repository: &Repository, candidate: CommitId, config: &Config) -> Result<Comparison, NotCompared> {
    let needed = !config.standards.is_empty();
    let trunk = match repository.trunk(config.gate.trunk.as_deref()) {
        Ok(trunk) => trunk,
        Err(error @ GitError::NoTrunk { .. }) if needed => return Err(no_trunk(&error.to_string()).into()),
        Err(GitError::NoTrunk { .. }) => return Ok(Comparison::default()),
        Err(error) => return Err(error.into()),
    };
    let merge_base = match repository.merge_base(candidate, trunk.tip)? {
        Some(merge_base) => merge_base,
        None if needed && repository.is_shallow() => return Err(shallow(&trunk.name).into()),
        None if needed => {
            return Err(no_trunk(&format!("this commit has no ancestor in common with `{}`", trunk.name)).into());
        }
        None => return Ok(Comparison::default()),
    };
    let compared = TrunkCompared { name: trunk.name.clone(), tip: trunk.tip, merge_base };
    let base_file = format!("{}:{}", merge_base.short(), config::FILE);
    let Some(base) = config_of(repository, merge_base, &base_file)? else {
        return Ok(Comparison { compared: Some(compared), ..Comparison::default() });
    };
    let (own, base_written) = (Written { config, file: config::FILE }, Written { config: &base, file: &base_file });
    let tip_file = format!("{}:{}", short_name(&trunk.name), config::FILE);
    let tip = if trunk.tip == merge_base { None } else { config_of(repository, trunk.tip, &tip_file)? };
    let notes = tip.as_ref().map(|tip| {
        let tip = Written { config: tip, file: &tip_file };
        ratchet::tighter_at_tip(own, base_written, tip).iter().map(ToString::to_string).collect()
    });
    Ok(Comparison {
        compared: Some(compared),
        limits: base.standards.iter().map(|it| (it.name.clone(), it.limit.clone())).collect(),
        departures: departures(own, base_written).iter().map(ToString::to_string).collect(),
        looser: ratchet::compare(own, base_written).iter().map(ToString::to_string).collect(),
        notes: notes.unwrap_or_default(),
    })
}

/// The configuration of a commit of trunk; nothing where it has none.
fn config_of(repository: &Repository, commit: CommitId, file: &str) -> Result<Option<Config>, NotCompared> {
    let tree = repository.objects()?.commit(commit)?.tree;
    let Some(bytes) = repository.file_at(tree, config::FILE)? else { return Ok(None) };
    Config::parse(&bytes, file).map(Some).map_err(|invalid| NotCompared::Refused(invalid.refusal(Colour::None)))
}

fn no_trunk(why: &str) -> Refusal {
    let message = format!("standards are compared with trunk's, and {why}");
    Refusal::new(Diagnostic::new("no-trunk", message).fix("git fetch origin"))
}

fn shallow(trunk: &str) -> Refusal {
    let message = format!(
        "standards are compared with trunk's at the merge base, and this shallow clone does not reach back to where it \
         parted from `{trunk}`"
    );
    Refusal::new(Diagnostic::new("no-merge-base", message).fix("git fetch --unshallow"))
}

fn short_name(full: &str) -> &str {
    full.strip_prefix("refs/heads/").or_else(|| full.strip_prefix("refs/remotes/")).unwrap_or(full)
}
