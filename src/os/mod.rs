//! The machine: clocks, randomness, processes, signals, files, the environment, the terminal.
//!
//! Everything that is not a function of its arguments is reached through here (and, for git, through `git/` and `store/`),
//! so that the layers above can be run on a fake machine.

pub mod boot;
pub mod clock;
#[cfg_attr(not(target_os = "linux"), path = "descendants_elsewhere.rs")]
pub mod descendants;
pub mod environment;
pub mod files;
pub mod hooks;
pub mod pager;
pub mod process;
pub mod program;
pub mod random;
pub mod signal;
pub mod terminal;
