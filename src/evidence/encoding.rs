//! The canonical encoding under every digest of this tool.
//!
//! It is injective: each value has exactly one encoding and no two values share one. Every variable-length item is
//! preceded by its length, every list by its count, every choice by a tag; sets are sorted and repeated members dropped
//! first. Each kind of digest begins with its own prefix and the scheme's version, so that a digest of one kind is never
//! one of another. It is not JSON, and it never changes: a change is a new [`SCHEME`](super::subject::SCHEME).

use sha2::{Digest as _, Sha256};

use super::subject::{
    Definition, Denominator, InputEntry, Inputs, Measure, SCHEME, Salt, Source, SubjectInput, ToolchainAnswer, Unit,
};
use crate::config::{Command, Environment};
use crate::id::Digest;

/// The digest of everything that decides a verdict.
pub(super) fn subject(input: &SubjectInput) -> Digest {
    digest("subject", |out| put_subject(out, input))
}

/// The digest of what is executed and all that it depends on, without what is then read from its output.
pub(super) fn execution(input: &SubjectInput) -> Digest {
    digest("execution", |out| {
        put_source(out, &input.definition.source);
        put_surroundings(out, input);
    })
}

/// The digest of a definition alone.
pub(super) fn definition(definition: &Definition) -> Digest {
    digest("definition", |out| put_definition(out, definition))
}

/// The digest of a selection from a tree; order and repetition mean nothing.
pub(super) fn entries(entries: &[InputEntry]) -> Digest {
    digest("entries", |out| {
        let entries = sorted(entries);
        out.count(entries.len());
        for entry in entries {
            out.bytes(&entry.path);
            out.number(u64::from(entry.mode));
            out.bytes(entry.id.as_bytes());
        }
    })
}

/// The digest of one toolchain command's end and whole output.
pub(super) fn answer(answer: &ToolchainAnswer) -> Digest {
    digest("toolchain", |out| put_end_and_output(out, answer))
}

/// The digest of one variable's value under a salt.
pub(super) fn salted(salt: Salt, name: &str, value: &[u8]) -> Digest {
    digest("variable", |out| {
        out.bytes(&salt.0);
        out.bytes(name.as_bytes());
        out.bytes(value);
    })
}

/// `items` in order, each once.
pub(super) fn sorted<T: Ord>(items: &[T]) -> Vec<&T> {
    let mut items: Vec<&T> = items.iter().collect();
    items.sort_unstable();
    items.dedup();
    items
}

fn digest(kind: &str, put: impl FnOnce(&mut Encoder)) -> Digest {
    let mut out = Encoder(Sha256::new());
    out.bytes(b"git-discern");
    out.bytes(kind.as_bytes());
    out.number(u64::from(SCHEME));
    put(&mut out);
    Digest(out.0.finalize().into())
}

/// Writes numbers as eight bytes, big end first, and byte strings behind their length.
struct Encoder(Sha256);

impl Encoder {
    fn tag(&mut self, tag: u8) {
        self.0.update([tag]);
    }

    fn number(&mut self, number: u64) {
        self.0.update(number.to_be_bytes());
    }

    fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.update(bytes);
    }

    fn option<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Self, T)) {
        match value {
            None => self.tag(0),
            Some(value) => {
                self.tag(1);
                put(self, value);
            }
        }
    }
}

fn put_subject(out: &mut Encoder, input: &SubjectInput) {
    put_definition(out, &input.definition);
    if let Some(Measure { per: Some(Denominator::Counted { entries: counted, .. }), .. }) = &input.definition.measure {
        out.bytes(&entries(counted).0);
    }
    put_surroundings(out, input);
}

/// All but the definition.
fn put_surroundings(out: &mut Encoder, input: &SubjectInput) {
    // Two tags more where something is on disk otherwise than committed.
    let more = if input.on_disk.is_empty() { 0 } else { 2 };
    match &input.inputs {
        Inputs::WholeTree => {
            out.tag(more);
            out.bytes(input.tree.id().as_bytes());
        }
        Inputs::Selected { entries: selected, .. } => {
            out.tag(1 + more);
            out.bytes(&entries(selected).0);
        }
    }
    if more > 0 {
        out.bytes(&entries(&input.on_disk).0);
    }
    // By subject, not by name: renaming a job changes no verdict. Two needs with equal subjects count twice.
    let mut needs: Vec<_> = input.needs.values().collect();
    needs.sort_unstable();
    out.count(needs.len());
    needs.into_iter().for_each(|need| out.bytes(&need.0.0));
    out.tag(match input.environment_mode {
        Environment::Inherit => 0,
        Environment::Strict => 1,
    });
    out.count(input.environment.len());
    for (name, value) in &input.environment {
        out.bytes(name.as_bytes());
        out.option(value.as_deref(), Encoder::bytes);
    }
    let toolchain = sorted(&input.toolchain);
    out.count(toolchain.len());
    for answer in toolchain {
        out.bytes(answer.command.as_bytes());
        put_end_and_output(out, answer);
    }
    out.bytes(input.platform.os.as_bytes());
    out.bytes(input.platform.arch.as_bytes());
}

fn put_definition(out: &mut Encoder, definition: &Definition) {
    put_source(out, &definition.source);
    out.option(definition.measure.as_ref(), put_measure);
}

fn put_source(out: &mut Encoder, source: &Source) {
    match source {
        Source::Run(command) => {
            out.tag(0);
            put_command(out, command);
        }
        Source::From { job: _, subject, artifact, extract } => {
            out.tag(1);
            out.bytes(&subject.0.0);
            out.option(artifact.as_ref(), |out, path| out.bytes(path.as_bytes()));
            out.option(extract.as_ref(), put_command);
        }
    }
}

fn put_command(out: &mut Encoder, command: &Command) {
    match command {
        Command::Shell(text) => {
            out.tag(0);
            out.bytes(text.as_bytes());
        }
        Command::List(words) => {
            out.tag(1);
            out.count(words.len());
            words.iter().for_each(|word| out.bytes(word.as_bytes()));
        }
    }
}

fn put_measure(out: &mut Encoder, measure: &Measure) {
    out.bytes(measure.metric.as_str().as_bytes());
    out.option(measure.per.as_ref(), put_denominator);
    out.option(measure.scale.as_ref(), |out, scale| out.bytes(scale.as_bytes()));
}

fn put_denominator(out: &mut Encoder, per: &Denominator) {
    match per {
        Denominator::Metric(name) => {
            out.tag(0);
            out.bytes(name.as_str().as_bytes());
        }
        Denominator::Counted { unit, pathspecs, entries: _ } => {
            out.tag(match unit {
                Unit::Lines => 1,
                Unit::Files => 2,
                Unit::Bytes => 3,
            });
            let pathspecs = sorted(pathspecs);
            out.count(pathspecs.len());
            pathspecs.into_iter().for_each(|pathspec| out.bytes(pathspec.as_str().as_bytes()));
        }
    }
}

fn put_end_and_output(out: &mut Encoder, answer: &ToolchainAnswer) {
    // The tag of an exit code; there is no other end, and the digests that are recorded have it.
    out.tag(0);
    out.number(u64::from(answer.exit_code.cast_unsigned()));
    out.bytes(&answer.output);
}

#[cfg(test)]
#[path = "encoding_tests.rs"]
mod tests;
