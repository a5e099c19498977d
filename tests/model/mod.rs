//! The claim protocol, exhaustively: every interleaving of two places where runs of one candidate begin, end, die and begin
//! again, and of one recoverer, over a store that loses requests and answers, on clocks that go wrong, within bounds.
//!
//! `cargo xtask model` searches the whole of it, the ordinary suite a small part. A violation is printed with the shortest
//! or first way that leads to it.

mod action;
mod goal;
mod key;
mod mutation;
mod property;
mod recovery;
mod search;
mod world;

use git_discern::claim::record::Purpose;

use goal::Goals;
use mutation::Mutation;
use search::{Order, Report, search};
use world::Bounds;

/// A quiet world; each configuration says what is different.
const QUIET: Bounds = Bounds {
    name: "quiet",
    purposes: [Purpose::Done, Purpose::Done],
    runs: [1, 1],
    recoverer: true,
    other_boot: false,
    high_water: true,
    ticks: 0,
    faults: 0,
    clock_faults: 0,
    deaths: 0,
    interrupts: 0,
    removals: 0,
    mutation: None,
};

/// An owner that wakes after it was retired, absorbed and its ref removed.
const REMOVED: Bounds = Bounds { name: "removed", runs: [1, 0], ticks: 4, removals: 1, ..QUIET };

/// What the ordinary suite searches: some ten thousand states.
fn small() -> Vec<Bounds> {
    vec![
        Bounds { name: "lost", runs: [1, 0], faults: 1, ..QUIET },
        Bounds { name: "stall", runs: [1, 0], ticks: 3, ..QUIET },
        Bounds { name: "restart", runs: [2, 0], deaths: 1, removals: 1, high_water: false, ..QUIET },
        REMOVED,
    ]
}

/// What CI searches: millions of states. The largest come last, and are taken up first.
fn whole() -> Vec<Bounds> {
    let standards = [Purpose::Standards, Purpose::Done];
    vec![
        Bounds { name: "lost thrice", runs: [1, 0], faults: 3, ..QUIET },
        REMOVED,
        Bounds { name: "standards", purposes: standards, runs: [1, 1], interrupts: 1, deaths: 1, ..QUIET },
        Bounds { name: "another boot", runs: [1, 0], ticks: 5, deaths: 1, other_boot: true, ..QUIET },
        Bounds { name: "restart, lost", runs: [2, 0], ticks: 1, faults: 1, deaths: 1, ..QUIET },
        Bounds { name: "generations", purposes: standards, runs: [2, 1], removals: 1, high_water: false, ..QUIET },
        Bounds { name: "clocks, another boot", runs: [1, 0], ticks: 3, clock_faults: 1, other_boot: true, ..QUIET },
        Bounds { name: "clocks, lost", runs: [1, 0], ticks: 2, clock_faults: 1, faults: 1, ..QUIET },
        Bounds { name: "interrupt, lost", runs: [1, 0], ticks: 3, faults: 1, interrupts: 1, ..QUIET },
        Bounds { name: "clocks", runs: [1, 0], ticks: 4, clock_faults: 1, ..QUIET },
        Bounds { name: "two places, lost", runs: [1, 1], faults: 1, ..QUIET },
        Bounds { name: "store down", runs: [1, 0], ticks: 4, faults: 4, recoverer: false, ..QUIET },
        Bounds { name: "restart after a stall", runs: [2, 0], ticks: 3, deaths: 1, ..QUIET },
    ]
}

fn print(bounds: &Bounds, report: &Report) {
    println!("model: {}: {} states, {} steps", bounds.name, report.states, report.steps);
    if let Some(violation) = &report.violation {
        println!("model: {}: {}", bounds.name, violation.what);
        for action in &violation.trace {
            println!("  {action:?}");
        }
    }
}

/// Where each planted mistake shows.
fn mutated(mutation: Mutation) -> Bounds {
    let base = Bounds { mutation: Some(mutation), ..QUIET };
    match mutation {
        Mutation::LapseIsLoss | Mutation::ShortLease | Mutation::ChecksWithoutReading => {
            Bounds { runs: [1, 0], ticks: 5, ..base }
        }
        Mutation::StaleIsLoss | Mutation::IgnoresLostReply => Bounds { runs: [1, 0], faults: 1, ..base },
        Mutation::DropsUnpublishedReceipt => Bounds { runs: [1, 0], faults: 1, ticks: 1, ..base },
        Mutation::ProofBeforeSettlement | Mutation::ProofFromStandards => {
            Bounds { runs: [1, 0], purposes: [purpose_of(mutation), Purpose::Done], ..base }
        }
        Mutation::ReusesToken | Mutation::ReservesOverUnabsorbed | Mutation::EqualBytes => {
            Bounds { runs: [2, 1], ..base }
        }
        Mutation::GenerationRestarts => Bounds { runs: [2, 0], removals: 1, ..base },
        Mutation::RenewalAcrossSettlement => Bounds { runs: [1, 0], ticks: 2, ..base },
        Mutation::ReplacedIsCancelled => Bounds { ticks: 1, faults: 1, recoverer: false, ..base },
        Mutation::ComparesAcrossBoots | Mutation::KeepsStaleSighting => {
            Bounds { runs: [1, 0], ticks: 5, other_boot: true, ..base }
        }
        Mutation::RenewsFinishedRecord
        | Mutation::SettlesWithoutReading
        | Mutation::RetiresWithoutComparing
        | Mutation::GoneFromPid
        | Mutation::PublishesAfterRetirement
        | Mutation::SettlesWithoutComparing => Bounds { runs: [1, 0], ticks: 4, ..base },
    }
}

fn purpose_of(mutation: Mutation) -> Purpose {
    if mutation == Mutation::ProofFromStandards { Purpose::Standards } else { Purpose::Done }
}

/// States that CI must at least visit; fewer would mean that the model has shrunk unnoticed.
const STATES_MIN: usize = 1_000_000;

/// Whether `cargo xtask model` asks for everything.
#[expect(clippy::disallowed_methods, reason = "xtask says how much through the environment")]
fn all_of_it() -> bool {
    std::env::var_os("DISCERN_MODEL_WHOLE").is_some()
}

#[test]
fn the_model_keeps_every_property_and_reaches_every_goal() {
    let open = std::sync::Mutex::new(if all_of_it() { whole() } else { small() });
    let done = std::sync::Mutex::new((0, Goals::default()));
    let work = || {
        loop {
            let Some(bounds) = open.lock().expect("no search panicked").pop() else { return };
            let report = search(&bounds, Order::Deep, usize::MAX, 16);
            print(&bounds, &report);
            assert!(report.violation.is_none(), "{}: {:?}", bounds.name, report.violation);
            let mut done = done.lock().expect("no search panicked");
            done.0 += report.states;
            done.1.add(report.goals);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let (states, goals) = done.into_inner().expect("no search panicked");
    println!("model: {states} states in all; not reached: {:?}", goals.missing());
    if all_of_it() {
        assert!(goals.missing().is_empty(), "never reached: {:?}", goals.missing());
        assert!(states >= STATES_MIN, "{states} states are fewer than {STATES_MIN}");
    }
}

#[test]
fn every_planted_mistake_is_caught() {
    let mut missed = Vec::new();
    for mutation in Mutation::ALL {
        let bounds = mutated(mutation);
        // One mistake shows only in that its run never ends.
        let sample = if mutation == Mutation::SettlesWithoutReading { 8 } else { usize::MAX };
        let report = search(&bounds, Order::Broad, 400_000, sample);
        match &report.violation {
            Some(violation) => println!(
                "model: {mutation:?}: caught after {} states, in {} steps: {}",
                report.states,
                violation.trace.len(),
                violation.what
            ),
            None => missed.push((mutation, report.states)),
        }
        let sound = search(&Bounds { mutation: None, ..bounds }, Order::Broad, report.states, usize::MAX);
        assert!(sound.violation.is_none(), "{mutation:?} is caught without the mistake: {:?}", sound.violation);
    }
    assert!(missed.is_empty(), "not caught: {missed:?}");
}
