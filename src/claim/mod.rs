//! Who owns a candidate: the claim protocol on one page.
//!
//! An attempt is one record at one ref, and the record is the only authority (C1). Its states:
//!
//! ```text
//!            reserve          bind                settle (owner) · retire (any other run)
//! (absent) ─────────▶ planning ─────▶ claimed ─────────────────────────▶ finished
//!  finished ───┘         │               ↺ renew · publish                passed | failed | cancelled
//!                        └───────────── settle · retire ───────────────▶
//! ```
//!
//! Each arrow is one compare-and-swap that names the value it replaces; one that loses the comparison has not happened (C2).
//! Renew, publish, settle and retire race on the one ref, so exactly one lands first and the others see it (C23).
//!
//! What never happens: a finished record reopens; a lease that lapsed ends a claim (C10); a clock, a lock or a file ends,
//! extends or transfers one; a Proof exists for an attempt that was not settled as passed by its owner; a retired attempt
//! publishes anything.
//!
//! - [`record`]: what the ref holds; `wire`: how it is spelled.
//! - [`lease`]: all arithmetic on time, the ownership test (C5) and the takeover test (C12).
//! - [`transition`]: reserve, bind, renew, publish, settle, retire: record in, record or refusal out.
//! - [`owner`]: a running owner's state machine, `step(state, input) → effects`.
//! - [`invariant`]: what must always be true, as code.

pub mod invariant;
pub mod lease;
pub mod owner;
pub mod record;
pub mod transition;
mod wire;

pub use record::Record;
pub use wire::NotARecord;

use crate::id::CommitId;

impl Record {
    /// The bytes to store, in the newest format version.
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(self)
    }

    /// The record in `bytes`, which were found at `candidate`'s ref.
    ///
    /// # Errors
    /// A newer format version, damage, or a record of another candidate (C27).
    pub fn decode(bytes: &[u8], candidate: &CommitId) -> Result<Self, NotARecord> {
        wire::decode(bytes, candidate)
    }
}
