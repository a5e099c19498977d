//! The integration tests, one binary: the commands as people use them, on real repositories with real processes.

mod cases;
mod ci;
mod claim;
#[cfg(feature = "test-hooks")]
mod clocks;
mod command_line;
mod commands;
mod completions;
mod configuration;
mod damage;
mod docs;
mod durable_steps;
mod errors;
mod hook;
mod init;
mod isolated;
mod layout;
mod ledger;
#[cfg(feature = "test-hooks")]
mod leftover_locks;
mod log;
mod model;
mod push;
mod renewals;
mod repository;
#[cfg(feature = "test-hooks")]
mod retirement;
mod runner;
mod runs;
mod schema;
mod sim;
mod soundness;
mod standards;
mod store;
mod support;
mod terminal;
mod transports;
mod verify;
