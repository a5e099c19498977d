//! `run`: jobs on the tree as it stands, dirty or not.
//!
//! The same machinery as an attempt's, without a claim: nothing is reserved, recorded or proven, and what a job leaves behind
//! counts for no subject. It takes the worktree's lock (C28), keeps a journal, so that it can be followed and stopped, and
//! reads the worktree's own `discern.toml`.

use std::collections::{BTreeMap, BTreeSet};

use super::attempt::{self, cores};
use super::candidate::refuse_inside_own_job;
use super::evaluate::{self, Evaluator};
use super::machine::{Ground, Machine, Parts, Work};
use super::no_answer::NoAnswer;
use super::requirements::{self, Detailed, Unmatched};
use super::run::{Run, Stopped, Worked};
use super::session::Session;
use super::stage::Stage as _;
use super::trunk::Comparison;
use super::waiting::{WORKTREE_WAIT_MS, Waited, Waiting};
use super::worktree_lock::{self, Occupant, Taken, WorktreeLock};
use crate::config::{self, Colour, Config};
use crate::document::{Cancelled, Candidate, Diagnostic, Refusal, RequirementReport, RunDocument, Source, Standing};
use crate::event::{Audience, Decision, PlannedRequirement, What};
use crate::evidence::subject::{self, Definition, Inputs, Platform, Salt, SubjectInput};
use crate::evidence::{LogRef, Place, RequirementKey, RequirementKind};
use crate::exit::Exit;
use crate::git::{Head, Repository};
use crate::id::{CommitId, Name, ObjectId, TreeId};
use crate::os::files;
use crate::os::random::Random as _;
use crate::os::signal::{Signal, Signals};
use crate::plan::{self, AfterFailure, Known, Plan, Schedule, Why};
use crate::store::StoreError;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// The jobs to run, with what they need; all, when none are named.
    pub names: Vec<Name>,
    /// Whether a failure keeps the rest from starting.
    pub after_failure: AfterFailure,
}

/// Runs jobs in the session's worktree.
///
/// # Errors
/// There is no worktree or no usable `discern.toml`; a name is unknown; the worktree can't be locked.
pub fn run(request: &Request, session: &mut Session<'_>, audience: &mut dyn Audience) -> Result<RunDocument, NoAnswer> {
    let repository = session.repository;
    refuse_inside_own_job(repository)?;
    let config = worktree_config(repository)?;
    let plan = plan_of(request, &config, session)?;
    // An unborn branch has no commit, and needs none.
    let head = repository.head().ok();
    let mut signals = Signals::install(&Signal::OWNER).ok();
    let lock = match take_worktree(session, head.as_ref(), signals.as_mut(), audience)? {
        Ok(lock) => lock,
        Err(document) => return Ok(*document),
    };
    let mut inner = Inner { request, session, audience, signals, head, config, plan };
    inner.carry_out(lock)
}

/// The configuration as it lies in the worktree, committed or not.
fn worktree_config(repository: &Repository) -> Result<Config, NoAnswer> {
    let path = repository.worktree()?.join(config::FILE);
    let bytes = files::read_bounded(&path, config::BYTES_MAX as u64).map_err(|error| {
        let message = format!("`{}` can't be read: {error}", config::FILE);
        let advice = "it has to be a file, of at most 1 MiB, that you may read";
        Refusal::new(Diagnostic::new("config-unreadable", message).at(config::FILE).advice(advice))
    })?;
    let Some(bytes) = bytes else {
        let message = format!("there is no `{}` here", config::FILE);
        let diagnostic = Diagnostic::new("config-missing", message).at(config::FILE).fix("git discern init");
        return Err(Refusal::new(diagnostic).into());
    };
    Ok(Config::parse(&bytes, config::FILE).map_err(|invalid| invalid.refusal(Colour::None))?)
}

/// The named jobs and everything that they need, all to be run.
fn plan_of(request: &Request, config: &Config, session: &Session<'_>) -> Result<(Plan, Details), Refusal> {
    if let Some(unknown) = request.names.iter().find(|name| config.job(name).is_none()) {
        let known = config.jobs.iter().map(|job| job.name.as_str());
        let diagnostic = if config.standard(unknown).is_some() {
            let message = format!("`{unknown}` is a standard, and no job");
            Diagnostic::new("unknown-name", message).fix(format!("git discern standards {unknown}"))
        } else {
            let message = config::names_nothing(unknown.as_str(), "job", "in the worktree's configuration", known);
            Diagnostic::new("unknown-name", message)
        };
        return Err(Refusal::new(diagnostic.at(config::FILE)));
    }
    let asked: BTreeSet<&Name> = request.names.iter().collect();
    let details: Vec<Detailed> = config
        .jobs
        .iter()
        .map(|job| detailed(job, config, asked.is_empty() || asked.contains(&job.name), session))
        .collect();
    let plan = plan::plan(
        details.iter().map(|detailed| detailed.requirement.clone()).collect(),
        &Known::nothing(Place::InPlace),
    );
    Ok((plan, requirements::by_key(details)))
}

type Details = BTreeMap<RequirementKey, Detailed>;

/// A job as the schedule needs it. Its subject says nothing, because the tree is as it is.
fn detailed(job: &config::Job, config: &Config, demanded: bool, session: &Session<'_>) -> Detailed {
    let input = SubjectInput {
        definition: Definition { source: subject::Source::Run(job.run.clone()), measure: None },
        tree: TreeId(ObjectId::null()),
        inputs: Inputs::WholeTree,
        on_disk: Vec::new(),
        needs: BTreeMap::new(),
        environment_mode: config.gate.environment,
        environment: BTreeMap::new(),
        toolchain: Vec::new(),
        platform: Platform::current(),
    };
    let nearest = session.ledger.nearest(RequirementKind::Job, &job.name).unwrap_or_default();
    let mut detailed = Detailed::job(job, input, demanded);
    detailed.requirement.expected_ms = nearest.receipts.first().map(|receipt| receipt.duration_ms);
    detailed
}

/// The worktree's lock, waited for ten seconds; after that, or a signal, the answer.
fn take_worktree(
    session: &Session<'_>,
    head: Option<&Head>,
    mut signals: Option<&mut Signals>,
    audience: &mut dyn Audience,
) -> Result<Result<WorktreeLock, Box<RunDocument>>, NoAnswer> {
    let mut waiting = Waiting::default();
    loop {
        let git_dir = session.repository.git_dir();
        let taken = WorktreeLock::try_take(git_dir);
        let taken = taken.map_err(StoreError::because(WorktreeLock::taking(git_dir)))?;
        let occupant = match taken {
            Taken::Held(lock) => return Ok(Ok(lock)),
            Taken::Busy(occupant) => occupant,
        };
        let pending = worktree_lock::pending(occupant, session.repository, head.and_then(|head| head.branch.clone()));
        match waiting.wait(&pending, WORKTREE_WAIT_MS, session.now(), signals.as_deref_mut(), audience) {
            Waited::AMoment => {}
            Waited::Signal(signal) => return Ok(Err(Box::new(stopped_early(&Stopped::Signal(signal))))),
            Waited::Enough => {
                let mut document = RunDocument::new("run", Exit::Pending);
                document.pending = Some(pending);
                return Ok(Err(Box::new(document)));
            }
        }
    }
}

struct Inner<'i, 'r> {
    request: &'i Request,
    session: &'i mut Session<'r>,
    audience: &'i mut dyn Audience,
    signals: Option<Signals>,
    head: Option<Head>,
    config: Config,
    plan: (Plan, Details),
}

impl Inner<'_, '_> {
    /// Runs the plan, from the journal to the answer.
    fn carry_out(&mut self, mut lock: WorktreeLock) -> Result<RunDocument, NoAnswer> {
        let top = self.session.repository.worktree()?.to_owned();
        let started_at = self.session.now().wall;
        let commit = self.head.as_ref().map(|head| head.commit);
        let journal = attempt::open_journal(self.session, ("run", None, commit), &top, started_at);
        let (journal, trouble) = match journal {
            Ok(journal) => (Some(journal), None),
            Err(error) => (None, Some(attempt::no_journal(self.session, &error))),
        };
        lock.describe(&Occupant {
            command: "run".to_owned(),
            pid: std::process::id(),
            since: started_at,
            operation: journal.as_ref().map(|journal| journal.handle().clone()),
            candidate: None,
        });
        let attempt = self.session.random().attempt(started_at);
        let candidate = self.candidate();
        let idle = self.idle_pathspecs();
        let (plan, details) = &self.plan;
        let session = &mut *self.session;
        let reporter = &mut *self.audience;
        let signals = self.signals.as_mut();
        let ground =
            Ground { repository: session.repository, place: Place::InPlace, lock, snapshot: None, keep: Vec::new() };
        let parts = Parts { session, reporter, journal, signals, ground, attempt, commit, top };
        let mut machine = Machine::new(parts).map_err(StoreError::because("make room for logs"))?;
        if let (Some(candidate), Some(head)) = (candidate, &self.head) {
            let summary = head.summary.clone();
            machine.tell(What::Began { command: "run".to_owned(), candidate, summary });
        }
        for text in trouble.into_iter().chain(idle) {
            machine.tell(What::Note { text });
        }
        machine.tell(What::Planned { requirements: as_event(plan) });
        machine.take_up(Work {
            config: self.config.clone(),
            details: details.clone(),
            order: plan.items.iter().map(|item| item.requirement.key.clone()).collect(),
            plan: plan.clone(),
            known: BTreeMap::new(),
            comparison: Comparison::default(),
        });
        let (worked, stopped) = work(&mut machine, self.request, &self.config, plan, details, commit);
        let mut document = answer(plan, details, &worked, stopped.as_ref(), machine.logs());
        // A temporary folder of logs goes with the machine.
        if machine.handle().is_none() {
            document.requirements.iter_mut().for_each(|report| report.log = None);
        }
        let duration_ms = machine.session.now().wall.millis_since(started_at).max(0).unsigned_abs();
        let (outcome, exit) = (document.outcome, document.exit.code());
        machine.tell(What::Ended { outcome, exit, duration_ms });
        Ok(document)
    }

    /// Pathspecs of what runs that select nothing, of the commit or of the tree as it stands: `done` would refuse them. What can't be
    /// looked at is not said.
    fn idle_pathspecs(&self) -> Vec<String> {
        let repository = self.session.repository;
        let runs = |name: &Name| self.plan.0.items.iter().any(|it| it.runs() && it.requirement.key.name == *name);
        let (Some(head), Ok(trees)) = (&self.head, repository.trees()) else { return Vec::new() };
        let unmatched = requirements::unmatched(&self.config, head.tree, &trees).unwrap_or_default();
        let is_idle = |it: &Unmatched<'_>| {
            let arguments = ["ls-files", "--cached", "--others", "--exclude-standard", "--", it.pathspec.as_str()];
            runs(it.of) && repository.git().ask(&arguments).is_ok_and(|listed| listed.is_empty())
        };
        let said = |it: Unmatched<'_>| {
            let place = it.place().map_or(String::new(), |place| format!(" ({place})"));
            let (pathspec, key) = (it.pathspec.as_str(), it.key);
            format!("`{pathspec}` in `{key}`{place} selects no file; `git discern done` refuses that")
        };
        unmatched.into_iter().filter(is_idle).map(said).collect()
    }

    /// `HEAD`, for the story; the tree as it stands may differ from it.
    fn candidate(&self) -> Option<Candidate> {
        let head = self.head.as_ref()?;
        let worktree = self.session.repository.worktree_name();
        Some(Candidate { commit: head.commit, tree: head.tree, branch: head.branch.clone(), worktree })
    }
}

fn work(
    machine: &mut Machine<'_, '_>,
    request: &Request,
    config: &Config,
    plan: &Plan,
    details: &Details,
    commit: Option<CommitId>,
) -> (Worked, Option<Stopped>) {
    let (handle, logs) = (machine.handle(), machine.logs().to_owned());
    let attempt = machine.attempt();
    let mut evaluator = Evaluator {
        // What it needs runs here as well, each time.
        left_over: &|_| BTreeSet::new(),
        details,
        attempt,
        commit: commit.unwrap_or(CommitId(ObjectId::null())),
        place: Place::InPlace,
        newest: &|_| None,
        handle,
        salt: &mut || Salt([0; 16]),
        log_path: &|log: &LogRef| Some(logs.join(&log.file).to_string_lossy().into_owned()),
    };
    let parallel = config.gate.parallel.map_or_else(cores, |it| it.get() as usize);
    let mut run = Run::without_claim(machine);
    let worked = run.work(Schedule::new(plan, request.after_failure), parallel, &mut evaluator);
    let stopped = run.stopped().cloned();
    (worked, stopped)
}

fn as_event(plan: &Plan) -> Vec<PlannedRequirement> {
    let items = plan.items.iter().filter(|item| item.runs());
    items
        .map(|item| {
            let why = match &item.decision {
                plan::Decision::Run(why @ Why::NeededBy(_)) => why.to_string(),
                _ => "asked for".to_owned(),
            };
            PlannedRequirement {
                kind: item.requirement.key.kind,
                name: item.requirement.key.name.clone(),
                command: item.requirement.command.clone(),
                decision: Decision::Run { why, despite: false },
                expected_ms: item.requirement.expected_ms,
            }
        })
        .collect()
}

/// The answer: every job that was to run, with how far it got.
fn answer(
    plan: &Plan,
    details: &Details,
    worked: &Worked,
    stopped: Option<&Stopped>,
    logs: &std::path::Path,
) -> RunDocument {
    let reports: Vec<RequirementReport> =
        plan.items.iter().filter(|item| item.runs()).map(|item| report(item, details, worked, logs)).collect();
    let passes = reports.iter().all(|report| report.verdict == Standing::Passed);
    let verdict = if passes { Exit::Success } else { Exit::Failed };
    let mut document = stopped.map_or_else(|| RunDocument::new("run", verdict), stopped_early);
    document.requirements = reports;
    document
}

/// The answer of a run that ended before its end.
fn stopped_early(stopped: &Stopped) -> RunDocument {
    let mut document = RunDocument::new("run", stopped.exit());
    let reason = stopped.reason().word().to_owned();
    document.cancelled = Some(Cancelled { by: None, operation: None, worktree: None, reason });
    if let Stopped::Store(problem) | Stopped::Internal(problem) = stopped {
        document.diagnostics.push(Diagnostic::new("run-broken", problem.clone()));
    }
    document
}

fn report(item: &plan::PlanItem, details: &Details, worked: &Worked, logs: &std::path::Path) -> RequirementReport {
    let key = &item.requirement.key;
    let obtained = worked.receipts.iter().rev().find(|receipt| receipt.key() == *key);
    let mut report = match (details.get(key), obtained) {
        (Some(detailed), Some(receipt)) => {
            let log = receipt.log.as_ref().map(|log| logs.join(&log.file).to_string_lossy().into_owned());
            evaluate::of_receipt(detailed, receipt, Source::Ran, log)
        }
        _ => evaluate::unrun(key, item.requirement.command.clone(), None),
    };
    if report.verdict == Standing::Unrun && worked.cut_short.contains(key) {
        report.verdict = Standing::Cancelled;
    }
    // The tree as it stands is no subject that anybody could look up.
    report.subject = None;
    report
}
