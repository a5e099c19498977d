//! The tests test themselves: none of them is forgotten.

use std::fs;
use std::path::Path;

/// The files and folders in `folder` that the module file `declaring` does not declare.
fn undeclared(folder: &Path, declaring: &str) -> Vec<String> {
    let declared = fs::read_to_string(folder.join(declaring)).unwrap_or_default();
    let mut forgotten = Vec::new();
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        let stem = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let holds_modules = path.is_dir() && path.join("mod.rs").exists();
        if holds_modules {
            forgotten.extend(undeclared(&path, "mod.rs"));
        }
        let is_source = path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with(declaring);
        let declaration = [format!("mod {stem};"), format!("mod {stem} {{")];
        if (is_source || holds_modules) && !declaration.iter().any(|line| declared.contains(line)) {
            forgotten.push(path.display().to_string());
        }
    }
    forgotten
}

#[test]
fn every_file_under_tests_is_part_of_the_suite() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    assert_eq!(undeclared(&tests, "main.rs"), Vec::<String>::new());
}
