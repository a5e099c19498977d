//! The commands around a run: following it, asking about it, ending it.

mod doctor;
mod explain;
mod gc;
mod recover;
mod run;
mod show;
mod status;
mod stop;
mod wait;

use crate::support::{Bench, Place, Running, wait_for};

/// A repository whose one job, `gated`, passes when [`open`] is called, and whose job `ok` passes at once.
fn gated() -> Bench {
    let bench = Bench::new();
    bench.gate();
    bench.job("ok", "true");
    bench.job("gated", "echo begun; read line < ../gate");
    bench.save("first");
    bench.sh("mkfifo ../gate").exits(0);
    bench
}

/// Lets the job of a [`gated`] repository end.
fn open(bench: &Place) {
    bench.sh("echo >> ../gate").exits(0);
}

/// A `git discern` whose job `gated` has begun.
fn begun(place: &Place, arguments: &[&str]) -> Running {
    let mut running = place.start(arguments);
    running.wait_for_stderr("started   gated");
    running
}

/// The handle of the one run that `status` shows in `place`.
fn handle(place: &Place) -> String {
    let mut found = None;
    wait_for("a run in `status`", || {
        let document = place.discern(&["status", "--json"]).exits(0).json();
        found = document["claims"][0]["operation"].as_str().map(str::to_owned);
        found.is_some()
    });
    found.expect("it was waited for")
}
