//! Times: one command, or several in turns.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, ensure};

/// Milliseconds that `work` takes.
#[expect(clippy::disallowed_methods, reason = "the bench's one clock")]
pub(crate) fn time<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64() * 1000.0)
}

/// Runs a command to its end, its output thrown away; it must exit with `expected`.
pub(crate) fn silently(mut command: Command, expected: i32) -> anyhow::Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    ensure!(status.code() == Some(expected), "{command:?} ended with {status}");
    Ok(())
}

/// Something that takes turns with others; it returns its own time in milliseconds, preparations left out.
pub(crate) type Turn<'t> = Box<dyn FnMut() -> anyhow::Result<f64> + 't>;

/// A turn that is one command.
pub(crate) fn command<'t>(make: impl Fn() -> Command + 't, expected: i32) -> Turn<'t> {
    Box::new(move || time(|| silently(make(), expected)))
}

/// The medians of `rounds` rounds, after one that does not count.
pub(crate) fn in_turns<const N: usize>(rounds: usize, mut turns: [Turn<'_>; N]) -> anyhow::Result<[f64; N]> {
    let mut times = [(); N].map(|()| Vec::with_capacity(rounds));
    for round in 0..=rounds {
        for (turn, times) in turns.iter_mut().zip(&mut times) {
            let ms = turn()?;
            times.extend((round > 0).then_some(ms));
        }
    }
    Ok(times.map(|times| median(times).unwrap_or_default()))
}

/// The middle one.
pub(crate) fn median(mut values: Vec<f64>) -> anyhow::Result<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().context("nothing was measured")
}
