//! The configuration reference and the JSON Schema, both made of the table of keys.

use serde_json::{Map, Value, json};

use super::keys::{Key, Kind, Table, of};

/// The configuration reference, Markdown: `docs/configuration.md` is this text.
pub fn reference() -> String {
    let mut page = String::from(INTRODUCTION);
    for table in [Table::Gate, Table::Job, Table::Standard, Table::Per, Table::Push] {
        page.push_str(&format!("\n## `{}`\n\n{}\n", table.heading(), table.meaning()));
        page.push_str("\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n");
        for key in of(table) {
            let Key { name, default, meaning, .. } = key;
            page.push_str(&format!("| `{name}` | {} | {default} | {meaning} |\n", key.kind.words()));
        }
    }
    page.push_str(EXAMPLE);
    page
}

const INTRODUCTION: &str = "\
# Configuration: `discern.toml`

<!-- Generated from src/config/keys.rs by `cargo xtask gen`; a test compares. -->

The file lies at the top of the repository and is committed: the configuration that counts for a commit is the one in that
commit. Only `git discern run` reads the worktree's. It is TOML, at most 1 MiB, and needs at least one job or standard. An
unknown key, a value out of range, a job that is needed and not there, a cycle: each is refused with its line before
anything runs.

Names of jobs and standards have letters, digits, `.`, `_` and `-`, at most 64, the first one a letter or a digit. No two
names are the same, also without regard to case.

Pathspecs are git's, over the committed tree and seen from the top: `src`, `*.rs`, `src/**`, `:(glob)src/*.rs`,
`:(icase)readme*`, `:(exclude)docs`, `:!docs`. `:(attr:…)` is refused, because attributes are read from more than the
commit. A pathspec that matches nothing in the commit is refused when the commit is to be proven or measured; `git discern run`,
which works on the tree as it stands, notes one that matches no file there, and `git discern doctor` names it. Line ends may be
those of another system (CRLF): a command of several lines is run as if they were plain ones.
";

const EXAMPLE: &str = r#"
## An example

```toml
[gate]
trunk = "main"
timeout = 1800

[jobs.build]
run = "cargo build --all-targets"
toolchain = ["rustc --version"]

[jobs.lint]
run = "cargo clippy --all-targets -- -D warnings"
needs = ["build"]
env = ["RUSTFLAGS"]
toolchain = ["rustc --version", "cargo clippy --version"]

[standards.todo]
direction = "down"
limit = 12
run = "echo DISCERN_METRIC todo $(git grep -c TODO -- src | wc -l)"

[push]
require = ["refs/heads/main", "refs/heads/release/*"]
```
"#;

/// The JSON Schema of `discern.toml`, for editors that know TOML schemas.
pub fn schema() -> Value {
    let properties = Table::ALL.map(|table| {
        let object = table_schema(table);
        let value = match table.is_named() {
            true => json!({ "type": "object", "propertyNames": { "pattern": NAME_PATTERN }, "additionalProperties": object }),
            false => object,
        };
        (table.top().to_owned(), value)
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "discern.toml",
        "type": "object",
        "additionalProperties": false,
        "anyOf": [{ "required": ["jobs"] }, { "required": ["standards"] }],
        "properties": Map::from_iter(properties),
    })
}

const NAME_PATTERN: &str = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";

fn properties(table: Table) -> Value {
    let properties = of(table).map(|key| {
        let mut value = value_schema(key.kind);
        value["description"] = key.meaning.into();
        (key.name.to_owned(), value)
    });
    Map::from_iter(properties).into()
}

fn table_schema(table: Table) -> Value {
    let required: Vec<&str> = of(table).filter(|key| key.default == "required").map(|key| key.name).collect();
    json!({
        "type": "object",
        "description": table.meaning(),
        "additionalProperties": false,
        "required": required,
        "properties": properties(table),
    })
}

/// The schema of a value of that kind.
fn value_schema(kind: Kind) -> Value {
    let strings = json!({ "type": "array", "items": { "type": "string", "minLength": 1 } });
    match kind {
        Kind::Text | Kind::Job | Kind::Metric | Kind::Path => json!({ "type": "string", "minLength": 1 }),
        Kind::Command => json!({ "anyOf": [{ "type": "string", "minLength": 1 }, strings] }),
        Kind::Jobs | Kind::Pathspecs | Kind::Paths | Kind::Variables | Kind::Commands | Kind::Refs => strings,
        Kind::Whole { min, max, .. } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Decimal => json!({ "type": "number" }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Per => json!({
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": false,
            "properties": properties(Table::Per),
        }),
    }
}
