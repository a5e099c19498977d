//! `git discern manual`: the manual pages, one for each command, from the one definition.
//!
//! The parser's definition has the words; this adds what a manual page has besides: a synopsis as people write it, the exit
//! statuses, the files and the pages to go on with.

use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory as _};
use clap_mangen::Man;

use super::Global;
use super::arguments::{Cli, EXIT_STATUS};
use crate::document::{Diagnostic, Refusal, RunDocument};
use crate::exit::Exit;
use crate::report::diagnostic::hint;
use crate::report::line::{Line, Role};

/// What its help ends with.
const EXAMPLES: &str = "\
Examples:
  git discern manual                           for `git help discern` and `man git-discern`
  git discern manual --into ~/.local/share/man";

/// The arguments of `git discern manual`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Manual {
    /// The folder that holds `man1`
    #[arg(long, value_name = "FOLDER")]
    pub into: Option<PathBuf>,
}

/// What is read and written, for the pages' FILES.
const FILES: &str = ".SH FILES
.TP
.I discern.toml
What must hold, at the top of the repository and committed.
.TP
.I refs/discern/
Attempts, outcomes and receipts.
.TP
.I $GIT_COMMON_DIR/discern/
Journals, logs and kept checkouts.
";

/// One manual page.
#[derive(Debug)]
pub struct Page {
    /// The file's name: `git-discern-done.1`.
    pub file: String,
    /// What stands in it.
    pub text: Vec<u8>,
}

/// Writes the pages.
pub fn run(global: &Global, args: &Manual) -> anyhow::Result<Exit> {
    let folder = match &args.into {
        Some(folder) => folder.clone(),
        None => beside_the_binary()?,
    };
    let unwritable = |error: std::io::Error| {
        let message = format!("the manual pages could not be written to `{}`: {error}", folder.display());
        Refusal::new(Diagnostic::new("unwritable", message).fix("git discern manual --into ~/.local/share/man"))
    };
    let pages = pages()?;
    write(&pages, &folder).map_err(unwritable)?;
    let text = format!("  {} manual pages in {}", pages.len(), folder.display());
    global.reporter().answer(&RunDocument::new("manual", Exit::Success), |_| {
        let line = Line::new().with(Role::Good, "wrote").with(Role::Plain, text);
        vec![line, hint("git help discern")]
    });
    Ok(Exit::Success)
}

/// Where `man` looks for the pages of what lies in the binary's own folder of PATH.
fn beside_the_binary() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let above = own.parent().and_then(Path::parent).unwrap_or(Path::new("/usr/local"));
    Ok(above.join("share/man"))
}

/// Writes `pages` into `man1` below `folder`.
///
/// # Errors
/// The folder can't be made or a file not be written.
pub fn write(pages: &[Page], folder: &Path) -> std::io::Result<()> {
    let section = folder.join("man1");
    std::fs::create_dir_all(&section)?;
    pages.iter().try_for_each(|page| std::fs::write(section.join(&page.file), &page.text))
}

/// A page for each command, the one of `git discern` itself first.
///
/// # Errors
/// None can be: it is written to memory.
pub fn pages() -> std::io::Result<Vec<Page>> {
    let mut cli = Cli::command().disable_help_subcommand(true);
    cli.build();
    let mut pages = Vec::new();
    add(&cli, &names(&cli, "git-discern"), &mut pages)?;
    Ok(pages)
}

/// The names of the pages of a command's subcommands.
fn names(command: &Command, name: &str) -> Vec<String> {
    command.get_subcommands().map(|sub| format!("{name}-{}", sub.get_name())).collect()
}

fn add(command: &Command, others: &[String], pages: &mut Vec<Page>) -> std::io::Result<()> {
    let spaced = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    let name = spaced.replace(' ', "-");
    pages.push(Page { file: format!("{name}.1"), text: page(command, &name, others)? });
    for sub in command.get_subcommands() {
        let mut others = vec!["git-discern".to_owned()];
        others.extend(names(sub, &format!("{name}-{}", sub.get_name())));
        add(sub, &others, pages)?;
    }
    Ok(())
}

fn page(command: &Command, name: &str, others: &[String]) -> std::io::Result<Vec<u8>> {
    let version = concat!("git-discern ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone().name(name.to_owned())).source(version).manual("Git Manual");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    text.extend_from_slice(synopsis(command).as_bytes());
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        text.extend_from_slice(subcommands(command, name).as_bytes());
    }
    if let Some(after) = command.get_after_long_help() {
        text.extend_from_slice(titled(&after.to_string()).as_bytes());
    }
    if command.get_after_long_help().is_none_or(|after| after.to_string() != EXIT_STATUS) {
        text.extend_from_slice(titled(EXIT_STATUS).as_bytes());
    }
    text.extend_from_slice(FILES.as_bytes());
    let others: Vec<String> = others.iter().map(|name| format!("\\%{}(1)", escaped(name))).collect();
    text.extend_from_slice(format!(".SH \"SEE ALSO\"\n{}\n", others.join(", ")).as_bytes());
    Ok(text)
}

/// The line that help calls usage.
fn synopsis(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").split_whitespace().collect::<Vec<&str>>().join(" ");
    format!(".SH SYNOPSIS\n{}\n", escaped(&usage))
}

/// The subcommands with what each is for.
fn subcommands(command: &Command, name: &str) -> String {
    let one = |sub: &Command| {
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        format!(".TP\n\\fB{}\\fR(1)\n{}\n", escaped(&format!("{name}-{}", sub.get_name())), escaped(&about))
    };
    format!(".SH COMMANDS\n{}", command.get_subcommands().map(one).collect::<String>())
}

/// `Title:` and the lines below it, each with what it says and, after two blanks, what that means.
fn titled(text: &str) -> String {
    let (title, lines) = text.split_once('\n').unwrap_or((text, ""));
    let title = title.trim_end_matches(':').to_uppercase();
    let one = |line: &str| {
        let (said, meant) = line.trim().split_once("  ").unwrap_or((line.trim(), ""));
        format!(".TP\n\\fB{}\\fR\n{}\n", escaped(said), escaped(meant.trim()))
    };
    format!(".SH \"{}\"\n{}", escaped(&title), lines.lines().map(one).collect::<String>())
}

/// Text that troff prints as it is.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('~', "\\(ti").replace('^', "\\(ha");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_what_a_page_has() {
        let pages = pages().expect("it is written to memory");
        let files: Vec<&str> = pages.iter().map(|page| page.file.as_str()).collect();
        for file in ["git-discern.1", "git-discern-done.1", "git-discern-hook-install.1", "git-discern-manual.1"] {
            assert!(files.contains(&file), "{file}: {files:?}");
        }
        for Page { file, text } in &pages {
            let text = String::from_utf8_lossy(text);
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "\"EXIT STATUS\"", "FILES", "\"SEE ALSO\""] {
                let headings = text.lines().filter(|line| *line == format!(".SH {section}")).count();
                assert_eq!(headings, 1, "{file}: {section}\n{text}");
            }
        }
    }

    #[test]
    fn what_stands_in_columns_becomes_a_list_that_fits_any_width() {
        let text = titled("Exit status:\n  0    proven\n  129, 130   stopped by SIGHUP, SIGINT");
        let expected =
            ".SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\nproven\n.TP\n\\fB129, 130\\fR\nstopped by SIGHUP, SIGINT\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn nothing_in_a_text_is_taken_for_a_request() {
        assert_eq!(escaped(".git and 'a' \\ b-c"), "\\&.git and 'a' \\e b\\-c");
    }
}
