//! A file that decides the verdict is changed on disk and put back at random instants while jobs run: no verdict is wrong.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::support::Bench;

/// How often the short form asks for each verdict.
const ROUNDS_SHORT: usize = 6;

/// How often the long form does.
const ROUNDS_LONG: usize = 250;

/// Small pseudo-random numbers (xorshift), the same ones each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Writes `other` into the file and `committed` back, until `stop` is dropped; ends with `committed`.
fn flip(file: &Path, committed: &str, other: &str, stop: &Receiver<()>) {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut pause = |milliseconds: u64| {
        let microseconds = dice.below(milliseconds * 1000);
        stop.recv_timeout(Duration::from_micros(microseconds)) == Err(RecvTimeoutError::Timeout)
    };
    while pause(400) {
        std::fs::write(file, other).expect("writable");
        let goes_on = pause(15);
        std::fs::write(file, committed).expect("writable");
        if !goes_on {
            break;
        }
    }
}

/// Asks `rounds` times for the verdict of a commit whose file says `committed`; the statuses.
fn statuses(committed: &'static str, arguments: &[&str], rounds: usize) -> Vec<i32> {
    let bench = Bench::new();
    bench.gate();
    bench.job("t", "sleep 0.02; test \"$(cat value)\" = good");
    bench.write("value", committed);
    bench.save("first");
    let file = bench.path().join("value");
    let other = if committed == "good" { "evil" } else { "good" };
    let (stop, stopped): (Sender<()>, _) = channel();
    let flipping = std::thread::spawn(move || flip(&file, committed, other, &stopped));
    let statuses = (0..rounds).map(|_| bench.discern(arguments).status).collect();
    drop(stop);
    flipping.join().expect("it does not panic");
    statuses
}

fn no_verdict_is_wrong(rounds: usize) {
    let in_place = ["done", "--rerun"];
    for (committed, wrong) in [("evil", 0), ("good", 1)] {
        let seen = statuses(committed, &in_place, rounds);
        assert!(seen.iter().all(|&status| status != wrong && status <= 2), "in place, {committed}: {seen:?}");
        let caught = seen.iter().filter(|&&status| status == 2).count();
        println!("in place, {committed}: {rounds} asked, {caught} refused because of a change, the others right");
        assert!(rounds < ROUNDS_LONG || (caught > 0 && caught < rounds), "in place, {committed}: {caught} of {rounds}");
    }
    // What happens in the working checkout is nothing to a kept one.
    for (committed, right) in [("evil", 1), ("good", 0)] {
        let seen = statuses(committed, &["done", "HEAD", "--rerun"], rounds);
        assert!(seen.iter().all(|&status| status == right), "isolated, {committed}: {seen:?}");
        println!("isolated, {committed}: {rounds} asked, all right");
    }
}

/// As many rounds as `cargo xtask truth` asks for, otherwise a few.
#[expect(clippy::disallowed_methods, reason = "xtask says how much through the environment")]
fn rounds() -> usize {
    if std::env::var_os("DISCERN_TRUTH_WHOLE").is_some() { ROUNDS_LONG } else { ROUNDS_SHORT }
}

#[test]
fn no_verdict_is_wrong_while_a_file_is_changed_and_put_back() {
    no_verdict_is_wrong(rounds());
}
