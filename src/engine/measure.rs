//! Numbers and files that an execution leaves: metric lines, denominators, artifacts.

use std::path::{Path, PathBuf};

use super::machine::Machine;
use super::requirements::Detailed;
use crate::evidence::{Artifact, Reading, Receipt, RequirementKey};
use crate::git::Repository;
use crate::id::Name;

/// The reading of each standard in `details`, taken from the log of the one execution that serves them all.
pub fn readings(
    _repository: &Repository,
    details: &[&Detailed],
    _log: &Path,
) -> Vec<(RequirementKey, Result<Reading, String>)> {
    let key = |detailed: &&Detailed| detailed.requirement.key.clone();
    details.iter().map(|it| (key(it), Err("standards are not measured yet".to_owned()))).collect()
}

/// The artifact that a job kept: in this run, or in the run of the receipt that counts.
pub fn kept_artifact(
    machine: &Machine<'_, '_>,
    job: &Name,
    artifact: &str,
    receipt: Option<&Receipt>,
) -> Result<PathBuf, String> {
    let _ = (machine, receipt);
    Err(format!("`{job}` kept no `{artifact}`"))
}

/// Keeps the files that a job declared as artifacts.
pub fn keep_artifacts(machine: &Machine<'_, '_>, key: &RequirementKey) -> (Vec<Artifact>, Option<String>) {
    let _ = (machine, key);
    (Vec::new(), None)
}

/// The log of a job's latest try among the files of one run.
pub fn latest_log(logs: &Path, job: &Name) -> Option<PathBuf> {
    let tries = (1..).map(|tries| logs.join(format!("{job}.{tries}.log"))).take_while(|path| path.is_file());
    tries.last()
}
