//! The story of `done` and `standards`, in the order in which a run lives.
//!
//! 1. Take the candidate, refuse what can't be one. 2. Answer from its newest outcome. 3. Pending, if its claim is live.
//! 4. Recovery, repository-wide. 5. The worktree's lock. 6. Journal and write probe. 7. Reserve, plan, bind. 8. The loop.
//! 9. The last tree check, the Proof, settlement. 10. Absorb and report. Nothing is written before 4.

use super::attempt::{self, Attempted, Setup};
use super::candidate::{Subject, check_clean, clean, refuse_inside_own_job, take_candidate};
use super::known;
use super::machine::Ground;
use super::no_answer::{NoAnswer, unreadable};
use super::pool::{Ahead, Pool};
use super::recovery::{self, Finding, Mode};
use super::request::Request;
use super::run::Stopped;
use super::session::Session;
use super::trunk::{self, Comparison};
use super::waiting::{WORKTREE_WAIT_MS, Waited, Waiting};
use super::worktree_lock::{self, Occupant, Taken, WorktreeLock};
use crate::claim::record::Purpose;
use crate::config::{self, Config, Workspace};
use crate::document::{Diagnostic, LOOSER, Pending, Refusal, RunDocument};
use crate::event::{Audience, Event, What};
use crate::evidence::Place;
use crate::exit::Exit;
use crate::git::{self, Head, Snapshot};
use crate::id::{AttemptId, CommitId};
use crate::os::hooks;
use crate::os::random::Random as _;
use crate::os::signal::{Signal, Signals};
use crate::plan::Rerun;
use crate::standard::Looser;
use crate::store::StoreError;
use crate::time::Timestamp;

/// What comes after a run, and the kept checkout that is on its way there.
#[derive(Debug, Default)]
pub struct Onward {
    /// The commit that will be proven next, as far as that is known.
    pub next: Option<CommitId>,
    place: Option<LockedPlace>,
}

/// Carries out `request`, on the `HEAD` of the session's worktree unless it names a commit.
///
/// # Errors
/// What can't be a candidate is refused; the repository or the store can't be read or written.
pub fn run(request: &Request, session: &mut Session<'_>, reporter: &mut dyn Audience) -> Result<RunDocument, NoAnswer> {
    run_onward(request, session, reporter, &mut Onward::default())
}

/// As [`run`], where more is to come.
///
/// # Errors
/// As there.
pub fn run_onward(
    request: &Request,
    session: &mut Session<'_>,
    reporter: &mut dyn Audience,
    onward: &mut Onward,
) -> Result<RunDocument, NoAnswer> {
    let document = answer(request, session, reporter, onward)?;
    let elsewhere = request.isolated || request.commit.is_some();
    Ok(RunDocument { again: elsewhere.then(|| format!("{} --rerun", request.again())), ..document })
}

fn answer(
    request: &Request,
    session: &mut Session<'_>,
    reporter: &mut dyn Audience,
    onward: &mut Onward,
) -> Result<RunDocument, NoAnswer> {
    let repository = session.repository;
    refuse_inside_own_job(repository)?;
    let asked_isolated = request.isolated || request.commit.is_some();
    if !asked_isolated {
        repository.worktree()?;
    }
    let answers = request.purpose == Purpose::Done && request.rerun == Rerun::None;
    // Nothing takes longer than git's look at the worktree: it works while everything else is looked up.
    let look = (!asked_isolated).then(|| repository.begin_to_look(git::Untracked::Refuse)).transpose()?;
    if answers {
        repository.refs().remember(&["refs/discern/"])?;
    }
    let mut subject = take_candidate(repository, request.commit)?;
    let isolated = asked_isolated || subject.config.gate.workspace == Workspace::Isolated;
    let look = look.filter(|_| !isolated);
    if answers {
        let answer = standing_answer(request, session, &subject)?;
        repository.refs().forget();
        if let Some(document) = answer {
            if !isolated {
                clean(repository.cleanliness_now(look, &subject.head, subject.config.gate.untracked)?)?;
            }
            return Ok(RunDocument { candidate: Some(subject.candidate), ..document });
        }
    }
    let comparison = trunk::compare(repository, subject.head.commit, &subject.config);
    let (snapshot, pool) = match isolated {
        true => (None, Some(Pool::new(repository, &subject.config.gate)?)),
        false => (Some(check_clean(repository, look, &subject)?), None),
    };
    subject.comparison = comparison?;
    if !subject.comparison.looser.is_empty() {
        return Ok(RunDocument { candidate: Some(subject.candidate), ..looser(request, &subject.comparison) });
    }
    check_chosen(request, &subject.config)?;
    let mut gate = Gate {
        request,
        session,
        reporter,
        subject,
        pool,
        onward,
        began: None,
        waiting: Waiting::default(),
        signals: None,
    };
    let document = gate.wait_and_run(snapshot)?;
    Ok(RunDocument { candidate: Some(gate.subject.candidate), ..document })
}

struct Gate<'g, 'r> {
    request: &'g Request,
    session: &'g mut Session<'r>,
    reporter: &'g mut dyn Audience,
    subject: Subject,
    /// The kept checkouts, where jobs run in one.
    pool: Option<Pool<'r>>,
    onward: &'g mut Onward,
    /// The attempt that this run will be, once it has begun to act.
    began: Option<AttemptId>,
    /// Its waiting for other runs, if it waits.
    waiting: Waiting,
    /// Caught from the beginning of the story on: a signal ends a run that waits as it ends one that works.
    signals: Option<Signals>,
}

/// What keeps a run from reserving.
enum Obstacle {
    /// The candidate's claim is live.
    Claim(Box<Pending>),
    /// Another run holds the worktree.
    Worktree(Box<Pending>),
}

/// Where the jobs will run, as this run alone may until it drops the lock.
#[derive(Debug)]
struct LockedPlace {
    /// The number of the kept checkout; none for the worktree itself.
    checkout: Option<u32>,
    /// Where that is going already.
    ahead: Option<Ahead>,
    /// The last to be dropped: until then nobody else moves it.
    lock: WorktreeLock,
}

impl Gate<'_, '_> {
    fn wait_and_run(&mut self, mut snapshot: Option<Snapshot>) -> Result<RunDocument, NoAnswer> {
        let since_ms = self.session.now().monotonic_ms;
        loop {
            let obstacle = match self.clear_the_way()? {
                Ok(place) => {
                    // Whatever happened while this run waited, it starts from what is there now.
                    if self.waiting.has_begun() && self.pool.is_none() {
                        self.subject_is_as_it_was()?;
                        snapshot = Some(check_clean(self.session.repository, None, &self.subject)?);
                    }
                    if let Some(answer) = self.answer_of_another()? {
                        return Ok(answer);
                    }
                    if let Attempted::Over(document) = self.attempt(place, snapshot.take())? {
                        return Ok(*document);
                    }
                    // Somebody else reserved in the same instant.
                    self.waiting.begin(since_ms);
                    continue;
                }
                Err(obstacle) => obstacle,
            };
            let (pending, limit_ms) = match (obstacle, self.request.wait) {
                (Obstacle::Claim(pending), None) => (pending, 0),
                (Obstacle::Worktree(pending), None) => (pending, WORKTREE_WAIT_MS),
                (Obstacle::Claim(pending) | Obstacle::Worktree(pending), Some(seconds)) => {
                    (pending, seconds.map_or(u64::MAX, |seconds| seconds.saturating_mul(1000)))
                }
            };
            let now = self.session.now();
            match self.waiting.wait(&pending, limit_ms, now, self.signals.as_mut(), self.reporter) {
                Waited::AMoment => {}
                Waited::Signal(signal) => {
                    return Ok(attempt::cancelled(self.request, &Stopped::Signal(signal), None));
                }
                Waited::Enough => {
                    let mut document = RunDocument::new(self.request.command(), Exit::Pending);
                    document.pending = Some(*pending);
                    return Ok(document);
                }
            }
            if let Some(answer) = self.answer_of_another()? {
                return Ok(answer);
            }
        }
    }

    /// Recovery, then the worktree's lock; or what is in the way. The candidate's own claim is looked at first, so that a live
    /// one is answered at once and nothing is written. Who reserves in between is met by the reservation.
    fn clear_the_way(&mut self) -> Result<Result<LockedPlace, Obstacle>, NoAnswer> {
        if let Some(pending) = self.live_claim()? {
            return Ok(Err(Obstacle::Claim(Box::new(pending))));
        }
        self.recover()?;
        let place = match self.take_place()? {
            Ok(place) => place,
            Err(occupant) => {
                let branch = self.subject.candidate.branch.clone();
                let pending = worktree_lock::pending(occupant, self.session.repository, branch);
                let pending = Pending { checkouts: self.pool.as_ref().map(Pool::size), ..pending };
                return Ok(Err(Obstacle::Worktree(Box::new(pending))));
            }
        };
        hooks::at("worktree locked");
        Ok(Ok(place))
    }

    /// The lock of the place where jobs will run, or who has it, as far as that is known.
    fn take_place(&mut self) -> Result<Result<LockedPlace, Option<Occupant>>, StoreError> {
        if let Some(pool) = &self.pool {
            if let Some(place) =
                self.onward.place.take().filter(|place| place.checkout.is_some_and(|it| it <= pool.size()))
            {
                return Ok(Ok(place));
            }
            let taken = pool.try_take()?;
            return Ok(taken.map(|(number, lock)| LockedPlace { checkout: Some(number), ahead: None, lock }));
        }
        let git_dir = self.session.repository.git_dir();
        let taken = WorktreeLock::try_take(git_dir);
        match taken.map_err(StoreError::because(WorktreeLock::taking(git_dir)))? {
            Taken::Held(lock) => Ok(Ok(LockedPlace { checkout: None, ahead: None, lock })),
            Taken::Busy(occupant) => Ok(Err(occupant)),
        }
    }

    /// Who has the candidate's claim, if it may not be taken over.
    fn live_claim(&mut self) -> Result<Option<Pending>, NoAnswer> {
        let commit = self.subject.head.commit;
        let by = self.session.retiring_run(self.request.command(), self.began);
        match recovery::inspect(commit, self.session, &by, Mode::Look).what {
            Finding::Live { record, .. } => Ok(Some(known::pending(&record))),
            Finding::Unreadable(why) => Err(unreadable(commit, &why).into()),
            Finding::Free | Finding::Abandoned { .. } | Finding::Retired { .. } | Finding::NotRetired { .. } => {
                Ok(None)
            }
        }
    }

    /// Retires every abandoned claim in the repository (C22), and absorbs what finished runs could not. What can't be retired, or
    /// read, is noted and stops nothing, but for the candidate's own.
    fn recover(&mut self) -> Result<(), NoAnswer> {
        let attempt = self.begin();
        let mut in_the_way = None;
        let by = self.session.retiring_run(self.request.command(), Some(attempt));
        for candidate in self.session.claimed()? {
            let inspected = recovery::inspect(candidate, self.session, &by, Mode::Retire);
            match inspected.what {
                Finding::Retired { record, reason, .. } => {
                    let worktree = record.attempt.executor.worktree.clone();
                    let (attempt, why) = (record.attempt.id, reason.word().to_owned());
                    self.tell(What::Retired { candidate, attempt, worktree, why });
                }
                Finding::NotRetired { problem, .. } if candidate == self.subject.head.commit => {
                    in_the_way = Some(not_retired(candidate, &problem));
                }
                Finding::NotRetired { problem, .. } => {
                    let doing = format!("retire the abandoned claim of {}", candidate.short());
                    self.tell(What::StoreTrouble { doing, problem });
                }
                Finding::Unreadable(why) if candidate == self.subject.head.commit => {
                    in_the_way = Some(unreadable(candidate, &why));
                }
                Finding::Unreadable(why) => {
                    let text =
                        format!("refs/discern/attempt/{candidate} can't be read ({why}); it concerns only that commit");
                    self.tell(What::Note { text });
                }
                Finding::Free => {
                    if let Err(problem) = self.session.keep_outcome(&candidate) {
                        let doing = format!("copy the outcome of {} into the ledger", candidate.short());
                        self.tell(What::StoreTrouble { doing, problem });
                    }
                }
                Finding::Live { .. } | Finding::Abandoned { .. } => {}
            }
        }
        in_the_way.map_or(Ok(()), |refusal| Err(refusal.into()))
    }

    /// From here on there is a story to tell, and something to settle.
    fn begin(&mut self) -> AttemptId {
        if let Some(attempt) = self.began {
            return attempt;
        }
        self.signals = Signals::install(&Signal::OWNER).ok();
        self.session.prepare_to_write();
        let now = self.session.now().wall;
        let attempt = self.session.random().attempt(now);
        self.began = Some(attempt);
        self.tell(What::Began {
            command: self.request.command().to_owned(),
            candidate: self.subject.candidate.clone(),
            summary: self.subject.head.summary.clone(),
        });
        attempt
    }

    /// What another run found out while this one waited: an outcome of the same purpose answers it, unless `--rerun` (C26).
    fn answer_of_another(&mut self) -> Result<Option<RunDocument>, NoAnswer> {
        if !self.waiting.has_begun() || self.request.purpose != Purpose::Done || self.request.rerun != Rerun::None {
            return Ok(None);
        }
        standing_answer(self.request, self.session, &self.subject)
    }

    /// The candidate must still be `HEAD` after a wait.
    fn subject_is_as_it_was(&self) -> Result<(), NoAnswer> {
        let head = self.session.repository.head()?;
        if head.commit == self.subject.head.commit {
            return Ok(());
        }
        let message = format!("`HEAD` moved to {} while this run waited", head.commit.short());
        Err(Refusal::new(Diagnostic::new("candidate-moved", message).fix("git discern done")).into())
    }

    fn attempt(&mut self, place: LockedPlace, snapshot: Option<Snapshot>) -> Result<Attempted, NoAnswer> {
        let attempt = self.begin();
        let LockedPlace { checkout, ahead, lock } = place;
        let made;
        let (repository, place, snapshot) = match (self.pool.as_ref().zip(checkout), snapshot) {
            (Some((pool, number)), _) => {
                let head = Head { branch: None, ..self.subject.head.clone() };
                let (checkout, snapshot) = pool.ready(number, ahead, &head, self.subject.config.gate.untracked)?;
                made = checkout;
                (&made, Place::Isolated, snapshot)
            }
            (None, Some(snapshot)) => (self.session.repository, Place::InPlace, snapshot),
            (None, None) => {
                let snapshot = check_clean(self.session.repository, None, &self.subject)?;
                (self.session.repository, Place::InPlace, snapshot)
            }
        };
        let keep = self.subject.config.gate.keep.clone();
        let (pool, onward) = (self.pool.as_ref(), &mut *self.onward);
        let mut going = pool.zip(onward.next).and_then(|going| Some((checkout?, going, lock.again().ok()?)));
        let ground = Ground { repository, place, lock, snapshot: Some(snapshot), keep };
        let mut leave = || {
            onward.place = going.take().and_then(|(number, (pool, next), lock)| {
                let ahead = Some(pool.go_ahead(number, next)?);
                Some(LockedPlace { checkout: Some(number), ahead, lock })
            });
        };
        let setup = Setup { ground, signals: self.signals.as_mut(), leave: &mut leave };
        attempt::make(self.request, &self.subject, attempt, setup, self.session, self.reporter)
    }

    fn tell(&mut self, what: What) {
        let at: Timestamp = self.session.now().wall;
        self.reporter.event(&Event { at, what });
    }
}

/// What the candidate's newest outcome answers by itself.
fn standing_answer(
    request: &Request,
    session: &mut Session<'_>,
    subject: &Subject,
) -> Result<Option<RunDocument>, NoAnswer> {
    let repository = session.repository;
    let trunk = || trunk::compare(repository, subject.head.commit, &subject.config);
    let mut answer = known::answer(session, subject.head.commit, &subject.config, &trunk)?;
    for failed in answer.iter_mut().filter(|answer| !answer.ok) {
        failed.hints.push(format!("{} --rerun", request.again()));
    }
    Ok(answer)
}

/// The answer where a standard is looser than trunk's: the gate failed, and nothing was run.
fn looser(request: &Request, comparison: &Comparison) -> RunDocument {
    let mut document = RunDocument::new(request.command(), Exit::Failed);
    let base = comparison.compared.as_ref().map(|trunk| trunk.merge_base.short()).unwrap_or_default();
    let fix = format!("git diff {base} -- {}", config::FILE);
    let diagnostic = |looser: &Looser| Diagnostic::new(LOOSER, looser.to_string()).fix(&fix);
    document.diagnostics = comparison.looser.iter().map(diagnostic).collect();
    document
}

/// `standards` names standards that exist, and there is one to measure.
fn check_chosen(request: &Request, config: &Config) -> Result<(), Refusal> {
    if request.purpose != Purpose::Standards {
        return Ok(());
    }
    if config.standards.is_empty() {
        let message = format!("`{}` of this commit has no `[standards.NAME]`", config::FILE);
        return Err(Refusal::new(Diagnostic::new("no-standards", message).at(config::FILE)));
    }
    let Some(unknown) = request.chosen.names().iter().find(|name| config.standard(name).is_none()) else {
        return Ok(());
    };
    if config.job(unknown).is_some() {
        let message = format!("`{unknown}` is a job, and not measured");
        let fix = format!("git discern run {unknown}");
        return Err(Refusal::new(Diagnostic::new("unknown-name", message).at(config::FILE).fix(fix)));
    }
    let known = config.standards.iter().map(|it| it.name.as_str());
    let message = config::names_nothing(unknown.as_str(), "standard", "in this commit", known);
    Err(Refusal::new(Diagnostic::new("unknown-name", message)))
}

/// The refusal of a candidate whose abandoned claim can't be ended, since its ref can't be written (C25).
fn not_retired(commit: CommitId, problem: &str) -> Refusal {
    let name = crate::store::refs::ref_name(&commit);
    let message = format!("the abandoned claim of this commit can't be retired: {problem}");
    let fix = format!("git discern recover --break-lock {name}");
    Refusal::store(Diagnostic::new("claim-not-retired", message).at(name).fix(fix))
}
