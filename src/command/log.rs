//! `git discern log`: commits with proven, failed, flaky, running or none.

use std::ops::ControlFlow;

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::completions::Offered;
use super::{Global, here, verify};
use crate::document::{CommitReport, CommitsDocument};
use crate::engine::session::Session;
use crate::engine::verifier::Verifier;
use crate::exit::Exit;
use crate::git::Repository;
use crate::os::environment;
use crate::os::pager::{self, Pager};
use crate::os::terminal::Standard;
use crate::report::line::Line;
use crate::report::{Answer, Reporter, Stream, Streams, commits};

/// So many lines are written at a time.
const LINES_AT_A_TIME: usize = 64;

/// What its help ends with.
const EXAMPLES: &str = "\
Examples:
  git discern log               the history of HEAD
  git discern log --flaky       only commits on which something wavered";

/// The arguments of `git discern log`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Log {
    /// The commits; the history of HEAD unless given
    #[arg(value_name = "RANGE", add = ArgValueCandidates::new(Offered::Revisions))]
    pub range: Option<String>,
    /// Only commits with flaky verdicts, with how often
    #[arg(long)]
    pub flaky: bool,
}

/// Walks the history as git does and says of each commit where it stands, while git still walks.
pub fn run(global: &Global, args: &Log) -> anyhow::Result<Exit> {
    let repository = here::repository()?;
    repository.refs().remember(&["refs/"])?;
    let history = repository.history(args.range.as_deref().unwrap_or("HEAD"))?;
    let mut session = Session::reading(&repository);
    let verifier = Verifier::of_any(&mut session).map_err(verify::cause)?;
    if global.settings.answer == Answer::Json {
        let mut reports = Vec::new();
        walk(verifier, &history, args.flaky, |report| {
            reports.push(report);
            ControlFlow::Continue(())
        })?;
        let document = CommitsDocument::new("log", Exit::Success, reports);
        global.reporter().answer(&document, |_| Vec::new());
        return Ok(Exit::Success);
    }
    let (pager, mut reporter) = paged(global, &repository);
    let shown = show(verifier, &history, args.flaky, &mut reporter);
    drop(reporter);
    if let Some(pager) = pager {
        pager.wait();
    }
    shown.map(|()| Exit::Success)
}

fn show(verifier: Verifier<'_, '_>, history: &str, flaky: bool, reporter: &mut Reporter) -> anyhow::Result<()> {
    let mut lines: Vec<Line> = Vec::new();
    let mut is_empty = true;
    walk(verifier, history, flaky, |report| {
        is_empty = false;
        lines.push(commits::line(&report));
        if lines.len() < LINES_AT_A_TIME || reporter.lines(&std::mem::take(&mut lines)) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    if is_empty {
        lines.push(Line::text(if flaky { "no commit with a flaky verdict" } else { "no commit" }));
    }
    reporter.lines(&lines);
    Ok(())
}

/// Hands the report of each commit of `history` to `take`, newest first, until that says to stop.
fn walk(
    mut verifier: Verifier<'_, '_>,
    history: &str,
    only_flaky: bool,
    mut take: impl FnMut(CommitReport) -> ControlFlow<()>,
) -> anyhow::Result<()> {
    let repository = verifier.repository();
    repository.each_back(history, |commit| {
        let mut report = verifier.report_on(commit);
        if only_flaky && report.flaky.is_empty() {
            return ControlFlow::Continue(());
        }
        if only_flaky {
            verifier.count(&mut report);
        }
        take(report)
    })?;
    Ok(())
}

/// A reporter whose answer goes through the user's pager where that is due.
fn paged(global: &Global, repository: &Repository) -> (Option<Pager>, Reporter) {
    let started = Standard::Output.is_terminal().then(|| {
        let configured = || {
            let asked = repository.git().run(&["config", "--get", "core.pager"]).ok()?;
            asked.status.success().then(|| String::from_utf8_lossy(&asked.stdout).trim_end().to_owned())
        };
        let command = pager::chosen(environment::variable, configured)?;
        // Without it the answer is as good, only longer than the window.
        Pager::start(&command, environment::variable).ok()
    });
    match started.flatten() {
        Some((pager, input)) => {
            let output = Stream::new(input, || Standard::Output.size());
            (Some(pager), Reporter::new(global.settings, Streams { output, error: Stream::standard(Standard::Error) }))
        }
        None => (None, global.reporter()),
    }
}
