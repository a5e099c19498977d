//! The real loop (`engine::run`) and the real recovery over an in-memory store and fake clocks, seeded, with faults at every
//! seam; and a checker that accepts a history only if there is one legal order of it.
//!
//! `cargo xtask sim` goes on for as long as it is told; the ordinary suite tries a few hundred seeds. A failure prints the line
//! that repeats it.

mod actor;
mod check;
mod machine;
mod schedule;
mod world;

use world::{Setting, World};

/// What all seeds together met; a simulation in which nothing happens shows nothing.
#[derive(Debug, Default, Clone, Copy)]
struct Met {
    seeds: u64,
    proven: u64,
    failed: u64,
    interrupted: u64,
    retired: u64,
    pending: u64,
    unsettled: u64,
    not_reserved: u64,
    killed: u64,
    late: u64,
    faults: u64,
    swaps: u64,
}

impl Met {
    fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.seeds, other.seeds),
            (&mut self.proven, other.proven),
            (&mut self.failed, other.failed),
            (&mut self.interrupted, other.interrupted),
            (&mut self.retired, other.retired),
            (&mut self.pending, other.pending),
            (&mut self.unsettled, other.unsettled),
            (&mut self.not_reserved, other.not_reserved),
            (&mut self.killed, other.killed),
            (&mut self.late, other.late),
            (&mut self.faults, other.faults),
            (&mut self.swaps, other.swaps),
        ];
        for (sum, more) in pairs {
            *sum += more;
        }
    }
}

/// Runs one seed; what went wrong, if anything did.
fn simulate(seed: u64) -> Result<Met, String> {
    simulate_in(&Setting::of(seed))
}

fn simulate_in(setting: &Setting) -> Result<Met, String> {
    let world = World::run(setting);
    let met = world.met();
    if let Some(wrong) = world.wrong() {
        return Err(wrong);
    }
    check::legal(&world.operations())?;
    Ok(met)
}

/// Runs `seeds` one after another, while `more` says so.
fn simulate_all(first: u64, mut more: impl FnMut(u64) -> bool) -> Met {
    let mut met = Met::default();
    for seed in first.. {
        if !more(met.seeds) {
            break;
        }
        match simulate(seed) {
            Ok(one) => met.add(&one),
            Err(wrong) => panic!("seed {seed}: {wrong}\nrepeat it: cargo xtask sim --seed {seed} --seeds 1"),
        }
    }
    met
}

#[test]
fn a_store_that_does_not_compare_is_found_out() {
    let found_out = |seed: &u64| simulate_in(&Setting { blind: true, ..Setting::of(*seed) }).is_err();
    assert!((1..100).any(|seed| found_out(&seed)));
}

#[test]
fn three_hundred_seeds_keep_every_promise() {
    let met = simulate_all(1, |seeds| seeds < 300);
    println!("sim: {met:?}");
    let often = [met.proven, met.failed, met.retired, met.pending, met.killed, met.late, met.interrupted];
    assert!(often.iter().all(|&times| times > 0), "something never happened: {met:?}");
}

/// `DISCERN_SIM_SEED` is the first seed; `DISCERN_SIM_SEEDS` and `DISCERN_SIM_SECONDS` say how many, or for how long.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "xtask says how long through the environment, and real seconds are meant"
)]
fn for_as_long_as_it_is_told() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("DISCERN_SIM_SEED").unwrap_or(1);
    let seeds = number("DISCERN_SIM_SEEDS").unwrap_or(10);
    let seconds = number("DISCERN_SIM_SECONDS").unwrap_or(u64::MAX);
    let began = std::time::Instant::now();
    let met = simulate_all(first, |done| done < seeds && began.elapsed().as_secs() < seconds);
    println!("sim: {met:?} in {:.1} s, from seed {first}", began.elapsed().as_secs_f64());
}
