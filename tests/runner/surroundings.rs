//! What a job finds around it: its input, its session, its descriptors, its variables.

use std::fs::{self, File};
use std::io::Write;
use std::os::fd::AsFd;

use git_discern::engine::job::StartError;

use super::stage::{Stage, exited, shell};

#[test]
fn a_job_has_no_input_unless_it_is_given_some() {
    let stage = Stage::new();
    let (_, job) = stage.run(&stage.actor("count-input"));
    assert_eq!(job.output(), "input: 0 bytes\n");
    let path = stage.folder().join("input");
    File::create(&path).unwrap().write_all(&[b'x'; 1000]).unwrap();
    let input = File::open(&path).unwrap();
    let log = stage.folder().join("log");
    let mut job = stage.start_with(&stage.actor("count-input"), &log, Some(input.as_fd()), &[]).unwrap();
    job.finish();
    assert_eq!(job.output(), "input: 1000 bytes\n");
}

#[test]
fn a_job_has_no_terminal() {
    let stage = Stage::new();
    let (end, job) = stage.run(&stage.actor("terminal"));
    assert_eq!(end.exit, exited(4), "{}", job.output());
}

#[test]
fn a_job_inherits_neither_what_its_supervisor_holds_nor_what_it_speaks_through() {
    let stage = Stage::new();
    let lock = File::create(stage.folder().join("the-lock")).unwrap();
    let log = stage.folder().join("the-log");
    let mut job = stage.start_with(&shell("readlink /proc/self/fd/*"), &log, None, &[lock.as_fd()]).unwrap();
    job.finish();
    let output = job.output();
    assert_eq!(output.matches("the-log").count(), 2, "{output}");
    assert!(output.starts_with("/dev/null\n"), "{output}");
    assert!(!output.contains("the-lock"), "{output}");
    // What this process itself was started with goes through: nobody closed it.
    let inherited = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let sockets = inherited.filter_map(|entry| fs::read_link(entry.path()).ok()).collect::<Vec<_>>();
    for line in output.lines().filter(|line| line.starts_with("socket:")) {
        assert!(sockets.iter().any(|known| known.as_os_str() == line), "{line} is no socket of this process's parents");
    }
}

#[test]
fn a_job_is_told_its_attempt_and_runs_in_the_folder() {
    let stage = Stage::new();
    let (_, job) = stage.run(&shell("echo $DISCERN $DISCERN_JOB $DISCERN_ATTEMPT; pwd; echo $PWD"));
    let folder = fs::canonicalize(stage.folder()).unwrap();
    let folder = folder.display();
    assert_eq!(job.output(), format!("1 job {}\n{folder}\n{folder}\n", stage.attempt));
}

#[test]
fn its_command_does_not_show_in_the_supervisors_command_line() {
    let stage = Stage::new();
    let mut job = stage.start(&stage.actor("sleep"));
    job.wait_for("ready");
    assert_eq!(stage.survivors().len(), 1, "only the job itself carries the token");
    job.running.kill();
    job.finish();
}

#[test]
fn a_folder_that_is_gone_is_said_and_nothing_starts() {
    let stage = Stage::new();
    let log = tempfile::NamedTempFile::new().unwrap();
    fs::remove_dir_all(stage.folder()).unwrap();
    let refused = stage.start_with(&stage.actor("sleep"), log.path(), None, &[]).err().unwrap();
    assert!(matches!(refused, StartError::Directory { .. }), "{refused}");
    stage.assert_empty();
}
