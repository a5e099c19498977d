//! The pre-push hook: put in place beside whatever is there, taken out again, and looked for.
//!
//! The hook is a few lines of `sh` that find the binary and hand git's lines to `git discern hook pre-push`; it holds no policy.
//! Where a shell script is the hook already, our lines go in front of it, and what they read of standard input is put
//! back: its name, folder, arguments, input and exit status stay what they were. Any other hook (another language, a
//! symbolic link) is moved, as it is, into a folder beside the hooks folder and run from there under its own name.
//! Whatever somebody else owns is never dropped, and `uninstall` puts every byte back.

mod folder;
mod install;
pub mod push;
pub mod script;
mod shared;
mod state;
pub mod update;

pub use folder::{HooksFolder, Kind, Setting};
pub use install::{Installed, install, make_executable, uninstall};
pub use state::{HookState, effective};

use std::path::PathBuf;

use crate::git::GitError;

/// Why the hook could not be put in place, taken out or looked for.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// git or the repository could not answer.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file can't be read or written.
    #[error("could not {doing}")]
    Io {
        /// What was being done.
        doing: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// `core.hooksPath` names no folder, which turns every hook off.
    #[error("`core.hooksPath` is {} ({origin}), so that git runs no hooks", if value.is_empty() { "empty" } else { value })]
    TurnedOff {
        /// What it is set to.
        value: String,
        /// Where it is set.
        origin: String,
    },
    /// There is a hook in the worktree that our lines can't be put in front of.
    #[error("`{}` is tracked or may be, and is no shell script", file.display())]
    NoShellScript {
        /// The hook.
        file: PathBuf,
    },
    /// Our lines were begun and not ended, or the other way round: somebody edited them.
    #[error("our lines in `{}` were edited and can't be told from the rest", file.display())]
    Mangled {
        /// The hook.
        file: PathBuf,
    },
    /// A folder, or a file, is where something else has to go.
    #[error("`{}` is in the way", file.display())]
    InTheWay {
        /// What is in the way.
        file: PathBuf,
    },
}

impl HookError {
    fn io(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }
}
