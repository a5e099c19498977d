//! Whether a reading passes: computed from reading, direction and limit each time, never remembered, so that a tightened
//! limit is never met by an old pass.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decimal::{Decimal, NotADecimal};
use super::rate;
use crate::config;
use crate::evidence::Reading;

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Greater is better; the limit is a floor.
    Up,
    /// Smaller is better; the limit is a ceiling.
    Down,
}

impl Direction {
    /// Whether `value` is at or on the good side of `limit`.
    pub fn meets(self, value: &Decimal, limit: &Decimal) -> bool {
        match self {
            Self::Up => value >= limit,
            Self::Down => value <= limit,
        }
    }

    /// Where a value that fails stands: "below the limit".
    pub fn miss(self) -> &'static str {
        match self {
            Self::Up => "below the limit",
            Self::Down => "above the limit",
        }
    }

    /// The harder one of two limits.
    pub fn stricter<'a>(self, one: &'a Decimal, two: &'a Decimal) -> &'a Decimal {
        if self.meets(one, two) { one } else { two }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Up => "up",
            Self::Down => "down",
        })
    }
}

/// What a standard's reading must meet: the stricter one of this commit's limit and trunk's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// Which way is better.
    pub direction: Direction,
    /// The limit that the candidate writes.
    pub own: Decimal,
    /// The limit that trunk has at the merge base; `None` where trunk does not have the standard.
    pub trunk: Option<Decimal>,
    /// What a rate is multiplied with; `None` is 1.
    pub scale: Option<Decimal>,
}

/// How a reading stands against its limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Whether it meets the limit; equal does.
    pub passes: bool,
    /// How far it is on the good side of the limit; negative where it fails. A rate's is rounded as
    /// [`rate::quotient`] says, `passes` is not.
    pub distance: Decimal,
}

impl Limit {
    /// The limit of a standard; `trunk` is the same standard's at the merge base.
    pub fn of(own: &config::Standard, trunk: Option<&Decimal>) -> Self {
        Self { direction: own.direction, own: own.limit.clone(), trunk: trunk.cloned(), scale: own.scale.clone() }
    }

    /// The limit that counts.
    pub fn effective(&self) -> &Decimal {
        self.trunk.as_ref().map_or(&self.own, |trunk| self.direction.stricter(&self.own, trunk))
    }

    /// Whether `reading` passes, exactly: a rate is compared as metric × scale against limit × denominator.
    pub fn judge(&self, reading: &Reading) -> Result<Judgement, NotADecimal> {
        let metric: Decimal = reading.metric.parse()?;
        let per: Decimal = reading.per.as_deref().unwrap_or("1").parse()?;
        if !per.is_positive() {
            return Err(NotADecimal::Malformed);
        }
        let scaled = self.scale.as_ref().map_or_else(|| metric.clone(), |scale| metric.times(scale));
        let bound = self.effective().times(&per);
        let passes = self.direction.meets(&scaled, &bound);
        let gap = match self.direction {
            Direction::Up => scaled.minus(&bound),
            Direction::Down => bound.minus(&scaled),
        };
        let distance = if reading.per.is_some() { rate::quotient(&gap, &per) } else { gap };
        Ok(Judgement { passes, distance })
    }
}

#[cfg(test)]
#[path = "limit_tests.rs"]
mod tests;
