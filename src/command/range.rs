//! `git discern done main..topic`: one run after the other in this process or, with `--parallel`, several at a time, each a
//! process of its own, because a run is one thread with one loop that owns its process's signals (C14).
//!
//! Each of them is what `git discern done COMMIT` is: commits that are proven already cost a look-up, and what a run does is
//! recorded whatever becomes of this process. If it is killed, those that run go on to their ends: each owns its claim (C25).

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::num::NonZeroU32;
use std::path::Path;
use std::process::Child;

use super::ci::Ci;
use super::{Global, done, here, refusal};
use crate::document::{Candidate, RangeDocument, RunDocument};
use crate::engine::candidate::take_candidate;
use crate::engine::gate::{self, Onward};
use crate::engine::range::{Order, Walk};
use crate::engine::request::Request;
use crate::engine::session::Session;
use crate::engine::stage::EndingSignal;
use crate::exit::Exit;
use crate::git::Repository;
use crate::id::CommitId;
use crate::os::process;
use crate::os::signal::{Signal, Signals};
use crate::report::line::{Line, Role};
use crate::report::{Answer, Detail, Reporter, range};

/// A run's answer may be so long, in bytes.
const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How often the runs are looked at where no signal says that one ended, in milliseconds.
const LOOK_MS: u64 = 250;

/// What is asked for.
#[derive(Debug)]
pub struct Asked<'a> {
    /// As it was named.
    pub range: &'a str,
    /// What is asked of each commit.
    pub request: Request,
    /// The same as arguments of another `done`.
    pub arguments: Vec<String>,
    /// The way through.
    pub order: Order,
    /// How many commits at a time.
    pub parallel: NonZeroU32,
    /// Where JUnit XML of all of them is asked for.
    pub junit: Option<&'a Path>,
}

/// Proves the commits of a range, and answers with the worst of them.
pub fn run(global: &Global, asked: &Asked<'_>) -> anyhow::Result<Exit> {
    let repository = here::repository()?;
    let ci = Ci::look(asked.junit)?;
    let commits = repository.commits(asked.range).map_err(|error| ci.refused(error.into()))?;
    let commits: Vec<CommitId> = commits.into_iter().map(|commit| commit.id).collect();
    // Held for as long as this process lives: a signal between two runs ends the range as well.
    let signals = Signals::install(&Signal::OWNER)?;
    let answers = vec![None; commits.len()];
    let walk = Walk::new(commits.len(), asked.order);
    let mut range = Range { global, asked, repository: &repository, ci, commits, walk, answers, signals };
    let parallel = range.parallel();
    if parallel > 1 {
        range.side_by_side(parallel)?
    } else {
        range.one_by_one()
    }
    range.answer()
}

struct Range<'r> {
    global: &'r Global,
    asked: &'r Asked<'r>,
    repository: &'r Repository,
    ci: Ci,
    /// Oldest first.
    commits: Vec<CommitId>,
    walk: Walk,
    answers: Vec<Option<RunDocument>>,
    signals: Signals,
}

/// A run in a process of its own.
struct Apart {
    at: usize,
    child: Child,
    /// What it prints; a file without a name, so that nothing stays if this process is killed.
    answer: File,
}

impl Range<'_> {
    /// How many runs at a time: no more than there are commits and kept checkouts.
    fn parallel(&self) -> usize {
        let asked = self.asked.parallel.get() as usize;
        let newest = self.commits.last().and_then(|&tip| take_candidate(self.repository, Some(tip)).ok());
        let pool = newest.map_or(asked, |subject| subject.config.gate.pool.get() as usize);
        if self.asked.order == Order::Bisect { 1 } else { asked.min(pool).min(self.commits.len()) }
    }

    fn one_by_one(&mut self) {
        let mut session = Session::new(self.repository);
        let mut onward = Onward::default();
        while let Some(at) = self.walk.next_commit() {
            onward.next = self.walk.foreseen().map(|at| self.commits[at]);
            let request = Request { commit: Some(self.commits[at]), ..self.asked.request.clone() };
            let mut reporter = self.global.reporter();
            let document = gate::run_onward(&request, &mut session, &mut reporter, &mut onward);
            let document = document.unwrap_or_else(|error| self.refused(at, &done::cause(error)));
            self.take(at, document, &mut reporter);
            if self.signals.drain().into_iter().any(|signal| EndingSignal::of(signal).is_some()) {
                self.walk.stop();
            }
        }
    }

    /// Starts processes and takes in their answers. A signal is handed on to each; they settle before they end (C18).
    fn side_by_side(&mut self, parallel: usize) -> anyhow::Result<()> {
        let mut apart: Vec<Apart> = Vec::new();
        loop {
            while apart.len() < parallel
                && let Some(at) = self.walk.next_commit()
            {
                apart.push(self.start(at)?);
            }
            if apart.is_empty() {
                return Ok(());
            }
            process::wait_any(&[self.signals.fd()], LOOK_MS);
            for signal in self.signals.drain().into_iter().filter(|&signal| EndingSignal::of(signal).is_some()) {
                self.walk.stop();
                apart.iter().for_each(|run| process::signal(&run.child, signal));
            }
            for at in (0..apart.len()).rev() {
                if let Some(status) = apart[at].child.try_wait()? {
                    let Apart { at, answer, .. } = apart.remove(at);
                    let code = status.code().and_then(|code| u8::try_from(code).ok()).map(Exit::from);
                    let document = self.read(at, answer, code.unwrap_or(Exit::Internal));
                    self.take(at, document, &mut self.global.reporter());
                }
            }
        }
    }

    fn start(&self, at: usize) -> anyhow::Result<Apart> {
        let answer = tempfile::tempfile()?;
        let commit = self.commits[at].to_string();
        let words = ["--json", "done", &commit].into_iter().map(str::to_owned);
        let words: Vec<String> = words.chain(self.asked.arguments.iter().cloned()).collect();
        if self.global.settings.detail > Detail::Quiet {
            let begins = Line::new().with(Role::Plain, format!("begins    {}", self.commits[at].short()));
            self.global.reporter().tell(&[begins]);
        }
        let child = process::start_self(&words, answer.try_clone()?)?;
        Ok(Apart { at, child, answer })
    }

    fn read(&self, at: usize, mut answer: File, exit: Exit) -> RunDocument {
        let mut bytes = Vec::new();
        let read = answer.rewind().and_then(|()| answer.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes));
        let document = read.ok().and_then(|_| serde_json::from_slice::<RunDocument>(&bytes).ok());
        let document = document.unwrap_or_else(|| RunDocument::new("done", exit));
        self.named(at, document)
    }

    /// The answer where there is none for a commit.
    fn refused(&self, at: usize, error: &anyhow::Error) -> RunDocument {
        let refusal = refusal(error);
        let document = RunDocument::new("done", refusal.exit);
        self.named(at, RunDocument { diagnostics: refusal.diagnostics, ..document })
    }

    /// `document`, saying which commit it is about.
    fn named(&self, at: usize, document: RunDocument) -> RunDocument {
        let head = self.repository.detached(self.commits[at]).ok();
        let worktree = self.repository.worktree_name();
        let candidate = head.map(|it| Candidate { commit: it.commit, tree: it.tree, branch: None, worktree });
        RunDocument { candidate: document.candidate.clone().or(candidate), ..document }
    }

    /// Takes in an answer, and shows it by itself where people read.
    fn take(&mut self, at: usize, mut document: RunDocument, reporter: &mut Reporter) {
        let short = self.commits[at].short();
        document.again = Some(format!("git discern done {short} --rerun"));
        for diagnostic in &mut document.diagnostics {
            diagnostic.message = format!("{short}: {}", diagnostic.message);
        }
        if self.global.settings.answer == Answer::Text {
            reporter.finish(&document);
        }
        self.ci.annotate(&document, self.repository, reporter);
        self.walk.end(at, document.exit);
        self.answers[at] = Some(document);
    }

    fn answer(self) -> anyhow::Result<Exit> {
        let exit = self.walk.worst();
        let mut document = RangeDocument::new(self.asked.range, exit);
        document.first_failed = self.walk.first_failed().map(|at| self.commits[at]);
        let unrun = self.commits.iter().zip(&self.answers).filter(|(_, answer)| answer.is_none());
        document.unrun = unrun.map(|(commit, _)| *commit).collect();
        document.commits = self.answers.into_iter().flatten().collect();
        self.global.reporter().answer(&document, range::page);
        self.ci.range_finished(&document.commits)?;
        Ok(exit)
    }
}
