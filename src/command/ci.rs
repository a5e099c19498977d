//! What a CI service reads besides the answer: JUnit XML where it is asked for, annotations on GitHub Actions.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::document::{Diagnostic, Refusal, RunDocument};
use crate::engine::{kept, log};
use crate::git::Repository;
use crate::os::environment;
use crate::report::{Reporter, annotation, junit};

/// So much of a log is looked through for places, in bytes.
const LOG_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Lines of a log that a failure in JUnit XML holds.
const LINES_MAX: usize = 200;

/// Who else is to be told.
pub struct Ci {
    junit: Option<PathBuf>,
    github: bool,
}

impl Ci {
    /// What was asked for and where we are.
    ///
    /// # Errors
    /// There can't be such a file: better now than after a gate of an hour.
    pub fn look(junit: Option<&Path>) -> Result<Self, Refusal> {
        let github = environment::variable("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        let folder = junit.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
        match (junit, folder) {
            (Some(file), Some(folder)) if !folder.is_dir() => {
                Err(unwritable(file, format!("there is no folder `{}`", folder.display())))
            }
            (Some(file), _) if file.is_dir() => Err(unwritable(file, "it is a folder".to_owned())),
            _ => Ok(Self { junit: junit.map(Path::to_owned), github }),
        }
    }

    /// Tells of a run that ended.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn finished(
        &self,
        document: &RunDocument,
        repository: &Repository,
        reporter: &mut Reporter,
    ) -> Result<(), Refusal> {
        self.annotate(document, repository, reporter);
        let last = |path: &str| log::last_lines(Path::new(path), LINES_MAX).ok();
        self.write(|| junit::of_document(document, &last))
    }

    /// Tells of a range that ended; its commits' annotations were told before.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn range_finished(&self, documents: &[RunDocument]) -> Result<(), Refusal> {
        let last = |path: &str| log::last_lines(Path::new(path), LINES_MAX).ok();
        self.write(|| junit::of_range(documents, &last))
    }

    /// Annotates the places that failures name, where somebody reads that.
    pub fn annotate(&self, document: &RunDocument, repository: &Repository, reporter: &mut Reporter) {
        if self.github {
            let top = repository.worktree().unwrap_or(repository.git_dir());
            let is_file = |path: &str| top.join(path).is_file();
            let kept = kept::all(repository).into_iter().map(|kept| kept.path);
            let tops: Vec<PathBuf> = kept.chain([top.to_owned()]).collect();
            reporter.tell_raw(&annotation::commands(document, &log, &is_file, &tops));
        }
    }

    /// Tells of a run that was refused; the error goes on.
    pub fn refused(&self, error: anyhow::Error) -> anyhow::Error {
        let diagnostics = super::refusal(&error).diagnostics;
        // The refusal itself is the news, also where the file can't be written.
        let _ = self.write(|| junit::of_refusal(&diagnostics));
        error
    }

    fn write<E: std::fmt::Display>(&self, xml: impl FnOnce() -> Result<String, E>) -> Result<(), Refusal> {
        let Some(file) = &self.junit else { return Ok(()) };
        let xml = xml().map_err(|error| unwritable(file, error.to_string()))?;
        std::fs::write(file, xml).map_err(|error| unwritable(file, error.to_string()))
    }
}

fn unwritable(file: &Path, why: String) -> Refusal {
    Refusal::new(Diagnostic::new("junit-unwritable", format!("could not write `{}`: {why}", file.display())))
}

/// The beginning of a log, where a compiler names its first error.
fn log(path: &str) -> Option<Vec<u8>> {
    let file = std::fs::File::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(LOG_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
