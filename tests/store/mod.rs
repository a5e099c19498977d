//! The seam behind which attempt records are kept: one contract for every store, and the hazards of refs.

#![expect(clippy::unwrap_used, reason = "tests")]

mod contract;
mod hazards;

use git_discern::git::{LocationVariables, Repository};
use git_discern::id::CommitId;

use crate::support::Place;

/// The repository at a place, as a command started there finds it.
pub(crate) fn open(place: &Place) -> Repository {
    Repository::discover(place.path(), &LocationVariables::default()).expect("a repository")
}

/// A candidate of a repository with one commit.
fn candidate(place: &Place) -> CommitId {
    place.save("candidate").parse().expect("a commit id")
}
