//! What went wrong for people with other tools, each under the number that it has in our collection of such reports. The
//! faults were found in public issue trackers; what a case must do here is the name of its test.

mod cache;
mod configuration;
mod hooks_variables;
mod machine;
mod tree;
