//! The one who recovers: looks, decides with the real takeover test, and retires by comparison with what it saw.

use std::rc::Rc;

use git_discern::claim::lease::{self, ExecutorState, Observer, Sighting, Takeover};
use git_discern::claim::owner::Written;
use git_discern::claim::transition::{self, Pen};

use super::goal::{Goal, Goals};
use super::mutation::Mutation;
use super::property;
use super::world::{Bounds, Flight, RECOVERER, Recovery, Stored, TICK_MS, Told, World, nonce};
use crate::claim::sample;

impl World {
    pub(super) fn land_recovery(&mut self, bounds: &Bounds, goals: &mut Goals) -> Result<(), String> {
        let Flight::Sent(question) = std::mem::replace(&mut self.recoverer.flight, Flight::Idle) else {
            return Ok(());
        };
        let told = match &*question {
            Recovery::Look => Told::Seen(self.record.clone()),
            Recovery::Retire { expected, record } => {
                let current = self.record.as_ref().map(|stored| stored.id);
                let blind = bounds.mutation == Some(Mutation::RetiresWithoutComparing);
                let expected = if blind { current } else { Some(*expected) };
                let replaced = self.record.clone();
                let written = self.swap(expected, record)?;
                match (&written, &replaced) {
                    (Written::Applied(_), Some(replaced)) => {
                        property::retirement_was_permitted(self, &replaced.record, record)?;
                        goals.retired(record);
                    }
                    (Written::Stale, Some(replaced)) => {
                        goals.reach_if(Goal::SettlementBeatRetirement, replaced.record.is_finished());
                        goals.reach_if(Goal::RenewalBeatRetirement, !replaced.record.is_finished());
                    }
                    _ => {}
                }
                Told::Written(written)
            }
        };
        self.recoverer.flight = Flight::Landed(Rc::new(told));
        Ok(())
    }

    pub(super) fn answer_recovery(&mut self, provable: bool, bounds: &Bounds) -> Result<(), String> {
        let Flight::Landed(told) = std::mem::replace(&mut self.recoverer.flight, Flight::Idle) else {
            return Ok(());
        };
        let Told::Seen(Some(Stored { id, record })) = &*told else { return Ok(()) };
        if record.is_finished() {
            return Ok(());
        }
        let boot = match bounds.mutation {
            Some(Mutation::ComparesAcrossBoots) => sample::BOOT,
            _ if bounds.other_boot => "another boot",
            _ => sample::BOOT,
        };
        let mut now_ms = self.now_ms(RECOVERER);
        let mut sighting = self.recoverer.sighting.clone();
        let known = sighting.as_ref().is_some_and(|sighting| sighting.record == *id);
        if bounds.mutation == Some(Mutation::KeepsStaleSighting) {
            sighting.iter_mut().for_each(|sighting| sighting.record = *id);
        }
        if !known {
            self.recoverer.sighting = Some(Sighting { boot: boot.to_owned(), record: *id, monotonic_ms: now_ms });
            if bounds.mutation != Some(Mutation::KeepsStaleSighting) || sighting.is_none() {
                sighting = self.recoverer.sighting.clone();
            }
        }
        if bounds.mutation == Some(Mutation::ShortLease) {
            now_ms += 2 * TICK_MS;
        }
        let dead = !self.is_alive(record.attempt.id) || bounds.mutation == Some(Mutation::GoneFromPid);
        let executor = if dead && provable { ExecutorState::Gone } else { ExecutorState::Unknown };
        let observer = Observer { boot: boot.to_owned(), now: sample::at(now_ms) };
        if let Takeover::Permitted(permit) = lease::takeover(record, *id, &observer, sighting.as_ref(), executor) {
            self.nonces += 1;
            let pen = Pen { now: observer.now, nonce: nonce(self.nonces), writer: None };
            let retired = transition::retire(record, permit, sample::retiring(), pen).map_err(|why| why.to_string())?;
            let question = Recovery::Retire { expected: *id, record: Rc::new(retired) };
            self.recoverer.flight = Flight::Sent(Rc::new(question));
        }
        Ok(())
    }
}
