//! What to run, what to reuse, and why.
//!
//! [`plan`] looks at each requirement's subject and at the receipts known for it, and decides; [`schedule`] says what may
//! start when; [`departure`] says which jobs of trunk a candidate lacks or redefines. Nothing here runs or stores anything.
//!
//! The rules (storage.md, "Subject"):
//!
//! - A receipt is reused only when the *newest* verdict for the equal subject is `passed`. A failed verdict is replayed
//!   until `--rerun`, unless it says something about the machine as well (a timeout, a signal, a missing program).
//! - When a job runs, its `needs` run in this checkout first, receipt or not, because what they leave behind may be ignored
//!   files, unless the last run of that need, and of its own needs, in this very checkout passed with the equal subject. `after`
//!   only orders. A failure on products that an earlier run left is not given again: the next run makes them anew.
//! - A standard's receipt holds a reading; whether it passes is computed here, from the limit.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::evidence::{Failure, Place, Receipt, RequirementKey, RequirementKind, Verdict, flaky, newest};
use crate::id::{Digest, Name, Subject};
use crate::standard::{Judgement, Limit};

pub mod departure;
pub mod schedule;

pub use departure::{Departure, departures};
pub use schedule::{AfterFailure, Ended, Next, Schedule, Start};

/// One thing that must hold, as the configuration demands it.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    /// Which one.
    pub key: RequirementKey,
    /// What decides its verdict.
    pub subject: Subject,
    /// What is executed ([`SubjectInput::execution`](crate::evidence::SubjectInput::execution)): standards that agree on it
    /// are served by one execution.
    pub execution: Digest,
    /// The command, for people.
    pub command: String,
    /// The jobs whose products it uses.
    pub needs: Vec<Name>,
    /// The jobs that it only comes after.
    pub after: Vec<Name>,
    /// The job whose output it measures.
    pub from: Option<Name>,
    /// How many times a failed run is repeated in the same attempt.
    pub retries: u32,
    /// Whether its `inputs` are declared. Where they are not, ignored files may have made a verdict.
    pub inputs_declared: bool,
    /// A standard's limit; `None` for a job.
    pub limit: Option<Limit>,
    /// Whether its verdict is asked for. A job that is not runs only where one that runs needs it.
    pub demanded: bool,
    /// How long its command took last time, in milliseconds.
    pub expected_ms: Option<u64>,
}

/// Which requirements run again whatever is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rerun {
    /// None.
    None,
    /// All (`--rerun`).
    All,
    /// These (`--rerun JOB…`).
    Named(BTreeSet<Name>),
}

impl Rerun {
    fn selects(&self, name: &Name) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Named(names) => names.contains(name),
        }
    }
}

/// What is known when a plan is made.
#[derive(Debug, Clone)]
pub struct Known {
    /// Every receipt for the requirements' subjects, in any order.
    pub receipts: BTreeMap<Subject, Vec<Receipt>>,
    /// Why a requirement's subject is new, as far as it can be told: what differs from the nearest receipt.
    pub differences: BTreeMap<RequirementKey, String>,
    /// What the last run of a job in this very checkout passed with. What it left behind is there.
    pub left_here: BTreeMap<Name, Subject>,
    /// The jobs whose receipt that counts still has everything that standards read of it: output and artifacts.
    pub outputs_kept: BTreeSet<Name>,
    /// Where jobs of this run run.
    pub place: Place,
    /// What runs again.
    pub rerun: Rerun,
}

impl Known {
    /// Nothing is known, and nothing asked to run again.
    pub fn nothing(place: Place) -> Self {
        Self {
            receipts: BTreeMap::new(),
            differences: BTreeMap::new(),
            left_here: BTreeMap::new(),
            outputs_kept: BTreeSet::new(),
            place,
            rerun: Rerun::None,
        }
    }
}

/// What happens with one requirement.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// The newest verdict for the equal subject is `passed`; it counts. A standard's reading may still be beyond its limit.
    Reuse(Box<Receipt>),
    /// The newest verdict for the equal subject is `failed`; it counts until `--rerun`.
    Replay(Box<Receipt>),
    /// Its command runs.
    Run(Why),
    /// Nobody asks for it and nothing that runs needs it.
    NotNeeded,
}

/// Why a requirement runs. Its `Display` is what `done` shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// `--rerun`.
    Rerun,
    /// No receipt for its subject is known, and nothing near it.
    FirstTime,
    /// No receipt for its subject is known; this differs from the nearest.
    Differs(String),
    /// The newest verdict says something about the machine as well, and is not given again.
    NotReplayed(Failure),
    /// A passed receipt is known; this requirement runs and needs what it leaves behind.
    NeededBy(RequirementKey),
    /// A passed receipt is known, and its output, which this requirement measures, is gone.
    MeasuredBy(RequirementKey),
    /// Its reading is known; the job whose output it measures runs again.
    SourceRuns(Name),
    /// A passed receipt is known; it was obtained in a worktree, without declared inputs, and this run is isolated.
    OnlyInPlace,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rerun => f.write_str("--rerun"),
            Self::FirstTime => f.write_str("first time"),
            Self::Differs(what) => f.write_str(what),
            Self::NotReplayed(failure) => f.write_str(match failure {
                Failure::Timeout => "the last run was ended by its timeout",
                Failure::Signal => "the last run was ended by a signal",
                Failure::NotStarted => "the last run may have missed a program",
                Failure::OutputLost => "the last run's output was lost",
                Failure::Leftovers => "the last run failed on what an earlier run had left here",
                Failure::Unprepared => "the checkout could not be prepared",
                Failure::Exit | Failure::Reading => "the last run failed",
            }),
            Self::NeededBy(key) => write!(f, "needed by {key}"),
            Self::MeasuredBy(key) => write!(f, "measured by {key}, and its output is gone"),
            Self::SourceRuns(name) => write!(f, "{name}, whose output it measures, runs"),
            Self::OnlyInPlace => f.write_str("it passed only in a worktree, and its inputs are not declared"),
        }
    }
}

/// One requirement with what is decided about it.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanItem {
    /// What was asked.
    pub requirement: Requirement,
    /// What happens.
    pub decision: Decision,
    /// Both verdicts are known for its subject.
    pub flaky: bool,
}

impl PlanItem {
    /// How a reused reading stands against the limit; nothing for a job and for what runs.
    pub fn judgement(&self) -> Option<Judgement> {
        let Decision::Reuse(receipt) = &self.decision else { return None };
        // A reading that can't be compared is not reused (`decide`).
        self.requirement.limit.as_ref()?.judge(receipt.reading.as_ref()?).ok()
    }

    /// The verdict that is known before anything runs.
    pub fn verdict(&self) -> Option<Verdict> {
        match &self.decision {
            Decision::Replay(_) => Some(Verdict::Failed),
            Decision::Reuse(_) if self.judgement().is_some_and(|judgement| !judgement.passes) => Some(Verdict::Failed),
            Decision::Reuse(_) => Some(Verdict::Passed),
            Decision::Run(_) | Decision::NotNeeded => None,
        }
    }

    /// Whether its command runs.
    pub fn runs(&self) -> bool {
        matches!(self.decision, Decision::Run(_))
    }
}

/// Every requirement with what is decided about it, in the order of the configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The items.
    pub items: Vec<PlanItem>,
}

impl Plan {
    /// Whether every demanded verdict is known without running anything.
    pub fn is_answered(&self) -> bool {
        !self.items.iter().any(PlanItem::runs)
    }

    /// What a verdict is wanted for, in the order of the configuration.
    pub fn needed(&self) -> impl Iterator<Item = &PlanItem> {
        self.items.iter().filter(|item| item.decision != Decision::NotNeeded)
    }

    /// The item of `key`.
    pub fn item(&self, key: &RequirementKey) -> Option<&PlanItem> {
        self.items.iter().find(|item| item.requirement.key == *key)
    }
}

/// Decides about each of `requirements`; `needs`, `after` and `from` that name none of them are ignored.
pub fn plan(requirements: Vec<Requirement>, known: &Known) -> Plan {
    let items = requirements.into_iter().map(|requirement| decide(requirement, known)).collect();
    let mut plan = Plan { items };
    while pull_in(&mut plan, known) {}
    plan
}

/// What is decided about one requirement by itself.
fn decide(requirement: Requirement, known: &Known) -> PlanItem {
    let key = &requirement.key;
    let receipts = known.receipts.get(&requirement.subject).map_or(&[][..], Vec::as_slice);
    let of_its_kind = || receipts.iter().filter(|receipt| receipt.kind == key.kind);
    let flaky = flaky(of_its_kind());
    let decision = if !requirement.demanded {
        Decision::NotNeeded
    } else if known.rerun.selects(&key.name) {
        Decision::Run(Why::Rerun)
    } else {
        match newest(of_its_kind()) {
            None => Decision::Run(unknown(key, known)),
            Some(receipt) => weigh(&requirement, receipt, known.place),
        }
    };
    PlanItem { requirement, decision, flaky }
}

fn unknown(key: &RequirementKey, known: &Known) -> Why {
    known.differences.get(key).map_or(Why::FirstTime, |difference| Why::Differs(difference.clone()))
}

/// What the newest receipt for a requirement's subject is good for.
fn weigh(requirement: &Requirement, receipt: &Receipt, place: Place) -> Decision {
    if let Some(failure) = receipt.failure.filter(|failure| !failure.may_be_replayed()) {
        return Decision::Run(Why::NotReplayed(failure));
    }
    let comparable = match (&requirement.limit, &receipt.reading) {
        (Some(limit), Some(reading)) => limit.judge(reading).is_ok(),
        (limit, _) => limit.is_none() || receipt.verdict == Verdict::Failed,
    };
    if receipt.check().is_err() || !comparable {
        // Hostile or damaged: as good as none.
        return Decision::Run(Why::FirstTime);
    }
    match receipt.verdict {
        Verdict::Failed => Decision::Replay(Box::new(receipt.clone())),
        Verdict::Passed
            if place == Place::Isolated && receipt.place == Place::InPlace && !requirement.inputs_declared =>
        {
            Decision::Run(Why::OnlyInPlace)
        }
        Verdict::Passed => Decision::Reuse(Box::new(receipt.clone())),
    }
}

/// Makes the needs of what runs run, and what measures what runs; true if anything changed.
fn pull_in(plan: &mut Plan, known: &Known) -> bool {
    let mut changes: Vec<(RequirementKey, Why)> = Vec::new();
    let mut answer: Vec<RequirementKey> = Vec::new();
    for item in plan.items.iter().filter(|item| item.runs()) {
        let requirement = &item.requirement;
        for need in &requirement.needs {
            if let Some(needed) = plan.job(need)
                && !plan.left_behind(needed, known)
            {
                changes.push((needed.requirement.key.clone(), Why::NeededBy(requirement.key.clone())));
            }
        }
        if let Some(source) = requirement.from.as_ref().and_then(|from| plan.job(from)) {
            let key = source.requirement.key.clone();
            if !known.outputs_kept.contains(&key.name) || !source.has_receipt(known) {
                changes.push((key, Why::MeasuredBy(requirement.key.clone())));
            } else if source.decision == Decision::NotNeeded {
                answer.push(key);
            }
        }
    }
    for item in plan.items.iter().filter(|item| matches!(item.decision, Decision::Reuse(_) | Decision::Replay(_))) {
        if let Some(source) = item.requirement.from.as_ref().and_then(|from| plan.job(from)).filter(|job| job.runs()) {
            let why = Why::SourceRuns(source.requirement.key.name.clone());
            changes.push((item.requirement.key.clone(), why));
        }
    }
    let mut changed = false;
    for (key, why) in changes {
        let Some(item) = plan.items.iter_mut().find(|item| item.requirement.key == key) else { continue };
        let decision = match &item.decision {
            Decision::Run(_) => continue,
            // A need that failed fails what needs it; it is not tried again for its sake.
            Decision::Replay(_) if !matches!(why, Why::SourceRuns(_)) => continue,
            Decision::NotNeeded => {
                let asked = Requirement { demanded: true, ..item.requirement.clone() };
                match decide(asked, known).decision {
                    Decision::Reuse(_) => Decision::Run(why),
                    decision => decision,
                }
            }
            Decision::Reuse(_) | Decision::Replay(_) => Decision::Run(why),
        };
        item.decision = decision;
        changed = true;
    }
    // A job whose kept output is measured counts with its receipt, although nobody else asks for it.
    for item in plan.items.iter_mut().filter(|item| answer.contains(&item.requirement.key)) {
        let asked = Requirement { demanded: true, ..item.requirement.clone() };
        item.decision = decide(asked, known).decision;
        changed = true;
    }
    changed
}

impl Plan {
    /// The jobs of which `key` uses, itself or by what it needs, products that an earlier run left in this checkout.
    pub fn left_over_for(&self, key: &RequirementKey) -> BTreeSet<Name> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut pending: Vec<&Name> = self.item(key).into_iter().flat_map(|item| &item.requirement.needs).collect();
        while let Some(need) = pending.pop() {
            let Some(item) = self.job(need).filter(|_| seen.insert(need)) else { continue };
            found.extend((!item.runs()).then(|| need.clone()));
            pending.extend(&item.requirement.needs);
        }
        found
    }

    fn job(&self, name: &Name) -> Option<&PlanItem> {
        self.items
            .iter()
            .find(|item| item.requirement.key.kind == RequirementKind::Job && item.requirement.key.name == *name)
    }

    /// Whether what `need` leaves behind is in this checkout, and its newest verdict is passed; and so for what it needs, which
    /// its products may lead to.
    fn left_behind(&self, need: &PlanItem, known: &Known) -> bool {
        let requirement = &need.requirement;
        let here = known.left_here.get(&requirement.key.name) == Some(&requirement.subject);
        let itself = here && need.has_receipt(known) && !known.rerun.selects(&requirement.key.name);
        itself && requirement.needs.iter().filter_map(|name| self.job(name)).all(|below| self.left_behind(below, known))
    }
}

impl PlanItem {
    /// Whether a passed receipt counts for it.
    fn has_receipt(&self, known: &Known) -> bool {
        let receipts = known.receipts.get(&self.requirement.subject).into_iter().flatten();
        let newest = newest(receipts.filter(|receipt| receipt.kind == self.requirement.key.kind));
        newest.is_some_and(|receipt| receipt.verdict == Verdict::Passed)
    }
}

#[cfg(test)]
mod tests;
