//! What differs between two subjects, in sentences.

use std::fmt;

use super::quote::printable;
use super::subject::{SubjectParts, ToolchainPart, beginning};
use crate::id::{Name, TreeId};

/// The most paths that one sentence names.
const PATHS_NAMED_MAX: usize = 3;
/// The longest answer of a toolchain command that a sentence quotes, in bytes.
const QUOTED_BYTES_MAX: usize = 80;

/// One reason why two subjects are not equal. Its `Display` is a clause without a full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// The two were computed by different schemes; nothing else can be compared.
    Scheme,
    /// What is executed.
    Command,
    /// The command looks the same; its end beyond what is kept, extraction, metric, `per` or `scale` is not.
    Measure,
    /// These selected paths, sorted.
    Paths(Vec<String>),
    /// What is selected, for a reason that no changed path shows.
    Selection,
    /// What is on disk for files that count as committed: line endings, filters, absent submodules.
    OnDisk,
    /// The files that a rate's denominator is counted over.
    Counted(Vec<String>),
    /// The job whose output is measured.
    From(Name),
    /// A job that it needs has another subject.
    Need(Name),
    /// A job that it needs now and did not before.
    NeedAdded(Name),
    /// A job that it needed before.
    NeedRemoved(Name),
    /// `[gate] environment`.
    EnvironmentMode,
    /// A variable.
    Variable(String, VariableChange),
    /// A toolchain command answers something else.
    Toolchain {
        /// The command.
        command: String,
        /// The first line of its answer then.
        said: String,
        /// And now.
        says: String,
    },
    /// A toolchain command that is declared now and was not before.
    ToolchainAdded(String),
    /// A toolchain command that was declared before.
    ToolchainRemoved(String),
    /// Operating system or architecture, then and now.
    Platform(String, String),
}

/// How a variable differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableChange {
    /// It has another value.
    OtherValue,
    /// It is set and was not.
    Set,
    /// It is not set and was.
    Unset,
    /// It is declared and was not.
    Declared,
    /// It was declared and is not.
    Undeclared,
    /// The two values were salted differently and can't be compared.
    Incomparable,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme => f.write_str("another version of git-discern computed it"),
            Self::Command => f.write_str("the command changed"),
            Self::Measure => f.write_str("how it is executed or read changed"),
            Self::Paths(paths) => write!(f, "{} changed", PathList(paths)),
            Self::Selection => f.write_str("what its inputs select changed"),
            Self::OnDisk => f.write_str("line endings, filters or submodules on disk changed"),
            Self::Counted(paths) if paths.is_empty() => f.write_str("the files that it is divided by changed"),
            Self::Counted(paths) => write!(f, "{}, which it is divided by, changed", PathList(paths)),
            Self::From(name) => write!(f, "`{name}`, whose output it measures, changed"),
            Self::Need(name) => write!(f, "`{name}`, which it needs, changed"),
            Self::NeedAdded(name) => write!(f, "it needs `{name}` now"),
            Self::NeedRemoved(name) => write!(f, "it needs `{name}` no longer"),
            Self::EnvironmentMode => f.write_str("`[gate] environment` changed"),
            Self::Variable(name, change) => match change {
                VariableChange::OtherValue => write!(f, "`{name}` has another value"),
                VariableChange::Set => write!(f, "`{name}` is set and was not"),
                VariableChange::Unset => write!(f, "`{name}` is not set and was"),
                VariableChange::Declared => write!(f, "`{name}` is declared in its `env` now"),
                VariableChange::Undeclared => write!(f, "`{name}` is declared in its `env` no longer"),
                VariableChange::Incomparable => write!(f, "`{name}` may have another value"),
            },
            Self::Toolchain { command, said, says } if said == says => {
                write!(f, "`{command}` says something else")
            }
            Self::Toolchain { command, said, says } => write!(f, "`{command}` says `{says}` instead of `{said}`"),
            Self::ToolchainAdded(command) => write!(f, "`{command}` is declared in its `toolchain` now"),
            Self::ToolchainRemoved(command) => write!(f, "`{command}` is declared in its `toolchain` no longer"),
            Self::Platform(was, is) => write!(f, "the platform is {is} instead of {was}"),
        }
    }
}

/// Up to [`PATHS_NAMED_MAX`] paths and the number of the others.
struct PathList<'a>(&'a [String]);

impl fmt::Display for PathList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (named, others) = self.0.split_at(self.0.len().min(PATHS_NAMED_MAX));
        for (at, path) in named.iter().enumerate() {
            let before = match at {
                0 => "",
                _ if at + 1 == named.len() && others.is_empty() => " and ",
                _ => ", ",
            };
            write!(f, "{before}`{}`", printable(path))?;
        }
        if others.is_empty() { Ok(()) } else { write!(f, " and {} more", others.len()) }
    }
}

/// The paths that differ between two trees, restricted to pathspecs (none: everything), sorted.
pub type ChangedPaths<'a> = &'a dyn Fn(TreeId, TreeId, &[String]) -> Vec<String>;

/// Why `new` is not the subject that `old` was; empty if nothing that decides a verdict differs.
///
/// For values of variables to be compared, take `new` with `old`'s salt.
pub fn explain(old: &SubjectParts, new: &SubjectParts, changed_paths: ChangedPaths<'_>) -> Vec<Difference> {
    if old.scheme != new.scheme {
        return vec![Difference::Scheme];
    }
    let mut found = Vec::new();
    if old.definition != new.definition {
        found.push(if old.command == new.command { Difference::Measure } else { Difference::Command });
    }
    found.extend(selection(old, new, changed_paths));
    found.extend((old.on_disk != new.on_disk).then_some(Difference::OnDisk));
    found.extend(counted(old, new, changed_paths));
    found.extend(needs(old, new));
    if old.environment_mode != new.environment_mode {
        found.push(Difference::EnvironmentMode);
    }
    found.extend(variables(old, new));
    found.extend(toolchain(old, new));
    if old.platform != new.platform {
        let name = |parts: &SubjectParts| format!("{}/{}", parts.platform.os, parts.platform.arch);
        found.push(Difference::Platform(name(old), name(new)));
    }
    found
}

fn selection(old: &SubjectParts, new: &SubjectParts, changed_paths: ChangedPaths<'_>) -> Option<Difference> {
    let same = match (old.inputs_digest, new.inputs_digest) {
        (None, None) => old.tree == new.tree,
        (was, is) => was == is,
    };
    if same {
        return None;
    }
    let paths = changed_paths(old.tree, new.tree, &new.inputs);
    // Other pathspecs over equal trees, or from inputs to the whole tree: no path tells it.
    Some(if paths.is_empty() { Difference::Selection } else { Difference::Paths(paths) })
}

fn counted(old: &SubjectParts, new: &SubjectParts, changed_paths: ChangedPaths<'_>) -> Option<Difference> {
    let (was, is) = (old.per.as_ref()?, new.per.as_ref()?);
    (was.digest != is.digest).then(|| Difference::Counted(changed_paths(old.tree, new.tree, &is.pathspecs)))
}

/// Needs count by subject; names only say which.
fn needs(old: &SubjectParts, new: &SubjectParts) -> Vec<Difference> {
    let mut found = Vec::new();
    if let (Some((_, was)), Some((name, is))) = (&old.from, &new.from)
        && was != is
    {
        found.push(Difference::From(name.clone()));
    }
    let subjects = |parts: &SubjectParts| {
        let mut subjects: Vec<_> = parts.needs.iter().map(|(_, subject)| *subject).collect();
        subjects.sort_unstable();
        subjects
    };
    if subjects(old) == subjects(new) {
        return found;
    }
    for (name, is) in &new.needs {
        match old.needs.iter().find(|(other, _)| other == name) {
            None => found.push(Difference::NeedAdded(name.clone())),
            Some((_, was)) if was != is => found.push(Difference::Need(name.clone())),
            Some(_) => {}
        }
    }
    let gone = old.needs.iter().filter(|(name, _)| new.needs.iter().all(|(other, _)| other != name));
    found.extend(gone.map(|(name, _)| Difference::NeedRemoved(name.clone())));
    found
}

fn variables(old: &SubjectParts, new: &SubjectParts) -> Vec<Difference> {
    let changes = |(name, is): &(String, Option<_>)| {
        let change = match old.environment.iter().find(|(other, _)| other == name) {
            None => VariableChange::Declared,
            Some((_, None)) if is.is_some() => VariableChange::Set,
            Some((_, Some(_))) if is.is_none() => VariableChange::Unset,
            Some((_, Some(_))) if old.salt != new.salt => VariableChange::Incomparable,
            Some((_, was)) if was != is => VariableChange::OtherValue,
            Some(_) => return None,
        };
        Some(Difference::Variable(name.clone(), change))
    };
    let gone = old.environment.iter().filter(|(name, _)| new.environment.iter().all(|(other, _)| other != name));
    let gone = gone.map(|(name, _)| Difference::Variable(name.clone(), VariableChange::Undeclared));
    new.environment.iter().filter_map(changes).chain(gone).collect()
}

fn toolchain(old: &SubjectParts, new: &SubjectParts) -> Vec<Difference> {
    let changes = |is: &ToolchainPart| match old.toolchain.iter().find(|was| was.command == is.command) {
        None => Some(Difference::ToolchainAdded(is.command.clone())),
        Some(was) if was.digest != is.digest => Some(Difference::Toolchain {
            command: is.command.clone(),
            said: first_line(&was.says),
            says: first_line(&is.says),
        }),
        Some(_) => None,
    };
    let gone = old.toolchain.iter().filter(|was| new.toolchain.iter().all(|is| is.command != was.command));
    let gone = gone.map(|was| Difference::ToolchainRemoved(was.command.clone()));
    new.toolchain.iter().filter_map(changes).chain(gone).collect()
}

fn first_line(says: &str) -> String {
    printable(&beginning(says.lines().next().unwrap_or_default().trim_end(), QUOTED_BYTES_MAX))
}

#[cfg(test)]
#[path = "explain_tests.rs"]
mod tests;
