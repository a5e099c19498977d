//! Every interleaving within bounds, once.

use std::collections::{HashSet, VecDeque};

use super::action::Action;
use super::goal::Goals;
use super::key::key;
use super::property;
use super::world::{Bounds, World};

/// In which order states are taken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The latest first: little memory.
    Deep,
    /// The earliest first: a counterexample is as short as can be.
    Broad,
}

/// What a search found.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) states: usize,
    pub(crate) steps: usize,
    pub(crate) goals: Goals,
    pub(crate) violation: Option<Violation>,
    /// The search stopped before it had seen everything.
    pub(crate) cut: bool,
}

/// A way to something that must never happen.
#[derive(Debug)]
pub(crate) struct Violation {
    pub(crate) what: String,
    pub(crate) trace: Vec<Action>,
}

/// How each state was reached: the state before and the action.
struct Trail(Vec<(u32, Action)>);

impl Trail {
    fn to(&self, mut at: u32, last: Option<Action>) -> Vec<Action> {
        let mut trace: Vec<_> = last.into_iter().collect();
        while at != 0 {
            let (before, action) = self.0[at as usize];
            trace.push(action);
            at = before;
        }
        trace.reverse();
        trace
    }
}

/// Visits every state that can be reached within `bounds`, up to `states_max` of them. Each `sample`th state is also
/// continued without faults to its end.
pub(crate) fn search(bounds: &Bounds, order: Order, states_max: usize, sample: usize) -> Report {
    let mut report = Report { states: 1, steps: 0, goals: Goals::default(), violation: None, cut: false };
    let mut scratch = Vec::with_capacity(4096);
    let first = World::new(bounds);
    let mut visited = HashSet::from([key(&first, &mut scratch)]);
    let mut trail = Trail(vec![(0, Action::Tick)]);
    let mut open = VecDeque::from([(0u32, first)]);
    while let Some((at, world)) = if order == Order::Deep { open.pop_back() } else { open.pop_front() } {
        if (at as usize).is_multiple_of(sample)
            && let Err(what) = property::completes(&world, bounds).and(property::can_be_recovered(&world, bounds))
        {
            report.violation = Some(Violation { what, trace: trail.to(at, None) });
            return report;
        }
        for action in world.actions(bounds) {
            report.steps += 1;
            match world.after(action, bounds) {
                Ok((next, goals)) => {
                    report.goals.add(goals);
                    if visited.insert(key(&next, &mut scratch)) {
                        trail.0.push((at, action));
                        open.push_back((trail.0.len() as u32 - 1, next));
                    }
                }
                Err(what) => {
                    report.violation = Some(Violation { what, trace: trail.to(at, Some(action)) });
                    return report;
                }
            }
        }
        report.states = visited.len();
        if report.states >= states_max {
            report.cut = true;
            return report;
        }
    }
    report
}
