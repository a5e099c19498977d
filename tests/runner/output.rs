//! What jobs print: all of it is kept, whatever it is, and none of it is held in memory.

use std::fs;
use std::path::Path;

use git_discern::engine::log::Tail;

use super::stage::{Stage, exited, shell};

#[test]
fn bytes_of_any_kind_are_kept_as_they_are_and_shown_clean() {
    let stage = Stage::new();
    let (end, job) = stage.run(&stage.actor("odd-bytes"));
    let expected = b"nul \0 latin \xfc ansi \x1b[31mred\x1b[0m\nold\rnew without newline";
    assert_eq!(fs::read(&job.log).unwrap(), expected);
    assert_eq!(end.log_bytes, expected.len() as u64);
    let tail = job.last_lines(10);
    assert_eq!(tail.lines, [&b"nul  latin \xfc ansi red"[..], b"new without newline"]);
}

#[test]
fn a_flood_arrives_whole_and_its_end_is_found() {
    let stage = Stage::new();
    let bytes = 200_000_000;
    let (end, job) = stage.run(&stage.actor(&format!("flood {bytes}")));
    assert_eq!(end.log_bytes, bytes);
    assert_eq!(fs::metadata(&job.log).unwrap().len(), bytes);
    let tail = job.last_lines(3);
    assert_eq!(tail, Tail { lines: vec![vec![b'x'; 63]; 3], cut: true });
}

#[test]
fn one_endless_line_is_shown_cut() {
    let stage = Stage::new();
    let bytes = 100_000_000;
    let (end, job) = stage.run(&stage.actor(&format!("one-line {bytes}")));
    assert_eq!(end.log_bytes, bytes);
    let tail = job.last_lines(3);
    assert_eq!(tail.lines.len(), 1);
    assert!(tail.lines[0].starts_with(b"xxx") && tail.lines[0].len() < 2100 && tail.cut);
}

#[test]
fn a_child_that_keeps_the_log_open_hangs_nothing() {
    let stage = Stage::new();
    let (end, job) = stage.run(&shell("echo ok; setsid sh -c 'while :; do sleep 1; done' & exit 0"));
    assert_eq!(end.exit, exited(0));
    assert_eq!(job.output(), "ok\n");
    assert!(end.left_behind >= 1);
}

#[test]
fn a_job_that_closes_its_output_is_followed_to_its_end() {
    let stage = Stage::new();
    let (end, job) = stage.run(&stage.actor("close-output"));
    assert_eq!((end.exit, job.output().as_str()), (exited(0), ""));
    let (end, job) = stage.run(&shell("exec >&- 2>&-; exit 5"));
    assert_eq!((end.exit, job.output().as_str()), (exited(5), ""));
}

#[test]
fn what_was_printed_before_a_kill_is_there() {
    let stage = Stage::new();
    let mut job = stage.start(&shell("echo the reason; exec sleep 60"));
    job.wait_for("the reason");
    job.running.kill();
    job.finish();
    assert_eq!(job.last_lines(1).lines, [b"the reason"]);
}

#[test]
fn output_that_a_full_disk_did_not_take_is_reported() {
    let stage = Stage::new();
    let command = shell("echo lost; true");
    let mut job = stage.start_with(&command, Path::new("/dev/full"), None, &[]).unwrap();
    let end = job.finish();
    assert_eq!(end.exit, exited(0));
    assert_eq!(end.output_lost.as_deref(), Some("no space left on device"));
}

#[test]
fn a_log_that_can_not_be_opened_starts_nothing() {
    let stage = Stage::new();
    let log = stage.folder().join("no-such-folder/log");
    let refused = stage.start_with(&stage.actor("sleep"), &log, None, &[]).err().unwrap();
    assert!(refused.to_string().contains("no-such-folder/log"), "{refused}");
    stage.assert_empty();
}
