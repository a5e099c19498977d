//! The integration tests, one binary: the commands as people use them, on real repositories with real processes.

mod ci;
mod claim;
mod command_line;
mod commands;
mod completions;
mod configuration;
mod docs;
mod durable_steps;
mod hook;
mod init;
mod layout;
mod ledger;
mod log;
mod model;
mod push;
mod repository;
mod runner;
mod schema;
mod sim;
mod standards;
mod store;
mod support;
mod terminal;
mod transports;
mod verify;
