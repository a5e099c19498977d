//! Before the claim is held: the survey of what stands at the candidate, and the first record of this attempt.

use super::{Change, Effect, NotReserved, Over, Owner, Phase, Request, Said, Seen};
use crate::claim::record::Record;
use crate::claim::transition::{self, History, Pen};
use crate::id::RecordId;

/// How often a run looks at the record while it reserves, before it gives up.
const SURVEYS_MAX: u32 = 16;

/// How long after it began to reserve a run sends another reservation, in milliseconds, once one was not answered. A store that
/// can't be written may take two seconds over each, and nothing is lost by giving up: no claim is held. A comparison that was
/// lost is an answer, however long it waited for its turn (C7).
pub(super) const RESERVE_MS_MAX: u64 = 3_000;

impl Owner {
    pub(super) fn surveyed(&mut self, seen: Seen, history: History, pen: Pen, effects: &mut Vec<Effect>) {
        self.surveys += 1;
        let found = match seen {
            Seen::Unreadable(why) if self.in_doubt && self.surveys < SURVEYS_MAX => {
                return self.unanswered("read the record", why, pen, effects);
            }
            Seen::Unreadable(why) => return self.not_reserved(NotReserved::Unreadable(why), effects),
            Seen::Absent => None,
            Seen::Record(id, record) => Some((id, record)),
        };
        if let Some((id, record)) = &found {
            if self.fence.owns(record) {
                // A reservation whose answer was lost.
                return self.reserved(record.attempt.generation, effects);
            }
            if let Some(ended) = self.ended_in(record) {
                return self.ended(ended, effects);
            }
            if !record.is_finished() {
                return self.not_reserved(NotReserved::Held(*id, record.clone()), effects);
            }
        }
        let surveyed_enough = self.surveys >= SURVEYS_MAX;
        if self.in_doubt && !surveyed_enough {
            return self.look_in_ledger(None, effects);
        }
        let time_is_over = self.reserve_problem.is_some() && pen.now.monotonic_ms > self.reserve_until_ms;
        if surveyed_enough || time_is_over {
            let problem = self.reserve_problem.take().unwrap_or_else(|| "others keep writing the record".to_owned());
            return self.not_reserved(NotReserved::Store(problem), effects);
        }
        match found {
            Some((_, record)) if !history.absorbed => {
                self.under_way = Some(Request::Absorb);
                effects.push(Effect::Absorb(record));
            }
            found => self.reserve(found, history, pen, effects),
        }
    }

    /// Writes the first record of this attempt, over none or over a finished one that is safe in the ledger.
    fn reserve(
        &mut self,
        found: Option<(RecordId, Box<Record>)>,
        history: History,
        pen: Pen,
        effects: &mut Vec<Effect>,
    ) {
        let standing = found.as_ref().map(|(_, record)| record.as_ref());
        match transition::reserve(standing, history, self.attempt.clone(), self.fence.token, pen) {
            Ok(next) => {
                let change = Change::Reserve { generation: next.attempt.generation };
                self.in_doubt = true;
                self.swap(change, found.map(|(id, _)| id), next, pen, effects);
            }
            Err(refusal) => self.not_reserved(NotReserved::Store(refusal.to_string()), effects),
        }
    }

    pub(super) fn not_reserved(&mut self, why: NotReserved, effects: &mut Vec<Effect>) {
        self.over(Over::NotReserved(why), effects);
    }

    pub(super) fn reserved(&mut self, generation: u32, effects: &mut Vec<Effect>) {
        self.phase = Phase::Holding;
        self.renewed();
        effects.push(Effect::Say(Said::Reserved { generation }));
    }
}
