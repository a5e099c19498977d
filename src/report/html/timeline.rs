//! What ran beside what: one bar for each command that ran in this attempt. Reused verdicts took no time.

use std::fmt::Write as _;

use super::{Besides, Escaped, class, phrase};
use crate::document::{RequirementReport, RunDocument, Source};

/// More marks than this on the axis would stand too close on a phone.
const MARKS_MAX: i64 = 5;

/// One command, in milliseconds of the wall clock.
struct Ran<'d> {
    report: &'d RequirementReport,
    from: i64,
    to: i64,
}

/// The drawing, or nothing where no time is known.
pub(super) fn section(document: &RunDocument, besides: &Besides) -> String {
    let mut ran: Vec<Ran<'_>> = document
        .requirements
        .iter()
        .zip(&besides.finished_at)
        .filter(|(report, _)| report.source == Some(Source::Ran))
        .filter_map(|(report, end)| {
            let (to, took) = ((*end)?.as_millis(), i64::try_from(report.duration_ms?).ok()?);
            Some(Ran { report, from: to.saturating_sub(took), to })
        })
        .collect();
    ran.sort_by_key(|one| (one.from, one.to));
    let began = document.attempt.as_ref().map(|attempt| attempt.started_at.as_millis());
    let first = ran.iter().map(|one| one.from).chain(began).min();
    let (Some(first), Some(last)) = (first, ran.iter().map(|one| one.to).max()) else { return String::new() };
    let whole = last.saturating_sub(first).max(1);
    let mut text = format!(
        "<section>\n<h2>Timeline</h2>\n<p>{span} from the beginning to the last verdict; {beside}.</p>\n\
         <ol class=\"timeline\" style=\"--step:{step:.3}%\">\n{axis}",
        span = phrase::duration(unsigned(whole)),
        beside = beside(&ran),
        step = share(step(whole), whole),
        axis = axis(whole),
    );
    ran.iter().for_each(|one| bar(&mut text, one, first, whole));
    text.push_str("</ol>\n</section>\n");
    text
}

/// How many ran at once, at most.
fn beside(ran: &[Ran<'_>]) -> String {
    let at_once = |at: i64| ran.iter().filter(|one| one.from <= at && at < one.to.max(one.from + 1)).count();
    match ran.iter().map(|one| at_once(one.from)).max() {
        Some(most) if most > 1 => format!("up to {most} commands ran side by side"),
        _ => "one command at a time".to_owned(),
    }
}

fn bar(text: &mut String, Ran { report, from, to }: &Ran<'_>, first: i64, whole: i64) {
    let (since, took) = (phrase::duration(unsigned(from - first)), phrase::duration(unsigned(to - from)));
    let _ = writeln!(
        text,
        "<li><span class=\"name\">{name}</span><span class=\"lane\"><span class=\"bar {class}\" \
         style=\"left:{left:.2}%;width:{width:.2}%\"></span></span><span class=\"took\"><span class=\"unseen\">began after \
         {since}, took </span>{took}</span></li>",
        name = Escaped(report.name.as_str()),
        class = class(report),
        left = share(from - first, whole),
        width = share(to - from, whole),
    );
}

/// The marks of time. Every bar says its own times to whoever doesn't see it, so these are hidden from them.
fn axis(whole: i64) -> String {
    let step = step(whole);
    let marks = (0..=whole / step).map(|at| at * step);
    let marks: String = marks
        .map(|at| {
            format!(
                "<span style=\"left:{:.2}%\">{}</span>",
                share(at, whole),
                phrase::mark(unsigned(at), unsigned(step))
            )
        })
        .collect();
    format!("<li class=\"axis\" aria-hidden=\"true\"><span class=\"marks\">{marks}</span></li>\n")
}

/// The time between two marks, in milliseconds: a round number of what clocks show.
fn step(whole: i64) -> i64 {
    const STEPS: [i64; 12] = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900];
    let fine = [1, 2, 5, 10, 20, 50, 100, 200, 500].into_iter();
    let round = fine.chain(STEPS.into_iter().map(|seconds| seconds * 1000));
    let hours = (0..).map(|power| 1_800_000 << power);
    round.chain(hours.take(32)).find(|step| whole / step <= MARKS_MAX).unwrap_or(whole)
}

fn share(part: i64, whole: i64) -> f64 {
    part as f64 / whole as f64 * 100.0
}

fn unsigned(millis: i64) -> u64 {
    u64::try_from(millis).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_has_a_few_round_marks_whatever_the_length() {
        for (whole, expected) in
            [(1, 1), (9, 2), (3_100, 1_000), (8_500, 2_000), (61_000, 15_000), (7_200_000, 1_800_000)]
        {
            assert_eq!(step(whole), expected, "{whole}");
        }
        for whole in [1, 17, 999, 59_999, 3_600_001, i64::MAX / 2] {
            assert!((1..=MARKS_MAX).contains(&(whole / step(whole))), "{whole}");
        }
    }
}
