//! One attempt, from its reservation to its settlement: the loop (C14).
//!
//! Each turn renews first if that is overdue (C15), then looks at what happened, then starts what may start. Only proven loss
//! ends a run from outside (C17): whatever step meets it, what this returns is the loss. A run that ends by itself settles
//! before it returns (C18).

use super::stage::{Ending, EndingSignal, ExecutionEnd, Happening, Stage, TreeState};
use crate::claim::lease::{self, LEASE_MS};
use crate::claim::owner::{Input, Loss, NotReserved, Over, Owner, Said};
use crate::claim::record::{Bound, Outcome, OwnReason};
use crate::claim::transition::{Refusal, Settlement};
use crate::event::What;
use crate::evidence::{Proof, Receipt, RequirementKey};
use crate::exit::Exit;
use crate::plan::{Ended, Next, Schedule};

/// How long an interrupted run tries to settle, in milliseconds (C7).
const SETTLE_AFTER_INTERRUPT_MS: u64 = 2_000;

/// How often a run that waits for capacity looks again, in milliseconds.
const SLOT_LOOK_MS: u64 = 200;

/// An attempt that runs, or a `run`, which does the same work and owns nothing.
pub struct Run<'s, S: Stage> {
    stage: &'s mut S,
    /// Nothing where there is no claim: then every step of the owner is left out, and nothing else differs.
    owner: Option<Owner>,
    stopped: Option<Stopped>,
    interrupts: u32,
    over: Option<Over>,
    /// What the owner answered last, to whoever waits for it.
    reserved: Option<u32>,
    bound: Option<Result<(), Refusal>>,
    /// What could not be done last, and why: trouble that lasts is told once, however its wording changes.
    trouble: Option<(&'static str, String)>,
    /// What was last said to wait for capacity.
    awaits_slot: Option<RequirementKey>,
    /// Whether the tree was found unchanged after everything that ran here had ended.
    is_looked_at: bool,
}

/// Why there is no claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreserved {
    /// It could not be reserved.
    Not(NotReserved),
    /// It was, without an answer, and another run retired it at once.
    Lost(Loss),
}

/// Why a run ends before its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// A signal.
    Signal(EndingSignal),
    /// `git discern stop`.
    Requested,
    /// The candidate moved or changed; what differs.
    TreeChanged(Vec<String>),
    /// The worktree is gone.
    WorktreeGone,
    /// The tree or the store could not be looked at.
    Store(String),
    /// Something has to be mended first, found while planning.
    Refused,
    /// A fault of this tool.
    Internal(String),
}

impl Stopped {
    /// The reason as the record has it.
    pub fn reason(&self) -> OwnReason {
        match self {
            Self::Signal(_) => OwnReason::Signal,
            Self::Requested => OwnReason::Stopped,
            Self::TreeChanged(_) => OwnReason::TreeChanged,
            Self::WorktreeGone => OwnReason::WorktreeGone,
            Self::Store(_) => OwnReason::Store,
            Self::Refused => OwnReason::Refused,
            Self::Internal(_) => OwnReason::Internal,
        }
    }

    /// The exit status that it leads to.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Signal(signal) => signal.exit(),
            Self::Requested => Exit::Terminated,
            Self::TreeChanged(_) | Self::WorktreeGone | Self::Refused => Exit::Refused,
            Self::Store(_) => Exit::Store,
            Self::Internal(_) => Exit::Internal,
        }
    }

    fn is_interrupt(&self) -> bool {
        matches!(self, Self::Signal(_) | Self::Requested)
    }
}

/// What is known of the executions of a run, by the requirement that stands for each.
pub trait Evaluate {
    /// The verdicts that an end amounts to: a receipt for each requirement that the execution serves, and how the schedule
    /// takes it.
    fn evaluate(&mut self, end: &ExecutionEnd) -> (Ended, Vec<Receipt>);

    /// Tells how a requirement ended, as an event.
    fn finished(&self, receipt: &Receipt) -> What;
}

/// What became of the executions.
#[derive(Debug, Default)]
pub struct Worked {
    /// The receipts obtained, in the order of their ends.
    pub receipts: Vec<Receipt>,
    /// What ran when the run was ended.
    pub cut_short: Vec<RequirementKey>,
}

impl<'s, S: Stage> Run<'s, S> {
    /// A run that holds nothing yet.
    pub fn new(stage: &'s mut S, owner: Owner) -> Self {
        Self { owner: Some(owner), ..Self::without_claim(stage) }
    }

    /// A run that takes no claim: it executes, and publishes and settles nothing.
    pub fn without_claim(stage: &'s mut S) -> Self {
        Self {
            stage,
            owner: None,
            stopped: None,
            interrupts: 0,
            over: None,
            reserved: None,
            bound: None,
            trouble: None,
            awaits_slot: None,
            is_looked_at: false,
        }
    }

    /// The stage that it acts on.
    pub fn stage(&mut self) -> &mut S {
        self.stage
    }

    /// Why it ends before its end, if so.
    pub fn stopped(&self) -> Option<&Stopped> {
        self.stopped.as_ref()
    }

    /// Whether its attempt is over, whatever it still does.
    pub fn is_over(&self) -> bool {
        self.over.is_some()
    }

    /// Ends it before its end; the first reason counts.
    pub fn stop(&mut self, why: Stopped) {
        self.stopped.get_or_insert(why);
        self.stage.end_executions(Ending::Gently);
    }

    /// Reserves the claim.
    ///
    /// # Errors
    /// Another holds it, or it can't be reserved (C27, exit 5). Nothing was left behind.
    pub fn reserve(&mut self) -> Result<u32, Box<Unreserved>> {
        self.drive(Input::Reserve);
        loop {
            if let Some(generation) = self.reserved {
                return Ok(generation);
            }
            match self.over.take() {
                Some(Over::NotReserved(why)) => return Err(Box::new(Unreserved::Not(why))),
                Some(Over::Lost(loss)) => return Err(Box::new(Unreserved::Lost(loss))),
                Some(_) => {
                    let problem = "the attempt ended while it was reserved".to_owned();
                    return Err(Box::new(Unreserved::Not(NotReserved::Store(problem))));
                }
                None => drop(self.attend(None)),
            }
        }
    }

    /// Records the plan.
    ///
    /// # Errors
    /// It is too large, and nothing was written.
    pub fn bind(&mut self, requirements: Vec<Bound>) -> Result<(), Refusal> {
        let until_ms = self.stage.now().monotonic_ms.saturating_add(LEASE_MS);
        self.drive(Input::Bind(requirements));
        loop {
            if let Some(answer) = self.bound.take() {
                return answer;
            }
            if self.is_ending() {
                return Ok(());
            }
            if self.stage.now().monotonic_ms >= until_ms {
                let problem = self.trouble.clone().map(|(_, problem)| problem).unwrap_or_default();
                self.stop(Stopped::Store(problem));
                return Ok(());
            }
            self.attend(None);
        }
    }

    /// Runs what `schedule` says, at most `parallel` executions at a time, and publishes each verdict as it comes.
    pub fn work(&mut self, mut schedule: Schedule, parallel: usize, evaluator: &mut dyn Evaluate) -> Worked {
        let mut worked = Worked::default();
        let mut slot_awaited = false;
        loop {
            if self.is_ending() {
                schedule.stop();
            } else {
                slot_awaited = !self.start_what_may(&mut schedule, parallel);
            }
            if self.stage.running() == 0 && (self.is_ending() || schedule.is_over()) {
                return worked;
            }
            let look_ms = slot_awaited.then(|| self.stage.now().monotonic_ms + SLOT_LOOK_MS);
            let ends = self.attend(look_ms);
            self.take_in(ends, &mut schedule, evaluator, &mut worked);
        }
    }

    /// The last look at the tree, before a Proof is assembled; none where nothing ran since the one before, because what
    /// happens to the tree later concerns no verdict.
    pub fn look_once_more(&mut self) {
        if !self.is_ending() && !self.is_looked_at {
            self.look_at_tree(&[]);
        }
    }

    /// Settles the attempt, and says how it is over: a loss that was proven meanwhile is the answer, whatever was to be
    /// settled (C8, C17).
    pub fn settle(
        mut self,
        outcome: Outcome,
        exit: Exit,
        failed: Vec<Bound>,
        proof: Option<Proof>,
    ) -> (Over, Option<Stopped>) {
        // A signal that comes now changes the outcome only until it is written.
        while self.over.is_none() {
            let settlement = match &self.stopped {
                Some(stopped) => Settlement {
                    outcome: Outcome::Cancelled,
                    reason: Some(stopped.reason()),
                    exit_status: stopped.exit().code(),
                    failed: failed.clone(),
                    proof: None,
                },
                None => Settlement {
                    outcome,
                    reason: None,
                    exit_status: exit.code(),
                    failed: failed.clone(),
                    proof: proof.clone(),
                },
            };
            let interrupted = self.stopped.as_ref().is_some_and(Stopped::is_interrupt);
            let within_ms = if interrupted { SETTLE_AFTER_INTERRUPT_MS } else { LEASE_MS };
            self.drive(Input::Settle { settlement: Box::new(settlement), within_ms });
            let before = self.stopped.clone();
            while self.over.is_none() && self.stopped == before {
                self.attend(None);
            }
        }
        let over = self.over.unwrap_or_else(|| Over::Unsettled(String::new()));
        (over, self.stopped)
    }

    /// Whether nothing new may start.
    fn is_ending(&self) -> bool {
        self.over.is_some() || self.stopped.is_some()
    }

    /// One turn: waits for something to happen, renews first, and notes what ends the run.
    pub fn attend(&mut self, until_ms: Option<u64>) -> Vec<ExecutionEnd> {
        let wake_ms = [self.owner.as_ref().and_then(Owner::wakes_at_ms), until_ms].into_iter().flatten().min();
        let happenings = self.stage.wait(wake_ms);
        self.drive(Input::Tick);
        let mut ends = Vec::new();
        for happening in happenings {
            match happening {
                Happening::Ended(end) => ends.push(end),
                Happening::Signal(signal) => self.interrupted(Stopped::Signal(signal)),
                Happening::StopRequested => self.interrupted(Stopped::Requested),
            }
        }
        ends
    }

    /// The first interrupt cancels and settles; a second one kills the jobs at once and still settles.
    fn interrupted(&mut self, by: Stopped) {
        self.interrupts += 1;
        let name = match &by {
            Stopped::Signal(EndingSignal::Interrupt) => "SIGINT",
            Stopped::Signal(EndingSignal::Terminate) => "SIGTERM",
            Stopped::Signal(EndingSignal::Hangup) => "SIGHUP",
            _ => "stop",
        };
        self.stage.tell(What::Interrupted { by: name.to_owned(), times: self.interrupts });
        self.stop(by);
        if self.interrupts > 1 {
            self.stage.end_executions(Ending::AtOnce);
        }
    }

    /// Starts what may start now; false if more could and there is no capacity for it.
    fn start_what_may(&mut self, schedule: &mut Schedule, parallel: usize) -> bool {
        let wanted = parallel.saturating_sub(self.stage.running()).min(schedule.startable());
        let slots = self.stage.take_slots(wanted);
        if slots > 0 {
            // The check before a job starts (C5); what starts together is checked together.
            self.drive(Input::Check);
            if !self.is_ending() {
                self.is_looked_at = false;
                for start in schedule.start(slots) {
                    self.stage.start(&start);
                }
            }
        }
        if slots < wanted && self.awaits_slot.as_ref() != schedule.next_up() {
            self.awaits_slot = schedule.next_up().cloned();
            let names = self.awaits_slot.iter().map(|key| key.name.clone());
            names.for_each(|name| self.stage.tell(What::SlotAwaited { name }));
        }
        slots >= wanted
    }

    /// Takes the ends of executions in: the tree check, then their receipts, all in one publication.
    fn take_in(
        &mut self,
        ends: Vec<ExecutionEnd>,
        schedule: &mut Schedule,
        evaluator: &mut dyn Evaluate,
        worked: &mut Worked,
    ) {
        if ends.is_empty() {
            return;
        }
        if !self.is_ending() {
            let keys: Vec<RequirementKey> = ends.iter().map(|end| end.key().clone()).collect();
            self.look_at_tree(&keys);
        }
        let mut receipts = Vec::new();
        for end in ends {
            // An end that the run itself brought about, or that came with a changed tree, is no verdict.
            if self.is_ending() {
                worked.cut_short.extend(end.start.serves);
                continue;
            }
            let (ended, mut obtained) = evaluator.evaluate(&end);
            match schedule.finished(end.key(), ended) {
                Next::Settled => {
                    for receipt in &obtained {
                        self.stage.tell(evaluator.finished(receipt));
                    }
                    receipts.append(&mut obtained);
                }
                Next::Retry => {
                    self.stage.tell(What::Retrying { name: end.key().name.clone(), tries: end.start.tries + 1 })
                }
            }
        }
        worked.receipts.extend(receipts.iter().cloned());
        if !receipts.is_empty() {
            self.drive(Input::Publish(receipts));
        }
    }

    fn look_at_tree(&mut self, ended: &[RequirementKey]) {
        match self.stage.look_at_tree(ended) {
            TreeState::Same => self.is_looked_at = self.stage.running() == 0,
            TreeState::Changed(what) => self.stop(Stopped::TreeChanged(what)),
            TreeState::Gone => self.stop(Stopped::WorktreeGone),
            TreeState::Unknown(problem) => self.stop(Stopped::Store(problem)),
        }
    }

    /// Lets the owner take a step and notes what it has to say.
    fn drive(&mut self, input: Input) {
        let Some(owner) = &mut self.owner else { return };
        for said in self.stage.drive(owner, input) {
            match said {
                Said::Reserved { generation } => self.reserved = Some(generation),
                Said::Bound => self.bound = Some(Ok(())),
                Said::BindRefused(refusal) => self.bound = Some(Err(refusal)),
                Said::MayStart => {}
                Said::Published { receipts } => self.stage.tell(What::Published { receipts }),
                Said::PublishRefused(refusal) => self.stop(Stopped::Internal(refusal.to_string())),
                Said::Renewed { after_ms } if lease::was_late(after_ms) => {
                    self.stage.tell(What::RenewedLate { after_ms });
                }
                Said::Renewed { .. } => self.trouble = None,
                Said::Trouble { doing, problem } => self.tell_trouble(doing, problem),
                Said::Over(over) => {
                    self.over = Some(over);
                    self.stage.end_executions(Ending::Gently);
                }
            }
        }
    }

    fn tell_trouble(&mut self, doing: &'static str, problem: String) {
        if self.trouble.as_ref().is_none_or(|(told, _)| *told != doing) {
            self.stage.tell(What::StoreTrouble { doing: doing.to_owned(), problem: problem.clone() });
        }
        self.trouble = Some((doing, problem));
    }
}
