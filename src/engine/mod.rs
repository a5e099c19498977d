//! Runs: the owner's loop, jobs and their supervisors, recovery, retention.
