use std::cmp::Ordering;

use proptest::prelude::*;
use test_case::test_case;

use super::*;

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap_or_else(|why| panic!("{text}: {why}"))
}

#[test]
fn numbers_are_equal_however_they_are_written() {
    for text in ["0.1", "0.10", ".1", "1e-1", "+0.1", "00.1", "10E-2", "0.001e+2", "1.e-1"] {
        assert_eq!(decimal(text), decimal("0.1"), "{text}");
        assert_eq!(decimal(text).to_string(), text, "the text is kept");
    }
    assert_eq!(decimal("-0"), decimal("0e400"));
}

#[test]
fn a_difference_far_behind_the_point_counts() {
    // The two are one number as binary fractions (B088).
    assert!(decimal("0.1000000000000000055") > decimal("0.1"));
    assert!(decimal("-0.1000000000000000055") < decimal("-0.1"));
    assert!(decimal("1e400") > decimal("9.99e399"));
    assert!(decimal("1e-400") > decimal("0"));
}

#[test_case("", NotADecimal::Empty)]
#[test_case("-", NotADecimal::Empty)]
#[test_case("NaN", NotADecimal::NotANumber)]
#[test_case("-nan", NotADecimal::NotANumber)]
#[test_case("inf", NotADecimal::Infinite)]
#[test_case("-Infinity", NotADecimal::Infinite)]
#[test_case("83,2", NotADecimal::Comma)]
#[test_case("1,000.5", NotADecimal::Comma)]
#[test_case("0x1F", NotADecimal::Base)]
#[test_case("0b1", NotADecimal::Base)]
#[test_case(".", NotADecimal::Malformed)]
#[test_case("e5", NotADecimal::Malformed)]
#[test_case("1e", NotADecimal::Malformed)]
#[test_case("1e+", NotADecimal::Malformed)]
#[test_case("1e1.5", NotADecimal::Malformed)]
#[test_case("1.2.3", NotADecimal::Malformed)]
#[test_case("--1", NotADecimal::Malformed)]
#[test_case("1 2", NotADecimal::Malformed)]
#[test_case("83.2%", NotADecimal::Malformed)]
#[test_case("1_000", NotADecimal::Malformed)]
#[test_case("٣", NotADecimal::Malformed)]
#[test_case("1e401", NotADecimal::TooLarge)]
#[test_case("1e-401", NotADecimal::TooLarge)]
#[test_case("1e99999999999999999999", NotADecimal::TooLarge)]
fn what_is_no_finite_decimal_is_refused_by_name(text: &str, why: NotADecimal) {
    assert_eq!(text.parse::<Decimal>().unwrap_err(), why);
}

#[test]
fn sixty_four_digits_are_taken_and_one_more_is_not() {
    assert!("1234567890".repeat(7)[..64].parse::<Decimal>().is_ok());
    assert_eq!("1234567890".repeat(7)[..65].parse::<Decimal>().unwrap_err(), NotADecimal::TooLarge);
    assert!(format!("{}1.5{}", "0".repeat(100), "0".repeat(100)).parse::<Decimal>().is_ok(), "zeros are no digits");
    assert_eq!("0".repeat(TEXT_BYTES_MAX + 1).parse::<Decimal>().unwrap_err(), NotADecimal::TooLarge);
}

#[test_case("83.2", "0.5", "82.7")]
#[test_case("1", "0.999", "0.001")]
#[test_case("0.1", "0.1", "0")]
#[test_case("-3", "4", "-7")]
#[test_case("1e3", "1", "999")]
#[test_case("0", "0.25", "-0.25")]
fn differences_are_exact(one: &str, two: &str, difference: &str) {
    assert_eq!(decimal(one).minus(&decimal(two)).to_string(), difference);
}

#[test_case("1", "3", 3, "0.333", "0.334", "0.333")]
#[test_case("2", "3", 3, "0.666", "0.667", "0.667")]
#[test_case("-2", "3", 3, "-0.667", "-0.666", "-0.667")]
#[test_case("1", "8", 2, "0.12", "0.13", "0.13")]
#[test_case("6", "3", 0, "2", "2", "2")]
#[test_case("1", "1000", 2, "0", "0.01", "0")]
#[test_case("1e3", "7e-2", 1, "14285.7", "14285.8", "14285.7")]
#[test_case("0", "7", 5, "0", "0", "0")]
fn quotients_are_rounded_as_asked(one: &str, two: &str, places: u32, down: &str, up: &str, nearest: &str) {
    let quotient = |rounding| decimal(one).divided_by(&decimal(two), places, rounding).map(|it| it.to_string());
    assert_eq!(quotient(Rounding::Down).as_deref(), Some(down));
    assert_eq!(quotient(Rounding::Up).as_deref(), Some(up));
    assert_eq!(quotient(Rounding::Nearest).as_deref(), Some(nearest));
}

#[test]
fn nothing_is_divided_by_zero() {
    assert!(decimal("1").divided_by(&decimal("0.00"), 3, Rounding::Nearest).is_none());
}

/// Number × 10^9 as an integer, and its text.
fn scaled() -> impl Strategy<Value = (i128, String)> {
    (any::<i64>(), 0_u32..9, any::<bool>()).prop_map(|(digits, places, as_exponent)| {
        let scaled = i128::from(digits) * 10_i128.pow(9 - places);
        let text = if as_exponent {
            format!("{digits}e-{places}")
        } else {
            let (sign, absolute) = if digits < 0 { ("-", digits.unsigned_abs()) } else { ("", digits.unsigned_abs()) };
            let unit = 10_u64.pow(places);
            let fraction = absolute % unit;
            if places == 0 {
                format!("{sign}{absolute}")
            } else {
                format!("{sign}{}.{fraction:0width$}", absolute / unit, width = places as usize)
            }
        };
        (scaled, text)
    })
}

proptest! {
    #[test]
    fn order_sum_difference_and_product_are_those_of_whole_numbers((one, a) in scaled(), (two, b) in scaled()) {
        let (a, b) = (decimal(&a), decimal(&b));
        prop_assert_eq!(a.cmp(&b), one.cmp(&two));
        prop_assert_eq!(a == b, one.cmp(&two) == Ordering::Equal);
        prop_assert_eq!(a.plus(&b), decimal(&format!("{}e-9", one + two)));
        prop_assert_eq!(a.minus(&b), decimal(&format!("{}e-9", one - two)));
        let product = a.times(&b);
        prop_assert_eq!(product.is_zero(), one == 0 || two == 0);
        if let (Ok(one), Ok(two)) = (i64::try_from(one), i64::try_from(two)) {
            prop_assert_eq!(product, decimal(&format!("{}e-18", i128::from(one) * i128::from(two))));
        }
    }

    #[test]
    fn a_rounded_quotient_is_less_than_one_step_from_the_true_one(
        (one, a) in scaled(), (two, b) in scaled(), places in 0_u32..12,
    ) {
        prop_assume!(two != 0);
        let (a, b) = (decimal(&a), decimal(&b));
        let step = decimal(&format!("1e-{places}"));
        let quotient = |rounding| a.divided_by(&b, places, rounding).ok_or_else(|| TestCaseError::fail("no quotient"));
        let (down, up) = (quotient(Rounding::Down)?, quotient(Rounding::Up)?);
        let nearest = quotient(Rounding::Nearest)?;
        // Multiplied with the divisor, so that nothing is rounded in the check; a negative divisor turns the order.
        let reach = |it: &Decimal| if two < 0 { a.minus(&it.times(&b)) } else { it.times(&b).minus(&a) };
        prop_assert!(!reach(&down).is_positive());
        prop_assert!(reach(&up).is_positive() || reach(&up).is_zero());
        prop_assert!(up == down || up.minus(&down) == step);
        prop_assert!(nearest == down || nearest == up);
        prop_assert_eq!(up == down, reach(&down).is_zero(), "{} / {}", one, two);
    }

    #[test]
    fn what_is_displayed_reads_back_equal(digits in "[0-9]{1,40}", exponent in -400_i32..=400, negative: bool) {
        let number = decimal(&format!("{}{digits}e{exponent}", if negative { "-" } else { "" }));
        let computed = number.times(&decimal("1"));
        prop_assert_eq!(&decimal_of_any_size(computed.as_str()), &number);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,20}") {
        let _ = text.parse::<Decimal>();
    }
}

/// A computed number may have an exponent beyond what is taken from outside.
fn decimal_of_any_size(text: &str) -> Decimal {
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let exponent: i32 = exponent.parse().expect("an exponent");
            let half = exponent / 2;
            decimal(&format!("{digits}e{half}")).times(&decimal(&format!("1e{}", exponent - half)))
        }
        None => decimal(text),
    }
}
