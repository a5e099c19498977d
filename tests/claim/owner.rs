//! The owner's state machine, step by step: the cases that ADR 0421 names, and what the store can do to a run (C5 to C8,
//! C14 to C18).

use std::collections::BTreeMap;

use git_discern::claim::Record;
use git_discern::claim::lease::{self, ExecutorState, Observer, Takeover};
use git_discern::claim::owner::{Effect, Ended, Input, Loss, NotReserved, Over, Owner, Said, Seen, Written};
use git_discern::claim::record::{EndedBy, Outcome, OwnReason, StateKind, TakeoverReason};
use git_discern::claim::transition::{self, History, Refusal, Settlement};
use git_discern::id::{AttemptId, RecordId};

use super::sample::{BOOT, at, attempt, failed, fence, passed, pen, plan, receipt, record_id, retiring};

/// One candidate's ref, its ledger, and one owner, advanced by hand.
struct Bench {
    owner: Owner,
    run: u8,
    standing: Option<(RecordId, Record)>,
    ledger: BTreeMap<AttemptId, Ended>,
    now_ms: u64,
    serial: u16,
}

impl Bench {
    fn new() -> Self {
        Self::of_run(1, None)
    }

    fn of_run(run: u8, standing: Option<(RecordId, Record)>) -> Self {
        Self {
            owner: Owner::new(fence(run), attempt(run)),
            run,
            standing,
            ledger: BTreeMap::new(),
            now_ms: 0,
            serial: u16::from(run) * 1000,
        }
    }

    /// An owner that has bound its plan.
    fn bound() -> Self {
        let mut bench = Self::new();
        assert!(matches!(bench.drive(Input::Reserve)[..], [Said::Reserved { generation: 1 }]));
        assert!(matches!(bench.drive(Input::Bind(plan()))[..], [Said::Bound]));
        bench
    }

    fn step(&mut self, input: Input) -> Vec<Effect> {
        self.serial += 1;
        self.owner.step(input, pen(u128::from(self.serial), self.now_ms))
    }

    fn seen(&self) -> Seen {
        match &self.standing {
            Some((id, record)) => Seen::Record(*id, Box::new(record.clone())),
            None => Seen::Absent,
        }
    }

    fn put(&mut self, record: Record) -> RecordId {
        self.serial += 1;
        let id = record_id(self.serial);
        self.standing = Some((id, record));
        id
    }

    /// A sound store's answer.
    fn answer(&mut self, question: Effect) -> Input {
        match question {
            Effect::Survey => Input::Surveyed(self.seen(), History { absorbed: true, ..History::default() }),
            Effect::Absorb(_) => Input::Absorbed(Ok(())),
            Effect::Read => Input::Read(self.seen()),
            Effect::LookInLedger => Input::InLedger(Ok(self.ledger.get(&fence(self.run).attempt).cloned())),
            Effect::Swap { expected, record } if self.standing.as_ref().map(|(id, _)| *id) == expected => {
                Input::Written(Written::Applied(self.put(*record)))
            }
            Effect::Swap { .. } => Input::Written(Written::Stale),
            Effect::Say(said) => panic!("not a question: {said:?}"),
        }
    }

    /// Takes an input in and lets a sound store answer until nothing more is asked.
    fn drive(&mut self, input: Input) -> Vec<Said> {
        let effects = self.step(input);
        self.finish(effects)
    }

    fn finish(&mut self, effects: Vec<Effect>) -> Vec<Said> {
        let mut said = Vec::new();
        let mut open = effects;
        while !open.is_empty() {
            match open.remove(0) {
                Effect::Say(words) => said.push(words),
                question => {
                    let answer = self.answer(question);
                    open.extend(self.step(answer));
                }
            }
        }
        said
    }

    /// Takes an input in; every question is answered by `broken` instead of the store.
    fn drive_broken(&mut self, input: Input, broken: impl Fn(&Effect) -> Input) -> Vec<Said> {
        let mut said = Vec::new();
        let mut open = self.step(input);
        while !open.is_empty() {
            match open.remove(0) {
                Effect::Say(words) => said.push(words),
                question => open.extend(self.step(broken(&question))),
            }
        }
        said
    }

    fn settle(&mut self, settlement: Settlement) -> Vec<Said> {
        self.drive(Input::Settle { settlement: Box::new(settlement), within_ms: lease::LEASE_MS })
    }

    fn record(&self) -> &Record {
        &self.standing.as_ref().expect("there is a record").1
    }

    /// Another run's retirement, decided on the record as it stands.
    fn retirement(&mut self, executor: ExecutorState) -> Record {
        let (id, record) = self.standing.clone().expect("there is a record");
        let observer = Observer { boot: BOOT.to_owned(), now: at(self.now_ms) };
        let Takeover::Permitted(permit) = lease::takeover(&record, id, &observer, None, executor) else {
            panic!("a takeover is permitted");
        };
        self.serial += 1;
        transition::retire(&record, permit, retiring(), pen(u128::from(self.serial), self.now_ms)).expect("retires")
    }

    fn retire(&mut self) {
        let retired = self.retirement(ExecutorState::Gone);
        self.put(retired);
    }
}

fn unreadable(question: &Effect) -> Input {
    let problem = || "no such device".to_owned();
    match question {
        Effect::Survey => Input::Surveyed(Seen::Unreadable(problem()), History::default()),
        Effect::Read => Input::Read(Seen::Unreadable(problem())),
        Effect::LookInLedger => Input::InLedger(Err(problem())),
        Effect::Absorb(_) => Input::Absorbed(Err(problem())),
        Effect::Swap { .. } => Input::Written(Written::Unknown(problem())),
        Effect::Say(said) => panic!("not a question: {said:?}"),
    }
}

fn retired_by_lapse(said: &[Said]) -> bool {
    said.iter().any(|said| {
        matches!(
            said,
            Said::Over(Over::Lost(Loss::Retired(Ended {
                outcome: Outcome::Cancelled,
                by: EndedBy::Run { .. },
                exit_status: 4
            })))
        )
    })
}

// The four cases that ADR 0421 names.

#[test]
fn an_overdue_heartbeat_after_a_lapse_renews_when_nobody_retired_the_attempt() {
    let mut bench = Bench::bound();
    bench.now_ms = 219_000;
    assert_eq!(bench.drive(Input::Tick), [Said::Renewed { after_ms: 219_000 }]);
    assert_eq!(bench.record().state.kind(), StateKind::Claimed);
    let published = bench.drive(Input::Publish(vec![receipt(1, &plan()[0])]));
    assert_eq!(published, [Said::Published { receipts: 1 }]);
    let said = bench.settle(passed(1, &plan()));
    assert!(matches!(said[..], [Said::Over(Over::Settled(Ended { outcome: Outcome::Passed, .. }))]), "{said:?}");
    assert!(bench.record().state.finish().is_some_and(|finish| finish.proof.is_some()));
}

#[test]
fn an_overdue_heartbeat_after_a_retirement_ends_the_run_as_retired() {
    let mut bench = Bench::bound();
    bench.now_ms = 60_100;
    let retired = bench.retirement(ExecutorState::Unknown);
    bench.put(retired.clone());
    bench.now_ms = 61_000;
    let said = bench.drive(Input::Tick);
    let [Said::Over(Over::Lost(Loss::Retired(ended)))] = &said[..] else { panic!("{said:?}") };
    let EndedBy::Run { run, reason } = &ended.by else { panic!("{ended:?}") };
    assert_eq!((run, *reason), (&retiring(), TakeoverReason::LeaseLapsed));
    assert_eq!(bench.record(), &retired, "nothing was written");
    assert!(bench.owner.is_over());
}

#[test]
fn a_renewal_that_lands_before_the_retirements_write_makes_that_write_lose() {
    let mut bench = Bench::bound();
    bench.now_ms = 70_000;
    let (read_by_the_other, _) = bench.standing.clone().expect("there is a record");
    let retirement = bench.retirement(ExecutorState::Unknown);
    assert_eq!(bench.drive(Input::Tick), [Said::Renewed { after_ms: 70_000 }]);
    let late = bench.answer(Effect::Swap { expected: Some(read_by_the_other), record: Box::new(retirement) });
    assert_eq!(late, Input::Written(Written::Stale));
    let said = bench.settle(passed(1, &plan()));
    assert!(matches!(said[..], [Said::Over(Over::Settled(_))]), "{said:?}");
}

#[test]
fn of_a_proof_and_a_retirement_that_race_exactly_one_lands() {
    for retirement_first in [true, false] {
        let mut bench = Bench::bound();
        bench.now_ms = 70_000;
        let (seen, _) = bench.standing.clone().expect("there is a record");
        let retirement = bench.retirement(ExecutorState::Unknown);
        let settle = Input::Settle { settlement: Box::new(passed(1, &plan())), within_ms: lease::LEASE_MS };
        let read = bench.step(settle);
        assert_eq!(read, [Effect::Read]);
        let answer = bench.answer(Effect::Read);
        let swap = bench.step(answer);
        assert!(matches!(swap[..], [Effect::Swap { .. }]), "{swap:?}");
        if retirement_first {
            bench.put(retirement);
            let said = bench.finish(swap);
            assert!(retired_by_lapse(&said), "{said:?}");
            assert!(bench.record().state.finish().is_some_and(|finish| finish.proof.is_none()));
        } else {
            let said = bench.finish(swap);
            assert!(matches!(said[..], [Said::Over(Over::Settled(_))]), "{said:?}");
            let late = bench.answer(Effect::Swap { expected: Some(seen), record: Box::new(retirement) });
            assert_eq!(late, Input::Written(Written::Stale));
            assert!(bench.record().state.finish().is_some_and(|finish| finish.proof.is_some()));
        }
    }
}

// Whatever step finds it, the outcome is the retirement (C17).

#[test]
fn whichever_step_finds_a_retirement_the_run_ends_as_retired() {
    let steps: [fn() -> Input; 4] = [
        || Input::Check,
        || Input::Publish(vec![receipt(1, &plan()[0])]),
        || Input::Settle { settlement: Box::new(failed()), within_ms: lease::LEASE_MS },
        || Input::Settle {
            settlement: Box::new(Settlement {
                outcome: Outcome::Cancelled,
                reason: Some(OwnReason::Signal),
                exit_status: 130,
                failed: Vec::new(),
                proof: None,
            }),
            within_ms: 2_000,
        },
    ];
    for step in steps {
        let mut bench = Bench::bound();
        bench.retire();
        let said = bench.drive(step());
        assert!(retired_by_lapse(&said) && said.len() == 1, "{said:?}");
    }
    let mut planning = Bench::new();
    planning.drive(Input::Reserve);
    planning.retire();
    let said = planning.drive(Input::Bind(plan()));
    assert!(retired_by_lapse(&said) && said.len() == 1, "{said:?}");
}

#[test]
fn an_owner_whose_retired_record_was_replaced_finds_itself_in_previous() {
    let mut bench = Bench::bound();
    bench.retire();
    let history = History { absorbed: true, ..History::default() };
    let successor =
        transition::reserve(Some(bench.record()), history, attempt(2), fence(2).token, pen(99, 10)).expect("reserves");
    bench.put(successor);
    let said = bench.drive(Input::Check);
    assert!(retired_by_lapse(&said), "{said:?}");
}

#[test]
fn an_owner_that_neither_record_nor_ledger_knows_was_replaced() {
    let mut bench = Bench::bound();
    let successor =
        transition::reserve(None, History::default(), attempt(2), fence(2).token, pen(99, 10)).expect("reserves");
    bench.put(successor);
    let said = bench.drive(Input::Check);
    let [Said::Over(Over::Lost(Loss::Replaced(by)))] = &said[..] else { panic!("{said:?}") };
    assert_eq!(by.id, fence(2).attempt);
}

// What proves nothing (C7).

#[test]
fn a_store_that_fails_ends_nothing_and_is_asked_again_on_the_next_interval() {
    let mut bench = Bench::bound();
    bench.now_ms = 20_000;
    let said = bench.drive_broken(Input::Tick, unreadable);
    assert!(matches!(said[..], [Said::Trouble { .. }]), "{said:?}");
    assert_eq!(bench.owner.wakes_at_ms(), Some(40_000));
    bench.now_ms = 30_000;
    assert_eq!(bench.drive(Input::Tick), []);
    bench.now_ms = 40_000;
    assert_eq!(bench.drive(Input::Tick), [Said::Renewed { after_ms: 40_000 }]);
}

#[test]
fn jobs_start_while_the_store_can_not_be_read() {
    let mut bench = Bench::bound();
    let said = bench.drive_broken(Input::Check, unreadable);
    assert!(said.contains(&Said::MayStart), "{said:?}");
}

#[test]
fn a_receipt_that_could_not_be_published_goes_with_the_settlement() {
    let mut bench = Bench::bound();
    let receipts: Vec<_> = plan().iter().map(|bound| receipt(1, bound)).collect();
    let said = bench.drive_broken(Input::Publish(receipts.clone()), unreadable);
    assert!(matches!(said[..], [Said::Trouble { .. }]), "{said:?}");
    bench.settle(passed(1, &plan()));
    assert_eq!(bench.record().receipts, receipts);
}

#[test]
fn a_write_whose_answer_was_lost_is_recognised_in_the_record() {
    // Each of the owner's writes lands, and its answer is lost.
    let mut bench = Bench::new();
    let lose_one = |bench: &mut Bench, input: Input| {
        let mut said = Vec::new();
        let mut open = bench.step(input);
        while !open.is_empty() {
            match open.remove(0) {
                Effect::Say(words) => said.push(words),
                question => {
                    let swap = matches!(question, Effect::Swap { .. });
                    let answer = bench.answer(question);
                    let answer = if swap { Input::Written(Written::Unknown("killed".to_owned())) } else { answer };
                    open.extend(bench.step(answer));
                }
            }
        }
        bench.now_ms += 5_000;
        let sequence = bench.standing.as_ref().map(|(_, record)| record.sequence);
        said.extend(bench.drive(Input::Tick));
        assert_eq!(bench.standing.as_ref().map(|(_, record)| record.sequence), sequence, "it was written twice");
        said
    };
    assert!(lose_one(&mut bench, Input::Reserve).contains(&Said::Reserved { generation: 1 }));
    assert!(lose_one(&mut bench, Input::Bind(plan())).contains(&Said::Bound));
    let published = lose_one(&mut bench, Input::Publish(vec![receipt(1, &plan()[0])]));
    assert!(published.contains(&Said::Published { receipts: 1 }), "{published:?}");
    let settle = Input::Settle { settlement: Box::new(passed(1, &plan())), within_ms: lease::LEASE_MS };
    let said = lose_one(&mut bench, settle);
    assert!(matches!(said.last(), Some(Said::Over(Over::Settled(_)))), "{said:?}");
}

#[test]
fn a_missing_record_is_looked_up_in_the_ledger_and_never_made_again() {
    let mut bench = Bench::bound();
    bench.standing = None;
    let said = bench.drive(Input::Publish(vec![receipt(1, &plan()[0])]));
    assert!(matches!(said[..], [Said::Trouble { .. }]), "{said:?}");
    assert_eq!(bench.standing, None);
    let ended = Ended { outcome: Outcome::Passed, by: EndedBy::Owner { reason: None }, exit_status: 0 };
    bench.ledger.insert(fence(1).attempt, ended.clone());
    bench.now_ms = 5_000;
    assert_eq!(bench.drive(Input::Tick), [Said::Over(Over::Settled(ended))]);
}

#[test]
fn settlement_tries_for_one_lease_and_then_reports_the_store() {
    let mut bench = Bench::bound();
    let settle = Input::Settle { settlement: Box::new(failed()), within_ms: lease::LEASE_MS };
    let mut said = bench.drive_broken(settle, unreadable);
    while let Some(wakes_at_ms) = bench.owner.wakes_at_ms() {
        assert!(wakes_at_ms > bench.now_ms, "it would spin");
        bench.now_ms = wakes_at_ms;
        said = bench.drive_broken(Input::Tick, unreadable);
    }
    assert!((60_000..61_000).contains(&bench.now_ms), "{} ms", bench.now_ms);
    assert!(matches!(said[..], [Said::Over(Over::Unsettled(_))]), "{said:?}");
}

#[test]
fn a_store_that_is_read_and_takes_no_writes_is_reported_after_one_lease_as_well() {
    let mut bench = Bench::bound();
    let seen = bench.seen();
    let full = |question: &Effect| match question {
        Effect::Read => Input::Read(seen.clone()),
        other => unreadable(other),
    };
    let settle = Input::Settle { settlement: Box::new(failed()), within_ms: lease::LEASE_MS };
    let mut said = bench.drive_broken(settle, full);
    while let Some(wakes_at_ms) = bench.owner.wakes_at_ms().filter(|_| bench.now_ms < 70_000) {
        assert!(wakes_at_ms > bench.now_ms, "it would spin");
        bench.now_ms = wakes_at_ms;
        said = bench.drive_broken(Input::Tick, full);
    }
    assert!((60_000..61_000).contains(&bench.now_ms), "{} ms", bench.now_ms);
    assert!(matches!(said[..], [Said::Over(Over::Unsettled(_))]), "{said:?}");
}

#[test]
fn a_settlement_that_the_store_refused_at_first_is_written_later() {
    let mut bench = Bench::bound();
    let settle = Input::Settle { settlement: Box::new(passed(1, &plan())), within_ms: lease::LEASE_MS };
    bench.drive_broken(settle, unreadable);
    bench.now_ms = 30_000;
    let said = bench.drive(Input::Tick);
    assert!(matches!(said[..], [Said::Over(Over::Settled(_))]), "{said:?}");
}

// Reserving.

#[test]
fn a_live_claim_is_reported_and_nothing_is_written() {
    let standing = Bench::bound().standing;
    let mut other = Bench::of_run(2, standing.clone());
    let said = other.drive(Input::Reserve);
    assert!(matches!(&said[..], [Said::Over(Over::NotReserved(NotReserved::Held(..)))]), "{said:?}");
    assert_eq!(other.standing, standing);
}

#[test]
fn a_finished_attempt_that_can_not_be_absorbed_is_not_replaced() {
    let mut first = Bench::bound();
    first.settle(failed());
    let mut second = Bench::of_run(2, first.standing.clone());
    assert_eq!(second.step(Input::Reserve), [Effect::Survey]);
    let absorb = second.step(Input::Surveyed(second.seen(), History::default()));
    assert!(matches!(absorb[..], [Effect::Absorb(_)]), "{absorb:?}");
    let said = second.step(Input::Absorbed(Err("read-only".to_owned())));
    let why = Over::NotReserved(NotReserved::LedgerUnwritable("read-only".to_owned()));
    assert_eq!(said, [Effect::Say(Said::Over(why))]);
}

#[test]
fn a_doubtful_reservation_that_was_retired_and_removed_is_not_sent_again() {
    let mut bench = Bench::new();
    let effects = bench.step(Input::Reserve);
    assert_eq!(effects, [Effect::Survey]);
    let answer = bench.answer(Effect::Survey);
    let swap = bench.step(answer);
    assert!(matches!(swap[..], [Effect::Swap { .. }]), "{swap:?}");
    bench.step(Input::Written(Written::Unknown("killed".to_owned())));
    // It had landed; another run retired, absorbed and removed it before this one looked again.
    let ended = Ended {
        outcome: Outcome::Cancelled,
        by: EndedBy::Run { run: retiring(), reason: TakeoverReason::LeaseLapsed },
        exit_status: 4,
    };
    bench.ledger.insert(fence(1).attempt, ended.clone());
    bench.now_ms = 100_000_000;
    assert_eq!(bench.drive(Input::Tick), [Said::Over(Over::Lost(Loss::Retired(ended)))]);
    assert_eq!(bench.standing, None);
}

#[test]
fn a_doubtful_reservation_that_never_arrived_is_sent_again() {
    let mut bench = Bench::new();
    bench.step(Input::Reserve);
    let answer = bench.answer(Effect::Survey);
    bench.step(answer);
    bench.step(Input::Written(Written::Unknown("killed".to_owned())));
    bench.now_ms = 1_000;
    assert_eq!(bench.drive(Input::Tick), [Said::Reserved { generation: 1 }]);
}

#[test]
fn a_reservation_that_others_outran_for_long_is_sent_again() {
    let mut bench = Bench::new();
    bench.step(Input::Reserve);
    let answer = bench.answer(Effect::Survey);
    assert!(matches!(bench.step(answer)[..], [Effect::Swap { .. }]));
    // It waited for its turn while another run reserved, settled and was absorbed: a lost comparison is no fault of the store.
    let mut other = Bench::of_run(2, None);
    other.drive(Input::Reserve);
    other.drive(Input::Bind(plan()));
    other.settle(failed());
    bench.standing = other.standing;
    bench.now_ms = 10_000;
    let survey = bench.step(Input::Written(Written::Stale));
    assert_eq!(bench.finish(survey), [Said::Reserved { generation: 2 }]);
}

#[test]
fn a_store_that_never_answers_ends_the_reservation() {
    let mut bench = Bench::new();
    let mut said = bench.drive_broken(Input::Reserve, |question| match question {
        Effect::Swap { .. } => Input::Written(Written::Unknown("killed".to_owned())),
        Effect::Survey => Input::Surveyed(Seen::Absent, History::default()),
        Effect::LookInLedger => Input::InLedger(Ok(None)),
        other => panic!("{other:?}"),
    });
    let mut rounds = 0;
    while let Some(wakes_at_ms) = bench.owner.wakes_at_ms() {
        rounds += 1;
        assert!(rounds < 100, "it goes on for ever");
        bench.now_ms = wakes_at_ms;
        said = bench.drive_broken(Input::Tick, unreadable);
    }
    assert!(matches!(said[..], [Said::Over(Over::NotReserved(_))]), "{said:?}");
}

// Order, and one request at a time (C15, C16).

#[test]
fn an_overdue_renewal_comes_before_whatever_woke_the_loop() {
    let mut bench = Bench::new();
    bench.drive(Input::Reserve);
    bench.now_ms = 100_000;
    let said = bench.drive(Input::Bind(plan()));
    assert_eq!(said, [Said::Renewed { after_ms: 100_000 }, Said::Bound]);
}

#[test]
fn a_settlement_waits_for_the_renewal_under_way_and_stops_renewals() {
    let mut bench = Bench::bound();
    bench.now_ms = 20_000;
    assert_eq!(bench.step(Input::Tick), [Effect::Read]);
    let answer = bench.answer(Effect::Read);
    let renewal = bench.step(answer);
    assert!(matches!(renewal[..], [Effect::Swap { .. }]), "{renewal:?}");
    let settle = Input::Settle { settlement: Box::new(failed()), within_ms: lease::LEASE_MS };
    assert_eq!(bench.step(settle), [], "one request at a time");
    bench.now_ms = 50_000;
    let said = bench.finish(renewal);
    let [Said::Renewed { .. }, Said::Over(Over::Settled(_))] = &said[..] else { panic!("{said:?}") };
}

#[test]
fn a_failed_publication_and_an_overdue_renewal_do_not_make_the_loop_spin() {
    let mut bench = Bench::bound();
    bench.now_ms = 19_500;
    bench.drive_broken(Input::Publish(vec![receipt(1, &plan()[0])]), unreadable);
    for _ in 0..4 {
        let wakes_at_ms = bench.owner.wakes_at_ms().expect("it holds a claim");
        assert!(wakes_at_ms > bench.now_ms, "it would spin at {} ms", bench.now_ms);
        bench.now_ms = wakes_at_ms;
        bench.drive(Input::Tick);
    }
    assert_eq!(bench.record().receipts.len(), 1);
}

#[test]
fn a_receipt_that_does_not_belong_is_refused_and_the_claim_is_as_it_was() {
    let mut bench = Bench::bound();
    let said = bench.drive(Input::Publish(vec![receipt(2, &plan()[0])]));
    assert!(matches!(said[..], [Said::PublishRefused(Refusal::NotBound(_))]), "{said:?}");
    let said = bench.settle(passed(1, &plan()));
    assert!(matches!(said[..], [Said::Over(Over::Settled(_))]), "{said:?}");
}

#[test]
fn a_second_settlement_replaces_one_that_was_not_written() {
    let mut bench = Bench::bound();
    let settle = Input::Settle { settlement: Box::new(passed(1, &plan())), within_ms: lease::LEASE_MS };
    bench.drive_broken(settle, unreadable);
    let interrupted = Settlement {
        outcome: Outcome::Cancelled,
        reason: Some(OwnReason::Signal),
        exit_status: 130,
        failed: Vec::new(),
        proof: None,
    };
    let said = bench.drive(Input::Settle { settlement: Box::new(interrupted), within_ms: 2_000 });
    let [Said::Over(Over::Settled(ended))] = &said[..] else { panic!("{said:?}") };
    assert_eq!(ended.exit_status, 130);
}
