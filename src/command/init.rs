//! `git discern init`: looks at the project and writes a `discern.toml` that works.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::Context as _;
use clap::Args;

use super::{Global, here};
use crate::config::{self, Colour, Config, detect};
use crate::document::{Diagnostic, InitDocument, Refusal};
use crate::exit::{Exit, OutcomeWord};
use crate::git::Repository;
use crate::os::{environment, files, program};
use crate::report::diagnostic::hint;
use crate::report::line::{Line, Role};

/// What its help ends with.
const EXAMPLES: &str = "\
Examples:
  git discern init            write discern.toml
  git discern init --hook     and install the pre-push hook";

/// The arguments of `git discern init`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Init {
    /// Install the pre-push hook as well
    #[arg(long)]
    pub hook: bool,
}

/// Drafts the configuration, writes it beside whatever else is at the top, and says what was guessed.
pub fn run(global: &Global, args: &Init) -> anyhow::Result<Exit> {
    let repository = here::repository()?;
    let top = repository.worktree()?;
    let path = top.join(config::FILE);
    if path.symlink_metadata().is_ok() {
        return Err(already_there(&path).into());
    }
    let draft = draft(&repository, top)?;
    write_new(&path, &draft.toml)?;
    let mut document = document(&draft);
    if args.hook {
        document.hook = super::hook::install(&repository)?.told;
    }
    global.reporter().answer(&document, page);
    Ok(Exit::Success)
}

/// The refusal to overwrite, with what comes next: to use the file, or what keeps it from being used.
fn already_there(path: &Path) -> Refusal {
    if !path.is_file() {
        let message = format!("`{}` is there, and is no file", config::FILE);
        let advice = "look at what it is, and move it away";
        return Refusal::new(Diagnostic::new("config-exists", message).at(config::FILE).advice(advice));
    }
    let message = format!("there is a `{}` already; it is left as it is", config::FILE);
    let diagnostic = Diagnostic::new("config-exists", message).at(config::FILE);
    let Some(text) = content(path) else { return Refusal::new(diagnostic) };
    match Config::parse(text.as_bytes(), config::FILE) {
        Ok(_) => Refusal::new(diagnostic.fix("git discern run")),
        Err(invalid) => {
            let mut refusal = Refusal::new(diagnostic);
            refusal.diagnostics.extend(invalid.refusal(Colour::None).diagnostics);
            refusal
        }
    }
}

/// Asks git and the file system what the draft needs to know.
fn draft(repository: &Repository, top: &Path) -> anyhow::Result<detect::Draft> {
    let listed = repository.git().ask(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
    let names = listed.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    let files: BTreeSet<String> = names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect();
    let contents: BTreeMap<String, String> = files
        .iter()
        .filter(|path| detect::is_read(path))
        .filter_map(|path| Some((path.clone(), content(&top.join(path))?)))
        .collect();
    let search = environment::variable("PATH");
    let has_program = |name: &str| program::is_there(name, search.as_deref(), top);
    let is_ignored = |path: &str| {
        let asked = repository.git().run(&["check-ignore", "--quiet", "--no-index", path]);
        asked.is_ok_and(|finished| finished.status.success())
    };
    Ok(detect::detect(&detect::Project {
        files: &files,
        contents: &contents,
        has_program: &has_program,
        is_ignored: &is_ignored,
    }))
}

/// The text of a file that is not too long to be what it is called; nothing if it can't be read.
fn content(path: &Path) -> Option<String> {
    if !path.is_file() {
        return None;
    }
    let bytes = files::read_bounded(path, config::BYTES_MAX as u64).ok()??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes the whole file or nothing, and only where nothing is: not even a symbolic link that leads nowhere.
fn write_new(path: &Path, text: &str) -> anyhow::Result<()> {
    let directory = path.parent().context("the top of a worktree is a directory")?;
    let written = tempfile::Builder::new()
        .prefix(".discern.toml.")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist_noclobber(path).map_err(|refused| refused.error)
        });
    match written {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(already_there(path).into()),
        Err(error) => {
            let message = format!("could not write `{}`: {error}", config::FILE);
            Err(Refusal::new(Diagnostic::new("unwritable", message).at(config::FILE)).into())
        }
    }
}

fn document(draft: &detect::Draft) -> InitDocument {
    let mut diagnostics: Vec<Diagnostic> =
        draft.advice.iter().map(|advice| Diagnostic::new("advice", advice.as_str())).collect();
    if draft.jobs.is_empty() {
        let message =
            "nothing here says how this project is checked: fill in a command, until then `done` refuses the file";
        diagnostics.insert(0, Diagnostic::new("nothing-known", message).at(config::FILE));
    }
    let commands = ["git discern run", "git add discern.toml && git commit", "git discern done"];
    let hints = if draft.jobs.is_empty() { &[][..] } else { &commands };
    InitDocument {
        schema: "discern/init/1".into(),
        ok: true,
        outcome: OutcomeWord::Passed,
        exit: Exit::Success,
        path: config::FILE.into(),
        jobs: draft.jobs.clone(),
        guessed: draft.guessed.clone(),
        left_out: draft.left_out.clone(),
        hook: Vec::new(),
        diagnostics,
        hints: hints.iter().map(|&command| command.to_owned()).collect(),
    }
}

/// The answer for people.
fn page(document: &InitDocument) -> Vec<Line> {
    let written = match document.jobs.len() {
        0 => "wrote discern.toml, in which no job is filled in yet".to_owned(),
        1 => "wrote discern.toml with 1 job".to_owned(),
        many => format!("wrote discern.toml with {many} jobs"),
    };
    let mut lines = vec![Line::new().with(Role::Good, written)];
    lines.extend(document.guessed.iter().map(|one| Line::text(format!("  {one}"))));
    if !document.left_out.is_empty() {
        lines.push(Line::new().with(Role::Strong, "left out, there as comments"));
        lines.extend(document.left_out.iter().map(|one| Line::new().with(Role::Faint, format!("  {one}"))));
    }
    if !document.diagnostics.is_empty() {
        lines.push(Line::new().with(Role::Caution, "look at"));
        lines.extend(document.diagnostics.iter().map(|one| Line::text(format!("  {}", one.message))));
    }
    lines.extend(document.hook.iter().map(Line::text));
    lines.extend(document.hints.iter().map(|command| hint(command)));
    lines
}
