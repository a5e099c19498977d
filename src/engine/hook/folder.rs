//! Where git looks for hooks, seen from one worktree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bstr::ByteSlice as _;

use super::script;
use crate::git::{GitError, Repository};

/// The folder in which git looks for hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HooksFolder {
    /// The folder; it may not exist.
    pub path: PathBuf,
    /// `core.hooksPath`, where that decides.
    pub setting: Option<Setting>,
    /// Whose it is.
    pub kind: Kind,
    /// The setting that asks git to run no pre-push hook (`hook.pre-push.enabled`), with its origin.
    pub turned_off: Option<String>,
    /// A configured hook (`hook.<name>.command`, git 2.54 and later) that runs our command: its name.
    pub configured: Option<String>,
}

/// `core.hooksPath` as it is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its value, with `~` resolved.
    pub value: String,
    /// Where it is set, as git says it: `file:.git/config`, `command line:`.
    pub origin: String,
    /// `system`, `global`, `local`, `worktree`, `command`.
    pub scope: String,
}

impl std::fmt::Display for Setting {
    /// "`core.hooksPath = .husky/_` (local, file:.git/config)".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`core.hooksPath = {}` ({}, {})", self.value, self.scope, self.origin)
    }
}

/// Whose a hooks folder is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// This repository's own, shared by its worktrees.
    Repository,
    /// In the worktree, so that its files are the project's.
    Worktree,
    /// husky's generated folder (version 9) in the worktree: its stubs run the files in the folder above.
    Husky,
    /// Anywhere else: it may serve other repositories, too.
    Elsewhere,
}

impl HooksFolder {
    /// The folder that a git started in this worktree uses.
    ///
    /// # Errors
    /// git can't be asked.
    pub fn of(repository: &Repository) -> Result<Self, GitError> {
        let pattern = r"^(core\.hookspath|hook\..*\.(enabled|event|command))$";
        let arguments = ["config", "-z", "--show-scope", "--show-origin", "--type=path", "--get-regexp", pattern];
        // Status 1 means that nothing is set.
        let finished = repository.git().run(&arguments)?;
        let Settings { setting, turned_off, configured } = settings(&finished.stdout);
        let top = repository.worktree().unwrap_or(repository.git_dir());
        let path = match &setting {
            Some(setting) if setting.value.is_empty() => PathBuf::new(),
            Some(setting) => plain(&top.join(&setting.value)),
            None => repository.common_dir().join("hooks"),
        };
        let kind = kind(&path, repository.common_dir(), repository.worktree().ok());
        Ok(Self { path, setting, kind, turned_off, configured })
    }

    /// The file that our lines go into.
    pub fn file(&self) -> PathBuf {
        let folder = match self.kind {
            Kind::Husky => self.path.parent().unwrap_or(&self.path),
            Kind::Repository | Kind::Worktree | Kind::Elsewhere => &self.path,
        };
        folder.join("pre-push")
    }

    /// The file that git starts.
    pub fn started(&self) -> PathBuf {
        self.path.join("pre-push")
    }

    /// Where a hook that can't have our lines in front is moved.
    pub fn aside(&self) -> PathBuf {
        let mut folder = self.path.clone().into_os_string();
        folder.push(script::ASIDE);
        PathBuf::from(folder).join("pre-push")
    }

    /// The folder and, where a setting names it, that.
    pub fn described(&self) -> String {
        match &self.setting {
            Some(setting) => format!("`{}`, because of {setting}", self.path.display()),
            None => format!("`{}`", self.path.display()),
        }
    }
}

fn kind(path: &Path, common_dir: &Path, worktree: Option<&Path>) -> Kind {
    let resolved = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if resolved.starts_with(common_dir) {
        return Kind::Repository;
    }
    if !worktree.is_some_and(|top| resolved.starts_with(top)) {
        return Kind::Elsewhere;
    }
    let generated = path.file_name().is_some_and(|name| name == "_")
        && (path.join("h").is_file() || path.parent().is_some_and(|above| above.ends_with(".husky")));
    if generated { Kind::Husky } else { Kind::Worktree }
}

/// What the configuration says about hooks.
#[derive(Debug, Default, PartialEq, Eq)]
struct Settings {
    setting: Option<Setting>,
    turned_off: Option<String>,
    configured: Option<String>,
}

/// A hook that is configured by name.
#[derive(Debug, Default)]
struct Configured {
    runs_ours: bool,
    on_push: bool,
    disabled: bool,
}

fn settings(printed: &[u8]) -> Settings {
    let mut fields = printed.split(|&byte| byte == 0).map(|field| field.to_str_lossy().into_owned());
    let mut found = Settings::default();
    let mut hooks: BTreeMap<String, Configured> = BTreeMap::new();
    while let (Some(scope), Some(origin), Some(entry)) = (fields.next(), fields.next(), fields.next()) {
        let (key, value) = entry.split_once('\n').unwrap_or((&entry, ""));
        let is_off = ["false", "no", "off", "0"].contains(&value.to_lowercase().as_str());
        if key == "core.hookspath" {
            found.setting = Some(Setting { value: value.to_owned(), origin, scope });
        } else if key == "hook.pre-push.enabled" {
            found.turned_off = is_off.then(|| format!("`{key} = {value}` ({scope}, {origin})"));
        } else if let Some((name, part)) = key.strip_prefix("hook.").and_then(|rest| rest.rsplit_once('.')) {
            let hook = hooks.entry(name.to_owned()).or_default();
            match part {
                "command" => hook.runs_ours = script::mentions(value.as_bytes()),
                "event" => hook.on_push |= value == "pre-push",
                _ => hook.disabled = is_off,
            }
        }
    }
    let runs = |hook: &Configured| hook.runs_ours && hook.on_push && !hook.disabled;
    found.configured = hooks.into_iter().find(|(_, hook)| runs(hook)).map(|(name, _)| name);
    found
}

/// The path without `.` and without a slash at its end.
fn plain(path: &Path) -> PathBuf {
    path.components().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_setting_wins_and_is_told_with_its_origin() {
        let printed = b"global\0file:/h/.gitconfig\0core.hookspath\n/h/hooks\0local\0file:.git/config\0core.hookspath\n.husky/_\0";
        let found = settings(printed);
        assert_eq!(
            found.setting.expect("it is set").to_string(),
            "`core.hooksPath = .husky/_` (local, file:.git/config)"
        );
        assert_eq!(found.turned_off, None);
        assert_eq!(settings(b""), Settings::default());
    }

    #[test]
    fn a_configured_hook_counts_if_it_runs_our_command_on_a_push_and_is_not_disabled() {
        let of = |lines: &[&str]| {
            let printed: String = lines.iter().map(|line| format!("local\0file:x\0{line}\0")).collect();
            settings(printed.as_bytes()).configured
        };
        let (command, event) = ("hook.d.command\ngit discern hook pre-push \"$@\"", "hook.d.event\npre-push");
        assert_eq!(of(&[command, event]).as_deref(), Some("d"));
        assert_eq!(of(&[command]), None);
        assert_eq!(of(&[command, event, "hook.d.enabled\nfalse"]), None);
        assert_eq!(of(&["hook.d.command\nlint", event]), None);
    }

    #[test]
    fn a_folder_belongs_to_the_repository_the_worktree_or_somebody_else() {
        let of = |path: &str| kind(Path::new(path), Path::new("/no/r/.git"), Some(Path::new("/no/r")));
        assert_eq!(of("/no/r/.git/hooks"), Kind::Repository);
        assert_eq!(of("/no/r/.githooks"), Kind::Worktree);
        assert_eq!(of("/no/r/.husky/_"), Kind::Husky);
        assert_eq!(of("/no/hooks"), Kind::Elsewhere);
    }
}
