//! One file for each subcommand: its arguments, then a function that reads as its story.
//!
//! [`main`] parses, dispatches, and turns whatever comes back into an exit status and a sentence. A command answers through
//! its [`Reporter`]; what it can't answer it returns as an error: a [`Refusal`] where somebody knew the sentence and the
//! remedy, a [`GitError`] ([`here`]), a [`StoreError`] (exit 5), anything else is a fault of ours (exit 70). With `--json` each of these is a document.

pub mod arguments;
pub mod ci;
pub mod completions;
pub mod doctor;
pub mod done;
pub mod explain;
pub mod gc;
pub mod here;
pub mod hook;
pub mod init;
pub mod log;
pub mod manual;
pub mod range;
pub mod recover;
pub mod run;
pub mod show;
pub mod standards;
pub mod status;
pub mod stop;
pub mod verify;
pub mod wait;

use std::ffi::OsString;
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;

use crate::document::{Diagnostic, Refusal, RunDocument};
use crate::exit::Exit;
use crate::git::GitError;
use crate::os::environment;
use crate::os::terminal::Surroundings;
use crate::report::{Answer, ColorWhen, Reporter, Settings, Streams, Wishes};
use crate::store::StoreError;
use arguments::Subcommand;

/// What holds for every subcommand.
#[derive(Debug, Clone, Copy)]
pub struct Global {
    /// How to show things.
    pub settings: Settings,
}

impl Global {
    /// What `wishes` come to on this terminal.
    fn new(wishes: Wishes) -> Self {
        Self { settings: Settings::decide(wishes, &Surroundings::look(environment::variable)) }
    }

    /// A reporter for our standard streams.
    pub fn reporter(&self) -> Reporter {
        Reporter::new(self.settings, Streams::standard())
    }
}

/// Runs the command that `arguments` (with the program's name first) ask for.
pub fn main(arguments: Vec<OsString>) -> Exit {
    // The one answer that must not wait for the definition of all the others to be built.
    if arguments.len() == 2 && (arguments[1] == "--version" || arguments[1] == "-V") {
        Global::new(Wishes::default())
            .reporter()
            .raw(concat!("git-discern ", env!("CARGO_PKG_VERSION"), "\n").as_bytes());
        return Exit::Success;
    }
    if arguments.get(1).is_some_and(|word| word == "--")
        && let Some(shell) = environment::variable(completions::VARIABLE)
    {
        let global = Global::new(Wishes::default());
        global.reporter().raw(&completions::candidates(&shell.to_string_lossy(), &arguments[1..]));
        return Exit::Success;
    }
    std::panic::set_hook(Box::new(|panic| {
        let seen = format!("{panic}\n{}", std::backtrace::Backtrace::capture());
        PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(seen);
    }));
    let asked_for_json = wants_json(&arguments);
    std::panic::catch_unwind(AssertUnwindSafe(|| parse_and_run(&arguments))).unwrap_or_else(|_| {
        let seen = PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take().unwrap_or_default();
        let answer = if asked_for_json { Answer::Json } else { Answer::Text };
        let diagnostic =
            Diagnostic::new("internal-error", format!("this is a fault of git-discern itself: {}", seen.trim()));
        let refusal = Refusal { exit: Exit::Internal, ..Refusal::new(diagnostic) };
        refuse(&Global::new(Wishes { answer, ..Wishes::default() }), word(&arguments), &refusal)
    })
}

/// What the first panic said, from its hook to the edge.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

fn parse_and_run(arguments: &[OsString]) -> Exit {
    match arguments::parse(arguments) {
        Ok(cli) => {
            let global = Global::new(cli.global.wishes());
            let command = word(arguments);
            dispatch(&global, &cli.command).unwrap_or_else(|error| refuse(&global, command, &refusal(&error)))
        }
        Err(error) => no_command(arguments, &error),
    }
}

fn dispatch(global: &Global, command: &Subcommand) -> anyhow::Result<Exit> {
    match command {
        Subcommand::Done(args) => done::run(global, args),
        Subcommand::Run(args) => run::run(global, args),
        Subcommand::Standards(args) => standards::run(global, args),
        Subcommand::Status(args) => status::run(global, args),
        Subcommand::Wait(args) => wait::run(global, args),
        Subcommand::Stop(args) => stop::run(global, args),
        Subcommand::Recover(args) => recover::run(global, args),
        Subcommand::Verify(args) => verify::run(global, args),
        Subcommand::Show(args) => show::run(global, args),
        Subcommand::Log(args) => log::run(global, args),
        Subcommand::Explain(args) => explain::run(global, args),
        Subcommand::Hook(args) => hook::run(global, args),
        Subcommand::Init(args) => init::run(global, args),
        Subcommand::Doctor(args) => doctor::run(global, args),
        Subcommand::Gc(args) => gc::run(global, args),
        Subcommand::Completions(args) => completions::run(global, args),
        Subcommand::Manual(args) => manual::run(global, args),
    }
}

/// Help that was asked for, or arguments that make no command.
fn no_command(arguments: &[OsString], error: &clap::Error) -> Exit {
    use clap::error::ErrorKind::{DisplayHelp, DisplayVersion};
    let answer = if wants_json(arguments) { Answer::Json } else { Answer::Text };
    let global = Global::new(Wishes { answer, color: wanted_color(arguments), ..Wishes::default() });
    let rendered = error.render();
    // `git discern --help` is git's: it looks for a manual page, which may not be there.
    let short = |text: String| {
        text.replace("try '--help'", "try '-h'").replace("\u{1b}[36m--help\u{1b}[0m'.", "\u{1b}[36m-h\u{1b}[0m'.")
    };
    if matches!(error.kind(), DisplayHelp | DisplayVersion) {
        let color = global.settings.color_output;
        let text = if color { rendered.ansi().to_string() } else { rendered.to_string() };
        global.reporter().raw(text.as_bytes());
        return Exit::Success;
    }
    if error.kind() == clap::error::ErrorKind::InvalidUtf8 {
        let strange = arguments.iter().find(|argument| argument.to_str().is_none());
        let named = strange.map_or_else(String::new, |argument| format!(" `{}`", argument.to_string_lossy()));
        let diagnostic = Diagnostic::new("usage", format!("the argument{named} is not UTF-8"));
        return refuse(&global, word(arguments), &Refusal::new(diagnostic.fix(help_of(word(arguments)))));
    }
    let text = short(rendered.to_string());
    let diagnostic = usage(&text, word(arguments));
    let page = if global.settings.color_error { short(rendered.ansi().to_string()) } else { text };
    let refusal = Refusal { page: Some(page), ..Refusal::new(diagnostic) };
    refuse(&global, word(arguments), &refusal)
}

/// A usage error as data, from the page that people are shown: its first paragraph is what is wrong, its tips are the advice.
fn usage(page: &str, command: &str) -> Diagnostic {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let paragraphs = || page.trim().split("\n\n");
    let wrong = one_line(paragraphs().next().unwrap_or_default());
    let wrong = wrong.strip_prefix("error: ").unwrap_or(&wrong);
    let tips: Vec<String> = paragraphs().flat_map(|paragraph| paragraph.split("tip: ").skip(1)).map(one_line).collect();
    let diagnostic = Diagnostic::new("usage", wrong).fix(help_of(command));
    Diagnostic { advice: (!tips.is_empty()).then(|| tips.join("; ")), ..diagnostic }
}

/// The command that says what `command` takes.
fn help_of(command: &str) -> String {
    if command == NO_COMMAND { "git discern -h".to_owned() } else { format!("git discern {command} -h") }
}

/// Answers with why there is no answer.
fn refuse(global: &Global, command: &str, refusal: &Refusal) -> Exit {
    let mut reporter = global.reporter();
    let mut document = RunDocument::new(command, refusal.exit);
    match &refusal.page {
        Some(page) => reporter.tell_raw(page),
        None => reporter.diagnostics(&refusal.diagnostics),
    }
    if global.settings.answer == Answer::Json {
        document.diagnostics.clone_from(&refusal.diagnostics);
        reporter.answer(&document, |_| Vec::new());
    }
    refusal.exit
}

/// What an error comes to at the edge.
fn refusal(error: &anyhow::Error) -> Refusal {
    if let Some(refusal) = error.chain().find_map(|cause| cause.downcast_ref::<Refusal>()) {
        return refusal.clone();
    }
    if let Some(git) = error.chain().find_map(|cause| cause.downcast_ref::<GitError>()) {
        return here::refusal(git);
    }
    if let Some(store) = error.chain().find_map(|cause| cause.downcast_ref::<StoreError>()) {
        return Refusal::store(Diagnostic::new("store-error", format!("could not {}: {}", store.doing, store.problem)));
    }
    let diagnostic = Diagnostic::new("internal-error", format!("{error:#}"));
    Refusal { exit: Exit::Internal, ..Refusal::new(diagnostic) }
}

/// The subcommand's name as it stands among the arguments, for the document's schema: `usage` where there is none.
fn word(arguments: &[OsString]) -> &str {
    let words = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
    words.filter(|word| !word.starts_with('-')).find(|word| arguments::is_subcommand(word)).unwrap_or(NO_COMMAND)
}

/// Stands in a document's schema where no subcommand was understood.
const NO_COMMAND: &str = "usage";

fn wants_json(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json")
}

fn wanted_color(arguments: &[OsString]) -> ColorWhen {
    if arguments.iter().any(|argument| argument == "--color=never") { ColorWhen::Never } else { ColorWhen::Auto }
}
