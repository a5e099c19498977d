//! Small phrases: durations, ages, counts, places. The same thing is always said in the same way.

use crate::document::Candidate;
use crate::evidence::RequirementKind;
use crate::time::Timestamp;

/// That there is no kept checkout to be had, and who has the first.
pub fn all_in_use(checkouts: u32) -> String {
    match checkouts {
        1 => "the one kept checkout is in use by another run".to_owned(),
        all => format!("all {all} kept checkouts are in use, the first by a run"),
    }
}

/// A duration as people say it: `340 ms`, `12.4 s`, `2 min 5 s`, `1 h 2 min`.
pub fn duration(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0 => format!("{millis} ms"),
        1..60 => format!("{}.{} s", seconds, millis % 1000 / 100),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A duration in the largest unit that fits, for estimates and ages: `12 s`, `3 min`, `5 h`, `9 d`.
pub fn roughly(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A mark on an axis of time whose marks stand `step` milliseconds apart: no finer than they need, `250 ms`, `4 s`, `1 min 30 s`.
pub fn mark(millis: u64, step: u64) -> String {
    match (millis, millis / 1000) {
        (0, _) => "0".to_owned(),
        _ if !step.is_multiple_of(1000) && millis < 1000 => format!("{millis} ms"),
        _ if !step.is_multiple_of(1000) => duration(millis),
        (_, seconds @ 1..60) => format!("{seconds} s"),
        (_, seconds) if seconds % 3600 == 0 => format!("{} h", seconds / 3600),
        (_, seconds @ 60..3600) if seconds % 60 == 0 => format!("{} min", seconds / 60),
        _ => duration(millis),
    }
}

/// An instant for people, to the second: `2026-11-30 17:09:39 UTC`.
pub fn instant(at: Timestamp) -> String {
    let exact = at.to_string();
    let seconds = exact.split('.').next().unwrap_or(&exact);
    format!("{} UTC", seconds.replacen('T', " ", 1))
}

/// `1 job`, `2 jobs`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// `1 process`, `2 processes`.
pub fn processes(number: usize) -> String {
    if number == 1 { "1 process".to_owned() } else { format!("{number} processes") }
}

/// How many of each kind: `3 jobs`, `1 standard`, `3 jobs and 1 standard`.
pub fn requirements(kinds: impl Iterator<Item = RequirementKind>) -> String {
    let (mut jobs, mut standards) = (0, 0);
    for kind in kinds {
        match kind {
            RequirementKind::Job => jobs += 1,
            RequirementKind::Standard => standards += 1,
        }
    }
    match (jobs, standards) {
        (_, 0) => count(jobs, "job"),
        (0, _) => count(standards, "standard"),
        _ => format!("{} and {}", count(jobs, "job"), count(standards, "standard")),
    }
}

/// The worktree in words; its name is empty for the main one.
pub fn worktree(name: &str) -> String {
    if name.is_empty() { "the main worktree".to_owned() } else { format!("worktree `{name}`") }
}

/// A branch as people know it: without `refs/heads/`.
pub fn branch(full: &str) -> &str {
    full.strip_prefix("refs/heads/").unwrap_or(full)
}

/// Where a candidate stands: ` on topic`, or ` (detached)`.
pub fn standing_on(candidate: &Candidate) -> String {
    match &candidate.branch {
        Some(full) => format!(" on {}", branch(full)),
        None => " (detached)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_said_in_two_units_at_most() {
        let said: Vec<String> =
            [0, 340, 9_999, 59_999, 60_000, 125_000, 3_599_999, 3_720_000].into_iter().map(duration).collect();
        let expected = ["0 ms", "340 ms", "9.9 s", "59.9 s", "1 min 0 s", "2 min 5 s", "59 min 59 s", "1 h 2 min"];
        assert_eq!(said, expected);
    }

    #[test]
    fn marks_of_time_are_no_finer_than_their_step() {
        let said =
            [(0, 20), (40, 20), (1500, 500), (4000, 2000), (90_000, 30_000), (120_000, 60_000), (7_200_000, 1_800_000)];
        let said: Vec<String> = said.into_iter().map(|(millis, step)| mark(millis, step)).collect();
        assert_eq!(said, ["0", "40 ms", "1.5 s", "4 s", "1 min 30 s", "2 min", "2 h"]);
    }

    #[test]
    fn an_instant_is_said_to_the_second() {
        assert_eq!(instant(Timestamp::from_millis(1_764_496_500_120)), "2025-11-30 09:55:00 UTC");
    }

    #[test]
    fn requirements_are_counted_by_kind() {
        use RequirementKind::{Job, Standard};
        assert_eq!(requirements([Job].into_iter()), "1 job");
        assert_eq!(requirements([Job, Standard, Job].into_iter()), "2 jobs and 1 standard");
        assert_eq!(requirements([Standard, Standard].into_iter()), "2 standards");
    }
}
