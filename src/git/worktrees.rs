//! The worktrees of a repository, as git lists them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use bstr::ByteSlice as _;

use super::error::GitError;
use super::repository::Repository;
use crate::id::CommitId;

/// One worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Its top folder.
    pub path: PathBuf,
    /// Its commit; none when its branch has none.
    pub head: Option<CommitId>,
    /// Its branch's full ref name; none when detached.
    pub branch: Option<String>,
}

impl Repository {
    /// The worktrees that are there, the main one first. A bare repository's own folder is none.
    pub fn worktrees(&self) -> Result<Vec<Worktree>, GitError> {
        let listed = self.git().ask(&["worktree", "list", "--porcelain", "-z"])?;
        Ok(parse(&listed))
    }
}

/// Records of `key value` fields, each ended by a NUL, each record by another.
fn parse(listed: &[u8]) -> Vec<Worktree> {
    let records = listed.split_str(b"\0\0").filter(|record| !record.is_empty());
    let worktree = |record: &[u8]| {
        let mut found = Worktree { path: PathBuf::new(), head: None, branch: None };
        for field in record.split(|&byte| byte == 0) {
            let (key, value) = field.split_once_str(b" ").unwrap_or((field, b""));
            match key {
                b"worktree" => found.path = OsStr::from_bytes(value).into(),
                b"HEAD" => found.head = value.to_str().ok().and_then(|id| id.parse().ok()),
                b"branch" => found.branch = Some(value.to_str_lossy().into_owned()),
                b"bare" | b"prunable" => return None,
                _ => {}
            }
        }
        found.head = found.head.filter(|head| !head.id().is_null());
        Some(found)
    };
    records.filter_map(worktree).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_and_lost_worktrees_are_left_out() {
        let id = "ab".repeat(20);
        let listed = format!(
            "worktree /b.git\0bare\0\0worktree /w a\0HEAD {id}\0branch refs/heads/a\0\0\
             worktree /gone\0HEAD {id}\0detached\0prunable gitdir file points to non-existent location\0\0\
             worktree /d\0HEAD {id}\0detached\0\0"
        );
        let found = parse(listed.as_bytes());
        let paths: Vec<_> = found.iter().map(|one| one.path.display().to_string()).collect();
        assert_eq!(paths, ["/w a", "/d"]);
        assert_eq!(found[0].branch.as_deref(), Some("refs/heads/a"));
        assert_eq!((found[1].head, found[1].branch.as_ref()), (id.parse().ok(), None));
    }
}
