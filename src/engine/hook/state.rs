//! Whether a push from here is looked at.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::folder::{HooksFolder, Kind};
use super::script::{self, Found};
use crate::git::{GitError, Repository};
use crate::os::{environment, files, program};

/// The largest file that is taken for a hook, in bytes.
const HOOK_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The git that first ran hooks named in its configuration.
const CONFIGURED_HOOKS_SINCE: (u32, u32) = (2, 54);

/// Whether git runs our hook for a push from one worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookState {
    /// It does.
    Effective {
        /// The file with our lines, or the setting with our command.
        file: PathBuf,
    },
    /// It does not, or the hook can't do its work.
    NotEffective {
        /// Why, a sentence without its end: names the folder and, where a setting decides, that with its origin.
        why: String,
    },
}

/// Whether git runs our hook for a push from the worktree that `repository` was found in.
///
/// # Errors
/// git can't be asked.
pub fn effective(repository: &Repository) -> Result<HookState, GitError> {
    let folder = HooksFolder::of(repository)?;
    Ok(match obstacle(repository, &folder) {
        Ok(file) => HookState::Effective { file },
        Err(why) => HookState::NotEffective { why },
    })
}

/// The file with our lines or the setting with our command, or why they do nothing.
fn obstacle(repository: &Repository, folder: &HooksFolder) -> Result<PathBuf, String> {
    if let Some(setting) = &folder.turned_off {
        return Err(format!("git is asked to run no pre-push hook, by {setting}"));
    }
    if let Some(name) = &folder.configured
        && repository.git().version().is_ok_and(|(_, version)| version >= CONFIGURED_HOOKS_SINCE)
    {
        return Ok(PathBuf::from(format!("hook.{name}.command")));
    }
    if folder.path.as_os_str().is_empty() {
        let setting = folder.setting.as_ref().map(ToString::to_string).unwrap_or_default();
        return Err(format!("git runs no hooks at all, because of {setting}"));
    }
    let place = folder.described();
    if !folder.path.is_dir() {
        return Err(format!("git looks for hooks in {place}, and there is no such folder"));
    }
    let started = folder.started();
    let text = read(&started).ok_or_else(|| format!("there is no pre-push hook in {place}"))?;
    if !is_executable(&started) {
        return Err(format!("git ignores `{}`, which is not executable", started.display()));
    }
    if folder.kind == Kind::Husky {
        let file = folder.file();
        let ours = read(&file).is_some_and(|text| is_ours(&text));
        return if ours { check_program(repository, file) } else { Err(not_ours(&folder.file())) };
    }
    if is_ours(&text) {
        return check_program(repository, started);
    }
    // pre-commit runs the hook that it found when it was installed.
    let legacy = folder.path.join("pre-push.legacy");
    if text.windows(10).any(|window| window == b"pre-commit") && read(&legacy).is_some_and(|text| is_ours(&text)) {
        return check_program(repository, legacy);
    }
    // Called by hand from somebody's own hook, or by lefthook as one of its commands.
    if script::mentions(&text) || (is_lefthooks(&text) && lefthook_runs_it(repository)) {
        return Ok(started);
    }
    Err(not_ours(&started))
}

/// Whether a hook was written by lefthook, which writes it anew when its configuration changes.
pub(super) fn is_lefthooks(text: &[u8]) -> bool {
    text.windows(8).any(|window| window.eq_ignore_ascii_case(b"lefthook"))
}

/// Whether lefthook's configuration at the worktree's top has the command.
pub(super) fn lefthook_runs_it(repository: &Repository) -> bool {
    let Ok(top) = repository.worktree() else { return false };
    let names = ["lefthook", ".lefthook", "lefthook-local", ".lefthook-local"];
    let files = names.iter().flat_map(|name| ["yml", "yaml", "toml", "json"].map(|kind| format!("{name}.{kind}")));
    files.into_iter().any(|file| read(&top.join(file)).is_some_and(|text| script::mentions(&text)))
}

fn is_ours(text: &[u8]) -> bool {
    matches!(script::find(text), Found::Own(_) | Found::InFrontOf(_)) || script::mentions(text)
}

fn not_ours(file: &Path) -> String {
    format!("the hook `{}` has none of our lines", file.display())
}

/// A hook that does not find the program stops every push.
fn check_program(repository: &Repository, file: PathBuf) -> Result<PathBuf, String> {
    let text = read(&file).unwrap_or_default();
    let noted = || {
        let noted = files::read_bounded(&repository.common_dir().join(script::PROGRAM_FILE), 4096).ok()??;
        Some(String::from_utf8_lossy(&noted).trim().to_owned())
    };
    let named = script::program_in(&text).or_else(noted);
    let top = repository.worktree().unwrap_or(repository.git_dir());
    let search = environment::variable("PATH");
    let is_there = |name: &str| program::is_there(name, search.as_deref(), top);
    if script::mentions(&text) || named.as_deref().is_some_and(is_there) || is_there("git-discern") {
        return Ok(file);
    }
    let named = named.map_or(String::new(), |named| format!(" `{named}`"));
    Err(format!("`{}` finds neither its program{named} nor git-discern on PATH, and stops every push", file.display()))
}

fn read(file: &Path) -> Option<Vec<u8>> {
    files::read_bounded(file, HOOK_BYTES_MAX).ok().flatten()
}

fn is_executable(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0)
}
