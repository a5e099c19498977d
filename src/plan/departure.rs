//! Jobs of trunk that a candidate lacks or redefines (issue: "never reuse a verdict wrongly").
//!
//! Timeouts, retries and order are a candidate's own business; what is executed, on what, and what else decides the verdict
//! or its reuse are not.

use std::collections::BTreeSet;
use std::fmt;

use crate::evidence::Command;
use crate::id::Name;

/// What decides a job's verdict, as a configuration writes it, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobTerms {
    /// Its name.
    pub name: Name,
    /// The command.
    pub run: Command,
    /// What it needs.
    pub needs: Vec<Name>,
    /// Its declared inputs; empty: the whole tree.
    pub inputs: Vec<String>,
    /// Its declared variables.
    pub env: Vec<String>,
    /// Its declared toolchain commands.
    pub toolchain: Vec<String>,
    /// The tracked files that it may rewrite.
    pub touches: Vec<String>,
    /// Where it is written: `discern.toml:7`.
    pub at: String,
}

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
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lacks { name, trunk_at } => write!(f, "job `{name}` of trunk ({trunk_at}) is missing"),
            Self::Redefines { name, keys, at, trunk_at } => {
                let keys = keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
                write!(f, "job `{name}` ({at}) differs from trunk's ({trunk_at}) in {keys}")
            }
        }
    }
}

/// How a candidate's jobs depart from trunk's, in trunk's order.
pub fn departures(own: &[JobTerms], trunk: &[JobTerms]) -> Vec<Departure> {
    trunk.iter().filter_map(|trunk| depart(own.iter().find(|job| job.name == trunk.name), trunk)).collect()
}

fn depart(own: Option<&JobTerms>, trunk: &JobTerms) -> Option<Departure> {
    let (name, trunk_at) = (trunk.name.clone(), trunk.at.clone());
    let Some(own) = own else { return Some(Departure::Lacks { name, trunk_at }) };
    let differing = [
        ("run", own.run != trunk.run),
        ("needs", !same_set(&own.needs, &trunk.needs)),
        ("inputs", !same_set(&own.inputs, &trunk.inputs)),
        ("env", !same_set(&own.env, &trunk.env)),
        ("toolchain", !same_set(&own.toolchain, &trunk.toolchain)),
        ("touches", !same_set(&own.touches, &trunk.touches)),
    ];
    let keys: Vec<_> = differing.into_iter().filter_map(|(key, differs)| differs.then_some(key)).collect();
    (!keys.is_empty()).then(|| Departure::Redefines { name, keys, at: own.at.clone(), trunk_at })
}

/// Whether two lists have the same members; order and repetition mean nothing.
pub(crate) fn same_set<T: Ord>(one: &[T], two: &[T]) -> bool {
    one.iter().collect::<BTreeSet<_>>() == two.iter().collect()
}
