//! The stage of a real run: processes under supervisors, signals, the worktree, the journal and the terminal.
//!
//! One poll over everything that can wake the run; whatever it finds is returned before anything else is done, so that the loop
//! can renew first (C15).

mod executions;
mod toolchain;

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use crate::claim::owner::{Input, Owner, Said};
use crate::config::Config;
use crate::engine::driver;
use crate::engine::job::RunningJob;
use crate::engine::left_here::LeftHere;
use crate::engine::requirements::Detailed;
use crate::engine::session::Session;
use crate::engine::slots::{Slot, Slots};
use crate::engine::stage::{Ending, EndingSignal, ExecutionEnd, Happening, Stage, TreeState};
use crate::engine::trunk::Comparison;
use crate::engine::worktree_lock::WorktreeLock;
use crate::event::{Audience, Event, What};
use crate::evidence::subject::ToolchainAnswer;
use crate::evidence::{LogRef, Place, Receipt, RequirementKey};
use crate::git::{Changed, How, Pathspecs, Repository, Snapshot};
use crate::id::{AttemptId, CommitId, Name, OperationHandle, Subject};
use crate::journal::Journal;
use crate::os::environment::{self, Variables};
use crate::os::process;
use crate::os::signal::{Signal, Signals};
use crate::plan::{Plan, Requirement, Start};
use crate::time::Reading;
use executions::Active;
use toolchain::Asked;

/// How often a run looks whether it was asked to stop, and draws, in milliseconds.
const LOOK_MS: u64 = 100;

/// What a run needs to know to execute its plan.
pub struct Work {
    /// The candidate's configuration.
    pub config: Config,
    /// Every requirement that may run.
    pub details: BTreeMap<RequirementKey, Detailed>,
    /// Their keys, in the order of the configuration.
    pub order: Vec<RequirementKey>,
    /// What is decided about each.
    pub plan: Plan,
    /// Every receipt that was known for their subjects when that was decided.
    pub known: BTreeMap<Subject, Vec<Receipt>>,
    /// What comparing with trunk gave.
    pub comparison: Comparison,
}

impl Work {
    /// The receipts that were known for what `requirement` checks.
    pub fn known_for(&self, requirement: &Requirement) -> impl Iterator<Item = &Receipt> {
        let kind = requirement.key.kind;
        self.known.get(&requirement.subject).into_iter().flatten().filter(move |receipt| receipt.kind == kind)
    }

    /// Every requirement that may run, in the order of the configuration.
    pub fn details_in_order(&self) -> Vec<Detailed> {
        self.order.iter().filter_map(|key| self.details.get(key).cloned()).collect()
    }
}

/// A run's processes, signals, worktree, journal and terminal.
pub struct Machine<'m, 'r> {
    /// Claims and evidence.
    pub session: &'m mut Session<'r>,
    reporter: &'m mut dyn Audience,
    journal: Option<Journal>,
    signals: Option<&'m mut Signals>,
    ground: Ground<'m>,
    left_here: LeftHere,
    /// Jobs that passed since the tree was looked at last.
    passed: Vec<(Name, Subject)>,
    attempt: AttemptId,
    commit: Option<CommitId>,
    top: PathBuf,
    /// Where logs go: the journal's folder, or a temporary one.
    logs: PathBuf,
    _temporary: Option<tempfile::TempDir>,
    inherited: Variables,
    slots: Option<Slots>,
    /// Slots taken and not yet given to an execution.
    taken: Vec<Slot>,
    work: Option<Work>,
    active: Vec<Active>,
    toolchain: Vec<Asked>,
    answers: BTreeMap<String, ToolchainAnswer>,
    /// Toolchain commands without an answer, each with the reason.
    unanswered: Vec<String>,
    /// Ends that are known and not yet handed out.
    ended: VecDeque<ExecutionEnd>,
    stop_seen: bool,
    /// What each job that runs, or ended since the tree was looked at last, may rewrite.
    touches: Vec<(RequirementKey, Vec<String>)>,
}

/// What a machine is made of.
pub struct Parts<'m, 'r> {
    /// Claims and evidence.
    pub session: &'m mut Session<'r>,
    /// Where the story goes.
    pub reporter: &'m mut dyn Audience,
    /// The run's journal, if it could be made.
    pub journal: Option<Journal>,
    /// The signals that are caught, unless none can be.
    pub signals: Option<&'m mut Signals>,
    /// Where jobs run.
    pub ground: Ground<'m>,
    /// The attempt.
    pub attempt: AttemptId,
    /// The candidate; nothing where no commit is worked on.
    pub commit: Option<CommitId>,
    /// The top of the ground's worktree.
    pub top: PathBuf,
}

/// Where jobs run: a worktree that this process has for itself, and that was exactly the candidate when the attempt began.
pub struct Ground<'m> {
    /// The working checkout's repository, or a kept checkout's.
    pub repository: &'m Repository,
    /// Which of the two.
    pub place: Place,
    /// The worktree's lock, or the kept checkout's.
    pub lock: WorktreeLock,
    /// What the worktree was; nothing where the tree is taken as it stands, for `run`.
    pub snapshot: Option<Snapshot>,
    /// Ignored paths that stay in a kept checkout.
    pub keep: Vec<String>,
}

impl<'m, 'r> Machine<'m, 'r> {
    /// A machine on which nothing runs yet.
    ///
    /// # Errors
    /// There is nowhere to put logs.
    pub fn new(parts: Parts<'m, 'r>) -> std::io::Result<Self> {
        let (logs, temporary) = match &parts.journal {
            Some(journal) => (journal.folder().to_owned(), None),
            None => {
                let folder = tempfile::tempdir()?;
                (folder.path().to_owned(), Some(folder))
            }
        };
        let left_here = LeftHere::read(parts.ground.repository.git_dir(), crate::os::boot::boot_identity());
        Ok(Self {
            session: parts.session,
            reporter: parts.reporter,
            journal: parts.journal,
            signals: parts.signals,
            ground: parts.ground,
            left_here,
            passed: Vec::new(),
            attempt: parts.attempt,
            commit: parts.commit,
            top: parts.top,
            logs,
            _temporary: temporary,
            inherited: environment::inherited(),
            slots: None,
            taken: Vec::new(),
            work: None,
            active: Vec::new(),
            toolchain: Vec::new(),
            answers: BTreeMap::new(),
            unanswered: Vec::new(),
            ended: VecDeque::new(),
            stop_seen: false,
            touches: Vec::new(),
        })
    }

    /// The journal's handle, if there is a journal.
    pub fn handle(&self) -> Option<OperationHandle> {
        self.journal.as_ref().map(|journal| journal.handle().clone())
    }

    /// What its jobs carry as `DISCERN_ATTEMPT`.
    pub fn attempt(&self) -> AttemptId {
        self.attempt
    }

    /// Where jobs run.
    pub fn place(&self) -> Place {
        self.ground.place
    }

    /// What is on disk otherwise than committed, where that was looked at.
    pub fn on_disk(&self) -> &[crate::git::InputEntry] {
        self.ground.snapshot.as_ref().map_or(&[], Snapshot::on_disk)
    }

    /// What jobs left in this checkout.
    pub fn left_here(&self) -> &LeftHere {
        &self.left_here
    }

    /// A variable as jobs would see it.
    pub fn variable(&self, name: &str) -> Option<Vec<u8>> {
        use std::os::unix::ffi::OsStrExt as _;
        self.inherited.get(std::ffi::OsStr::new(name)).map(|value| value.as_bytes().to_vec())
    }

    /// Says what the run is to execute.
    pub fn take_up(&mut self, work: Work) {
        self.slots = work.config.gate.slots.and_then(slots_of_this_machine);
        self.work = Some(work);
    }

    /// What the run executes.
    pub fn work(&self) -> Option<&Work> {
        self.work.as_ref()
    }

    /// Where this run keeps its files.
    pub fn logs(&self) -> &Path {
        &self.logs
    }

    fn look_at_signals(&mut self) -> Vec<Happening> {
        let mut happenings = Vec::new();
        let caught = self.signals.as_mut().map(|signals| signals.drain()).unwrap_or_default();
        for signal in caught {
            if signal == Signal::Suspend {
                self.stand_still();
            }
            happenings.extend(EndingSignal::of(signal).map(Happening::Signal));
        }
        if !self.stop_seen && self.journal.as_ref().is_some_and(Journal::stop_requested) {
            self.stop_seen = true;
            happenings.push(Happening::StopRequested);
        }
        happenings
    }

    /// Ctrl-Z: the jobs and their clocks stop, then we do; when we go on, so do they.
    fn stand_still(&mut self) {
        let before = self.session.now();
        self.jobs().for_each(|job| job.pause(before.monotonic_ms));
        self.reporter.pause();
        if let Some(signals) = &mut self.signals {
            signals.stand_still();
        }
        let after = self.session.now();
        self.jobs().for_each(|job| job.resume(after.monotonic_ms));
        let after_ms = after.monotonic_ms.saturating_sub(before.monotonic_ms);
        self.tell(What::Resumed { after_ms });
    }

    fn jobs(&mut self) -> impl Iterator<Item = &mut RunningJob> {
        let active = self.active.iter_mut().map(|active| &mut active.job);
        active.chain(self.toolchain.iter_mut().map(|asked| &mut asked.job))
    }

    /// Blocks until a signal or a job has something to say, at most `limit_ms`.
    fn poll(&self, limit_ms: u64) {
        let active = self.active.iter().map(|active| active.job.fd());
        let toolchain = self.toolchain.iter().map(|asked| asked.job.fd());
        let signals = self.signals.as_ref().map(|signals| signals.fd());
        let descriptors: Vec<_> = signals.into_iter().chain(active).chain(toolchain).collect();
        process::wait_any(&descriptors, limit_ms);
    }
}

impl Stage for Machine<'_, '_> {
    fn drive(&mut self, owner: &mut Owner, input: Input) -> Vec<Said> {
        driver::drive(owner, input, &mut *self.session)
    }

    fn now(&self) -> Reading {
        self.session.now()
    }

    fn tell(&mut self, what: What) {
        let event = Event { at: self.session.now().wall, what };
        if let Some(journal) = &mut self.journal {
            journal.append(&event);
        }
        self.reporter.event(&event);
    }

    fn take_slots(&mut self, wanted: usize) -> usize {
        let Some(slots) = &mut self.slots else { return wanted };
        if wanted == 0 {
            slots.leave_line();
        }
        let now_ms = self.session.now().monotonic_ms;
        while self.taken.len() < wanted {
            match slots.try_take(now_ms) {
                Ok(Some(slot)) => self.taken.push(slot),
                Ok(None) => break,
                // Capacity is a courtesy: where it can't be counted, it is not capped.
                Err(error) => {
                    self.slots = None;
                    self.tell(What::Note {
                        text: format!("`slots` can't be counted ({error}); this run is not capped"),
                    });
                    return wanted;
                }
            }
        }
        self.taken.len().min(wanted)
    }

    fn start(&mut self, start: &Start) {
        let slot = self.taken.pop();
        if let Err(how) = self.begin(start, slot) {
            self.ended.push_back(ExecutionEnd {
                start: start.clone(),
                at: self.session.now().wall,
                how,
                duration_ms: 0,
                log_bytes: 0,
                output_lost: None,
                log: None,
                readings: Vec::new(),
                artifacts: Vec::new(),
            });
        }
    }

    fn end_executions(&mut self, how: Ending) {
        self.jobs().for_each(|job| match how {
            Ending::Gently => job.terminate(),
            Ending::AtOnce => job.kill(),
        });
    }

    fn running(&self) -> usize {
        self.active.len() + self.ended.len()
    }

    fn wait(&mut self, until_ms: Option<u64>) -> Vec<Happening> {
        self.taken.clear();
        let asked = self.toolchain.len();
        loop {
            let mut happenings = self.look_at_signals();
            self.look_at_executions();
            self.look_at_toolchain();
            happenings.extend(self.ended.drain(..).map(Happening::Ended));
            let now = self.session.now();
            self.reporter.tick(now.wall);
            let is_due = until_ms.is_some_and(|until_ms| now.monotonic_ms >= until_ms);
            if !happenings.is_empty() || is_due || self.toolchain.len() < asked {
                return happenings;
            }
            let until_due_ms = until_ms.map_or(u64::MAX, |until_ms| until_ms - now.monotonic_ms);
            self.poll(until_due_ms.min(LOOK_MS));
        }
    }

    fn look_at_tree(&mut self, ended: &[RequirementKey]) -> TreeState {
        let passed = std::mem::take(&mut self.passed);
        let touches: Vec<String> = self.touches.iter().flat_map(|(_, touches)| touches.iter().cloned()).collect();
        self.touches.retain(|(key, _)| !ended.contains(key));
        let Some(snapshot) = &mut self.ground.snapshot else { return TreeState::Same };
        // Without a declaration nothing is excused; an empty list of pathspecs would select everything.
        let touches = match (!touches.is_empty()).then(|| Pathspecs::parse(&touches)).transpose() {
            Ok(touches) => touches,
            Err(error) => return TreeState::Unknown(error.to_string()),
        };
        match snapshot.changed(self.ground.repository, touches.as_ref()) {
            Ok(changed) if changed.is_empty() => {
                // What a job made of a tree that was not the commit's is nothing to rely on.
                for (job, subject) in passed {
                    self.left_here.passes(&job, subject);
                    self.note_preparation(&job);
                }
                TreeState::Same
            }
            Ok(changed) if changed.iter().any(|it| it.how == How::WorktreeGone) => TreeState::Gone,
            Ok(changed) => TreeState::Changed(changed.iter().map(changed_in_words).collect()),
            Err(_) if !self.top.is_dir() => TreeState::Gone,
            Err(error) => TreeState::Unknown(error.to_string()),
        }
    }
}

/// One difference as a sentence that begins with the path.
fn changed_in_words(changed: &Changed) -> String {
    let what = match changed.how {
        How::WorktreeGone => "the worktree is gone",
        How::HeadMoved => "`HEAD` names another commit",
        How::BranchSwitched => "`HEAD` names another branch",
        How::Staged => "staged",
        How::Modified => "modified",
        How::Deleted => "deleted",
        How::Touched => "written to, and put back",
        How::Appeared => "appeared, and is neither tracked nor ignored",
    };
    if changed.path.is_empty() { what.to_owned() } else { format!("{} ({what})", changed.path) }
}

/// The capacity of this machine, where there is a folder for it. A run inside a job of another run is covered by that job's slot:
/// it would wait for itself.
fn slots_of_this_machine(count: NonZeroU32) -> Option<Slots> {
    if environment::variable("DISCERN").is_some() {
        return None;
    }
    let runtime = environment::variable("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_dir());
    let shared = || std::env::temp_dir().join(format!("git-discern-{}", rustix::process::getuid().as_raw()));
    Some(Slots::new(runtime.unwrap_or_else(shared), count))
}

/// The full path of a log, if the file is still there.
pub fn log_file(session: &Session<'_>, log: &LogRef) -> Option<String> {
    let path = session.journals.run_folder(&log.handle).join(&log.file);
    path.is_file().then(|| path.to_string_lossy().into_owned())
}
