//! Python: tox, pytest, ruff and mypy, each where the project configures it, run through the project's own environment
//! manager where a lock file names one.

use toml_edit::{Document, Item};

use super::{Findings, Project, Suggestion};

const MARKS: [&str; 9] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "tox.ini",
    "pytest.ini",
    "requirements.txt",
    "Pipfile",
    "ruff.toml",
    "mypy.ini",
];

/// Environment managers, by their lock files.
const MANAGERS: [Manager; 4] = [
    Manager { lock: "uv.lock", program: "uv", front: "uv run --locked ", install: None },
    Manager {
        lock: "poetry.lock",
        program: "poetry",
        front: "poetry run ",
        install: Some("poetry install --no-interaction"),
    },
    Manager { lock: "pdm.lock", program: "pdm", front: "pdm run ", install: Some("pdm sync") },
    Manager { lock: "Pipfile.lock", program: "pipenv", front: "pipenv run ", install: Some("pipenv sync --dev") },
];

#[derive(Clone, Copy)]
struct Manager {
    lock: &'static str,
    program: &'static str,
    /// What goes in front of a command.
    front: &'static str,
    /// Brings the environment up to the lock file, where that is not a part of running a command.
    install: Option<&'static str>,
}

pub(super) fn look(project: &Project<'_>, findings: &mut Findings) {
    if project.first(&MARKS).is_none() {
        return;
    }
    let pyproject = project.toml("pyproject.toml");
    let manager = MANAGERS.into_iter().find(|manager| project.has(manager.lock));
    let tools = Tools { project, manager };
    findings.suggestions.extend(install(&tools));
    let before = findings.suggestions.len();
    findings.suggestions.extend(ruff(&tools, pyproject.as_ref()));
    findings.suggestions.extend(mypy(&tools, pyproject.as_ref()));
    findings.suggestions.push(test(&tools, pyproject.as_ref()));
    if manager.is_none() && findings.suggestions[before..].iter().any(|job| job.doubt.is_none()) {
        findings.advice.push(
            "no lock file of uv, poetry, pdm or pipenv was found: the jobs use the programs on PATH and the packages installed there"
                .into(),
        );
    }
    project.advise_to_ignore("__pycache__/x.pyc", findings);
}

struct Tools<'a> {
    project: &'a Project<'a>,
    manager: Option<Manager>,
}

impl Tools<'_> {
    /// A job that runs `tool` with `arguments`.
    fn job(&self, name: &'static str, tool: &'static str, arguments: &str, because: String) -> Suggestion {
        let (front, program) = self.manager.map_or(("", tool), |manager| (manager.front, manager.program));
        let run = format!("{front}{tool} {arguments}");
        let mut job = Suggestion::new("python", name, run.trim_end(), because).with_programs(&[program]);
        job.env = vec!["PYTHONPATH"];
        job.toolchain = match self.manager {
            Some(_) => vec![format!("{program} --version"), format!("{front}python --version")],
            None => vec!["python3 --version".into(), format!("{tool} --version")],
        };
        if self.manager.is_some_and(|manager| manager.install.is_some()) {
            job.needs.push("install".into());
        }
        if self.manager.is_none() && (tool == "pytest" || tool == "mypy") {
            job.toolchain.push("pip freeze".into());
        }
        job
    }
}

/// Brings the environment up to the lock file. It may build the project itself, so it depends on the whole tree.
fn install(tools: &Tools<'_>) -> Option<Suggestion> {
    let manager = tools.manager?;
    let job = Suggestion::new("python", "install", manager.install?, format!("`{}`", manager.lock));
    let mut job = job.with_programs(&[manager.program]);
    job.toolchain = vec![format!("{} --version", manager.program), "python3 --version".into()];
    Some(job)
}

fn section<'a>(pyproject: Option<&'a Document<String>>, tool: &str) -> Option<&'a Item> {
    pyproject?.get("tool")?.get(tool)
}

fn ruff(tools: &Tools<'_>, pyproject: Option<&Document<String>>) -> Vec<Suggestion> {
    let own_file = tools.project.first(&["ruff.toml", ".ruff.toml"]);
    let configured = section(pyproject, "ruff");
    let because = match (own_file, configured) {
        (Some(file), _) => format!("`{file}`"),
        (None, Some(_)) => "`[tool.ruff]` in `pyproject.toml`".to_owned(),
        (None, None) => return Vec::new(),
    };
    let format_configured = configured.is_some_and(|ruff| ruff.get("format").is_some());
    let formatted =
        format_configured || tools.project.says("ruff format").is_some() || tools.project.says("ruff-format").is_some();
    let lint = tools.job("lint", "ruff", "check .", because.clone());
    let format = tools.job("format", "ruff", "format --check .", because);
    vec![lint, format.doubtful_if(!formatted, "nothing here says that the project is formatted with ruff")]
}

fn mypy(tools: &Tools<'_>, pyproject: Option<&Document<String>>) -> Option<Suggestion> {
    let project = tools.project;
    let configured = section(pyproject, "mypy");
    let because = match project.first(&["mypy.ini", ".mypy.ini"]) {
        Some(file) => format!("`{file}`"),
        None if configured.is_some() => "`[tool.mypy]` in `pyproject.toml`".to_owned(),
        None if has_section(project.content("setup.cfg"), "mypy") => "`[mypy]` in `setup.cfg`".to_owned(),
        None => return None,
    };
    let names_files =
        configured.is_some_and(|mypy| ["files", "packages", "modules"].iter().any(|key| mypy.get(key).is_some()));
    Some(tools.job("types", "mypy", if names_files { "" } else { "." }, because))
}

/// tox where the project is set up for it, else pytest.
fn test(tools: &Tools<'_>, pyproject: Option<&Document<String>>) -> Suggestion {
    let project = tools.project;
    if project.has("tox.ini") && has_section_starting(project.content("tox.ini"), "tox", "testenv") {
        return tools.job("test", "tox", "", "`tox.ini`".into());
    }
    if section(pyproject, "tox").is_some() {
        return tools.job("test", "tox", "", "`[tool.tox]` in `pyproject.toml`".into());
    }
    let test_file = |path: &&String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name == "conftest.py" || (name.starts_with("test_") || name.ends_with("_test.py")) && name.ends_with(".py")
    };
    let because = if project.has("pytest.ini") {
        Some("`pytest.ini`".to_owned())
    } else if section(pyproject, "pytest").is_some() {
        Some("`[tool.pytest]` in `pyproject.toml`".to_owned())
    } else if has_section(project.content("setup.cfg"), "tool:pytest")
        || has_section(project.content("tox.ini"), "pytest")
    {
        Some("a pytest section".to_owned())
    } else {
        project.files.iter().find(test_file).map(|path| format!("`{path}`"))
    };
    let none = because.is_none();
    let job = tools.job("test", "pytest", "", because.unwrap_or_else(|| "a Python project".into()));
    job.doubtful_if(none, "no test was found")
}

fn has_section(ini: &str, name: &str) -> bool {
    ini.lines().any(|line| line.trim() == format!("[{name}]"))
}

fn has_section_starting(ini: &str, one: &str, other: &str) -> bool {
    ini.lines().any(|line| [one, other].iter().any(|name| line.trim().starts_with(&format!("[{name}"))))
}
