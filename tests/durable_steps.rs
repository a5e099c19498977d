//! How often a run waits for the disk, counted by `strace`: one durable step for each batch of receipts, and four.

#![expect(clippy::unwrap_used, reason = "tests")]

use crate::support::{Bench, Hash, Refs};

/// The syncs of one step: the object, its folder, the folder above where that is new, the ref, its folder. An absorption has
/// pack, index and their folder in place of the object's three.
const SYNCS_PER_STEP: usize = 5;

/// What a traced run did.
struct Traced {
    /// Refs of ours that git moved.
    steps: usize,
    syncs: usize,
    /// How often its journal says that receipts were recorded.
    batches: usize,
}

/// Whether this machine lets one process trace another.
fn can_trace(bench: &Bench) -> bool {
    bench.sh("strace -o /dev/null true 2> /dev/null").status == 0
}

/// Runs `done` on `HEAD` under `strace`.
fn traced(bench: &Bench) -> Traced {
    let trace = bench.path().join(".git/trace");
    let command = bench.discern_command(&["done"]);
    let program = command.get_program().to_string_lossy().into_owned();
    let trace_name = trace.to_string_lossy().into_owned();
    let words = ["-f", "-qq", "-e", "trace=fsync,fdatasync,sync,syncfs,rename,renameat,renameat2", "-o"];
    let words = [&words[..], &[&trace_name, &program, "done"]].concat();
    let _ = bench.run(bench.command("strace", &words)).exits(0);
    let calls = std::fs::read_to_string(trace).unwrap();
    let ours = |line: &&str| line.contains("rename") && line.contains("refs/discern/") && line.contains(".lock\"");
    let syncs = calls.lines().filter(|line| line.contains("sync(")).count();
    let journals = bench.sh("cat $(ls -td .git/discern/run/*/journal | head -n 1)").exits(0).stdout;
    let batches = journals.lines().filter(|line| line.contains("\"event\":\"published\"")).count();
    Traced { steps: calls.lines().filter(ours).count(), syncs, batches }
}

#[test]
fn a_run_waits_for_the_disk_once_for_each_batch_and_four_times_besides() {
    let bench = Bench::with(Refs::Files, Hash::Sha1);
    if !can_trace(&bench) {
        eprintln!("nothing was counted: `strace` is not installed, or may not trace here");
        return;
    }
    bench.gate();
    for job in ["one", "two", "three"] {
        bench.job(job, "true");
    }
    bench.save("jobs");
    // The first run also makes folders.
    let first = traced(&bench);
    assert_eq!(first.steps, first.batches + 4, "reserve, bind, settle, absorb");
    bench.write("file", "new");
    bench.save("new");
    let run = traced(&bench);
    assert!((1..=3).contains(&run.batches), "{} batches", run.batches);
    assert_eq!(run.steps, run.batches + 4, "reserve, bind, settle, absorb");
    assert!(run.syncs >= 4 * run.steps, "{} syncs do not make {} steps durable", run.syncs, run.steps);
    // One more for the file that proves the end of our git children.
    assert!(run.syncs <= SYNCS_PER_STEP * run.steps + 1, "{} syncs for {} steps", run.syncs, run.steps);
    // Nothing but the message differs: every verdict is reused.
    bench.git(&["commit", "-q", "--allow-empty", "-m", "words"]);
    let reused = traced(&bench);
    assert_eq!((reused.batches, reused.steps), (0, 4));
}
