//! A folder in which commands are run: a worktree, or any other.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use super::{Outcome, Running, Shared, binary, environment};

/// A folder of a bench, with the variables that commands run there get beside the bench's own.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    shared: Rc<Shared>,
    path: PathBuf,
    variables: Vec<(String, String)>,
}

impl Place {
    pub(super) fn new(shared: Rc<Shared>, path: PathBuf) -> Self {
        Self { shared, path, variables: Vec::new() }
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Another folder of the same bench; a relative path is taken from this one.
    pub(crate) fn at(&self, path: impl AsRef<Path>) -> Self {
        Self { path: self.path.join(path), ..self.clone() }
    }

    /// The same folder, with one more environment variable.
    #[must_use]
    pub(crate) fn with_variable(&self, name: &str, value: &str) -> Self {
        let mut place = self.clone();
        place.variables.push((name.to_owned(), value.to_owned()));
        place
    }

    /// A linked worktree beside the repository, on a new branch of the same name.
    pub(crate) fn worktree(&self, name: &str) -> Self {
        let place = self.at(self.shared.root.join(name));
        self.git(&["worktree", "add", "-q", "-b", name, &place.path.to_string_lossy()]);
        place
    }

    /// A bare repository beside this one, as remote `origin`.
    pub(crate) fn remote(&self) -> Self {
        let place = self.at(self.shared.root.join("o.git"));
        self.git(&["init", "-q", "--bare", &place.path.to_string_lossy()]);
        self.git(&["remote", "add", "origin", "../o.git"]);
        place
    }

    /// Writes a file, and the folders above it.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    /// The content of a file.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path.join(name)).unwrap_or_else(|problem| panic!("{name}: {problem}"))
    }

    /// Whether there is such a file.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.path.join(name).symlink_metadata().is_ok()
    }

    /// Begins a `discern.toml` with trunk `main` and nothing else.
    pub(crate) fn gate(&self) {
        self.write("discern.toml", "[gate]\ntrunk = \"main\"\n");
    }

    /// Adds text to `discern.toml`.
    pub(crate) fn configure(&self, more: &str) {
        let before = self.read("discern.toml");
        self.write("discern.toml", format!("{before}{more}\n"));
    }

    /// Adds a job.
    pub(crate) fn job(&self, name: &str, run: &str) {
        self.configure(&format!("[jobs.{name}]\nrun = {}", quoted(run)));
    }

    /// Adds a standard.
    pub(crate) fn standard(&self, name: &str, direction: &str, limit: &str, run: &str) {
        let run = quoted(run);
        self.configure(&format!("[standards.{name}]\ndirection = \"{direction}\"\nlimit = {limit}\nrun = {run}"));
    }

    /// Commits everything, and returns the commit's id.
    pub(crate) fn save(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.head()
    }

    /// The id of `HEAD`.
    pub(crate) fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// What git prints, without blanks around it; it must succeed.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.run(self.command("git", arguments)).exits(0).stdout.trim().to_owned()
    }

    /// What git does, whatever it is.
    #[must_use = "look at how it ended"]
    pub(crate) fn try_git(&self, arguments: &[&str]) -> Outcome {
        self.run(self.command("git", arguments))
    }

    /// Runs a script with `sh`.
    #[must_use = "look at how it ended"]
    pub(crate) fn sh(&self, script: &str) -> Outcome {
        self.run(self.command("sh", &["-c", script]))
    }

    /// Runs `git-discern`.
    #[must_use = "look at how it ended"]
    pub(crate) fn discern(&self, arguments: &[&str]) -> Outcome {
        self.run(self.discern_command(arguments))
    }

    /// Starts `git-discern` in the background; it is ended when the returned value is dropped.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        self.begin(self.discern_command(arguments))
    }

    /// A command that runs `git-discern`, for tests that change more of it.
    pub(crate) fn discern_command(&self, arguments: &[&str]) -> Command {
        self.command(&binary().to_string_lossy(), arguments)
    }

    /// `git discern` as somebody whom modes of files bind, whoever runs the tests.
    #[cfg(target_os = "linux")]
    pub(crate) fn bound_by_modes(&self, arguments: &[&str]) -> Command {
        let program = binary().to_string_lossy();
        if !rustix::process::geteuid().is_root() {
            return self.command(&program, arguments);
        }
        let less = ["--bounding-set", "-dac_override,-dac_read_search", &program];
        self.command("setpriv", &[&less[..], arguments].concat())
    }

    /// A command in this place with the bench's environment.
    #[expect(clippy::disallowed_methods, reason = "the one place where tests start processes")]
    pub(crate) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let count = self.shared.commands.get() + 1;
        self.shared.commands.set(count);
        let date = format!("{} +0000", 1_764_496_500 + count);
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.path).stdin(Stdio::null()).env_clear();
        command.envs(environment(&self.shared.root));
        if program == "git" {
            command.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs `command` to its end.
    #[must_use = "look at how it ended"]
    pub(crate) fn run(&self, command: Command) -> Outcome {
        self.begin(command).wait()
    }

    /// Starts `command` with its output going to files.
    pub(crate) fn begin(&self, mut command: Command) -> Running {
        self.begin_with(&mut command, None, None)
    }

    /// Starts `command` with its output and errors going where they are said to; to files, where nothing is said.
    pub(crate) fn begin_with(&self, command: &mut Command, stdout: Option<Stdio>, stderr: Option<Stdio>) -> Running {
        let count = self.shared.runs.get() + 1;
        self.shared.runs.set(count);
        Running::start(command, [stdout, stderr], &self.shared.root, count)
    }
}

/// `text` as a TOML string.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
