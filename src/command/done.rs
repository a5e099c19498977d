//! `git discern done`: proves a commit.

use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::engine::ArgValueCandidates;
use std::num::NonZeroU32;

use super::arguments::{at_least_one, seconds};
use super::ci::Ci;
use super::completions::Offered;
use super::{Global, range};
use crate::claim::record::Purpose;
use crate::document::{Diagnostic, Refusal};
use crate::engine::candidate::committed_config;
use crate::engine::gate;
use crate::engine::no_answer::NoAnswer;
use crate::engine::range::Order;
use crate::engine::request::Request;
use crate::engine::requirements::Chosen;
use crate::engine::retention;
use crate::engine::session::Session;
use crate::evidence::RequirementKind;
use crate::exit::Exit;
use crate::id::{CommitId, Name};
use crate::plan::Rerun;

/// What its help ends with.
const EXAMPLES: &str = "\
Examples:
  git discern done                       prove HEAD
  git discern done --rerun test          with a verdict of `test` that is new
  git discern done --wait=600            after the other run, ten minutes at most
  git discern done main..topic --bisect  find the first commit that fails
  git discern done --isolated            HEAD, while the worktree is being edited";

/// The arguments of `git discern done`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Done {
    /// The commit to prove; HEAD unless given
    #[arg(value_name = "REV|RANGE", add = ArgValueCandidates::new(Offered::Revisions))]
    pub revision: Option<String>,
    /// Run again instead of reusing verdicts: everything, or the jobs named
    #[arg(long, value_name = "JOB", num_args = 0.., add = ArgValueCandidates::new(Offered::Requirements))]
    pub rerun: Option<Vec<String>>,
    /// Wait until the claim is free, for at most SECS seconds, and then go on
    #[arg(long, value_name = "SECS", num_args = 0..=1, require_equals = true, value_parser = seconds)]
    pub wait: Option<Option<u64>>,
    /// Run in a kept checkout that holds exactly the commit, whatever lies in the worktree; always so with REV or RANGE
    #[arg(long)]
    pub isolated: bool,
    /// Prove so many commits of a range at a time
    #[arg(
        long,
        value_name = "N",
        requires = "revision",
        conflicts_with = "bisect",
        allow_negative_numbers = true,
        value_parser = at_least_one
    )]
    pub parallel: Option<NonZeroU32>,
    /// Prove only as many commits of a range as it takes to find the first that fails
    #[arg(long, requires = "revision")]
    pub bisect: bool,
    /// After a failure, still start whatever does not need what failed
    #[arg(short, long)]
    pub keep_going: bool,
    /// Also write the result to FILE, as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// See the module's documentation.
pub fn run(global: &Global, args: &Done) -> anyhow::Result<Exit> {
    if let Some(range) = args.revision.as_deref().filter(|revision| revision.contains("..")) {
        return prove_range(global, args, range);
    }
    if let Some(names) = &args.rerun {
        no_revision_among(names)?;
    }
    let commit = match &args.revision {
        Some(revision) => Some(commit(revision, args)?),
        None => None,
    };
    let request = Request { commit, ..request(args)? };
    carry_out(global, &request, args.junit.as_deref())
}

/// The commit that `revision` names.
fn commit(revision: &str, args: &Done) -> anyhow::Result<CommitId> {
    let repository = super::here::repository()?;
    let found = super::here::commit(&repository, revision, |meant| match meant.kind {
        RequirementKind::Job => format!("git discern run {}", meant.name),
        RequirementKind::Standard => format!("git discern standards {}", meant.name),
    });
    // `--wait 5`: its value is optional, and so has to be attached.
    match found {
        Err(_) if args.wait == Some(None) && revision.parse::<u64>().is_ok() => {
            let message = format!("`{revision}` does not name a commit; seconds are given with an equals sign");
            let fix = format!("git discern done --wait={revision}");
            Err(Refusal::new(Diagnostic::new("no-such-revision", message).fix(fix)).into())
        }
        found => found,
    }
}

/// What `args` ask of one commit.
fn request(args: &Done) -> anyhow::Result<Request> {
    Ok(Request {
        purpose: Purpose::Done,
        chosen: Chosen::All,
        rerun: rerun(args.rerun.as_deref())?,
        wait: args.wait,
        keep_going: args.keep_going,
        commit: None,
        isolated: args.isolated,
    })
}

fn prove_range(global: &Global, args: &Done, range: &str) -> anyhow::Result<Exit> {
    let mut arguments: Vec<String> = Vec::new();
    arguments.extend(args.keep_going.then(|| "--keep-going".to_owned()));
    arguments.extend(args.wait.map(|wait| wait.map_or("--wait".to_owned(), |seconds| format!("--wait={seconds}"))));
    if let Some(names) = &args.rerun {
        arguments.push("--rerun".to_owned());
        arguments.extend(names.iter().cloned());
    }
    let order = if args.bisect { Order::Bisect } else { Order::OldestFirst };
    let parallel = args.parallel.unwrap_or(NonZeroU32::MIN);
    let junit = args.junit.as_deref();
    range::run(global, &range::Asked { range, request: request(args)?, arguments, order, parallel, junit })
}

/// Runs the gate on the `HEAD` of the worktree around the current directory, and answers.
pub fn carry_out(global: &Global, request: &Request, junit: Option<&Path>) -> anyhow::Result<Exit> {
    let repository = super::here::repository()?;
    let ci = Ci::look(junit)?;
    let mut session = Session::new(&repository);
    let mut reporter = global.reporter();
    let document = gate::run(request, &mut session, &mut reporter).map_err(|error| ci.refused(cause(error)))?;
    reporter.finish(&document);
    ci.finished(&document, &repository, &mut reporter)?;
    if document.attempt.as_ref().is_some_and(|attempt| attempt.operation.is_some()) {
        retention::daily(&mut session);
    }
    Ok(document.exit)
}

/// The cause itself, for which the edge has a sentence.
pub(super) fn cause(error: NoAnswer) -> anyhow::Error {
    match error {
        NoAnswer::Refused(refusal) => refusal.into(),
        NoAnswer::Git(error) => error.into(),
        NoAnswer::Store(error) => error.into(),
    }
}

/// Refuses a revision that `--rerun`, which takes every word after it, would take for the name of a job.
fn no_revision_among(names: &[String]) -> anyhow::Result<()> {
    let repository = super::here::repository()?;
    let config = repository.head().ok().and_then(|head| committed_config(&repository, &head).ok());
    let is_known = |name: &String| match (name.parse::<Name>(), &config) {
        (Err(_), _) => false,
        (Ok(_), None) => true,
        (Ok(name), Some(config)) => config.job(&name).is_some() || config.standard(&name).is_some(),
    };
    let Some(revision) = names.iter().find(|name| !is_known(name) && repository.history(name).is_ok()) else {
        return Ok(());
    };
    let others = names.iter().filter(|name| *name != revision).map(String::as_str).collect::<Vec<_>>().join(" ");
    let message = format!("`{revision}` is a revision, and `--rerun` takes what follows it for names of jobs");
    let fix = format!("git discern done {revision} --rerun {others}");
    Err(Refusal::new(Diagnostic::new("unknown-name", message).fix(fix.trim_end())).into())
}

/// What `--rerun` selects: everything, unless it names some.
fn rerun(names: Option<&[String]>) -> anyhow::Result<Rerun> {
    match names {
        None => Ok(Rerun::None),
        Some([]) => Ok(Rerun::All),
        Some(names) => Ok(Rerun::Named(names.iter().map(|name| parse_name(name)).collect::<Result<_, _>>()?)),
    }
}

/// The name of a job or standard, as given on the command line.
pub fn parse_name(text: &str) -> Result<Name, Refusal> {
    text.parse().map_err(|error| Refusal::new(Diagnostic::new("unknown-name", format!("{error}"))))
}
