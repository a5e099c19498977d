//! `git discern doctor`: checks configuration, commands, hooks, store and versions.

use clap::Args;

use super::{Global, done};
use crate::document::{CheckState, DoctorCheck, DoctorDocument};
use crate::engine::checkup;
use crate::engine::session::Session;
use crate::exit::Exit;
use crate::report::diagnostic::{advice, hint};
use crate::report::line::{Line, Role};

/// What its help ends with.
const EXAMPLES: &str = "\
Examples:
  git discern doctor          look
  git discern doctor --fix    and mend what is ours";

/// The arguments of `git discern doctor`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Doctor {
    /// Mend what is ours
    #[arg(long)]
    pub fix: bool,
}

/// The width of the first column: the longest word that stands there.
const WORD_COLUMNS: usize = 9;

/// The width of the column of what was looked at.
const CODE_COLUMNS: usize = 14;

/// Looks at everything, mends what is ours if asked to, and answers.
pub fn run(global: &Global, args: &Doctor) -> anyhow::Result<Exit> {
    let repository = super::here::repository()?;
    let mut session = Session::new(&repository);
    let checks = checkup::look(&mut session, args.fix).map_err(done::cause)?;
    let document = DoctorDocument::new(checks);
    global.reporter().answer(&document, page);
    Ok(document.exit)
}

/// The answer for people.
fn page(document: &DoctorDocument) -> Vec<Line> {
    document.checks.iter().flat_map(check).collect()
}

fn check(check: &DoctorCheck) -> Vec<Line> {
    let (role, said) = match check.state {
        CheckState::Good => (Role::Good, "good"),
        CheckState::Note => (Role::Caution, "note"),
        CheckState::Broken => (Role::Bad, "broken"),
        CheckState::Mended => (Role::Good, "mended"),
    };
    let line = Line::new()
        .column(role, said, WORD_COLUMNS)
        .column(Role::Strong, &check.code, CODE_COLUMNS)
        .with(Role::Plain, &check.message);
    let helps = [check.advice.as_deref().map(advice), check.fix.as_deref().map(hint)];
    [line].into_iter().chain(helps.into_iter().flatten()).collect()
}
