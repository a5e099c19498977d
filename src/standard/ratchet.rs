//! Never looser than trunk: a candidate's standards against those of trunk at the merge base.
//!
//! Compared before anything runs. A standard may be added and tightened; a weaker limit, a removed standard, a reversed
//! direction, a standard that the gate no longer measures and one that measures something else behind its old name are
//! findings. Loosening on purpose is done on trunk, in the open.

use std::collections::BTreeSet;
use std::fmt;

use super::decimal::Decimal;
use super::limit::{Direction, Limit};
use crate::config::{Command, Config, Measure, Pathspec, Per, Position, Source, Standard};
use crate::id::Name;

/// A configuration and what its file is called in messages: `discern.toml`, `main:discern.toml`.
#[derive(Debug, Clone, Copy)]
pub struct Written<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// The file's name.
    pub file: &'a str,
}

impl Written<'_> {
    /// `discern.toml:14`.
    pub fn line(&self, at: Position) -> String {
        format!("{}:{}", self.file, at.line)
    }

    fn standard(&self, name: &Name) -> Option<&Standard> {
        self.config.standards.iter().find(|standard| standard.name == *name)
    }
}

/// How a candidate's standard falls behind trunk's. Its `Display` names the standard, both values and where each is
/// written, a sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looser {
    /// The standard.
    pub name: Name,
    /// In what.
    pub how: How,
}

/// A value and where it is written: `discern.toml:14`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// The file and line.
    pub at: String,
}

/// In what a standard falls behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// It is gone; this was its limit.
    Removed(At<Decimal>),
    /// Its limit is weaker.
    WeakerLimit {
        /// Which way is better.
        direction: Direction,
        /// The candidate's limit.
        own: At<Decimal>,
        /// Trunk's.
        trunk: At<Decimal>,
    },
    /// Its direction is reversed.
    Reversed {
        /// The candidate's direction.
        own: At<Direction>,
        /// Trunk's.
        trunk: At<Direction>,
    },
    /// Trunk's gate measures it, the candidate's does not.
    OnlyOnDemand {
        /// Where the candidate writes it.
        at: String,
        /// Where trunk writes it.
        trunk_at: String,
    },
    /// It measures something else.
    Redefined {
        /// The keys that differ.
        keys: Vec<Redefinition>,
        /// Where the candidate writes it.
        at: String,
        /// Where trunk writes it.
        trunk_at: String,
    },
}

/// One key with another value than trunk's, both as text for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redefinition {
    /// The key.
    pub key: &'static str,
    /// The candidate's value.
    pub own: String,
    /// Trunk's.
    pub trunk: String,
}

impl fmt::Display for Looser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "standard `{}` ", self.name)?;
        match &self.how {
            How::Removed(trunk) => write!(f, "is missing; trunk's limit is {} ({})", trunk.value, trunk.at),
            How::WeakerLimit { direction, own, trunk } => {
                let word = match direction {
                    Direction::Up => "below",
                    Direction::Down => "above",
                };
                write!(f, "has limit {} ({}), {word} trunk's {} ({})", own.value, own.at, trunk.value, trunk.at)
            }
            How::Reversed { own, trunk } => {
                let (is, was) = (own.value, trunk.value);
                write!(f, "has direction `{is}` ({}) instead of trunk's `{was}` ({})", own.at, trunk.at)
            }
            How::OnlyOnDemand { at, trunk_at } => {
                write!(f, "({at}) is measured on demand only; trunk's gate measures it ({trunk_at})")
            }
            How::Redefined { keys, at, trunk_at } => {
                write!(f, "({at}) does not measure what trunk's ({trunk_at}) does: ")?;
                for (nth, Redefinition { key, own, trunk }) in keys.iter().enumerate() {
                    write!(f, "{}`{key}` is {own} instead of {trunk}", if nth == 0 { "" } else { "; " })?;
                }
                Ok(())
            }
        }
    }
}

/// A standard whose limit is tighter at trunk's tip than the one that counts: the next merge will meet it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TipIsTighter {
    /// The standard.
    pub name: Name,
    /// The limit that counts now.
    pub counts: Decimal,
    /// The tip's limit.
    pub tip: At<Decimal>,
}

impl fmt::Display for TipIsTighter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, counts, tip } = self;
        write!(f, "standard `{name}` is compared with {counts}; trunk has moved on to {} ({})", tip.value, tip.at)
    }
}

/// Where `own` falls behind `trunk`, in trunk's order; one finding for each respect in which a standard does.
pub fn compare(own: Written<'_>, trunk: Written<'_>) -> Vec<Looser> {
    let fall_behind = |standard: &Standard| {
        let hows = match own.standard(&standard.name) {
            None => vec![How::Removed(limit_at((trunk, standard)))],
            Some(ours) => {
                let (ours, theirs) = ((own, ours), (trunk, standard));
                let hows =
                    [direction(ours, theirs), limit(ours, theirs), measure(ours, theirs), definition(ours, theirs)];
                hows.into_iter().flatten().collect()
            }
        };
        let name = standard.name.clone();
        hows.into_iter().map(move |how| Looser { name: name.clone(), how }).collect::<Vec<_>>()
    };
    trunk.config.standards.iter().flat_map(fall_behind).collect()
}

/// A standard with the configuration that it stands in.
type Sided<'a> = (Written<'a>, &'a Standard);

fn limit_at((written, standard): Sided<'_>) -> At<Decimal> {
    At { value: standard.limit.clone(), at: written.line(standard.limit_at) }
}

fn direction(own: Sided<'_>, trunk: Sided<'_>) -> Option<How> {
    let at = |(written, standard): Sided<'_>| At { value: standard.direction, at: written.line(standard.at) };
    (own.1.direction != trunk.1.direction).then(|| How::Reversed { own: at(own), trunk: at(trunk) })
}

/// Limits are compared in trunk's direction, also where the candidate reversed it.
fn limit(own: Sided<'_>, trunk: Sided<'_>) -> Option<How> {
    let direction = trunk.1.direction;
    let weaker = !direction.meets(&own.1.limit, &trunk.1.limit);
    weaker.then(|| How::WeakerLimit { direction, own: limit_at(own), trunk: limit_at(trunk) })
}

/// A standard that `done` no longer measures is as good as removed.
fn measure(own: Sided<'_>, trunk: Sided<'_>) -> Option<How> {
    let lost = own.1.measure == Measure::OnDemand && trunk.1.measure == Measure::Gate;
    let line = |(written, standard): Sided<'_>| written.line(standard.at);
    lost.then(|| How::OnlyOnDemand { at: line(own), trunk_at: line(trunk) })
}

fn definition(own: Sided<'_>, trunk: Sided<'_>) -> Option<How> {
    let keys: Vec<Redefinition> = measured(own)
        .into_iter()
        .zip(measured(trunk))
        .filter(|((_, own), (_, trunk))| own != trunk)
        .map(|((key, own), (_, trunk))| Redefinition { key, own, trunk })
        .collect();
    let line = |(written, standard): Sided<'_>| written.line(standard.at);
    (!keys.is_empty()).then(|| How::Redefined { keys, at: line(own), trunk_at: line(trunk) })
}

/// What a standard measures: each key with its value, written so that equal text means equal value and sets are sorted.
/// Where it measures a job's output, `run` is that job's command.
fn measured((written, standard): Sided<'_>) -> [(&'static str, String); 8] {
    let (run, from, artifact, extract) = match &standard.source {
        Source::Run(run) => (Some(run), None, None, None),
        Source::From { job, artifact, extract } => {
            let run = written.config.jobs.iter().find(|it| it.name == *job).map(|job| &job.run);
            (run, Some(job.as_str()), artifact.as_ref(), extract.as_ref())
        }
    };
    let inputs = standard.influences.inputs.as_ref().map_or("the whole tree".to_owned(), |inputs| set(inputs));
    // Multiplied, so that `1e2` and `100` have one text.
    let one = Decimal::from(1);
    let scale = standard.scale.as_ref().unwrap_or(&one).times(&one);
    [
        ("run", shown(run.map(command))),
        ("from", shown(from.map(|job| format!("{job:?}")))),
        ("artifact", shown(artifact.map(|path| format!("{path:?}")))),
        ("extract", shown(extract.map(command))),
        ("metric", format!("{:?}", standard.metric.as_str())),
        ("per", shown(standard.per.as_ref().map(per))),
        ("scale", scale.to_string()),
        ("inputs", inputs),
    ]
}

fn shown(value: Option<String>) -> String {
    value.unwrap_or_else(|| "absent".to_owned())
}

fn command(command: &Command) -> String {
    match command {
        Command::Shell(text) => format!("{text:?}"),
        Command::List(words) => format!("{words:?}"),
    }
}

fn per(per: &Per) -> String {
    match per {
        Per::Lines(over) => format!("lines of {}", set(over)),
        Per::Files(over) => format!("files of {}", set(over)),
        Per::Bytes(over) => format!("bytes of {}", set(over)),
        Per::Metric(name) => format!("metric {:?}", name.as_str()),
    }
}

fn set(pathspecs: &[Pathspec]) -> String {
    format!("{:?}", pathspecs.iter().map(Pathspec::as_str).collect::<BTreeSet<_>>())
}

/// The standards of `own` whose limit at trunk's tip is tighter than the one that counts now.
pub fn tighter_at_tip(own: Written<'_>, merge_base: Written<'_>, tip: Written<'_>) -> Vec<TipIsTighter> {
    let note = |standard: &Standard| {
        let alike = |it: &&Standard| it.direction == standard.direction;
        let at_tip = tip.standard(&standard.name).filter(alike)?;
        let base = merge_base.standard(&standard.name).filter(alike).map(|base| &base.limit);
        let counts = Limit::of(standard, base).effective().clone();
        let tighter = !standard.direction.meets(&counts, &at_tip.limit);
        tighter.then(|| TipIsTighter { name: standard.name.clone(), counts, tip: limit_at((tip, at_tip)) })
    };
    own.config.standards.iter().filter_map(note).collect()
}

#[cfg(test)]
#[path = "ratchet_tests.rs"]
mod tests;
