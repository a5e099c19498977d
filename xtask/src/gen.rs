//! `cargo xtask gen`: what is generated from the code.
//!
//! Committed, and compared by `--check`: the JSON Schemas under `docs/schema/`, the command reference
//! `docs/commands.md`, the list of the documents' fields, and the configuration reference `docs/configuration.md`. Not committed, made under `target/assets/` for packages: man pages and completions.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Args, CommandFactory as _};
use git_discern::command::arguments::Cli;
use git_discern::command::completions::{Shell, script};
use git_discern::command::manual;
use git_discern::config;
use git_discern::report::schema;

/// Where the documents' fields are listed.
const FIELDS: &str = "docs/schema/fields.txt";

/// Its arguments.
#[derive(Debug, Args)]
pub(crate) struct Gen {
    /// Write nothing; fail where a committed file differs
    #[arg(long)]
    pub(crate) check: bool,
}

/// Runs it.
pub(crate) fn run(args: &Gen) -> anyhow::Result<()> {
    let mut stale = Vec::new();
    for (path, content) in committed() {
        if fs::read_to_string(&path).ok().as_deref() == Some(&content) {
            continue;
        }
        if args.check {
            stale.push(path.display().to_string());
        } else {
            write(&path, content.as_bytes())?;
            println!("wrote {}", path.display());
        }
    }
    if !stale.is_empty() {
        bail!("generated files differ from the code; run `cargo xtask gen`: {}", stale.join(", "));
    }
    if !args.check {
        assets(Path::new("target/assets"))?;
    }
    Ok(())
}

/// The committed files and what must stand in them.
fn committed() -> Vec<(PathBuf, String)> {
    let mut files: Vec<(PathBuf, String)> = schema::schemas()
        .into_iter()
        .map(|(command, of)| (Path::new("docs/schema").join(format!("{command}.json")), schema::text(&of)))
        .collect();
    files.push((FIELDS.into(), fields()));
    files.push(("docs/commands.md".into(), reference()));
    files.push(("docs/configuration.md".into(), config::reference()));
    files.push(("docs/schema/discern-toml.json".into(), format!("{:#}\n", config::schema())));
    files
}

/// Every field that a document ever had: those in the file stay in it, and a test holds that they are still there.
fn fields() -> String {
    let mut fields = schema::fields();
    fields.extend(fs::read_to_string(FIELDS).unwrap_or_default().lines().map(str::to_owned));
    fields.into_iter().map(|line| line + "\n").collect()
}

/// The command reference: the long help of every command, as it is printed.
fn reference() -> String {
    let mut text = String::from(
        "# Commands\n\nGenerated from the command line's definition by `cargo xtask gen`; what `--help` says after any of them. For\n`git discern --help` git itself opens the manual page, as for `git help discern`; `git discern -h` needs none.\n",
    );
    let mut cli = Cli::command().term_width(100);
    cli.build();
    let mut all = vec![("git discern".to_owned(), cli.clone())];
    for command in cli.get_subcommands().filter(|command| command.get_name() != "help") {
        all.push((format!("git discern {}", command.get_name()), command.clone()));
        let nested = command.get_subcommands().filter(|nested| nested.get_name() != "help");
        all.extend(
            nested.map(|nested| (format!("git discern {} {}", command.get_name(), nested.get_name()), nested.clone())),
        );
    }
    for (title, mut command) in all {
        let help = command.render_long_help().to_string();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        text.push_str(&format!("\n## `{title}`\n\n```text\n{}\n```\n", help.join("\n").trim_end()));
    }
    text
}

/// Writes man pages and completions under `folder`.
pub(crate) fn assets(folder: &Path) -> anyhow::Result<()> {
    manual::write(&manual::pages()?, &folder.join("man"))?;
    let completions = folder.join("completions");
    fs::create_dir_all(&completions)?;
    for (shell, name) in
        [(Shell::Bash, "git-discern.bash"), (Shell::Zsh, "_git-discern"), (Shell::Fish, "git-discern.fish")]
    {
        fs::write(completions.join(name), script(shell)?)?;
    }
    Ok(())
}

fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let folder = path.parent().context("a generated file has a folder")?;
    fs::create_dir_all(folder)?;
    fs::write(path, content).with_context(|| format!("write `{}`", path.display()))
}
