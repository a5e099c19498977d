//! git's pathspecs over the names in a commit, without touching the file system.
//!
//! The rules are those of gitglossary ("pathspec") and of git's `match_pathspec`: a pathspec matches a path that it equals,
//! everything below a folder that it names, and what it matches as a pattern, in which `*` crosses slashes unless
//! `(glob)` is given. `(exclude)` takes away from what the others select; exclusions alone select everything else.
//! `(attr)` is refused, because attributes are not only names.

use bstr::{BStr, BString, ByteSlice};
use gix::glob::wildmatch::Mode;
use gix::pathspec::{Defaults, MagicSignature, Pattern, SearchMode};

use super::error::GitError;

/// A list of pathspecs as one selection.
#[derive(Debug, Clone)]
pub struct Pathspecs {
    pub(super) includes: Vec<Spec>,
    pub(super) excludes: Vec<Spec>,
}

/// One pathspec.
#[derive(Debug, Clone)]
pub(super) struct Spec {
    /// As it was written.
    pub(super) text: String,
    path: BString,
    /// The length of `path` before its first wildcard.
    literal: usize,
    icase: bool,
    folder_only: bool,
    mode: SearchMode,
}

/// What a pathspec says about a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Covers {
    /// Everything below it.
    All,
    /// Perhaps something below it.
    Perhaps,
    /// Nothing below it.
    Nothing,
}

impl Pathspecs {
    /// Reads pathspecs as git does in the worktree's top. Without any, everything is selected.
    pub fn parse<S: AsRef<str>>(texts: &[S]) -> Result<Self, GitError> {
        let (mut includes, mut excludes) = (Vec::new(), Vec::new());
        for text in texts {
            let (spec, excludes_it) = Spec::parse(text.as_ref())
                .map_err(|why| GitError::Pathspec { pathspec: text.as_ref().to_owned(), why })?;
            if excludes_it { excludes.push(spec) } else { includes.push(spec) }
        }
        if includes.is_empty() {
            includes.push(Spec::everything());
        }
        Ok(Self { includes, excludes })
    }

    /// Whether a file (or, with `submodule`, a submodule) of that name is selected.
    pub fn selects(&self, path: &BStr, submodule: bool) -> bool {
        let hits = |specs: &[Spec]| specs.iter().any(|spec| spec.matches(path, submodule));
        hits(&self.includes) && !hits(&self.excludes)
    }
}

impl Spec {
    fn everything() -> Self {
        Self {
            text: ":/".to_owned(),
            path: BString::default(),
            literal: 0,
            icase: false,
            folder_only: false,
            mode: SearchMode::ShellGlob,
        }
    }

    fn parse(text: &str) -> Result<(Self, bool), String> {
        if text.is_empty() {
            return Err("it is empty".to_owned());
        }
        if text.contains('\0') {
            return Err("it holds a NUL".to_owned());
        }
        let mut pattern: Pattern =
            gix::pathspec::parse(text.as_bytes(), Defaults::default()).map_err(|error| error.to_string())?;
        if !pattern.attributes.is_empty() {
            return Err("`(attr)` selects by attributes, not by names".to_owned());
        }
        if pattern.path().starts_with(b"/") {
            return Err("it is an absolute path".to_owned());
        }
        // git resolves these before it matches, but not after `:/`, and with traps beside wildcards: better written plainly.
        let plain = pattern.path().strip_prefix(b"./").unwrap_or(pattern.path());
        if plain != b"." && plain.split(|&byte| byte == b'/').any(|part| part == b"." || part == b"..") {
            return Err("write it without `.` and `..`".to_owned());
        }
        let leading_dot = plain == b"." || plain != pattern.path();
        if leading_dot && pattern.signature.contains(MagicSignature::TOP) {
            return Err("`.` means nothing after `(top)`".to_owned());
        }
        pattern.normalize("".as_ref(), "/".as_ref()).map_err(|error| error.to_string())?;
        let always = pattern.always_matches() || pattern.path() == ".";
        let path = if always { BString::default() } else { pattern.path().to_owned() };
        let literal = match pattern.search_mode {
            SearchMode::Literal => path.len(),
            _ => path.find_byteset(b"*?[\\").unwrap_or(path.len()),
        };
        let spec = Self {
            text: text.to_owned(),
            literal,
            icase: pattern.signature.contains(MagicSignature::ICASE),
            folder_only: pattern.signature.contains(MagicSignature::MUST_BE_DIR) && !path.is_empty(),
            mode: pattern.search_mode,
            path,
        };
        Ok((spec, pattern.is_excluded()))
    }

    /// Whether a file (or a submodule) of that name matches.
    pub(super) fn matches(&self, name: &BStr, submodule: bool) -> bool {
        if self.path.is_empty() {
            return true;
        }
        if self.same(name, &self.path) {
            return !self.folder_only || submodule;
        }
        if self.is_below(name) {
            return true;
        }
        // A pattern that ends in a slash matches no file by its wildcards.
        self.literal < self.path.len() && !self.folder_only && self.wildcards_match(name)
    }

    /// What it says about the folder of that name (without a slash at the end).
    pub(super) fn covers(&self, folder: &BStr) -> Covers {
        if self.path.is_empty() || self.same(folder, &self.path) || self.is_below(folder) {
            return Covers::All;
        }
        if self.literal < self.path.len() && !self.folder_only && self.takes_all_below(folder) {
            return Covers::All;
        }
        if folder.is_empty() {
            return Covers::Perhaps;
        }
        let literal = &self.path[..self.literal];
        let shorter = literal.len().min(folder.len() + 1);
        let mut with_slash = folder.to_vec();
        with_slash.push(b'/');
        let beginning = self.same(with_slash[..shorter].as_bstr(), &literal[..shorter]);
        // A name without wildcards that is not the folder, nor above it, must lie below it.
        let below = self.literal < self.path.len() || self.path.len() > with_slash.len();
        if beginning && below { Covers::Perhaps } else { Covers::Nothing }
    }

    /// `src/**` (also `src/*`, where `*` crosses slashes) takes everything below `src`.
    fn takes_all_below(&self, folder: &BStr) -> bool {
        let rest = self.path[self.literal..].as_bytes();
        let tail = match self.mode {
            SearchMode::ShellGlob => matches!(rest, b"*" | b"**"),
            SearchMode::PathAwareGlob => rest == b"**",
            SearchMode::Literal => false,
        };
        if !tail {
            return false;
        }
        let literal = &self.path[..self.literal];
        match literal.strip_suffix(b"/") {
            None => literal.is_empty(),
            Some(base) => {
                self.same(folder, base)
                    || (folder.len() > base.len()
                        && folder[base.len()] == b'/'
                        && self.same(folder[..base.len()].as_bstr(), base))
            }
        }
    }

    /// Whether `name` lies below the folder that this pathspec equals, taken verbatim.
    fn is_below(&self, name: &BStr) -> bool {
        name.len() > self.path.len()
            && name[self.path.len()] == b'/'
            && self.same(name[..self.path.len()].as_bstr(), &self.path)
    }

    fn wildcards_match(&self, name: &BStr) -> bool {
        let Some(beginning) = name.get(..self.literal) else { return false };
        if !self.same(beginning.as_bstr(), &self.path[..self.literal]) {
            return false;
        }
        let mut mode = Mode::empty();
        mode.set(Mode::NO_MATCH_SLASH_LITERAL, self.mode == SearchMode::PathAwareGlob);
        mode.set(Mode::IGNORE_CASE, self.icase);
        // The whole of it, not what follows the literal part: `(glob)` gives `**/` a meaning only at a component's start.
        gix::glob::wildmatch(self.path.as_bstr(), name, mode)
    }

    fn same(&self, one: &BStr, other: &[u8]) -> bool {
        if self.icase { one.eq_ignore_ascii_case(other) } else { one.as_bytes() == other }
    }
}
