//! What pathspecs select from a commit's tree, compared with what git selects.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;

use bstr::BString;
use git_discern::git::{Folders, Pathspecs, Repository};
use git_discern::id::TreeId;
use proptest::prelude::*;

use crate::store::open;
use crate::support::{Bench, Place};

const NAMES: &[&str] = &[
    "a",
    "A",
    "b.rs",
    "src/a",
    "src/a.rs",
    "src/b.rs",
    "src/sub/a.rs",
    "src/sub/deep/x.rs",
    "src.d/a",
    "srcx/a",
    "SRC/up.rs",
    "docs/a.md",
    "docs/sub/b.md",
    ".hidden/.x",
    ".dot",
    "we[i]rd/a",
    "st*r",
    "sp ace/f",
    "x/y/z/w",
    "x/y.rs",
    "q?",
    "back\\slash",
];

fn bench() -> Bench {
    let bench = Bench::new();
    for name in NAMES {
        bench.write(name, name);
    }
    bench.write("über/ß", "x");
    let _ = bench
        .sh(r#"printf x > "$(printf 'new\nline')"; printf x > "$(printf '\377raw')"; ln -s a link; chmod +x b.rs"#)
        .exits(0);
    bench.save("c");
    bench
}

fn tree(place: &Place) -> TreeId {
    place.git(&["rev-parse", "HEAD^{tree}"]).parse().unwrap()
}

/// What we select, folders expanded; nothing if a pathspec can't be used.
fn ours(repository: &Repository, tree: TreeId, specs: &[String]) -> Option<BTreeSet<BString>> {
    let specs = Pathspecs::parse(specs).ok()?;
    let trees = repository.trees().unwrap();
    let expanded = trees.select(tree, &specs, Folders::Expanded).unwrap();
    // The same names, with whole folders as one entry each.
    let mut names = BTreeSet::new();
    let whole = trees.select(tree, &specs, Folders::Whole).unwrap();
    let everything = trees.select(tree, &Pathspecs::parse::<&str>(&[]).unwrap(), Folders::Expanded).unwrap();
    for entry in &whole.entries {
        let mut folder = entry.path.clone();
        if !folder.is_empty() {
            folder.push(b'/');
        }
        for file in &everything.entries {
            let below = entry.mode == 0o040_000 && file.path.starts_with(&folder);
            if below || (entry.mode != 0o040_000 && file.path == entry.path) {
                assert!(names.insert(file.path.clone()), "{} is selected twice by {specs:?}", file.path);
            }
        }
    }
    let expanded: BTreeSet<BString> = expanded.entries.into_iter().map(|entry| entry.path).collect();
    assert_eq!(names, expanded, "whole folders and their files differ for {specs:?}");
    Some(expanded)
}

/// What git selects: from the index, and from the commit's tree; nothing where it refuses. git 2.47 does not always agree with
/// itself: `ls-files` takes the common prefix of the inclusions off the exclusions as well (`x/` with `:(exclude)s*`), and
/// `diff-tree` strips a folder before it looks at wildcards (`we[i]rd/**`).
fn gits(place: &Place, specs: &[String]) -> [Option<BTreeSet<BString>>; 2] {
    let empty = place.git(&["hash-object", "-t", "tree", "/dev/null"]);
    let of_tree = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", empty.as_str(), "HEAD", "--"];
    [&["ls-files", "-z", "--"][..], &of_tree].map(|command| {
        let arguments: Vec<&str> = command.iter().copied().chain(specs.iter().map(String::as_str)).collect();
        let outcome = place.try_git(&arguments);
        let names = outcome.stdout_bytes.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        (outcome.status == 0).then(|| names.map(BString::from).collect())
    })
}

fn spec() -> impl Strategy<Value = String> {
    let magic = prop::sample::select(vec![
        "",
        "",
        "",
        "",
        ":(glob)",
        ":(icase)",
        ":(exclude)",
        ":!",
        ":^",
        ":/",
        ":(top)",
        ":(literal)",
        ":(glob,exclude)",
        ":(icase,glob)",
        ":(exclude,icase)",
    ]);
    let part = prop::sample::select(vec![
        "a", "A", "b.rs", "src", "SRC", "sub", "deep", "x.rs", "docs", "*", "**", "*.rs", "s*", "?", "[a-s]*", "sr[c]",
        ".*", "x", "y", "we[i]rd", "st*r", "st\\*r", ".", "..", "sp ace", "über", "*.md", "**.rs", "src*",
    ]);
    let ending = prop::sample::select(vec!["", "", "", "/", "/**", "/*"]);
    (magic, prop::collection::vec(part, 1..4), ending)
        .prop_map(|(magic, parts, ending)| format!("{magic}{}{ending}", parts.join("/")))
}

#[test]
fn any_pathspecs_select_what_git_selects() {
    let bench = bench();
    let (repository, tree) = (open(&bench), tree(&bench));
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 120,
        failure_persistence: None,
        ..Default::default()
    });
    runner
        .run(&prop::collection::vec(spec(), 1..4), |specs| {
            // A refusal is the careful answer; but git must not refuse what we accept.
            if let Some(ours) = ours(&repository, tree, &specs) {
                let gits = gits(&bench, &specs);
                prop_assert!(gits.contains(&Some(ours.clone())), "{:?}: {:?} and git {:?}", specs, ours, gits);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn the_usual_pathspecs_select_what_git_selects() {
    let bench = bench();
    let (repository, tree) = (open(&bench), tree(&bench));
    let usual: &[&[&str]] = &[
        &["src/**"],
        &["src"],
        &["src/"],
        &["src/*"],
        &["*.rs"],
        &["src/*.rs"],
        &[":(glob)src/*.rs"],
        &[":(glob)**/*.rs"],
        &["src/**", ":!src/sub"],
        &[":!src"],
        &["."],
        &[":/"],
        &["*"],
        &["**"],
        &[":(icase)SRC/**"],
        &[":(literal)st*r"],
        &["st\\*r"],
        &["we[i]rd"],
        &["we[i]rd/a"],
        &["./docs"],
        &["Cargo.*", "src/a.rs"],
        &[":(glob)src/**"],
        &[":(glob)s*/**"],
        &["link"],
        &["x/y"],
        &["a/"],
        &["b.rs/"],
        &[":(top)docs"],
        &["q?"],
        &["back\\\\slash"],
    ];
    for specs in usual {
        let specs: Vec<String> = specs.iter().map(|spec| (*spec).to_owned()).collect();
        assert!(gits(&bench, &specs).contains(&ours(&repository, tree, &specs)), "{specs:?}");
    }
}

#[test]
fn a_pathspec_that_matches_nothing_is_reported_and_an_exclusion_never() {
    let bench = bench();
    let specs = Pathspecs::parse(&["src/**", "nothing", "src/sub/none", "*.rs", ":!alsonothing"]).unwrap();
    let inputs = open(&bench).trees().unwrap().select(tree(&bench), &specs, Folders::Whole).unwrap();
    assert_eq!(inputs.unmatched, ["nothing", "src/sub/none"]);
}

#[test]
fn a_folder_selected_whole_is_one_entry_and_one_with_exclusions_is_not() {
    let bench = bench();
    let (repository, tree) = (open(&bench), tree(&bench));
    let trees = repository.trees().unwrap();
    let select = |specs: &[&str]| -> Vec<String> {
        let selected = trees.select(tree, &Pathspecs::parse(specs).unwrap(), Folders::Whole).unwrap();
        selected.entries.iter().map(|entry| format!("{:o} {}", entry.mode, entry.path)).collect()
    };
    assert_eq!(select(&["src/**"]), ["40000 src"]);
    assert_eq!(select(&["."]), ["40000 "]);
    assert_eq!(
        select(&["src/**", ":!src/sub/deep"]),
        ["100644 src/a", "100644 src/a.rs", "100644 src/b.rs", "100644 src/sub/a.rs"]
    );
    assert_eq!(select(&["docs", ":!src"]), ["40000 docs"]);
    assert_eq!(select(&["link", "b.rs"]), ["100755 b.rs", "120000 link"]);
}

#[test]
fn attributes_absolute_paths_and_paths_that_leave_the_repository_are_refused() {
    for bad in [":(attr:x)a", "/abs", "../up", "a/../../b", "src/../docs", "*/.", ":/.", ":(nonsense)a", ""] {
        assert!(Pathspecs::parse(&[bad]).is_err(), "{bad:?}");
    }
}

#[test]
fn changed_names_between_two_trees_are_those_of_git() {
    let bench = bench();
    let old = tree(&bench);
    let _ = bench.sh("echo x >> src/a.rs; rm -r docs; echo y > docs; git mv x z; chmod +x a; mkdir n; echo n > n/f");
    bench.save("d");
    let (repository, new) = (open(&bench), tree(&bench));
    let trees = repository.trees().unwrap();
    for specs in [vec!["."], vec!["src/**", "docs"], vec![":!z"], vec!["*.rs"]] {
        let parsed = Pathspecs::parse(&specs).unwrap();
        let ours = trees.changed(old, new, &parsed, 1000).unwrap();
        let mut arguments = vec!["diff-tree", "-r", "-z", "--name-only", "--no-renames", "HEAD~1", "HEAD", "--"];
        arguments.extend(&specs);
        let printed = bench.try_git(&arguments).stdout_bytes;
        let mut gits: Vec<BString> =
            printed.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(BString::from).collect();
        gits.sort();
        assert_eq!(ours, gits, "{specs:?}");
    }
    assert_eq!(trees.changed(old, new, &Pathspecs::parse(&["."]).unwrap(), 2).unwrap().len(), 2);
}

#[test]
fn a_file_of_a_commit_is_read_by_its_path() {
    let bench = bench();
    let (repository, tree) = (open(&bench), tree(&bench));
    assert_eq!(repository.file_at(tree, "src/sub/a.rs").unwrap().as_deref(), Some(&b"src/sub/a.rs"[..]));
    for absent in ["src", "link", "none", "src/a.rs/below", ""] {
        assert_eq!(repository.file_at(tree, absent).unwrap(), None, "{absent}");
    }
    let raw = std::ffi::OsStr::from_bytes(b"\xffraw");
    assert!(bench.path().join(raw).exists());
}
