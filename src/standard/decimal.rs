//! Decimal numbers as people write them, exact.
//!
//! A measured number and its limit are compared digit by digit, never through binary fractions: `0.1`, `.1` and `1e-1` are
//! one number, `0.1000000000000000055` is another, and nothing is rounded in a verdict.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The most digits of a number, without leading and trailing zeros.
pub const DIGITS_MAX: usize = 64;
/// The largest power of ten, up or down, that a number may be written with.
pub const EXPONENT_MAX: i32 = 400;
/// The longest text that is looked at, in bytes.
pub const TEXT_BYTES_MAX: usize = 512;

/// A finite decimal number, with the text that it was read from.
///
/// Equality and order are those of the number; `Display` is the text.
#[derive(Debug, Clone)]
pub struct Decimal {
    text: String,
    number: Number,
}

/// Sign, digits and power of ten: `digits` × 10^`exponent`, the digits without leading and trailing zeros; zero has none.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Number {
    negative: bool,
    /// 0 to 9 each, the most significant first.
    digits: Vec<u8>,
    exponent: i32,
}

/// Text that is no finite decimal number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotADecimal {
    /// There is no text.
    #[error("there is no number")]
    Empty,
    /// `nan`.
    #[error("it is not a number (NaN)")]
    NotANumber,
    /// `inf`, `infinity`.
    #[error("it is infinite")]
    Infinite,
    /// A comma.
    #[error("it has a comma; the decimal sign is a point, and thousands are not separated")]
    Comma,
    /// `0x…`, `0o…`, `0b…`.
    #[error("it is not written in base ten")]
    Base,
    /// More than [`DIGITS_MAX`] digits, or an exponent beyond [`EXPONENT_MAX`].
    #[error("it is beyond {DIGITS_MAX} digits or a power of ten of {EXPONENT_MAX}")]
    TooLarge,
    /// Anything else.
    #[error("it is not a decimal number")]
    Malformed,
}

impl FromStr for Decimal {
    type Err = NotADecimal;

    /// `[+-]digits[.digits][e[+-]digits]`; the digits before or behind the point may be left out, not both.
    fn from_str(text: &str) -> Result<Self, NotADecimal> {
        Number::parse(text).map(|number| Self { text: text.to_owned(), number })
    }
}

impl Decimal {
    /// A number as TOML writes it, where `_` may stand between digits. The text is kept as it is.
    pub fn from_toml(literal: &str) -> Result<Self, NotADecimal> {
        let bytes = literal.as_bytes();
        let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
        let between_digits = |(at, _): (usize, &str)| is_digit(at.checked_sub(1)) && is_digit(at.checked_add(1));
        if !literal.match_indices('_').all(between_digits) {
            return Err(NotADecimal::Malformed);
        }
        Ok(Self { text: literal.to_owned(), number: Number::parse(&literal.replace('_', ""))? })
    }

    /// The text that it was read from.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text without the `_` that TOML allows between digits, so that anything can read it.
    pub fn plain(&self) -> String {
        self.text.replace('_', "")
    }

    /// Whether it is 0, however it is written.
    pub fn is_zero(&self) -> bool {
        self.number.digits.is_empty()
    }

    /// Whether it is greater than 0.
    pub fn is_positive(&self) -> bool {
        !self.is_zero() && !self.number.negative
    }

    /// How many digits behind the point the number needs (not its text: `1.50` needs one).
    pub fn places(&self) -> u32 {
        self.number.exponent.min(0).unsigned_abs()
    }

    /// The power of ten just above its first digit: 1 for `5`, 0 for `0.5`, and 0 for zero.
    pub fn magnitude(&self) -> i32 {
        self.number.magnitude().unwrap_or(0)
    }

    /// The exact sum.
    pub fn plus(&self, other: &Self) -> Self {
        self.number.plus(&other.number).into()
    }

    /// The exact difference.
    pub fn minus(&self, other: &Self) -> Self {
        self.number.plus(&other.number.negated()).into()
    }

    /// The exact product.
    pub fn times(&self, other: &Self) -> Self {
        self.number.times(&other.number).into()
    }

    /// The quotient with `places` digits behind the point, rounded as `rounding` says; nothing if `divisor` is 0.
    pub fn divided_by(&self, divisor: &Self, places: u32, rounding: Rounding) -> Option<Self> {
        self.number.divided_by(&divisor.number, places, rounding).map(Self::from)
    }
}

/// Which neighbour a number is rounded to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// The next smaller.
    Down,
    /// The next greater.
    Up,
    /// The nearer one; away from zero where both are equally near.
    Nearest,
}

impl Number {
    /// `digits` × 10^`exponent` without needless zeros.
    fn new(negative: bool, digits: Vec<u8>, exponent: i32) -> Self {
        let mut digits = digits;
        let mut exponent = exponent;
        while digits.last() == Some(&0) {
            digits.pop();
            exponent += 1;
        }
        let leading = digits.iter().take_while(|&&digit| digit == 0).count();
        digits.drain(..leading);
        if digits.is_empty() {
            return Self { negative: false, digits, exponent: 0 };
        }
        Self { negative, digits, exponent }
    }

    fn parse(text: &str) -> Result<Self, NotADecimal> {
        if text.is_empty() {
            return Err(NotADecimal::Empty);
        }
        if text.len() > TEXT_BYTES_MAX {
            return Err(NotADecimal::TooLarge);
        }
        let malformed = || NotADecimal::of(text);
        let (negative, unsigned) = match text.as_bytes()[0] {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            None => (unsigned, 0),
            Some(at) => (&unsigned[..at], parse_exponent(&unsigned[at + 1..]).ok_or_else(malformed)?),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let only_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !only_digits(whole) || !only_digits(fraction) {
            return Err(malformed());
        }
        let digits = whole.bytes().chain(fraction.bytes()).map(|byte| byte - b'0').collect();
        // `fraction` is at most TEXT_BYTES_MAX long and the exponent was capped, so this can't overflow.
        let number = Self::new(negative, digits, exponent - fraction.len() as i32);
        if number.digits.len() > DIGITS_MAX || exponent.abs() > EXPONENT_MAX {
            return Err(NotADecimal::TooLarge);
        }
        Ok(number)
    }

    fn negated(&self) -> Self {
        Self { negative: !self.negative && !self.digits.is_empty(), ..self.clone() }
    }

    /// The digits as if the exponent were `exponent`, which is at most its own.
    fn digits_at(&self, exponent: i32) -> Cow<'_, [u8]> {
        let zeros = usize::try_from(self.exponent - exponent).unwrap_or(0);
        if zeros == 0 || self.digits.is_empty() {
            return Cow::Borrowed(&self.digits);
        }
        let mut digits = self.digits.clone();
        digits.resize(digits.len() + zeros, 0);
        Cow::Owned(digits)
    }

    fn plus(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let (one, two) = (self.digits_at(exponent), other.digits_at(exponent));
        if self.negative == other.negative {
            return Self::new(self.negative, sum(&one, &two), exponent);
        }
        match compare(&one, &two) {
            Ordering::Less => Self::new(other.negative, difference(&two, &one), exponent),
            _ => Self::new(self.negative, difference(&one, &two), exponent),
        }
    }

    fn times(&self, other: &Self) -> Self {
        let mut product = vec![0_u32; self.digits.len() + other.digits.len()];
        for (i, &one) in self.digits.iter().rev().enumerate() {
            for (j, &two) in other.digits.iter().rev().enumerate() {
                product[i + j] += u32::from(one) * u32::from(two);
            }
        }
        let mut carry = 0;
        let mut digits: Vec<u8> = Vec::with_capacity(product.len());
        for place in product {
            let total = place + carry;
            digits.push((total % 10) as u8);
            carry = total / 10;
        }
        digits.reverse();
        Self::new(self.negative != other.negative, digits, self.exponent + other.exponent)
    }

    fn divided_by(&self, divisor: &Self, places: u32, rounding: Rounding) -> Option<Self> {
        if divisor.digits.is_empty() {
            return None;
        }
        // quotient × 10^places = digits × 10^shift / divisor's digits, in whole numbers.
        let shift = self.exponent - divisor.exponent + i32::try_from(places).ok()?;
        let zeros = |count: i32| vec![0; usize::try_from(count).unwrap_or(0)];
        let dividend = [self.digits.as_slice(), &zeros(shift)].concat();
        let divisor_digits = [divisor.digits.as_slice(), &zeros(-shift)].concat();
        let (mut quotient, rest) = quotient(&dividend, &divisor_digits);
        let negative = self.negative != divisor.negative;
        let away_from_zero = match rounding {
            Rounding::Down => negative && !rest.is_empty(),
            Rounding::Up => !negative && !rest.is_empty(),
            Rounding::Nearest => compare(&sum(&rest, &rest), trimmed(&divisor_digits)) != Ordering::Less,
        };
        if away_from_zero {
            quotient = sum(&quotient, &[1]);
        }
        Some(Self::new(negative, quotient, -i32::try_from(places).ok()?))
    }

    /// The power of ten just above its first digit, if it is not zero.
    fn magnitude(&self) -> Option<i32> {
        (!self.digits.is_empty()).then(|| self.exponent + self.digits.len() as i32)
    }

    fn compare(&self, other: &Self) -> Ordering {
        // Zero has sign "positive" and no magnitude, and `None` is less than any magnitude.
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (negative, _) => {
                // Without trailing zeros, the digits of equally great numbers compare like words.
                let absolute = self.magnitude().cmp(&other.magnitude()).then_with(|| self.digits.cmp(&other.digits));
                if negative { absolute.reverse() } else { absolute }
            }
        }
    }
}

/// Reads an exponent; one that no [`Decimal`] may have is capped, so that sums with it can't overflow.
fn parse_exponent(text: &str) -> Option<i32> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let capped = unsigned.parse::<i32>().unwrap_or(i32::MAX).min(4 * EXPONENT_MAX);
    Some(if text.starts_with('-') { -capped } else { capped })
}

impl NotADecimal {
    /// What is wrong with `text`, which is no decimal.
    fn of(text: &str) -> Self {
        let lower = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
        match lower.as_str() {
            "" => Self::Empty,
            "nan" => Self::NotANumber,
            "inf" | "infinity" => Self::Infinite,
            _ if lower.starts_with("nan(") => Self::NotANumber,
            _ if ["0x", "0o", "0b"].iter().any(|prefix| lower.starts_with(prefix)) => Self::Base,
            _ if lower.contains(',') => Self::Comma,
            _ => Self::Malformed,
        }
    }
}

/// `digits` without leading zeros.
fn trimmed(digits: &[u8]) -> &[u8] {
    &digits[digits.iter().take_while(|&&digit| digit == 0).count()..]
}

/// Compares two whole numbers.
fn compare(one: &[u8], two: &[u8]) -> Ordering {
    let (one, two) = (trimmed(one), trimmed(two));
    one.len().cmp(&two.len()).then_with(|| one.cmp(two))
}

/// The sum of two whole numbers.
fn sum(one: &[u8], two: &[u8]) -> Vec<u8> {
    let mut digits = Vec::with_capacity(one.len().max(two.len()) + 1);
    let (mut one, mut two) = (one.iter().rev(), two.iter().rev());
    let mut carry = 0;
    loop {
        let (a, b) = (one.next(), two.next());
        if a.is_none() && b.is_none() {
            break;
        }
        let total = a.unwrap_or(&0) + b.unwrap_or(&0) + carry;
        digits.push(total % 10);
        carry = total / 10;
    }
    digits.push(carry);
    digits.reverse();
    digits
}

/// `one` - `two`, which is not the greater of these whole numbers.
fn difference(one: &[u8], two: &[u8]) -> Vec<u8> {
    let mut digits = one.to_vec();
    let mut borrow = 0;
    let mut two = two.iter().rev();
    for digit in digits.iter_mut().rev() {
        let taken = two.next().unwrap_or(&0) + borrow;
        borrow = u8::from(*digit < taken);
        *digit = *digit + 10 * borrow - taken;
    }
    digits
}

/// Quotient and remainder of two whole numbers, the second not zero; the remainder without leading zeros.
fn quotient(dividend: &[u8], divisor: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut quotient = Vec::with_capacity(dividend.len());
    let mut rest: Vec<u8> = Vec::new();
    for &digit in dividend {
        rest.push(digit);
        let mut times = 0;
        while compare(&rest, divisor) != Ordering::Less {
            rest = difference(trimmed(&rest), trimmed(divisor));
            times += 1;
        }
        rest = trimmed(&rest).to_vec();
        quotient.push(times);
    }
    (quotient, rest)
}

impl From<Number> for Decimal {
    fn from(number: Number) -> Self {
        Self { text: number.to_string(), number }
    }
}

impl fmt::Display for Number {
    /// Plain notation; beyond forty zeros, a power of ten.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const ZEROS_MAX: i32 = 40;
        let digits: String = self.digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        let sign = if self.negative { "-" } else { "" };
        let point = digits.len() as i32 + self.exponent;
        match self.exponent {
            _ if digits.is_empty() => f.write_str("0"),
            exponent if exponent > ZEROS_MAX || point < -ZEROS_MAX => write!(f, "{sign}{digits}e{exponent}"),
            exponent if exponent >= 0 => write!(f, "{sign}{digits}{}", "0".repeat(exponent as usize)),
            _ if point > 0 => {
                let (whole, fraction) = digits.split_at(point as usize);
                write!(f, "{sign}{whole}.{fraction}")
            }
            _ => write!(f, "{sign}0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl From<u64> for Decimal {
    fn from(count: u64) -> Self {
        let text = count.to_string();
        let number = Number::new(false, text.bytes().map(|byte| byte - b'0').collect(), 0);
        Self { text, number }
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        self.number.compare(&other.number)
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::id::from_text(deserializer)
    }
}

impl JsonSchema for Decimal {
    fn schema_name() -> Cow<'static, str> {
        "Decimal".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
#[path = "decimal_tests.rs"]
mod tests;
