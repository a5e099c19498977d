//! One transition of an attempt record: written durably, compared, swapped, read back.

use anyhow::ensure;
use git_discern::id::{CommitId, RecordId};
use git_discern::store::refs::RefStore;
use git_discern::store::{RecordStore as _, Swap};

use super::super::floors;
use super::super::sample::{Sample, Shape, jobs};
use super::super::stopwatch::{Turn, in_turns, time};
use super::super::{Place, Row};

/// The size of an ordinary record, and of the largest that bind allows, in bytes.
const RECORD_BYTES: usize = 4 * 1024;
const LARGEST_BYTES: usize = 256 * 1024;

/// See the module.
pub(super) fn swaps(place: &Place) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (bytes, open, spawned) in [
        (RECORD_BYTES, "a transition in an open session", "a transition, spawned"),
        (
            LARGEST_BYTES,
            "a transition of the largest record, open session",
            "a transition of the largest record, spawned",
        ),
    ] {
        let sample = place.sample(&format!("swap-{bytes}"));
        sample.make(Shape { files: 100, commits: 3, refs: "files", config: &jobs(1, "true", "") })?;
        let commit: CommitId = sample.git(&["rev-parse", "HEAD"])?.trim().parse()?;
        let other: CommitId = sample.git(&["rev-parse", "HEAD~1"])?.trim().parse()?;
        let repository = sample.open()?;
        let mut store = RefStore::new(&repository);
        let mut last = None;
        let in_session: Turn<'_> = Box::new(|| {
            let content = floors::content(bytes, &format!("a {last:?}"));
            time(|| {
                last = Some(applied(store.swap(&commit, last, &content))?);
                Ok(())
            })
        });
        let mut last_spawned = None;
        let one_by_one: Turn<'_> = Box::new(|| {
            let content = floors::content(bytes, &format!("b {last_spawned:?}"));
            time(|| {
                last_spawned = Some(spawned_swap(&sample, other, last_spawned, &content)?);
                Ok(())
            })
        });
        let floor = floors::swap(&sample, bytes)?;
        let [s, open_ms, spawned_ms] = in_turns(place.extent.rounds, [floor, in_session, one_by_one])?;
        let row = |what, measured, factor: f64| Row {
            what,
            measured,
            limit: factor * s,
            unit: "ms",
            formula: format!("{factor} S; S = {s:.2}"),
        };
        rows.extend([row(spawned, spawned_ms, 1.5), row(open, open_ms, 0.7)]);
    }
    Ok(rows)
}

fn spawned_swap(sample: &Sample, commit: CommitId, last: Option<RecordId>, content: &[u8]) -> anyhow::Result<RecordId> {
    let repository = sample.open()?;
    applied(RefStore::new(&repository).swap(&commit, last, content))
}

fn applied(swap: Swap) -> anyhow::Result<RecordId> {
    ensure!(matches!(swap, Swap::Applied(_)), "{swap:?}");
    let Swap::Applied(id) = swap else { anyhow::bail!("not applied") };
    Ok(id)
}
