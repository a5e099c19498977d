//! Instants on the wall clock, as people and records write them: RFC 3339, UTC, whole milliseconds.
//!
//! They are for people, for retention and for records of format version 1. What decides a takeover is the monotonic
//! clock (C13), which is plain milliseconds.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::{NotAnId, from_text};

/// An instant on the wall clock, in whole milliseconds since 1970, so that what is stored reads back equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The instant `millis` after the beginning of 1970, held within the years that can be written.
    pub fn from_millis(millis: i64) -> Self {
        let limits = jiff::Timestamp::MIN.as_millisecond()..=jiff::Timestamp::MAX.as_millisecond();
        Self(millis.clamp(*limits.start(), *limits.end()))
    }

    /// Milliseconds since the beginning of 1970.
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// The instant `millis` later (earlier, when negative).
    pub fn plus_millis(self, millis: i64) -> Self {
        Self::from_millis(self.0.saturating_add(millis))
    }

    /// Milliseconds from `earlier` to this instant; negative when it lies before it.
    pub fn millis_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// What the two clocks of a machine showed at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reading {
    /// The wall clock, for people and for records of format version 1. It may be set at any time.
    pub wall: Timestamp,
    /// Milliseconds on the clock that cannot be set and that stands still while the machine sleeps (C13).
    pub monotonic_ms: u64,
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instant = jiff::Timestamp::from_millisecond(self.0).map_err(|_| fmt::Error)?;
        write!(f, "{instant:.3}")
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        text.parse::<jiff::Timestamp>()
            .map(|instant| Self::from_millis(instant.as_millisecond()))
            .map_err(|_| NotAnId { text: text.to_owned(), expected: "an instant in RFC 3339" })
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(deserializer)
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_written_with_milliseconds_and_read_back_equal() {
        let instant = Timestamp::from_millis(1_764_496_500_120);
        assert_eq!(instant.to_string(), "2025-11-30T09:55:00.120Z");
        assert_eq!(instant.to_string().parse(), Ok(instant));
        assert_eq!("2025-11-30T10:55:00.12+01:00".parse(), Ok(instant));
    }
}
