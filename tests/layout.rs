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

/// All Rust sources below `folder`, one text.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
    entries
        .map(|path| match path.is_dir() {
            true => sources(&path),
            false if path.extension().is_some_and(|it| it == "rs") => fs::read_to_string(&path).expect("readable"),
            false => String::new(),
        })
        .collect()
}

#[test]
fn each_way_in_which_a_verdict_could_be_wrong_names_tests_that_exist() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(top.join("docs/soundness.md")).expect("readable");
    let tests = sources(&top.join("tests")) + &sources(&top.join("src"));
    let mut wrong = Vec::new();
    for row in
        page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| way") && !line.starts_with("| ---"))
    {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let (done, names) = match cells[..] {
            [_, done, names] => (done, names.split('`').skip(1).step_by(2).collect::<Vec<_>>()),
            _ => panic!("three cells: {row}"),
        };
        let needs_one = !done.starts_with("documented");
        let missing = names.iter().filter(|name| !tests.contains(&format!("fn {name}(")));
        wrong.extend(missing.map(|name| format!("no test is called `{name}`: {row}")));
        wrong.extend((needs_one && names.is_empty()).then(|| format!("no test is named: {row}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
