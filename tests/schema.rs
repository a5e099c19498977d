//! What `--json` prints is what the schemas under `docs/schema/` say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use git_discern::report::schema;
use serde_json::Value;

use crate::support::{Bench, wait_for};

#[test]
fn the_committed_schemas_are_those_of_the_types() {
    for (command, of) in schema::schemas() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/schema/{command}.json"));
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(committed, schema::text(&of), "{command}: run `cargo xtask gen`");
    }
}

#[test]
fn a_refusal_is_a_document_of_its_commands_schema() {
    let bench = Bench::new();
    for (command, of) in schema::schemas() {
        let document = bench.discern(&[command, "--json", "--no-such-option"]).exits(2).json();
        is_valid(command, &of, &document);
    }
}

#[track_caller]
fn is_valid(command: &str, of: &schemars::Schema, document: &Value) {
    let validator = jsonschema::validator_for(of.as_value()).expect("a schema");
    let problems: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert_eq!(problems, Vec::<String>::new(), "{command}: {document:#}");
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema")
}

#[test]
fn fields_are_only_added() {
    let listed = std::fs::read_to_string(folder().join("fields.txt")).expect("the list");
    let fields = schema::fields();
    let gone: Vec<&str> = listed.lines().filter(|line| !fields.contains(*line)).collect();
    assert!(gone.is_empty(), "scripts rely on these; keep them, or begin a new version of the document: {gone:#?}");
    let listed: BTreeSet<String> = listed.lines().map(str::to_owned).collect();
    let new: Vec<&String> = fields.difference(&listed).collect();
    assert!(new.is_empty(), "run `cargo xtask gen`, which lists what is new: {new:#?}");
}

/// A document of each kind, from runs.
fn documents() -> BTreeMap<&'static str, Value> {
    let bench = Bench::new();
    let mut documents = BTreeMap::new();
    documents.insert("init", {
        bench.write("Cargo.toml", "[package]\nname = \"sample\"\n");
        bench.discern(&["init", "--json"]).json()
    });
    bench.sh("rm discern.toml Cargo.toml").exits(0);
    bench.gate();
    bench.job("test", "echo tested");
    bench.standard("lines", "down", "9", "echo DISCERN_METRIC lines 7");
    bench.save("Count");
    let mut answer = |kind: &'static str, arguments: &[&str]| {
        documents.insert(kind, bench.discern(&[arguments, &["--json"]].concat()).json());
    };
    answer("done", &["done"]);
    answer("run", &["run"]);
    answer("standards", &["standards"]);
    answer("standards-history", &["standards", "--history"]);
    answer("status", &["status"]);
    answer("verify", &["verify"]);
    answer("log", &["log"]);
    answer("show", &["show"]);
    answer("explain", &["explain", "test"]);
    answer("doctor", &["doctor"]);
    answer("gc", &["gc"]);
    answer("recover", &["recover"]);
    answer("hook", &["hook", "pre-push", "origin", "elsewhere"]);
    answer("manual", &["manual", "--into", "../man"]);
    bench.job("more", "echo more");
    bench.save("Say more");
    answer("done-range", &["done", "HEAD~1..HEAD"]);
    bench.job("gated", "sleep 60");
    bench.save("Wait");
    let mut running = bench.start(&["done"]);
    running.wait_for_stderr("started   gated");
    let mut waiting = bench.start(&["wait", "--json"]);
    waiting.wait_for_stderr("gated");
    let mut stopped = Value::Null;
    wait_for("a run that can be asked to stop", || {
        stopped = bench.discern(&["stop", "--json"]).json();
        stopped["operation"].is_string()
    });
    documents.insert("stop", stopped);
    assert_eq!(running.wait().status, 143);
    documents.insert("wait", waiting.wait().json());
    let (here, home) = (bench.root().display().to_string(), "/home/jo");
    for document in documents.values_mut() {
        *document = document.to_string().replace(&here, home).parse().expect("JSON");
    }
    documents
}

#[test]
fn each_document_has_an_example_and_both_are_what_the_schema_says() {
    let documents = documents();
    let page = std::fs::read_to_string(folder().join("../documents.md")).expect("the page");
    for (kind, of) in schema::schemas() {
        let document = &documents[kind];
        is_valid(kind, &of, document);
        let path = folder().join(format!("examples/{kind}.json"));
        if git_discern::os::environment::variable("WRITE_EXAMPLES").is_some() {
            std::fs::write(&path, format!("{document:#}\n")).expect("it is written");
        }
        let example = std::fs::read_to_string(&path).expect("run once with WRITE_EXAMPLES=1");
        let example: Value = serde_json::from_str(&example).expect("JSON");
        is_valid(kind, &of, &example);
        assert_eq!(keys(&example), keys(document), "{kind}: the example shows what is printed");
        assert!(page.contains(&format!("(schema/examples/{kind}.json)")), "{kind} is on the page");
    }
}

fn keys(document: &Value) -> Vec<&String> {
    document.as_object().expect("an object").keys().collect()
}
