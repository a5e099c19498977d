//! What our data costs the user's own `git fetch` and `git push`, on either side of a transfer.
//!
//! git walks from all refs before it believes that a fetch is complete, and a push is answered with all refs: neither may feel
//! that a ledger is there. Each transfer carries one new commit, by path and by `file://`.

use std::path::Path;

use super::super::sample::{Sample, Shape, jobs};
use super::super::stopwatch::{Turn, in_turns, silently, time};
use super::super::{Place, Row};
use super::kept::fill;
use crate::process;

/// The branch that travels.
const BRANCH: &str = "refs/heads/travelling";

/// One side with our data, the other one a plain clone of it.
struct Pair {
    sample: Sample,
    other: String,
}

impl Pair {
    fn make(place: &Place, name: &str, outcomes: u32) -> anyhow::Result<Self> {
        let sample = place.sample(name);
        sample.make(Shape { files: 2_000, commits: 300, refs: "files", config: &jobs(3, "true", "") })?;
        sample.git(&["update-ref", BRANCH, "main"])?;
        let other = place.disk.join(format!("{name}-other.git")).to_string_lossy().into_owned();
        sample.git(&["clone", "-q", "--bare", "--no-local", ".", &other])?;
        if outcomes > 0 {
            // As after a day of work: the ledger, and as many records as stay.
            for _ in 0..16 {
                sample.commit()?;
                sample.discern(&["done"], 0)?;
            }
            fill(&sample, outcomes)?;
        }
        Ok(Self { sample, other })
    }

    /// The names of both sides as `scheme` writes them, ours first.
    fn names(&self, scheme: &str) -> (String, String) {
        (format!("{scheme}{}", self.sample.folder().display()), format!("{scheme}{}", self.other))
    }
}

/// Makes one new commit in `from`, and takes the time of the git command in `folder` that carries it.
fn carry(from: &Path, folder: &Path, words: &[&str]) -> anyhow::Result<f64> {
    let git = |words: &[&str]| process::capture(&[&["git"], words].concat(), from);
    let parent = git(&["rev-parse", BRANCH])?;
    let identity = ["-c", "user.name=Bench", "-c", "user.email=bench@example.com"];
    let tree = ["commit-tree", &format!("{BRANCH}^{{tree}}"), "-p", parent.trim(), "-m", "c"];
    let commit = git(&[&identity[..], &tree].concat())?;
    git(&["update-ref", BRANCH, commit.trim()])?;
    let mut command = process::command("git");
    command.current_dir(folder).args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"]).args(words);
    time(|| silently(command, 0))
}

/// The four transfers, by path and by `file://`.
pub(super) fn transfers(place: &Place) -> anyhow::Result<Vec<Row>> {
    let with = Pair::make(place, "transfer-with", place.extent.many_outcomes)?;
    let without = Pair::make(place, "transfer-without", 0)?;
    let mut rows = Vec::new();
    for (scheme, [fetch, push, fetched_from, pushed_to]) in [
        (
            "",
            [
                "the user's `git fetch` of one commit, 10,000 outcomes here",
                "the user's `git push` of one commit",
                "somebody's `git fetch` from here",
                "somebody's `git push` to here",
            ],
        ),
        (
            "file://",
            [
                "the user's `git fetch`, by `file://`",
                "the user's `git push`, by `file://`",
                "somebody's `git fetch` from here, by `file://`",
                "somebody's `git push` to here, by `file://`",
            ],
        ),
    ] {
        rows.push(transfer(place, [&without, &with], scheme, fetch, Way::Fetch)?);
        rows.push(transfer(place, [&without, &with], scheme, push, Way::Push)?);
        rows.push(transfer(place, [&without, &with], scheme, fetched_from, Way::FetchedFrom)?);
        rows.push(transfer(place, [&without, &with], scheme, pushed_to, Way::PushedTo)?);
    }
    Ok(rows)
}

/// Who carries what; *here* is the side that may have our data.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// Of the other's commit, here.
    Fetch,
    /// To the other, here.
    Push,
    /// Of our commit, by the other.
    FetchedFrom,
    /// To us, by the other.
    PushedTo,
}

fn transfer(place: &Place, pairs: [&Pair; 2], scheme: &str, what: &'static str, way: Way) -> anyhow::Result<Row> {
    let turn = |pair: &Pair| -> anyhow::Result<f64> {
        let (here, other) = (pair.sample.folder(), Path::new(&pair.other));
        let (here_name, other_name) = pair.names(scheme);
        let refspec = format!("+{BRANCH}:{BRANCH}");
        match way {
            Way::Fetch => carry(other, here, &["fetch", "-q", &other_name, &refspec]),
            Way::Push => carry(here, here, &["push", "-q", &other_name, &refspec]),
            Way::FetchedFrom => carry(here, other, &["fetch", "-q", &here_name, &refspec]),
            Way::PushedTo => carry(other, other, &["push", "-q", &here_name, &refspec]),
        }
    };
    let turns = pairs.map(|pair| Box::new(move || turn(pair)) as Turn<'_>);
    let [without, with] = in_turns(place.extent.rounds, turns)?;
    let formula = format!("1.1 × + 4; {without:.1} without our data");
    Ok(Row { what, measured: with, limit: 1.1 * without + 4.0, unit: "ms", formula })
}
