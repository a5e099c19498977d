//! What is asked of a run.

use super::requirements::Chosen;
use crate::claim::record::Purpose;
use crate::id::CommitId;
use crate::plan::Rerun;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// To prove, or to measure.
    pub purpose: Purpose,
    /// The standards that `standards` measures.
    pub chosen: Chosen,
    /// What runs again whatever is known.
    pub rerun: Rerun,
    /// Whether to wait for a claim that is held: for ever, or for so many seconds.
    pub wait: Option<Option<u64>>,
    /// Whether a failure keeps the rest from starting.
    pub keep_going: bool,
    /// The commit; nothing means `HEAD`. One that is named is always worked on in a kept checkout.
    pub commit: Option<CommitId>,
    /// Whether jobs run in a kept checkout whatever the configuration says (`--isolated`).
    pub isolated: bool,
}

impl Request {
    /// The subcommand's name.
    pub fn command(&self) -> &'static str {
        match self.purpose {
            Purpose::Done => "done",
            Purpose::Standards => "standards",
        }
    }

    /// The command line that asks for the same again.
    pub fn again(&self) -> String {
        let place = self.commit.map(|commit| format!(" {}", commit.short()));
        let place = place.or_else(|| self.isolated.then(|| " --isolated".to_owned()));
        format!("git discern {}{}", self.command(), place.unwrap_or_default())
    }
}
