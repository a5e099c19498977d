//! The claim protocol's pure layer, through its public face: lease, transitions, format, owner.

mod lease;
mod owner;
pub(crate) mod sample;
mod transition;
mod wire;
