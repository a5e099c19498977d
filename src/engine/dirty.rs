//! Why a worktree is not the committed tree, in words, and the ways out.

use crate::document::{Diagnostic, Refusal};
use crate::git::{Cause, DirtyKind, DirtyPath};

/// How many paths are named.
const PATHS_NAMED_MAX: usize = 20;

/// The refusal of a worktree with `paths` in the way.
pub fn refusal(paths: &[DirtyPath], causes: &[Cause]) -> Refusal {
    let untracked = paths.iter().filter(|path| path.kind == DirtyKind::Untracked).count();
    let sparse = causes.contains(&Cause::PartialTree);
    let unmerged = paths.iter().any(|path| path.kind == DirtyKind::Unmerged);
    let (code, message, fix) = if unmerged {
        ("unmerged", "the worktree has unresolved conflicts".to_owned(), "git status")
    } else if sparse {
        let message = "only part of the commit is checked out".to_owned();
        ("partial-tree", message, "git sparse-checkout disable, or git submodule update --init --recursive")
    } else if untracked == paths.len() && !paths.is_empty() {
        let message = format!("{} in the worktree not tracked and not ignored", files(untracked));
        (
            "untracked-files",
            message,
            "git add, or list them in .gitignore or .git/info/exclude, or work in another worktree",
        )
    } else {
        ("dirty-tree", "the worktree differs from the commit".to_owned(), "git commit")
    };
    let mut diagnostic = Diagnostic::new(code, message).fix(fix);
    diagnostic.place = paths.iter().take(PATHS_NAMED_MAX).map(named).collect();
    if paths.len() > PATHS_NAMED_MAX {
        diagnostic.place.push(format!("… and {} more", paths.len() - PATHS_NAMED_MAX));
    }
    if causes.iter().any(|cause| matches!(cause, Cause::LineEndings { .. } | Cause::Filter { .. })) {
        // What stands behind it says what helps; a commit alone would not.
        diagnostic.fix = None;
    }
    let mut refusal = Refusal::new(diagnostic);
    refusal.diagnostics.extend(causes.iter().filter_map(cause));
    refusal
}

fn files(count: usize) -> String {
    if count == 1 { "1 file is".to_owned() } else { format!("{count} files are") }
}

fn named(path: &DirtyPath) -> String {
    let what = match path.kind {
        DirtyKind::Unmerged => "unmerged",
        DirtyKind::Staged => "staged, not committed",
        DirtyKind::Modified => "modified",
        DirtyKind::Mode => "its mode or kind differs",
        DirtyKind::Deleted => "deleted",
        DirtyKind::IntentToAdd => "to be added, without content",
        DirtyKind::Hidden => "modified, and hidden from `git status`",
        DirtyKind::Submodule => "submodule differs",
        DirtyKind::Untracked => "untracked",
        DirtyKind::Sparse => "not checked out",
    };
    format!("{} ({what})", path.path)
}

/// What stands behind a difference that the paths alone do not explain.
fn cause(cause: &Cause) -> Option<Diagnostic> {
    let listed = |diagnostic: Diagnostic, paths: &[bstr::BString]| Diagnostic {
        place: paths.iter().take(PATHS_NAMED_MAX).map(ToString::to_string).collect(),
        ..diagnostic
    };
    Some(match cause {
        Cause::PartialTree => return None,
        Cause::HeadMoved => Diagnostic::new("head-moved", "`HEAD` moved while the worktree was looked at"),
        Cause::Unfinished(operation) => {
            let message = format!("a {} is under way", operation.name());
            Diagnostic::new("operation-under-way", message).fix(format!("git {} --abort", operation.name()))
        }
        Cause::LineEndings { paths } => {
            let message = "the rules for line endings would change what is committed (`git ls-files --eol`)";
            listed(Diagnostic::new("line-endings", message).fix("git add --renormalize ."), paths)
        }
        Cause::Filter { name, paths } => {
            let message = format!("the clean filter `{name}` would change what is committed");
            listed(Diagnostic::new("filter", message).fix("git add --renormalize ."), paths)
        }
        Cause::CaseCollision { paths } => {
            let message = "this file system can't tell these names apart";
            listed(Diagnostic::new("case-collision", message), paths)
        }
    })
}
