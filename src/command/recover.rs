//! `git discern recover`: retires every claim whose takeover is permitted (C22) and ends leftovers.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::completions::Offered;
use super::{Global, done};
use crate::claim::owner::Seen;
use crate::claim::record::EndedBy;
use crate::document::{Diagnostic, RecoverAction, RecoverDocument, RecoveredClaim, RecoveredLock, Refusal};
use crate::engine::claims::Claims as _;
use crate::engine::locks::{self, RefLock};
use crate::engine::no_answer::NoAnswer;
use crate::engine::recovery::{self, Finding, Mode, Witness as _};
use crate::engine::session::Session;
use crate::exit::Exit;
use crate::git::LeftoverLock;
use crate::id::CommitId;
use crate::ledger::{LEDGER_REF, LedgerError};
use crate::report::diagnostic::hint;
use crate::report::line::{Line, Role};
use crate::report::phrase;
use crate::report::story::retirement;
use crate::store::StoreError;

/// What its help ends with.
const EXAMPLES: &str = "\
Examples:
  git discern recover --dry-run    what would be done
  git discern recover              do it";

/// The arguments of `git discern recover`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Recover {
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Remove the record of this commit, which can't be read or is finished (its outcome stays), after keeping its bytes;
    /// or what is damaged in refs/discern/ledger
    #[arg(long, value_name = "REV", conflicts_with = "break_lock", add = ArgValueCandidates::new(Offered::Revisions))]
    pub forget: Option<String>,
    /// Remove the lock file that a killed git left on this ref
    #[arg(long, value_name = "REF")]
    pub break_lock: Option<String>,
}

/// The width of the first column: the longest word that stands there.
const WORD_COLUMNS: usize = 14;

/// A younger lock is taken for one that a live writer holds, in seconds.
const LOCK_AGE_MIN_SECONDS: u64 = 5;

/// Does what was asked for, and says what became of each claim.
pub fn run(global: &Global, args: &Recover) -> anyhow::Result<Exit> {
    let repository = super::here::repository()?;
    let mut session = if args.dry_run { Session::reading(&repository) } else { Session::new(&repository) };
    let mut document = RecoverDocument::new(args.dry_run);
    match (&args.forget, &args.break_lock) {
        (Some(revision), _) => forget(revision, args.dry_run, &mut session, &mut document).map_err(done::cause)?,
        (None, Some(name)) => break_lock(name, args.dry_run, &mut session, &mut document)?,
        (None, None) => recover(args.dry_run, &mut session, &mut document).map_err(done::cause)?,
    }
    let mut reporter = global.reporter();
    reporter.diagnostics(&document.diagnostics);
    reporter.answer(&document, page);
    Ok(document.exit)
}

/// Dead locks first, because they would keep a retirement from being written; then every claim; then what retired attempts
/// left running (C22, C25).
fn recover(dry_run: bool, session: &mut Session<'_>, document: &mut RecoverDocument) -> Result<(), NoAnswer> {
    let mode = if dry_run { Mode::Look } else { Mode::Retire };
    let found = locks::all(session)?;
    let removed = if dry_run { Vec::new() } else { locks::remove_dead(session)? };
    document.locks = found.into_iter().filter_map(|lock| lock_report(lock, &removed)).collect();
    if !dry_run {
        session.prepare_to_write();
    }
    let by = session.retiring_run("recover", None);
    for candidate in session.candidates()? {
        let inspected = recovery::inspect(candidate, session, &by, mode);
        claim(candidate, inspected.what, document);
        if !dry_run {
            document.processes_ended += end_leftovers(candidate, session);
        }
    }
    if document.claims.iter().any(|claim| claim.action == RecoverAction::NotWritten) {
        (document.ok, document.exit) = (false, Exit::Store);
        document.outcome = Exit::Store.outcome();
    }
    Ok(())
}

/// What a retired attempt left running, whoever retired it.
fn end_leftovers(candidate: CommitId, session: &mut Session<'_>) -> usize {
    match session.look(&candidate) {
        Seen::Record(_, record)
            if record.state.finish().is_some_and(|finish| matches!(finish.by, EndedBy::Run { .. })) =>
        {
            session.end_leftovers(record.attempt.id)
        }
        _ => 0,
    }
}

fn lock_report(lock: RefLock, removed: &[String]) -> Option<RecoveredLock> {
    let (dead, age_seconds) = match lock.what {
        LeftoverLock::None => return None,
        LeftoverLock::Dead { .. } => (true, None),
        LeftoverLock::Unknown { age_seconds, .. } if age_seconds < LOCK_AGE_MIN_SECONDS => return None,
        LeftoverLock::Unknown { age_seconds, .. } => (false, Some(age_seconds)),
    };
    let removed = removed.contains(&lock.name);
    Some(RecoveredLock { name: lock.name, removed, dead, age_seconds })
}

fn claim(candidate: CommitId, finding: Finding, document: &mut RecoverDocument) {
    let (record, action, why, remaining_ms) = match finding {
        Finding::Free => return,
        Finding::Live { record, remaining_ms } => (Some(record), RecoverAction::Held, None, Some(remaining_ms)),
        Finding::Abandoned { record, reason } => {
            (Some(record), RecoverAction::MayBeRetired, Some(retirement(reason.word()).to_owned()), None)
        }
        Finding::Retired { record, reason, leftovers, unabsorbed } => {
            document.processes_ended += leftovers;
            if let Some(problem) = unabsorbed {
                let message = format!("the ledger could not be written ({problem}); the next run does it");
                document.diagnostics.push(Diagnostic::new("not-absorbed", message));
            }
            (Some(record), RecoverAction::Retired, Some(retirement(reason.word()).to_owned()), None)
        }
        Finding::NotRetired { record, problem } => (Some(record), RecoverAction::NotWritten, Some(problem), None),
        Finding::Unreadable(why) => {
            document.hints.push(format!("git discern recover --forget {candidate}"));
            (None, RecoverAction::Unreadable, Some(why), None)
        }
    };
    let attempt = record.as_ref().map(|record| record.attempt.id);
    let worktree = record.map(|record| record.attempt.executor.worktree.clone());
    document.claims.push(RecoveredClaim { candidate, attempt, worktree, action, why, remaining_ms });
}

/// Removes a record that can't be read, after keeping what is there (C27).
fn forget(
    revision: &str,
    dry_run: bool,
    session: &mut Session<'_>,
    document: &mut RecoverDocument,
) -> Result<(), NoAnswer> {
    if revision == LEDGER_REF {
        return forget_damage_of_ledger(dry_run, session, document);
    }
    // The commit itself may be gone; its full id will do.
    let candidate = match revision.parse::<CommitId>() {
        Ok(candidate) => candidate,
        Err(_) => session.repository.resolve(revision)?,
    };
    let refuse = |code: &str, message: String, fix: &str| Refusal::new(Diagnostic::new(code, message).fix(fix));
    match session.look(&candidate) {
        Seen::Absent => {
            let message = format!("there is no record of {} to forget", candidate.short());
            return Err(refuse("no-record", message, "git discern status").into());
        }
        Seen::Record(_, record) if !record.is_finished() => {
            let message = format!("the record of {} can be read and is not finished", candidate.short());
            return Err(refuse("not-forgotten", message, "git discern recover").into());
        }
        // What a finished record holds is kept in the ledger before it goes.
        Seen::Record(_, record) => {
            let note = "it could be read and was finished: what it established stays in the ledger";
            document.note = Some(note.to_owned());
            if dry_run {
                return Ok(());
            }
            session.absorb(&record).map_err(|problem| StoreError { doing: "write the ledger".to_owned(), problem })?
        }
        Seen::Unreadable(_) => {}
    }
    if !dry_run {
        document.kept = Some(session.records.forget(&candidate)?.to_string_lossy().into_owned());
    }
    Ok(())
}

/// Takes out of the ledger what can't be read; all of it, if nothing can be. Then every finished record is copied into it again,
/// so that what is still known somewhere is known there.
fn forget_damage_of_ledger(
    dry_run: bool,
    session: &mut Session<'_>,
    document: &mut RecoverDocument,
) -> Result<(), NoAnswer> {
    if dry_run {
        return Ok(());
    }
    let mended = match session.ledger.drop_damaged() {
        Ok(shards) => shards > 0,
        Err(LedgerError::Damaged(_)) => {
            document.kept = Some(session.records.forget_ref(LEDGER_REF, "ledger")?.to_string_lossy().into_owned());
            true
        }
        Err(error) => return Err(error.into()),
    };
    if !mended {
        let message = "nothing in the ledger is damaged";
        let diagnostic = Diagnostic::new("not-forgotten", message).at(LEDGER_REF).fix("git discern status");
        return Err(Refusal::new(diagnostic).into());
    }
    for candidate in session.candidates()? {
        if let Seen::Record(_, record) = session.look(&candidate) {
            let absorbed = session.absorb(&record);
            absorbed.map_err(|problem| StoreError { doing: "write the ledger".to_owned(), problem })?;
        }
    }
    Ok(())
}

fn break_lock(
    name: &str,
    dry_run: bool,
    session: &mut Session<'_>,
    document: &mut RecoverDocument,
) -> anyhow::Result<()> {
    let Some(lock) = locks::on(name, session)? else {
        let message = format!("there is no lock on `{name}`, or it is no ref of git-discern's");
        return Err(Refusal::new(Diagnostic::new("no-lock", message).fix("git discern recover --dry-run")).into());
    };
    let removed = !dry_run && locks::break_lock(&lock.name, session)?;
    let (dead, age_seconds) = match lock.what {
        LeftoverLock::Unknown { age_seconds, .. } => (false, Some(age_seconds)),
        LeftoverLock::Dead { .. } | LeftoverLock::None => (true, None),
    };
    document.locks.push(RecoveredLock { name: lock.name, removed, dead, age_seconds });
    Ok(())
}

/// The answer for people.
fn page(document: &RecoverDocument) -> Vec<Line> {
    let mut lines: Vec<Line> = document.claims.iter().map(claim_line).collect();
    lines.extend(document.locks.iter().flat_map(lock_lines));
    if document.processes_ended > 0 {
        let ended = phrase::processes(document.processes_ended);
        lines.push(word(Role::Caution, "ended").with(Role::Plain, format!("{ended} of retired attempts")));
    }
    if let Some(kept) = &document.kept {
        lines.push(word(Role::Good, "forgotten").with(Role::Plain, format!("what was there is kept in {kept}")));
    }
    if let Some(note) = &document.note {
        lines.push(word(Role::Caution, "note").with(Role::Plain, note));
    }
    if lines.is_empty() {
        lines.push(Line::text("nothing to recover: no claim is unfinished"));
    }
    lines.extend(document.hints.iter().map(|command| hint(command)));
    lines
}

fn word(role: Role, text: &str) -> Line {
    Line::new().column(role, text, WORD_COLUMNS)
}

fn claim_line(claim: &RecoveredClaim) -> Line {
    let (role, said) = match claim.action {
        RecoverAction::Retired => (Role::Good, "retired"),
        RecoverAction::MayBeRetired => (Role::Caution, "would retire"),
        RecoverAction::Held => (Role::Plain, "held"),
        RecoverAction::NotWritten => (Role::Bad, "not retired"),
        RecoverAction::Unreadable => (Role::Bad, "unreadable"),
    };
    let place = claim.worktree.as_deref().map_or(String::new(), |name| format!(" in {}", phrase::worktree(name)));
    let line = word(role, said).with(Role::Caution, claim.candidate.short()).with(Role::Plain, place);
    match (&claim.why, claim.remaining_ms) {
        (Some(why), _) => line.with(Role::Plain, format!(": {why}")),
        (None, Some(left)) => {
            line.with(Role::Faint, format!(": its lease ends in {} unless it is renewed", phrase::roughly(left)))
        }
        (None, None) => line,
    }
}

fn lock_lines(lock: &RecoveredLock) -> Vec<Line> {
    let line = match (lock.removed, lock.dead) {
        (true, _) => word(Role::Good, "removed").with(Role::Plain, format!("the lock on {}", lock.name)),
        (false, true) => {
            let text = format!("the lock on {}, whose writer has ended", lock.name);
            word(Role::Caution, "would remove").with(Role::Plain, text)
        }
        (false, false) => {
            let age = lock.age_seconds.map_or(String::new(), |age| format!(", {} old", phrase::roughly(age * 1000)));
            let text = format!("{}{age}; nothing proves that its owner has ended", lock.name);
            word(Role::Bad, "locked").with(Role::Plain, text)
        }
    };
    let mut lines = vec![line];
    if !lock.removed && !lock.dead {
        lines.push(hint(&format!("git discern recover --break-lock {}", lock.name)));
    }
    lines
}
