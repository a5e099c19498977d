use test_case::test_case;

use super::*;

fn decimal(text: &str) -> Decimal {
    text.parse().expect("a decimal")
}

fn limit(direction: Direction, own: &str, trunk: Option<&str>) -> Limit {
    Limit { direction, own: decimal(own), trunk: trunk.map(decimal), scale: None }
}

fn plain(value: &str) -> Reading {
    Reading { value: value.to_owned(), metric: value.to_owned(), per: None }
}

#[test_case(Direction::Up, "80", "80", true, "0"; "equal passes upwards")]
#[test_case(Direction::Down, "80", "80.00", true, "0"; "equal passes downwards")]
#[test_case(Direction::Up, "81.5", "83.2", true, "1.7"; "above a floor")]
#[test_case(Direction::Up, "81.5", "81.4999999999999999999", false, "-0.0000000000000000001"; "just below a floor")]
#[test_case(Direction::Down, "5", "4", true, "1"; "below a ceiling")]
#[test_case(Direction::Down, "5", "6", false, "-1"; "above a ceiling")]
fn a_reading_is_compared_with_its_limit(direction: Direction, own: &str, value: &str, passes: bool, distance: &str) {
    let judgement = limit(direction, own, None).judge(&plain(value)).expect("comparable");
    assert_eq!((judgement.passes, judgement.distance), (passes, decimal(distance)));
}

#[test]
fn the_stricter_one_of_both_limits_counts() {
    for (direction, own, trunk, counts) in [
        (Direction::Up, "80", "85", "85"),
        (Direction::Up, "90", "85", "90"),
        (Direction::Down, "50", "5", "5"),
        (Direction::Down, "3", "5", "3"),
    ] {
        assert_eq!(limit(direction, own, Some(trunk)).effective(), &decimal(counts));
    }
}

#[test]
fn a_tightened_limit_is_not_met_by_the_reading_that_passed_before() {
    let reading = plain("5");
    assert!(limit(Direction::Down, "5", None).judge(&reading).expect("comparable").passes);
    assert!(!limit(Direction::Down, "4", None).judge(&reading).expect("comparable").passes);
}

#[test]
fn a_rate_is_judged_exactly_and_not_by_its_rounded_value() {
    // 1/3 is shown as 0.333333; the limit lies between the two.
    let reading = Reading { value: "0.333333".into(), metric: "1".into(), per: Some("3".into()) };
    assert!(limit(Direction::Up, "0.3333333333", None).judge(&reading).expect("comparable").passes);
    assert!(!limit(Direction::Down, "0.333333", None).judge(&reading).expect("comparable").passes);
}

#[test]
fn the_scale_is_part_of_the_comparison() {
    let limit = Limit { scale: Some(decimal("1000")), ..limit(Direction::Down, "2", None) };
    let reading = |metric: &str| Reading { value: String::new(), metric: metric.into(), per: Some("4000".into()) };
    assert!(limit.judge(&reading("8")).expect("comparable").passes);
    assert!(!limit.judge(&reading("9")).expect("comparable").passes);
    assert_eq!(limit.judge(&reading("9")).expect("comparable").distance, decimal("-0.25"));
}

#[test]
fn a_damaged_reading_is_no_pass() {
    assert!(limit(Direction::Up, "0", None).judge(&plain("NaN")).is_err());
    let divided_by_nothing = Reading { value: "1".into(), metric: "1".into(), per: Some("0".into()) };
    assert!(limit(Direction::Up, "0", None).judge(&divided_by_nothing).is_err());
    let below_nothing = Reading { value: "1".into(), metric: "1".into(), per: Some("-1".into()) };
    assert!(limit(Direction::Up, "0", None).judge(&below_nothing).is_err());
}
