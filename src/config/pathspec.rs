//! Whether text is a git pathspec that a subject may rest on. What it selects is `git`'s part; here is only its syntax.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

use super::Position;

/// A pathspec whose syntax was checked, as written. Where it is written makes no difference between two.
#[derive(Clone)]
pub struct Pathspec {
    text: String,
    written: Option<(Position, Range<usize>)>,
}

impl PartialEq for Pathspec {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pathspec {}

impl PartialOrd for Pathspec {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Pathspec {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl fmt::Debug for Pathspec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pathspec").field(&self.text).finish()
    }
}

impl Pathspec {
    /// The pathspec as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Where it is written, if it was read from a file.
    pub fn at(&self) -> Option<Position> {
        self.written.as_ref().map(|(at, _)| *at)
    }

    /// Its bytes in that file.
    pub fn span(&self) -> Option<Range<usize>> {
        self.written.as_ref().map(|(_, span)| span.clone())
    }

    /// The same, written at `at`, which are the bytes `span` of its file.
    #[must_use]
    pub(super) fn written(self, at: Position, span: Range<usize>) -> Self {
        Self { written: Some((at, span)), ..self }
    }

    /// Checks `text` as gitglossary(7) describes pathspecs, seen from the top directory. The error says what is wrong
    /// with it, a fragment that continues "`text` …".
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let (magic, path) = split(text)?;
        if path.starts_with('/') {
            return Err("is absolute; pathspecs are seen from the top directory");
        }
        if path.split('/').any(|part| part == "..") {
            return Err("leads out of the repository");
        }
        if path.contains('\0') {
            return Err("holds a NUL character");
        }
        if path.is_empty() && !magic.may_be_bare {
            return Err("has no path; leave the key out to mean the whole tree");
        }
        if !magic.literal {
            glob(path)?;
        }
        Ok(Self { text: text.to_owned(), written: None })
    }
}

#[derive(Default)]
struct Magic {
    literal: bool,
    glob: bool,
    may_be_bare: bool,
}

/// The magic signature and the rest.
fn split(text: &str) -> Result<(Magic, &str), &'static str> {
    match text.strip_prefix(':') {
        None => Ok((Magic::default(), text)),
        Some(rest) if rest.starts_with('(') => long_magic(&rest[1..]),
        Some(rest) => short_magic(rest),
    }
}

fn long_magic(rest: &str) -> Result<(Magic, &str), &'static str> {
    let (words, path) = rest.split_once(')').ok_or("lacks the `)` that ends its magic")?;
    let mut magic = Magic::default();
    for word in words.split(',') {
        match word {
            "" | "icase" | "exclude" => {}
            "top" => magic.may_be_bare = true,
            "literal" => magic.literal = true,
            "glob" => magic.glob = true,
            _ if word == "attr" || word.starts_with("attr:") => {
                return Err("uses `attr`, which depends on more than the commit's tree");
            }
            _ => {
                return Err(
                    "uses magic that git does not know; there are `top`, `literal`, `icase`, `glob` and `exclude`",
                );
            }
        }
    }
    if magic.literal && magic.glob {
        return Err("is `literal` and `glob` at once");
    }
    Ok((magic, path))
}

fn short_magic(rest: &str) -> Result<(Magic, &str), &'static str> {
    let mut magic = Magic::default();
    let mut path = rest;
    loop {
        match path.chars().next() {
            Some('/') => magic.may_be_bare = true,
            Some('!' | '^') => {}
            Some(':') => return Ok((magic, &path[1..])),
            Some(sign) if "\"#%&'-,;<=>@_`~".contains(sign) => {
                return Err("uses magic that git does not know; there are `/`, `!` and `^`");
            }
            _ => return Ok((magic, path)),
        }
        path = &path[1..];
    }
}

/// Brackets that are never closed and a backslash at the end match nothing in git, but for a file of that very name.
fn glob(pattern: &str) -> Result<(), &'static str> {
    let mut signs = pattern.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => drop(signs.next().ok_or("ends with a lone `\\`")?),
            '[' => bracket(&mut signs).ok_or("has a `[` that is never closed; for the character itself write `\\[`")?,
            _ => {}
        }
    }
    Ok(())
}

/// Reads a bracket expression to its end. A `]` right at its beginning stands for itself.
fn bracket(signs: &mut std::str::Chars<'_>) -> Option<()> {
    let mut sign = signs.next()?;
    if sign == '!' || sign == '^' {
        sign = signs.next()?;
    }
    loop {
        match sign {
            '\\' => drop(signs.next()?),
            '[' if signs.as_str().starts_with(':') => {
                let end = signs.as_str().find(":]")?;
                *signs = signs.as_str()[end + 2..].chars();
            }
            _ => {}
        }
        sign = signs.next()?;
        if sign == ']' {
            return Some(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pathspecs_that_git_takes_are_taken() {
        for good in [
            "src",
            "src/",
            "*.rs",
            "src/**",
            ":(glob)src/**/*.rs",
            ":(icase)README*",
            ":(exclude)docs",
            ":!docs",
            ":^docs",
            ":/",
            ":(top)",
            ":(top,icase)src",
            ":(literal)a[b",
            "[a-z]*",
            "[]a]",
            "[!]]",
            "[[:alpha:]]x",
            "a\\[b",
            ":!:x",
            "ä/ö",
            ".",
            "a..b",
        ] {
            assert!(Pathspec::parse(good).is_ok(), "{good}: {:?}", Pathspec::parse(good));
        }
    }

    #[test]
    fn pathspecs_that_select_nothing_or_too_much_are_refused() {
        for bad in [
            "",
            ":",
            ":!",
            "/src",
            "../x",
            "a/../b",
            ":(attr:x)y",
            ":(attr)y",
            ":(glob",
            ":(globb)x",
            ":(glob,literal)x",
            "a[b",
            "a\\",
            ":%x",
            "[[:alpha:]",
            "a\0b",
        ] {
            assert!(Pathspec::parse(bad).is_err(), "{bad:?}");
        }
    }
}
