//! Broken configurations with the page that a person sees, and the generated reference.
//!
//! Each `fixtures/config/invalid/NAME.toml` has its page beside it as `NAME.txt`. With `UPDATE_FIXTURES=1` in the
//! environment the pages are written anew; look at the difference before committing it.
#![expect(clippy::disallowed_methods, reason = "a test asks the environment whether to write its expectations anew")]

use std::fs;
use std::path::{Path, PathBuf};

use git_discern::config::{self, Colour, Config};
use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn invalid_fixtures() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("fixtures/config/invalid")).expect("the fixtures are there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    paths
}

/// Compares with the file at `path`, or writes it.
fn expect_file(path: &Path, actual: &str) -> Result<(), String> {
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        fs::write(path, actual).expect("writable");
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    match expected == actual {
        true => Ok(()),
        false => Err(format!("{} differs; it should be:\n{actual}", path.display())),
    }
}

#[test]
fn each_broken_configuration_is_refused_with_its_page() {
    let paths = invalid_fixtures();
    assert!(paths.len() >= 80, "only {} fixtures", paths.len());
    let mut wrong = Vec::new();
    for path in paths {
        let bytes = fs::read(&path).expect("readable");
        match Config::parse(&bytes, config::FILE) {
            Ok(_) => wrong.push(format!("{} is taken for a good one", path.display())),
            Err(invalid) => {
                let page = invalid.render(Colour::None);
                wrong.extend(expect_file(&path.with_extension("txt"), &page).err());
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_page_in_colour_says_the_same_as_one_without() {
    for path in invalid_fixtures() {
        let invalid = Config::parse(&fs::read(&path).expect("readable"), config::FILE).expect_err("it is broken");
        let coloured = anstream::adapter::strip_str(&invalid.render(Colour::Ansi)).to_string();
        assert_eq!(coloured, invalid.render(Colour::None), "{}", path.display());
    }
}

#[test]
fn the_reference_and_the_schema_are_those_that_the_parser_uses() {
    let schema = serde_json::to_string_pretty(&config::schema()).expect("a schema is JSON") + "\n";
    let pages = [("docs/configuration.md", config::reference()), ("docs/schema/discern-toml.json", schema)];
    for (path, text) in pages {
        let written = fs::read_to_string(root().join(path)).expect("it is there");
        assert!(written == text, "{path} is not what `cargo xtask gen` writes");
    }
}

#[test]
fn the_examples_of_the_reference_are_good() {
    let reference = config::reference();
    let mut examples = 0;
    for block in reference.split("```toml\n").skip(1) {
        let text = block.split("```").next().expect("a block ends");
        let problems = Config::parse(text.as_bytes(), config::FILE).err().map(|invalid| invalid.render(Colour::None));
        assert_eq!(problems, None);
        examples += 1;
    }
    assert!(examples > 0);
}

/// A TOML item as JSON, for the validator.
fn json(item: &toml_edit::Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return Value::Object(table.iter().map(|(key, item)| (key.to_owned(), json(item))).collect());
    }
    match item {
        toml_edit::Item::Value(toml_edit::Value::Array(list)) => {
            list.iter().map(|value| json(&toml_edit::Item::Value(value.clone()))).collect()
        }
        toml_edit::Item::ArrayOfTables(list) => list.iter().map(|t| json(&toml_edit::Item::Table(t.clone()))).collect(),
        toml_edit::Item::Value(toml_edit::Value::Integer(number)) => (*number.value()).into(),
        toml_edit::Item::Value(toml_edit::Value::Float(number)) => (*number.value()).into(),
        toml_edit::Item::Value(toml_edit::Value::Boolean(truth)) => (*truth.value()).into(),
        other => other.as_str().into(),
    }
}

#[test]
fn what_the_schema_refuses_the_parser_refuses_and_good_files_pass_both() {
    let validator = jsonschema::validator_for(&config::schema()).expect("a valid schema");
    let check = |text: &str| {
        let document = toml_edit::Document::parse(text).ok()?;
        Some(validator.is_valid(&json(document.as_item())))
    };
    let good = fs::read_to_string(root().join("fixtures/config/full.toml")).expect("readable");
    assert!(Config::parse(good.as_bytes(), config::FILE).is_ok());
    assert_eq!(check(&good), Some(true));
    assert_eq!(check("[jobs.t]\nrun = \"x\"\nfoo = 1\n"), Some(false));
    assert_eq!(check("[jobs.t]\n"), Some(false));
    assert_eq!(check("[gate]\n"), Some(false));
}
