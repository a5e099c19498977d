use super::*;
use crate::config::{Command, Environment, Pathspec};
use crate::evidence::samples::{input, name, object, subject};
use crate::evidence::subject::{
    Denominator, InputEntry, Inputs, Measure, Salt, Source, SubjectInput, ToolchainAnswer, Unit,
};

const SALT: Salt = Salt([1; 16]);

fn no_paths(_: TreeId, _: TreeId, _: &[String]) -> Vec<String> {
    Vec::new()
}

fn said(old: &SubjectInput, new: &SubjectInput) -> Vec<String> {
    said_with(old, new, &no_paths)
}

fn said_with(old: &SubjectInput, new: &SubjectInput, changed_paths: ChangedPaths<'_>) -> Vec<String> {
    let differences = explain(&old.parts(SALT), &new.parts(SALT), changed_paths);
    assert_eq!(differences.is_empty(), old.subject() == new.subject(), "{differences:?}");
    differences.iter().map(ToString::to_string).collect()
}

fn edited(edit: impl FnOnce(&mut SubjectInput)) -> (SubjectInput, SubjectInput) {
    let mut old = input("make test");
    old.needs.insert(name("build"), subject(1));
    old.environment.insert("RUSTFLAGS".into(), Some(b"-O".to_vec()));
    old.environment.insert("UNSET".into(), None);
    old.toolchain.push(answer("rustc --version", "1.94"));
    let mut new = old.clone();
    edit(&mut new);
    (old, new)
}

fn answer(command: &str, output: &str) -> ToolchainAnswer {
    ToolchainAnswer { command: command.into(), exit_code: 0, output: output.into() }
}

fn said_after(edit: impl FnOnce(&mut SubjectInput)) -> Vec<String> {
    let (old, new) = edited(edit);
    said(&old, &new)
}

fn selected(path: &str, byte: u8) -> Inputs {
    let entries = vec![InputEntry { path: path.into(), mode: 0o100_644, id: object(byte) }];
    Inputs::Selected { pathspecs: vec![Pathspec::parse("src").expect("a pathspec")], entries }
}

#[test]
fn equal_inputs_differ_in_nothing() {
    assert!(said_after(|_| ()).is_empty());
}

#[test]
fn each_part_that_differs_has_its_sentence() {
    assert_eq!(
        said_after(|it| it.definition.source = Source::Run(Command::Shell("make".into()))),
        ["the command changed"]
    );
    assert_eq!(
        said_after(|it| *it.needs.values_mut().next().expect("one") = subject(2)),
        ["`build`, which it needs, changed"]
    );
    assert_eq!(
        said_after(|it| it.needs = [(name("gen"), subject(2))].into()),
        ["it needs `gen` now", "it needs `build` no longer"]
    );
    assert_eq!(
        said_after(|it| it.environment = [("RUSTFLAGS".into(), Some(b"-g".to_vec())), ("UNSET".into(), None)].into()),
        ["`RUSTFLAGS` has another value"]
    );
    assert_eq!(
        said_after(|it| it.environment = [("RUSTFLAGS".into(), None), ("UNSET".into(), Some(Vec::new()))].into()),
        ["`RUSTFLAGS` is not set and was", "`UNSET` is set and was not"]
    );
    assert_eq!(
        said_after(|it| it.environment = [("CC".into(), None)].into()),
        [
            "`CC` is declared in its `env` now",
            "`RUSTFLAGS` is declared in its `env` no longer",
            "`UNSET` is declared in its `env` no longer"
        ]
    );
    assert_eq!(
        said_after(|it| it.toolchain = vec![answer("rustc --version", "1.95\n(more)")]),
        ["`rustc --version` says `1.95` instead of `1.94`"]
    );
    assert_eq!(
        said_after(|it| it.toolchain = vec![answer("rustc --version", "1.94\n(more)")]),
        ["`rustc --version` says something else"]
    );
    assert_eq!(
        said_after(|it| it.toolchain = vec![answer("cc --version", "9")]),
        [
            "`cc --version` is declared in its `toolchain` now",
            "`rustc --version` is declared in its `toolchain` no longer"
        ]
    );
    assert_eq!(said_after(|it| it.environment_mode = Environment::Strict), ["`[gate] environment` changed"]);
    assert_eq!(
        said_after(|it| it.platform.arch = "pdp11".into()),
        ["the platform is minix/pdp11 instead of minix/vax"]
    );
}

#[test]
fn a_renamed_need_is_no_difference() {
    assert!(said_after(|it| it.needs = [(name("compile"), subject(1))].into()).is_empty());
}

#[test]
fn changed_paths_are_named_up_to_three() {
    let (old, new) = edited(|it| it.tree = TreeId(object(8)));
    let paths =
        |count: usize| move |_, _, _: &[String]| (1..=count).map(|at| format!("src/{at}.rs")).collect::<Vec<_>>();
    assert_eq!(said_with(&old, &new, &paths(1)), ["`src/1.rs` changed"]);
    assert_eq!(said_with(&old, &new, &paths(3)), ["`src/1.rs`, `src/2.rs` and `src/3.rs` changed"]);
    assert_eq!(said_with(&old, &new, &paths(5)), ["`src/1.rs`, `src/2.rs`, `src/3.rs` and 2 more changed"]);
}

#[test]
fn paths_are_asked_for_between_both_trees_within_the_declared_inputs() {
    let (mut old, mut new) = edited(|it| it.tree = TreeId(object(8)));
    (old.inputs, new.inputs) = (selected("src/a", 1), selected("src/a", 2));
    let asked = |was: TreeId, is: TreeId, pathspecs: &[String]| {
        assert_eq!((was, is, pathspecs), (TreeId(object(7)), TreeId(object(8)), &["src".to_owned()][..]));
        vec!["src/a".to_owned()]
    };
    assert_eq!(said_with(&old, &new, &asked), ["`src/a` changed"]);
    new.inputs = old.inputs.clone();
    assert!(said(&old, &new).is_empty(), "another tree with the same selected entries");
}

#[test]
fn other_inputs_over_the_same_tree_are_said_so() {
    let (old, new) = edited(|it| it.inputs = selected("src/a", 1));
    assert_eq!(said(&old, &new), ["what its inputs select changed"]);
}

#[test]
fn how_a_number_is_taken_is_told_from_the_command() {
    let measured = |metric: &str, byte| {
        let entries = vec![InputEntry { path: b"a".to_vec(), mode: 0o100_644, id: object(byte) }];
        let per = Denominator::Counted { unit: Unit::Lines, pathspecs: Vec::new(), entries };
        let measure = Measure { metric: name(metric), per: Some(per), scale: None };
        edited(|it| it.definition.measure = Some(measure)).1
    };
    assert_eq!(said(&measured("a", 1), &measured("b", 1)), ["how it is executed or read changed"]);
    let lines = |_, _, _: &[String]| vec!["lib.rs".to_owned()];
    assert_eq!(said_with(&measured("a", 1), &measured("a", 2), &lines), ["`lib.rs`, which it is divided by, changed"]);
}

#[test]
fn a_measured_job_that_changed_is_named() {
    let from = |byte| {
        let source = Source::From { job: name("test"), subject: subject(byte), artifact: None, extract: None };
        edited(|it| it.definition.source = source).1
    };
    let said = said(&from(1), &from(2));
    assert!(said.contains(&"`test`, whose output it measures, changed".to_owned()), "{said:?}");
}

#[test]
fn values_under_different_salts_are_not_said_to_be_equal_or_different() {
    let (old, new) = edited(|_| ());
    let differences = explain(&old.parts(SALT), &new.parts(Salt([2; 16])), &no_paths);
    assert_eq!(differences, [Difference::Variable("RUSTFLAGS".into(), VariableChange::Incomparable)]);
    assert_eq!(old.parts(SALT).salt(), Some(SALT));
}

#[test]
fn parts_hold_no_value_of_a_variable() {
    let (mut input, _) = edited(|_| ());
    input.environment.insert("TOKEN".into(), Some(b"hunter2-hunter2".to_vec()));
    let parts = serde_json::to_string(&input.parts(SALT)).expect("JSON");
    assert!(parts.contains("TOKEN") && !parts.contains("hunter2"));
}

#[test]
fn another_scheme_is_all_that_can_be_said() {
    let (old, new) = edited(|_| ());
    let mut parts = old.parts(SALT);
    parts.scheme = 0;
    assert_eq!(explain(&parts, &new.parts(SALT), &no_paths), [Difference::Scheme]);
}

#[test]
fn nothing_that_is_quoted_reaches_a_terminal_as_a_command() {
    let (old, new) = edited(|it| {
        it.tree = TreeId(object(8));
        it.toolchain = vec![answer("rustc --version", "\u{1b}[2J1.95")];
    });
    let hostile = |_, _, _: &[String]| vec!["a\u{1b}]0;b\nc".to_owned()];
    assert_eq!(
        said_with(&old, &new, &hostile),
        [r"`a\u{1b}]0;b\nc` changed", r"`rustc --version` says `\u{1b}[2J1.95` instead of `1.94`"]
    );
}
