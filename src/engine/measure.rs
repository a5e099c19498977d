//! Numbers and files that an execution leaves: metric lines, denominators, artifacts.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::requirements::Detailed;
use crate::evidence::subject::{Denominator, InputEntry, Unit};
use crate::evidence::{Artifact, LogRef, Reading, RequirementKey};
use crate::git::Repository;
use crate::git::tree::{MODE_LINK, MODE_SUBMODULE};
use crate::id::{Digest, Name};
use crate::standard::metric::{Metrics, Scanner};
use crate::standard::{Decimal, rate};

/// How much of a log is read at a time, in bytes.
const PIECE_BYTES: usize = 64 * 1024;

/// The reading of each standard in `details`, taken from the log of the one execution that serves them all; why there is
/// none, where there is none.
pub fn readings(
    repository: &Repository,
    details: &[&Detailed],
    log: &Path,
) -> Vec<(RequirementKey, Result<Reading, String>)> {
    if details.is_empty() {
        return Vec::new();
    }
    let metrics = scan(log).map_err(|error| format!("its output can't be read: {error}"));
    let reading = |detailed: &&Detailed| {
        let metrics = metrics.as_ref().map_err(Clone::clone)?;
        reading(repository, detailed, metrics)
    };
    details.iter().map(|detailed| (detailed.requirement.key.clone(), reading(detailed))).collect()
}

/// Everything that a log says in metric lines, in bounded memory.
fn scan(log: &Path) -> std::io::Result<Metrics> {
    let mut file = File::open(log)?;
    let mut scanner = Scanner::new();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(scanner.finish()),
            read => scanner.feed(&piece[..read]),
        }
    }
}

fn reading(repository: &Repository, detailed: &Detailed, metrics: &Metrics) -> Result<Reading, String> {
    let measure = detailed.input.definition.measure.as_ref().ok_or("it is no standard")?;
    let metric = metrics.get(&measure.metric).map_err(|error| error.to_string())?;
    let per = match &measure.per {
        None => None,
        Some(Denominator::Metric(name)) => Some(metrics.get(name).map_err(|error| error.to_string())?.clone()),
        Some(Denominator::Counted { unit, entries, .. }) => Some(count(repository, *unit, entries)?),
    };
    let scale = detailed.requirement.limit.as_ref().and_then(|limit| limit.scale.as_ref());
    rate::reading(metric, per.as_ref(), scale).map_err(|error| error.to_string())
}

/// Counts over committed files: their number, their bytes, or their lines. A last line without a line feed counts.
fn count(repository: &Repository, unit: Unit, entries: &[InputEntry]) -> Result<Decimal, String> {
    let objects = repository.objects().map_err(|error| error.to_string())?;
    let files = entries.iter().filter(|entry| entry.mode != MODE_LINK && entry.mode != MODE_SUBMODULE);
    let mut total: u64 = 0;
    for entry in files {
        total += match unit {
            Unit::Files => 1,
            Unit::Bytes => match objects.header(entry.id).map_err(|error| error.to_string())? {
                Some((_, bytes)) => bytes,
                None => return Err(format!("`{}` is not here", String::from_utf8_lossy(&entry.path))),
            },
            Unit::Lines => lines(&objects.blob(entry.id).map_err(|error| error.to_string())?),
        };
    }
    total.to_string().parse().map_err(|error: crate::standard::NotADecimal| error.to_string())
}

fn lines(content: &[u8]) -> u64 {
    let ended = content.iter().filter(|&&byte| byte == b'\n').count() as u64;
    ended + u64::from(content.last().is_some_and(|&byte| byte != b'\n'))
}

/// Where a job's kept artifact lies in the folder of its run.
pub fn artifact_file(logs: &Path, job: &Name, artifact: &str) -> PathBuf {
    // One name below one folder for each job, whatever the path holds.
    let flat = artifact.replace('%', "%25").replace('/', "%2F");
    logs.join(format!("{job}.artifacts")).join(flat)
}

/// Keeps the files that a job declared, below the worktree's `top`, in the folder of its run.
///
/// # Errors
/// A file is missing, is no plain file below `top`, or can't be stored; the sentence says which.
pub fn keep_artifacts(top: &Path, logs: &Path, job: &Name, declared: &[String]) -> Result<Vec<Artifact>, String> {
    declared.iter().map(|path| keep(top, logs, job, path).map_err(|why| format!("artifact `{path}`: {why}"))).collect()
}

fn keep(top: &Path, logs: &Path, job: &Name, path: &str) -> Result<Artifact, String> {
    let relative = Path::new(path);
    if !relative.components().all(|component| matches!(component, Component::Normal(_))) {
        return Err("it must be a path below the top directory".to_owned());
    }
    let text = |error: std::io::Error| error.to_string();
    let source = top.join(relative);
    if !std::fs::symlink_metadata(&source).map_err(text)?.is_file() {
        return Err("it is no plain file".to_owned());
    }
    let kept = artifact_file(logs, job, path);
    std::fs::create_dir_all(kept.parent().unwrap_or(logs)).map_err(text)?;
    let bytes = std::fs::copy(&source, &kept).map_err(text)?;
    let digest = digest(&kept).map_err(text)?;
    Ok(Artifact { path: path.to_owned(), digest, bytes })
}

/// The SHA-256 of a file, in bounded memory.
pub fn digest(file: &Path) -> std::io::Result<Digest> {
    let mut file = File::open(file)?;
    let mut hasher = Sha256::new();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(Digest(hasher.finalize().into())),
            read => hasher.update(&piece[..read]),
        }
    }
}

/// The log of a job's latest try among the files of one run.
pub fn latest_log(logs: &Path, job: &Name) -> Option<PathBuf> {
    let tries = (1..).map(|tries| logs.join(LogRef::file_of(job, tries))).take_while(|path| path.is_file());
    tries.last()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_line_without_a_line_feed_counts() {
        assert_eq!([lines(b""), lines(b"a"), lines(b"a\n"), lines(b"a\nb"), lines(b"\n\n")], [0, 1, 1, 2, 2]);
    }

    #[test]
    fn an_artifact_must_be_a_plain_file_below_the_top() {
        let top = tempfile::tempdir().unwrap();
        let logs = tempfile::tempdir().unwrap();
        let job: Name = "build".parse().unwrap();
        std::fs::write(top.path().join("report.xml"), "<r/>").unwrap();
        std::os::unix::fs::symlink("report.xml", top.path().join("link")).unwrap();
        let kept = keep_artifacts(top.path(), logs.path(), &job, &["report.xml".to_owned()]).unwrap();
        assert_eq!(
            (kept[0].bytes, std::fs::read(artifact_file(logs.path(), &job, "report.xml")).unwrap().len()),
            (4, 4)
        );
        for bad in ["../report.xml", "/etc/passwd", "link", "missing"] {
            assert!(keep_artifacts(top.path(), logs.path(), &job, &[bad.to_owned()]).is_err(), "{bad}");
        }
    }
}
