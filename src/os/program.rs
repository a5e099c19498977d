//! Whether a program can be run.

use std::ffi::OsStr;
use std::io::Read as _;
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

/// The most of a script that is looked at for its interpreter, in bytes: what the kernel reads of it, too.
const FIRST_LINE_BYTES: usize = 256;

/// The interpreter that the first line of the script `file` names, where that is not there: the system says of such a script as
/// well that there is no such file.
pub fn missing_interpreter(file: &Path) -> Option<String> {
    let mut first = Vec::new();
    std::fs::File::open(file).ok()?.take(FIRST_LINE_BYTES as u64).read_to_end(&mut first).ok()?;
    let line = first.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let name = String::from_utf8_lossy(line).into_owned();
    let interpreter = name.split([' ', '\t']).find(|word| !word.is_empty())?;
    (!Path::new(interpreter).exists()).then(|| interpreter.escape_debug().to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_missing_interpreter_is_named_with_the_sign_that_an_editor_left() {
        let top = tempfile::tempdir().unwrap();
        let of = |text: &str| {
            fs::write(top.path().join("script"), text).unwrap();
            missing_interpreter(&top.path().join("script"))
        };
        assert_eq!(of("#!/no/such -x\necho\n"), Some("/no/such".to_owned()));
        assert_eq!(of("#!/bin/sh\r\necho\r\n"), Some("/bin/sh\\r".to_owned()));
        assert_eq!(of("#! /bin/sh -e\n"), None);
        assert_eq!(of("echo\n"), None);
        assert_eq!(missing_interpreter(&top.path().join("absent")), None);
        assert_eq!(missing_interpreter(top.path()), None);
    }

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
