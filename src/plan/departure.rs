//! Jobs of trunk that a candidate lacks or redefines.
//!
//! Timeouts, retries, order and kept artifacts are a candidate's own business; what is executed, on what, and what else
//! decides the verdict or its reuse are not.

use std::collections::BTreeSet;
use std::fmt;

use crate::config::Job;
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
    /// Trunk's jobs run with `[gate] environment = "strict"`, the candidate's do not.
    LaxEnvironment,
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lacks { name, trunk_at } => write!(f, "job `{name}` of trunk ({trunk_at}) is missing"),
            Self::Redefines { name, keys, at, trunk_at } => {
                let keys = keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
                write!(f, "job `{name}` ({at}) differs from trunk's ({trunk_at}) in {keys}")
            }
            Self::LaxEnvironment => f.write_str("`[gate] environment` is `inherit`, trunk's is `strict`"),
        }
    }
}

/// How a candidate's jobs depart from trunk's, in trunk's order.
pub fn departures(own: Written<'_>, trunk: Written<'_>) -> Vec<Departure> {
    use crate::config::Environment::{Inherit, Strict};
    let lax = own.config.gate.environment == Inherit && trunk.config.gate.environment == Strict;
    let jobs = trunk.config.jobs.iter().filter_map(|theirs| {
        let ours = own.config.jobs.iter().find(|job| job.name == theirs.name);
        let (name, trunk_at) = (theirs.name.clone(), trunk.line(theirs.at));
        let Some(ours) = ours else { return Some(Departure::Lacks { name, trunk_at }) };
        let keys = differing_keys(ours, theirs);
        (!keys.is_empty()).then(|| Departure::Redefines { name, keys, at: own.line(ours.at), trunk_at })
    });
    jobs.chain(lax.then_some(Departure::LaxEnvironment)).collect()
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
