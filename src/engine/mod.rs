//! Runs: the owner's loop, jobs and their supervisors, recovery, retention.
//!
//! A run is one thread with one loop (C14): renewal, narration, job supervision and signal handling share it, and narration
//! is written synchronously. What stops the loop stops the renewals, and the claim becomes available after one lease.

pub mod attempt;
pub mod candidate;
pub mod checkup;
pub mod claims;
pub mod dirty;
pub mod driver;
pub mod evaluate;
pub mod follow;
pub mod forecast;
pub mod gate;
pub mod history;
pub mod hook;
pub mod inner_loop;
pub mod job;
pub mod job_clock;
pub mod job_end;
pub mod kept;
pub mod known;
pub mod left_here;
pub mod locks;
pub mod log;
pub mod machine;
pub mod measure;
pub mod no_answer;
mod order;
pub mod pinning;
pub mod planning;
pub mod pool;
pub mod prepare;
pub mod range;
pub mod recovery;
pub mod request;
pub mod requirements;
pub mod retention;
pub mod run;
pub mod session;
pub mod shown;
pub mod slots;
pub mod stage;
pub mod supervisor;
pub mod trunk;
pub mod verifier;
mod waiting;
pub mod worktree_lock;
