//! What jobs print under a whole run, and what becomes of a run whose own output goes nowhere.

use std::fs::{self, File};
use std::io::Read as _;
use std::process::Stdio;

use rustix::process::Signal;
use test_case::test_case;

use super::scene::Scene;
use crate::support::{Terminal, wait_for};

#[test]
fn a_flood_and_a_line_without_end_cost_no_memory_and_arrive_whole() {
    let scene = Scene::new();
    scene.act("flood", "flood 300000000");
    scene.act("line", "one-line 100000000");
    scene.save("first");
    let mut terminal = Terminal::new(80, 24);
    let mut running = terminal.start(&scene.with_variable("TERM", "xterm"), &["done"]);
    let status = format!("/proc/{}/status", running.pid().as_raw_nonzero());
    let mut most_kib = 0;
    wait_for("its end", || {
        terminal.text();
        let text = fs::read_to_string(&status).unwrap_or_default();
        let resident =
            text.lines().find_map(|line| line.strip_prefix("RssAnon:")?.split_whitespace().next()?.parse().ok());
        most_kib = most_kib.max(resident.unwrap_or(0_u64));
        running.has_ended()
    });
    let _ = running.wait().exits(0);
    assert!((1..32 * 1024).contains(&most_kib), "{most_kib} KiB of memory of its own");
    let size = |job: &str| fs::metadata(scene.log(job).expect("a log")).expect("it is there").len();
    assert_eq!((size("flood"), size("line")), (300_000_000, 100_000_000));
    let receipts = scene.record()["receipts"].clone();
    let bytes: Vec<_> = receipts.as_array().expect("a list").iter().map(|it| it["log"]["bytes"].as_u64()).collect();
    assert!(bytes.contains(&Some(300_000_000)) && bytes.contains(&Some(100_000_000)), "{bytes:?}");
}

#[test]
fn bytes_of_every_kind_leave_the_terminal_as_it_was() {
    let scene = Scene::new();
    scene.act("odd", "odd-bytes");
    scene.job("rude", r"printf 'a\r\033[2J\033]0;title\007\033[?25l\033c\000\377 no newline'; sleep 0.5; exit 1");
    scene.save("first");
    let mut terminal = Terminal::new(80, 24);
    let running = terminal.start(&scene.with_variable("TERM", "xterm"), &["done", "--keep-going"]);
    let _ = terminal.follow(running).exits(1);
    let text = terminal.text();
    for rude in ["\x1b[2J", "\x1b]0", "\x1b[?25l", "\x1bc", "\0"] {
        assert!(!text.contains(rude), "{rude:?} in {text:?}");
    }
    assert!(text.contains("no newline"), "{text}");
    assert!(fs::read(scene.log("rude").expect("a log")).expect("it is there").starts_with(b"a\r\x1b[2J"));
}

#[test]
fn two_streams_and_many_writers_interleave_by_lines() {
    let scene = Scene::running(
        "for i in 1 2 3 4; do (for j in $(seq 200); do echo line-$i; echo line-$i >&2; done) & done; wait",
    );
    let _ = scene.discern(&["done"]).exits(0);
    let output = scene.output("job");
    assert_eq!(output.lines().count(), 1600);
    assert!(output.lines().all(|line| line.len() == 6 && line.starts_with("line-")));
}

#[test]
fn a_full_disk_fails_the_job_in_words_and_hangs_nothing() {
    let scene = Scene::of("flood 3000000");
    let private = scene.path().join(".git/discern");
    fs::create_dir_all(&private).expect("a folder");
    let mounted = scene.sh(&format!("mount -t tmpfs -o size=1m none '{}' 2>&1", private.display()));
    if mounted.status != 0 {
        scene.skip(&format!("no small disk can be mounted here: {}", mounted.stdout.trim()));
        return;
    }
    let outcome = scene.discern(&["done"]);
    let unmounted = scene.sh(&format!("umount '{}'", private.display()));
    let outcome = outcome.exits(1);
    let _ = unmounted.exits(0);
    assert!(outcome.stdout.contains("no space left on device"), "{}", outcome.shown());
    scene.assert_nobody_left();
}

#[test_case(true; "standard output")]
#[test_case(false; "standard error")]
fn a_stuck_reader_stalls_the_run_and_a_closed_one_lets_it_go_on(of_output: bool) {
    let scene = Scene::running("echo ready; sleep 0.2");
    let mut command = scene.discern_command(&["done", "-v"]);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    // Not a byte more fits.
    fill(&writer);
    let writer = Stdio::from(writer);
    let mut running = if of_output {
        scene.begin_with(&mut command, Some(writer), None)
    } else {
        scene.begin_with(&mut command, None, Some(writer))
    };
    drop(command);
    let pid = running.pid().as_raw_nonzero();
    wait_for("its write that blocks", || {
        fs::read_to_string(format!("/proc/{pid}/wchan")).is_ok_and(|at| at.contains("pipe_write"))
    });
    assert!(!running.has_ended());
    drop(reader);
    let _ = running.wait().exits(0);
    assert_eq!(scene.record()["state"]["outcome"], "passed");
    scene.assert_nobody_left();
}

#[test]
fn a_signal_that_comes_while_a_reader_is_stuck_counts_once_it_reads_again() {
    let scene = Scene::of("ignore-signals");
    let mut command = scene.discern_command(&["done"]);
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    fill(&writer);
    let mut running = scene.begin_with(&mut command, None, Some(Stdio::from(writer)));
    drop(command);
    let pid = running.pid().as_raw_nonzero();
    wait_for("its write that blocks", || {
        fs::read_to_string(format!("/proc/{pid}/wchan")).is_ok_and(|at| at.contains("pipe_write"))
    });
    running.signal(Signal::TERM);
    running.signal(Signal::TERM);
    assert!(!running.has_ended());
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).expect("it is a pipe");
    let _ = running.wait().exits(143);
    scene.assert_nobody_left();
}

/// Writes into a pipe until it is full.
fn fill(writer: &std::io::PipeWriter) {
    rustix::io::ioctl_fionbio(writer, true).expect("a pipe");
    while rustix::io::write(writer, &[b'.'; 4096]).is_ok() {}
    while rustix::io::write(writer, b".").is_ok() {}
    rustix::io::ioctl_fionbio(writer, false).expect("a pipe");
}

#[test]
fn output_that_can_not_be_written_at_all_stops_nothing() {
    let scene = Scene::running("echo hello");
    let full = || Stdio::from(File::options().write(true).open("/dev/full").expect("Linux"));
    let mut command = scene.discern_command(&["done"]);
    let running = scene.begin_with(&mut command, Some(full()), Some(full()));
    let _ = running.wait().exits(0);
    assert_eq!(scene.record()["state"]["outcome"], "passed");
}
