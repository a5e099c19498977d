//! Planning under the claim: toolchain answers, subjects, what is known of them, and the decision about each requirement.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate;
use super::machine::{Machine, Work};
use super::measure;
use super::prepare;
use super::request::Request;
use super::requirements::{self, Detailed, Scope, Surroundings, Unplanned};
use super::run::Run;
use super::session::Session;
use super::trunk::Comparison;
use crate::claim::record::{Purpose, RECORD_BYTES_MAX};
use crate::config::{self, Config};
use crate::document::{Diagnostic, Refusal};
use crate::event::{self, PlannedRequirement};
use crate::evidence::subject::{Salt, Source};
use crate::evidence::{Place, Receipt, RequirementKey, RequirementKind, Verdict, explain, newest, room_bytes};
use crate::git::{Pathspecs, Trees};
use crate::id::{Name, Subject, TreeId};
use crate::ledger::FoundReceipts;
use crate::plan::{self, Decision, Known, Plan, Requirement, Rerun};

/// How many changed paths are looked for to say why a requirement runs.
const CHANGED_PATHS_MAX: usize = 3;

/// Why something runs whose receipts are not all readable.
const NEWER_RECEIPT: &str = "a newer git-discern recorded a verdict of it that this one can't read";

/// Makes the plan of a run.
///
/// # Errors
/// Something has to be mended first; the repository can't be read.
pub fn make(
    request: &Request,
    subject: &candidate::Subject,
    run: &mut Run<'_, Machine<'_, '_>>,
) -> Result<Work, Unplanned> {
    let scope = match request.purpose {
        Purpose::Done => Scope::Gate,
        Purpose::Standards => Scope::Standards(&request.chosen),
    };
    let config = match run.stage().place() {
        Place::InPlace => subject.config.clone(),
        Place::Isolated => prepare::as_job(subject.config.clone())?,
    };
    let commands = requirements::toolchain_commands(&config, scope);
    run.stage().ask_toolchain(&commands, &config);
    while run.stage().toolchain_is_open() && run.stopped().is_none() && !run.is_over() {
        run.attend(None);
    }
    let machine = run.stage();
    if !machine.toolchain_unanswered().is_empty() {
        let message = "which tools are here is unknown, and so is what was checked with them".to_owned();
        let mut diagnostic = Diagnostic::new("toolchain-unanswered", message);
        diagnostic.place = machine.toolchain_unanswered().to_vec();
        return Err(Refusal::new(diagnostic).into());
    }
    let repository = machine.session.repository;
    let comparison = subject.comparison.clone();
    if comparison.refuses_departures {
        return Err(departs(&comparison).into());
    }
    let surroundings = Surroundings {
        variable: &|name| machine.variable(name),
        on_disk: machine.on_disk(),
        toolchain: machine.toolchain_answers(),
        trunk_limits: &comparison.limits,
    };
    let trees = repository.trees()?;
    let mut details = requirements::requirements(&config, scope, subject.head.tree, &trees, &surroundings)?;
    prepare::needed_by_all(&mut details);
    check_names(&request.rerun, &details)?;
    check_room(&details, &config)?;
    let known = look_up(&mut details, machine, &trees, request);
    drop_unasked(&mut details, &known, request, &subject.config);
    let order = details.iter().map(|detailed| detailed.requirement.key.clone()).collect();
    let plan = plan::plan(details.iter().map(|detailed| detailed.requirement.clone()).collect(), &known);
    let known = known.receipts;
    Ok(Work { config, details: requirements::by_key(details), order, plan, known, comparison })
}

/// What is known of each requirement's subject, in the ledger and in this checkout.
fn look_up(details: &mut [Detailed], machine: &Machine<'_, '_>, trees: &Trees<'_>, request: &Request) -> Known {
    let session: &Session<'_> = machine.session;
    let mut receipts: BTreeMap<_, Vec<Receipt>> = BTreeMap::new();
    let mut differences = BTreeMap::new();
    for detailed in details.iter_mut() {
        let key = detailed.requirement.key.clone();
        let subject = detailed.requirement.subject;
        let found = session.ledger.receipts(subject).unwrap_or_else(|error| FoundReceipts::nothing(error.to_string()));
        if let Some(why) = passed_over(&found) {
            differences.insert(key, why);
            continue;
        }
        let found = found.receipts;
        let of_its_kind = || found.iter().filter(|receipt| receipt.kind == key.kind);
        if let Some(receipt) = newest(of_its_kind()) {
            detailed.requirement.expected_ms = Some(receipt.duration_ms);
        } else if let Some(nearest) = nearest(session, &key) {
            detailed.requirement.expected_ms = Some(nearest.duration_ms);
            differences.extend(difference(detailed, &nearest, trees).map(|difference| (key, difference)));
        }
        receipts.insert(subject, found);
    }
    Known {
        outputs_kept: outputs_kept(session, details, &receipts, &request.rerun),
        receipts,
        differences,
        left_here: machine.left_here().passed().clone(),
        place: machine.place(),
        rerun: request.rerun.clone(),
    }
}

/// Why nothing that was found counts, if so: the verdict that can't be read may be the newest.
fn passed_over(found: &FoundReceipts) -> Option<String> {
    if found.newer {
        return Some(NEWER_RECEIPT.to_owned());
    }
    found.warnings.first().map(|warning| format!("what the ledger has of it can't be read ({warning})"))
}

/// Nothing is run for a standard that nobody asked for: it counts where its reading is known.
fn drop_unasked(details: &mut [Detailed], known: &Known, request: &Request, config: &Config) {
    if request.purpose != Purpose::Standards {
        return;
    }
    let standards = details.iter_mut().map(|it| &mut it.requirement).filter(|it| it.limit.is_some());
    for standard in standards {
        let asked = config.standard(&standard.key.name).is_some_and(|it| request.chosen.asks_for(it));
        let receipts = known.receipts.get(&standard.subject).into_iter().flatten();
        let reading = newest(receipts.filter(|it| it.kind == RequirementKind::Standard));
        standard.demanded = asked || reading.is_some_and(|receipt| receipt.reading.is_some());
    }
}

/// The jobs of which everything that standards without a reading would read is still there.
fn outputs_kept(
    session: &Session<'_>,
    details: &[Detailed],
    receipts: &BTreeMap<Subject, Vec<Receipt>>,
    rerun: &Rerun,
) -> BTreeSet<Name> {
    let count = |of: &Requirement| {
        let found = receipts.get(&of.subject).into_iter().flatten();
        newest(found.filter(|receipt| receipt.kind == of.key.kind))
    };
    let kept = |job: &&Requirement| {
        let readers = details.iter().filter(|it| it.requirement.from.as_ref() == Some(&job.key.name));
        let mut readers = readers.filter(|it| {
            *rerun != Rerun::None || count(&it.requirement).is_none_or(|it| it.verdict == Verdict::Failed)
        });
        let artifact = |reader: &Detailed| match &reader.input.definition.source {
            Source::From { artifact, .. } => artifact.clone(),
            Source::Run(_) => None,
        };
        let is_kept = |receipt: &Receipt| readers.all(|it| is_kept(session, receipt, artifact(it).as_deref()));
        count(job).is_some_and(is_kept)
    };
    let jobs = details.iter().map(|it| &it.requirement).filter(|it| it.key.kind == RequirementKind::Job);
    jobs.filter(kept).map(|job| job.key.name.clone()).collect()
}

/// Whether the output, or the artifact, that belongs to a receipt is still there, as it was.
fn is_kept(session: &Session<'_>, receipt: &Receipt, artifact: Option<&str>) -> bool {
    let Some(log) = &receipt.log else { return false };
    let folder = session.journals.run_folder(&log.handle);
    let Some(path) = artifact else {
        // Half of an output is another reading.
        return std::fs::metadata(folder.join(&log.file)).is_ok_and(|file| file.is_file() && file.len() == log.bytes);
    };
    let digest = measure::digest(&measure::artifact_file(&folder, &receipt.name, path)).ok();
    receipt.artifacts.iter().any(|kept| kept.path == path && Some(kept.digest) == digest)
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

/// `--rerun` names what exists.
fn check_names(rerun: &Rerun, details: &[Detailed]) -> Result<(), Refusal> {
    let Rerun::Named(names) = rerun else { return Ok(()) };
    let exists = |name: &&Name| details.iter().any(|detailed| detailed.requirement.key.name == **name);
    let Some(unknown) = names.iter().find(|name| !exists(name)) else { return Ok(()) };
    let known = details.iter().map(|it| it.requirement.key.name.as_str());
    let message = config::names_nothing(unknown.as_str(), "job or standard", "in this commit", known);
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

fn departs(comparison: &Comparison) -> Refusal {
    let message = "this commit drops or redefines jobs of trunk, which `[gate] jobs = \"trunk\"` of trunk refuses";
    let mut diagnostic = Diagnostic::new("departs-from-trunk", message);
    diagnostic.place.clone_from(&comparison.departures);
    let base = comparison.compared.as_ref().map(|trunk| trunk.merge_base.short());
    Refusal::new(diagnostic.fix(format!("git diff {} -- {}", base.unwrap_or_default(), config::FILE)))
}

/// The plan as it is told.
pub fn as_event(plan: &Plan) -> Vec<PlannedRequirement> {
    let told = plan.items.iter().filter_map(|item| {
        let decision = match &item.decision {
            Decision::Reuse(receipt) | Decision::Replay(receipt) => {
                event::Decision::Reuse { commit: receipt.commit, attempt: receipt.attempt, at: receipt.finished_at }
            }
            Decision::Run(why) => {
                let despite = !matches!(why, plan::Why::FirstTime | plan::Why::Rerun);
                event::Decision::Run { why: why.to_string(), despite }
            }
            Decision::NotNeeded => return None,
        };
        Some(PlannedRequirement {
            kind: item.requirement.key.kind,
            name: item.requirement.key.name.clone(),
            command: item.requirement.command.clone(),
            decision,
            expected_ms: item.requirement.expected_ms,
        })
    });
    told.collect()
}
