//! Jobs of trunk that a candidate lacks or redefines.
//!
//! Timeouts, retries, order and kept artifacts are a candidate's own business; what is executed, on what, and what else
//! decides the verdict or its reuse are not.

use std::collections::BTreeSet;
use std::fmt;

use crate::config::{Environment, Gate, Job, Untracked, Workspace};
use crate::id::Name;
use crate::standard::Written;

/// One job of trunk that a candidate lacks or redefines. Its `Display` is a sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Departure {
    /// The candidate does not have it.
    Lacks {
        /// The job.
        name: Name,
        /// Where trunk writes it.
        trunk_at: String,
    },
    /// The candidate has it, and these keys differ.
    Redefines {
        /// The job.
        name: Name,
        /// The keys, in the order of the documentation.
        keys: Vec<&'static str>,
        /// Where the candidate writes it.
        at: String,
        /// Where trunk writes it.
        trunk_at: String,
    },
    /// A key of `[gate]` lets more through than trunk's does.
    LaxGate {
        /// The key.
        key: &'static str,
        /// The candidate's value.
        own: &'static str,
        /// Trunk's.
        trunk: &'static str,
    },
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lacks { name, trunk_at } => write!(f, "job `{name}` of trunk ({trunk_at}) is missing"),
            Self::Redefines { name, keys, at, trunk_at } => {
                let keys = keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
                write!(f, "job `{name}` ({at}) differs from trunk's ({trunk_at}) in {keys}")
            }
            Self::LaxGate { key, own, trunk } => write!(f, "`[gate] {key}` is `{own}`, trunk's is `{trunk}`"),
        }
    }
}

/// How a candidate's jobs depart from trunk's, in trunk's order.
pub fn departures(own: Written<'_>, trunk: Written<'_>) -> Vec<Departure> {
    let jobs = trunk.config.jobs.iter().filter_map(|theirs| {
        let ours = own.config.jobs.iter().find(|job| job.name == theirs.name);
        let (name, trunk_at) = (theirs.name.clone(), trunk.line(theirs.at));
        let Some(ours) = ours else { return Some(Departure::Lacks { name, trunk_at }) };
        let keys = differing_keys(ours, theirs);
        (!keys.is_empty()).then(|| Departure::Redefines { name, keys, at: own.line(ours.at), trunk_at })
    });
    jobs.chain(lax_gate(&own.config.gate, &trunk.config.gate)).collect()
}

fn lax_gate(own: &Gate, trunk: &Gate) -> Vec<Departure> {
    let keys = [
        ("environment", own.environment == Environment::Inherit, trunk.environment == Environment::Strict),
        ("untracked", own.untracked == Untracked::Ignore, trunk.untracked == Untracked::Refuse),
        ("workspace", own.workspace == Workspace::InPlace, trunk.workspace == Workspace::Isolated),
    ];
    let words = [("inherit", "strict"), ("ignore", "refuse"), ("in-place", "isolated")];
    let lax = keys.into_iter().zip(words).filter(|((_, lax, strict), _)| *lax && *strict);
    lax.map(|((key, ..), (own, trunk))| Departure::LaxGate { key, own, trunk }).collect()
}

fn differing_keys(own: &Job, trunk: &Job) -> Vec<&'static str> {
    let (one, two) = (&own.influences, &trunk.influences);
    let same_inputs = match (&one.inputs, &two.inputs) {
        (Some(one), Some(two)) => same_set(one, two),
        (one, two) => one.is_none() && two.is_none(),
    };
    let same = [
        ("run", own.run == trunk.run),
        ("needs", same_set(&one.needs, &two.needs)),
        ("inputs", same_inputs),
        ("env", same_set(&one.env, &two.env)),
        ("toolchain", same_set(&one.toolchain, &two.toolchain)),
        ("touches", same_set(&own.touches, &trunk.touches)),
    ];
    same.into_iter().filter_map(|(key, same)| (!same).then_some(key)).collect()
}

/// Whether two lists have the same members; order and repetition mean nothing.
fn same_set<T: Ord>(one: &[T], two: &[T]) -> bool {
    one.iter().collect::<BTreeSet<_>>() == two.iter().collect()
}

#[cfg(test)]
#[path = "departure_tests.rs"]
mod tests;
