//! x

mod configuration;
