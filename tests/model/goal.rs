//! What must happen somewhere: a search that never gets there has shown nothing.

use git_discern::claim::Record;
use git_discern::claim::owner::{Input, Loss, NotReserved, Over, Said, Seen};
use git_discern::claim::record::{EndedBy, Outcome, TakeoverReason};

use super::world::{Stage, World};

/// One thing to be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Goal {
    Proven,
    SettledFailed,
    SettledInterrupted,
    LateRenewal,
    ProvenAfterStall,
    RetiredByLapse,
    RetiredAsGone,
    RetirementFoundWhilePlanning,
    RetirementFoundByCheck,
    RetirementFoundByPublication,
    RetirementFoundBySettlement,
    SettlementBeatRetirement,
    RenewalBeatRetirement,
    LostReservationRecognised,
    LostSettlementRecognised,
    LostBindRecognised,
    LostPublicationRecognised,
    FoundInPrevious,
    FoundInLedger,
    ReportedHeld,
    LedgerUnwritable,
    Unsettled,
    RetiredReceiptsKept,
    ReceiptWentWithSettlement,
    Removed,
    SecondGeneration,
    SecondGenerationProven,
}

impl Goal {
    pub(crate) const ALL: [Self; 27] = [
        Self::Proven,
        Self::SettledFailed,
        Self::SettledInterrupted,
        Self::LateRenewal,
        Self::ProvenAfterStall,
        Self::RetiredByLapse,
        Self::RetiredAsGone,
        Self::RetirementFoundWhilePlanning,
        Self::RetirementFoundByCheck,
        Self::RetirementFoundByPublication,
        Self::RetirementFoundBySettlement,
        Self::SettlementBeatRetirement,
        Self::RenewalBeatRetirement,
        Self::LostReservationRecognised,
        Self::LostSettlementRecognised,
        Self::LostBindRecognised,
        Self::LostPublicationRecognised,
        Self::FoundInPrevious,
        Self::FoundInLedger,
        Self::ReportedHeld,
        Self::LedgerUnwritable,
        Self::Unsettled,
        Self::RetiredReceiptsKept,
        Self::ReceiptWentWithSettlement,
        Self::Removed,
        Self::SecondGeneration,
        Self::SecondGenerationProven,
    ];
}

/// A set of goals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Goals(u32);

impl Goals {
    pub(crate) fn reach(&mut self, goal: Goal) {
        self.0 |= 1 << goal as u8;
    }

    pub(crate) fn reach_if(&mut self, goal: Goal, reached: bool) {
        if reached {
            self.reach(goal);
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Those that were not reached.
    pub(crate) fn missing(self) -> Vec<Goal> {
        Goal::ALL.into_iter().filter(|goal| self.0 & (1 << *goal as u8) == 0).collect()
    }

    /// A retirement landed.
    pub(crate) fn retired(&mut self, retired: &Record) {
        let by = retired.state.finish().map(|finish| &finish.by);
        let reason = |wanted| matches!(by, Some(EndedBy::Run { reason, .. }) if *reason == wanted);
        self.reach_if(Goal::RetiredByLapse, reason(TakeoverReason::LeaseLapsed));
        self.reach_if(Goal::RetiredAsGone, reason(TakeoverReason::ExecutorGone));
    }

    /// An owner said something, having been told `input`.
    pub(crate) fn heard(&mut self, world: &World, place: usize, said: &Said, input: &Input) {
        let run = &world.runs[place];
        let written = matches!(input, Input::Written(_));
        match said {
            Said::Reserved { generation } => {
                self.reach_if(Goal::LostReservationRecognised, !written);
                self.reach_if(Goal::SecondGeneration, *generation > 1);
            }
            Said::Bound => self.reach_if(Goal::LostBindRecognised, !written),
            Said::Published { .. } => self.reach_if(Goal::LostPublicationRecognised, !written),
            Said::Renewed { after_ms } => self.reach_if(Goal::LateRenewal, *after_ms >= 60_000),
            Said::Over(Over::Settled(ended)) => self.settled(world, place, ended.outcome, input),
            Said::Over(Over::Lost(Loss::Retired(_))) => {
                let goal = match run.stage {
                    Stage::Binding => Goal::RetirementFoundWhilePlanning,
                    Stage::Checking => Goal::RetirementFoundByCheck,
                    Stage::Settling => Goal::RetirementFoundBySettlement,
                    _ => Goal::RetirementFoundByPublication,
                };
                let right_stage = goal != Goal::RetirementFoundByPublication || run.stage == Stage::Finishing;
                self.reach_if(goal, right_stage);
                self.found(world, place, input);
            }
            Said::Over(Over::NotReserved(NotReserved::Held(..))) => self.reach(Goal::ReportedHeld),
            Said::Over(Over::NotReserved(NotReserved::LedgerUnwritable(_))) => self.reach(Goal::LedgerUnwritable),
            Said::Over(Over::Unsettled(_)) => self.reach(Goal::Unsettled),
            _ => {}
        }
    }

    fn settled(&mut self, world: &World, place: usize, outcome: Outcome, input: &Input) {
        let run = &world.runs[place];
        self.reach_if(Goal::LostSettlementRecognised, !matches!(input, Input::Written(_)));
        self.found(world, place, input);
        let record = world.record.as_ref().map(|stored| &stored.record);
        let went_along = record.is_some_and(|record| {
            record.receipts.len() == 1 && record.transitions.len() == 3 && run.produced && record.sequence == 3
        });
        self.reach_if(Goal::ReceiptWentWithSettlement, went_along);
        match outcome {
            Outcome::Passed => {
                self.reach(Goal::Proven);
                self.reach_if(Goal::ProvenAfterStall, run.stalled);
                let second = record.is_some_and(|record| record.attempt.generation > 1);
                self.reach_if(Goal::SecondGenerationProven, second);
            }
            Outcome::Failed => self.reach(Goal::SettledFailed),
            Outcome::Cancelled => self.reach(Goal::SettledInterrupted),
        }
    }

    fn found(&mut self, world: &World, place: usize, input: &Input) {
        let fence = world.runs[place].owner.fence();
        let elsewhere = |seen: &Seen| matches!(seen, Seen::Record(_, record) if record.attempt.id != fence.attempt);
        match input {
            Input::Read(seen) | Input::Surveyed(seen, _) => self.reach_if(Goal::FoundInPrevious, elsewhere(seen)),
            Input::InLedger(_) => self.reach(Goal::FoundInLedger),
            _ => {}
        }
    }
}
