//! The moving part of the live view: what runs, for how long, what is left.
//!
//! [`View`] is what the events add up to; [`View::lines`] is one frame of it, a function of the view, the time and the
//! window. [`Region`] puts frames on a terminal: it takes the last one off, lets finished lines scroll by above, and draws
//! the next, never wider than the window. It changes no mode of the terminal, so that there is nothing to restore but
//! its own lines. There is no thread: a frame is written by whoever calls, and a terminal that blocks blocks them (C14).

use super::line::{Line, Role};
use super::phrase;
use super::story::{WORD_COLUMNS, between};
use crate::document::{Progress, Standing};
use crate::event::{Decision, Event, What};
use crate::id::Name;
use crate::os::terminal::Size;
use crate::time::Timestamp;

/// A window narrower than this has no room for a moving part.
const COLUMNS_MIN: usize = 20;
/// So many rows has a window that knows its width and not its height.
const ROWS_ASSUMED: usize = 24;
/// A job that takes so much longer than last time is said to; a shorter one has no estimate.
const LONGER_MS: u64 = 1000;
/// So many cells a name keeps in the narrowest window.
const NAME_COLUMNS_MIN: usize = 4;
/// At most so many running jobs are listed.
const RUNNING_SHOWN_MAX: usize = 16;

/// One job that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// Its name.
    pub name: Name,
    /// When its command was started.
    pub since: Timestamp,
    /// How long it took last time, in milliseconds.
    pub expected_ms: Option<u64>,
    /// The file that its output goes to.
    pub log: Option<String>,
    /// The last line that it printed.
    pub says: Option<String>,
}

/// What the events so far add up to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    /// What runs, the oldest first.
    pub running: Vec<Running>,
    /// What has not been started, with how long it took last time.
    to_run: Vec<(Name, Option<u64>)>,
    /// Whom the run waits for, if it does.
    waiting: Option<String>,
    /// Whether a job waits for a free slot on this machine.
    awaits_slot: bool,
    /// How many have ended.
    ended: usize,
    /// Which of them failed.
    failed: Vec<Name>,
}

impl View {
    /// Takes one more event in.
    pub fn apply(&mut self, event: &Event) {
        match &event.what {
            What::Waiting { pending } => self.waiting = Some(pending.reconnect.clone()),
            What::Reserved { .. } => self.waiting = None,
            What::Planned { requirements } => {
                let to_run = requirements.iter().filter(|planned| matches!(planned.decision, Decision::Run { .. }));
                self.to_run = to_run.map(|planned| (planned.name.clone(), planned.expected_ms)).collect();
            }
            What::Started { name, log, expected_ms, .. } => {
                let (since, log, expected_ms) = (event.at, log.clone(), *expected_ms);
                self.forget(name);
                self.awaits_slot = false;
                self.running.push(Running { name: name.clone(), since, expected_ms, log, says: None });
            }
            What::SlotAwaited { .. } => self.awaits_slot = true,
            What::Finished { requirement } => {
                self.forget(&requirement.name);
                self.ended += 1;
                if requirement.verdict == Standing::Failed {
                    self.failed.push(requirement.name.clone());
                }
            }
            What::Retrying { name, .. } => self.running.retain(|running| running.name != *name),
            What::Ended { .. } => *self = Self::default(),
            _ => {}
        }
    }

    fn forget(&mut self, name: &Name) {
        self.running.retain(|running| running.name != *name);
        self.to_run.retain(|(waiting, _)| waiting != name);
    }

    /// How far the run is at `now`, for a list of runs.
    pub fn progress(&self, now: Timestamp) -> Progress {
        Progress {
            done: self.ended,
            total: self.ended + self.running.len() + self.to_run.len(),
            failed: self.failed.clone(),
            running: self.running.iter().map(|running| running.name.clone()).collect(),
            remaining_ms: self.left_ms(now),
        }
    }

    /// One frame at `now` for a window of `size`; empty where there is nothing to show or no room for it.
    pub fn lines(&self, now: Timestamp, size: Size, name_columns: usize) -> Vec<Line> {
        let rows = if size.rows == 0 { ROWS_ASSUMED } else { size.rows };
        if size.columns < COLUMNS_MIN || rows < 3 {
            return Vec::new();
        }
        let shown = RUNNING_SHOWN_MAX.min(rows - 2).min(self.running.len());
        let mut lines: Vec<Line> =
            self.running[..shown].iter().map(|running| running.line(now, size.columns, name_columns)).collect();
        if !self.running.is_empty() || !self.to_run.is_empty() {
            lines.push(self.summary(now, self.running.len() - shown));
        } else if let Some(command) = &self.waiting {
            lines.push(Line::new().with(Role::Faint, "waiting; ").with(Role::Command, command));
        }
        lines
    }

    fn summary(&self, now: Timestamp, hidden: usize) -> Line {
        let mut text = format!("{} running", self.running.len());
        if hidden > 0 {
            text.push_str(&format!(" ({hidden} not shown)"));
        }
        if !self.to_run.is_empty() {
            text.push_str(&format!(", {} to go", self.to_run.len()));
        }
        if self.awaits_slot {
            text.push_str(", waiting for a free slot");
        }
        if let Some(left) = self.left_ms(now) {
            match left {
                0..1000 => text.push_str(", nearly done"),
                _ => text.push_str(&format!(", about {} left", phrase::roughly(left))),
            }
        }
        Line::new().with(Role::Faint, text)
    }

    /// An estimate of the time that is left: what runs now goes on beside the rest, which is shared between as many as run
    /// now. Nothing where a duration is not known.
    fn left_ms(&self, now: Timestamp) -> Option<u64> {
        let of_running = self.running.iter().map(|running| running.left_ms(now)).collect::<Option<Vec<u64>>>()?;
        let of_rest = self.to_run.iter().map(|(_, expected)| *expected).collect::<Option<Vec<u64>>>()?;
        let together: u64 = of_running.iter().chain(&of_rest).sum();
        let lanes = self.running.len().max(1) as u64;
        let longest = of_running.into_iter().chain(of_rest).max()?;
        Some(longest.max(together / lanes))
    }
}

impl Running {
    fn left_ms(&self, now: Timestamp) -> Option<u64> {
        Some(self.expected_ms?.saturating_sub(between(self.since, now)))
    }

    fn line(&self, now: Timestamp, columns: usize, name_columns: usize) -> Line {
        let elapsed = between(self.since, now);
        let time = match self.expected_ms {
            Some(expected) if elapsed > expected + LONGER_MS => {
                format!("{}, longer than last time", phrase::roughly(elapsed))
            }
            Some(expected) if expected >= LONGER_MS => {
                format!("{} of about {}", phrase::roughly(elapsed), phrase::roughly(expected))
            }
            _ => phrase::roughly(elapsed),
        };
        let time = format!("  {time}");
        // A long name gives way in a narrow window: the time says that something moves.
        let room = columns.saturating_sub(WORD_COLUMNS + time.len() + 2).max(NAME_COLUMNS_MIN);
        let name = Line::new().with(Role::Strong, self.name.as_str()).cut(room, '~');
        let blanks = " ".repeat(name_columns.min(room).saturating_sub(name.width()));
        let line = Line::new().column(Role::Caution, "running", WORD_COLUMNS).and(name).with(Role::Plain, blanks);
        let line = line.with(Role::Plain, time);
        match &self.says {
            Some(says) => line.with(Role::Faint, format!("  {says}")),
            None => line,
        }
    }
}

/// The lines of the last frame, as they stand on the terminal, with the cursor below them.
#[derive(Debug, Default)]
pub struct Region {
    drawn: Vec<usize>,
}

impl Region {
    /// The bytes that take the last frame off, write the `finished` lines in its place and draw the next frame below.
    /// `columns` is the window's width now: a window that became narrower has wrapped the lines that stand there.
    pub fn draw(&mut self, finished: &[String], frame: Vec<Line>, columns: usize, paint: Paint) -> String {
        let mut bytes = self.erase(columns);
        for line in finished {
            bytes.push_str(line);
            bytes.push('\n');
        }
        for line in frame {
            // The last cell stays free: a terminal that fills it may already be on the next line.
            let line = line.cut(columns.saturating_sub(1), paint.cut_mark);
            self.drawn.push(line.width());
            bytes.push_str(&line.paint(paint.color));
            bytes.push('\n');
        }
        bytes
    }

    /// The bytes that take the last frame off.
    pub fn erase(&mut self, columns: usize) -> String {
        // A window that does not know its width is taken to have wrapped nothing.
        let columns = if columns == 0 { usize::MAX } else { columns };
        let rows: usize = self.drawn.drain(..).map(|width| width.div_ceil(columns).max(1)).sum();
        if rows == 0 { String::new() } else { format!("\x1b[{rows}A\r\x1b[J") }
    }
}

/// How a frame is painted.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    /// With colour.
    pub color: bool,
    /// What stands where a line was cut.
    pub cut_mark: char,
}
