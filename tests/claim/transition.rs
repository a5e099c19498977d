//! The six transitions: what each demands, changes and refuses (protocol section 3).

use git_discern::claim::Record;
use git_discern::claim::invariant::Watch;
use git_discern::claim::lease::{self, ExecutorState, Observer, Takeover};
use git_discern::claim::record::{EndedBy, Outcome, OwnReason, PREVIOUS_MAX, Purpose, RECORD_BYTES_MAX, StateKind};
use git_discern::claim::transition::{self, History, Refusal, Settlement};
use git_discern::evidence::Receipt;
use proptest::prelude::*;

use super::sample::{
    BOOT, at, attempt, claimed, failed, fence, passed, pen, plan, planning, proof, receipt, record_id, retiring,
};

const ABSORBED: History = History { absorbed: true, ledger_generation: 0, high_water: (0, 0) };

fn receipts(run: u8) -> Vec<Receipt> {
    plan().iter().map(|bound| receipt(run, bound)).collect()
}

fn retire(record: &Record, nonce: u128, now_ms: u64) -> Record {
    let observer = Observer { boot: BOOT.to_owned(), now: at(now_ms) };
    match lease::takeover(record, record_id(1), &observer, None, ExecutorState::Unknown) {
        Takeover::Permitted(permit) => {
            transition::retire(record, permit, retiring(), pen(nonce, now_ms)).expect("the permit is for it")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn reserving_over_nothing_begins_at_generation_one() {
    let record = planning(1);
    assert_eq!((record.attempt.generation, record.sequence), (1, 1));
    assert_eq!(record.state.kind(), StateKind::Planning);
    assert!(record.previous.is_empty() && record.receipts.is_empty() && record.requirements.is_empty());
}

#[test]
fn a_new_generation_is_above_record_ledger_and_high_water_mark() {
    let reserve = |history| {
        let record = transition::reserve(None, history, attempt(2), fence(2).token, pen(9, 0)).expect("reserves");
        (record.attempt.generation, record.sequence)
    };
    assert_eq!(reserve(History { ledger_generation: 4, ..ABSORBED }), (5, 1));
    assert_eq!(reserve(History { high_water: (7, 31), ..ABSORBED }), (8, 32));
    assert_eq!(reserve(History { ledger_generation: 9, high_water: (7, 31), ..ABSORBED }), (10, 32));
}

#[test]
fn an_unfinished_attempt_is_never_reserved_over() {
    for record in [planning(1), claimed(1)] {
        let refused = transition::reserve(Some(&record), ABSORBED, attempt(2), fence(2).token, pen(9, 9_999_999));
        assert_eq!(refused, Err(Refusal::Held));
    }
}

#[test]
fn a_finished_attempt_is_reserved_over_only_when_it_is_in_the_ledger() {
    let finished = transition::settle(&claimed(1), &fence(1), Vec::new(), failed(), pen(3, 200)).expect("settles");
    let reserve = |history| transition::reserve(Some(&finished), history, attempt(2), fence(2).token, pen(9, 300));
    assert_eq!(reserve(History::default()), Err(Refusal::NotAbsorbed));
    let next = reserve(ABSORBED).expect("it is safe in the ledger");
    assert_eq!((next.attempt.generation, next.sequence), (2, finished.sequence + 1));
    assert_eq!(next.previous, [finished.as_previous().expect("it is finished")]);
}

#[test]
fn a_record_names_the_latest_eight_attempts_before_it() {
    let mut record = planning(0);
    for run in 1..=10 {
        let finished =
            transition::settle(&record, &fence(run - 1), Vec::new(), failed(), pen(100 + u128::from(run), 0))
                .expect("settles");
        let nonce = pen(200 + u128::from(run), 0);
        record =
            transition::reserve(Some(&finished), ABSORBED, attempt(run), fence(run).token, nonce).expect("reserves");
    }
    let named: Vec<_> = record.previous.iter().map(|previous| previous.id).collect();
    let latest: Vec<_> = (10 - PREVIOUS_MAX as u8..10).map(|run| fence(run).attempt).collect();
    assert_eq!(named, latest);
    assert_eq!(transition::outcome_in_previous(&record, &fence(1)), None);
    assert!(transition::outcome_in_previous(&record, &fence(2)).is_some_and(|found| found.generation == 3));
}

#[test]
fn a_plan_is_bound_once() {
    let bound = claimed(1);
    assert_eq!(bound.requirements, plan());
    let again = transition::bind(&bound, &fence(1), plan(), pen(3, 200));
    assert_eq!(again, Err(Refusal::WrongState(StateKind::Claimed)));
}

#[test]
fn nothing_is_published_before_the_plan_is_bound() {
    let refused = transition::publish(&planning(1), &fence(1), receipts(1), pen(3, 200));
    assert_eq!(refused, Err(Refusal::WrongState(StateKind::Planning)));
}

#[test]
fn a_receipt_of_something_else_is_not_bound_and_says_nothing_about_the_claim() {
    let mut stray = receipts(1);
    stray[1].subject = stray[0].subject;
    let refused = transition::publish(&claimed(1), &fence(1), stray, pen(3, 200));
    assert!(matches!(refused, Err(Refusal::NotBound(_))), "{refused:?}");
    let of_another = transition::publish(&claimed(1), &fence(1), receipts(2), pen(3, 200));
    assert!(matches!(of_another, Err(Refusal::NotBound(_))), "{of_another:?}");
}

#[test]
fn a_pass_of_done_carries_exactly_its_proof() {
    let settle = |settlement| transition::settle(&claimed(1), &fence(1), receipts(1), settlement, pen(3, 200));
    let settled = settle(passed(1, &plan())).expect("the Proof is of what was bound");
    let finish = settled.state.finish().expect("it is finished");
    assert_eq!(finish.proof, Some(proof(1, &plan())));
    assert_eq!(settled.receipts, receipts(1));

    let without = Settlement { proof: None, ..passed(1, &plan()) };
    let of_another = passed(2, &plan());
    let with_a_failure = Settlement { proof: Some(proof(1, &plan())), ..failed() };
    for wrong in [without, of_another, with_a_failure] {
        assert!(matches!(settle(wrong.clone()), Err(Refusal::NotBound(_))), "{wrong:?}");
    }
    let of_less = transition::settle(&claimed(1), &fence(1), Vec::new(), passed(1, &plan()[..1]), pen(3, 200));
    assert!(matches!(of_less, Err(Refusal::NotBound(_))), "what was bound is neither proven nor passed: {of_less:?}");
}

#[test]
fn standards_pass_without_a_proof() {
    let mut record = claimed(1);
    record.attempt.purpose = Purpose::Standards;
    let settle = |settlement| transition::settle(&record, &fence(1), Vec::new(), settlement, pen(3, 200));
    assert!(settle(Settlement { proof: None, ..passed(1, &plan()) }).is_ok());
    assert!(matches!(settle(passed(1, &plan())), Err(Refusal::NotBound(_))));
}

#[test]
fn a_retirement_keeps_everything_but_the_claim() {
    let published = transition::publish(&claimed(1), &fence(1), receipts(1), pen(3, 200)).expect("publishes");
    let retired = retire(&published, 4, 60_000);
    assert_eq!(retired.receipts, published.receipts);
    assert_eq!(retired.requirements, published.requirements);
    assert_eq!(retired.attempt, published.attempt);
    let finish = retired.state.finish().expect("it is finished");
    assert_eq!((finish.outcome, finish.exit_status, &finish.proof), (Outcome::Cancelled, 4, &None));
    assert!(matches!(&finish.by, EndedBy::Run { run, .. } if *run == retiring()));
}

#[test]
fn a_retired_attempt_can_do_nothing_more() {
    let retired = retire(&claimed(1), 4, 60_000);
    let fence = fence(1);
    let refused = [
        transition::bind(&retired, &fence, plan(), pen(5, 60_001)),
        transition::renew(&retired, &fence, pen(5, 60_001)),
        transition::publish(&retired, &fence, receipts(1), pen(5, 60_001)),
        transition::settle(&retired, &fence, Vec::new(), passed(1, &plan()), pen(5, 60_001)),
    ];
    for refusal in refused {
        assert_eq!(refusal, Err(Refusal::ClaimLost));
    }
}

#[test]
fn renewals_leave_no_trace_and_the_record_does_not_grow() {
    let first = claimed(1);
    let mut record = first.clone();
    for nonce in 10..1000 {
        record = transition::renew(&record, &fence(1), pen(nonce, 20_000 * nonce as u64)).expect("renews");
    }
    assert_eq!(record.transitions, first.transitions);
    assert!(record.encode().len() < first.encode().len() + 16, "{} bytes", record.encode().len());
}

#[test]
fn a_plan_that_could_not_be_settled_within_the_limit_is_refused() {
    let many: Vec<_> = (0..200)
        .map(|number| {
            let mut bound = plan()[0].clone();
            bound.name = format!("job-{number}").parse().expect("a name");
            bound
        })
        .collect();
    let refused = transition::bind(&planning(1), &fence(1), many, pen(2, 100));
    assert!(matches!(refused, Err(Refusal::TooLarge { bytes }) if bytes > RECORD_BYTES_MAX), "{refused:?}");
}

#[test]
fn a_full_record_shortens_what_receipts_say_and_nothing_that_they_establish() {
    let bound: Vec<_> = (0..100)
        .map(|number| {
            let mut bound = plan()[0].clone();
            bound.name = format!("job-{number}").parse().expect("a name");
            bound
        })
        .collect();
    let mut record = transition::bind(&planning(1), &fence(1), bound.clone(), pen(2, 100)).expect("binds");
    for (nonce, bound) in (3..).zip(&bound) {
        let wordy = Receipt { reason: Some("é".repeat(1024)), ..receipt(1, bound) };
        record = transition::publish(&record, &fence(1), vec![wordy], pen(nonce, 200)).expect("makes room");
        assert!(record.encode().len() <= RECORD_BYTES_MAX);
    }
    let settled = transition::settle(&record, &fence(1), Vec::new(), passed(1, &bound), pen(1000, 300)).expect("fits");
    assert!(settled.encode().len() <= RECORD_BYTES_MAX);
    assert!(settled.receipts.iter().zip(&bound).all(|(receipt, bound)| receipt.subject == bound.subject));
}

/// One step of a history at one candidate.
#[derive(Debug, Clone)]
enum Move {
    Reserve,
    Bind,
    Renew,
    Publish,
    Settle(bool),
    Retire,
    Stop,
}

fn moves() -> impl Strategy<Value = Vec<(Move, u8)>> {
    let one = prop_oneof![
        2 => Just(Move::Reserve),
        3 => Just(Move::Bind),
        2 => Just(Move::Renew),
        3 => Just(Move::Publish),
        1 => any::<bool>().prop_map(Move::Settle),
        1 => Just(Move::Retire),
        1 => Just(Move::Stop),
    ];
    prop::collection::vec((one, 1..4u8), 1..40)
}

proptest! {
    /// Whoever moves in whatever order: what the transitions allow is a history that the invariants allow, and every
    /// record survives being stored.
    #[test]
    fn whatever_is_allowed_keeps_the_invariants(moves in moves()) {
        let mut watch = Watch::default();
        let mut standing: Option<Record> = None;
        let mut used = Vec::new();
        for (nonce, (step, run)) in (1..).zip(moves) {
            let pen = pen(nonce, nonce as u64 * 1000);
            let allowed = match (&standing, step) {
                (found, Move::Reserve) if !used.contains(&run) => {
                    transition::reserve(found.as_ref(), ABSORBED, attempt(run), fence(run).token, pen)
                        .inspect(|_| used.push(run))
                }
                (Some(record), Move::Bind) => transition::bind(record, &fence(run), plan(), pen),
                (Some(record), Move::Renew) => transition::renew(record, &fence(run), pen),
                (Some(record), Move::Publish) => transition::publish(record, &fence(run), receipts(run), pen),
                (Some(record), Move::Settle(true)) => {
                    transition::settle(record, &fence(run), Vec::new(), passed(run, &plan()), pen)
                }
                (Some(record), Move::Settle(false)) => {
                    transition::settle(record, &fence(run), Vec::new(), failed(), pen)
                }
                (Some(record), Move::Stop) => {
                    let stopped = Settlement {
                        outcome: Outcome::Cancelled, reason: Some(OwnReason::Signal), exit_status: 130, failed: Vec::new(), proof: None,
                    };
                    transition::settle(record, &fence(run), Vec::new(), stopped, pen)
                }
                (Some(record), Move::Retire) => {
                    let observer = Observer { boot: BOOT.to_owned(), now: pen.now };
                    match lease::takeover(record, record_id(1), &observer, None, ExecutorState::Gone) {
                        Takeover::Permitted(permit) => transition::retire(record, permit, retiring(), pen),
                        Takeover::NotYet { .. } | Takeover::Finished => continue,
                    }
                }
                _ => continue,
            };
            if let Ok(next) = allowed {
                prop_assert_eq!(watch.see(&next), Ok(()));
                let stored = Record::decode(&next.encode(), &next.attempt.commit);
                prop_assert_eq!(stored.as_ref(), Ok(&next));
                standing = Some(next);
            }
        }
    }
}
