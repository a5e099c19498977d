use super::*;

fn decimal(text: &str) -> Decimal {
    text.parse().expect("a decimal")
}

fn rate(metric: &str, per: &str, scale: Option<&str>) -> String {
    reading(&decimal(metric), Some(&decimal(per)), scale.map(decimal).as_ref()).expect("a rate").value
}

#[test]
fn without_a_denominator_the_printed_text_is_the_value() {
    let reading = reading(&decimal("0.10"), None, None).expect("a reading");
    assert_eq!((reading.value.as_str(), reading.metric.as_str(), reading.per), ("0.10", "0.10", None));
}

#[test]
fn a_rate_is_shown_with_six_places_or_six_digits() {
    assert_eq!(rate("1", "3", None), "0.333333");
    assert_eq!(rate("8", "4000", Some("1000")), "2");
    assert_eq!(rate("1", "3000000", None), "0.000000333333");
    assert_eq!(rate("2000000", "3", None), "666666.666667");
}

#[test]
fn an_empty_denominator_is_an_error_and_not_zero() {
    assert_eq!(reading(&decimal("5"), Some(&decimal("0")), None), Err(NoRate::Empty));
    assert_eq!(reading(&decimal("0"), Some(&decimal("0.00")), None), Err(NoRate::Empty));
    assert_eq!(reading(&decimal("5"), Some(&decimal("-1")), None), Err(NoRate::Negative(decimal("-1"))));
}

#[test]
fn a_rate_that_no_receipt_could_hold_is_an_error() {
    assert!(matches!(reading(&decimal("1e400"), Some(&decimal("1e-400")), None), Err(NoRate::TooLarge(_))));
}
