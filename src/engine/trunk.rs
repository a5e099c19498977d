//! What a candidate is compared with: trunk, at the merge base.

use std::collections::BTreeMap;

use crate::config::{self, Config};
use crate::evidence::TrunkCompared;
use crate::git::{GitError, Repository};
use crate::id::{CommitId, Name};
use crate::plan::departures;
use crate::standard::{Decimal, Written};

/// What comparing with trunk gave.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// What was compared with; nothing where there is no trunk here.
    pub compared: Option<TrunkCompared>,
    /// Trunk's limit of each standard, at the merge base.
    pub limits: BTreeMap<Name, Decimal>,
    /// Jobs of trunk that the candidate lacks or redefines, one sentence each.
    pub departures: Vec<String>,
}

/// Compares `config`, the candidate's, with trunk's at the merge base. Where trunk, the merge base or a readable
/// configuration there is not to be had, nothing is compared.
///
/// # Errors
/// The repository can't be read.
pub fn compare(repository: &Repository, candidate: CommitId, config: &Config) -> Result<Comparison, GitError> {
    let Ok(trunk) = repository.trunk(config.gate.trunk.as_deref()) else { return Ok(Comparison::default()) };
    let Some(merge_base) = repository.merge_base(candidate, trunk.tip)? else { return Ok(Comparison::default()) };
    let compared = Some(TrunkCompared { name: trunk.name, tip: trunk.tip, merge_base });
    let tree = repository.objects()?.commit(merge_base)?.tree;
    let bytes = repository.file_at(tree, config::FILE)?;
    let Some(base) = bytes.and_then(|bytes| Config::parse(&bytes, config::FILE).ok()) else {
        return Ok(Comparison { compared, ..Comparison::default() });
    };
    let trunk_file = format!("{}:{}", merge_base.short(), config::FILE);
    let (own, trunks) = (Written { config, file: config::FILE }, Written { config: &base, file: &trunk_file });
    let departures = departures(own, trunks).iter().map(ToString::to_string).collect();
    let limits = base.standards.iter().map(|standard| (standard.name.clone(), standard.limit.clone())).collect();
    Ok(Comparison { compared, limits, departures })
}
