//! Whether a program can be run.

use std::ffi::OsStr;
use std::path::Path;

use rustix::fs::{Access, access};

/// Whether `program` is an executable file in one of the directories of `path`; with a `/` in it, below `top` instead.
/// Empty and relative entries of `path` are seen from `top`, where jobs run.
pub fn is_there(program: &str, path: Option<&OsStr>, top: &Path) -> bool {
    let runs = |file: &Path| file.is_file() && access(file, Access::EXEC_OK).is_ok();
    if program.contains('/') {
        return runs(&top.join(program));
    }
    path.is_some_and(|path| std::env::split_paths(path).any(|directory| runs(&top.join(directory).join(program))))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_an_executable_file_is_a_program() {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir_all(top.path().join("bin/folder")).unwrap();
        fs::write(top.path().join("bin/text"), "").unwrap();
        fs::write(top.path().join("bin/tool"), "").unwrap();
        fs::set_permissions(top.path().join("bin/tool"), fs::Permissions::from_mode(0o755)).unwrap();
        let there = |program: &str| is_there(program, Some(OsStr::new("/nowhere:bin")), top.path());
        assert!(there("tool") && there("./bin/tool"));
        assert!(!there("folder") && !there("absent") && !there("./bin/absent"));
        // To root everything with any execute bit can be run, and this file has none.
        assert!(!there("text"));
        assert!(!is_there("tool", None, top.path()));
    }
}
