//! The JSON Schemas of the documents that `--json` prints, made from their types.

use std::collections::{BTreeMap, BTreeSet};

use schemars::{JsonSchema, Schema};
use serde_json::Value;

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

/// Every field that a document can have, a line each: `done candidate.commit: string`. A field that may be absent ends in `?`.
/// Scripts rely on what stands there, so lines are only added.
pub fn fields() -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for (command, schema) in schemas() {
        let mut found = Fields { root: schema.as_value(), within: Vec::new(), fields: BTreeMap::new() };
        found.look(schema.as_value(), "");
        lines.extend(found.fields.iter().map(|(path, field)| {
            let types: Vec<&str> = field.types.iter().map(String::as_str).collect();
            let absent = if field.required { "" } else { "?" };
            format!("{command} {path}{absent}: {}", types.join(" "))
        }));
    }
    lines
}

/// The fields of one schema, by path: `a.b` for objects, `a[].b` for lists, `a.*` for any key.
struct Fields<'a> {
    root: &'a Value,
    /// The definitions that are being looked at: what is inside itself is looked at once.
    within: Vec<&'a str>,
    fields: BTreeMap<String, Field>,
}

#[derive(Default)]
struct Field {
    types: BTreeSet<String>,
    required: bool,
}

impl<'a> Fields<'a> {
    fn look(&mut self, schema: &'a Value, path: &str) {
        if let Some(name) = schema["$ref"].as_str() {
            // Why there is no answer has the fields of a run's document, for every command.
            let refused = path.is_empty() && name.ends_with("/RunDocument");
            let target = name.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            if let Some(target) = target.filter(|_| !refused && !self.within.contains(&name)) {
                self.within.push(name);
                self.look(target, path);
                self.within.pop();
            }
        }
        for choice in ["anyOf", "oneOf", "allOf"] {
            items(&schema[choice]).iter().for_each(|one| self.look(one, path));
        }
        if let Some(field) = self.fields.get_mut(path) {
            let types = items(&schema["type"]).iter().chain([&schema["type"]]);
            field.types.extend(types.filter_map(Value::as_str).map(str::to_owned));
        }
        let required: Vec<&str> = items(&schema["required"]).iter().filter_map(Value::as_str).collect();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            self.fields.entry(path.clone()).or_default().required = required.contains(&name.as_str());
            self.look(property, &path);
        }
        if schema["items"].is_object() {
            self.look(&schema["items"], &format!("{path}[]"));
        }
        if schema["additionalProperties"].is_object() {
            self.look(&schema["additionalProperties"], &format!("{path}.*"));
        }
    }
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}
