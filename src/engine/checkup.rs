//! What `doctor` looks at. Each check is by itself: one that fails keeps no other from being made.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::candidate::committed_config;
use super::hook::{self, HookState};
use super::kept;
use super::locks;
use super::no_answer::NoAnswer;
use super::recovery::{self, Finding, Mode};
use super::requirements;
use super::retention;
use super::session::Session;
use crate::config::{self, Colour, Command, Config, Job};
use crate::document::{CheckState, DoctorCheck, Refusal, against, plain};
use crate::git::repository::{ObjectFormat, RefFormat};
use crate::git::{GitError, LeftoverLock, NEWER_GIT, Repository, with_causes};
use crate::id::Name;
use crate::os::{descendants, environment, files, program};

/// A younger lock is taken for one that a live writer holds, in seconds.
const LOCK_AGE_MIN_SECONDS: u64 = 5;

/// Clocks further apart than this are worth a word, in milliseconds.
const CLOCKS_APART_MS_MAX: i64 = 2_000;

/// How often the clock of the file system is looked at for a change.
const CTIME_LOOKS_MAX: u32 = 2_000;

/// A mebibyte.
const MIB: u64 = 1 << 20;

/// Folders deeper than this are not looked into.
const DEPTH_MAX: u32 = 8;

/// What a shell begins a command with that is no program to look for: its reserved words and what it does itself.
const SHELL_WORDS: [&str; 47] = [
    "if", "for", "while", "until", "case", "function", "select", "time", "coproc", "test", "cd", "pushd", "popd",
    "echo", "printf", "export", "readonly", "local", "declare", "typeset", "let", "set", "unset", "shift", "exec",
    "eval", "exit", "return", "true", "false", "command", "builtin", "type", "hash", "alias", "read", "wait", "trap",
    "ulimit", "umask", "getopts", "source", "shopt", ".", "times", "enable", "bind",
];

/// Looks at everything; with `mends`, what is ours and out of order is put in order.
///
/// # Errors
/// The store can't be listed.
pub fn look(session: &mut Session<'_>, mends: bool) -> Result<Vec<DoctorCheck>, NoAnswer> {
    let repository = session.repository;
    let mut checks = vec![git(repository), format(repository)];
    let config = config(repository, &mut checks);
    checks.extend(config.as_ref().map(|config| commands(config, repository)));
    checks.extend(config.iter().flat_map(|config| pathspecs(config, repository)));
    checks.extend(repository.worktree().ok().map(|_| hook(repository, mends)));
    let store = writable(repository);
    let is_writable = store.state != CheckState::Broken;
    checks.push(store);
    if is_writable {
        // Both are tried on a file; where none can be made, that has been said.
        checks.push(file_system(repository));
        checks.push(clock(session));
    }
    checks.push(processes());
    checks.push(claims(session)?);
    checks.push(ledger(session));
    checks.push(lock_files(session, mends)?);
    checks.push(journals(session));
    checks.push(space(session, mends));
    checks.extend(checkouts(repository));
    Ok(checks)
}

/// `1 lock`, `2 locks`.
fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// `3.2 MiB`.
fn size(bytes: u64) -> String {
    format!("{}.{} MiB", bytes / MIB, bytes % MIB * 10 / MIB)
}

fn check(code: &str, state: CheckState, message: impl Into<String>) -> DoctorCheck {
    let message = plain(&message.into());
    let advice = against(&message).map(str::to_owned);
    DoctorCheck { code: code.to_owned(), state, message, fix: None, advice }
}

fn with_fix(check: DoctorCheck, fix: &str) -> DoctorCheck {
    DoctorCheck { fix: Some(fix.to_owned()), ..check }
}

/// Whether everything in the ledger can be read here.
fn ledger(session: &Session<'_>) -> DoctorCheck {
    let read = session.ledger.all_outcomes().and_then(|outcomes| Ok((outcomes.len(), session.ledger.all_receipts()?)));
    let (outcomes, found) = match read {
        Ok(read) => read,
        Err(error) => return check("ledger", CheckState::Broken, error.to_string()),
    };
    let message = format!("{}, {}", count(outcomes, "outcome"), count(found.receipts.len(), "receipt"));
    let Some(first) = found.warnings.first() else { return check("ledger", CheckState::Good, message) };
    let more = match found.warnings.len() {
        1 => String::new(),
        all => format!("; {} in all", all),
    };
    let then = if found.newer { "what it is about runs again here" } else { "it is as good as none" };
    check("ledger", CheckState::Note, format!("{message}; {first}{more}: {then}"))
}

fn git(repository: &Repository) -> DoctorCheck {
    match repository.git_version() {
        Ok(version) => check("git", CheckState::Good, version),
        Err(error) => {
            let advice = Some(NEWER_GIT.to_owned());
            DoctorCheck { advice, ..with_fix(check("git", CheckState::Broken, with_causes(&error)), "git --version") }
        }
    }
}

fn format(repository: &Repository) -> DoctorCheck {
    let refs = match repository.ref_format() {
        RefFormat::Files => "refs in files",
        RefFormat::Reftable => "refs in reftable",
    };
    let objects = match repository.object_format() {
        ObjectFormat::Sha1 => "SHA-1",
        ObjectFormat::Sha256 => "SHA-256",
    };
    let kind = if repository.is_bare() { ", bare: `status`, `verify`, `show` and `log` work here" } else { "" };
    let shallow = if repository.is_shallow() { ", shallow: trunk may have to be fetched" } else { "" };
    check("repository", CheckState::Good, format!("{refs}, {objects}{kind}{shallow}"))
}

/// The configuration that counts, which is the committed one; the worktree's where there is no commit.
fn config(repository: &Repository, checks: &mut Vec<DoctorCheck>) -> Option<Config> {
    let committed = match repository.head() {
        Ok(head) => committed_config(repository, &head),
        Err(GitError::Unborn { .. }) => {
            checks.push(check("configuration", CheckState::Note, "nothing is committed yet"));
            return in_worktree(repository)?.ok();
        }
        Err(error) => Err(error.into()),
    };
    match committed {
        Ok(config) => {
            let message = format!("{}, {}", count(config.jobs.len(), "job"), count(config.standards.len(), "standard"));
            checks.push(check("configuration", CheckState::Good, message));
            if let Some(Err(refusal)) = in_worktree(repository) {
                let broken = "it is committed in order, and broken as it stands in the worktree";
                let first = refusal.diagnostics.into_iter().next();
                let said = first.map_or(Vec::new(), |one| [&[one.message][..], &one.place].concat()).join(", ");
                checks.push(check("configuration", CheckState::Note, format!("{broken}: {said}")));
            }
            Some(config)
        }
        Err(NoAnswer::Refused(refusal)) => {
            for one in refusal.diagnostics {
                let message = [&[one.message][..], &one.place].concat().join(", ");
                checks.push(DoctorCheck { fix: one.fix, ..check("configuration", CheckState::Broken, message) });
            }
            in_worktree(repository)?.ok()
        }
        Err(error) => {
            checks.push(check("configuration", CheckState::Broken, with_causes(&error)));
            None
        }
    }
}

/// The configuration as it stands in the worktree, if there is one.
fn in_worktree(repository: &Repository) -> Option<Result<Config, Refusal>> {
    let path = repository.worktree().ok()?.join(config::FILE);
    let bytes = files::read_bounded(&path, config::BYTES_MAX as u64).ok()??;
    Some(Config::parse(&bytes, config::FILE).map_err(|invalid| invalid.refusal(Colour::None)))
}

/// Whether the program that each command begins with can be found.
fn commands(config: &Config, repository: &Repository) -> DoctorCheck {
    let Ok(top) = repository.worktree() else {
        return check("commands", CheckState::Note, "not looked for: there is no worktree here");
    };
    let path = environment::variable("PATH");
    let begins = |job: &Job| program_to_look_for(job, config).map(|program| (program, job.name.clone()));
    // Each program with the job that is named for it: the last one.
    let programs: BTreeMap<String, Name> = config.jobs.iter().filter_map(begins).collect();
    let missing: Vec<String> = programs
        .iter()
        .filter(|(program, _)| !program::is_there(program, path.as_deref(), top))
        .map(|(program, job)| format!("`{program}` (job `{job}`)"))
        .collect();
    if programs.is_empty() {
        return check("commands", CheckState::Good, "no job begins with a program that could be looked for");
    }
    if missing.is_empty() {
        return check("commands", CheckState::Good, format!("{} of jobs, all found", count(programs.len(), "program")));
    }
    let message = format!("not found in PATH, or not executable: {}", missing.join(", "));
    check("commands", CheckState::Broken, message)
}

/// The program that a job begins with; nothing where it is not sure that it has to be there now. A path may be what an
/// earlier job makes.
fn program_to_look_for(job: &Job, config: &Config) -> Option<String> {
    let made_before = !job.influences.needs.is_empty() || !job.after.is_empty() || config.gate.prepare.is_some();
    program_of(&job.run).filter(|program| !(program.contains('/') && made_before))
}

/// The program that a command begins with; nothing where only a shell could say: behind an assignment or an expansion, and
/// where the word may be a function.
fn program_of(command: &Command) -> Option<String> {
    match command {
        Command::List(words) => words.first().cloned(),
        Command::Shell(line) => {
            let word = line.split_whitespace().next()?;
            let plain = word.chars().all(|it| it.is_ascii_alphanumeric() || "/._-+".contains(it));
            (plain && !line.contains("()") && !SHELL_WORDS.contains(&word)).then(|| word.to_owned())
        }
    }
}

/// The pathspecs that select nothing, as a run of the commit refuses them.
fn pathspecs(config: &Config, repository: &Repository) -> Vec<DoctorCheck> {
    let (Ok(head), Ok(trees)) = (repository.head(), repository.trees()) else { return Vec::new() };
    let unmatched = match requirements::unmatched(config, head.tree, &trees) {
        Ok(unmatched) => unmatched,
        Err(error) => return vec![check("inputs", CheckState::Broken, with_causes(&error))],
    };
    let named = unmatched.iter().map(|it| {
        let found = it.diagnostic();
        let message = [&[found.message][..], &found.place].concat().join(", ");
        DoctorCheck { fix: found.fix, ..check("inputs", CheckState::Broken, message) }
    });
    named.collect()
}

/// Whether pushes are looked at; with `mends`, a hook of ours that git ignores for its mode is made executable.
fn hook(repository: &Repository, mends: bool) -> DoctorCheck {
    let mended = if mends { hook::make_executable(repository) } else { Ok(None) };
    match mended {
        Ok(None) => {}
        Ok(Some(file)) => {
            return check("hook", CheckState::Mended, format!("`{}` is executable again", file.display()));
        }
        Err(error) => return check("hook", CheckState::Broken, with_causes(&error)),
    }
    match hook::effective(repository) {
        Ok(HookState::Effective { file }) => {
            check("hook", CheckState::Good, format!("pushes from here are looked at by {}", file.display()))
        }
        Ok(HookState::NotEffective { why }) => with_fix(
            check("hook", CheckState::Note, format!("pushes from here are not looked at: {why}")),
            "git discern hook install",
        ),
        Err(error) => check("hook", CheckState::Broken, with_causes(&error)),
    }
}

/// The write probe: the private folder, the objects and the refs are where the end of a run has to write.
fn writable(repository: &Repository) -> DoctorCheck {
    let private = repository.private_dir();
    let own = if private.is_dir() { private.clone() } else { repository.common_dir().to_owned() };
    let refs = match repository.ref_format() {
        RefFormat::Files => repository.common_dir().join("refs"),
        RefFormat::Reftable => repository.common_dir().join("reftable"),
    };
    let ours =
        [private, repository.common_dir().join("refs/discern"), repository.common_dir().join("refs/discern/attempt")];
    if let Some(file) = ours.iter().find(|folder| folder.symlink_metadata().is_ok_and(|meta| !meta.is_dir())) {
        let message = format!("`{}` is in the way: there has to be a folder, or nothing", file.display());
        let advice = Some("look at what it is, and move it away".to_owned());
        return DoctorCheck { advice, ..check("store", CheckState::Broken, message) };
    }
    for folder in [own, repository.common_dir().join("objects"), refs, repository.git_dir().to_owned()] {
        let probed = tempfile::Builder::new().prefix(".tmp-discern-").tempfile_in(&folder).and_then(|mut file| {
            file.write_all(b"probe")?;
            file.as_file().sync_all()
        });
        if let Err(error) = probed {
            return check("store", CheckState::Broken, format!("`{}` can't be written: {error}", folder.display()));
        }
    }
    check("store", CheckState::Good, "can be written")
}

/// What the file system can do that recovery and the tree check rely on.
fn file_system(repository: &Repository) -> DoctorCheck {
    let probed = tempfile::Builder::new().prefix(".tmp-discern-").tempfile_in(repository.git_dir()).and_then(|file| {
        let local = files::is_local(file.as_file());
        file.as_file().lock()?;
        let seen = files::is_locked(&std::fs::File::open(file.path())?)?;
        Ok((local, seen, ctime_step(file.path())?))
    });
    let (local, seen, step_ns) = match probed {
        Ok(probed) => probed,
        Err(error) => return check("file system", CheckState::Broken, format!("locks can't be tried: {error}")),
    };
    let step = match step_ns {
        Some(nanos) => {
            format!("change times in steps of {}.{:03} ms or less", nanos / 1_000_000, nanos / 1_000 % 1_000)
        }
        None => "change times in coarse steps: an edit within one of them may go unseen".to_owned(),
    };
    match (local, seen) {
        (_, false) => {
            check("file system", CheckState::Broken, format!("locks of one process are not seen by another; {step}"))
        }
        (false, _) => {
            let message = format!("not known to be local: a dead run is noticed only when its lease lapses; {step}");
            check("file system", CheckState::Note, message)
        }
        (true, true) if step_ns.is_none() => {
            check("file system", CheckState::Note, format!("local, locks work; {step}"))
        }
        (true, true) => check("file system", CheckState::Good, format!("local, locks work, {step}")),
    }
}

/// The smallest step of a file's change time that was seen, in nanoseconds; nothing where it never moved.
fn ctime_step(path: &Path) -> std::io::Result<Option<i64>> {
    let changed = |path: &Path| -> std::io::Result<i64> {
        let meta = std::fs::metadata(path)?;
        Ok(meta.ctime().saturating_mul(1_000_000_000).saturating_add(meta.ctime_nsec()))
    };
    let first = changed(path)?;
    for _ in 0..CTIME_LOOKS_MAX {
        std::fs::write(path, b"again")?;
        let now = changed(path)?;
        if now != first {
            return Ok(Some(now - first));
        }
    }
    Ok(None)
}

/// Whether the clock that dates journals and outcomes goes as the file system's does; takeovers by the clock need neither (C13).
fn clock(session: &Session<'_>) -> DoctorCheck {
    let probed = tempfile::Builder::new().prefix(".tmp-discern-").tempfile_in(session.repository.git_dir());
    let changed = match probed.and_then(|file| file.as_file().metadata()) {
        Ok(meta) => meta.ctime().saturating_mul(1000).saturating_add(meta.ctime_nsec() / 1_000_000),
        Err(error) => return check("clock", CheckState::Broken, format!("the file system's can't be seen: {error}")),
    };
    let apart = session.now().wall.as_millis().saturating_sub(changed);
    if apart.abs() <= CLOCKS_APART_MS_MAX {
        return check("clock", CheckState::Good, "goes as the file system's does");
    }
    let ahead = if apart > 0 { "ahead of" } else { "behind" };
    let message = format!("{} s {ahead} the file system's: ages that are shown are wrong by that", apart.abs() / 1000);
    with_fix(check("clock", CheckState::Note, message), "date")
}

/// Whether the progress of runs can be read.
fn journals(session: &Session<'_>) -> DoctorCheck {
    match session.journals.list() {
        Ok(runs) => check(
            "journals",
            CheckState::Good,
            format!("{} can be followed or looked back at", count(runs.len(), "run")),
        ),
        Err(error) => check("journals", CheckState::Broken, format!("the runs' journals can't be listed: {error}")),
    }
}

/// What kept checkouts take up; nothing where there is none.
fn checkouts(repository: &Repository) -> Option<DoctorCheck> {
    let kept = kept::all(repository);
    let first = kept.first()?;
    let bytes = kept.iter().map(kept::Kept::bytes).sum();
    let folder = first.path.parent().unwrap_or(&first.path).display();
    let message = format!("{} in {folder}, {}", count(kept.len(), "kept checkout"), size(bytes));
    Some(check("checkouts", CheckState::Good, message))
}

fn processes() -> DoctorCheck {
    match descendants::table_is_readable() {
        Ok(()) => check("processes", CheckState::Good, "the process table can be read: nothing outlives its job"),
        Err(error) => check("processes", CheckState::Broken, format!("the process table can't be read: {error}")),
    }
}

fn claims(session: &mut Session<'_>) -> Result<DoctorCheck, NoAnswer> {
    let by = session.retiring_run("doctor", None);
    let (mut live, mut abandoned, mut unreadable) = (0, 0, Vec::new());
    for candidate in session.candidates()? {
        match recovery::inspect(candidate, session, &by, Mode::Look).what {
            Finding::Live { .. } => live += 1,
            Finding::Abandoned { .. } => abandoned += 1,
            Finding::Unreadable(_) => unreadable.push(candidate),
            Finding::Free | Finding::Retired { .. } | Finding::NotRetired { .. } => {}
        }
    }
    if let Some(candidate) = unreadable.first() {
        let message =
            format!("{} can't be read, the first is {}'s", count(unreadable.len(), "record"), candidate.short());
        let fix = format!("git discern recover --forget {candidate}");
        return Ok(with_fix(check("claims", CheckState::Broken, message), &fix));
    }
    if abandoned > 0 {
        let message = format!("{live} held, {abandoned} abandoned: the next run takes them over, or you do");
        return Ok(with_fix(check("claims", CheckState::Note, message), "git discern recover"));
    }
    Ok(check("claims", CheckState::Good, format!("{live} held, none abandoned")))
}

fn lock_files(session: &mut Session<'_>, mends: bool) -> Result<DoctorCheck, NoAnswer> {
    let removed = if mends { locks::remove_dead(session)? } else { Vec::new() };
    let found = locks::all(session)?;
    let old = found.iter().find_map(|lock| match lock.what {
        LeftoverLock::Unknown { age_seconds, .. } if age_seconds >= LOCK_AGE_MIN_SECONDS => {
            Some((&lock.name, age_seconds))
        }
        _ => None,
    });
    if let Some((name, age)) = old {
        let message = format!("{name} has been locked for {age} s, and nothing proves that its owner has ended");
        return Ok(with_fix(
            check("locks", CheckState::Broken, message),
            &format!("git discern recover --break-lock {name}"),
        ));
    }
    if found.iter().any(|lock| matches!(lock.what, LeftoverLock::Dead { .. })) {
        let message = "a killed git left a lock behind; the run that meets it removes it";
        return Ok(with_fix(check("locks", CheckState::Note, message), "git discern doctor --fix"));
    }
    Ok(match removed.len() {
        0 => check("locks", CheckState::Good, "no lock is left behind on our refs"),
        removed => check("locks", CheckState::Mended, format!("{} of dead writers removed", count(removed, "lock"))),
    })
}

/// How much of the disk is ours, and whether any of it is surplus.
fn space(session: &mut Session<'_>, mends: bool) -> DoctorCheck {
    let used = |session: &Session<'_>| bytes_below(&session.repository.private_dir(), DEPTH_MAX);
    let before = used(session);
    let surplus = match retention::look(session) {
        Ok(surplus) => surplus,
        Err(error) => return check("space", CheckState::Broken, format!("what is kept can't be read: {error}")),
    };
    if surplus.is_empty() {
        return check("space", CheckState::Good, format!("{} of logs, journals and marks", size(before)));
    }
    if !mends {
        let message = format!("{} of logs, journals and marks, some of it surplus", size(before));
        return with_fix(check("space", CheckState::Note, message), "git discern gc");
    }
    match retention::drop_surplus(&surplus, session) {
        Ok(()) => check("space", CheckState::Mended, format!("{} now, {} before", size(used(session)), size(before))),
        Err(error) => check("space", CheckState::Broken, format!("what is surplus can't be dropped: {error}")),
    }
}

/// The sizes of all files below `folder`, as far as it can be read.
fn bytes_below(folder: &Path, depth: u32) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries
        .filter_map(|entry| {
            let meta = entry.metadata().ok()?;
            Some(if meta.is_dir() && depth > 0 { bytes_below(&entry.path(), depth - 1) } else { meta.len() })
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_looked_for_only_where_its_name_is_plain() {
        let of = |line: &str| program_of(&Command::Shell(line.to_owned()));
        assert_eq!(of("cargo test --all"), Some("cargo".to_owned()));
        assert_eq!(of("./run it"), Some("./run".to_owned()));
        assert_eq!(of("RUSTFLAGS=-g ./run it"), None, "PATH may be among what is set");
        assert_eq!(of("V=$(git describe --always) make"), None);
        assert_eq!(of("n=$(grep -c x f.txt); test $n -lt 3"), None);
        assert_eq!(of("n=$(cat /tmp/fl 2>/dev/null || echo 0)"), None);
        assert_eq!(of("check() { make; }; check"), None);
        assert_eq!(of("check () { make; }; check"), None);
        assert_eq!(of("if test -e x; then y; fi"), None);
        assert_eq!(of("$(which it) now"), None);
        assert_eq!(program_of(&Command::List(vec!["make".to_owned()])), Some("make".to_owned()));
    }
}
