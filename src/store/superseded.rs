//! The objects of records that one process wrote and replaced, until they may go (C19).
//!
//! Each renewal writes a blob and leaves the last one without a name: 4,320 a day, which git itself would keep for weeks. So
//! whoever wrote them removes them, but not at once: a `git gc`, clone or fetch that has just read the old value of the ref
//! would miss the object (hazard 8). After two hours without a name it may go. Why so: ADR 31.

use std::collections::BTreeMap;

use crate::id::RecordId;

/// How long an object stays after it was last named, in milliseconds.
pub const KEPT_MS: u64 = 2 * 60 * 60 * 1000;

/// So many are removed together, because each time all refs are looked at.
const TOGETHER: usize = 16;

/// What one process wrote, and since when each of it has had no name.
#[derive(Debug, Clone, Default)]
pub struct Superseded {
    since_ms: BTreeMap<RecordId, u64>,
}

impl Superseded {
    /// Notes a write of `written` at `now_ms`, carried out or not: one that was not left an object that nothing names. `replaced`
    /// is what the ref named before, where that is known; it counts if it was written here.
    pub fn note(&mut self, written: Option<RecordId>, replaced: Option<RecordId>, now_ms: u64) {
        if let Some(since_ms) = replaced.and_then(|replaced| self.since_ms.get_mut(&replaced)) {
            *since_ms = now_ms;
        }
        self.since_ms.extend(written.map(|written| (written, now_ms)));
    }

    /// What has had no name for long enough, once it is enough to look; what is named after all is found out by looking.
    pub fn due(&self, now_ms: u64) -> Vec<RecordId> {
        let old = |since_ms: &u64| now_ms.saturating_sub(*since_ms) >= KEPT_MS;
        let due: Vec<RecordId> = self.since_ms.iter().filter(|(_, since)| old(since)).map(|(id, _)| *id).collect();
        if due.len() < TOGETHER { Vec::new() } else { due }
    }

    /// These are gone.
    pub fn forget(&mut self, gone: &[RecordId]) {
        self.since_ms.retain(|record, _| !gone.contains(record));
    }
}
