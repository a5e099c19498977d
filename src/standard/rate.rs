//! From a metric to a reading: the metric itself, or the metric divided by something.

use super::decimal::{Decimal, NotADecimal, Rounding};
use crate::evidence::Reading;

/// The digits behind the point that a rate is shown with, at least; a small one has as many significant digits.
const PLACES: u32 = 6;

/// Why a metric has no rate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoRate {
    /// What the metric is divided by is 0.
    #[error("there is nothing to divide by: the denominator is 0")]
    Empty,
    /// What the metric is divided by is below 0.
    #[error("the denominator is `{0}`, and must be above 0")]
    Negative(Decimal),
    /// The result has more digits than any reading.
    #[error("the rate can't be written down: {0}")]
    TooLarge(NotADecimal),
}

/// The reading for `metric`, divided by `per` and multiplied with `scale`.
///
/// Without `per` the value is exact, and without `scale` it is the text that was printed. A rate's value is rounded for
/// people to six digits behind the point; verdicts are computed from metric, denominator and scale.
pub fn reading(metric: &Decimal, per: Option<&Decimal>, scale: Option<&Decimal>) -> Result<Reading, NoRate> {
    let scaled = scale.map_or_else(|| metric.clone(), |scale| metric.times(scale));
    let value = match per {
        None => scaled,
        Some(per) if per.is_zero() => return Err(NoRate::Empty),
        Some(per) if !per.is_positive() => return Err(NoRate::Negative(per.clone())),
        Some(per) => quotient(&scaled, per),
    };
    value.as_str().parse::<Decimal>().map_err(NoRate::TooLarge)?;
    Ok(Reading { value: value.to_string(), metric: metric.to_string(), per: per.map(ToString::to_string) })
}

/// `dividend` / `divisor`, which is not 0, to the nearest sixth digit behind the point or, where the quotient is small, to its
/// sixth significant one.
pub fn quotient(dividend: &Decimal, divisor: &Decimal) -> Decimal {
    let smallness = divisor.magnitude() - dividend.magnitude();
    let places = PLACES + u32::try_from(smallness).unwrap_or(0);
    dividend.divided_by(divisor, places, Rounding::Nearest).unwrap_or_else(|| dividend.clone())
}

#[cfg(test)]
#[path = "rate_tests.rs"]
mod tests;
