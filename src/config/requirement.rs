//! From tables to types: jobs and standards, each read on its own. Whether the names in them exist is looked at later.

use std::time::Duration;

use toml_edit::TableLike;

use super::keys::{self, Kind, Table};
use super::read::{Placed, Reader, Section, key_span, value_span};
use super::{Gate, Influences, Job, Measure, Per, Source, Standard, Timeout};
use crate::id::Name;
use crate::standard::{Decimal, Direction};

/// A job or a standard as read.
pub(super) struct Draft<T> {
    pub(super) name: Placed<Name>,
    /// Nothing when something that it can't be without is wrong or missing.
    pub(super) item: Option<T>,
    /// The jobs that it names, with the key that names each: `needs`, `after` or `from`.
    pub(super) references: Vec<(&'static str, Placed<Name>)>,
    /// The artifact of the job in `from` that it reads.
    pub(super) artifact: Option<Placed<String>>,
}

/// Every `[jobs.NAME]`.
pub(super) fn jobs(reader: &mut Reader, root: &dyn TableLike, gate: &Gate) -> Vec<Draft<Job>> {
    each(reader, root, Table::Job, |reader, name, section| job(reader, name, section, gate))
}

/// Every `[standards.NAME]`.
pub(super) fn standards(reader: &mut Reader, root: &dyn TableLike, gate: &Gate) -> Vec<Draft<Standard>> {
    each(reader, root, Table::Standard, |reader, name, section| standard(reader, name, section, gate))
}

fn each<T>(
    reader: &mut Reader,
    root: &dyn TableLike,
    table: Table,
    mut read: impl FnMut(&mut Reader, Placed<Name>, Section<'_>) -> Draft<T>,
) -> Vec<Draft<T>> {
    let top = table.top();
    let Some(entries) = named_tables(reader, root, top) else { return Vec::new() };
    let mut drafts = Vec::new();
    for (text, item) in entries.iter() {
        let span = key_span(entries, text);
        let Some(items) = item.as_table_like() else {
            let problem = reader.note("wrong-type", format!("`{top}.{text}` is no table"), span);
            problem.help = Some(match keys::find(table, text) {
                Some(_) => format!("`{text}` belongs below a line `[{top}.NAME]`"),
                None => format!("write `[{top}.{text}]` on a line of its own and its keys below"),
            });
            continue;
        };
        let title = format!("[{top}.{text}]");
        let section = Section { table, items, title: &title };
        match text.parse() {
            Ok(name) => drafts.push(read(reader, Placed { value: name, span }, section)),
            Err(_) => reader.bad_name(text, span),
        }
    }
    drafts
}

/// The table of tables at `top`. The usual slip is `[[jobs]]`, or keys of one job right below `[jobs]`.
fn named_tables<'a>(reader: &mut Reader, root: &'a dyn TableLike, top: &str) -> Option<&'a dyn TableLike> {
    let item = root.get(top)?;
    let tables = item.as_table_like();
    if tables.is_none() {
        let problem = reader.note("wrong-type", format!("`{top}` is no table"), value_span(root, top));
        problem.help = Some(format!("each has a table with its name: `[{top}.NAME]`"));
    }
    tables
}

fn job(reader: &mut Reader, name: Placed<Name>, section: Section<'_>, gate: &Gate) -> Draft<Job> {
    reader.check_keys(section);
    let run = reader.command(section, "run");
    if !section.items.contains_key("run") {
        missing(reader, &name, section, "run", "the command, for example `run = \"make test\"`");
    }
    let (influences, mut references) = influences(reader, section);
    let after = reader.names(section, "after");
    let touches = reader.pathspecs(section, "touches").unwrap_or_default();
    let timeout = timeout(reader, section, &gate.timeout);
    let retries = reader.whole(section, "retries").unwrap_or(gate.retries);
    let artifacts = reader.paths(section, "artifacts").unwrap_or_default();
    let item = run.map(|run| Job {
        name: name.value.clone(),
        at: reader.position(&name.span),
        run_at: reader.position(&run.span),
        run: run.value,
        influences,
        after: after.iter().map(|name| name.value.clone()).collect(),
        touches,
        timeout,
        retries,
        artifacts,
    });
    references.extend(after.into_iter().map(|name| ("after", name)));
    Draft { name, item, references, artifact: None }
}

fn standard(reader: &mut Reader, name: Placed<Name>, section: Section<'_>, gate: &Gate) -> Draft<Standard> {
    reader.check_keys(section);
    let direction = direction(reader, &name, section);
    let limit = reader.decimal(section, "limit");
    if !section.items.contains_key("limit") {
        missing(
            reader,
            &name,
            section,
            "limit",
            "the number that the value is held against, for example `limit = 81.5`",
        );
    }
    let origin = origin(reader, &name, section);
    let (influences, mut references) = influences(reader, section);
    references.extend(origin.from.clone().map(|name| ("from", name)));
    let metric = reader.text(section, "metric").and_then(|text| reader.name(text));
    let (per, scale) = rate(reader, section);
    let margin = at_least_zero(reader, section, "margin");
    let measure = match reader.choice(section, "measure") {
        Some("on-demand") => Measure::OnDemand,
        _ => Measure::Gate,
    };
    let timeout = timeout(reader, section, &gate.timeout);
    let item = match (direction, limit, origin.source) {
        (Some(direction), Some(limit), Some(source)) => Some(Standard {
            at: reader.position(&name.span),
            direction,
            limit_at: reader.position(&limit.span),
            limit: limit.value,
            source_at: reader.position(&source.span),
            source: source.value,
            metric: metric.map_or_else(|| name.value.clone(), |metric| metric.value),
            margin,
            measure,
            per,
            scale,
            influences,
            timeout,
            name: name.value.clone(),
        }),
        _ => None,
    };
    Draft { name, item, references, artifact: origin.artifact }
}

fn missing(reader: &mut Reader, name: &Placed<Name>, section: Section<'_>, key: &str, what: &str) {
    let problem = reader.note("missing-key", format!("`{}` has no `{key}`", section.title), name.span.clone());
    problem.help = Some(format!("add `{key}`: {what}"));
}

fn direction(reader: &mut Reader, name: &Placed<Name>, section: Section<'_>) -> Option<Direction> {
    if !section.items.contains_key("direction") {
        missing(reader, name, section, "direction", "`\"up\"` (the limit is a floor) or `\"down\"` (a ceiling)");
    }
    match reader.choice(section, "direction")? {
        "up" => Some(Direction::Up),
        _ => Some(Direction::Down),
    }
}

/// Where a standard's number comes from, as read.
struct Origin {
    source: Option<Placed<Source>>,
    from: Option<Placed<Name>>,
    artifact: Option<Placed<String>>,
}

fn origin(reader: &mut Reader, name: &Placed<Name>, section: Section<'_>) -> Origin {
    let run = reader.command(section, "run");
    let from = reader.text(section, "from").and_then(|text| reader.name(text));
    let extract = reader.command(section, "extract");
    let artifact = artifact(reader, section);
    let has = |key| section.items.contains_key(key);
    match (has("run"), has("from")) {
        (true, true) => {
            let span = key_span(section.items, "from");
            let problem = reader.note("conflict", format!("`{}` has `run` and `from`", section.title), span);
            problem.help = Some("measure with a command (`run`) or what a job left (`from`), not both".into());
        }
        (false, false) => missing(reader, name, section, "run", "the measuring command; or `from`, a job to measure"),
        _ => {}
    }
    for (key, with) in [("extract", "from"), ("artifact", "extract")] {
        if has(key) && !has(with) {
            let span = key_span(section.items, key);
            let problem = reader.note("conflict", format!("`{key}` without `{with}`"), span);
            problem.help = Some(match key {
                "extract" => "name the job whose output it reads: `from = \"…\"`; or call the command `run`".into(),
                _ => "add `extract`, the command that reads the artifact and prints the metric".into(),
            });
        }
    }
    let source = match (run, from.clone()) {
        (Some(Placed { value, span }), _) => Some(Placed { value: Source::Run(value), span }),
        (None, Some(Placed { value: job, span })) => {
            let artifact = artifact.as_ref().map(|artifact| artifact.value.clone());
            Some(Placed { value: Source::From { job, artifact, extract: extract.map(|extract| extract.value) }, span })
        }
        (None, None) => None,
    };
    Origin { source, from, artifact }
}

fn artifact(reader: &mut Reader, section: Section<'_>) -> Option<Placed<String>> {
    let text = reader.text(section, "artifact")?;
    let span = text.span.clone();
    reader.path(text).map(|value| Placed { value, span })
}

/// `per` and `scale`.
fn rate(reader: &mut Reader, section: Section<'_>) -> (Option<Per>, Option<Decimal>) {
    let scale = reader.decimal(section, "scale");
    if let Some(Placed { value, span }) = &scale
        && !value.is_positive()
    {
        reader.note("out-of-range", format!("`scale` is {value}; it must be positive"), span.clone());
    }
    if section.items.contains_key("scale") && !section.items.contains_key("per") {
        let problem = reader.note("conflict", "`scale` without `per`".into(), key_span(section.items, "scale"));
        problem.help = Some("`scale` multiplies a rate: add `per`, for example `per = { lines = [\"src\"] }`".into());
    }
    (per(reader, section), scale.map(|scale| scale.value))
}

fn per(reader: &mut Reader, section: Section<'_>) -> Option<Per> {
    let item = section.items.get("per")?;
    let span = value_span(section.items, "per");
    let expected = Kind::Per.words();
    let Some(items) = item.as_table_like() else {
        let problem = reader.note("wrong-type", "`per` is no table".into(), span);
        problem.label = format!("expected {expected}");
        problem.help = Some("for example `per = { lines = [\"src/**\"] }`".into());
        return None;
    };
    let section = Section { table: Table::Per, items, title: "per" };
    reader.check_keys(section);
    if items.len() != 1 {
        let problem = reader.note("conflict", format!("`per` has {} parts", items.len()), span);
        problem.label = format!("expected {expected}");
        return None;
    }
    if items.contains_key("metric") {
        return reader.text(section, "metric").and_then(|text| reader.name(text)).map(|name| Per::Metric(name.value));
    }
    if items.contains_key("lines") {
        return reader.pathspecs(section, "lines").map(Per::Lines);
    }
    if items.contains_key("files") {
        return reader.pathspecs(section, "files").map(Per::Files);
    }
    reader.pathspecs(section, "bytes").map(Per::Bytes)
}

fn at_least_zero(reader: &mut Reader, section: Section<'_>, key: &str) -> Option<Decimal> {
    let Placed { value, span } = reader.decimal(section, key)?;
    if !value.is_positive() && !value.is_zero() {
        reader.note("out-of-range", format!("`{key}` is {value}; it can't be negative"), span);
        return None;
    }
    Some(value)
}

/// What jobs and standards declare alike, and the names in `needs` with their places.
fn influences(reader: &mut Reader, section: Section<'_>) -> (Influences, Vec<(&'static str, Placed<Name>)>) {
    let needs = reader.names(section, "needs");
    let influences = Influences {
        inputs: reader.pathspecs(section, "inputs"),
        needs: needs.iter().map(|name| name.value.clone()).collect(),
        env: variables(reader, section),
        toolchain: toolchain(reader, section),
    };
    (influences, needs.into_iter().map(|name| ("needs", name)).collect())
}

fn variables(reader: &mut Reader, section: Section<'_>) -> Vec<String> {
    let texts = reader.texts(section, "env").unwrap_or_default();
    texts.into_iter().filter_map(|text| variable(reader, text)).collect()
}

/// The name of a variable. What this tool sets itself differs from run to run and would never let a verdict be reused.
fn variable(reader: &mut Reader, Placed { value, span }: Placed<String>) -> Option<String> {
    if value.contains(['=', '\0']) {
        let problem = reader.note("bad-variable", format!("`{value}` can't be the name of a variable"), span);
        problem.help = value.split_once('=').map(|(name, _)| {
            format!("`env` names variables whose values count; set one in the command: `run = \"{name}=… command\"`")
        });
        return None;
    }
    if value == "DISCERN" || value.starts_with("DISCERN_") {
        reader.note("bad-variable", format!("`{value}` is set by git discern and differs from run to run"), span);
        return None;
    }
    Some(value)
}

fn toolchain(reader: &mut Reader, section: Section<'_>) -> Vec<String> {
    let texts = reader.texts(section, "toolchain").unwrap_or_default();
    texts.into_iter().map(|text| text.value).collect()
}

/// The section's own timeout, or the one taken over.
pub(super) fn timeout(reader: &mut Reader, section: Section<'_>, otherwise: &Timeout) -> Timeout {
    match reader.whole(section, "timeout") {
        None => otherwise.clone(),
        Some(seconds) => Timeout {
            limit: (seconds > 0).then(|| Duration::from_secs(seconds.into())),
            set_by: format!("`timeout` of `{}`", section.title),
        },
    }
}
