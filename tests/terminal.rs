//! `done` on terminals of every width, and with readers that are gone.

use crate::support::{Bench, Place, Terminal};

fn bench() -> Bench {
    let bench = Bench::new();
    bench.gate();
    for number in 1..=3 {
        bench.job(
            &format!("a-job-with-quite-a-long-name-{number}"),
            "echo something that is longer than a window; sleep 0.3",
        );
    }
    bench.save("A summary that is rather long, too, as some people write them");
    bench
}

/// What `done --rerun` writes to a pseudo-terminal of so many columns.
fn on_terminal(place: &Place, columns: usize) -> String {
    let command = format!("stty cols {columns}; git-discern done --rerun");
    let outcome = place.run(place.command("script", &["-qec", &command, "/dev/null"])).exits(0);
    assert!(outcome.stdout.contains("proven"), "{}", outcome.shown());
    outcome.stdout
}

/// The lines of all frames: what stands between two movements up, without colours.
fn frame_lines(written: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for frame in written.split("\x1b[J").skip(1) {
        let drawn = frame.split("\x1b[").map(|piece| piece.split_once('m').map_or(piece, |(_, text)| text));
        let text: String = drawn.collect();
        lines.extend(text.split("\r\n").filter(|line| line.starts_with("running")).map(str::to_owned));
    }
    lines
}

#[test]
fn no_frame_is_as_wide_as_the_terminal() {
    let bench = bench();
    let place = bench.with_variable("TERM", "xterm").with_variable("LC_ALL", "C.UTF-8");
    for columns in [20, 40, 300] {
        let lines = frame_lines(&on_terminal(&place, columns));
        assert!(!lines.is_empty(), "there is a live view in {columns} columns");
        let widest = lines.iter().map(|line| line.chars().count()).max();
        assert!(widest < Some(columns), "{widest:?} in {columns}: {lines:?}");
        // However narrow it is, it shows that something moves.
        assert!(columns < 30 || lines.iter().all(|line| line.contains("  0 s")), "{lines:?}");
    }
}

#[test]
fn a_terminal_without_room_or_ability_and_a_build_machine_get_plain_lines() {
    let bench = bench();
    let able = bench.with_variable("TERM", "xterm");
    for columns in [0, 1, 19] {
        let written = on_terminal(&able, columns);
        assert!(!written.contains("\x1b[J"), "{columns}: {written}");
        assert!(written.len() < 2000, "{columns}: {} bytes", written.len());
    }
    assert!(!on_terminal(&able.with_variable("CI", "true"), 80).contains("\x1b[J"));
    let dumb = bench.with_variable("TERM", "dumb").with_variable("NO_COLOR", "1");
    assert!(!on_terminal(&dumb, 80).contains('\x1b'));
}

#[test]
fn a_run_whose_output_nobody_reads_goes_on_to_its_proof() {
    for closed in [">&-", "2>&-", ">&- 2>&-", "| true", "2>&1 | true"] {
        let bench = Bench::proven_by_true();
        let outcome = bench.sh(&format!("{{ git-discern done; echo $? >../status; }} {closed}"));
        assert_eq!(bench.read("../status").trim(), "0", "{closed}: {}", outcome.shown());
        let again = bench.discern(&["done", "--json"]).exits(0).json();
        assert_eq!(again["outcome"], "passed", "{closed}");
        assert!(again["proof"].is_object(), "{closed}: {again:#}");
    }
}

#[test]
fn no_escape_code_reaches_a_pipe_and_bytes_of_a_failing_job_come_as_they_are() {
    let bench = Bench::new();
    bench.gate();
    bench.job("latin", r"printf '\033[31m\374ber\033[0m\n'; exit 1");
    bench.save("first");
    let outcome = bench.with_variable("TERM", "xterm").discern(&["done"]).exits(1);
    assert!(!outcome.stdout_bytes.contains(&0x1b) && !outcome.stderr.contains('\x1b'), "{}", outcome.shown());
    let expected = b"  | \xfcber\n";
    assert!(outcome.stdout_bytes.windows(expected.len()).any(|bytes| bytes == expected), "{}", outcome.shown());
    let document = bench.discern(&["done", "--json"]).exits(1).json();
    assert_eq!(document["requirements"][0]["verdict"], "failed");
}

#[test]
fn a_window_that_changes_its_size_keeps_a_view_that_fits() {
    let bench = Bench::new();
    bench.gate();
    bench.job("job", "for i in 1 2 3; do echo something that is longer than a narrow window, step $i; while [ ! -e ../go$i ]; do sleep 0.02; done; done");
    bench.save("first");
    let mut terminal = Terminal::new(100, 24);
    let place = bench.with_variable("TERM", "xterm").with_variable("LC_ALL", "C.UTF-8");
    let running = terminal.start(&place, &["done"]);
    terminal.wait_for("longer than a narrow window, step 1", 1);
    terminal.resize(40, 24);
    bench.write("../go1", "");
    terminal.wait_for("…", 1);
    terminal.resize(10, 24);
    bench.write("../go2", "");
    terminal.resize(200, 24);
    terminal.wait_for("longer than a narrow window, step 3", 1);
    bench.write("../go3", "");
    let _ = terminal.follow(running).exits(0);
    assert!(terminal.text().contains("proven"));
}

#[test]
fn a_job_that_waits_for_a_slot_is_said_to_in_the_view() {
    let bench = Bench::new();
    bench.write("discern.toml", "[gate]\ntrunk = \"main\"\nslots = 1\n");
    bench.job("one", "while [ ! -e ../go ]; do sleep 0.02; done");
    bench.job("two", "true");
    bench.save("first");
    let mut terminal = Terminal::new(100, 24);
    let running = terminal.start(&bench.with_variable("TERM", "xterm"), &["done"]);
    terminal.wait_for("1 running, 1 to go, waiting for a free slot", 1);
    bench.write("../go", "");
    let _ = terminal.follow(running).exits(0);
}
