//! The stage of a real run: processes under supervisors, signals, the worktree, the journal and the terminal.
//!
//! One poll over everything that can wake the run; whatever it finds is returned before anything else is done, so that the loop
//! can renew first (C15).

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use super::evaluate::known_receipt;
use super::holder;
use super::job::{JobLaunch, RunningJob};
use super::job_end::{Exit, JobEnd};
use super::left_here::LeftHere;
use super::log::LogFollower;
use super::measure;
use super::requirements::Detailed;
use super::session::Session;
use super::slots::{Slot, Slots};
use super::stage::{Ending, EndingSignal, ExecutionEnd, ExecutionHow, Happening, Stage, TreeState};
use super::trunk::Comparison;
use super::worktree_lock::WorktreeLock;
use crate::claim::owner::{Input, Owner, Said};
use crate::config::{self, Command, Config, Environment};
use crate::event::{Audience, Event, What};
use crate::evidence::subject::{Source, ToolchainAnswer, ToolchainEnd};
use crate::evidence::{LogRef, RequirementKey, RequirementKind};
use crate::git::{Changed, How, Pathspecs, Snapshot};
use crate::id::{AttemptId, CommitId, Name, OperationHandle};
use crate::journal::Journal;
use crate::os::environment::{self, Inheritance, Marks, Variables};
use crate::os::process::{self, ProcessEnd};
use crate::os::signal::{self, Signal, Signals};
use crate::plan::{Plan, Start};
use crate::time::Reading;

/// How often a run looks whether it was asked to stop, and draws, in milliseconds.
const LOOK_MS: u64 = 100;

/// How long a toolchain command may take, in milliseconds.
const TOOLCHAIN_MS_MAX: u64 = 60_000;

/// The longest answer of a toolchain command, in bytes.
const TOOLCHAIN_BYTES_MAX: u64 = 1024 * 1024;

/// How many lines of a log are read to say what a shell did not find.
const LINES_FOR_REASON: usize = 5;

/// And how many bytes.
const BYTES_FOR_REASON: usize = 16 * 1024;

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
    /// What comparing with trunk gave.
    pub comparison: Comparison,
}

impl Work {
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
    signals: Signals,
    lock: WorktreeLock,
    snapshot: Snapshot,
    left_here: LeftHere,
    attempt: AttemptId,
    commit: CommitId,
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
    /// Ends that are known and not yet handed out.
    ended: VecDeque<ExecutionEnd>,
    stop_seen: bool,
    slot_wait_told: bool,
    touches: Vec<String>,
}

/// What a machine is made of.
pub struct Parts<'m, 'r> {
    /// Claims and evidence.
    pub session: &'m mut Session<'r>,
    /// Where the story goes.
    pub reporter: &'m mut dyn Audience,
    /// The run's journal, if it could be made.
    pub journal: Option<Journal>,
    /// The signals that are caught.
    pub signals: Signals,
    /// The worktree.
    pub lock: WorktreeLock,
    /// What the worktree was.
    pub snapshot: Snapshot,
    /// The attempt.
    pub attempt: AttemptId,
    /// The candidate.
    pub commit: CommitId,
    /// The worktree's top.
    pub top: PathBuf,
}

/// A job, or the command of standards, that runs.
struct Active {
    start: Start,
    job: RunningJob,
    command: Command,
    log: PathBuf,
    limit: Option<(u64, String)>,
    timed_out: bool,
    /// Held for as long as it runs.
    _slot: Option<Slot>,
}

/// A toolchain command that runs.
struct Asked {
    command: String,
    job: RunningJob,
    log: PathBuf,
}

impl<'m, 'r> Machine<'m, 'r> {
    /// A machine on which nothing runs yet.
    ///
    /// # Errors
    /// There is nowhere to put logs.
    pub fn new(parts: Parts<'m, 'r>) -> std::io::Result<Self> {
        let temporary = if parts.journal.is_some() { None } else { Some(tempfile::tempdir()?) };
        let folder = parts.journal.as_ref().map(|journal| journal.folder().to_owned());
        let logs = folder.or_else(|| temporary.as_ref().map(|it| it.path().to_owned())).unwrap_or_default();
        let left_here = LeftHere::read(parts.session.repository.git_dir());
        Ok(Self {
            session: parts.session,
            reporter: parts.reporter,
            journal: parts.journal,
            signals: parts.signals,
            lock: parts.lock,
            snapshot: parts.snapshot,
            left_here,
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
            ended: VecDeque::new(),
            stop_seen: false,
            slot_wait_told: false,
            touches: Vec::new(),
        })
    }

    /// The journal's handle, if there is a journal.
    pub fn handle(&self) -> Option<OperationHandle> {
        self.journal.as_ref().map(|journal| journal.handle().clone())
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

    /// Starts every toolchain command, all at once.
    pub fn ask_toolchain(&mut self, commands: &[String], config: &Config) {
        let Ok(name) = "toolchain".parse::<Name>() else { return };
        for (number, command) in commands.iter().enumerate() {
            let log = self.logs.join(format!("toolchain.{number}.log"));
            let environment = self.environment(&name, &[], config);
            let shell = Command::Shell(command.clone());
            match self.launch(&name, &shell, &environment, &log, None, None) {
                Ok(job) => self.toolchain.push(Asked { command: command.clone(), job, log }),
                Err(_) => self.answer(command.clone(), ToolchainEnd::NotStarted, Vec::new()),
            }
        }
    }

    /// Whether a toolchain command has not answered yet.
    pub fn toolchain_is_open(&self) -> bool {
        !self.toolchain.is_empty()
    }

    /// What the toolchain commands answered.
    pub fn toolchain_answers(&self) -> &BTreeMap<String, ToolchainAnswer> {
        &self.answers
    }

    fn answer(&mut self, command: String, end: ToolchainEnd, output: Vec<u8>) {
        self.answers.insert(command.clone(), ToolchainAnswer { command, end, output });
    }

    fn environment(&self, name: &Name, declared: &[String], config: &Config) -> Variables {
        let inheritance = match config.gate.environment {
            Environment::Inherit => Inheritance::Everything,
            Environment::Strict => Inheritance::Declared,
        };
        let marks = Marks {
            attempt: self.attempt,
            candidate: Some(self.commit),
            job: name,
            workspace: &self.top,
            repository: self.session.repository.common_dir(),
        };
        environment::job_environment(&self.inherited, inheritance, declared, &marks)
    }

    fn launch(
        &self,
        name: &Name,
        command: &Command,
        environment: &Variables,
        log: &Path,
        input: Option<&std::fs::File>,
        slot: Option<&Slot>,
    ) -> Result<RunningJob, super::job::StartError> {
        let lock = self.lock.file().as_fd();
        let hold: Vec<_> = [lock].into_iter().chain(slot.map(|slot| slot.file().as_fd())).collect();
        let launch = JobLaunch {
            name,
            command,
            directory: &self.top,
            environment,
            log,
            input: input.map(|file| file.as_fd()),
            hold: &hold,
            supervisor: Path::new(process::OWN_BINARY),
        };
        RunningJob::start(&launch, self.session.now().monotonic_ms)
    }

    /// Starts what `start` asks for; what keeps it from starting is how it ended.
    fn begin(&mut self, start: &Start, slot: Option<Slot>) -> Result<(), ExecutionHow> {
        let not_started = |why: String| ExecutionHow::NotStarted { code: None, why };
        let work = self.work.as_ref().ok_or_else(|| not_started("there is no plan".to_owned()))?;
        let key = &start.serves[0];
        let detailed = work.details.get(key).ok_or_else(|| not_started(format!("{key} is not planned")))?;
        let (command, input) = self.what_to_execute(work, detailed).map_err(not_started)?;
        let limits = limits(&work.config, key);
        let environment = self.environment(&key.name, &limits.env, &work.config);
        let log = self.log_path(&key.name, start.tries);
        let expected_ms = detailed.requirement.expected_ms;
        let job = self
            .launch(&key.name, &command, &environment, &log, input.as_ref(), slot.as_ref())
            .map_err(|error| not_started(error_text(&error)))?;
        if key.kind == RequirementKind::Job {
            self.left_here.begins(&key.name);
        }
        self.touches.extend(limits.touches);
        let shown = log.to_string_lossy().into_owned();
        self.tell(What::Started { name: key.name.clone(), tries: start.tries, log: Some(shown), expected_ms });
        let limit = limits.timeout;
        self.active.push(Active { start: start.clone(), job, command, log, limit, timed_out: false, _slot: slot });
        Ok(())
    }

    /// The command of a requirement, and the file that it reads, if it measures what a job left.
    fn what_to_execute(&self, work: &Work, detailed: &Detailed) -> Result<(Command, Option<std::fs::File>), String> {
        match &detailed.input.definition.source {
            Source::Run(command) => Ok((command.clone(), None)),
            Source::From { job, artifact, extract, .. } => {
                let path = self.left_by(work, job, artifact.as_deref())?;
                let file = std::fs::File::open(&path).map_err(|error| format!("`{}`: {error}", path.display()))?;
                let command = extract.clone().unwrap_or_else(|| Command::List(vec!["cat".to_owned()]));
                Ok((command, Some(file)))
            }
        }
    }

    /// The file that holds what `job` printed, or the artifact that it kept: of this attempt, or of the receipt that counts.
    fn left_by(&self, work: &Work, job: &Name, artifact: Option<&str>) -> Result<PathBuf, String> {
        let key = RequirementKey::job(job.clone());
        let item = work.plan.item(&key).ok_or_else(|| format!("there is no job `{job}`"))?;
        let earlier = known_receipt(item).and_then(|receipt| receipt.log.as_ref());
        let logs = earlier.map_or_else(|| self.logs.clone(), |log| self.session.journals.run_folder(&log.handle));
        match (artifact, earlier) {
            (Some(artifact), _) => Ok(measure::artifact_file(&logs, job, artifact)),
            (None, Some(log)) => Ok(logs.join(&log.file)),
            (None, None) => measure::latest_log(&logs, job).ok_or_else(|| format!("`{job}` left no output")),
        }
    }

    /// Where this run keeps its files.
    pub fn logs(&self) -> &Path {
        &self.logs
    }

    fn log_path(&self, name: &Name, tries: u32) -> PathBuf {
        match &self.journal {
            Some(journal) => journal.log_path(name, tries),
            None => self.logs.join(format!("{name}.{tries}.log")),
        }
    }

    /// Takes in what ended, before any timer is looked at (C15), and ends what is overdue.
    fn look_at_executions(&mut self) {
        let now_ms = self.session.now().monotonic_ms;
        for at in (0..self.active.len()).rev() {
            if let Some(end) = self.active[at].job.advance() {
                let active = self.active.remove(at);
                let end = self.end_of(active, end);
                self.ended.push_back(end);
            } else {
                let active = &mut self.active[at];
                let limit_ms = active.limit.as_ref().map_or(u64::MAX, |(limit_ms, _)| *limit_ms);
                let overdue =
                    !active.timed_out && !active.job.has_exited() && active.job.elapsed_ms(now_ms) >= limit_ms;
                if overdue {
                    active.timed_out = true;
                    active.job.terminate();
                }
            }
        }
        for at in (0..self.toolchain.len()).rev() {
            if let Some(end) = self.toolchain[at].job.advance() {
                let asked = self.toolchain.remove(at);
                let output = crate::os::files::read_bounded(&asked.log, TOOLCHAIN_BYTES_MAX).ok().flatten();
                let how = match end.exit {
                    Exit::Process(ProcessEnd::Code(code)) => ToolchainEnd::Exited(code),
                    Exit::Process(ProcessEnd::Signal(signal)) => ToolchainEnd::Killed(signal),
                    Exit::NotStarted { .. } | Exit::Unknown { .. } => ToolchainEnd::NotStarted,
                };
                self.answer(asked.command, how, output.unwrap_or_default());
            } else if self.toolchain[at].job.elapsed_ms(now_ms) >= TOOLCHAIN_MS_MAX {
                self.toolchain[at].job.kill();
            }
        }
    }

    /// What the end of an execution amounts to.
    fn end_of(&mut self, active: Active, end: JobEnd) -> ExecutionEnd {
        let key = active.start.serves[0].clone();
        if end.left_behind > 0 {
            self.tell(What::LeftBehind { name: key.name.clone(), processes: end.left_behind });
        }
        let how = self.how(&active, &end);
        let passed = matches!(how, ExecutionHow::Exited { code: 0, .. });
        if let (true, RequirementKind::Job, Some(work)) = (passed, key.kind, &self.work)
            && let Some(detailed) = work.details.get(&key)
        {
            let subject = detailed.requirement.subject;
            self.left_here.passes(&key.name, subject);
        }
        let readings = self.readings(&active.start, &active.log);
        let declared = self.work.as_ref().and_then(|work| work.config.job(&key.name)).map(|job| job.artifacts.clone());
        let declared = declared.filter(|_| passed && key.kind == RequirementKind::Job).unwrap_or_default();
        let kept = measure::keep_artifacts(&self.top, &self.logs, &key.name, &declared);
        let (artifacts, artifact_lost) = kept.map_or_else(|why| (Vec::new(), Some(why)), |kept| (kept, None));
        ExecutionEnd {
            start: active.start,
            at: self.session.now().wall,
            how,
            duration_ms: end.duration_ms,
            log_bytes: end.log_bytes,
            output_lost: end.output_lost.or(artifact_lost),
            log: self.journal.is_some().then(|| file_name(&active.log)),
            readings,
            artifacts,
        }
    }

    fn readings(&self, start: &Start, log: &Path) -> Vec<(RequirementKey, Result<crate::evidence::Reading, String>)> {
        let Some(work) = &self.work else { return Vec::new() };
        let standards = start.serves.iter().filter(|key| key.kind == RequirementKind::Standard);
        let details: Vec<&Detailed> = standards.filter_map(|key| work.details.get(key)).collect();
        measure::readings(self.session.repository, &details, log)
    }

    fn how(&self, active: &Active, end: &JobEnd) -> ExecutionHow {
        if active.timed_out
            && end.by_order
            && let Some((limit_ms, set_by)) = &active.limit
        {
            let seconds = limit_ms / 1000;
            return ExecutionHow::TimedOut(format!("it ran longer than {seconds} s ({set_by})"));
        }
        if end.by_order {
            return ExecutionHow::Ended;
        }
        let tail = LogFollower::new(&active.log).tail(LINES_FOR_REASON, BYTES_FOR_REASON).unwrap_or_default();
        let path = self.inherited.get(std::ffi::OsStr::new("PATH")).map(|it| it.to_string_lossy().into_owned());
        end.how(&active.command, &tail.lines, &path.unwrap_or_default())
    }

    fn look_at_signals(&mut self) -> Vec<Happening> {
        let mut happenings = Vec::new();
        for signal in self.signals.drain() {
            match signal {
                Signal::Interrupt => happenings.push(Happening::Signal(EndingSignal::Interrupt)),
                Signal::Terminate => happenings.push(Happening::Signal(EndingSignal::Terminate)),
                Signal::Hangup => happenings.push(Happening::Signal(EndingSignal::Hangup)),
                Signal::Suspend => self.stand_still(),
                _ => {}
            }
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
        let _ = signal::stop_self();
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
        let descriptors: Vec<_> = [self.signals.fd()].into_iter().chain(active).chain(toolchain).collect();
        process::wait_any(&descriptors, limit_ms);
    }
}

impl Stage for Machine<'_, '_> {
    fn drive(&mut self, owner: &mut Owner, input: Input) -> Vec<Said> {
        holder::drive(owner, input, &mut *self.session)
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
        while self.taken.len() < wanted {
            match slots.try_take() {
                Ok(Some(slot)) => self.taken.push(slot),
                Ok(None) => break,
                // Capacity is a courtesy: where it can't be counted, it is not capped.
                Err(_) => {
                    self.slots = None;
                    return wanted;
                }
            }
        }
        if self.taken.is_empty() && !self.slot_wait_told {
            self.slot_wait_told = true;
            self.tell(What::Note { text: "waiting for a free slot (`[gate] slots`)".to_owned() });
        }
        self.taken.len().min(wanted)
    }

    fn start(&mut self, start: &Start) {
        let slot = self.taken.pop();
        self.slot_wait_told = false;
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

    fn look_at_tree(&mut self, _ended: &[RequirementKey]) -> TreeState {
        // Without a declaration nothing is excused; an empty list of pathspecs would select everything.
        let touches = match (!self.touches.is_empty()).then(|| Pathspecs::parse(&self.touches)).transpose() {
            Ok(touches) => touches,
            Err(error) => return TreeState::Unknown(error.to_string()),
        };
        match self.snapshot.changed(self.session.repository, touches.as_ref()) {
            Ok(changed) if changed.is_empty() => TreeState::Same,
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

/// What the configuration says about running a requirement.
struct Limits {
    env: Vec<String>,
    touches: Vec<String>,
    timeout: Option<(u64, String)>,
}

fn limits(config: &Config, key: &RequirementKey) -> Limits {
    let limited = |timeout: &config::Timeout| {
        timeout.limit.map(|limit| (u64::try_from(limit.as_millis()).unwrap_or(u64::MAX), timeout.set_by.clone()))
    };
    let job = config.job(&key.name).filter(|_| key.kind == RequirementKind::Job);
    let standard = config.standard(&key.name).filter(|_| key.kind == RequirementKind::Standard);
    match (job, standard) {
        (Some(job), _) => Limits {
            env: job.influences.env.clone(),
            touches: job.touches.iter().map(|it| it.as_str().to_owned()).collect(),
            timeout: limited(&job.timeout),
        },
        (None, Some(standard)) => {
            Limits { env: standard.influences.env.clone(), touches: Vec::new(), timeout: limited(&standard.timeout) }
        }
        (None, None) => Limits { env: Vec::new(), touches: Vec::new(), timeout: None },
    }
}

/// The capacity of this machine, where there is a folder for it.
fn slots_of_this_machine(count: NonZeroU32) -> Option<Slots> {
    let runtime = environment::variable("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_dir());
    let shared = || std::env::temp_dir().join(format!("git-discern-{}", rustix::process::getuid().as_raw()));
    Some(Slots::new(runtime.unwrap_or_else(shared), count))
}

fn error_text(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        text = format!("{text}: {source}");
        cause = source.source();
    }
    text
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The full path of a log, if the file is still there.
pub fn log_file(session: &Session<'_>, log: &LogRef) -> Option<String> {
    let path = session.journals.run_folder(&log.handle).join(&log.file);
    path.is_file().then(|| path.to_string_lossy().into_owned())
}
