//! What is measured, each with the limit that issue and documentation give it.

mod answers;
mod crowd;
mod isolated;
mod kept;
mod runs;
mod transfer;
mod transitions;

use super::{Place, Row};

/// Measures one thing.
type Measure = fn(&Place) -> anyhow::Result<Vec<Row>>;

/// All of it, in the order of the page.
pub(crate) const ALL: &[(&str, Measure)] = &[
    ("proven", answers::proven),
    ("large", answers::large),
    ("reused", runs::reused),
    ("cold", runs::cold),
    ("transition", transitions::swaps),
    ("takeover", runs::takeover),
    ("status", answers::status),
    ("verify", answers::verify),
    ("crowd", crowd::one_commit),
    ("worktrees", crowd::worktrees),
    ("output", runs::output),
    ("isolated-step", isolated::step),
    ("isolated-twenty", isolated::twenty),
    ("start", answers::start),
    ("binary", answers::binary),
    ("ledger", kept::ledger),
    ("git", kept::users_git),
    ("transfer", transfer::transfers),
    ("push", kept::push),
];
