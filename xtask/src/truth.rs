//! `cargo xtask truth`.

use crate::process;

/// Runs the long form of the tests that change files under running jobs.
pub(crate) fn run() -> anyhow::Result<()> {
    process::run(&["cargo", "test", "--locked", "--test", "suite", "--", "--ignored", "isolated::truth"])
}
