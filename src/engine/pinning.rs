//! `standards --pin`: from the answer of a green run to tighter limits in the worktree's `discern.toml`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::config::{self, Colour, Config};
use crate::document::{Diagnostic, PinnedLimit, PinnedLimits, Refusal, RequirementReport, RunDocument};
use crate::git::{GitError, Repository};
use crate::id::Name;
use crate::os::files::{self, Durability};
use crate::standard::pin::{self, Measurement, NotPinned};
use crate::standard::{Limit, NotADecimal};

/// The largest configuration that is edited, in bytes.
const CONFIG_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Why nothing could be pinned.
#[derive(Debug, thiserror::Error)]
pub enum PinError {
    /// Something has to be mended first.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The repository could not be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A number can't be used, or a standard is red after all.
    #[error(transparent)]
    NotPinned(#[from] NotPinned),
    /// The file could not be read or written.
    #[error("could not edit `{}`: {source}", config::FILE)]
    Io {
        /// What the system said.
        source: std::io::Error,
    },
}

/// Tightens the limits of `names`, of every standard that `answer` measured if there are none, in the file of the worktree.
///
/// `answer` is that of a run that passed: each reading in it is used as it is, nothing is measured again.
///
/// # Errors
/// The file is no longer the committed one, or can't be read or written; a number has no place in it.
pub fn pin(repository: &Repository, answer: &RunDocument, names: &[Name]) -> Result<PinnedLimits, PinError> {
    let file = repository.worktree()?.join(config::FILE);
    let (text, config) = read(&file)?;
    check_committed(repository, answer, &config)?;
    let measured = answer.requirements.iter().filter(|report| report.reading.is_some());
    let measurements = measured.map(|report| measurement(report, &config)).collect::<Result<Vec<_>, _>>()?;
    let selected = |name: &Name| names.is_empty() || names.contains(name);
    let pinned = pin::pin(&text, &config, &measurements, selected)?;
    if !pinned.changes.is_empty() {
        write(&file, &pinned.text).map_err(|source| PinError::Io { source })?;
    }
    let diff = pinned.diff(&text, config::FILE);
    let limits = pinned.changes.into_iter();
    let limits = limits.map(|it| PinnedLimit { name: it.name, from: it.from, to: it.to, line: it.line }).collect();
    Ok(PinnedLimits { path: config::FILE.to_owned(), limits, diff })
}

fn read(file: &Path) -> Result<(String, Config), PinError> {
    let io = |source| PinError::Io { source };
    let bytes = files::read_bounded(file, CONFIG_BYTES_MAX).map_err(io)?;
    let bytes = bytes.ok_or_else(|| io(std::io::ErrorKind::NotFound.into()))?;
    let config = Config::parse(&bytes, config::FILE).map_err(|invalid| invalid.refusal(Colour::None))?;
    let text = String::from_utf8(bytes).map_err(|_| io(std::io::ErrorKind::InvalidData.into()))?;
    Ok((text, config))
}

/// The standards of the worktree's file must be those that were measured. Its bytes may differ: line ends, for one, are as
/// the user's git writes them.
fn check_committed(repository: &Repository, answer: &RunDocument, config: &Config) -> Result<(), PinError> {
    let committed = match &answer.candidate {
        Some(candidate) => repository.file_at(candidate.tree, config::FILE)?,
        None => None,
    };
    let committed = committed.and_then(|bytes| Config::parse(&bytes, config::FILE).ok());
    if committed.is_some_and(|committed| committed.standards == config.standards) {
        return Ok(());
    }
    let message = format!("`{}` is not the one whose standards were measured; nothing is pinned", config::FILE);
    Err(Refusal::new(Diagnostic::new("config-changed", message).fix(format!("git diff {}", config::FILE))).into())
}

fn measurement(report: &RequirementReport, config: &Config) -> Result<Measurement, NotPinned> {
    let name = report.name.clone();
    let standard = config.standard(&name).ok_or_else(|| NotPinned::NotFound(name.clone()))?;
    let number = |why: NotADecimal| NotPinned::Number { name: name.clone(), why };
    let trunk = report.trunk_limit.as_ref().map(|text| text.parse()).transpose().map_err(number)?;
    let reading = report.reading.clone().ok_or_else(|| NotPinned::NotFound(name.clone()))?;
    Ok(Measurement { limit: Limit::of(standard, trunk.as_ref()), name, reading })
}

/// Replaces the file in one step, so that it is never half written; its mode stays.
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    let mode = std::fs::metadata(file)?.permissions().mode() & 0o7777;
    files::replace(file, text.as_bytes(), mode, Durability::Synced)
}
