//! Small phrases: durations, ages, counts, places. The same thing is always said in the same way.

use crate::document::Candidate;
use crate::evidence::RequirementKind;

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
    fn requirements_are_counted_by_kind() {
        use RequirementKind::{Job, Standard};
        assert_eq!(requirements([Job].into_iter()), "1 job");
        assert_eq!(requirements([Job, Standard, Job].into_iter()), "2 jobs and 1 standard");
        assert_eq!(requirements([Standard, Standard].into_iter()), "2 standards");
    }
}
