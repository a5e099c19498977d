//! Runs: the owner's loop, jobs and their supervisors, recovery, retention.
//!
//! A run is one thread with one loop (C14): renewal, narration, job supervision and signal handling share it, and narration
//! is written synchronously. What stops the loop stops the renewals, and the claim becomes available after one lease.

pub mod claims;
pub mod evaluate;
pub mod holder;
pub mod job;
pub mod job_clock;
pub mod job_end;
pub mod log;
mod order;
pub mod recovery;
pub mod requirements;
pub mod run;
pub mod stage;
pub mod supervisor;
pub mod worktree_lock;
