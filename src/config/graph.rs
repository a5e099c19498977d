//! What comes before what: an order of the jobs, and the cycle that forbids one.

use std::collections::HashSet;

use super::Job;
use crate::id::Name;

/// The jobs so that each follows everything in its `needs` and `after`; otherwise in the file's order. The jobs form no
/// cycle; if they did, those in it would be left out.
pub(super) fn in_order(jobs: &[Job]) -> Vec<&Job> {
    let mut order = Vec::with_capacity(jobs.len());
    let mut placed: HashSet<&Name> = HashSet::new();
    let ready = |job: &&Job, placed: &HashSet<&Name>| {
        !placed.contains(&job.name) && before(job).all(|name| placed.contains(name))
    };
    while let Some(next) = jobs.iter().find(|job| ready(job, &placed)) {
        placed.insert(&next.name);
        order.push(next);
    }
    order
}

fn before(job: &Job) -> impl Iterator<Item = &Name> {
    job.influences.needs.iter().chain(&job.after)
}

/// Each cycle as it is met when following edges from the first job on: the jobs on it, the first one again at the end.
/// `edges` holds for each job the places of the jobs that come before it.
pub(super) fn cycles(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut walk = Walk { edges, state: vec![State::New; edges.len()], path: Vec::new(), found: Vec::new() };
    for start in 0..edges.len() {
        walk.visit(start);
    }
    walk.found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    OnPath,
    Done,
}

struct Walk<'a> {
    edges: &'a [Vec<usize>],
    state: Vec<State>,
    /// The jobs that lead here, and how many edges of each were followed.
    path: Vec<(usize, usize)>,
    found: Vec<Vec<usize>>,
}

impl Walk<'_> {
    /// Follows every edge from `start`, without recursion: a file may hold a chain of ten thousand jobs.
    fn visit(&mut self, start: usize) {
        self.enter(start);
        while let Some((at, followed)) = self.path.last_mut() {
            let Some(&next) = self.edges[*at].get(*followed) else {
                self.state[*at] = State::Done;
                self.path.pop();
                continue;
            };
            *followed += 1;
            self.enter(next);
        }
    }

    fn enter(&mut self, job: usize) {
        match self.state[job] {
            State::Done => {}
            State::New => {
                self.state[job] = State::OnPath;
                self.path.push((job, 0));
            }
            State::OnPath => {
                let members = self.path.iter().map(|&(at, _)| at).skip_while(|&at| at != job);
                self.found.push(members.chain([job]).collect());
            }
        }
    }
}
