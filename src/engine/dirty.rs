//! Why a worktree is not the committed tree, in words, and the ways out.

use crate::document::{Diagnostic, Refusal};
use crate::git::{Cause, DirtyKind, DirtyPath};

/// How many paths are named.
const PATHS_NAMED_MAX: usize = 20;

/// The refusal of a worktree with `paths` in the way.
pub fn refusal(paths: &[DirtyPath], causes: &[Cause]) -> Refusal {
    let mut diagnostic = what_differs(paths, causes);
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

/// What is in the way, and what helps: a command only where one does it, and keeps what is there.
fn what_differs(paths: &[DirtyPath], causes: &[Cause]) -> Diagnostic {
    let has = |kind| paths.iter().any(|path| path.kind == kind);
    let untracked = paths.iter().filter(|path| path.kind == DirtyKind::Untracked).count();
    if has(DirtyKind::Unmerged) {
        let diagnostic = Diagnostic::new("unmerged", "the worktree has unresolved conflicts").fix("git status");
        return diagnostic.advice("resolve them and `git add` the files");
    }
    if causes.contains(&Cause::PartialTree) {
        let diagnostic = Diagnostic::new("partial-tree", "only part of the commit is checked out");
        let advice = "where a submodule is missing: `git submodule update --init --recursive`";
        return diagnostic.fix("git sparse-checkout disable").advice(advice);
    }
    if untracked == paths.len() && !paths.is_empty() {
        let message = format!("{} in the worktree not tracked and not ignored", files(untracked));
        let advice = "commit what belongs to the project, list the rest in `.gitignore` or `.git/info/exclude`, or work in \
                      another worktree";
        return Diagnostic::new("untracked-files", message).advice(advice);
    }
    let diagnostic = Diagnostic::new("dirty-tree", "the worktree differs from the commit");
    if has(DirtyKind::Hidden) {
        return diagnostic.advice(
            "`git update-index --no-assume-unchanged --no-skip-worktree FILE` shows `git status` a hidden change again",
        );
    }
    if has(DirtyKind::Submodule) {
        return diagnostic
            .advice("commit inside the submodule first, or check out what is recorded: `git submodule update`");
    }
    let only_staged = paths.iter().all(|path| path.kind == DirtyKind::Staged);
    diagnostic.fix(if only_staged {
        "git commit"
    } else if untracked > 0 || has(DirtyKind::IntentToAdd) {
        "git add -A && git commit"
    } else {
        "git commit -a"
    })
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
            Diagnostic::new("operation-under-way", message).advice(format!("then finish it: `{}`", operation.finish()))
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
