//! What must hold between jobs and standards: names that differ, references that lead somewhere, no cycle.

use std::collections::HashMap;

use super::graph;
use super::problem::nearest;
use super::read::{Placed, Reader};
use super::requirement::Draft;
use super::{Job, Position, Standard};
use crate::id::Name;

/// Checks all of it and notes what is wrong.
pub(super) fn check(reader: &mut Reader, jobs: &[Draft<Job>], standards: &[Draft<Standard>]) {
    check_names(reader, jobs.iter().map(|draft| &draft.name).chain(standards.iter().map(|draft| &draft.name)));
    let known = Known {
        jobs: jobs.iter().enumerate().map(|(at, draft)| (draft.name.value.as_str(), at)).collect(),
        standards: standards.iter().map(|draft| draft.name.value.as_str()).collect(),
    };
    for draft in jobs {
        check_references(reader, &known, draft);
    }
    for draft in standards {
        check_references(reader, &known, draft);
        check_artifact(reader, &known, draft, jobs);
    }
    check_cycles(reader, &known, jobs);
}

struct Known<'a> {
    /// Each job's place in the file's order.
    jobs: HashMap<&'a str, usize>,
    standards: Vec<&'a str>,
}

/// Logs and refs are kept by name, also on file systems that do not tell `A` from `a`.
fn check_names<'a>(reader: &mut Reader, names: impl Iterator<Item = &'a Placed<Name>>) {
    let mut first: HashMap<String, &Placed<Name>> = HashMap::new();
    for name in names {
        let Some(earlier) = first.get(&name.value.as_str().to_ascii_lowercase()) else {
            first.insert(name.value.as_str().to_ascii_lowercase(), name);
            continue;
        };
        let at: Position = reader.position(&earlier.span);
        let message = match earlier.value == name.value {
            true => format!("the name `{}` is taken already", name.value),
            false => format!("the names `{}` and `{}` differ only in case", earlier.value, name.value),
        };
        let problem = reader.note("duplicate-name", message, name.span.clone());
        problem.label = format!("the other one is in line {}", at.line);
        problem.help = Some("names of jobs and standards must differ, also without regard to case".into());
    }
}

fn check_references<T>(reader: &mut Reader, known: &Known<'_>, draft: &Draft<T>) {
    for (key, Placed { value, span }) in &draft.references {
        let name = value.as_str();
        if known.jobs.contains_key(name) {
            continue;
        }
        if known.standards.contains(&name) {
            let problem = reader.note("not-a-job", format!("`{name}` is a standard; `{key}` names jobs"), span.clone());
            problem.label = "not a job".into();
            continue;
        }
        let mut jobs: Vec<&str> = known.jobs.keys().copied().filter(|&job| job != draft.name.value.as_str()).collect();
        jobs.sort_unstable();
        let help = nearest(name, jobs.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        let problem =
            reader.note("unknown-job", format!("`{key}` names `{name}`, but there is no such job"), span.clone());
        problem.label = "no such job".into();
        problem.help = help.or_else(|| Some(format!("add `[jobs.{name}]`, or take it out of `{key}`")));
    }
}

/// The artifact that a standard reads must be one that its job declares, or it would not be kept.
fn check_artifact(reader: &mut Reader, known: &Known<'_>, draft: &Draft<Standard>, jobs: &[Draft<Job>]) {
    let Some(artifact) = &draft.artifact else { return };
    let from = draft.references.iter().find(|(key, _)| *key == "from").map(|(_, name)| name.value.as_str());
    let job = from.and_then(|name| known.jobs.get(name)).and_then(|&at| jobs[at].item.as_ref());
    let Some(job) = job.filter(|job| !job.artifacts.contains(&artifact.value)) else { return };
    let help = match nearest(&artifact.value, job.artifacts.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("add it to `artifacts` of `[jobs.{}]`", job.name),
    };
    let message = format!("`{}` is no artifact of the job `{}`", artifact.value, job.name);
    reader.note("unknown-artifact", message, artifact.span.clone()).help = Some(help);
}

fn check_cycles(reader: &mut Reader, known: &Known<'_>, jobs: &[Draft<Job>]) {
    let edges: Vec<Vec<usize>> = jobs
        .iter()
        .map(|job| job.references.iter().filter_map(|(_, name)| known.jobs.get(name.value.as_str()).copied()).collect())
        .collect();
    for cycle in graph::cycles(&edges) {
        let name = |at: usize| &jobs[cycle[at]].name.value;
        let Some((key, first)) = jobs[cycle[0]].references.iter().find(|(_, target)| target.value == *name(1)) else {
            continue;
        };
        let path: Vec<String> = (0..cycle.len()).map(|at| name(at).to_string()).collect();
        let message = match path.len() {
            2 => format!("`{}` comes before itself", path[0]),
            _ => format!("jobs wait for each other: {}", path.join(" -> ")),
        };
        let (key, span) = (*key, first.span.clone());
        let problem = reader.note("cycle", message, span);
        problem.label = format!("the cycle begins with this `{key}`");
        problem.help = Some("take one of them out; `needs` and `after` both say what comes first".into());
    }
}
