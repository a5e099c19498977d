//! Standards: numbers that may only improve.
//!
//! A command prints metric lines ([`metric`]); a metric, possibly divided by something, is a reading ([`rate`]); a reading
//! passes against a limit ([`limit`]); a limit is never looser than trunk's ([`ratchet`]) and is tightened where it is
//! written ([`pin`]). All numbers are exact decimals ([`decimal`]).

pub mod decimal;
pub mod limit;
pub mod metric;
pub mod pin;
pub mod ratchet;
pub mod rate;

pub use decimal::{Decimal, NotADecimal, Rounding};
pub use limit::{Direction, Judgement, Limit};
pub use metric::{Metrics, NoMetric, Scanner};
pub use ratchet::{Looser, TipIsTighter, Written};
