//! Each way in which a verdict could be wrong, tried on real repositories with the real program. `docs/soundness.md` lists
//! them; what is only documented there has no test here.
//!
//! Most rows are one shape: a repository is set up and proven, the world changes, and the gate is asked again.

mod attributes;
mod claims;
mod flaky;
mod reading;
pub(crate) mod scene;
mod store;
mod subject;
mod tree;
mod trunk;
mod while_it_runs;
