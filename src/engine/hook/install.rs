//! Putting the hook in place, and taking it out.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::folder::{HooksFolder, Kind};
use super::script::{self, Besides, Found, Program};
use super::shared::Users;
use super::state::{self, HookState};
use super::{HookError, Setting};
use crate::engine::kept;
use crate::git::{LocationVariables, Repository};
use crate::os::files::{self, Durability};

/// The largest file that is taken for a hook, in bytes.
const HOOK_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// More worktrees than this are not looked at.
const WORKTREES_MAX: usize = 64;

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The hook file.
    pub file: PathBuf,
    /// What was done and what to know, a sentence each.
    pub told: Vec<String>,
}

/// A hook file as it lies there.
struct Hook {
    text: Vec<u8>,
    mode: u32,
    is_link: bool,
}

impl Hook {
    fn read(file: &Path) -> Result<Option<Self>, HookError> {
        let doing = || format!("read `{}`", file.display());
        let meta = match file.symlink_metadata() {
            Ok(meta) => meta,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            Err(error) => return Err(HookError::io(doing())(error)),
        };
        // A link that leads nowhere is somebody's, too.
        if meta.is_dir() {
            return Err(HookError::InTheWay { file: file.to_owned() });
        }
        let text = match files::read_bounded(file, HOOK_BYTES_MAX) {
            Ok(text) => text.unwrap_or_default(),
            Err(_) if meta.is_symlink() => Vec::new(),
            Err(error) => return Err(HookError::io(doing())(error)),
        };
        let mode = std::fs::metadata(file).map_or(0, |meta| meta.permissions().mode() & 0o7777);
        Ok(Some(Self { text, mode, is_link: meta.is_symlink() }))
    }

    fn is_executable(&self) -> bool {
        self.mode & 0o111 != 0
    }
}

/// Puts the hook in place for the worktree that we stand in, or renews it. `program` is the absolute path of the binary.
///
/// # Errors
/// Hooks are turned off, there is a hook that can't be chained, or a file can't be read or written.
pub fn install(repository: &Repository, program: &str) -> Result<Installed, HookError> {
    let folder = HooksFolder::of(repository)?;
    refuse_if_turned_off(&folder)?;
    let file = folder.file();
    let mut told = Vec::new();
    let finder = match folder.kind {
        Kind::Repository => Program::At(program.to_owned()),
        Kind::Worktree | Kind::Husky => Program::Noted,
        Kind::Elsewhere => Program::NotedOrElseNothing,
    };
    if finder != Program::At(program.to_owned()) {
        note_program(repository, program)?;
    }
    if folder.kind == Kind::Elsewhere {
        Users::of(&folder)?.add(repository.common_dir())?;
    }
    let found = Hook::read(&file)?;
    match &found {
        None => {
            write(&file, script::own(&finder, Besides::Nothing).as_bytes(), 0o755)?;
            told.push(format!("wrote the hook `{}`", file.display()));
        }
        Some(hook) => match script::find(&hook.text) {
            Found::Own(besides) => {
                write(&file, script::own(&finder, besides).as_bytes(), hook.mode | 0o111)?;
                told.push(format!("the hook `{}` was ours already; renewed", file.display()));
            }
            Found::InFrontOf(theirs) => {
                let text = script::in_front_of(&theirs, &finder).ok_or(HookError::Mangled { file: file.clone() })?;
                // Where ours were put in front of it, it was executable.
                write(&file, &text, hook.mode | 0o111)?;
                told.push(format!("our lines in `{}` were there already; renewed", file.display()));
            }
            Found::Mangled => return Err(HookError::Mangled { file }),
            Found::Foreign => chain(&folder, &file, hook, &finder, &mut told)?,
        },
    }
    if found.as_ref().is_some_and(|hook| state::is_lefthooks(&hook.text)) && !state::lefthook_runs_it(repository) {
        told.push(
            "lefthook writes its hooks anew when its configuration changes, and our lines are gone then: \
             let `lefthook.yml` run `git discern hook pre-push {0}` with `use_stdin: true` instead"
                .to_owned(),
        );
    }
    told.extend(advice(&folder));
    told.extend(elsewhere_not_effective(repository));
    Ok(Installed { file, told })
}

/// Makes the hook executable again where it holds our lines and git ignores it for its mode; the file, if that was so.
///
/// # Errors
/// It can't be read, or its mode can't be changed.
pub fn make_executable(repository: &Repository) -> Result<Option<PathBuf>, HookError> {
    let folder = HooksFolder::of(repository)?;
    if folder.kind == Kind::Husky {
        return Ok(None);
    }
    let file = folder.file();
    let hook = match Hook::read(&file) {
        Ok(hook) => hook.filter(|hook| !hook.is_executable()),
        Err(HookError::InTheWay { .. }) => None,
        Err(error) => return Err(error),
    };
    let Some(hook) = hook.filter(|hook| matches!(script::find(&hook.text), Found::Own(_) | Found::InFrontOf(_))) else {
        return Ok(None);
    };
    let mode = std::fs::Permissions::from_mode(hook.mode | 0o111);
    std::fs::set_permissions(&file, mode).map_err(HookError::io(format!("make `{}` executable", file.display())))?;
    Ok(Some(file))
}

/// Puts our lines in front of a hook that was there before or, where that can't be, moves it aside.
fn chain(
    folder: &HooksFolder,
    file: &Path,
    hook: &Hook,
    finder: &Program,
    told: &mut Vec<String>,
) -> Result<(), HookError> {
    let runs = hook.is_executable() || folder.kind == Kind::Husky;
    if !hook.is_link
        && runs
        && script::is_shell(&hook.text)
        && let Some(text) = script::in_front_of(&hook.text, finder)
    {
        write(file, &text, hook.mode)?;
        told.push(format!("`{}` was there; our lines stand in front of it and it goes on as before", file.display()));
        return Ok(());
    }
    if matches!(folder.kind, Kind::Worktree | Kind::Husky) {
        return Err(HookError::NoShellScript { file: file.to_owned() });
    }
    let aside = folder.aside();
    if aside.symlink_metadata().is_ok() {
        return Err(HookError::InTheWay { file: aside });
    }
    let beside = aside.parent().unwrap_or(&aside);
    std::fs::create_dir_all(beside).map_err(HookError::io(format!("make `{}`", beside.display())))?;
    std::fs::rename(file, &aside).map_err(HookError::io(format!("move `{}`", file.display())))?;
    // A file that git did not run before is not made to run now.
    let besides = if runs { Besides::Moved } else { Besides::Nothing };
    if let Err(error) = write(file, script::own(finder, besides).as_bytes(), 0o755) {
        let _ = std::fs::rename(&aside, file);
        return Err(error);
    }
    let fate = if runs { "it runs after ours" } else { "git did not run it, and still does not" };
    told.push(format!("the hook that was there is now `{}`; {fate}", aside.display()));
    Ok(())
}

/// Takes the hook out and restores what was there before, byte for byte.
///
/// # Errors
/// A file can't be read or written, or our lines were edited.
pub fn uninstall(repository: &Repository) -> Result<Installed, HookError> {
    let folder = HooksFolder::of(repository)?;
    refuse_if_turned_off(&folder)?;
    let (file, aside) = (folder.file(), folder.aside());
    let mut told = Vec::new();
    let users = if folder.kind == Kind::Elsewhere { Some(Users::of(&folder)?) } else { None };
    let program = repository.common_dir().join(script::PROGRAM_FILE);
    files::remove_if_there(&program).map_err(HookError::io(format!("remove `{}`", program.display())))?;
    if let Some(users) = users {
        let others = users.remove(repository.common_dir())?;
        if others > 0 {
            told.push(format!(
                "`{}` lets this repository's pushes through now; it stays, because {others} more use it",
                file.display()
            ));
            return Ok(Installed { file, told });
        }
    }
    let Some(hook) = Hook::read(&file)? else {
        told.push(format!("there is no hook in {}", folder.described()));
        return Ok(Installed { file, told });
    };
    match script::find(&hook.text) {
        Found::Foreign => told.push(format!("`{}` holds nothing of ours", file.display())),
        Found::Mangled => return Err(HookError::Mangled { file }),
        Found::InFrontOf(theirs) => {
            write(&file, &theirs, hook.mode)?;
            told.push(format!("`{}` is as it was before", file.display()));
        }
        Found::Own(_) if aside.symlink_metadata().is_ok() => {
            std::fs::rename(&aside, &file).map_err(HookError::io(format!("move `{}`", aside.display())))?;
            // It is only there for what was moved; anything else in it is somebody's.
            let _ = aside.parent().map(std::fs::remove_dir);
            told.push(format!("`{}` is as it was before", file.display()));
        }
        Found::Own(_) => {
            std::fs::remove_file(&file).map_err(HookError::io(format!("remove `{}`", file.display())))?;
            told.push(format!("removed the hook `{}`", file.display()));
        }
    }
    Ok(Installed { file, told })
}

fn refuse_if_turned_off(folder: &HooksFolder) -> Result<(), HookError> {
    match &folder.setting {
        // `/dev/null` is the usual way to say it.
        Some(Setting { value, origin, .. }) if value.is_empty() || folder.path.exists() && !folder.path.is_dir() => {
            Err(HookError::TurnedOff { value: value.clone(), origin: origin.clone() })
        }
        _ => Ok(()),
    }
}

/// What to know about the folder that the hook went into.
fn advice(folder: &HooksFolder) -> Option<String> {
    let because = folder.setting.as_ref().map(ToString::to_string).unwrap_or_default();
    match folder.kind {
        Kind::Repository => None,
        Kind::Worktree | Kind::Husky => Some(format!(
            "git looks for hooks in this worktree, because of {because}: commit the file, so that every checkout has it"
        )),
        Kind::Elsewhere => Some(format!(
            "git looks for hooks in `{}`, because of {because}: other repositories may use it, and the hook lets their \
             pushes through",
            folder.path.display()
        )),
    }
}

/// Other worktrees of the repository in which no hook of ours runs.
fn elsewhere_not_effective(repository: &Repository) -> Vec<String> {
    let here = repository.worktree().ok();
    let listed = repository.worktrees().unwrap_or_default();
    // Nobody pushes from a kept checkout.
    let kept: Vec<PathBuf> = kept::all(repository).into_iter().map(|kept| kept.path).collect();
    let others = listed.iter().filter(|other| Some(other.path.as_path()) != here && !kept.contains(&other.path));
    let others = others.take(WORKTREES_MAX);
    let looked = others.filter_map(|other| {
        let seen = Repository::discover(&other.path, &LocationVariables::default()).ok()?;
        match state::effective(&seen).ok()? {
            HookState::Effective { .. } => None,
            HookState::NotEffective { why } => {
                Some(format!("in `{}` no hook of ours runs: {why}", other.path.display()))
            }
        }
    });
    looked.collect()
}

/// Notes the program for hooks that serve more than one checkout.
fn note_program(repository: &Repository, program: &str) -> Result<(), HookError> {
    let file = repository.common_dir().join(script::PROGRAM_FILE);
    let doing = || format!("write `{}`", file.display());
    let sharing = repository.sharing();
    files::create_dir_durably(&repository.private_dir(), sharing.directory_mode()).map_err(HookError::io(doing()))?;
    files::replace(&file, format!("{program}\n").as_bytes(), sharing.file_mode(), Durability::Synced)
        .map_err(HookError::io(doing()))
}

fn write(file: &Path, text: &[u8], mode: u32) -> Result<(), HookError> {
    let doing = || format!("write `{}`", file.display());
    let folder = file.parent().unwrap_or(file);
    if folder.exists() && !folder.is_dir() {
        return Err(HookError::InTheWay { file: folder.to_owned() });
    }
    std::fs::create_dir_all(folder).map_err(HookError::io(doing()))?;
    files::replace(file, text, mode, Durability::Synced).map_err(HookError::io(doing()))
}
