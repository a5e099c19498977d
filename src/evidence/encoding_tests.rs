use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::config::Pathspec;
use crate::evidence::samples::{input, name, object, subject as some_subject};
use crate::evidence::subject::Platform;
use crate::id::{Subject, TreeId};

/// The bytes of a whole encoding, written down by hand: what the digest is taken of.
fn by_hand(kind: &str, items: &[&[u8]]) -> Digest {
    let mut bytes = Vec::new();
    for prefix in [b"git-discern".as_slice(), kind.as_bytes()] {
        bytes.extend((prefix.len() as u64).to_be_bytes());
        bytes.extend(prefix);
    }
    bytes.extend(1_u64.to_be_bytes());
    items.iter().for_each(|item| bytes.extend(*item));
    Digest(Sha256::digest(bytes).into())
}

#[test]
fn the_bytes_under_a_subject_are_the_documented_ones() {
    let number = |number: u64| number.to_be_bytes();
    let written = by_hand(
        "subject",
        &[
            &[0, 0], // a command of its own, for the shell
            &number(4),
            b"make",
            &[0], // no measure
            &[0], // the whole tree
            &number(20),
            &[7; 20],
            &number(1), // one need
            &number(32),
            &[3; 32],
            &[0],       // the caller's environment
            &number(2), // two variables
            &number(1),
            b"A",
            &[0], // unset
            &number(1),
            b"B",
            &[1], // set, and empty
            &number(0),
            &number(1), // one toolchain command
            &number(4),
            b"cc v",
            &[0], // exited
            &number(0),
            &number(4),
            b"cc 9",
            &number(5),
            b"minix",
            &number(3),
            b"vax",
        ],
    );
    let mut input = input("make");
    input.needs.insert(name("build"), some_subject(3));
    input.environment = BTreeMap::from([("B".to_owned(), Some(Vec::new())), ("A".to_owned(), None)]);
    let (exit_code, output) = (0, b"cc 9".to_vec());
    input.toolchain.push(ToolchainAnswer { command: "cc v".to_owned(), exit_code, output });
    assert_eq!(subject(&input), written);
}

#[test]
fn known_subjects_never_change() {
    let mut standard = input("size");
    let per =
        Denominator::Counted { unit: Unit::Lines, pathspecs: vec![pathspec("src")], entries: vec![entry("a", 1)] };
    let scale = Some("1000".to_owned());
    standard.definition.measure = Some(Measure { metric: name("bytes"), per: Some(per), scale });
    standard.inputs =
        Inputs::Selected { pathspecs: vec![pathspec("src")], entries: vec![entry("b", 2), entry("a", 1)] };
    let mut from = standard.clone();
    from.definition.source = Source::From {
        job: name("test"),
        subject: some_subject(5),
        artifact: Some("out/report".to_owned()),
        extract: Some(Command::List(vec!["grep".to_owned(), "TOTAL".to_owned()])),
    };
    from.environment_mode = Environment::Strict;
    let all = [input("make test"), standard, from];
    let subjects: Vec<String> = all.iter().map(|it| format!("{} {}", it.subject(), it.execution())).collect();
    insta::assert_snapshot!(subjects.join("\n"));
}

#[test]
fn commands_that_differ_in_blanks_slashes_or_quoting_differ() {
    let commands = ["a b", "a  b", "a b ", "a/b", "a//b", "a'b'", "ab"].map(|text| Command::Shell(text.to_owned()));
    let lists = [&["a b"][..], &["a", "b"], &["a", "", "b"], &["ab"], &["a", "b", ""]];
    let lists = lists.map(|words| Command::List(words.iter().map(ToString::to_string).collect()));
    let subject_of = |command: &Command| {
        let mut input = input("");
        input.definition.source = Source::Run(command.clone());
        input.subject()
    };
    let commands: Vec<Command> = commands.into_iter().chain(lists).collect();
    let subjects: std::collections::BTreeSet<Subject> = commands.iter().map(subject_of).collect();
    assert_eq!(subjects.len(), commands.len());
}

#[test]
fn standards_of_one_command_share_an_execution_and_no_subject() {
    let with_metric = |metric: &str| {
        let mut input = input("count");
        input.definition.measure = Some(Measure { metric: name(metric), per: None, scale: None });
        input
    };
    let (one, two) = (with_metric("a"), with_metric("b"));
    assert_eq!(one.execution(), two.execution());
    assert_ne!(one.subject(), two.subject());
    assert_ne!(one.subject().0, one.execution());
}

#[test]
fn what_is_measured_and_what_is_needed_do_not_change_places() {
    let measures = |measured, needed| {
        let mut input = input("");
        let (job, subject) = (name("test"), some_subject(measured));
        input.definition.source = Source::From { job, subject, artifact: None, extract: None };
        input.needs.insert(name("build"), some_subject(needed));
        input.subject()
    };
    assert_ne!(measures(1, 2), measures(2, 1));
}

fn pathspec(text: &str) -> Pathspec {
    Pathspec::parse(text).expect("a pathspec")
}

fn entry(path: &str, byte: u8) -> InputEntry {
    InputEntry { path: path.into(), mode: 0o100_644, id: object(byte) }
}

fn command() -> impl Strategy<Value = Command> {
    prop_oneof![
        "[ab/ ]{0,3}".prop_map(Command::Shell),
        prop::collection::vec("[ab ]{0,2}", 0..3).prop_map(Command::List),
    ]
}

fn entries() -> impl Strategy<Value = Vec<InputEntry>> {
    let mode = prop_oneof![Just(0o100_644), Just(0o100_755), Just(0o120_000), Just(0o160_000)];
    let entry = ("[ab/]{0,2}", mode, 0_u8..2);
    let entry = entry.prop_map(|(path, mode, byte)| InputEntry { path: path.into_bytes(), mode, id: object(byte) });
    prop::collection::vec(entry, 0..3)
}

fn pathspecs() -> impl Strategy<Value = Vec<Pathspec>> {
    prop::collection::vec("[ab]{1,2}".prop_map(|text| pathspec(&text)), 0..3)
}

fn some_name() -> impl Strategy<Value = crate::id::Name> {
    "[ab]".prop_map(|text| name(&text))
}

fn source() -> impl Strategy<Value = Source> {
    let from = (some_name(), 0_u8..2, prop::option::of("[ab]{0,2}"), prop::option::of(command()));
    prop_oneof![
        command().prop_map(Source::Run),
        from.prop_map(|(job, byte, artifact, extract)| {
            Source::From { job, subject: some_subject(byte), artifact, extract }
        }),
    ]
}

fn measure() -> impl Strategy<Value = Option<Measure>> {
    let unit = prop_oneof![Just(Unit::Lines), Just(Unit::Files), Just(Unit::Bytes)];
    let counted = (unit, pathspecs(), entries());
    let per = prop_oneof![
        some_name().prop_map(Denominator::Metric),
        counted.prop_map(|(unit, pathspecs, entries)| Denominator::Counted { unit, pathspecs, entries }),
    ];
    let measure = (some_name(), prop::option::of(per), prop::option::of("[12]{1,2}"));
    prop::option::of(measure.prop_map(|(metric, per, scale)| Measure { metric, per, scale }))
}

fn inputs() -> impl Strategy<Value = Inputs> {
    let selected = (pathspecs(), entries());
    prop_oneof![
        Just(Inputs::WholeTree),
        selected.prop_map(|(pathspecs, entries)| Inputs::Selected { pathspecs, entries }),
    ]
}

fn toolchain() -> impl Strategy<Value = Vec<ToolchainAnswer>> {
    let answer = ("[ab]{0,2}", 0..2, prop::collection::vec(0_u8..2, 0..2));
    let answer = answer.prop_map(|(command, exit_code, output)| ToolchainAnswer { command, exit_code, output });
    prop::collection::vec(answer, 0..3)
}

fn any_input() -> impl Strategy<Value = SubjectInput> {
    let needs = prop::collection::btree_map(some_name(), (0_u8..2).prop_map(some_subject), 0..3);
    let value = prop::option::of(prop::collection::vec(0_u8..2, 0..2));
    let environment = prop::collection::btree_map("[AB]{0,2}", value, 0..3);
    let mode = prop_oneof![Just(Environment::Inherit), Just(Environment::Strict)];
    let parts = (
        source(),
        measure(),
        0_u8..2,
        (inputs(), entries()),
        needs,
        mode,
        environment,
        toolchain(),
        "[ab]{0,2}",
        "[ab]{0,2}",
    );
    parts.prop_map(
        |(source, measure, tree, (inputs, on_disk), needs, environment_mode, environment, toolchain, os, arch)| {
            SubjectInput {
                definition: Definition { source, measure },
                tree: TreeId(object(tree)),
                inputs,
                on_disk,
                needs,
                environment_mode,
                environment,
                toolchain,
                platform: Platform { os, arch },
            }
        },
    )
}

fn set<T: Ord + Clone>(items: &[T]) -> Vec<T> {
    sorted(items).into_iter().cloned().collect()
}

/// The same input without everything that is not to count.
fn essence(input: &SubjectInput) -> SubjectInput {
    let mut input = input.clone();
    if let Source::From { job, .. } = &mut input.definition.source {
        *job = name("any");
    }
    if let Some(Measure { per: Some(Denominator::Counted { pathspecs, entries, .. }), .. }) =
        &mut input.definition.measure
    {
        *pathspecs = set(pathspecs);
        *entries = set(entries);
    }
    if let Inputs::Selected { pathspecs, entries } = &mut input.inputs {
        input.tree = TreeId(object(0));
        pathspecs.clear();
        *entries = set(entries);
    }
    input.on_disk = set(&input.on_disk);
    let mut needs: Vec<Subject> = input.needs.values().copied().collect();
    needs.sort_unstable();
    input.needs = needs.into_iter().enumerate().map(|(at, subject)| (name(&format!("n{at}")), subject)).collect();
    input.toolchain = set(&input.toolchain);
    input
}

/// `input` with one of its parts taken from `other`.
fn graft(input: &SubjectInput, other: &SubjectInput, part: usize) -> SubjectInput {
    let (mut grafted, other) = (input.clone(), other.clone());
    match part {
        0 => grafted.definition.source = other.definition.source,
        1 => grafted.definition.measure = other.definition.measure,
        2 => grafted.tree = other.tree,
        3 => grafted.inputs = other.inputs,
        4 => grafted.needs = other.needs,
        5 => grafted.environment = other.environment,
        6 => grafted.toolchain = other.toolchain,
        7 => grafted.platform = other.platform,
        8 => grafted.environment_mode = other.environment_mode,
        9 => grafted.on_disk = other.on_disk,
        _ => return other,
    }
    grafted
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn subjects_are_equal_exactly_where_what_decides_is(one in any_input(), other in any_input(), part in 0_usize..11) {
        let two = graft(&one, &other, part);
        prop_assert_eq!(one.subject() == two.subject(), essence(&one) == essence(&two));
    }

    #[test]
    fn order_and_repetition_in_lists_mean_nothing(one in any_input()) {
        let mut two = one.clone();
        let twice = |list: &mut Vec<_>| { let mut again = list.clone(); again.reverse(); list.extend(again); list.reverse() };
        two.toolchain.reverse();
        two.toolchain.extend(one.toolchain.clone());
        if let Inputs::Selected { entries, .. } = &mut two.inputs {
            twice(entries);
        }
        prop_assert_eq!(one.subject(), two.subject());
    }
}
