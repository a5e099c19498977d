//! `git discern verify`: exit 0 if each commit is proven under its own committed configuration.

use std::collections::HashSet;
use std::io::Read as _;

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::completions::Offered;
use super::{Global, here};
use crate::document::{CommitStanding, CommitsDocument, Diagnostic, Refusal};
use crate::engine::session::Session;
use crate::engine::verifier::{Verifier, VerifierError};
use crate::exit::Exit;
use crate::git::Repository;
use crate::git::revision::Listed;
use crate::id::{CommitId, ObjectId};
use crate::os::clock::{Clock as _, SystemClock};
use crate::report::line::Line;
use crate::report::{Detail, commits};
use crate::time::Timestamp;

/// More bytes than this are not read from standard input.
const INPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What its help ends with.
const EXAMPLES: &str = "\
Examples:
  git discern verify                            HEAD
  git discern verify main..topic                every commit of a range
  git rev-list topic | git discern verify --stdin";

/// The arguments of `git discern verify`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Verify {
    /// Commits or ranges; HEAD unless given
    #[arg(value_name = "REV", add = ArgValueCandidates::new(Offered::Revisions))]
    pub revisions: Vec<String>,
    /// Read commits from standard input, one to a line
    #[arg(long, conflicts_with = "revisions")]
    pub stdin: bool,
}

/// Looks each commit up, and answers with the worst of them.
pub fn run(global: &Global, args: &Verify) -> anyhow::Result<Exit> {
    let repository = here::repository()?;
    let mut session = Session::reading(&repository);
    repository.refs().remember(&["refs/"])?;
    let words = if args.stdin { from_stdin()? } else { args.revisions.clone() };
    let words = if words.is_empty() && !args.stdin { vec!["HEAD".to_owned()] } else { words };
    let mut reports = Vec::new();
    // All records are few; before each of many commits is known they are read, so that the first are answered while git lists the last.
    if words.iter().any(|word| word.contains("..")) {
        let mut verifier = Verifier::of_any(&mut session).map_err(cause)?;
        each_asked_for(&repository, &words, |commit| reports.push(verifier.report_on(commit)))?;
    } else {
        let mut commits = Vec::new();
        each_asked_for(&repository, &words, |commit| commits.push(commit))?;
        let ids: Vec<CommitId> = commits.iter().map(|commit| commit.id).collect();
        let mut verifier = Verifier::of(&mut session, &ids).map_err(cause)?;
        reports.extend(commits.into_iter().map(|commit| verifier.report_on(commit)));
    }
    let has = |standing: CommitStanding| reports.iter().any(|report| report.standing == standing);
    let exit = match () {
        () if has(CommitStanding::Unknown) => Exit::Store,
        () if reports.iter().all(|report| report.standing == CommitStanding::Proven) => Exit::Success,
        () => Exit::Failed,
    };
    let document = CommitsDocument::new("verify", exit, reports);
    let now = SystemClock.now().wall;
    global.reporter().answer(&document, |document| page(document, global.settings.detail, now));
    Ok(exit)
}

/// The cause itself, for which the edge has a sentence.
pub(super) fn cause(error: VerifierError) -> anyhow::Error {
    match error {
        VerifierError::Git(error) => error.into(),
        VerifierError::Store(error) => error.into(),
    }
}

/// The commits that `words` name, each once, in the order in which they were named.
fn each_asked_for(repository: &Repository, words: &[String], mut take: impl FnMut(Listed)) -> anyhow::Result<()> {
    let mut seen = HashSet::new();
    let mut take = |commit: Listed| {
        if seen.insert(commit.id) {
            take(commit);
        }
    };
    let objects = repository.objects()?;
    for word in words {
        // A full id is read once, not to see what it is and then again.
        if let Ok(id) = word.parse::<ObjectId>()
            && word.len() == repository.object_format().hex_length()
            && let Some(commit) = objects.commit_if_it_is_one(id)?
        {
            take(commit.into());
        } else {
            repository.each_commit(word, &mut take)?;
        }
    }
    Ok(())
}

fn from_stdin() -> anyhow::Result<Vec<String>> {
    let unreadable = |why: String| Refusal::new(Diagnostic::new("unreadable-input", format!("standard input {why}")));
    let mut text = String::new();
    let read = std::io::stdin().take(INPUT_BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(|error| unreadable(format!("can't be read: {error}")))?;
    if text.len() as u64 > INPUT_BYTES_MAX {
        return Err(unreadable(format!("has more than {INPUT_BYTES_MAX} bytes")).into());
    }
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// One line for each commit; of those that are proven none, where little is to be said.
fn page(document: &CommitsDocument, detail: Detail, now: Timestamp) -> Vec<Line> {
    let mut lines = Vec::new();
    for report in &document.commits {
        if report.standing != CommitStanding::Proven || detail > Detail::Quiet {
            lines.push(commits::line_with_reason(report));
            lines.extend(commits::departures(report));
            lines.extend(commits::running(report, now));
        }
    }
    if document.commits.is_empty() && detail > Detail::Quiet {
        lines.push(Line::text("no commit to verify"));
    }
    lines
}
