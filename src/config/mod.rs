//! `discern.toml`: parsing, and saying what is wrong with it.
