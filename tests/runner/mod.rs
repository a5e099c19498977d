//! Jobs under real supervisors: how they end, what they leave, what they print, and what happens when somebody dies.

#[expect(clippy::unwrap_used, reason = "tests")]
mod death;
mod ending;
mod output;
#[expect(clippy::unwrap_used, reason = "tests")]
mod stage;
mod surroundings;

pub(crate) use stage::{actor_binary, now_ms, state_of};
