//! The JSON Schemas of the documents that `--json` prints, made from their types.

use schemars::{JsonSchema, Schema};

use crate::document::{self, CommitsDocument, HookDocument, InitDocument, RunDocument};

/// Each document's command and schema. The files under `docs/schema/` are these, and a test compares them.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("done", of::<RunDocument>("done")),
        ("done-range", of::<OrRefused<document::RangeDocument>>("done-range")),
        ("run", of::<RunDocument>("run")),
        ("standards", of::<RunDocument>("standards")),
        ("standards-history", of::<OrRefused<document::HistoryDocument>>("standards-history")),
        ("init", of::<OrRefused<InitDocument>>("init")),
        ("verify", of::<OrRefused<CommitsDocument>>("verify")),
        ("status", of::<OrRefused<document::StatusDocument>>("status")),
        ("wait", of::<RunDocument>("wait")),
        ("log", of::<OrRefused<CommitsDocument>>("log")),
        ("hook", of::<OrRefused<HookDocument>>("hook")),
        ("show", of::<RunDocument>("show")),
        ("explain", of::<OrRefused<document::ExplainDocument>>("explain")),
        ("doctor", of::<OrRefused<document::DoctorDocument>>("doctor")),
        ("gc", of::<OrRefused<document::GcDocument>>("gc")),
        ("recover", of::<OrRefused<document::RecoverDocument>>("recover")),
        ("stop", of::<OrRefused<document::StopDocument>>("stop")),
        ("manual", of::<RunDocument>("manual")),
    ]
}

/// An answer of its own form, or why there is none, which has the same form for every command.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is wanted")]
enum OrRefused<T> {
    Answer(Box<T>),
    Refused(Box<RunDocument>),
}

fn of<T: JsonSchema>(command: &str) -> Schema {
    let mut schema = schemars::schema_for!(T);
    schema.insert("title".to_owned(), format!("discern/{command}/1").into());
    schema
}

/// A schema as it stands in its file.
pub fn text(schema: &Schema) -> String {
    format!("{:#}\n", schema.as_value())
}
