use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::config::{Colour, Config, FILE};

/// The draft for a project of `files`, with their contents, on a machine that has every program but `missing`.
fn draft(files: &[(&str, &str)], missing: &[&str]) -> Draft {
    let contents: BTreeMap<String, String> =
        files.iter().filter(|(path, _)| is_read(path)).map(|&(path, text)| (path.into(), text.into())).collect();
    let files: BTreeSet<String> = files.iter().map(|&(path, _)| path.into()).collect();
    let has_program = |program: &str| !missing.contains(&program);
    let ignored = ["target/x", "node_modules/x", "__pycache__/x.pyc", "build/x", ".gradle/x"];
    let is_ignored = |path: &str| files.contains(".gitignore") && ignored.contains(&path);
    detect(&Project { files: &files, contents: &contents, has_program: &has_program, is_ignored: &is_ignored })
}

/// The draft as one text, checked to be a good configuration.
fn shown(draft: &Draft) -> String {
    assert_good(draft);
    let list = |title: &str, items: &[String]| {
        format!("{title}:\n{}", items.iter().map(|item| format!("  {item}\n")).collect::<String>())
    };
    [
        draft.toml.clone(),
        list("guessed", &draft.guessed),
        list("left out", &draft.left_out),
        list("advice", &draft.advice),
    ]
    .join("\n")
}

/// A draft with jobs parses, and so does what was left out when its marks are taken away.
fn assert_good(draft: &Draft) {
    match Config::parse(draft.toml.as_bytes(), FILE) {
        Ok(config) => {
            let names: Vec<&str> = config.jobs.iter().map(|job| job.name.as_str()).collect();
            assert_eq!(names, draft.jobs);
        }
        Err(invalid) => {
            assert_eq!(invalid.problems[0].code, "nothing-to-prove", "{}", invalid.render(Colour::None));
            assert!(draft.jobs.is_empty());
        }
    }
    for block in draft.toml.split("\n# Left out: ").skip(1) {
        let lines: Vec<&str> =
            block.lines().skip(1).take_while(|line| line.starts_with("# ")).map(|line| &line[2..]).collect();
        let text = lines.join("\n").replace("needs =", "# needs =");
        assert!(Config::parse(text.as_bytes(), FILE).is_ok(), "{text}");
    }
}

const CARGO: &str = "[package]\nname = \"x\"\n";

#[test]
fn a_cargo_project_is_tested_and_only_linted_where_it_says_so() {
    insta::assert_snapshot!(shown(&draft(
        &[("Cargo.toml", CARGO), ("Cargo.lock", ""), (".gitignore", "/target\n")],
        &[]
    )));
}

#[test]
fn a_cargo_workspace_with_automation_gets_all_of_its_jobs() {
    insta::assert_snapshot!(shown(&draft(
        &[
            ("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n"),
            ("rustfmt.toml", ""),
            (".github/workflows/ci.yml", "run: cargo clippy -- -D warnings\n"),
            ("Makefile", "test:\n\tcargo test\n"),
        ],
        &["cargo-fmt"],
    )));
}

#[test]
fn an_npm_project_runs_the_scripts_that_exist() {
    insta::assert_snapshot!(shown(&draft(
        &[
            (
                "package.json",
                r#"{ "scripts": { "test": "node --test", "lint": "eslint .", "build": "tsc", "start": "node ." } }"#
            ),
            ("package-lock.json", "{}"),
            (".npmrc", ""),
            (".gitignore", "node_modules/\n"),
        ],
        &[],
    )));
}

#[test]
fn npms_placeholder_and_watchers_are_no_tests() {
    let placeholder =
        r#"{ "scripts": { "test": "echo \"Error: no test specified\" && exit 1", "check": "tsc --watch" } }"#;
    insta::assert_snapshot!(shown(&draft(&[("package.json", placeholder)], &[])));
}

#[test]
fn pnpm_and_yarn_are_chosen_by_their_lock_files() {
    let package = r#"{ "scripts": { "test": "vitest run", "typecheck": "tsc --noEmit" } }"#;
    let pnpm = draft(&[("package.json", package), ("pnpm-lock.yaml", "")], &[]);
    let yarn = draft(&[("package.json", package), ("yarn.lock", "")], &[]);
    let berry = draft(&[("package.json", package), ("yarn.lock", ""), (".yarnrc.yml", "")], &[]);
    insta::assert_snapshot!(shown(&pnpm));
    assert!(yarn.toml.contains("\"yarn install --frozen-lockfile\"") && yarn.toml.contains("\"yarn run test\""));
    assert!(berry.toml.contains("\"yarn install --immutable\""));
    for one in [yarn, berry] {
        assert_good(&one);
    }
}

#[test]
fn installing_has_inputs_only_where_it_reads_nothing_else() {
    let with = |package: &str, more: &str| {
        let draft = draft(&[("package.json", package), ("package-lock.json", ""), (more, "")], &[]);
        assert_good(&draft);
        draft.toml.contains("inputs")
    };
    assert!(with(r#"{ "scripts": { "test": "x" } }"#, "src/a.js"));
    assert!(!with(r#"{ "scripts": { "test": "x", "postinstall": "node setup.js" } }"#, "src/a.js"));
    assert!(!with(r#"{ "scripts": { "test": "x" }, "workspaces": ["packages/*"] }"#, "src/a.js"));
    assert!(!with(r#"{ "scripts": { "test": "x" }, "dependencies": { "own": "file:own" } }"#, "src/a.js"));
    assert!(!with(r#"{ "scripts": { "test": "x" } }"#, "patches/a.patch"));
}

#[test]
fn a_python_project_runs_the_tools_that_it_configures() {
    let pyproject = "[project]\nname = \"x\"\n[tool.ruff]\nline-length = 100\n[tool.mypy]\nfiles = [\"src\"]\n[tool.pytest.ini_options]\naddopts = \"-q\"\n";
    insta::assert_snapshot!(shown(&draft(&[("pyproject.toml", pyproject), ("uv.lock", "")], &[])));
}

#[test]
fn a_python_project_without_a_lock_uses_what_is_on_the_path() {
    insta::assert_snapshot!(shown(&draft(
        &[("setup.py", ""), ("setup.cfg", "[mypy]\nstrict = True\n"), ("ruff.toml", ""), ("tests/test_x.py", "")],
        &["ruff"],
    )));
}

#[test]
fn a_poetry_project_is_installed_before_its_tests() {
    let draft =
        draft(&[("pyproject.toml", "[tool.poetry]\nname = \"x\"\n"), ("poetry.lock", ""), ("test_x.py", "")], &[]);
    assert_good(&draft);
    assert_eq!(draft.jobs, ["install", "test"]);
    assert!(draft.toml.contains("run = \"poetry run pytest\"\nneeds = [\"install\"]\n"), "{}", draft.toml);
}

#[test]
fn tox_comes_before_pytest() {
    let draft =
        draft(&[("tox.ini", "[tox]\nenvlist = py3\n[testenv]\ncommands = pytest\n"), ("tests/conftest.py", "")], &[]);
    assert_good(&draft);
    assert_eq!(draft.guessed, ["test: `tox`, because of `tox.ini`"]);
}

#[test]
fn a_go_module_is_vetted_and_tested() {
    insta::assert_snapshot!(shown(&draft(
        &[("go.mod", "module x\n"), ("go.sum", ""), (".golangci.yml", "")],
        &["golangci-lint"]
    )));
}

#[test]
fn maven_and_gradle_prefer_their_wrappers() {
    insta::assert_snapshot!(shown(&draft(
        &[("pom.xml", ""), ("mvnw", ""), ("build.gradle.kts", ""), (".gitignore", "target/\nbuild\n.gradle\n")],
        &[],
    )));
}

#[test]
fn a_wrapper_that_cannot_be_executed_is_left_out() {
    let draft = draft(&[("build.gradle", ""), ("gradlew", "")], &["./gradlew"]);
    assert_good(&draft);
    assert!(draft.jobs.is_empty());
    assert!(draft.left_out[0].ends_with("`./gradlew` can't be executed here"), "{:?}", draft.left_out);
}

#[test]
fn make_targets_that_check_something_are_found() {
    let makefile = "CC := gcc\n.PHONY: test lint\nVAR = a:b\nall: build\n\t./x: y\ntest lint: all\n\t./run\ncheck: test\n%.o: %.c\n\t$(CC) $<\n";
    insta::assert_snapshot!(shown(&draft(&[("Makefile", makefile)], &[])));
}

#[test]
fn just_recipes_without_parameters_are_found() {
    let justfile =
        "set shell := [\"bash\"]\nversion := \"1\"\n# all\n@lint:\n  x\ntest *args: lint\n  y\ncheck path:\n  z\n";
    insta::assert_snapshot!(shown(&draft(&[("justfile", justfile)], &[])));
}

#[test]
fn two_languages_side_by_side_get_names_that_differ() {
    let draft = draft(
        &[
            ("Cargo.toml", CARGO),
            ("package.json", r#"{"scripts":{"test":"x"}}"#),
            ("package-lock.json", ""),
            ("go.mod", ""),
        ],
        &[],
    );
    assert_good(&draft);
    assert_eq!(draft.jobs, ["test", "install", "test-node", "vet", "test-go"]);
}

#[test]
fn nothing_known_is_said_and_no_command_is_invented() {
    insta::assert_snapshot!(shown(&draft(&[("README.md", ""), ("main.c", "")], &[])));
}

#[test]
fn without_a_single_program_everything_is_left_out() {
    let files = BTreeSet::from(["Cargo.toml", "package.json", "go.mod", "pom.xml", "Makefile"].map(String::from));
    let contents = BTreeMap::from([
        ("package.json".to_owned(), r#"{"scripts":{"test":"x"}}"#.to_owned()),
        ("Makefile".to_owned(), "test:\n".to_owned()),
    ]);
    let draft = detect(&Project { files: &files, contents: &contents, has_program: &|_| false, is_ignored: &|_| true });
    assert_good(&draft);
    assert!(draft.jobs.is_empty());
    assert!(draft.left_out.len() >= 6, "{:?}", draft.left_out);
}

#[test]
fn a_file_name_cannot_write_a_job() {
    let draft = draft(&[("setup.py", ""), ("test_\n[jobs.evil]\nrun = 'x'\n#.py", "")], &[]);
    assert_good(&draft);
    assert_eq!(draft.jobs, ["test"]);
}

proptest::proptest! {
    #[test]
    fn whatever_the_files_hold_the_draft_parses(
        texts in proptest::collection::vec("[ -~\n\t]{0,60}", 12),
        makefile in "([a-z$%.:= \t#]{0,12}\n){0,6}(test|check|lint)[:= a-z]{0,6}\n",
        scripts in proptest::collection::btree_map("test|lint|check|typecheck|prepare", "[ -~]{0,20}", 0..4),
    ) {
        let package = serde_json::json!({ "scripts": scripts }).to_string();
        let names = ["Cargo.toml", "pyproject.toml", "setup.cfg", "tox.ini", "justfile", ".gitignore", "go.mod", "pom.xml", "yarn.lock", "uv.lock", "test_a.py"];
        let mut files: Vec<(&str, &str)> = names.iter().zip(&texts).map(|(&name, text)| (name, text.as_str())).collect();
        files.extend([("Makefile", makefile.as_str()), ("package.json", package.as_str())]);
        assert_good(&draft(&files, &[]));
    }
}
