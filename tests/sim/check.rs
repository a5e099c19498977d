//! Whether a history has a legal order.
//!
//! A history is what the actors saw: when each request was sent, when its answer came (never, for an actor that was killed), and
//! what it was. It says nothing of what the store did. It is legal if the requests can be put into one order in which each
//! takes effect at an instant between its sending and its answer, each read finds what the write before it left, and each swap
//! succeeds exactly where it was told so. Since no value is written twice, the values themselves chain the writes:
//! each one names the value that it replaced.

use std::collections::{BTreeMap, BTreeSet};

use git_discern::id::{CommitId, RecordId};

/// What was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Read,
    Swap { expected: Option<RecordId>, new: RecordId },
    Remove { expected: RecordId },
}

/// What was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Read(Option<RecordId>),
    Applied,
    Stale,
    /// No answer, or one that says nothing.
    Unknown,
}

/// One request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) candidate: CommitId,
    pub(crate) asked: Asked,
    pub(crate) invoked: u64,
    pub(crate) returned: u64,
    pub(crate) answer: Answer,
}

impl Operation {
    /// A removal that happened at `moment`.
    pub(crate) fn removal(candidate: CommitId, expected: RecordId, moment: u64) -> Self {
        let asked = Asked::Remove { expected };
        Self { candidate, asked, invoked: moment, returned: moment + 1, answer: Answer::Applied }
    }

    fn written(&self) -> Option<(Option<RecordId>, Option<RecordId>)> {
        match self.asked {
            Asked::Read => None,
            Asked::Swap { expected, new } => Some((expected, Some(new))),
            Asked::Remove { expected } => Some((Some(expected), None)),
        }
    }
}

/// Looks for a legal order of each candidate's requests.
///
/// # Errors
/// There is none; the text says what stands in its way.
pub(crate) fn legal(operations: &[Operation]) -> Result<(), String> {
    let candidates: BTreeSet<CommitId> = operations.iter().map(|operation| operation.candidate).collect();
    candidates.into_iter().try_for_each(|candidate| {
        let of_candidate = operations.iter().filter(|operation| operation.candidate == candidate).collect::<Vec<_>>();
        one_register(&of_candidate)
    })
}

/// One value that the register had: what wrote it, and the interval in which that took effect.
struct Epoch {
    value: Option<RecordId>,
    earliest: u64,
    latest: u64,
}

fn one_register(operations: &[&Operation]) -> Result<(), String> {
    let epochs = chain(operations)?;
    let holds_at = |value: Option<RecordId>, from: u64, to: u64| {
        (0..epochs.len()).any(|at| {
            let ends = epochs.get(at + 1).map_or(u64::MAX, |next| next.latest);
            epochs[at].value == value && epochs[at].earliest <= to && ends >= from
        })
    };
    for operation in operations {
        let (from, to) = (operation.invoked, operation.returned);
        match (operation.asked, operation.answer) {
            (Asked::Read, Answer::Read(value)) if !holds_at(value, from, to) => {
                return Err(format!("a read found {value:?}, which was not there between {from} and {to}"));
            }
            (Asked::Swap { expected, .. }, Answer::Stale) => {
                let others = (0..epochs.len()).any(|at| {
                    let ends = epochs.get(at + 1).map_or(u64::MAX, |next| next.latest);
                    epochs[at].value != expected && epochs[at].earliest <= to && ends >= from
                });
                if !others {
                    return Err(format!("a swap was refused although {expected:?} was there all the time"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The register's values in their order. An unanswered write happened if, and only if, somebody saw its value or built on it.
fn chain(operations: &[&Operation]) -> Result<Vec<Epoch>, String> {
    let mut seen: BTreeSet<Option<RecordId>> = BTreeSet::new();
    for operation in operations {
        match (operation.asked, operation.answer) {
            (Asked::Read, Answer::Read(value)) => drop(seen.insert(value)),
            (Asked::Swap { expected, .. }, Answer::Applied) => drop(seen.insert(expected)),
            (Asked::Remove { expected }, Answer::Applied) => drop(seen.insert(Some(expected))),
            _ => {}
        }
    }
    let happened = |operation: &&&Operation| {
        operation.answer == Answer::Applied
            || operation.answer == Answer::Unknown
                && operation.written().is_some_and(|(_, new)| new.is_some() && seen.contains(&new))
    };
    let mut writes: BTreeMap<Option<RecordId>, Vec<&Operation>> = BTreeMap::new();
    for operation in operations.iter().filter(happened) {
        if let Some((expected, _)) = operation.written() {
            writes.entry(expected).or_default().push(operation);
        }
    }
    let mut epochs = vec![Epoch { value: None, earliest: 0, latest: 0 }];
    let mut standing = None;
    // Of several creations, the earliest sent comes first: between two of them lies a removal.
    writes.values_mut().for_each(|those| those.sort_by_key(|write| std::cmp::Reverse(write.invoked)));
    while let Some(write) = writes.get_mut(&standing).and_then(Vec::pop) {
        if standing.is_some() && !writes[&standing].is_empty() {
            return Err(format!("{standing:?} was replaced twice"));
        }
        let earliest = epochs.last().map_or(0, |epoch| epoch.earliest).max(write.invoked);
        if earliest > write.returned {
            return Err(format!("the write answered at {} took effect after {earliest}", write.returned));
        }
        standing = write.written().and_then(|(_, new)| new);
        epochs.push(Epoch { value: standing, earliest, latest: write.returned });
    }
    if let Some(left) = writes.values().flatten().next() {
        return Err(format!("a write over {:?} succeeded, and that was never there", left.written()));
    }
    // Backwards: a write took effect before the one after it.
    for at in (1..epochs.len().saturating_sub(1)).rev() {
        epochs[at].latest = epochs[at].latest.min(epochs[at + 1].latest);
    }
    Ok(epochs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::sample::{commit, record_id};

    fn swap(expected: Option<u16>, new: u16, invoked: u64, returned: u64, answer: Answer) -> Operation {
        let asked = Asked::Swap { expected: expected.map(record_id), new: record_id(new) };
        Operation { candidate: commit(), asked, invoked, returned, answer }
    }

    fn read(value: Option<u16>, invoked: u64, returned: u64) -> Operation {
        let answer = Answer::Read(value.map(record_id));
        Operation { candidate: commit(), asked: Asked::Read, invoked, returned, answer }
    }

    #[test]
    fn an_order_is_found_where_there_is_one() {
        let history = [
            swap(None, 1, 1, 4, Answer::Applied),
            swap(None, 2, 2, 5, Answer::Stale),
            read(Some(1), 3, 8),
            swap(Some(1), 3, 6, u64::MAX, Answer::Unknown),
            read(Some(3), 9, 10),
            swap(Some(1), 4, 7, 12, Answer::Unknown),
        ];
        assert_eq!(legal(&history), Ok(()));
    }

    #[test]
    fn a_stale_read_has_no_legal_order() {
        let history = [swap(None, 1, 1, 2, Answer::Applied), read(None, 3, 4)];
        assert!(legal(&history).is_err());
    }

    #[test]
    fn a_value_that_was_replaced_twice_has_no_legal_order() {
        let history = [
            swap(None, 1, 1, 2, Answer::Applied),
            swap(Some(1), 2, 3, 4, Answer::Applied),
            swap(Some(1), 3, 3, 5, Answer::Applied),
        ];
        assert!(legal(&history).is_err());
    }

    #[test]
    fn a_refusal_without_a_reason_has_no_legal_order() {
        let history = [swap(None, 1, 1, 2, Answer::Applied), swap(Some(1), 2, 3, 4, Answer::Stale)];
        assert!(legal(&history).is_err());
    }

    #[test]
    fn a_write_that_took_effect_before_it_was_sent_has_no_legal_order() {
        let history = [swap(None, 1, 5, 6, Answer::Applied), swap(Some(1), 2, 1, 2, Answer::Applied)];
        assert!(legal(&history).is_err());
    }
}
