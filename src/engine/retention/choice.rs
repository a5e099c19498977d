//! What retention no longer keeps: rules without IO.

use std::collections::{HashMap, HashSet};

use crate::evidence::Receipt;
use crate::id::{AttemptId, CommitId, OperationHandle, Subject};
use crate::ledger::OutcomeEntry;
use crate::time::Timestamp;

/// A day, in milliseconds.
pub const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Finished attempts keep their ref at most so long, in milliseconds.
const REF_AGE_MAX_MS: i64 = DAY_MS;

/// At most so many finished attempts keep their ref.
pub const REFS_MAX: usize = 16;

/// So many are left where there were more, so that not every run has one to remove.
const REFS_LEFT: usize = 8;

/// Logs and journals are kept so long, in milliseconds.
const RUN_AGE_MAX_MS: i64 = 7 * DAY_MS;

/// And of at most so many runs.
const RUNS_MAX: usize = 128;

/// Outcomes and receipts that nothing reachable needs are kept so long, in milliseconds.
const LEDGER_AGE_MAX_MS: i64 = 30 * DAY_MS;

/// A finished attempt whose ref is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FinishedRef<R> {
    /// The ref, as the caller knows it.
    pub of: R,
    /// When the attempt ended.
    pub finished_at: Timestamp,
}

/// The refs that are surplus: those that are too old, and all but the newest few where there are too many.
pub fn surplus_refs<R>(mut refs: Vec<FinishedRef<R>>, now: Timestamp) -> Vec<R> {
    refs.sort_by_key(|one| std::cmp::Reverse(one.finished_at));
    let kept = if refs.len() > REFS_MAX { REFS_LEFT } else { refs.len() };
    let surplus = |(at, one): (usize, FinishedRef<R>)| {
        (at >= kept || now.millis_since(one.finished_at) > REF_AGE_MAX_MS).then_some(one.of)
    };
    refs.into_iter().enumerate().filter_map(surplus).collect()
}

/// A run whose folder is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    /// Its handle.
    pub handle: OperationHandle,
    /// When it began.
    pub started_at: Timestamp,
    /// Whether it may still be at work, or an unfinished attempt names it.
    pub needed: bool,
}

/// The runs whose logs and journals go: old ones, and all but the newest where there are too many; never one that is needed.
pub fn surplus_runs(mut runs: Vec<RunFolder>, now: Timestamp) -> Vec<OperationHandle> {
    runs.sort_by_key(|run| std::cmp::Reverse(run.started_at));
    let surplus = |(at, run): (usize, RunFolder)| {
        let over = at >= RUNS_MAX || now.millis_since(run.started_at) > RUN_AGE_MAX_MS;
        (over && !run.needed).then_some(run.handle)
    };
    runs.into_iter().enumerate().filter_map(surplus).collect()
}

/// Whether anything in the ledger is old enough to go, so that reachability has to be asked for.
pub fn is_old(at: Timestamp, now: Timestamp) -> bool {
    now.millis_since(at) > LEDGER_AGE_MAX_MS
}

/// The outcomes that go: old ones of commits that can't be reached any more.
pub fn surplus_outcomes(
    outcomes: &[OutcomeEntry],
    reachable: &HashSet<CommitId>,
    now: Timestamp,
) -> HashSet<(CommitId, u32)> {
    let goes = |outcome: &&OutcomeEntry| is_old(outcome.finished_at, now) && !reachable.contains(&outcome.commit);
    outcomes.iter().filter(goes).map(|outcome| (outcome.commit, outcome.generation)).collect()
}

/// The receipts that go: those that no reachable commit's Proof needs, thirty days after the newest outcome that names them.
pub fn surplus_receipts(
    receipts: &[Receipt],
    outcomes: &[OutcomeEntry],
    reachable: &HashSet<CommitId>,
    now: Timestamp,
) -> Vec<(Subject, AttemptId)> {
    let mut needed: HashSet<(Subject, AttemptId)> = HashSet::new();
    let mut named: HashMap<(Subject, AttemptId), Timestamp> = HashMap::new();
    let mut checked: HashMap<Subject, Timestamp> = HashMap::new();
    let mut ended: HashMap<AttemptId, Timestamp> = HashMap::new();
    for outcome in outcomes {
        ended.insert(outcome.attempt, outcome.finished_at);
        let measured = outcome.measured.iter().map(|measured| measured.subject);
        let bound = outcome.bound.iter().map(|bound| bound.subject);
        for subject in measured.chain(bound).chain(outcome.failed.iter().map(|failed| failed.subject)) {
            let newest = checked.entry(subject).or_insert(outcome.finished_at);
            *newest = (*newest).max(outcome.finished_at);
        }
        for requirement in outcome.proof.iter().flat_map(|proof| &proof.requirements) {
            let receipt = (requirement.subject, requirement.attempt);
            if reachable.contains(&outcome.commit) {
                needed.insert(receipt);
            }
            let newest = named.entry(receipt).or_insert(outcome.finished_at);
            *newest = (*newest).max(outcome.finished_at);
        }
    }
    let goes = |receipt: &&Receipt| {
        let key = (receipt.subject, receipt.attempt);
        let by_outcomes = [named.get(&key), checked.get(&receipt.subject), ended.get(&receipt.attempt)];
        let last = by_outcomes.into_iter().chain([Some(&receipt.finished_at)]).flatten().max().copied();
        !needed.contains(&key) && last.is_none_or(|last| is_old(last, now))
    };
    receipts.iter().filter(goes).map(|receipt| (receipt.subject, receipt.attempt)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::samples;

    fn at(days: i64) -> Timestamp {
        Timestamp::from_millis(1_764_496_500_000).plus_millis(days * DAY_MS)
    }

    fn refs(count: usize) -> Vec<FinishedRef<usize>> {
        (0..count).map(|of| FinishedRef { of, finished_at: at(0).plus_millis(of as i64) }).collect()
    }

    #[test]
    fn sixteen_refs_stay_and_of_seventeen_the_newest_eight() {
        assert_eq!(surplus_refs(refs(16), at(0)), Vec::<usize>::new());
        assert_eq!(surplus_refs(refs(17), at(0)), (0..9).rev().collect::<Vec<_>>());
    }

    #[test]
    fn a_ref_that_is_older_than_a_day_goes_however_few_there_are() {
        assert_eq!(surplus_refs(refs(2), at(1).plus_millis(1)), vec![0]);
    }

    #[test]
    fn a_run_that_is_needed_stays_however_old_and_however_many() {
        let run = |number: u64, needed| RunFolder {
            handle: OperationHandle::from_random(number),
            started_at: at(0).plus_millis(number as i64),
            needed,
        };
        assert_eq!(surplus_runs(vec![run(1, true), run(2, false)], at(8)), vec![OperationHandle::from_random(2)]);
        let many = (0..130).map(|number| run(number, number == 0)).collect();
        assert_eq!(surplus_runs(many, at(0)), vec![OperationHandle::from_random(1)]);
    }

    /// A `done` of `commit` that passed on `day` with the receipt `of`.
    fn proven(commit: CommitId, day: i64, of: &Receipt) -> OutcomeEntry {
        let requirement = crate::evidence::ProofRequirement {
            kind: of.kind,
            name: of.name.clone(),
            subject: of.subject,
            attempt: of.attempt,
            obtained_on: of.commit,
            obtained_at: of.finished_at,
            duration_ms: of.duration_ms,
            reused: true,
            flaky: false,
            reading: None,
            limit: None,
            distance: None,
            trunk_limit: None,
        };
        let proof = crate::evidence::Proof {
            commit,
            tree: of.parts.tree,
            configuration: crate::id::Digest([0; 32]),
            requirements: vec![requirement],
            trunk: None,
            departures: Vec::new(),
            loosened: Vec::new(),
            attempt: samples::attempt(200),
            started_at: at(day),
            finished_at: at(day),
            tool_version: String::new(),
            git_version: String::new(),
            platform: of.parts.platform.clone(),
        };
        OutcomeEntry {
            commit,
            generation: 1,
            attempt: samples::attempt(200),
            purpose: crate::claim::record::Purpose::Done,
            outcome: crate::claim::record::Outcome::Passed,
            by: crate::claim::record::EndedBy::Owner { reason: None },
            exit_status: 0,
            started_at: at(day),
            finished_at: at(day),
            worktree: String::new(),
            branch: None,
            failed: Vec::new(),
            bound: Vec::new(),
            measured: Vec::new(),
            proof: Some(proof),
        }
    }

    #[test]
    fn what_a_reachable_commits_proof_needs_stays_for_ever_and_the_rest_for_thirty_days() {
        let commit = CommitId(samples::object(1));
        let receipt = Receipt { finished_at: at(0), ..samples::receipt(samples::subject(1), 1) };
        let other = Receipt { finished_at: at(0), ..samples::receipt(samples::subject(2), 2) };
        let outcomes = [proven(commit, 20, &receipt)];
        let receipts = [receipt, other];
        let (here, gone) = (HashSet::from([commit]), HashSet::new());
        let keys =
            |at: &[usize]| -> Vec<_> { at.iter().map(|&at| (receipts[at].subject, receipts[at].attempt)).collect() };
        let dropped = |reachable: &HashSet<CommitId>, day| surplus_receipts(&receipts, &outcomes, reachable, at(day));
        // Nobody names the second one, so that its own thirty days count; the first was named on day 20.
        assert_eq!(dropped(&here, 30), keys(&[]));
        assert_eq!(dropped(&here, 31), keys(&[1]));
        assert_eq!(dropped(&here, 9_999), keys(&[1]));
        assert_eq!(dropped(&gone, 50), keys(&[1]));
        assert_eq!(dropped(&gone, 51), keys(&[0, 1]));
        assert_eq!(surplus_outcomes(&outcomes, &here, at(9_999)), HashSet::new());
        assert_eq!(surplus_outcomes(&outcomes, &gone, at(50)), HashSet::new());
        assert_eq!(surplus_outcomes(&outcomes, &gone, at(51)), HashSet::from([(commit, 1)]));
    }
}
