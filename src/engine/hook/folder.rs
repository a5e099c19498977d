//! Where git looks for hooks, seen from one worktree.

use std::path::{Path, PathBuf};

use bstr::ByteSlice as _;

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
    /// Setting that turns the event off (`hook.pre-push.enabled`, git 2.54 and later), with its origin.
    pub turned_off: Option<String>,
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
        let pattern = r"^(core\.hookspath|hook\.pre-push\.enabled)$";
        let arguments = ["config", "-z", "--show-scope", "--show-origin", "--type=path", "--get-regexp", pattern];
        // Status 1 means that nothing is set.
        let finished = repository.git().run(&arguments)?;
        let (setting, turned_off) = settings(&finished.stdout);
        let top = repository.worktree().unwrap_or(repository.git_dir());
        let path = match &setting {
            Some(setting) if setting.value.is_empty() => PathBuf::new(),
            Some(setting) => plain(&top.join(&setting.value)),
            None => repository.common_dir().join("hooks"),
        };
        let kind = kind(&path, repository.common_dir(), repository.worktree().ok());
        Ok(Self { path, setting, kind, turned_off })
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
        folder.push(super::script::ASIDE);
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

/// The last `core.hooksPath`, and the last `hook.pre-push.enabled` if it says no.
fn settings(printed: &[u8]) -> (Option<Setting>, Option<String>) {
    let mut fields = printed.split(|&byte| byte == 0).map(|field| field.to_str_lossy().into_owned());
    let (mut setting, mut turned_off) = (None, None);
    while let (Some(scope), Some(origin), Some(entry)) = (fields.next(), fields.next(), fields.next()) {
        let (key, value) = entry.split_once('\n').unwrap_or((&entry, ""));
        if key == "core.hookspath" {
            setting = Some(Setting { value: value.to_owned(), origin, scope });
        } else {
            let off = ["false", "no", "off", "0"].contains(&value.to_lowercase().as_str());
            turned_off = off.then(|| format!("`{key} = {value}` ({scope}, {origin})"));
        }
    }
    (setting, turned_off)
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
        let (setting, turned_off) = settings(printed);
        let setting = setting.expect("it is set");
        assert_eq!(setting.to_string(), "`core.hooksPath = .husky/_` (local, file:.git/config)");
        assert_eq!(turned_off, None);
        assert_eq!(settings(b""), (None, None));
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
