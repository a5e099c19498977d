//! The user's repository as we see it, compared with what git says.

#![expect(clippy::unwrap_used, reason = "tests")]

mod cleanliness;
mod discovery;
mod objects;
mod trees;
