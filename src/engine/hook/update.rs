//! What git tells a pre-push hook: one line for each ref that is to change.

use bstr::ByteSlice as _;

use crate::id::ObjectId;

/// One ref that a push would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefUpdate {
    /// What is pushed, as the user named it: `refs/heads/main`, `HEAD~1`; `(delete)` for a deletion.
    pub local_ref: String,
    /// The object that the remote ref would name; null for a deletion.
    pub local: ObjectId,
    /// The full name of the ref on the remote.
    pub remote_ref: String,
    /// What the remote ref names now; null where there is none.
    pub remote: ObjectId,
}

/// A line that is none of git's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no line that git writes")]
pub struct StrangeLine(pub String);

/// Parses everything that git wrote: `<local ref> <local id> <remote ref> <remote id>` on each line. A local ref may hold blanks
/// (`main^{/fix it}`); ids and remote refs can't.
///
/// # Errors
/// A line has another shape: nothing is known of what it pushes.
pub fn parse(lines: &[u8]) -> Result<Vec<RefUpdate>, StrangeLine> {
    lines.lines().filter(|line| !line.is_empty()).map(line).collect()
}

fn line(line: &[u8]) -> Result<RefUpdate, StrangeLine> {
    let strange = || StrangeLine(line.to_str_lossy().into_owned());
    let mut fields = line.rsplitn(4, |&byte| byte == b' ');
    let id_or = |field: Option<&[u8]>| field.and_then(|id| id.to_str().ok()?.parse::<ObjectId>().ok());
    let remote = id_or(fields.next()).ok_or_else(strange)?;
    let remote_ref = fields.next().ok_or_else(strange)?.to_str_lossy().into_owned();
    let local = id_or(fields.next()).ok_or_else(strange)?;
    let local_ref = fields.next().ok_or_else(strange)?.to_str_lossy().into_owned();
    Ok(RefUpdate { local_ref, local, remote_ref, remote })
}

/// Whether a pattern of `[push] require` selects a full ref name: `*` stays within a path component, `**` does not.
pub fn selects(pattern: &str, name: &str) -> bool {
    matches(pattern.as_bytes(), name.as_bytes())
}

fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match pattern {
        [] => name.is_empty(),
        // "a/**/b" selects "a/b", too.
        [b'*', b'*', b'/', rest @ ..] if matches(rest, name) => true,
        [b'*', b'*', rest @ ..] => (0..=name.len()).any(|taken| matches(rest, &name[taken..])),
        [b'*', rest @ ..] => {
            let within = name.iter().position(|&byte| byte == b'/').unwrap_or(name.len());
            (0..=within).any(|taken| matches(rest, &name[taken..]))
        }
        [first, rest @ ..] => name.first() == Some(first) && matches(rest, &name[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_from_its_end() {
        let (one, other) = ("ab".repeat(20), "cd".repeat(20));
        let updates =
            parse(format!("main^{{/fix it}} {one} refs/heads/x {other}\n").as_bytes()).expect("git writes so");
        assert_eq!(updates[0].local_ref, "main^{/fix it}");
        assert_eq!(updates[0].remote_ref, "refs/heads/x");
        assert_eq!((updates[0].local, updates[0].remote), (one.parse().unwrap(), other.parse().unwrap()));
    }

    #[test]
    fn empty_lines_are_nothing_and_strange_ones_are_an_error() {
        assert_eq!(parse(b"\n"), Ok(Vec::new()));
        assert_eq!(parse(b""), Ok(Vec::new()));
        for strange in ["x", "a b c d", "refs/heads/a 00 refs/heads/b 00"] {
            assert_eq!(parse(strange.as_bytes()), Err(StrangeLine(strange.to_owned())));
        }
    }

    #[test]
    fn one_star_stays_within_a_component_and_two_do_not() {
        assert!(selects("refs/heads/**", "refs/heads/a/b"));
        assert!(selects("refs/**", "refs/tags/v1"));
        assert!(selects("refs/heads/*", "refs/heads/a"));
        assert!(!selects("refs/heads/*", "refs/heads/a/b"));
        assert!(selects("refs/heads/release-*", "refs/heads/release-1.2"));
        assert!(selects("refs/**/main", "refs/heads/main") && selects("refs/heads/**/main", "refs/heads/main"));
        assert!(!selects("refs/heads/main", "refs/heads/main2") && !selects("refs/heads/main", "refs/heads/mai"));
    }
}
