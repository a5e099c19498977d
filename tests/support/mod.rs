//! The bench: hermetic repositories, and the real binary run in them.
//!
//! Nothing of the machine shows: identity, dates, locale, time zone, home and git's configuration are fixed, and `CI` and
//! `NO_COLOR` are not there unless a test sets them. A process that a test starts is ended when the test ends. A test waits
//! for a condition, with a limit, and never for a guess.

mod outcome;
mod place;
mod running;
mod terminal;

use std::cell::Cell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

pub(crate) use outcome::Outcome;
pub(crate) use place::Place;
pub(crate) use running::Running;
pub(crate) use terminal::Terminal;

/// No process of a test may take longer.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// How a repository keeps its refs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refs {
    Files,
    Reftable,
}

/// What a repository names its objects with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hash {
    Sha1,
    Sha256,
}

/// A temporary folder with a repository in it. Dereferences to the main worktree.
pub(crate) struct Bench {
    main: Place,
    root: tempfile::TempDir,
}

/// What every process of one bench shares.
#[derive(Debug)]
struct Shared {
    root: PathBuf,
    /// Counts commands, so that each commit has a date of its own.
    commands: Cell<u32>,
    /// Counts background runs, so that each has files of its own.
    runs: Cell<u32>,
}

impl Bench {
    /// A repository with refs in files and SHA-1, on branch `main`, without a commit.
    pub(crate) fn new() -> Self {
        Self::with(Refs::Files, Hash::Sha1)
    }

    /// A repository of the given kind, on branch `main`, without a commit.
    pub(crate) fn with(refs: Refs, hash: Hash) -> Self {
        let root = tempfile::Builder::new().prefix("discern-test-").tempdir().expect("a temporary folder");
        // The path as the kernel knows it, so that it is the one that programs print.
        let path = root.path().canonicalize().expect("it was just made");
        for folder in ["home", "tmp", "r"] {
            std::fs::create_dir(path.join(folder)).expect("a fresh folder");
        }
        let configuration = "[user]\n\tname = T\n\temail = t@example.com\n[init]\n\tdefaultBranch = main\n\
             [advice]\n\tdetachedHead = false\n[gc]\n\tauto = 0\n[commit]\n\tgpgSign = false\n[protocol \"file\"]\n\tallow = always\n";
        std::fs::write(path.join("home/.gitconfig"), configuration).expect("a fresh folder");
        let shared = Rc::new(Shared { root: path.clone(), commands: Cell::new(0), runs: Cell::new(0) });
        let main = Place::new(shared, path.join("r"));
        let refs = match refs {
            Refs::Files => "--ref-format=files",
            Refs::Reftable => "--ref-format=reftable",
        };
        let hash = match hash {
            Hash::Sha1 => "--object-format=sha1",
            Hash::Sha256 => "--object-format=sha256",
        };
        main.git(&["init", "-q", refs, hash]);
        Self { main, root }
    }

    /// A repository with one commit whose configuration has one job, `ok`, that runs `true`.
    pub(crate) fn proven_by_true() -> Self {
        let bench = Self::new();
        bench.gate();
        bench.job("ok", "true");
        bench.save("first");
        bench
    }

    /// A proven commit on `main`, a bare repository `o.git` beside it as remote `origin`, and the hook.
    pub(crate) fn guarded() -> Self {
        let bench = Self::proven_by_true();
        bench.remote();
        let _ = bench.discern(&["done"]).exits(0);
        let _ = bench.discern(&["hook", "install"]).exits(0);
        bench
    }

    /// The temporary folder: the repository is `r` in it, linked worktrees stand beside.
    pub(crate) fn root(&self) -> &Path {
        &self.main.shared().root
    }

    /// From now on snapshots of this thread have placeholders where values differ from run to run; until the returned
    /// guard is dropped.
    #[must_use = "the filters hold until this is dropped"]
    pub(crate) fn stable_snapshots(&self) -> insta::internals::SettingsBindDropGuard {
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        let root = self.root().to_string_lossy();
        settings.add_filter(&root.replace('.', r"\."), "[ROOT]");
        for (pattern, placeholder) in FILTERS {
            settings.add_filter(pattern, placeholder);
        }
        settings.bind_to_scope()
    }

    /// Keeps the temporary folder after the test, for a look at it. For debugging.
    #[expect(dead_code, reason = "for debugging a test")]
    pub(crate) fn keep(&mut self) {
        self.root.disable_cleanup(true);
    }
}

impl std::ops::Deref for Bench {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.main
    }
}

/// What differs from run to run, and what stands there in snapshots; in this order.
const FILTERS: [(&str, &str); 8] = [
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[UUID]"),
    (r"R1-[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{2}", "[HANDLE]"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "[INSTANT]"),
    (r"\b([0-9a-f]{64}|[0-9a-f]{40})\b", "[ID]"),
    (r"\b[0-9a-f]{10,12}\b", "[SHORT]"),
    (r"\b\d+(\.\d)? m?s\b", "[TIME]"),
    (r#"("duration_ms"|"pid"|"inode"): \d+"#, "$1: [NUMBER]"),
    (r"git version \S+", "git version [VERSION]"),
];

/// Waits until `condition` holds and panics if it does not within [`LIMIT`]; `what` says what was waited for.
pub(crate) fn wait_for(what: &str, condition: impl FnMut() -> bool) {
    wait_within(LIMIT, what, condition);
}

/// Waits until `condition` holds and panics if it does not within `limit`.
#[expect(clippy::disallowed_methods, reason = "the one place where tests measure real time and pause between looks")]
pub(crate) fn wait_within(limit: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !condition() {
        assert!(start.elapsed() < limit, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// The folder of the binary under test.
fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_git-discern"))
}

/// The environment of every process of a bench.
#[expect(clippy::disallowed_methods, reason = "PATH is the one thing that a test takes from the machine")]
fn environment(root: &Path) -> Vec<(&'static str, OsString)> {
    let mut path = binary().parent().expect("it lies in a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    vec![
        ("PATH", path),
        ("HOME", root.join("home").into()),
        ("TMPDIR", root.join("tmp").into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ("LC_ALL", "C".into()),
        ("TZ", "UTC".into()),
        ("TERM", "dumb".into()),
        ("USER", "t".into()),
        ("SHELL", "/bin/sh".into()),
    ]
}
