//! Executions: what is started for a plan, under which limits, and what its end amounts to.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use super::{Machine, Work};
use crate::config::{self, Command, Config, Environment};
use crate::engine::evaluate::known_receipt;
use crate::engine::job::{JobLaunch, RunningJob, StartError};
use crate::engine::job_end::JobEnd;
use crate::engine::log;
use crate::engine::measure;
use crate::engine::prepare;
use crate::engine::requirements::Detailed;
use crate::engine::slots::Slot;
use crate::engine::stage::{ExecutionEnd, ExecutionHow, Stage as _};
use crate::event::What;
use crate::evidence::subject::Source;
use crate::evidence::{LogRef, Reading, RequirementKey, RequirementKind};
use crate::git::with_causes;
use crate::id::Name;
use crate::os::environment::{self, Inheritance, Marks, Variables};
use crate::os::{hooks, process, program};
use crate::plan::Start;

/// How many lines of a log are read to say what a shell did not find.
const LINES_FOR_REASON: usize = 5;

/// A job, or the command of standards, that runs.
pub(super) struct Active {
    start: Start,
    pub(super) job: RunningJob,
    command: Command,
    /// The `PATH` that it was given, for the line about it where a program is not there.
    path: String,
    log: PathBuf,
    limit: Option<(u64, String)>,
    timed_out: bool,
    /// Held for as long as it runs.
    _slot: Option<Slot>,
}

/// What a supervisor is given, besides what is the same for the whole run.
pub(super) struct Launch<'l> {
    pub(super) command: &'l Command,
    pub(super) environment: &'l Variables,
    pub(super) log: &'l Path,
    pub(super) input: Option<&'l std::fs::File>,
    pub(super) slot: Option<&'l Slot>,
}

impl Machine<'_, '_> {
    pub(super) fn environment(&self, name: &Name, declared: &[String], config: &Config) -> Variables {
        let inheritance = match config.gate.environment {
            Environment::Inherit => Inheritance::Everything,
            Environment::Strict => Inheritance::Declared,
        };
        let marks = Marks {
            attempt: self.attempt,
            candidate: self.commit,
            job: name,
            workspace: &self.top,
            repository: self.session.repository.common_dir(),
        };
        environment::job_environment(&self.inherited, inheritance, declared, &marks)
    }

    pub(super) fn launch(&self, name: &Name, what: &Launch<'_>) -> Result<RunningJob, StartError> {
        let lock = self.ground.lock.file().as_fd();
        let hold: Vec<_> = [lock].into_iter().chain(what.slot.map(|slot| slot.file().as_fd())).collect();
        let launch = JobLaunch {
            name,
            command: what.command,
            directory: &self.top,
            environment: what.environment,
            log: what.log,
            input: what.input.map(|file| file.as_fd()),
            hold: &hold,
            supervisor: Path::new(process::OWN_BINARY),
        };
        RunningJob::start(&launch, self.session.now().monotonic_ms)
    }

    /// Starts what `start` asks for; what keeps it from starting is how it ended.
    pub(super) fn begin(&mut self, start: &Start, slot: Option<Slot>) -> Result<(), ExecutionHow> {
        let not_started = |why: String| ExecutionHow::NotStarted { code: None, why };
        let work = self.work.as_ref().ok_or_else(|| not_started("there is no plan".to_owned()))?;
        let key = &start.serves[0];
        let detailed = work.details.get(key).ok_or_else(|| not_started(format!("{key} is not planned")))?;
        let (command, input) = self.what_to_execute(work, detailed).map_err(not_started)?;
        // One execution may serve several standards: each one's timeout holds.
        let timeouts = start.serves.iter().filter_map(|key| limits(&work.config, key).timeout);
        let limit = timeouts.min_by_key(|(limit_ms, _)| *limit_ms);
        let limits = limits(&work.config, key);
        let environment = self.environment(&key.name, &limits.env, &work.config);
        let log = self.logs.join(LogRef::file_of(&key.name, start.tries));
        let expected_ms = detailed.requirement.expected_ms;
        let launch = Launch {
            command: &command,
            environment: &environment,
            log: &log,
            input: input.as_ref(),
            slot: slot.as_ref(),
        };
        if key.kind == RequirementKind::Job {
            // Before it starts: a run that is killed in between must not leave an old promise behind.
            self.left_here.begins(&key.name);
        }
        let job = self.launch(&key.name, &launch).map_err(|error| not_started(with_causes(&error)))?;
        self.touches.extend((!limits.touches.is_empty()).then(|| (key.clone(), limits.touches)));
        hooks::at("job started");
        let shown = log.to_string_lossy().into_owned();
        self.tell(What::Started { name: key.name.clone(), tries: start.tries, log: Some(shown), expected_ms });
        let path = environment.get(OsStr::new("PATH")).map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        self.active.push(Active {
            start: start.clone(),
            job,
            command,
            path,
            log,
            limit,
            timed_out: false,
            _slot: slot,
        });
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
            // Kept under the name that the job had then.
            (Some(artifact), _) => {
                Ok(measure::artifact_file(&logs, known_receipt(item).map_or(job, |it| &it.name), artifact))
            }
            (None, Some(log)) => Ok(logs.join(&log.file)),
            (None, None) => measure::latest_log(&logs, job).ok_or_else(|| format!("`{job}` left no output")),
        }
    }

    /// Takes in what ended, before any timer is looked at (C15), and ends what is overdue.
    pub(super) fn look_at_executions(&mut self) {
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
    }

    /// What the end of an execution amounts to.
    fn end_of(&mut self, active: Active, end: JobEnd) -> ExecutionEnd {
        hooks::at("job ended");
        let key = active.start.serves[0].clone();
        if end.left_behind > 0 {
            self.tell(What::LeftBehind { name: key.name.clone(), processes: end.left_behind });
        }
        if end.out_of_reach > 0 {
            let (name, count) = (&key.name, end.out_of_reach);
            let text = format!("job `{name}` left {count} process(es) that can't be ended: another user's, or stuck");
            self.tell(What::Note { text });
        }
        let (mut how, program) = self.how(&active, &end);
        let passed = matches!(how, ExecutionHow::Exited { code: 0, .. });
        // On a tree as it stands, what a job leaves behind belongs to no subject.
        if let (true, RequirementKind::Job, Some(work), Some(_)) = (passed, key.kind, &self.work, &self.ground.snapshot)
            && let Some(detailed) = work.details.get(&key)
        {
            self.passed.push((key.name.clone(), detailed.requirement.subject));
        }
        if let (false, Some(work)) = (passed, &self.work) {
            // What it used may be what it failed on.
            work.plan.left_over_for(&key).iter().for_each(|need| self.left_here.begins(need));
        }
        if let ExecutionHow::NotStarted { why, .. } = &mut how {
            match &program {
                // It was not looked for in `PATH`.
                Some(path) if path.contains('/') => {
                    if let Some(interpreter) = program::missing_interpreter(&self.top.join(path)) {
                        *why = format!(
                            "`{path}` could not be started: `{interpreter}`, which its first line names, is not there"
                        );
                    }
                }
                _ => note_path(&active.log, &active.path),
            }
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

    /// Notes what preparing left, so that its removal is known to undo it. What can't be listed is made again.
    pub(super) fn note_preparation(&mut self, job: &Name) {
        if !prepare::is_it(job) {
            return;
        }
        match self.ground.repository.left_over(&self.ground.keep) {
            Ok(left) => self.left_here.prepared(&left),
            Err(_) => self.left_here.forget_all(),
        }
    }

    fn readings(&self, start: &Start, log: &Path) -> Vec<(RequirementKey, Result<Reading, String>)> {
        let Some(work) = &self.work else { return Vec::new() };
        let standards = start.serves.iter().filter(|key| key.kind == RequirementKind::Standard);
        let details: Vec<&Detailed> = standards.filter_map(|key| work.details.get(key)).collect();
        measure::readings(self.session.repository, &details, log)
    }

    /// How it ended, and the program that could not be started, where that is known.
    fn how(&self, active: &Active, end: &JobEnd) -> (ExecutionHow, Option<String>) {
        if active.timed_out
            && end.by_order
            && let Some((limit_ms, set_by)) = &active.limit
        {
            let seconds = limit_ms / 1000;
            return (ExecutionHow::TimedOut(format!("it ran longer than {seconds} s ({set_by})")), None);
        }
        if end.by_order {
            return (ExecutionHow::Ended, None);
        }
        let tail = log::last_lines(&active.log, LINES_FOR_REASON).unwrap_or_default();
        let lines = tail.texts().collect::<Vec<_>>();
        let program = end.not_started(&active.command, &lines).map(str::to_owned);
        (end.how(&active.command, &lines), program)
    }
}

/// Adds to the log of a job whose program was not found where it was looked for. It is for people: a log that can't be
/// written says it as well as it can.
fn note_path(log: &Path, path: &str) {
    let note = format!("git discern: PATH is `{path}`\n");
    let _ = OpenOptions::new().append(true).open(log).and_then(|mut file| file.write_all(note.as_bytes()));
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

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
