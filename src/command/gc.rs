//! `git discern gc`: retention, now.

use clap::Args;

use super::{Global, done};
use crate::document::GcDocument;
use crate::engine::retention;
use crate::engine::session::Session;
use crate::exit::Exit;
use crate::report::line::{Line, Role};
use crate::report::phrase;

/// What its help ends with.
const EXAMPLES: &str = "\
Examples:
  git discern gc --dry-run    what would go";

/// The arguments of `git discern gc`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Gc {
    /// Say what would be dropped, and drop nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Looks, drops, and says what.
pub fn run(global: &Global, args: &Gc) -> anyhow::Result<Exit> {
    let repository = super::here::repository()?;
    let mut session = if args.dry_run { Session::reading(&repository) } else { Session::new(&repository) };
    let surplus = retention::look(&mut session).map_err(done::cause)?;
    if !args.dry_run {
        retention::drop_surplus(&surplus, &mut session).map_err(done::cause)?;
    }
    let document = GcDocument {
        schema: "discern/gc/1".to_owned(),
        ok: true,
        outcome: Exit::Success.outcome(),
        exit: Exit::Success,
        dry_run: args.dry_run,
        refs: surplus.refs.iter().map(|(candidate, _)| *candidate).collect(),
        runs: surplus.runs,
        outcomes: surplus.ledger.outcomes.len(),
        receipts: surplus.ledger.receipts.len(),
        files: surplus.files.len(),
        checkouts: surplus.checkouts.len(),
        diagnostics: Vec::new(),
        hints: Vec::new(),
    };
    global.reporter().answer(&document, page);
    Ok(Exit::Success)
}

/// The answer for people.
fn page(document: &GcDocument) -> Vec<Line> {
    let counts = [
        (document.refs.len(), "attempt ref"),
        (document.runs.len(), "run's log"),
        (document.outcomes, "outcome"),
        (document.receipts, "receipt"),
        (document.files, "leftover file"),
        (document.checkouts, "kept checkout"),
    ];
    let said: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, noun)| phrase::count(*count, noun)).collect();
    let line = match (said.is_empty(), document.dry_run) {
        (true, _) => Line::text("nothing to drop"),
        (false, true) => {
            Line::new().with(Role::Caution, "would drop").with(Role::Plain, format!("  {}", said.join(", ")))
        }
        (false, false) => Line::new().with(Role::Good, "dropped").with(Role::Plain, format!("  {}", said.join(", "))),
    };
    vec![line]
}
