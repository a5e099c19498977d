//! From tables to types: the file as a whole, `[gate]` and `[push]`.

use std::num::NonZeroU32;
use std::time::Duration;

use toml_edit::{Document, TableLike};

use super::keys::Table;
use super::read::{Placed, Reader, Section, key_span, value_span};
use super::requirement;
use super::{
    Config, Environment, Gate, JobsOf, Prepare, Push, PushedCommits, PushedTags, Timeout, Untracked, Workspace,
    references,
};
use crate::id::Digest;

/// More jobs and standards than this are refused.
const REQUIREMENTS_MAX: usize = 1000;
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(1800);
const POOL_DEFAULT: NonZeroU32 = NonZeroU32::new(4).expect("4 is not 0");

/// The whole file. What is wrong is noted in the reader; an answer counts only if nothing is.
pub(super) fn configuration(reader: &mut Reader, document: &Document<String>, digest: Digest) -> Option<Config> {
    let root: &dyn TableLike = document.as_table();
    let known = Table::ALL.map(Table::top);
    for (name, _) in root.iter().filter(|(name, _)| !known.contains(name)) {
        reader.unknown_key(name, "at the top level", key_span(root, name), &known);
    }
    let gate_items = reader.table(root, "gate");
    let gate_section = gate_items.map(|items| Section { table: Table::Gate, items, title: "[gate]" });
    let gate = gate(reader, gate_section);
    let push_items = reader.table(root, "push");
    let push = push(reader, push_items.map(|items| Section { table: Table::Push, items, title: "[push]" }));
    let jobs = requirement::jobs(reader, root, &gate);
    let standards = requirement::standards(reader, root, &gate);
    if jobs.is_empty() && standards.is_empty() && reader.problems.is_empty() {
        let problem = reader.note("nothing-to-prove", "there is no job and no standard".into(), 0..0);
        problem.help = Some("write down what must pass: `[jobs.test]`, and below it `run = \"…\"`".into());
    }
    if jobs.len() + standards.len() > REQUIREMENTS_MAX {
        let message = format!("there are more than {REQUIREMENTS_MAX} jobs and standards");
        reader.note("too-many", message, 0..0);
        return None;
    }
    references::check(reader, &jobs, &standards);
    Some(Config {
        digest,
        text: reader.source.as_str().into(),
        gate,
        push,
        jobs: jobs.into_iter().map(|draft| draft.item).collect::<Option<_>>()?,
        standards: standards.into_iter().map(|draft| draft.item).collect::<Option<_>>()?,
    })
}

fn gate(reader: &mut Reader, section: Option<Section<'_>>) -> Gate {
    let mut gate = Gate {
        trunk: None,
        timeout: Timeout { limit: Some(TIMEOUT_DEFAULT), set_by: "`timeout` of `[gate]`".into() },
        retries: 0,
        parallel: None,
        slots: None,
        environment: Environment::Inherit,
        untracked: Untracked::Refuse,
        jobs: JobsOf::Own,
        workspace: Workspace::InPlace,
        pool: POOL_DEFAULT,
        checkouts: None,
        prepare: None,
        keep: Vec::new(),
    };
    let Some(section) = section else { return gate };
    reader.check_keys(section);
    gate.trunk = trunk(reader, section);
    gate.timeout = requirement::timeout(reader, section, &gate.timeout);
    gate.retries = reader.whole(section, "retries").unwrap_or(0);
    gate.parallel = reader.cap(section, "parallel");
    gate.slots = reader.cap(section, "slots");
    if reader.choice(section, "environment") == Some("strict") {
        gate.environment = Environment::Strict;
    }
    if reader.choice(section, "untracked") == Some("ignore") {
        gate.untracked = Untracked::Ignore;
    }
    if reader.choice(section, "jobs") == Some("trunk") {
        gate.jobs = JobsOf::Trunk;
    }
    if reader.choice(section, "workspace") == Some("isolated") {
        gate.workspace = Workspace::Isolated;
    }
    gate.pool = reader.cap(section, "pool").unwrap_or(POOL_DEFAULT);
    gate.checkouts = reader.text(section, "checkouts").map(|text| text.value);
    gate.prepare = prepare(reader, section);
    gate.keep = reader.paths(section, "keep").unwrap_or_default();
    gate
}

/// A branch: trunk must be something that moves on purpose, so a tag is refused.
fn trunk(reader: &mut Reader, section: Section<'_>) -> Option<String> {
    let Placed { value, span } = reader.text(section, "trunk")?;
    if value.starts_with("refs/tags/") {
        let problem = reader.note("bad-trunk", format!("`{value}` is a tag"), span);
        problem.help = Some("name a branch, for example `trunk = \"main\"`".into());
        return None;
    }
    if !is_ref_name(&value) {
        reader.note("bad-trunk", format!("`{value}` can't be the name of a branch"), span);
        return None;
    }
    Some(value)
}

/// git's rules for ref names (git-check-ref-format(1)), for a name that may have one part only.
fn is_ref_name(name: &str) -> bool {
    let part_is_fine = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    let forbidden = |sign: char| sign.is_ascii_control() || " ~^:?*[\\".contains(sign);
    !name.starts_with('-')
        && !name.ends_with('.')
        && name != "@"
        && !name.contains("..")
        && !name.contains("@{")
        && !name.contains(forbidden)
        && name.split('/').all(part_is_fine)
}

fn prepare(reader: &mut Reader, section: Section<'_>) -> Option<Prepare> {
    let run = reader.command(section, "prepare");
    let inputs = reader.pathspecs(section, "prepare_inputs");
    if section.items.contains_key("prepare_inputs") && !section.items.contains_key("prepare") {
        let span = key_span(section.items, "prepare_inputs");
        let problem = reader.note("conflict", "`prepare_inputs` without `prepare`".into(), span);
        problem.help = Some("add `prepare = \"…\"`, or leave both out".into());
    }
    run.map(|run| Prepare { run: run.value, inputs })
}

fn push(reader: &mut Reader, section: Option<Section<'_>>) -> Push {
    let mut push = Push::default();
    let Some(section) = section else { return push };
    reader.check_keys(section);
    if let Some(patterns) = reader.texts(section, "require") {
        push.require = patterns.into_iter().filter_map(|pattern| ref_pattern(reader, pattern)).collect();
    }
    if reader.choice(section, "commits") == Some("all") {
        push.commits = PushedCommits::All;
    }
    if reader.choice(section, "tags") == Some("tip") {
        push.tags = PushedTags::Tip;
    }
    push
}

/// A full ref name in which a part may hold `*` or be `**`.
fn ref_pattern(reader: &mut Reader, Placed { value, span }: Placed<String>) -> Option<String> {
    let full = value.starts_with("refs/");
    if full && is_ref_name(&value.replace('*', "x")) {
        return Some(value);
    }
    let problem = reader.note("bad-ref", format!("`{value}` is no pattern of full ref names"), span);
    problem.help = Some(match is_ref_name(&value.replace('*', "x")) && !full {
        true => format!("did you mean `refs/heads/{value}`?"),
        false => "for example `refs/heads/**` or `refs/heads/release/*`".into(),
    });
    None
}

impl Reader {
    /// The table at `name`; nothing when there is none, and a problem when it is something else.
    pub(super) fn table<'a>(&mut self, items: &'a dyn TableLike, name: &str) -> Option<&'a dyn TableLike> {
        let item = items.get(name)?;
        let table = item.as_table_like();
        if table.is_none() {
            let problem = self.note("wrong-type", format!("`{name}` is no table"), value_span(items, name));
            problem.help = Some(format!("write `[{name}]` on a line of its own and its keys below"));
        }
        table
    }
}
