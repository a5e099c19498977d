//! What `--json` prints is what the schemas under `docs/schema/` say.

use std::path::Path;

use git_discern::report::schema;

use crate::support::Bench;

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
        let validator = jsonschema::validator_for(of.as_value()).expect("a schema");
        let problems: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert_eq!(problems, Vec::<String>::new(), "{command}: {document:#}");
    }
}
