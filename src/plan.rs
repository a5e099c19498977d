//! What to run, what to reuse, and why.
