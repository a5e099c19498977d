//! All that anybody sees: the story on standard error, the result on standard output. Nothing else prints.
//!
//! Rendering is pure: [`story`] makes lines of an event, [`live`] one frame of the view, [`answer`] the end of a run,
//! [`diagnostic`] the sentences of what went wrong. [`Reporter`] owns the two streams and decides which of these goes
//! where. It has no thread and no clock: it is told what happened and what time it is, and it writes before it returns,
//! so that a terminal that stops reading stops the run (C14). A reader that is gone stops nothing.

pub mod annotation;
pub mod answer;
pub mod chart;
pub mod commits;
pub mod diagnostic;
pub mod html;
pub mod junit;
pub mod line;
pub mod live;
pub mod phrase;
pub mod push;
pub mod range;
pub mod schema;
pub mod settings;
pub mod show;
pub mod standards;
pub mod status;
pub mod story;
pub mod stream;

#[cfg(test)]
mod tests;

use std::path::Path;

use serde::Serialize;

use crate::document::{Diagnostic, RunDocument};
use crate::engine::log;
use crate::event::{Audience, Event, What};
use crate::os::clock::{Clock as _, SystemClock};
use crate::os::terminal::Size;
use crate::time::Timestamp;
use answer::Answering;
use line::Line;
use live::{Paint, Region, View};
pub use schema::schemas;
pub use settings::{Answer, ColorWhen, Detail, Settings, Story, Wishes};
use story::Telling;
pub use stream::{Stream, Streams};

/// Shows a run, and answers for a command. One for each process.
pub struct Reporter {
    settings: Settings,
    streams: Streams,
    telling: Telling,
    view: View,
    region: Region,
    last_frame: Vec<Line>,
    last_size: Option<Size>,
    /// How long the run took, once it is over.
    took_ms: Option<u64>,
}

impl Reporter {
    /// A reporter for `streams`.
    pub fn new(settings: Settings, streams: Streams) -> Self {
        let Settings { detail, story, together: answer_follows, .. } = settings;
        let telling = Telling { detail, story, answer_follows, name_columns: 0 };
        let (view, region) = (View::default(), Region::default());
        Self { settings, streams, telling, view, region, last_frame: Vec::new(), last_size: None, took_ms: None }
    }

    /// Ends the story and answers: diagnostics to standard error, the result to standard output, and hints to standard error.
    pub fn finish(&mut self, document: &RunDocument) {
        match &document.page {
            Some(page) => self.tell_raw(page),
            None => self.diagnostics(&document.diagnostics),
        }
        if self.settings.answer == Answer::Json {
            self.json(document);
        } else {
            let tail = |path: &str| log::last_lines(Path::new(path), answer::TAIL_LINES_MAX).ok();
            let Settings { detail, color_output: color, .. } = self.settings;
            let now = SystemClock.now().wall;
            let text = answer::text(document, Answering { detail, color, took_ms: self.took_ms, now }, &tail);
            self.streams.output.write(&text);
        }
        // What comes next stands below what it is about.
        if self.settings.detail > Detail::Quiet {
            let hints: Vec<Line> = document.hints.iter().map(|command| diagnostic::hint(command)).collect();
            self.tell(&hints);
        }
    }

    /// Answers with `document`, or for people with the lines that `page` makes of it.
    pub fn answer<T: Serialize>(&mut self, document: &T, page: impl FnOnce(&T) -> Vec<Line>) {
        if self.settings.answer == Answer::Json {
            self.json(document);
        } else {
            self.pause();
            let color = self.settings.color_output;
            let text: String = page(document).iter().map(|line| line.paint(color) + "\n").collect();
            self.streams.output.write(text.as_bytes());
        }
    }

    /// Answers with a part of a long answer for people; false once nobody reads it any more.
    pub fn lines(&mut self, lines: &[Line]) -> bool {
        self.pause();
        let color = self.settings.color_output;
        let text: String = lines.iter().map(|line| line.paint(color) + "\n").collect();
        self.streams.output.write(text.as_bytes());
        self.streams.output.is_read()
    }

    /// Answers with `bytes` as they are: a log, a generated script, a page that was rendered elsewhere.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.pause();
        self.streams.output.write(bytes);
    }

    /// Says what went wrong, on standard error, however little is to be told.
    pub fn diagnostics(&mut self, diagnostics: &[Diagnostic]) {
        let lines: Vec<Line> = diagnostics.iter().flat_map(diagnostic::lines).collect();
        self.tell(&lines);
    }

    /// Writes `lines` to standard error, whatever the detail.
    pub fn tell(&mut self, lines: &[Line]) {
        self.pause();
        let text: String = self.painted(lines).into_iter().map(|line| line + "\n").collect();
        self.streams.error.write(text.as_bytes());
    }

    /// Writes text that was rendered elsewhere to standard error.
    pub fn tell_raw(&mut self, text: &str) {
        self.pause();
        self.streams.error.write(text.as_bytes());
    }

    fn json<T: Serialize>(&mut self, document: &T) {
        self.pause();
        let mut text = serde_json::to_string_pretty(document).unwrap_or_else(|problem| {
            // Every document is made of strings, numbers and lists; this would be a fault in one of our types.
            format!("{{\"schema\": \"discern/error/1\", \"message\": {:?}}}", problem.to_string())
        });
        text.push('\n');
        self.streams.output.write(text.as_bytes());
    }

    fn painted(&self, lines: &[Line]) -> Vec<String> {
        lines.iter().map(|line| line.paint(self.settings.color_error)).collect()
    }

    /// Finished lines above, the frame of `now` below; the window is measured for each frame.
    fn draw(&mut self, finished: &[String], now: Timestamp) {
        let size = self.streams.error.size().unwrap_or(Size { columns: 0, rows: 0 });
        let frame = self.view.lines(now, size, self.telling.name_columns);
        if finished.is_empty() && frame == self.last_frame && self.last_size == Some(size) {
            return;
        }
        let cut_mark = if self.settings.unicode { '…' } else { '>' };
        let paint = Paint { color: self.settings.color_error, cut_mark };
        let bytes = self.region.draw(finished, frame.clone(), size.columns, paint);
        (self.last_frame, self.last_size) = (frame, Some(size));
        self.streams.error.write(bytes.as_bytes());
    }
}

impl Audience for Reporter {
    fn event(&mut self, event: &Event) {
        match &event.what {
            What::Planned { requirements } => self.telling.name_columns = story::name_columns(requirements),
            What::Ended { duration_ms, .. } => self.took_ms = Some(*duration_ms),
            _ => {}
        }
        self.view.apply(event);
        if self.settings.story == Story::Silent {
            return;
        }
        let lines = self.painted(&story::lines(event, self.telling));
        if self.settings.story == Story::Live {
            self.draw(&lines, event.at);
        } else {
            let text: String = lines.into_iter().map(|line| line + "\n").collect();
            self.streams.error.write(text.as_bytes());
        }
    }

    /// Draws the moving part anew, if there is one and it looks different now. To be called a few times a second.
    fn tick(&mut self, now: Timestamp) {
        if self.settings.story != Story::Live {
            return;
        }
        for running in &mut self.view.running {
            running.says = running.log.as_deref().and_then(|log| log::last_line(Path::new(log)));
        }
        self.draw(&[], now);
    }

    /// Takes the moving part off the terminal: before the process stops (Ctrl-Z), and before anything else is written.
    fn pause(&mut self) {
        let columns = self.streams.error.size().map_or(0, |size| size.columns);
        let bytes = self.region.erase(columns);
        self.last_frame.clear();
        if !bytes.is_empty() {
            self.streams.error.write(bytes.as_bytes());
        }
    }
}

impl Drop for Reporter {
    /// Nothing of the moving part stays on the terminal, also when the run ends by a panic.
    fn drop(&mut self) {
        self.pause();
    }
}
