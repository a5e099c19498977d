//! Following another run: its journal for the story, its record for the end.
//!
//! The journal proves nothing about how a run ended (C21), so that the record, or the ledger where the record was replaced
//! already, has the last word; only a `run`, which has no record, is taken at its journal's word. Nothing here takes,
//! retires or changes a claim.

use super::claims::Claims as _;
use super::known;
use super::no_answer::{NoAnswer, unreadable};
use super::recovery::{self, Finding, Mode};
use super::session::Session;
use super::stage::EndingSignal;
use super::waiting;
use super::worktree_lock::WorktreeLock;
use crate::claim::Record;
use crate::claim::owner::Seen;
use crate::claim::record::{Previous, TakeoverReason};
use crate::document::{Candidate, Diagnostic, Pending, Refusal, RequirementReport};
use crate::event::{Audience, Event, What};
use crate::id::{AttemptId, CommitId, OperationHandle};
use crate::journal::{Follower, Header, Liveness};
use crate::ledger::OutcomeEntry;
use crate::os::signal::Signals;
use crate::os::{boot, process};

/// How often a followed run is looked at, in milliseconds.
const LOOK_MS: u64 = 100;

/// How long the end of the story is waited for once the record is finished, in milliseconds.
const LAST_WORDS_MS: u64 = 2_000;

/// What is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The run behind a handle.
    Operation(OperationHandle),
    /// Whoever has the claim of a commit.
    Commit(CommitId),
}

/// How following ended.
#[derive(Debug)]
pub enum Followed {
    /// The attempt is over.
    Ended(Box<OutcomeEntry>),
    /// Its record was replaced, and only the one that replaced it still names it.
    Replaced(Box<Previous>),
    /// A run without a claim is over; what its journal says.
    EndedUnclaimed {
        /// Its exit status.
        exit: u8,
    },
    /// It does not go on: its claim may be taken over, and was not yet.
    Abandoned {
        /// Who has it.
        pending: Box<Pending>,
        /// Why it may be.
        reason: TakeoverReason,
    },
    /// A run without a claim, or before it, whose process is gone; nobody knows how it ended.
    Gone,
    /// Nothing is known of it.
    Nothing,
    /// It still runs, and was not waited for any longer.
    Running(Box<Pending>),
    /// It still runs; a signal ended the following.
    Left(Box<Pending>, EndingSignal),
}

/// What `text`, a handle or a revision, means; without it, the run of this worktree, or else whoever has `HEAD`'s claim.
///
/// # Errors
/// It is neither; there is no commit.
pub fn target(session: &Session<'_>, text: Option<&str>) -> Result<Target, NoAnswer> {
    let repository = session.repository;
    let Some(text) = text else {
        let occupant = WorktreeLock::occupant(repository.git_dir()).ok().flatten();
        return match occupant.and_then(|occupant| occupant.operation) {
            Some(handle) => Ok(Target::Operation(handle)),
            None => Ok(Target::Commit(repository.head_position()?.1)),
        };
    };
    if text.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("R1-")) {
        let handle = text.parse().map_err(|error: crate::id::NotAnId| {
            Refusal::new(Diagnostic::new("bad-handle", error.to_string()).fix("git discern status"))
        })?;
        return Ok(Target::Operation(handle));
    }
    Ok(Target::Commit(repository.resolve(text)?))
}

/// One run that is followed.
pub struct Following<'f, 'r> {
    session: &'f mut Session<'r>,
    audience: &'f mut dyn Audience,
    journal: Option<Follower>,
    commit: Option<CommitId>,
    attempt: Option<AttemptId>,
    told: Told,
    /// What its journal said of requirements that ended.
    pub reports: Vec<RequirementReport>,
}

/// What the story has told so far.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    began: bool,
    ended: Option<u8>,
}

impl<'f, 'r> Following<'f, 'r> {
    /// Finds the run that `target` means.
    ///
    /// # Errors
    /// There is no such run; the store can't be read.
    pub fn begin(
        target: &Target,
        session: &'f mut Session<'r>,
        audience: &'f mut dyn Audience,
    ) -> Result<Self, NoAnswer> {
        let mut following = Self {
            session,
            audience,
            journal: None,
            commit: None,
            attempt: None,
            told: Told::default(),
            reports: Vec::new(),
        };
        match target {
            Target::Operation(handle) => following.of_operation(handle)?,
            Target::Commit(commit) => following.of_commit(*commit)?,
        }
        Ok(following)
    }

    /// The commit that it works on, if there is one.
    pub fn commit(&self) -> Option<CommitId> {
        self.commit
    }

    /// Its journal's first line, if there is a journal.
    pub fn header(&self) -> Option<&Header> {
        self.journal.as_ref().map(Follower::header)
    }

    fn of_operation(&mut self, handle: &OperationHandle) -> Result<(), NoAnswer> {
        if let Ok(journal) = self.session.journals.follow(handle) {
            let header = journal.header();
            (self.commit, self.attempt) = (header.candidate, header.attempt);
            self.journal = Some(journal);
            return Ok(());
        }
        // The journal may be gone, or unreadable for us, while the record still names it.
        for candidate in self.session.candidates()? {
            if let Seen::Record(_, record) = self.session.look(&candidate)
                && record.attempt.executor.journal.as_ref().is_some_and(|journal| journal.handle == *handle)
            {
                (self.commit, self.attempt) = (Some(candidate), Some(record.attempt.id));
                return Ok(());
            }
        }
        let message = format!("there is no operation {handle}: no journal and no record of that handle is here");
        Err(Refusal::new(Diagnostic::new("unknown-operation", message).fix("git discern status")).into())
    }

    fn of_commit(&mut self, commit: CommitId) -> Result<(), NoAnswer> {
        self.commit = Some(commit);
        match self.session.look(&commit) {
            Seen::Unreadable(why) => return Err(unreadable(commit, &why).into()),
            Seen::Record(_, record) => {
                self.attempt = Some(record.attempt.id);
                let handle = record.attempt.executor.journal.as_ref().map(|journal| &journal.handle);
                let journal = handle.filter(|_| !record.is_finished()).map(|it| self.session.journals.follow(it));
                self.journal = journal.and_then(Result::ok);
            }
            Seen::Absent => {
                let newest = self.session.ledger.outcomes(commit)?.pop();
                self.attempt = newest.map(|outcome| outcome.attempt);
            }
        }
        Ok(())
    }

    /// Tells the story until the run is over, for at most `limit_ms`, or until one of `signals` ends that. Without them a
    /// signal has the effect that it has on the process, which is none for the first one of a container.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn follow(&mut self, limit_ms: u64, mut signals: Option<&mut Signals>) -> Result<Followed, NoAnswer> {
        let begun_ms = self.session.now().monotonic_ms;
        loop {
            self.listen();
            let state = self.state()?;
            let Followed::Running(pending) = state else {
                self.hear_the_end();
                return Ok(state);
            };
            let now = self.session.now();
            if now.monotonic_ms.saturating_sub(begun_ms) >= limit_ms {
                return Ok(Followed::Running(pending));
            }
            self.audience.tick(now.wall);
            if let Some(signal) = waiting::wait_a_moment(signals.as_deref_mut(), self.audience, LOOK_MS) {
                return Ok(Followed::Left(pending, signal));
            }
        }
    }

    /// How it stands now.
    fn state(&mut self) -> Result<Followed, NoAnswer> {
        let Some((commit, attempt)) = self.commit.zip(self.attempt) else { return Ok(self.state_by_journal()) };
        let by = self.session.retiring_run("wait", None);
        match recovery::inspect(commit, self.session, &by, Mode::Look).what {
            Finding::Live { record, .. } if record.attempt.id == attempt => {
                Ok(Followed::Running(Box::new(known::pending(&record))))
            }
            Finding::Abandoned { record, reason } if record.attempt.id == attempt => {
                let pending = Pending { reconnect: "git discern recover".to_owned(), ..known::pending(&record) };
                Ok(Followed::Abandoned { pending: Box::new(pending), reason })
            }
            Finding::Unreadable(_) if self.is_held() => Ok(self.state_by_journal()),
            Finding::Unreadable(why) => Err(unreadable(commit, &why).into()),
            _ => self.ended(commit, attempt),
        }
    }

    /// How an attempt ended that its ref does not name as unfinished: by its record, by the one that followed, or by the ledger.
    fn ended(&mut self, commit: CommitId, attempt: AttemptId) -> Result<Followed, NoAnswer> {
        let record: Option<Record> = match self.session.look(&commit) {
            Seen::Record(_, record) => Some(*record),
            Seen::Absent | Seen::Unreadable(_) => None,
        };
        if let Some(record) = record.as_ref().filter(|record| record.attempt.id == attempt) {
            return Ok(match OutcomeEntry::from_record(record) {
                Some(outcome) => Followed::Ended(Box::new(outcome)),
                None => Followed::Running(Box::new(known::pending(record))),
            });
        }
        if let Some(outcome) = self.session.ledger.outcomes(commit)?.into_iter().find(|it| it.attempt == attempt) {
            return Ok(Followed::Ended(Box::new(outcome)));
        }
        let previous = record.and_then(|record| record.previous.into_iter().find(|it| it.id == attempt));
        Ok(match previous {
            Some(previous) => Followed::Replaced(Box::new(previous)),
            None => self.state_by_journal(),
        })
    }

    /// How a run stands whose journal is all that there is: a `run`, or an attempt that has reserved nothing yet.
    fn state_by_journal(&mut self) -> Followed {
        if let (Some(exit), None) = (self.told.ended, self.attempt) {
            return Followed::EndedUnclaimed { exit };
        }
        let Some(header) = self.header() else { return Followed::Nothing };
        if !self.is_held() {
            return Followed::Gone;
        }
        Followed::Running(Box::new(Pending {
            attempt: None,
            operation: Some(header.handle.clone()),
            worktree: header.worktree.clone(),
            branch: None,
            since: Some(header.started_at),
            lease_expires_at: None,
            checkouts: None,
            reconnect: format!("git discern wait {}", header.handle),
        }))
    }

    /// Whether nothing proves that the journal's executor is gone.
    fn is_held(&self) -> bool {
        let Some(journal) = &self.journal else { return false };
        let Ok(reference) = journal.reference() else { return true };
        let liveness = self.session.journals.liveness(&reference, &journal.header().boot, &boot::boot_identity());
        liveness != Liveness::Gone
    }

    /// Tells what the journal has got since the last look.
    fn listen(&mut self) {
        self.tell_beginning();
        while let Some(journal) = &mut self.journal {
            let events = journal.next_events().unwrap_or_default();
            if events.is_empty() {
                return;
            }
            for event in events {
                match &event.what {
                    What::Finished { requirement } => self.reports.push(requirement.clone()),
                    What::Ended { exit, .. } => self.told.ended = Some(*exit),
                    _ => {}
                }
                self.audience.event(&event);
            }
        }
    }

    fn tell_beginning(&mut self) {
        if std::mem::replace(&mut self.told.began, true) {
            return;
        }
        // An attempt tells it before it has a journal; a `run` keeps it there.
        let Some(header) = self.header().filter(|header| header.attempt.is_some()).cloned() else { return };
        let Some((candidate, summary)) = header.candidate.and_then(|commit| self.candidate(commit)) else { return };
        // The branch stands in the record; a run that has none works on the checkout as it is.
        let branch = match self.session.look(&candidate.commit) {
            Seen::Record(_, record) if Some(record.attempt.id) == self.attempt => {
                record.attempt.executor.branch.clone()
            }
            _ => None,
        };
        let candidate = Candidate { branch, worktree: header.worktree, ..candidate };
        let what = What::Began { command: header.command, candidate, summary };
        self.audience.event(&Event { at: header.started_at, what });
    }

    /// A commit as documents name it, with its message's first line, as far as it is here.
    pub fn candidate(&self, commit: CommitId) -> Option<(Candidate, String)> {
        let found = self.session.repository.objects().ok()?.commit(commit).ok()?;
        let candidate = Candidate { commit, tree: found.tree, branch: None, worktree: String::new() };
        Some((candidate, found.summary))
    }

    /// Once it is over, its journal is read to its last line, which is written after the record.
    fn hear_the_end(&mut self) {
        let until_ms = self.session.now().monotonic_ms + LAST_WORDS_MS;
        while self.journal.is_some() && self.told.ended.is_none() {
            let held = self.is_held();
            self.listen();
            if !held || self.session.now().monotonic_ms >= until_ms {
                return;
            }
            process::wait_any(&[], LOOK_MS / 10);
        }
    }
}
