//! The environment: read here, and nowhere else, and built here for jobs.
//!
//! A job must not notice how the gate was started: from a shell, by `git discern`, from a hook in the middle of a commit, or
//! by another job. So what git and its hooks put there for *one* repository or *one* command is taken out, and the variables
//! that say where a job runs are put in.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::id::{AttemptId, CommitId, Name};

/// Names and values; names are distinct.
pub type Variables = BTreeMap<OsString, OsString>;

/// What this process was started with.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
pub fn inherited() -> Variables {
    std::env::vars_os().collect()
}

/// The value of one variable of this process, if it is set.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// What a job gets of the caller's environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inheritance {
    /// Everything but git's own.
    Everything,
    /// The short list [`ALWAYS_PASSED`] and what the job declares.
    Declared,
}

/// Where a job runs, told to it in `DISCERN_…`.
#[derive(Debug, Clone, Copy)]
pub struct Marks<'a> {
    /// `DISCERN_ATTEMPT`: also how what outlives both run and supervisor is found (C25). A `run` makes one up.
    pub attempt: AttemptId,
    /// `DISCERN_CANDIDATE`; absent where the tree is no commit's.
    pub candidate: Option<CommitId>,
    /// `DISCERN_JOB`.
    pub job: &'a Name,
    /// `DISCERN_WORKSPACE`, and `PWD`: the top directory that the job runs in.
    pub workspace: &'a Path,
    /// `DISCERN_REPOSITORY`: the common git directory, by which a run inside a job sees that it would wait for itself.
    pub repository: &'a Path,
}

/// Passed under [`Inheritance::Declared`] without being declared; so is every `LC_…`.
pub const ALWAYS_PASSED: [&str; 9] = ["HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TMPDIR", "TZ"];

/// Never passed, declared or not: they point at one repository or carry settings for one command. The first fifteen are
/// what `git rev-parse --local-env-vars` prints; a test compares.
pub const NEVER_PASSED: [&str; 20] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_QUARANTINE_PATH",
    "GIT_EXEC_PATH",
    "GIT_PAGER_IN_USE",
];

/// Passed only when declared: git sets them for the hooks of one commit, merge or rebase, so that a job would see one thing
/// from a hook and another from a shell.
pub const PASSED_WHEN_DECLARED: [&str; 12] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
    "GIT_CHERRY_PICK_HELP",
    "GIT_EDITOR",
    "GIT_LITERAL_PATHSPECS",
    "GIT_REFLOG_ACTION",
    "GIT_SEQUENCE_EDITOR",
    "GIT_MERGE_AUTOEDIT",
];

/// The environment of one job: `inherited`, less what must not reach it, with the `DISCERN_…` of `marks`.
///
/// `declared` are the names in the job's `env`. `DISCERN_…` of an outer run never gets through.
pub fn job_environment(
    inherited: &Variables,
    inheritance: Inheritance,
    declared: &[String],
    marks: &Marks<'_>,
) -> Variables {
    let mut job: Variables = inherited
        .iter()
        .filter(|(name, _)| passes(name, inheritance, declared))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if let Some(path) = job.get_mut(OsStr::new("PATH")) {
        *path = without_exec_path(path);
    }
    let mut set = |name: &str, value: OsString| job.insert(name.into(), value);
    set("PWD", marks.workspace.into());
    set("DISCERN", "1".into());
    set("DISCERN_ATTEMPT", marks.attempt.to_string().into());
    set("DISCERN_JOB", marks.job.as_str().into());
    set("DISCERN_WORKSPACE", marks.workspace.into());
    set("DISCERN_REPOSITORY", marks.repository.into());
    if let Some(candidate) = marks.candidate {
        set("DISCERN_CANDIDATE", candidate.to_string().into());
    }
    job
}

fn passes(name: &OsStr, inheritance: Inheritance, declared: &[String]) -> bool {
    let is_declared = declared.iter().any(|one| name == OsStr::new(one));
    let listed = |list: &[&str]| list.iter().any(|one| name == *one);
    let begins = |start: &str| name.as_bytes().starts_with(start.as_bytes());
    if listed(&NEVER_PASSED) || begins("GIT_CONFIG_KEY_") || begins("GIT_CONFIG_VALUE_") {
        return false;
    }
    // `PWD` and `OLDPWD` are the caller's; the job gets a `PWD` of its own.
    if name == "DISCERN" || begins("DISCERN_") || listed(&["PWD", "OLDPWD"]) {
        return false;
    }
    match inheritance {
        Inheritance::Everything => is_declared || !listed(&PASSED_WHEN_DECLARED),
        Inheritance::Declared => is_declared || listed(&ALWAYS_PASSED) || begins("LC_"),
    }
}

/// `PATH` as it was before `git discern` put the directory of git's own commands in front, which running `git-discern` by
/// itself does not: leading entries that are called `git-core` are dropped.
fn without_exec_path(path: &OsStr) -> OsString {
    let entries: Vec<&[u8]> = path.as_bytes().split(|&byte| byte == b':').collect();
    let is_gits_own = |entry: &&&[u8]| Path::new(OsStr::from_bytes(entry)).file_name() == Some(OsStr::new("git-core"));
    let first = entries.iter().take_while(is_gits_own).count();
    // A `PATH` of nothing else was somebody's choice.
    let kept = if first == entries.len() { &entries[..] } else { &entries[first..] };
    OsString::from_vec(kept.join(&b':'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ObjectId;

    fn job(inheritance: Inheritance, declared: &[&str], inherited: &[(&str, &str)]) -> Vec<(String, String)> {
        let inherited = inherited.iter().map(|&(name, value)| (name.into(), value.into())).collect();
        let declared: Vec<String> = declared.iter().map(|&name| name.to_owned()).collect();
        let marks = Marks {
            attempt: "019ad5a0-0000-7000-8000-000000000000".parse().unwrap(),
            candidate: Some(CommitId("ab".repeat(20).parse::<ObjectId>().unwrap())),
            job: &"lint".parse().unwrap(),
            workspace: Path::new("/w"),
            repository: Path::new("/r/.git"),
        };
        job_environment(&inherited, inheritance, &declared, &marks)
            .into_iter()
            .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
            .collect()
    }

    fn names(variables: &[(String, String)]) -> Vec<&str> {
        let ours = |name: &&str| !name.starts_with("DISCERN") && *name != "PWD";
        variables.iter().map(|(name, _)| name.as_str()).filter(ours).collect()
    }

    fn value<'a>(variables: &'a [(String, String)], name: &str) -> Option<&'a str> {
        variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "asks the installed git")]
    fn every_variable_that_git_calls_local_to_a_repository_is_removed() {
        let output = std::process::Command::new("git").args(["rev-parse", "--local-env-vars"]).output().unwrap();
        let listed = String::from_utf8(output.stdout).unwrap();
        assert!(listed.contains("GIT_DIR"));
        for name in listed.lines() {
            assert!(NEVER_PASSED.contains(&name), "git calls {name} local to a repository");
        }
    }

    #[test]
    fn what_locates_a_repository_never_reaches_a_job_even_when_declared() {
        let of_git =
            [("GIT_DIR", "x"), ("GIT_INDEX_FILE", "x"), ("GIT_CONFIG_KEY_0", "x"), ("GIT_CONFIG_VALUE_12", "x")];
        assert!(names(&job(Inheritance::Everything, &[], &of_git)).is_empty());
        assert!(names(&job(Inheritance::Declared, &["GIT_DIR", "GIT_CONFIG_KEY_0"], &of_git)).is_empty());
    }

    #[test]
    fn what_a_hook_adds_reaches_a_job_only_when_declared() {
        let of_hook = [("GIT_AUTHOR_NAME", "A"), ("GIT_EDITOR", ":"), ("GIT_SSH_COMMAND", "ssh -v")];
        assert_eq!(names(&job(Inheritance::Everything, &[], &of_hook)), ["GIT_SSH_COMMAND"]);
        assert_eq!(
            names(&job(Inheritance::Everything, &["GIT_AUTHOR_NAME"], &of_hook)),
            ["GIT_AUTHOR_NAME", "GIT_SSH_COMMAND"]
        );
    }

    #[test]
    fn strict_passes_a_short_list_and_what_is_declared() {
        let outside = [("HOME", "/h"), ("LC_ALL", "C"), ("RUSTFLAGS", "-g"), ("SECRET", "s"), ("EMPTY", "")];
        assert_eq!(
            names(&job(Inheritance::Declared, &["RUSTFLAGS", "EMPTY", "UNSET"], &outside)),
            ["EMPTY", "HOME", "LC_ALL", "RUSTFLAGS"]
        );
    }

    #[test]
    fn a_job_is_told_where_it_runs_and_nothing_of_an_outer_run() {
        let outer = [
            ("DISCERN_ATTEMPT", "outer"),
            ("DISCERN_JOB", "outer"),
            ("DISCERN_SECRET", "x"),
            ("OLDPWD", "/o"),
            ("PWD", "/o"),
        ];
        let inner = job(Inheritance::Everything, &[], &outer);
        assert_eq!(value(&inner, "DISCERN_JOB"), Some("lint"));
        assert_eq!(value(&inner, "DISCERN_ATTEMPT"), Some("019ad5a0-0000-7000-8000-000000000000"));
        assert_eq!(value(&inner, "DISCERN_CANDIDATE"), Some("ab".repeat(20).as_str()));
        assert_eq!(value(&inner, "DISCERN_REPOSITORY"), Some("/r/.git"));
        assert_eq!(value(&inner, "PWD"), Some("/w"));
        assert_eq!((value(&inner, "DISCERN_SECRET"), value(&inner, "OLDPWD")), (None, None));
    }

    #[test]
    fn the_path_is_the_same_under_git_and_alone() {
        let path = |text: &str| without_exec_path(OsStr::new(text)).into_string().unwrap();
        assert_eq!(path("/usr/lib/git-core:/usr/bin:/bin"), "/usr/bin:/bin");
        assert_eq!(path("/x/git-core/:/y/git-core:/usr/bin"), "/usr/bin");
        assert_eq!(path("/usr/bin:/usr/lib/git-core"), "/usr/bin:/usr/lib/git-core");
        assert_eq!(path("/usr/lib/git-core"), "/usr/lib/git-core");
        assert_eq!(path(""), "");
        assert_eq!(path(":/usr/bin"), ":/usr/bin");
    }
}
