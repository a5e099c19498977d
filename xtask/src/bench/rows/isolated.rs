//! Runs in kept checkouts, beside `git checkout` and runs in place.

use super::super::sample::{Sample, Shape, jobs};
use super::super::stopwatch::{Turn, command, in_turns, silently, time};
use super::super::{Place, Row};

/// How long the job of the cold ranges takes, in milliseconds.
const JOB_MS: f64 = 500.0;

/// One step of a kept checkout, against a step of the user's own and a run in place.
pub(super) fn step(place: &Place) -> anyhow::Result<Vec<Row>> {
    let sample = made(place, "isolated-step", "true")?;
    let commits = u32::try_from(place.extent.rounds)? + 2;
    let beside = place.sample("isolated-beside");
    sample.git(&["worktree", "add", "-q", "--detach", &beside.folder().to_string_lossy(), "main"])?;
    silently(sample.discern_command(&["done", "main"]), 0)?;
    let (mut stepped, mut ran, mut ran_isolated) = (commits, commits, commits);
    let checkout: Turn<'_> = Box::new(|| {
        stepped -= 1;
        time(|| beside.git(&["checkout", "-q", "--detach", &format!("main~{stepped}")]))
    });
    let in_place: Turn<'_> = Box::new(|| {
        ran -= 1;
        time(|| silently(beside.discern_command(&["done"]), 0))
    });
    let isolated: Turn<'_> = Box::new(|| {
        ran_isolated -= 1;
        let commit = format!("main~{ran_isolated}");
        time(|| silently(sample.discern_command(&["done", &commit, "--rerun"]), 0))
    });
    let [checkout, in_place, isolated] = in_turns(place.extent.rounds, [checkout, in_place, isolated])?;
    Ok(vec![Row {
        what: "cold run in a kept checkout, one commit on, beside the same run in place",
        measured: isolated - in_place,
        limit: 1.5 * checkout,
        unit: "ms",
        formula: format!("1.5 × `git checkout --detach` of that step, {checkout:.1}; in place {in_place:.1}"),
    }])
}

/// Twenty commits: known, cold, and cold two at a time.
pub(super) fn twenty(place: &Place) -> anyhow::Result<Vec<Row>> {
    let sample = made(place, "isolated-twenty", "sleep 0.5")?;
    let busy = made(place, "isolated-busy", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")?;
    let few = place.extent.few.min(3);
    for sample in [&sample, &busy] {
        silently(sample.discern_command(&["done", "main~20..main", "--parallel", "2"]), 0)?;
    }
    let range = ["rev-list", "main~20..main"];
    let known = ["done", "main~20..main"];
    let [listed, known] = in_turns(
        place.extent.rounds,
        [command(|| sample.git_command(&range), 0), command(|| sample.discern_command(&known), 0)],
    )?;
    let cold = |sample: &Sample, parallel: &str| {
        let words = ["done", "main~20..main", "--rerun", "--parallel", parallel];
        time(|| silently(sample.discern_command(&words), 0))
    };
    let turns: [Turn<'_>; 3] =
        [Box::new(|| cold(&sample, "1")), Box::new(|| cold(&busy, "1")), Box::new(|| cold(&busy, "2"))];
    let [alone, one, two] = in_turns(few, turns)?;
    Ok(vec![
        Row {
            what: "`done` over twenty proven commits",
            measured: known,
            limit: listed + 25.0,
            unit: "ms",
            formula: format!("`git rev-list` + 25, {listed:.1}"),
        },
        Row {
            what: "`done` over twenty cold commits, one job of 0.5 s each",
            measured: alone,
            limit: 1.1 * 20.0 * JOB_MS,
            unit: "ms",
            formula: "the jobs' own sum and 10 %".to_owned(),
        },
        Row {
            what: "twenty cold commits two at a time, jobs of one core, against one at a time",
            measured: two / one,
            limit: 1.0 / 1.7,
            unit: "×",
            formula: format!("1.7 × as fast; {one:.0} ms and {two:.0} ms"),
        },
    ])
}

fn made(place: &Place, name: &str, job: &str) -> anyhow::Result<Sample> {
    let sample = place.sample(name);
    let config = jobs(1, job, "").replace("inputs = [\"dir00/**\"]", "");
    let gate = format!("[gate]\ncheckouts = {:?}", place.disk.join(format!("{name}-kept")));
    sample.make(Shape { files: 2_000, commits: 300, refs: "files", config: &config.replacen("[gate]", &gate, 1) })?;
    Ok(sample)
}
