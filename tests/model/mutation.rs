//! Mistakes that the model must catch, planted one at a time around the real code.
//!
//! The real `Owner::step`, the transitions and the lease stay as they are. A mutation tampers with what goes into them or
//! comes out of them, in the way that a wrong implementation would differ; so each shows that some property *can* fail.

use std::rc::Rc;

use git_discern::claim::Record;
use git_discern::claim::owner::{Effect, Input, Loss, Over, Said, Seen, Written};
use git_discern::claim::record::{Attempt, Claim, EndedBy, Outcome, State};
use git_discern::claim::transition::{self, History, Pen};

use super::world::{Bounds, Flight, Stage, Stored, World, as_seen, nonce};
use crate::claim::sample;

/// One planted mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutation {
    /// A heartbeat re-opens whatever record names its attempt.
    RenewsFinishedRecord,
    /// An owner whose own lease lapsed takes its claim for lost.
    LapseIsLoss,
    /// An owner takes a lost comparison for a lost claim.
    StaleIsLoss,
    /// Settlement decides on the record as last seen instead of reading it again.
    SettlesWithoutReading,
    /// The Proof is published on its own, before the settlement.
    ProofBeforeSettlement,
    /// A retirement replaces whatever is there.
    RetiresWithoutComparing,
    /// A new run takes the token of the one before.
    ReusesToken,
    /// "No such process" passes for proof that the executor is gone.
    GoneFromPid,
    /// A settlement does not wait for the renewal under way.
    RenewalAcrossSettlement,
    /// Two runs write equal bytes: same id, token and nonces.
    EqualBytes,
    /// A write whose answer was lost passes for one that happened.
    IgnoresLostReply,
    /// A pass of `standards` carries a Proof.
    ProofFromStandards,
    /// A finished record is replaced without a look into the ledger.
    ReservesOverUnabsorbed,
    /// The generation counts from what the ref holds, and the ref may be gone.
    GenerationRestarts,
    /// An owner that finds its place taken reports a cancellation, whatever became of its attempt.
    ReplacedIsCancelled,
    /// A retired owner writes its receipts over the retirement.
    PublishesAfterRetirement,
    /// A settlement replaces whatever is there.
    SettlesWithoutComparing,
    /// Takeovers are permitted after a third of the lease.
    ShortLease,
    /// Readings of another boot's clock are compared.
    ComparesAcrossBoots,
    /// A sighting of an earlier record counts for the present one.
    KeepsStaleSighting,
    /// The check before a job does not read the record.
    ChecksWithoutReading,
    /// A receipt that could not be published is dropped.
    DropsUnpublishedReceipt,
}

impl Mutation {
    /// All of them.
    pub(crate) const ALL: [Self; 22] = [
        Self::RenewsFinishedRecord,
        Self::LapseIsLoss,
        Self::StaleIsLoss,
        Self::SettlesWithoutReading,
        Self::ProofBeforeSettlement,
        Self::RetiresWithoutComparing,
        Self::ReusesToken,
        Self::GoneFromPid,
        Self::RenewalAcrossSettlement,
        Self::EqualBytes,
        Self::IgnoresLostReply,
        Self::ProofFromStandards,
        Self::ReservesOverUnabsorbed,
        Self::GenerationRestarts,
        Self::ReplacedIsCancelled,
        Self::PublishesAfterRetirement,
        Self::SettlesWithoutComparing,
        Self::ShortLease,
        Self::ComparesAcrossBoots,
        Self::KeepsStaleSighting,
        Self::ChecksWithoutReading,
        Self::DropsUnpublishedReceipt,
    ];
}

impl World {
    pub(super) fn tamper_input(&self, place: usize, input: Input, bounds: &Bounds) -> Input {
        let run = &self.runs[place];
        match (bounds.mutation, input) {
            (Some(Mutation::IgnoresLostReply), Input::Written(Written::Unknown(_))) => {
                Input::Written(Written::Applied(sample::record_id(0)))
            }
            (Some(Mutation::DropsUnpublishedReceipt), Input::Written(Written::Unknown(_)))
                if run.stage == Stage::Finishing =>
            {
                Input::Written(Written::Applied(sample::record_id(0)))
            }
            (_, input) => input,
        }
    }

    /// What a wrong owner does in place of the real step.
    pub(super) fn instead_of_step(
        &mut self,
        place: usize,
        input: &Input,
        pen: Pen,
        bounds: &Bounds,
    ) -> Option<Vec<Effect>> {
        let run = &self.runs[place];
        let lost =
            |attempt: Attempt| Some(vec![Effect::Say(Said::Over(Over::Lost(Loss::Replaced(Box::new(attempt)))))]);
        let mine = sample::attempt(0);
        match bounds.mutation? {
            Mutation::LapseIsLoss if run.thinks_it_holds() => {
                let last = self.record.as_ref()?.record.state.claim()?.lease.expiry_for_report();
                (pen.now.wall >= last).then(|| lost(mine))?
            }
            Mutation::StaleIsLoss if run.thinks_it_holds() && *input == Input::Written(Written::Stale) => lost(mine),
            Mutation::ChecksWithoutReading if *input == Input::Check => Some(vec![Effect::Say(Said::MayStart)]),
            Mutation::RenewsFinishedRecord | Mutation::PublishesAfterRetirement => {
                let Input::Read(Seen::Record(_, record)) = input else { return None };
                let kept = Record::clone(record);
                let retired = kept.state.finish().is_some_and(|finish| matches!(finish.by, EndedBy::Run { .. }));
                if !retired || kept.attempt.id != run.owner.fence().attempt {
                    return None;
                }
                let mut next = kept;
                next.nonce = pen.nonce;
                next.sequence += 1;
                if bounds.mutation == Some(Mutation::RenewsFinishedRecord) {
                    next.state = State::Claimed(self.first_claim(place)?);
                } else {
                    let mut late = sample::receipt(0, &sample::plan()[0]);
                    late.attempt = next.attempt.id;
                    next.receipts.push(late);
                }
                self.runs[place].stage = Stage::Over;
                Some(vec![Effect::Swap { expected: None, record: Box::new(next) }])
            }
            _ => None,
        }
    }

    /// A claim as the run's own reservation wrote it.
    fn first_claim(&self, place: usize) -> Option<Claim> {
        let fence = *self.runs[place].owner.fence();
        let pen = Pen { now: sample::at(0), nonce: nonce(0), writer: None };
        let first = transition::reserve(None, History::default(), sample::attempt(0), fence.token, pen).ok()?;
        first.state.claim().cloned()
    }

    /// Where an owner's question goes.
    pub(super) fn tamper_question(&mut self, place: usize, question: Effect, bounds: &Bounds) -> Flight<Effect, Input> {
        let question = match (bounds.mutation, question) {
            (Some(Mutation::ProofBeforeSettlement), Effect::Swap { expected, record }) => {
                if record.state.finish().is_some_and(|finish| finish.proof.is_some()) {
                    self.stray_proofs.push(record.attempt.id);
                }
                Effect::Swap { expected, record }
            }
            (Some(Mutation::ProofFromStandards), Effect::Swap { expected, mut record }) => {
                if let State::Finished(finish) = &mut record.state
                    && finish.outcome == Outcome::Passed
                {
                    finish.proof = Some(sample::proof(0, &sample::plan()[..1]));
                }
                Effect::Swap { expected, record }
            }
            (Some(Mutation::SettlesWithoutReading), Effect::Read)
                if self.runs[place].stage == Stage::Settling && self.runs[place].last_seen.is_some() =>
            {
                let remembered = self.runs[place].last_seen.clone();
                return Flight::Landed(Rc::new(Input::Read(as_seen(remembered.as_ref()))));
            }
            (_, question) => question,
        };
        Flight::Sent(Rc::new(question))
    }
}

/// Whether a question is a renewal of the record as it stands.
pub(super) fn renews(question: &Effect, standing: Option<&Stored>) -> bool {
    match (question, standing) {
        (Effect::Swap { record, .. }, Some(standing)) => {
            !record.is_finished()
                && record.state.kind() == standing.record.state.kind()
                && record.receipts == standing.record.receipts
        }
        _ => false,
    }
}

pub(super) fn tamper_said(said: Said, input: &Input, bounds: &Bounds) -> Said {
    match (bounds.mutation, said) {
        (Some(Mutation::ReplacedIsCancelled), Said::Over(Over::Settled(_)))
            if matches!(input, Input::Read(Seen::Record(_, record)) if !record.is_finished())
                || matches!(input, Input::InLedger(_)) =>
        {
            let by = Box::new(sample::attempt(9));
            Said::Over(Over::Lost(Loss::Replaced(by)))
        }
        (_, said) => said,
    }
}
