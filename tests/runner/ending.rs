//! How jobs end, by themselves and by order, and that nothing is left of them.

use git_discern::config::Command;
use git_discern::engine::job::GRACE_MS;
use git_discern::engine::job_end::Exit;
use git_discern::engine::stage::ExecutionHow;
use test_case::test_case;

use super::stage::{Stage, exited, kill, killed_by, now_ms, parent_of, shell, state_of, wait_until};

#[test]
fn a_job_that_succeeds_passes_and_leaves_nothing() {
    let stage = Stage::new();
    let (end, job) = stage.run(&shell("echo out; echo err >&2"));
    assert_eq!(end.exit, exited(0));
    assert_eq!((end.left_behind, end.out_of_reach, end.by_order, &end.output_lost), (0, 0, false, &None));
    assert_eq!((job.output().as_str(), end.log_bytes), ("out\nerr\n", 8));
    stage.assert_empty();
}

#[test]
fn the_exit_status_of_a_job_is_its_own() {
    let stage = Stage::new();
    let (end, _) = stage.run(&stage.actor("exit 3"));
    assert_eq!(end.exit, exited(3));
}

#[test]
fn death_by_a_signal_is_that_signal() {
    let stage = Stage::new();
    for signal in [9, 11, 6, 15] {
        let (end, _) = stage.run(&stage.actor(&format!("die {signal}")));
        assert_eq!(end.exit, killed_by(signal));
        assert!(!end.by_order);
    }
    let (end, _) = stage.run(&shell("kill -9 $$"));
    assert_eq!(end.exit, killed_by(9));
}

#[test]
fn a_program_that_does_not_exist_is_named() {
    let stage = Stage::new();
    let missing = Command::List(vec!["no-such-program".into(), "x".into()]);
    let (end, _) = stage.run(&missing);
    assert_eq!(end.exit, Exit::NotStarted { program: "no-such-program".into(), errno: 2 });
    let command = shell("cd . && no-such-program x");
    let (end, job) = stage.run(&command);
    let said: Vec<String> = job.last_lines(5).texts().collect();
    let why = "`no-such-program` could not be started: not found".to_owned();
    assert_eq!(end.how(&command, &said), ExecutionHow::NotStarted { code: Some(127), why });
}

#[test_case("leave-child", 1)]
#[test_case("leave-stubborn-child", 1)]
#[test_case("double-fork", 1)]
#[test_case("nohup", 1)]
#[test_case("leave-session", 1)]
#[test_case("hide", 1)]
#[test_case("leave-stopped", 1)]
fn what_a_passing_job_leaves_behind_is_ended_and_counted(part: &str, processes: usize) {
    let stage = Stage::new();
    let (end, _) = stage.run(&stage.actor(part));
    stage.assert_empty();
    assert_eq!(end.exit, exited(0), "it passed all the same");
    assert_eq!(end.left_behind, processes);
}

#[test]
fn a_child_that_ends_by_itself_a_moment_later_is_let_finish() {
    let stage = Stage::new();
    let (end, job) = stage.run(&stage.actor("brief-child"));
    assert_eq!((end.left_behind, job.output().as_str()), (0, "said late\n"));
}

#[test]
fn a_job_is_reported_as_exited_before_what_it_left_is_ended() {
    let stage = Stage::new();
    let mut job = stage.start(&stage.actor("leave-stubborn-child"));
    wait_until("the exit", || {
        assert_eq!(job.running.advance(), None, "the end came first");
        job.running.has_exited()
    });
    let elapsed = job.running.elapsed_ms(now_ms() + 1_000_000);
    assert!(elapsed < 100_000, "the clock of a job that has exited stands still, but shows {elapsed}");
    // A limit that passed meanwhile changes nothing: it had finished.
    job.running.terminate();
    let end = job.finish();
    assert!(!end.by_order);
    assert_eq!(end.left_behind, 1);
}

#[test]
fn a_job_that_is_told_to_end_may_tidy_up() {
    let stage = Stage::new();
    let mut job = stage.start(&stage.actor("exit-on-term"));
    job.wait_for("ready");
    job.running.terminate();
    let end = job.finish();
    assert_eq!((end.exit, end.by_order), (exited(3), true));
    assert!(job.output().contains("tidied up"));
}

#[test]
fn a_job_that_ignores_sigterm_is_killed_after_the_grace_in_real_time() {
    let stage = Stage::new();
    let mut job = stage.start(&stage.actor("ignore-signals"));
    job.wait_for("ready");
    let told = now_ms();
    job.running.terminate();
    let end = job.finish();
    assert_eq!(end.exit, killed_by(9));
    assert!(end.by_order);
    assert!(now_ms() - told >= GRACE_MS, "it had its grace");
    stage.assert_empty();
}

#[test]
fn a_second_word_kills_at_once() {
    let stage = Stage::new();
    let mut job = stage.start(&stage.actor("ignore-signals"));
    job.wait_for("ready");
    let told = now_ms();
    job.running.terminate();
    job.running.kill();
    let end = job.finish();
    assert_eq!(end.exit, killed_by(9));
    assert!(now_ms() - told < GRACE_MS, "it did not wait for the grace");
}

#[test]
fn all_of_a_job_is_told_to_end_not_only_its_first_process() {
    let stage = Stage::new();
    let words = match stage.actor("exit-on-term") {
        Command::List(words) => words.join(" "),
        Command::Shell(_) => unreachable!(),
    };
    let mut job = stage.start(&shell(&format!("setsid {words} & {words} & wait; wait; wait")));
    wait_until("both", || job.output().matches("ready").count() == 2);
    job.running.terminate();
    let end = job.finish();
    assert!(end.by_order);
    assert_eq!(job.output().matches("tidied up").count(), 2);
    stage.assert_empty();
}

#[test]
fn a_stopped_job_is_told_to_end_and_does() {
    let stage = Stage::new();
    let mut job = stage.start(&stage.actor("exit-on-term"));
    job.wait_for("ready");
    let pid = job.wait_started();
    kill(pid, rustix::process::Signal::STOP);
    wait_until("its stop", || state_of(pid) == Some('T'));
    job.running.terminate();
    assert_eq!(job.finish().exit, exited(3));
}

#[test]
fn a_thousand_processes_are_ended() {
    let stage = Stage::new();
    let mut job = stage.start(&stage.actor("bomb 1000"));
    wait_until("a thousand actors", || job.output().matches("ready").count() == 1000);
    job.running.kill();
    let end = job.finish();
    stage.assert_empty();
    assert_eq!(end.exit, killed_by(9));
}

#[test]
fn a_chain_of_processes_that_each_fork_and_exit_is_caught() {
    let stage = Stage::new();
    let (end, _) = stage.run(&stage.actor("comet"));
    stage.assert_empty();
    assert_eq!(end.exit, exited(0));
}

#[test]
fn a_paused_job_stands_still_with_its_clock_and_goes_on() {
    let stage = Stage::new();
    let command = shell("while :; do echo tick; read -t 1 x </dev/zero; test -e stop && exit 0; done");
    let mut job = stage.start(&command);
    job.wait_for("tick");
    let pid = job.wait_started();
    let paused_at = now_ms();
    job.running.pause(paused_at);
    wait_until("its stop", || state_of(pid) == Some('T'));
    let elapsed = job.running.elapsed_ms(now_ms());
    let pause_ms = 300;
    wait_until("the pause to be long enough", || now_ms() - paused_at >= pause_ms);
    assert_eq!(state_of(pid), Some('T'));
    assert_eq!(job.running.elapsed_ms(now_ms()), elapsed);
    let resumed_at = now_ms();
    job.running.resume(resumed_at);
    std::fs::write(stage.folder().join("stop"), "").unwrap();
    let end = job.finish();
    assert_eq!(end.exit, exited(0));
    let whole_ms = now_ms() - paused_at + elapsed;
    assert!(end.duration_ms + pause_ms / 2 < whole_ms, "{} of {whole_ms} ms counted", end.duration_ms);
}

#[test]
fn a_process_that_had_stopped_itself_is_not_woken_by_a_pause() {
    let stage = Stage::new();
    let mut job = stage.start(&stage.actor("stop-self"));
    let pid = job.wait_started();
    wait_until("its stop", || state_of(pid) == Some('T'));
    job.running.pause(now_ms());
    job.running.resume(now_ms());
    job.running.kill();
    assert_eq!(job.finish().exit, killed_by(9));
    assert!(!job.output().contains("ready"), "it went on");
}

#[test]
fn a_supervisor_that_is_told_to_end_ends_its_job_first() {
    let stage = Stage::new();
    let mut job = stage.start(&stage.actor("exit-on-term"));
    job.wait_for("ready");
    let pid = job.wait_started();
    kill(parent_of(pid), rustix::process::Signal::TERM);
    let end = job.finish();
    assert_eq!(end.exit, exited(3));
    stage.assert_empty();
}
