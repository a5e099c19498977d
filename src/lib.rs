//! `git discern`: this exact commit passed the project's own checks, and here is the Proof.
//!
//! A *candidate* is a commit that a run wants to prove. The run takes a *claim* on it: an attempt record, one JSON blob at
//! one ref, with a fencing token and a lease. It runs the jobs that the candidate's `discern.toml` declares, reuses each
//! verdict whose *subject* did not change, publishes a *receipt* for each verdict and settles with the *Proof*. Each of
//! these steps is one compare-and-swap of that one ref; the record is the only authority. A lapsed lease permits another
//! run to *retire* the attempt and ends nothing by itself. A retired run can publish nothing and says so.
//!
//! The modules, by layer; arrows only point downward.
//!
//! **Pure**: no IO, no clock, no git: [`id`], [`time`], [`exit`], [`claim`], [`evidence`], [`standard`], [`config`], [`plan`],
//! [`event`], [`document`].
//! **Seams**, the only IO: [`os`], [`git`], [`store`], [`ledger`], [`journal`].
//! **Engine**: [`engine`]: the owner's loop, jobs and their supervisors, recovery, retention.
//! **Edge**: [`report`], [`command`].

pub mod claim;
pub mod command;
pub mod config;
pub mod document;
pub mod engine;
pub mod event;
pub mod evidence;
pub mod exit;
pub mod git;
pub mod id;
pub mod journal;
pub mod ledger;
pub mod os;
pub mod plan;
pub mod report;
pub mod standard;
pub mod store;
pub mod time;
