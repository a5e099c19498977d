//! How to show things: what was asked for, and what the terminal and the environment allow.

use crate::os::terminal::Surroundings;

/// How much of the story is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Only what went wrong.
    Quiet,
    /// What happens.
    #[default]
    Normal,
    /// Also why, and what goes on inside.
    Verbose,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColorWhen {
    /// On terminals that can, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What the story on standard error looks like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Story {
    /// Finished lines above, what runs below, redrawn in place.
    Live,
    /// One line for each thing that happened, nothing redrawn.
    #[default]
    Plain,
    /// Nothing.
    Silent,
}

/// What the result on standard output looks like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Answer {
    /// For people.
    #[default]
    Text,
    /// One JSON document.
    Json,
}

/// What was asked for on the command line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wishes {
    /// `-q`, `-v`.
    pub detail: Detail,
    /// `--color`.
    pub color: ColorWhen,
    /// `--plain` asks for [`Story::Plain`] everywhere; nothing asks for whatever fits the terminal.
    pub story: Option<Story>,
    /// `--json`.
    pub answer: Answer,
}

/// How things are shown in this run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settings {
    /// How much is told.
    pub detail: Detail,
    /// The form of the story.
    pub story: Story,
    /// The form of the result.
    pub answer: Answer,
    /// Colour on standard output.
    pub color_output: bool,
    /// Colour on standard error.
    pub color_error: bool,
    /// Characters beyond ASCII may be used.
    pub unicode: bool,
    /// An answer for people goes where the story goes: what one has said the other need not.
    pub together: bool,
}

impl Settings {
    /// What `wishes` come to in these `surroundings`.
    pub fn decide(wishes: Wishes, surroundings: &Surroundings) -> Self {
        let redrawable = surroundings.error_is_terminal && !surroundings.dumb && !surroundings.ci;
        let story = match (wishes.detail, wishes.story) {
            (Detail::Quiet, _) => Story::Silent,
            (_, Some(asked)) => asked,
            (_, None) if redrawable => Story::Live,
            (_, None) => Story::Plain,
        };
        let color = |is_terminal: bool| match wishes.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => is_terminal && !surroundings.dumb && !surroundings.no_color && wishes.story.is_none(),
        };
        Self {
            detail: wishes.detail,
            story,
            answer: wishes.answer,
            color_output: color(surroundings.output_is_terminal) && wishes.answer == Answer::Text,
            color_error: color(surroundings.error_is_terminal),
            unicode: surroundings.utf8,
            together: surroundings.streams_are_one && wishes.answer == Answer::Text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINAL: Surroundings = Surroundings {
        output_is_terminal: true,
        error_is_terminal: true,
        dumb: false,
        no_color: false,
        ci: false,
        utf8: true,
        streams_are_one: true,
    };

    fn by_default(surroundings: Surroundings) -> Settings {
        Settings::decide(Wishes::default(), &surroundings)
    }

    #[test]
    fn nothing_is_redrawn_in_ci_on_a_dumb_terminal_or_without_one() {
        assert_eq!(by_default(TERMINAL).story, Story::Live);
        for surroundings in [
            Surroundings { ci: true, ..TERMINAL },
            Surroundings { dumb: true, ..TERMINAL },
            Surroundings { error_is_terminal: false, ..TERMINAL },
        ] {
            assert_eq!(by_default(surroundings).story, Story::Plain, "{surroundings:?}");
        }
    }

    #[test]
    fn each_stream_has_color_only_if_it_is_a_terminal_that_can() {
        let piped = by_default(Surroundings { output_is_terminal: false, ..TERMINAL });
        assert!(!piped.color_output && piped.color_error);
        for surroundings in [Surroundings { no_color: true, ..TERMINAL }, Surroundings { dumb: true, ..TERMINAL }] {
            let settings = by_default(surroundings);
            assert!(!settings.color_output && !settings.color_error, "{surroundings:?}");
        }
        let asked = Wishes { color: ColorWhen::Always, ..Wishes::default() };
        assert!(Settings::decide(asked, &Surroundings { no_color: true, ..TERMINAL }).color_error);
    }

    #[test]
    fn story_and_answer_are_together_where_both_streams_are_one_and_both_are_for_people() {
        assert!(by_default(TERMINAL).together);
        assert!(!by_default(Surroundings { streams_are_one: false, ..TERMINAL }).together);
        let asked = Wishes { answer: Answer::Json, ..Wishes::default() };
        assert!(!Settings::decide(asked, &TERMINAL).together);
    }

    #[test]
    fn a_json_document_is_never_colored() {
        let asked = Wishes { color: ColorWhen::Always, answer: Answer::Json, ..Wishes::default() };
        assert!(!Settings::decide(asked, &TERMINAL).color_output);
    }
}
