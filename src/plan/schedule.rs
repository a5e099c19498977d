//! What may start when: a state machine over a [`Plan`]. It starts nothing itself and reads no clock.
//!
//! A task is one execution: a job, or all standards that one command serves. It starts when everything that it needs or
//! measures has passed and everything that it comes `after` is settled. After a failure nothing new starts and what runs is
//! let finish, its retries included; with `keep_going` whatever does not need what failed starts as well. The same calls
//! give the same answers. Where nothing runs and nothing can start it is over, so it can't hang, not even on a cycle.

use std::collections::BTreeMap;

use super::{Plan, PlanItem};
use crate::evidence::{Failure, RequirementKey, RequirementKind, Verdict};
use crate::id::{Digest, Name};

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The requirements that this one execution serves; the first one stands for it. A job is always alone.
    pub serves: Vec<RequirementKey>,
    /// Which try it is, from 1.
    pub tries: u32,
}

/// How an execution ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// With a verdict that passes for each requirement that it serves.
    Passed,
    /// Without one.
    Failed(Failure),
    /// Readings were taken, and at least one is beyond its limit. Another try would not be more true.
    BeyondLimit,
}

/// What follows the end of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The verdict stands.
    Settled,
    /// It will be tried again.
    Retry,
}

/// Whether anything new starts after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterFailure {
    /// Nothing (the default).
    StartNothing,
    /// Whatever does not need what failed (`--keep-going`).
    KeepGoing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Running {
        tries: u32,
    },
    /// It failed and may run again; `tries` were used.
    Again {
        tries: u32,
    },
    Passed,
    Failed,
}

#[derive(Debug, Clone)]
struct Task {
    serves: Vec<RequirementKey>,
    /// Tasks that must have passed.
    needs: Vec<usize>,
    /// Tasks that must be settled, or can't start any more.
    after: Vec<usize>,
    retries: u32,
    /// Milliseconds from its start to the end of everything that waits for it, as far as is known.
    urgency: u64,
    state: State,
}

/// The state of a run's executions.
#[derive(Debug, Clone)]
pub struct Schedule {
    tasks: Vec<Task>,
    /// Indices into `tasks`, in the order in which they are offered.
    order: Vec<usize>,
    after_failure: AfterFailure,
    stopped: bool,
}

impl Schedule {
    /// A schedule for `plan`. Verdicts that the plan already knows count from the start.
    pub fn new(plan: &Plan, after_failure: AfterFailure) -> Self {
        let mut tasks = gather(plan);
        set_urgency(&mut tasks, plan);
        let mut order: Vec<usize> = (0..tasks.len()).collect();
        order.sort_by_key(|&at| (std::cmp::Reverse(tasks[at].urgency), at));
        Self { tasks, order, after_failure, stopped: false }
    }

    /// Takes at most `free_slots` executions that may start now; they count as running from here on.
    pub fn start(&mut self, free_slots: usize) -> Vec<Start> {
        let mut starts = Vec::new();
        for at in self.order.clone() {
            if starts.len() == free_slots {
                break;
            }
            let tries = match self.tasks[at].state {
                State::Waiting if self.may_start(at) => 1,
                State::Again { tries } if !self.stopped => tries + 1,
                _ => continue,
            };
            self.tasks[at].state = State::Running { tries };
            starts.push(Start { serves: self.tasks[at].serves.clone(), tries });
        }
        starts
    }

    /// How many executions may start now.
    pub fn startable(&self) -> usize {
        self.may_start_now().count()
    }

    /// What stands for the execution that starts next, if any may now.
    pub fn next_up(&self) -> Option<&RequirementKey> {
        self.may_start_now().find_map(|at| self.tasks[at].serves.first())
    }

    fn may_start_now(&self) -> impl Iterator<Item = usize> {
        let may = |&at: &usize| match self.tasks[at].state {
            State::Waiting => self.may_start(at),
            State::Again { .. } => !self.stopped,
            State::Running { .. } | State::Passed | State::Failed => false,
        };
        self.order.iter().copied().filter(may)
    }

    /// Takes note that the execution that serves `key` ended. Nothing changes, and the answer is `Settled`, if it was not
    /// running.
    pub fn finished(&mut self, key: &RequirementKey, ended: Ended) -> Next {
        let Some(task) = self.tasks.iter_mut().find(|task| task.serves.contains(key)) else { return Next::Settled };
        let State::Running { tries } = task.state else { return Next::Settled };
        task.state = match ended {
            Ended::Passed => State::Passed,
            Ended::Failed(failure) if tries <= task.retries && may_help(failure) && !self.stopped => {
                State::Again { tries }
            }
            Ended::Failed(_) | Ended::BeyondLimit => State::Failed,
        };
        if matches!(task.state, State::Again { .. }) { Next::Retry } else { Next::Settled }
    }

    /// From here on nothing starts, retries included (a signal, a stop request, a lost claim).
    pub fn stop(&mut self) {
        self.stopped = true;
        for task in &mut self.tasks {
            if matches!(task.state, State::Again { .. }) {
                task.state = State::Failed;
            }
        }
    }

    /// Whether nothing runs and nothing will start.
    pub fn is_over(&self) -> bool {
        (0..self.tasks.len()).all(|at| match self.tasks[at].state {
            State::Running { .. } | State::Again { .. } => false,
            State::Waiting => !self.may_start(at),
            State::Passed | State::Failed => true,
        })
    }

    /// Whether any verdict is known to be failed.
    pub fn has_failure(&self) -> bool {
        self.tasks.iter().any(|task| task.state == State::Failed)
    }

    /// How many executions run.
    pub fn running(&self) -> usize {
        self.tasks.iter().filter(|task| matches!(task.state, State::Running { .. })).count()
    }

    /// How many executions wait, whether they will start or not.
    pub fn waiting(&self) -> usize {
        self.tasks.iter().filter(|task| matches!(task.state, State::Waiting | State::Again { .. })).count()
    }

    /// The requirements without a verdict, each with the failed one that it needed, if that is why.
    pub fn unrun(&self) -> Vec<(RequirementKey, Option<RequirementKey>)> {
        let waiting = self.tasks.iter().filter(|task| task.state == State::Waiting);
        let with_cause = |task: &Task| {
            let cause = task.needs.iter().find_map(|&need| self.failed_root(need, self.tasks.len()));
            task.serves.iter().map(|key| (key.clone(), cause.clone())).collect::<Vec<_>>()
        };
        waiting.flat_map(with_cause).collect()
    }

    /// The failed task that `at` is, or waits for.
    fn failed_root(&self, at: usize, depth: usize) -> Option<RequirementKey> {
        match self.tasks[at].state {
            State::Failed => self.tasks[at].serves.first().cloned(),
            // `depth` ends the search on a cycle.
            State::Waiting if depth > 0 => {
                self.tasks[at].needs.iter().find_map(|&need| self.failed_root(need, depth - 1))
            }
            _ => None,
        }
    }

    fn may_start(&self, at: usize) -> bool {
        let halted = self.stopped || (self.after_failure == AfterFailure::StartNothing && self.has_failure());
        let passed = |&need: &usize| self.tasks[need].state == State::Passed;
        let settled = |&before: &usize| match self.tasks[before].state {
            State::Passed | State::Failed => true,
            State::Running { .. } | State::Again { .. } => false,
            State::Waiting => self.is_doomed(before, self.tasks.len()),
        };
        !halted && self.tasks[at].needs.iter().all(passed) && self.tasks[at].after.iter().all(settled)
    }

    /// Whether it waits for something that failed, and will never start.
    fn is_doomed(&self, at: usize, depth: usize) -> bool {
        self.failed_root(at, depth).is_some()
    }
}

/// Whether another try may end otherwise: a missing program and a full disk are still there a moment later.
fn may_help(failure: Failure) -> bool {
    !matches!(failure, Failure::NotStarted | Failure::OutputLost)
}

/// What makes two standards one execution.
type Shared<'a> = (Digest, &'a [Name], &'a [Name], Option<&'a Name>);

fn gather(plan: &Plan) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut task_of: BTreeMap<&RequirementKey, usize> = BTreeMap::new();
    let mut shared: BTreeMap<Shared<'_>, usize> = BTreeMap::new();
    for item in &plan.items {
        let (requirement, runs) = (&item.requirement, item.runs());
        if runs && requirement.key.kind == RequirementKind::Standard {
            let of = (requirement.execution, &*requirement.needs, &*requirement.after, requirement.from.as_ref());
            if let Some(&at) = shared.get(&of) {
                tasks[at].serves.push(requirement.key.clone());
                tasks[at].retries = tasks[at].retries.max(requirement.retries);
                task_of.insert(&requirement.key, at);
                continue;
            }
            shared.insert(of, tasks.len());
        }
        task_of.insert(&requirement.key, tasks.len());
        let state = match item.verdict() {
            _ if runs => State::Waiting,
            Some(Verdict::Failed) => State::Failed,
            // What nobody asks for and nobody's run needs stands in nobody's way.
            Some(Verdict::Passed) | None => State::Passed,
        };
        let serves = vec![requirement.key.clone()];
        tasks.push(Task { serves, needs: vec![], after: vec![], retries: requirement.retries, urgency: 0, state });
    }
    for PlanItem { requirement, .. } in &plan.items {
        let find = |name: &Name| {
            let job = task_of.get(&RequirementKey::job(name.clone()));
            job.or_else(|| task_of.get(&RequirementKey::standard(name.clone()))).copied()
        };
        let at = task_of[&requirement.key];
        tasks[at].needs = requirement.needs.iter().chain(&requirement.from).filter_map(find).collect();
        tasks[at].after = requirement.after.iter().filter_map(find).collect();
    }
    tasks
}

/// The longest known path from each task to the end of the run, so that what holds up most starts first.
fn set_urgency(tasks: &mut [Task], plan: &Plan) {
    let own: Vec<u64> = tasks
        .iter()
        .map(|task| {
            let expected = |key| plan.item(key).and_then(|item| item.requirement.expected_ms);
            task.serves.iter().filter_map(expected).max().unwrap_or(0)
        })
        .collect();
    for (task, &own) in tasks.iter_mut().zip(&own) {
        task.urgency = own;
    }
    // Each round reaches one step further back; as many rounds as tasks reach everything, and end on a cycle, too.
    for _ in 0..tasks.len() {
        let mut changed = false;
        for at in 0..tasks.len() {
            let Task { needs, after, urgency, state, .. } = tasks[at].clone();
            if state != State::Waiting {
                continue;
            }
            for before in needs.into_iter().chain(after) {
                let through = own[before].saturating_add(urgency);
                if tasks[before].urgency < through {
                    tasks[before].urgency = through;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
