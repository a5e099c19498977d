//! The pager, by git's rules: which one, and ending after it.
//!
//! A pager has the terminal's keyboard. While it runs, Ctrl-C is its affair: we only stop writing, and leave when it does.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::process::{Child, ChildStdin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::environment::Variables;
use super::process;

/// What git gives its pager where the user did not.
const DEFAULTS: [(&str, &str); 2] = [("LESS", "FRX"), ("LV", "-c")];

/// A pager that runs.
pub struct Pager {
    child: Child,
    interrupted: Arc<AtomicBool>,
    registered: Option<signal_hook::SigId>,
}

/// Which pager to start; nothing where the output goes to the terminal itself. `configured` is `core.pager`, asked for only if it
/// decides.
pub fn chosen(
    variable: impl Fn(&str) -> Option<OsString>,
    configured: impl FnOnce() -> Option<String>,
) -> Option<OsString> {
    let chosen = variable("GIT_PAGER")
        .or_else(|| configured().map(OsString::from))
        .or_else(|| variable("PAGER"))
        .unwrap_or_else(|| "less".into());
    (!chosen.is_empty() && chosen != OsStr::new("cat")).then_some(chosen)
}

impl Pager {
    /// Starts `command`; the second value is what it reads.
    ///
    /// # Errors
    /// It can't be started.
    pub fn start(command: &OsStr, variable: impl Fn(&str) -> Option<OsString>) -> io::Result<(Self, PagerInput)> {
        let unset = DEFAULTS.iter().filter(|(name, _)| variable(name).is_none());
        let variables: Variables = unset.map(|&(name, value)| (name.into(), value.into())).collect();
        let mut child = process::start_pager(command, &variables)?;
        let input = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let interrupted = Arc::new(AtomicBool::new(false));
        let registered = signal_hook::flag::register(signal_hook::consts::SIGINT, interrupted.clone()).ok();
        let pager_input = PagerInput { input, interrupted: interrupted.clone() };
        Ok((Self { child, interrupted, registered }, pager_input))
    }

    /// Waits until the user has left it. What it reads must have been dropped.
    pub fn wait(mut self) {
        let _ = self.child.wait();
        if let Some(registered) = self.registered {
            signal_hook::low_level::unregister(registered);
        }
        self.interrupted.store(true, Ordering::Relaxed);
    }
}

/// What a pager reads.
pub struct PagerInput {
    input: ChildStdin,
    interrupted: Arc<AtomicBool>,
}

impl Write for PagerInput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.input.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.input.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(variables: &[(&str, &str)], configured: Option<&str>) -> Option<String> {
        let variable = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        chosen(variable, || configured.map(str::to_owned)).map(|command| command.to_string_lossy().into_owned())
    }

    #[test]
    fn the_pager_is_chosen_as_git_chooses_it() {
        let all = [("GIT_PAGER", "one"), ("PAGER", "three")];
        assert_eq!(choose(&all, Some("two")).as_deref(), Some("one"));
        assert_eq!(choose(&all[1..], Some("two")).as_deref(), Some("two"));
        assert_eq!(choose(&all[1..], None).as_deref(), Some("three"));
        assert_eq!(choose(&[], None).as_deref(), Some("less"));
    }

    #[test]
    fn an_empty_pager_and_cat_are_none() {
        assert_eq!(choose(&[("GIT_PAGER", "")], Some("two")), None);
        assert_eq!(choose(&[], Some("cat")), None);
    }
}
