//! The user's repository: where it is, what it holds, whether its worktree is the committed tree.
//!
//! Two ways in. Reading is done in this process ([`repository`], [`objects`], [`tree`]): quick, and without side effects.
//! Everything that git itself must decide, and every write to a ref, goes through the one door to the git command line
//! ([`command`]). The ref format is looked at before any ref is read: a reftable repository is only ever asked through
//! git, because gix would write loose refs there that git never sees (hazard 5).
//!
//! Nothing here changes the user's index, `HEAD`, branches or configuration, takes an optional lock, fetches, or runs one
//! of the user's hooks. Replaced objects are not followed: a Proof speaks of what the ids name.

pub mod candidate;
pub mod checkout;
pub mod cleanliness;
pub mod command;
mod error;
mod format;
mod index;
pub mod location;
mod merge_base;
pub mod objects;
mod on_disk;
pub mod pack;
pub mod pathspec;
pub mod ref_lock;
pub mod ref_writer;
pub mod refs;
pub mod repository;
pub mod revision;
pub mod snapshot;
mod stat_data;
mod status;
mod submodule;
pub mod tree;
mod version;
pub mod worktrees;

/// What to make of files that are neither tracked nor ignored (`[gate] untracked`).
pub use crate::config::Untracked;

pub use candidate::{Head, Operation};
pub use checkout::{Move, Survey};
pub use cleanliness::{Cause, Cleanliness, DirtyKind, DirtyPath};
pub use command::{Finished, Git};
pub use error::{GitError, NEWER_GIT, with_causes};
pub use location::{Location, LocationVariables};
pub use pathspec::Pathspecs;
pub use ref_lock::LeftoverLock;
pub use repository::{ObjectFormat, RefFormat, Repository, Sharing};
pub use snapshot::{Changed, How, Snapshot};
pub use status::Look;
pub use tree::{Folders, InputEntry, Inputs, Trees};
