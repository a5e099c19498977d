//! The reporter on streams that are terminals, pipes, or gone.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::rc::Rc;

use proptest::prelude::*;

use super::super::{Answer, Detail, Reporter, Settings, Story, Stream, Streams};
use super::*;
use crate::document::RunDocument;
use crate::event::Audience;
use crate::exit::{Exit, OutcomeWord};
use crate::os::terminal::Size;

/// A terminal just clever enough: text, new lines, cursor up, erase to the end, wrapping; colours are skipped.
#[derive(Default)]
struct Screen {
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// The widest row ever drawn.
    widest: usize,
    bytes: usize,
}

impl Screen {
    fn feed(&mut self, text: &str, columns: usize) {
        self.bytes += text.len();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\n' => (self.row, self.column) = (self.row + 1, 0),
                '\r' => self.column = 0,
                '\x1b' => self.sequence(&mut letters),
                _ => self.put(letter, columns),
            }
        }
    }

    fn sequence(&mut self, letters: &mut std::str::Chars<'_>) {
        assert_eq!(letters.next(), Some('['), "only CSI sequences are used");
        let mut number = String::new();
        let last = loop {
            match letters.next().expect("a whole sequence in each write") {
                letter if letter.is_ascii_alphabetic() => break letter,
                letter => number.push(letter),
            }
        };
        match last {
            'A' => self.row = self.row.checked_sub(number.parse().expect("rows")).expect("never above the top"),
            'J' => {
                self.rows.truncate(self.row + usize::from(self.column > 0));
                if let Some(row) = self.rows.get_mut(self.row) {
                    row.truncate(self.column);
                }
            }
            'm' => {}
            other => panic!("`{other}` is not a sequence that restores itself"),
        }
    }

    fn put(&mut self, letter: char, columns: usize) {
        if columns > 0 && self.column == columns {
            (self.row, self.column) = (self.row + 1, 0);
        }
        if self.rows.len() <= self.row {
            self.rows.resize(self.row + 1, Vec::new());
        }
        let row = &mut self.rows[self.row];
        row.resize(self.column.max(row.len()), ' ');
        row.truncate(self.column);
        row.push(letter);
        self.column += 1;
        self.widest = self.widest.max(self.column);
    }

    /// Wraps what stands there as a terminal does whose window becomes narrower.
    fn resize(&mut self, columns: usize) {
        let above = self.rows.iter().take(self.row).map(|row| row.len().div_ceil(columns).max(1)).sum();
        self.rows = self.rows.iter().flat_map(|row| row.chunks(columns).map(<[char]>::to_vec)).collect();
        (self.row, self.widest) = (above, 0);
    }

    fn text(&self) -> String {
        self.rows.iter().map(|row| row.iter().collect::<String>() + "\n").collect()
    }
}

/// A screen shared with the reporter that writes to it.
#[derive(Clone)]
struct Shared {
    screen: Rc<RefCell<Screen>>,
    size: Rc<Cell<(usize, usize)>>,
}

impl Shared {
    fn new(columns: usize, rows: usize) -> Self {
        Self { screen: Rc::default(), size: Rc::new(Cell::new((columns, rows))) }
    }

    fn stream(&self) -> Stream {
        let size = self.size.clone();
        Stream::new(self.clone(), move || Some(Size { columns: size.get().0, rows: size.get().1 }))
    }

    fn text(&self) -> String {
        self.screen.borrow().text()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(bytes).expect("each write is whole text");
        self.screen.borrow_mut().feed(text, self.size.get().0);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A reader that has gone away.
struct Gone;

impl Write for Gone {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn on(output: &Shared, error: &Shared, story: Story) -> Reporter {
    let settings = Settings { story, color_error: story == Story::Live, ..Settings::default() };
    Reporter::new(settings, Streams { output: output.stream(), error: error.stream() })
}

fn plan() -> Event {
    let requirements = vec![
        planned("lint", Some(2_000), to_run("first time")),
        planned("test", Some(30_000), to_run("first time")),
        planned("a-job-with-quite-a-long-name", None, to_run("first time")),
    ];
    at(0, What::Planned { requirements })
}

fn started(text: &str, expected_ms: Option<u64>) -> Event {
    at(0, What::Started { name: name(text), tries: 1, log: None, expected_ms })
}

fn finished(text: &str) -> Event {
    at(3_000, What::Finished { requirement: requirement(text, Standing::Passed) })
}

#[test]
fn the_live_view_names_what_runs_for_how_long_and_what_is_left() {
    let (output, error) = (Shared::new(80, 24), Shared::new(80, 24));
    let mut reporter = on(&output, &error, Story::Live);
    reporter.event(&at(0, What::Began { command: "done".into(), candidate: candidate(), summary: "Parse".into() }));
    let requirements =
        vec![planned("lint", Some(2_000), to_run("first time")), planned("test", Some(30_000), to_run("first time"))];
    reporter.event(&at(0, What::Planned { requirements }));
    reporter.event(&started("lint", Some(2_000)));
    reporter.event(&started("test", Some(30_000)));
    reporter.tick(instant(3_500));
    insta::assert_snapshot!(error.text(), @"
    done      9f9f9f9f9f Parse on topic
    running   lint  3 s, longer than last time
    running   test  3 s of about 30 s
    2 running, about 26 s left
    ");
    reporter.event(&finished("lint"));
    reporter.tick(instant(32_000));
    insta::assert_snapshot!(error.text(), @"
    done      9f9f9f9f9f Parse on topic
    passed    lint  12.4 s
    running   test  32 s, longer than last time
    1 running, nearly done
    ");
    reporter.event(&finished("test"));
    reporter.event(&at(40_000, What::Ended { outcome: OutcomeWord::Passed, exit: 0, duration_ms: 40_000 }));
    insta::assert_snapshot!(error.text(), @"
    done      9f9f9f9f9f Parse on topic
    passed    lint  12.4 s
    passed    test  12.4 s
    ");
    let requirements = vec![requirement("lint", Standing::Passed)];
    let document =
        RunDocument { requirements, candidate: Some(candidate()), ..RunDocument::new("done", Exit::Success) };
    reporter.finish(&document);
    insta::assert_snapshot!(output.text(), @"proven  9f9f9f9f9f: 1 job  in 40.0 s");
}

#[test]
fn the_last_line_of_a_running_jobs_log_is_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    std::fs::write(&log, "compiling\n\x1b[1mlinking\x1b[0m\n").expect("written");
    let error = Shared::new(60, 24);
    let mut reporter = on(&Shared::new(60, 24), &error, Story::Live);
    let log = Some(log.to_string_lossy().into_owned());
    reporter.event(&at(0, What::Started { name: name("build"), tries: 1, log, expected_ms: None }));
    reporter.tick(instant(1_000));
    assert!(error.text().contains("build  1 s  linking\n"), "{}", error.text());
}

#[test]
fn nothing_is_written_when_nothing_looks_different() {
    let error = Shared::new(80, 24);
    let mut reporter = on(&Shared::new(80, 24), &error, Story::Live);
    reporter.event(&started("lint", None));
    reporter.tick(instant(1_000));
    let before = error.screen.borrow().bytes;
    reporter.tick(instant(1_200));
    assert_eq!(error.screen.borrow().bytes, before);
    reporter.tick(instant(2_000));
    assert!(error.screen.borrow().bytes > before);
}

#[test]
fn a_window_without_room_has_no_moving_part_and_still_tells_the_story() {
    for (columns, rows) in [(0, 0), (1, 24), (19, 24), (80, 2)] {
        let error = Shared::new(columns, rows);
        let mut reporter = on(&Shared::new(columns, rows), &error, Story::Live);
        reporter.event(&started("lint", None));
        (0..1000).for_each(|tick| reporter.tick(instant(tick * 100)));
        assert_eq!(error.screen.borrow().bytes, 0, "{columns} x {rows}");
        reporter.event(&finished("lint"));
        assert!(error.text().replace('\n', "").contains("lint"), "{columns} x {rows}");
    }
}

#[test]
fn a_window_that_knows_only_its_width_has_a_moving_part() {
    let error = Shared::new(80, 0);
    let mut reporter = on(&Shared::new(80, 0), &error, Story::Live);
    reporter.event(&started("lint", None));
    assert!(error.text().contains("running   lint"), "{}", error.text());
    reporter.pause();
}

#[test]
fn more_jobs_than_rows_are_counted_not_drawn() {
    let error = Shared::new(80, 6);
    let mut reporter = on(&Shared::new(80, 6), &error, Story::Live);
    (0..50).for_each(|number| reporter.event(&started(&format!("job{number}"), None)));
    assert_eq!(error.text().lines().count(), 5);
    assert!(error.text().contains("50 running (46 not shown)"), "{}", error.text());
}

#[test]
fn a_reader_that_is_gone_stops_nothing() {
    let gone = || Stream::new(Gone, || None);
    let mut reporter = Reporter::new(Settings::default(), Streams { output: gone(), error: gone() });
    reporter.event(&started("lint", None));
    reporter.event(&finished("lint"));
    reporter.finish(&RunDocument::new("done", Exit::Success));
}

#[test]
fn with_json_standard_output_is_exactly_one_document_and_the_story_goes_on() {
    let (output, error) = (Shared::new(80, 24), Shared::new(80, 24));
    let settings = Settings { answer: Answer::Json, ..Settings::default() };
    let mut reporter = Reporter::new(settings, Streams { output: output.stream(), error: error.stream() });
    reporter.event(&finished("lint"));
    let document = RunDocument { hints: vec!["git discern status".into()], ..RunDocument::new("done", Exit::Failed) };
    reporter.finish(&document);
    assert_eq!(serde_json::from_str::<RunDocument>(&output.text()).expect("one document"), document);
    assert!(error.text().contains("passed    lint"), "{}", error.text());
}

#[test]
fn quiet_says_nothing_about_a_pass_and_everything_about_a_failure() {
    let told = |exit: Exit, verdict: Standing| {
        let (output, error) = (Shared::new(80, 24), Shared::new(80, 24));
        let settings = Settings { detail: Detail::Quiet, story: Story::Silent, ..Settings::default() };
        let mut reporter = Reporter::new(settings, Streams { output: output.stream(), error: error.stream() });
        reporter.event(&finished("lint"));
        let requirements = vec![requirement("lint", verdict)];
        reporter.finish(&RunDocument { requirements, ..RunDocument::new("done", exit) });
        output.text() + &error.text()
    };
    assert_eq!(told(Exit::Success, Standing::Passed), "");
    assert!(told(Exit::Failed, Standing::Failed).contains("again: git discern run lint"));
}

proptest! {
    /// Whatever happens in whatever order and window, what stays on the terminal is what a plain story would have said,
    /// and no frame is as wide as the window.
    #[test]
    fn the_moving_part_leaves_no_trace(
        steps in proptest::collection::vec((0..4u8, 0..3usize, 0..100_000i64), 0..60),
        columns in 20..120usize,
        rows in 3..30usize,
    ) {
        let (live, plain) = (Shared::new(columns, rows), Shared::new(columns, rows));
        let mut shown = on(&Shared::new(columns, rows), &live, Story::Live);
        let mut told = on(&Shared::new(columns, rows), &plain, Story::Plain);
        shown.event(&plan());
        told.event(&plan());
        for (step, job, millis) in steps {
            let job = ["lint", "test", "a-job-with-quite-a-long-name"][job];
            match step {
                // The start of a job is a line in the plain story only.
                0 => shown.event(&started(job, Some(5_000))),
                1 => {
                    let note = at(millis, What::Note { text: format!("{job} {millis}") });
                    shown.event(&note);
                    told.event(&note);
                }
                2 => {
                    shown.event(&finished(job));
                    told.event(&finished(job));
                }
                _ => shown.tick(instant(millis)),
            }
        }
        shown.pause();
        prop_assert_eq!(live.text(), plain.text());
        drop(shown);
        prop_assert_eq!(live.text(), plain.text());
    }

    #[test]
    fn no_frame_is_as_wide_as_its_window_also_after_it_became_narrower(columns in 40..90usize, later in 20..40usize, elapsed in 0..1_000_000i64) {
        let live = Shared::new(columns, 24);
        let mut reporter = on(&Shared::new(columns, 24), &live, Story::Live);
        reporter.event(&started("a-job-with-quite-a-long-name-that-goes-on-and-on", Some(5_000)));
        reporter.tick(instant(elapsed));
        prop_assert!(live.screen.borrow().widest < columns);
        live.size.set((later, 24));
        live.screen.borrow_mut().resize(later);
        reporter.tick(instant(elapsed));
        prop_assert!(live.screen.borrow().widest < later);
        reporter.pause();
        prop_assert_eq!(live.text(), "");
    }
}
