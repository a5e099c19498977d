//! One command's view of a repository's claims and evidence: the real [`Claims`] and [`Witness`].

use super::claims::Claims;
use super::recovery::Witness;
use crate::claim::Record;
use crate::claim::lease::{ExecutorState, Sighting};
use crate::claim::owner::{Ended, Seen, Written};
use crate::claim::record::RetiringRun;
use crate::claim::transition::{History, Pen};
use crate::engine::driver::Desk;
use crate::git::{LeftoverLock, Repository};
use crate::id::{AttemptId, CommitId, RecordId, Token};
use crate::journal::Journals;
use crate::ledger::{Additions, Ledger};
use crate::os::boot;
use crate::os::clock::{Clock, SystemClock};
use crate::os::random::{Random as _, SystemRandom};
use crate::store::refs::RefStore;
use crate::store::seen::{self, SeenFiles};
use crate::store::superseded::Superseded;
use crate::store::{Found, RecordStore as _, StoreError, Swap};

/// Whether what a command sees of records is noted down for the commands to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notes {
    /// High-water marks and sightings are kept.
    Kept,
    /// Nothing is written, not even those.
    None,
}

/// A repository's records, ledger, journals and sightings, with this machine's identity.
pub struct Session<'r> {
    /// The repository.
    pub repository: &'r Repository,
    /// Outcomes and receipts.
    pub ledger: Ledger<'r>,
    /// Runs' progress files.
    pub journals: Journals,
    /// Attempt records.
    pub records: RefStore<'r>,
    seen: SeenFiles,
    boot: String,
    clock: Box<dyn Clock + 'r>,
    random: SystemRandom,
    writer: Option<Token>,
    notes: Notes,
    /// The record that this session wrote last, and where. Not a memory of what is so: whether the ref still names it is looked
    /// at each time, and only its bytes are not read again.
    last: Option<(CommitId, RecordId, Box<Record>)>,
    /// What it wrote and no ref names any more.
    superseded: Superseded,
}

impl<'r> Session<'r> {
    /// A session; nothing is read or written yet.
    pub fn new(repository: &'r Repository) -> Self {
        let sharing = repository.sharing();
        let journals = Journals::new(&repository.private_dir(), sharing);
        Self {
            repository,
            ledger: Ledger::new(repository),
            journals,
            records: RefStore::new(repository),
            seen: SeenFiles::of(repository),
            boot: boot::boot_identity(),
            clock: Box::new(SystemClock),
            random: SystemRandom,
            writer: None,
            notes: Notes::Kept,
            last: None,
            superseded: Superseded::default(),
        }
    }

    /// A session of a command that only reads: it leaves no trace, and works where nothing can be written.
    pub fn reading(repository: &'r Repository) -> Self {
        Self { notes: Notes::None, ..Self::new(repository) }
    }

    /// The same, on other clocks than this machine's.
    #[must_use]
    pub fn with_clock(self, clock: impl Clock + 'r) -> Self {
        Self { clock: Box::new(clock), ..self }
    }

    /// Makes this session fit to write: from here on each record names the file that our git children hold locked (C25).
    pub fn prepare_to_write(&mut self) {
        self.writer = self.records.writer_token();
    }

    /// A source of fresh identifiers.
    pub fn random(&mut self) -> &mut SystemRandom {
        &mut self.random
    }

    /// What the clocks show.
    pub fn now(&self) -> crate::time::Reading {
        self.clock.now()
    }

    /// The candidates that have a record.
    ///
    /// # Errors
    /// The refs can't be listed.
    pub fn candidates(&mut self) -> Result<Vec<CommitId>, StoreError> {
        Ok(self.records.list()?.into_iter().map(|(candidate, _)| candidate).collect())
    }

    /// The candidates that have a record which is not known to be finished and in the ledger: all that may have a claim, and all
    /// whose outcome is still to be absorbed. One whose object is missing is among them, so that reading it writes it back: a ref
    /// to nothing breaks the user's own `git gc` (hazard 12).
    ///
    /// # Errors
    /// The refs can't be listed.
    pub fn claimed(&mut self) -> Result<Vec<CommitId>, StoreError> {
        let all = self.records.list()?.into_iter();
        let open = all.filter(|(candidate, record)| {
            self.seen.read(candidate).finished != Some(*record) || !self.records.is_there(*record)
        });
        Ok(open.map(|(candidate, _)| candidate).collect())
    }

    /// Copies the outcome of a finished record into the ledger where the run that finished it could not (C24): a verdict that only
    /// the record knows would be no verdict to any other commit.
    ///
    /// # Errors
    /// The ledger can't be read or written; the record still holds everything.
    pub fn keep_outcome(&mut self, candidate: &CommitId) -> Result<(), String> {
        let Seen::Record(id, record) = self.look(candidate) else { return Ok(()) };
        if !record.is_finished() {
            return Ok(());
        }
        if self.ended(candidate, record.attempt.id)?.is_none() {
            self.ledger.absorb(&Additions::from_record(&record).unwrap_or_default()).map_err(|it| it.to_string())?;
        }
        self.note_absorbed(candidate, id);
        Ok(())
    }

    /// How this command is named in what it retires.
    pub fn retiring_run(&self, command: &str, attempt: Option<AttemptId>) -> RetiringRun {
        RetiringRun {
            command: command.to_owned(),
            attempt,
            operation: None,
            worktree: self.repository.worktree_name(),
            branch: self.repository.head_position().ok().and_then(|(branch, _)| branch),
        }
    }
}

impl Desk for Session<'_> {
    fn pen(&mut self) -> Pen {
        Pen { now: self.clock.now(), nonce: self.random.nonce(), writer: self.writer }
    }
}

impl Claims for Session<'_> {
    fn look(&mut self, candidate: &CommitId) -> Seen {
        // The mark is read before the ref and written after it, so that it is never above what is there (hazard 14).
        let mark = self.seen.read(candidate);
        if let Some((of, id, record)) = &self.last
            && of == candidate
            && !mark.is_above(record.attempt.generation, record.sequence)
            && self.records.still_holds(candidate, *id)
        {
            return Seen::Record(*id, record.clone());
        }
        let (id, bytes) = match self.records.read(candidate) {
            Ok(Found::Absent) => return Seen::Absent,
            Ok(Found::Unreadable(why)) => return Seen::Unreadable(why.to_string()),
            Ok(Found::Record { id, bytes }) => (id, bytes),
            Err(error) => return Seen::Unreadable(error.to_string()),
        };
        let record = match Record::decode(&bytes, candidate) {
            Ok(record) => record,
            Err(error) => return Seen::Unreadable(error.to_string()),
        };
        let (generation, sequence) = (record.attempt.generation, record.sequence);
        if mark.is_above(generation, sequence) {
            return Seen::Unreadable(format!(
                "it is older than what was here before (attempt {generation}, write {sequence}; seen: attempt {}, write \
                 {}); a mirror or a backup put it back",
                mark.generation, mark.sequence
            ));
        }
        self.note(candidate, mark, id, &record);
        Seen::Record(id, Box::new(record))
    }

    fn history(&mut self, candidate: &CommitId, seen: &Seen) -> Result<History, String> {
        let mark = self.seen.read(candidate);
        let outcomes = self.ledger.outcomes(*candidate).map_err(|error| error.to_string())?;
        let absorbed = match seen {
            Seen::Record(_, record) => outcomes.iter().any(|outcome| outcome.attempt == record.attempt.id),
            Seen::Absent | Seen::Unreadable(_) => false,
        };
        let ledger_generation = outcomes.iter().map(|outcome| outcome.generation).max().unwrap_or(0);
        Ok(History { absorbed, ledger_generation, high_water: (mark.generation, mark.sequence) })
    }

    fn absorb(&mut self, record: &Record) -> Result<(), String> {
        let Some(additions) = Additions::from_record(record) else { return Ok(()) };
        self.ledger.absorb(&additions).map_err(|error| error.to_string())?;
        if let Some((candidate, id, last)) = &self.last
            && last.nonce == record.nonce
        {
            self.note_absorbed(candidate, *id);
        }
        Ok(())
    }

    fn ended(&mut self, candidate: &CommitId, attempt: AttemptId) -> Result<Option<Ended>, String> {
        let outcomes = self.ledger.outcomes(*candidate).map_err(|error| error.to_string())?;
        let mine = outcomes.into_iter().find(|outcome| outcome.attempt == attempt);
        Ok(mine.map(|it| Ended { outcome: it.outcome, by: it.by, exit_status: it.exit_status }))
    }

    fn swap(&mut self, candidate: &CommitId, expected: Option<RecordId>, record: &Record) -> Written {
        let bytes = record.encode();
        let mut swap = self.records.swap(candidate, expected, &bytes);
        // A dead writer's lock is in nobody's way for longer than this (C25).
        if matches!(swap, Swap::Unknown(_)) && self.remove_dead_lock(candidate).unwrap_or(false) {
            swap = self.records.swap(candidate, expected, &bytes);
        }
        let replaced = expected.filter(|_| matches!(swap, Swap::Applied(_)));
        self.superseded.note(self.records.id_of(&bytes), replaced, self.clock.now().monotonic_ms);
        match swap {
            Swap::Applied(id) => {
                self.drop_superseded();
                let mark = self.seen.read(candidate);
                self.note(candidate, mark, id, record);
                self.last = Some((*candidate, id, Box::new(record.clone())));
                Written::Applied(id)
            }
            Swap::Stale(_) => Written::Stale,
            Swap::Unknown(problem) => Written::Unknown(problem),
        }
    }
}

impl Session<'_> {
    /// Removes the lock on a candidate's ref if it is provably dead (C25); true if it was.
    ///
    /// # Errors
    /// It can't be looked at or removed.
    pub fn remove_dead_lock(&mut self, candidate: &CommitId) -> Result<bool, StoreError> {
        self.records.remove_dead_lock(candidate, &|bytes| writer_of(bytes, candidate))
    }

    /// What is known of a lock on a candidate's ref.
    ///
    /// # Errors
    /// It can't be looked at.
    pub fn leftover_lock(&self, candidate: &CommitId) -> Result<LeftoverLock, StoreError> {
        self.records.leftover_lock(candidate, &|bytes| writer_of(bytes, candidate))
    }

    /// Drops what this session wrote and nothing has named for two hours (C19, ADR 31). What can't be dropped now is tried again.
    fn drop_superseded(&mut self) {
        let now_ms = self.clock.now().monotonic_ms;
        let due = self.superseded.due(now_ms);
        if !due.is_empty()
            && let Ok(dropped) = self.records.drop_unnamed(&due)
        {
            self.superseded.forget(&dropped);
        }
    }

    /// Notes a record that was read or written. Advisory: a note that can't be kept costs the detection of a record put back,
    /// nothing else.
    fn note(&self, candidate: &CommitId, mut mark: seen::Seen, id: RecordId, record: &Record) {
        let (generation, sequence) = (record.attempt.generation, record.sequence);
        let absorbed = mark.finished.filter(|known| *known == id);
        if self.notes == Notes::Kept
            && ((mark.generation, mark.sequence), mark.finished) != ((generation, sequence), absorbed)
        {
            mark.raise(generation, sequence);
            mark.finished = absorbed;
            let _ = self.seen.write(candidate, &mark);
        }
    }

    /// Notes that a record is finished and its outcome in the ledger. Advisory: without the note it is looked at again.
    fn note_absorbed(&self, candidate: &CommitId, id: RecordId) {
        let mark = self.seen.read(candidate);
        if self.notes == Notes::Kept && mark.finished != Some(id) {
            let _ = self.seen.write(candidate, &seen::Seen { finished: Some(id), ..mark });
        }
    }
}

/// Who wrote a record: the file that its git children held locked.
fn writer_of(bytes: &[u8], candidate: &CommitId) -> Option<Token> {
    Record::decode(bytes, candidate).ok()?.writer
}

impl Witness for Session<'_> {
    fn boot(&self) -> String {
        self.boot.clone()
    }

    fn sighting(&mut self, candidate: &CommitId, record: RecordId, now_ms: u64) -> Option<Sighting> {
        let mut known = self.seen.read(candidate);
        let same = |it: &seen::Sighting| it.boot == self.boot && it.record == record && it.monotonic_ms <= now_ms;
        if let Some(sighting) = known.sighting.as_ref().filter(|it| same(it)) {
            let seen::Sighting { boot, record, monotonic_ms } = sighting.clone();
            return Some(Sighting { boot, record, monotonic_ms });
        }
        if self.notes == Notes::Kept {
            known.sighting = Some(seen::Sighting { boot: self.boot.clone(), record, monotonic_ms: now_ms });
            let _ = self.seen.write(candidate, &known);
        }
        None
    }

    fn executor(&mut self, record: &Record) -> ExecutorState {
        let executor = &record.attempt.executor;
        let Some(journal) = &executor.journal else { return ExecutorState::Unknown };
        let state = self.journals.liveness(journal, &executor.boot, &self.boot).into();
        if state == ExecutorState::Gone {
            // What is remembered of the refs is older: it may have settled since.
            self.repository.refs().forget();
        }
        state
    }

    fn end_leftovers(&mut self, attempt: AttemptId) -> usize {
        crate::os::descendants::end_leftovers(attempt).ended
    }
}
