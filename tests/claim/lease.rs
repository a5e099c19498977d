//! When a claim may be taken over, and on which clock (C9 to C13).

use git_discern::claim::Record;
use git_discern::claim::lease::{self, ExecutorState, LEASE_MS, Observer, RENEWAL_INTERVAL_MS, Sighting, Takeover};
use git_discern::claim::record::TakeoverReason;
use git_discern::claim::transition;
use git_discern::time::{Reading, Timestamp};
use proptest::prelude::*;
use test_case::test_case;

use super::sample::{BOOT, EPOCH_MS, at, claimed, commit, fence, pen, planning, record_id};

fn observer(boot: &str, now: Reading) -> Observer {
    Observer { boot: boot.to_owned(), now }
}

fn sighting(boot: &str, record: u16, monotonic_ms: u64) -> Sighting {
    Sighting { boot: boot.to_owned(), record: record_id(record), monotonic_ms }
}

fn test(record: &Record, observer: &Observer, sighting: Option<&Sighting>) -> Takeover {
    lease::takeover(record, record_id(1), observer, sighting, ExecutorState::Unknown)
}

fn reason(takeover: Takeover) -> Option<TakeoverReason> {
    match takeover {
        Takeover::Permitted(permit) => Some(permit.reason()),
        Takeover::NotYet { .. } | Takeover::Finished => None,
    }
}

/// A record of version 1: acquired, renewed and expiring that many milliseconds after the samples' epoch.
fn version_1(acquired: i64, renewed: Option<i64>, expires: i64) -> Record {
    let instant = |millis: i64| Timestamp::from_millis(EPOCH_MS + millis).to_string();
    let mut claim = serde_json::json!({
        "token": fence(1).token, "acquired_at": instant(acquired), "expires_at": instant(expires),
    });
    if let Some(renewed) = renewed {
        claim["renewed_at"] = instant(renewed).into();
    }
    let document = serde_json::json!({
        "format": "discern/attempt", "version": 1,
        "attempt": { "id": fence(1).attempt, "candidate": { "commit": commit() } },
        "state": { "kind": "claimed", "claim": claim },
    });
    Record::decode(document.to_string().as_bytes(), &commit()).expect("version 1 stays readable")
}

const HOUR_MS: i64 = 3_600_000;

#[test]
fn the_lease_is_a_minute_and_is_renewed_thrice_in_it() {
    assert_eq!((LEASE_MS, RENEWAL_INTERVAL_MS), (60_000, 20_000));
    assert_eq!(lease::next_renewal_ms(5), 20_005);
}

#[test_case(59_999 => None; "just before the end of the lease")]
#[test_case(60_000 => Some(TakeoverReason::LeaseLapsed); "at its end")]
#[test_case(86_400_000 => Some(TakeoverReason::LeaseLapsed); "a day later")]
fn on_the_same_boot_the_monotonic_clock_decides(now_ms: u64) -> Option<TakeoverReason> {
    reason(test(&planning(1), &observer(BOOT, at(now_ms)), None))
}

#[test]
fn setting_the_wall_clock_neither_retires_a_live_owner_nor_prolongs_a_dead_one() {
    for years in [-10, 10] {
        let wall = Timestamp::from_millis(EPOCH_MS + years * 365 * 24 * HOUR_MS);
        let early = observer(BOOT, Reading { wall, monotonic_ms: 30_000 });
        assert_eq!(test(&planning(1), &early, None), Takeover::NotYet { remaining_ms: 30_000 });
        let late = observer(BOOT, Reading { wall, monotonic_ms: 60_000 });
        assert_eq!(reason(test(&planning(1), &late, None)), Some(TakeoverReason::LeaseLapsed));
    }
}

#[test]
fn a_renewal_protects_for_a_whole_lease_from_its_own_instant() {
    let renewed = transition::renew(&claimed(1), &fence(1), pen(3, 200_000)).expect("a lapse ends nothing");
    assert_eq!(test(&renewed, &observer(BOOT, at(230_000)), None), Takeover::NotYet { remaining_ms: 30_000 });
    assert_eq!(reason(test(&renewed, &observer(BOOT, at(260_000)), None)), Some(TakeoverReason::LeaseLapsed));
}

#[test]
fn a_reading_in_the_observers_future_falls_back_to_observation() {
    let renewed = transition::renew(&claimed(1), &fence(1), pen(3, 500_000)).expect("renews");
    let now = observer(BOOT, at(100_000));
    assert_eq!(test(&renewed, &now, None), Takeover::NotYet { remaining_ms: LEASE_MS });
    assert_eq!(test(&renewed, &now, Some(&sighting(BOOT, 1, 40_001))), Takeover::NotYet { remaining_ms: 1 });
    assert_eq!(reason(test(&renewed, &now, Some(&sighting(BOOT, 1, 40_000)))), Some(TakeoverReason::LeaseLapsed));
}

#[test]
fn on_another_boot_only_observation_counts() {
    let elsewhere = |now_ms| observer("another boot", at(now_ms));
    let day_later = elsewhere(86_400_000);
    assert_eq!(test(&planning(1), &day_later, None), Takeover::NotYet { remaining_ms: LEASE_MS });
    let seen = sighting("another boot", 1, 86_400_000 - 20_000);
    assert_eq!(test(&planning(1), &day_later, Some(&seen)), Takeover::NotYet { remaining_ms: 40_000 });
    let lapsed = test(&planning(1), &elsewhere(86_440_000), Some(&seen));
    assert_eq!(reason(lapsed), Some(TakeoverReason::LeaseLapsed));
}

#[test_case("another boot", 2, 0; "of another record")]
#[test_case("a third boot", 1, 0; "of another boot")]
#[test_case("another boot", 1, 200_000; "in the future")]
fn a_sighting_proves_nothing_when_it_is(boot: &str, record: u16, monotonic_ms: u64) {
    let now = observer("another boot", at(100_000));
    let sighting = sighting(boot, record, monotonic_ms);
    assert_eq!(test(&planning(1), &now, Some(&sighting)), Takeover::NotYet { remaining_ms: LEASE_MS });
}

#[test]
fn a_journal_that_proves_the_executor_gone_permits_a_takeover_at_once_and_on_any_boot() {
    for boot in [BOOT, "another boot"] {
        let now = observer(boot, at(1));
        let takeover = lease::takeover(&planning(1), record_id(1), &now, None, ExecutorState::Gone);
        assert_eq!(reason(takeover), Some(TakeoverReason::ExecutorGone));
    }
}

#[test]
fn a_finished_record_has_nothing_to_take_over() {
    let finished = transition::settle(&claimed(1), &fence(1), Vec::new(), super::sample::failed(), pen(3, 200))
        .expect("its owner settles");
    for executor in [ExecutorState::Gone, ExecutorState::Unknown] {
        let now = observer(BOOT, at(86_400_000));
        assert_eq!(lease::takeover(&finished, record_id(1), &now, None, executor), Takeover::Finished);
    }
}

// Version 1: acquired, renewed, expires, now; milliseconds after the epoch.
#[test_case(0, None, 8 * HOUR_MS, 59_999 => Some(1); "not renewed, hours long: just before a minute")]
#[test_case(0, None, 8 * HOUR_MS, 60_000 => None; "not renewed, hours long: after a minute")]
#[test_case(0, Some(300_000), 8 * HOUR_MS, 330_000 => Some(30_000); "renewed: a minute after that, before")]
#[test_case(0, Some(300_000), 8 * HOUR_MS, 360_000 => None; "renewed: a minute after that")]
#[test_case(0, None, 15_000, 10_000 => Some(5_000); "an expiry nearer than a lease counts, before")]
#[test_case(0, None, 15_000, 15_000 => None; "an expiry nearer than a lease counts")]
#[test_case(0, Some(10_000), 5_000, 10_000 => None; "an expiry before the renewal counts")]
#[test_case(900_000, None, 8 * HOUR_MS, 0 => Some(60_000); "acquired in the future: observation")]
#[test_case(0, Some(900_000), 8 * HOUR_MS, 100_000 => Some(60_000); "renewed in the future: observation")]
fn version_1_lapses_on_the_wall_clock(acquired: i64, renewed: Option<i64>, expires: i64, now: u64) -> Option<u64> {
    let record = version_1(acquired, renewed, expires);
    // Neither the boot nor the monotonic clock takes part.
    let wall = Timestamp::from_millis(EPOCH_MS + now as i64);
    match test(&record, &observer(BOOT, Reading { wall, monotonic_ms: 7_000_000 }), None) {
        Takeover::NotYet { remaining_ms } => Some(remaining_ms),
        Takeover::Permitted(_) => None,
        Takeover::Finished => panic!("it is unfinished"),
    }
}

#[test]
fn version_1_with_instants_in_the_future_is_observed_for_a_lease() {
    let record = version_1(900_000, None, 8 * HOUR_MS);
    let now = observer(BOOT, at(100_000));
    assert_eq!(reason(test(&record, &now, Some(&sighting(BOOT, 1, 40_000)))), Some(TakeoverReason::LeaseLapsed));
}

#[test]
fn the_reported_expiry_is_clamped_to_a_lease() {
    let shown = |record: &Record| record.state.claim().map(|claim| claim.lease.expiry_for_report());
    assert_eq!(shown(&version_1(0, None, 8 * HOUR_MS)), Some(at(60_000).wall));
    assert_eq!(shown(&version_1(0, Some(30_000), 8 * HOUR_MS)), Some(at(90_000).wall));
    assert_eq!(shown(&version_1(0, None, 15_000)), Some(at(15_000).wall));
    assert_eq!(shown(&planning(1)), Some(at(60_000).wall));
}

#[test]
fn a_permit_is_for_the_very_record_that_was_tested() {
    let Takeover::Permitted(permit) = test(&claimed(1), &observer(BOOT, at(60_000)), None) else {
        panic!("the lease has lapsed");
    };
    let renewed = transition::renew(&claimed(1), &fence(1), pen(3, 60_000)).expect("renews");
    let retire = |record: &Record| transition::retire(record, permit, super::sample::retiring(), pen(4, 60_001));
    assert_eq!(retire(&renewed), Err(transition::Refusal::NotPermitted));
    assert!(retire(&claimed(1)).is_ok());
}

proptest! {
    #[test]
    fn ownership_asks_no_clock(renewed_ms in any::<u32>(), other in any::<u128>()) {
        let renewed = transition::renew(&claimed(1), &fence(1), pen(3, u64::from(renewed_ms))).expect("renews");
        prop_assert!(fence(1).owns(&renewed));
        prop_assert!(!fence(2).owns(&renewed));
        let mut stranger = fence(1);
        stranger.token.0 = uuid::Uuid::from_u128(other);
        prop_assert_eq!(stranger.owns(&renewed), stranger == fence(1));
    }

    #[test]
    fn a_takeover_once_permitted_stays_permitted_until_the_record_changes(
        renewed_ms in 0u64..1_000_000, first in 0u64..1_000_000, later in 0u64..1_000_000, same_boot in any::<bool>(),
        seen_ms in proptest::option::of(0u64..1_000_000),
    ) {
        let record = transition::renew(&claimed(1), &fence(1), pen(3, renewed_ms)).expect("renews");
        let boot = if same_boot { BOOT } else { "another boot" };
        let seen = seen_ms.map(|ms| sighting(boot, 1, ms));
        // A reading in the future leaves the decision to observation until it is reached; from then on it is compared.
        prop_assume!(!same_boot || first >= renewed_ms);
        let permitted = |now_ms| reason(test(&record, &observer(boot, at(now_ms)), seen.as_ref())).is_some();
        if permitted(first) {
            prop_assert!(permitted(first + later));
        }
    }

    #[test]
    fn an_owner_that_renews_in_time_is_never_taken_over_by_the_clock(
        renewed_ms in 0u64..1_000_000, since_ms in 0..LEASE_MS, seen_ms in proptest::option::of(0u64..1_000_000),
        wall in any::<i32>(),
    ) {
        let record = transition::renew(&claimed(1), &fence(1), pen(3, renewed_ms)).expect("renews");
        let now = Reading { wall: Timestamp::from_millis(i64::from(wall) * 1000), monotonic_ms: renewed_ms + since_ms };
        let seen = seen_ms.map(|ms| sighting(BOOT, 1, ms));
        prop_assert_eq!(
            test(&record, &observer(BOOT, now), seen.as_ref()),
            Takeover::NotYet { remaining_ms: LEASE_MS - since_ms }
        );
    }
}
