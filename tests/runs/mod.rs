//! Whole runs with real jobs that behave badly: `git discern done` as a process, and everything that can happen to it.

mod interrupts;
mod output;
mod scene;
mod scheduling;
mod surroundings;
mod time;
mod tree;
