//! What `git discern init` writes: a `discern.toml` whose commands exist, made from what lies in the project.
//!
//! Pure: the caller hands in the names of the tracked files, the contents of those that [`is_read`] names, and a way to ask
//! whether a program can be run. Each kind of project has a file here that suggests jobs. What a project does not say is
//! not invented: a job that is doubtful goes into the file as a comment with the reason.

mod cargo;
mod go;
mod jvm;
mod make;
mod node;
mod python;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use toml_edit::Document;

/// What is known of a project.
pub struct Project<'a> {
    /// Files that are tracked or could be, `/` between the parts of a path, seen from the top.
    pub files: &'a BTreeSet<String>,
    /// The contents of those of them that [`is_read`] names.
    pub contents: &'a BTreeMap<String, String>,
    /// Whether a program is on `PATH`; with a `/` in its name, whether that file below the top can be executed.
    pub has_program: &'a dyn Fn(&str) -> bool,
    /// Whether git ignores a path, whether or not something is there.
    pub is_ignored: &'a dyn Fn(&str) -> bool,
}

/// What `init` writes and says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The text of `discern.toml`.
    pub toml: String,
    /// The names of the jobs in it. Without any, the file demands nothing yet and `done` refuses it.
    pub jobs: Vec<String>,
    /// What was taken for granted, a sentence for each job.
    pub guessed: Vec<String>,
    /// What was left out, with the reason.
    pub left_out: Vec<String>,
    /// What the user should look at.
    pub advice: Vec<String>,
}

/// A job that a project may want.
#[derive(Debug, Clone)]
struct Suggestion {
    /// Names the kind of project where two of them want a job of one name.
    kind: &'static str,
    name: &'static str,
    run: String,
    /// Why it is suggested, a fragment: "`Cargo.toml`".
    because: String,
    /// Programs without which it can't run.
    programs: Vec<String>,
    /// Jobs of the same kind.
    needs: Vec<String>,
    inputs: Vec<String>,
    env: Vec<&'static str>,
    toolchain: Vec<String>,
    /// Why it is left out all the same.
    doubt: Option<String>,
}

impl Suggestion {
    fn new(kind: &'static str, name: &'static str, run: impl Into<String>, because: impl Into<String>) -> Self {
        Self {
            kind,
            name,
            run: run.into(),
            because: because.into(),
            programs: Vec::new(),
            needs: Vec::new(),
            inputs: Vec::new(),
            env: Vec::new(),
            toolchain: Vec::new(),
            doubt: None,
        }
    }

    fn with_programs(mut self, programs: &[&str]) -> Self {
        self.programs = programs.iter().map(|&program| program.to_owned()).collect();
        self
    }

    fn with_toolchain(mut self, toolchain: &[&str]) -> Self {
        self.toolchain = toolchain.iter().map(|&command| command.to_owned()).collect();
        self
    }

    fn doubtful_if(mut self, doubtful: bool, reason: impl Into<String>) -> Self {
        if doubtful && self.doubt.is_none() {
            self.doubt = Some(reason.into());
        }
        self
    }
}

/// Jobs and advice, as they are found.
#[derive(Default)]
struct Findings {
    suggestions: Vec<Suggestion>,
    advice: Vec<String>,
}

/// Whether the contents of the file at `path` are of use to [`detect`].
pub fn is_read(path: &str) -> bool {
    const READ: [&str; 11] = [
        "Cargo.toml",
        "package.json",
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "Makefile",
        "GNUmakefile",
        "makefile",
        "justfile",
        ".justfile",
        ".pre-commit-config.yaml",
    ];
    READ.contains(&path) || path == "Justfile" || is_continuous_integration(path)
}

fn is_continuous_integration(path: &str) -> bool {
    let yaml = path.ends_with(".yml") || path.ends_with(".yaml");
    yaml && (path.starts_with(".github/workflows/") || path.starts_with(".gitlab-ci") || path.starts_with(".circleci/"))
}

/// Looks at the project and drafts its configuration.
pub fn detect(project: &Project<'_>) -> Draft {
    let mut findings = Findings::default();
    cargo::look(project, &mut findings);
    node::look(project, &mut findings);
    python::look(project, &mut findings);
    go::look(project, &mut findings);
    jvm::look(project, &mut findings);
    let by_language = !findings.suggestions.is_empty();
    make::look(project, by_language, &mut findings);
    let suggestions = settle(project, findings.suggestions);
    write::draft(&suggestions, findings.advice)
}

/// Leaves out what can't run here, drops references to what is left out, and gives each job a name of its own.
fn settle(project: &Project<'_>, suggestions: Vec<Suggestion>) -> Vec<(String, Suggestion)> {
    let mut settled: Vec<(String, Suggestion)> = Vec::new();
    for mut suggestion in suggestions {
        let missing = suggestion.programs.iter().find(|program| !(project.has_program)(program));
        if let Some(program) = missing {
            let reason = match program.contains('/') {
                true => format!("`{program}` can't be executed here"),
                false => format!("there is no program `{program}` on PATH"),
            };
            suggestion = suggestion.doubtful_if(true, reason);
        }
        let runs = |command: &String| command.split(' ').next().is_some_and(|program| (project.has_program)(program));
        suggestion.toolchain.retain(runs);
        let kept = || settled.iter().filter(|(_, other)| other.doubt.is_none());
        let same_kind = |needed: &String| {
            let found = kept().find(|(_, other)| other.kind == suggestion.kind && other.name == needed);
            found.map(|(name, _)| name.clone())
        };
        suggestion.needs = suggestion.needs.iter().filter_map(same_kind).collect();
        let taken = kept().any(|(name, _)| name == suggestion.name);
        let name = match taken {
            true => format!("{}-{}", suggestion.name, suggestion.kind),
            false => suggestion.name.to_owned(),
        };
        settled.push((name, suggestion));
    }
    settled
}

impl Project<'_> {
    fn has(&self, path: &str) -> bool {
        self.files.contains(path)
    }

    /// The first of `paths` that is there.
    fn first<'p>(&self, paths: &[&'p str]) -> Option<&'p str> {
        paths.iter().copied().find(|path| self.has(path))
    }

    fn content(&self, path: &str) -> &str {
        self.contents.get(path).map_or("", String::as_str)
    }

    /// The TOML file at `path`; nothing if it is not there or is no TOML.
    fn toml(&self, path: &str) -> Option<Document<String>> {
        Document::parse(self.contents.get(path)?.clone()).ok()
    }

    /// A file in which the project's own automation says `words`.
    fn says(&self, words: &str) -> Option<&str> {
        let automation = |path: &str| {
            is_continuous_integration(path) || make::is_recipe_file(path) || path.starts_with(".pre-commit")
        };
        let found = self.contents.iter().find(|(path, text)| automation(path) && text.contains(words));
        found.map(|(path, _)| path.as_str())
    }

    /// Advises to have git ignore what the jobs leave at `path`, unless it does.
    fn advise_to_ignore(&self, path: &str, findings: &mut Findings) {
        if !(self.is_ignored)(path) {
            let top = path.split('/').next().unwrap_or(path);
            findings.advice.push(format!(
                "add `{top}` to `.gitignore`: `done` refuses untracked files, and the jobs leave some there"
            ));
        }
    }
}

#[cfg(test)]
mod tests;
