//! Planning under the claim: toolchain answers, subjects, what is known of them, and the decision about each requirement.

use std::collections::{BTreeMap, BTreeSet};

use super::attempt::by_key;
use super::gate::{Request, Subject};
use super::machine::{Machine, Work, log_file};
use super::requirements::{self, Detailed, Scope, Surroundings, Unplanned};
use super::run::Run;
use super::session::Session;
use crate::claim::record::{Purpose, RECORD_BYTES_MAX};
use crate::config::{Config, JobsOf};
use crate::document::{Diagnostic, Refusal};
use crate::event::{self, PlannedRequirement};
use crate::evidence::subject::Salt;
use crate::evidence::{Place, Receipt, RequirementKey, Verdict, explain, newest, room_bytes};
use crate::git::{Pathspecs, Trees};
use crate::id::{Name, TreeId};
use crate::plan::{self, Decision, Known, Plan, Rerun};

/// How many changed paths are looked for to say why a requirement runs.
const CHANGED_PATHS_MAX: usize = 3;

/// Makes the plan of a run.
///
/// # Errors
/// Something has to be mended first; the repository can't be read.
pub fn make(request: &Request, subject: &Subject, run: &mut Run<'_, Machine<'_, '_>>) -> Result<Work, Unplanned> {
    let scope = match request.purpose {
        Purpose::Done => Scope::Gate,
        Purpose::Standards => Scope::Standards(&request.names),
    };
    let commands = requirements::toolchain_commands(&subject.config, scope);
    run.stage().ask_toolchain(&commands, &subject.config);
    while run.stage().toolchain_is_open() && run.stopped().is_none() && !run.is_over() {
        run.attend(None);
    }
    let machine = run.stage();
    let repository = machine.session.repository;
    let comparison = subject.comparison.clone();
    if subject.config.gate.jobs == JobsOf::Trunk && !comparison.departures.is_empty() {
        return Err(departs(&comparison.departures).into());
    }
    let surroundings = Surroundings {
        variable: &|name| machine.variable(name),
        toolchain: machine.toolchain_answers(),
        trunk_limits: &comparison.limits,
    };
    let trees = repository.trees()?;
    let mut details = requirements::requirements(&subject.config, scope, subject.head.tree, &trees, &surroundings)?;
    check_names(&request.rerun, &request.names, &details)?;
    check_room(&details, &subject.config)?;
    let known = look_up(&mut details, machine, &trees, request);
    let order = details.iter().map(|detailed| detailed.requirement.key.clone()).collect();
    let plan = plan::plan(details.iter().map(|detailed| detailed.requirement.clone()).collect(), &known);
    Ok(Work { config: subject.config.clone(), details: by_key(details), order, plan, comparison })
}

/// What is known of each requirement's subject, in the ledger and in this checkout.
fn look_up(details: &mut [Detailed], machine: &Machine<'_, '_>, trees: &Trees<'_>, request: &Request) -> Known {
    let session: &Session<'_> = machine.session;
    let mut receipts: BTreeMap<_, Vec<Receipt>> = BTreeMap::new();
    let mut differences = BTreeMap::new();
    let mut outputs_kept = BTreeSet::new();
    for detailed in details {
        let key = detailed.requirement.key.clone();
        let subject = detailed.requirement.subject;
        let found = session.ledger.receipts(subject).map(|found| found.receipts).unwrap_or_default();
        let of_its_kind = || found.iter().filter(|receipt| receipt.kind == key.kind);
        if let Some(receipt) = newest(of_its_kind()) {
            detailed.requirement.expected_ms = Some(receipt.duration_ms);
            if receipt.log.as_ref().is_some_and(|log| log_file(session, log).is_some()) {
                outputs_kept.insert(key.name.clone());
            }
        } else if let Some(nearest) = nearest(session, &key) {
            detailed.requirement.expected_ms = Some(nearest.duration_ms);
            differences.extend(difference(detailed, &nearest, trees).map(|difference| (key, difference)));
        }
        receipts.insert(subject, found);
    }
    Known {
        receipts,
        differences,
        left_here: machine.left_here().passed.clone(),
        outputs_kept,
        place: Place::InPlace,
        rerun: request.rerun.clone(),
    }
}

/// The newest receipt of a requirement of that name, whatever it was for: a passed one rather than a failed one.
fn nearest(session: &Session<'_>, key: &RequirementKey) -> Option<Receipt> {
    let near = session.ledger.nearest(key.kind, &key.name).ok()?.receipts;
    let passed = near.iter().filter(|receipt| receipt.verdict == Verdict::Passed);
    newest(passed).or_else(|| newest(near.iter())).cloned()
}

/// What differs from an older receipt, the first thing first.
fn difference(detailed: &Detailed, older: &Receipt, trees: &Trees<'_>) -> Option<String> {
    let salt = older.parts.salt().unwrap_or(Salt([0; 16]));
    let new = detailed.input.parts(salt);
    let changed = |old: TreeId, new: TreeId, specs: &[String]| {
        let specs = Pathspecs::parse(specs).ok();
        let paths = specs.and_then(|specs| trees.changed(old, new, &specs, CHANGED_PATHS_MAX).ok());
        paths.unwrap_or_default().iter().map(ToString::to_string).collect()
    };
    explain(&older.parts, &new, &changed).first().map(ToString::to_string)
}

/// `--rerun` and `standards` name what exists.
fn check_names(rerun: &Rerun, standards: &[Name], details: &[Detailed]) -> Result<(), Refusal> {
    let rerun: Vec<&Name> = match rerun {
        Rerun::Named(names) => names.iter().collect(),
        Rerun::None | Rerun::All => Vec::new(),
    };
    let exists = |name: &&&Name| details.iter().any(|detailed| detailed.requirement.key.name == ***name);
    let Some(unknown) =
        rerun.iter().copied().chain(standards).collect::<Vec<_>>().iter().find(|it| !exists(it)).copied()
    else {
        return Ok(());
    };
    let known: Vec<String> = details.iter().map(|it| format!("`{}`", it.requirement.key.name)).collect();
    let message = format!("`{unknown}` is none of this commit's: {}", known.join(", "));
    Err(Refusal::new(Diagnostic::new("unknown-name", message)))
}

/// Every receipt and the Proof of a run must fit into its attempt record (C3); better to know it now than after the jobs.
fn check_room(details: &[Detailed], config: &Config) -> Result<(), Refusal> {
    /// What the rest of a record takes at most: the attempt, its state, its predecessors.
    const REST_BYTES_MAX: usize = 16 * 1024;
    let artifacts = |it: &Detailed| config.job(&it.requirement.key.name).map_or(&[][..], |job| &job.artifacts);
    let room = |it: &Detailed| room_bytes(&it.requirement.key, &it.input.parts(Salt([0; 16])), artifacts(it));
    let bytes = REST_BYTES_MAX + details.iter().map(room).sum::<usize>();
    if bytes <= RECORD_BYTES_MAX {
        return Ok(());
    }
    let message = format!(
        "{} requirements could take {bytes} bytes in the attempt record, more than the {RECORD_BYTES_MAX} that it may have; \
         declare fewer, or with shorter commands, inputs and toolchain answers",
        details.len()
    );
    Err(Refusal::new(Diagnostic::new("plan-too-large", message)))
}

fn departs(departures: &[String]) -> Refusal {
    let message = "this commit drops or redefines jobs of trunk, which `[gate] jobs = \"trunk\"` refuses";
    let mut diagnostic = Diagnostic::new("departs-from-trunk", message);
    diagnostic.place = departures.to_vec();
    Refusal::new(diagnostic)
}

/// The plan as it is told.
pub fn as_event(plan: &Plan) -> Vec<PlannedRequirement> {
    let items = plan.items.iter().filter(|item| item.decision != Decision::NotNeeded);
    items
        .map(|item| PlannedRequirement {
            kind: item.requirement.key.kind,
            name: item.requirement.key.name.clone(),
            command: item.requirement.command.clone(),
            decision: match &item.decision {
                Decision::Reuse(receipt) | Decision::Replay(receipt) => {
                    event::Decision::Reuse { commit: receipt.commit, attempt: receipt.attempt, at: receipt.finished_at }
                }
                Decision::Run(why) => event::Decision::Run { why: why.to_string() },
                Decision::NotNeeded => event::Decision::Run { why: String::new() },
            },
            expected_ms: item.requirement.expected_ms,
        })
        .collect()
}
