//! What people call a commit, resolved; and trunk.

use std::collections::HashSet;
use std::ops::ControlFlow;

use bstr::ByteSlice;

use super::error::GitError;
use super::objects::Commit;
use super::refs::RefValue;
use super::repository::Repository;
use crate::id::{CommitId, ObjectId, TreeId};

/// The branch that limits and redefinitions are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trunk {
    /// The full ref name, never a tag's.
    pub name: String,
    /// Its commit.
    pub tip: CommitId,
    /// The full name of the local branch that stands for it, whether there is one or not.
    pub branch: String,
}

/// As many first parents are followed without asking git.
const FIRST_PARENTS_MAX: usize = 100;

/// One commit that git listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// Its subject.
    pub summary: String,
}

impl From<Commit> for Listed {
    fn from(Commit { id, tree, summary, .. }: Commit) -> Self {
        Self { id, tree, summary }
    }
}

impl Listed {
    /// The commit in one line of git's.
    fn parse(line: &[u8]) -> Result<Self, GitError> {
        let text = String::from_utf8_lossy(line);
        let mut fields = text.splitn(3, ' ');
        let mut field = || fields.next().unwrap_or_default();
        match (field().parse(), field().parse()) {
            (Ok(id), Ok(tree)) => Ok(Self { id, tree, summary: field().trim().to_owned() }),
            _ => Err(GitError::Answer { command: "git rev-list".to_owned(), why: text.into_owned() }),
        }
    }
}

/// How long git may take to list every commit that can be reached, in milliseconds.
const REACHABLE_MS: u64 = 600_000;

/// Where git looks for a short name, in git's order.
const NAMESPACES: &[(&str, &str)] =
    &[("refs/", ""), ("refs/tags/", ""), ("refs/heads/", ""), ("refs/remotes/", ""), ("refs/remotes/", "/HEAD")];

impl Repository {
    /// The commit that `revision` names, through annotated tags. A name that means several refs is an error (B083).
    pub fn resolve(&self, revision: &str) -> Result<CommitId, GitError> {
        let missing = || GitError::NoSuchRevision { revision: revision.to_owned() };
        if let Some(known) = self.resolve_here(revision)? {
            return Ok(known);
        }
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &as_commit(revision)];
        let finished = self.git().run(&arguments)?;
        let printed = finished.stdout.to_str_lossy().trim().to_owned();
        printed.parse().map_err(|_| missing())
    }

    /// The commits that a revision or a range (`a..b`, `a...b`, `^a b` is not one word) names: one for a revision, for a
    /// range all of them, oldest first.
    pub fn commits(&self, revision_or_range: &str) -> Result<Vec<Listed>, GitError> {
        let mut commits = Vec::new();
        self.each_commit(revision_or_range, |commit| commits.push(commit))?;
        Ok(commits)
    }

    /// Hands the same to `take`, while git still lists.
    pub fn each_commit(&self, revision_or_range: &str, mut take: impl FnMut(Listed)) -> Result<(), GitError> {
        let Some((from, dots, to)) = sides(revision_or_range) else {
            let commit = self.resolve(revision_or_range)?;
            take(self.objects()?.commit(commit)?.into());
            return Ok(());
        };
        // What only git can resolve it resolves in the child that lists.
        let word = |name: &str| {
            let known = self.resolve_here(name)?;
            Ok(known.map_or_else(|| as_commit(name), |commit| commit.to_string()))
        };
        let range = format!("{}{dots}{}", word(from)?, word(to)?);
        let listed = self.each_listed(&["--reverse", "--topo-order"], &range, |commit| {
            take(commit);
            ControlFlow::Continue(())
        });
        if listed.is_err() {
            // The side that names nothing has a better error.
            self.resolve(from)?;
            self.resolve(to)?;
        }
        listed
    }

    /// Hands the commits of a range, or of the whole history of a revision, as [`Self::history`] has it, to `take`, newest first
    /// and while git still walks, until that says to stop.
    pub fn each_back(&self, history: &str, take: impl FnMut(Listed) -> ControlFlow<()>) -> Result<(), GitError> {
        self.each_listed(&[], history, take)
    }

    /// git reads the commits anyway, and quicker than we could, one after the other.
    fn each_listed(
        &self,
        order: &[&str],
        range: &str,
        mut take: impl FnMut(Listed) -> ControlFlow<()>,
    ) -> Result<(), GitError> {
        let format = ["--no-commit-header", "--encoding=UTF-8", "--format=%H %T %s", "--end-of-options", range, "--"];
        let arguments: Vec<&str> = ["rev-list"].iter().chain(order).chain(&format).copied().collect();
        let mut problem = None;
        self.git().each_line(&arguments, |line| match Listed::parse(line) {
            Ok(commit) => take(commit),
            Err(error) => {
                problem = Some(error);
                ControlFlow::Break(())
            }
        })?;
        problem.map_or(Ok(()), Err)
    }

    /// What git is to be asked for the commits of a range, or of the whole history of a revision: full ids, which nothing in
    /// the worktree is called.
    pub fn history(&self, revision_or_range: &str) -> Result<String, GitError> {
        match sides(revision_or_range) {
            None => self.resolve(revision_or_range).map(|commit| commit.to_string()),
            Some((from, dots, to)) => Ok(format!("{}{dots}{}", self.resolve(from)?, self.resolve(to)?)),
        }
    }

    /// Trunk as it is here: `name`, or else origin/HEAD, main, master. Its remote-tracking branch if there is one, else the
    /// branch.
    pub fn trunk(&self, name: Option<&str>) -> Result<Trunk, GitError> {
        let none = |name: &str| GitError::NoTrunk { name: name.to_owned() };
        if let Some(name) = name {
            return self.branch_named(name)?.ok_or_else(|| none(name));
        }
        if let RefValue::Symbolic(target) = self.refs().read("refs/remotes/origin/HEAD")?
            && let Some((name, tip)) = self.refs().resolve(&target)?
        {
            let branch = target.strip_prefix("refs/remotes/origin/").unwrap_or(&target);
            return Ok(Trunk { name, tip: CommitId(tip), branch: format!("refs/heads/{branch}") });
        }
        for name in ["main", "master"] {
            if let Some(trunk) = self.branch_named(name)? {
                return Ok(trunk);
            }
        }
        Err(none("main"))
    }

    /// Trunk as [`Self::trunk`] finds it; nothing where there is no such branch here. One that is here and can't be read is an
    /// error: it might say more.
    pub fn trunk_if_here(&self, name: Option<&str>) -> Result<Option<Trunk>, GitError> {
        match self.trunk(name) {
            Ok(trunk) => Ok(Some(trunk)),
            Err(GitError::NoTrunk { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Which of `commits` can be reached from some ref of the user's, or from a worktree's `HEAD`.
    pub fn reachable(&self, commits: &HashSet<CommitId>) -> Result<HashSet<CommitId>, GitError> {
        // `--all` means every ref and the `HEAD` of every worktree, where it has a commit (git-rev-list).
        let arguments = ["rev-list", "--exclude=refs/discern/*", "--all"];
        let listed = self.git().start_within(&arguments, REACHABLE_MS)?.finish()?.success()?;
        Ok(ids(&listed)?.into_iter().filter(|commit| commits.contains(commit)).collect())
    }

    /// The commit of what [`Self::simple`] knows, which there must be; nothing where git has to look.
    fn resolve_here(&self, revision: &str) -> Result<Option<CommitId>, GitError> {
        let Some((id, steps)) = self.simple(revision)? else { return Ok(None) };
        let missing = || GitError::NoSuchRevision { revision: revision.to_owned() };
        let objects = self.objects()?;
        let mut commit = match objects.peel_to_commit(id)? {
            Some(commit) => commit,
            // What a ref names has to be here; an id that somebody types has not.
            None if !objects.contains(id) && !revision.starts_with(&id.to_string()) => {
                return Err(GitError::Object { id, why: "the repository does not have it".to_owned() });
            }
            None => return Err(missing()),
        };
        for _ in 0..steps {
            commit = objects.commit(commit)?.parents.first().copied().ok_or_else(missing)?;
        }
        Ok(Some(commit))
    }

    /// `HEAD`, a full id, or a name that is exactly one ref, and how many first parents from there; nothing where git has to look.
    fn simple(&self, revision: &str) -> Result<Option<(ObjectId, usize)>, GitError> {
        // An operator, if there is one, comes after the name.
        let end = revision.find(['^', '~', ':', '@']).unwrap_or(revision.len());
        let (name, operators) = if revision == "@" { (revision, "") } else { revision.split_at(end) };
        if name.is_empty() || name.starts_with('-') || name.contains([' ', '\\', '?', '*', '[']) {
            return Ok(None);
        }
        // In a shallow repository a commit names parents that are not here.
        let steps = first_parents(operators).filter(|&steps| steps == 0 || !self.is_shallow());
        if let Ok(id) = name.parse::<ObjectId>()
            && id.as_bytes().len() * 2 == self.object_format().hex_length()
        {
            return Ok(steps.map(|steps| (id, steps)));
        }
        if name == "HEAD" || name == "@" {
            let Some(steps) = steps else { return Ok(None) };
            return self.head_position().map(|(_, commit)| Some((commit.id(), steps)));
        }
        let meanings = self.meanings(name)?;
        if meanings.len() > 1 {
            let candidates = meanings.into_iter().map(|(full, _)| full).collect();
            return Err(GitError::Ambiguous { revision: name.to_owned(), candidates });
        }
        // What looks like an abbreviated id may be one as well; git says.
        let hex = (4..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        Ok(meanings.into_iter().next().filter(|_| !hex).zip(steps).map(|((_, id), steps)| (id, steps)))
    }

    /// Every ref that a short or full name can mean, and the object that each leads to.
    fn meanings(&self, name: &str) -> Result<Vec<(String, ObjectId)>, GitError> {
        if name.starts_with("refs/") {
            return Ok(self.refs().resolve(name)?.map(|(_, id)| (name.to_owned(), id)).into_iter().collect());
        }
        let mut found = Vec::new();
        for (before, after) in NAMESPACES {
            let full = format!("{before}{name}{after}");
            if let Some((_, id)) = self.refs().resolve(&full)? {
                found.push((full, id));
            }
        }
        Ok(found)
    }

    fn branch_named(&self, name: &str) -> Result<Option<Trunk>, GitError> {
        let remotes = self.refs().list("refs/remotes/")?;
        let tracking = |remote: &str| {
            let full = format!("refs/remotes/{remote}/{name}");
            remotes.iter().any(|(known, _)| *known == full).then_some(full)
        };
        let suffix = format!("/{name}");
        let mut others = remotes.iter().map(|(full, _)| full).filter(|full| full.ends_with(&suffix));
        let only = others.next().cloned().filter(|_| others.next().is_none());
        // The remote that the branch follows; else origin; else the only one that has it.
        let configured = self.configured_remote(name).and_then(|remote| tracking(&remote));
        let branch = format!("refs/heads/{name}");
        let names = [configured, tracking("origin"), only, Some(branch.clone())];
        for full in names.into_iter().flatten() {
            if let Some((_, id)) = self.refs().resolve(&full)? {
                return Ok(Some(Trunk { name: full, tip: CommitId(id), branch }));
            }
        }
        Ok(None)
    }
}

/// How many first parents `operators` goes back: `^`, `~` and `~N`, one after another. Nothing for any other operator, and for so
/// many that git, which may have a graph of them, is quicker.
fn first_parents(operators: &str) -> Option<usize> {
    let (mut rest, mut steps) = (operators, 0_usize);
    while let Some(after) = rest.strip_prefix(['^', '~']) {
        let tail = after.trim_start_matches(|it: char| it.is_ascii_digit());
        let count = &after[..after.len() - tail.len()];
        steps = match (rest.starts_with('~'), count) {
            (_, "") => steps + 1,
            (true, count) => steps.checked_add(count.parse().ok()?)?,
            (false, _) => return None,
        };
        rest = tail;
    }
    (rest.is_empty() && steps <= FIRST_PARENTS_MAX).then_some(steps)
}

/// Both sides of a range and the dots between them; nothing for what is none. A side that is left out is `HEAD`
/// (gitrevisions, "Dotted Range Notations").
fn sides(range: &str) -> Option<(&str, &str, &str)> {
    let (from, rest) = range.split_at(range.find("..")?);
    let (dots, to) = rest.split_at(if rest.starts_with("...") { 3 } else { 2 });
    let or_head = |name| match name {
        "" => "HEAD",
        name => name,
    };
    Some((or_head(from), dots, or_head(to)))
}

/// What git takes for the commit that `revision` names, and for nothing else.
fn as_commit(revision: &str) -> String {
    format!("{revision}^{{commit}}")
}

/// One id to a line.
fn ids(printed: &[u8]) -> Result<Vec<CommitId>, GitError> {
    let parse = |line: &[u8]| {
        let text = line.to_str_lossy();
        text.parse().map_err(|_| GitError::Answer { command: "git rev-list".to_owned(), why: text.into_owned() })
    };
    printed.lines().map(parse).collect()
}
