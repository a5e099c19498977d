//! Finding the repository that a git command would use, and what revisions mean in it.

use std::ffi::OsString;

use git_discern::git::{GitError, LocationVariables, Repository};

use crate::store::open;
use crate::support::{Bench, Hash, Place, Refs};

fn find(place: &Place, variables: &[(&str, &std::path::Path)]) -> Result<Repository, GitError> {
    let get = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
    Repository::discover(place.path(), &LocationVariables::from_lookup(get))
}

fn refused(found: Result<Repository, GitError>) -> GitError {
    match found {
        Ok(repository) => panic!("found {}", repository.git_dir().display()),
        Err(error) => error,
    }
}

/// What git says about the same place.
fn gits(place: &Place) -> [String; 3] {
    let ask = |what: &str| place.git(&["rev-parse", "--path-format=absolute", what]);
    [ask("--git-dir"), ask("--git-common-dir"), ask("--show-toplevel")]
}

fn ours(repository: &Repository) -> [String; 3] {
    [repository.git_dir(), repository.common_dir(), repository.worktree().unwrap()]
        .map(|path| path.display().to_string())
}

#[test]
fn worktrees_submodules_and_folders_below_are_found_as_git_finds_them() {
    let bench = Bench::new();
    bench.write("d/e/f", "1");
    bench.save("c");
    let linked = bench.worktree("wt");
    let _ = bench.sh("git init -q ../s && git -C ../s commit -q --allow-empty -m s && git submodule add -q ../s sub && git commit -qm sub").exits(0);
    let bare = bench.at(bench.root().join("b.git"));
    bench.git(&["clone", "-q", "--bare", ".", "../b.git"]);
    bare.git(&["worktree", "add", "-q", "../of-bare", "main"]);
    let separate = bench.at(bench.root().join("sep"));
    bench.git(&["init", "-q", "--separate-git-dir", "../sep.git", "../sep"]);
    let places = [
        bench.at("."),
        bench.at("d/e"),
        linked.clone(),
        linked.at("d"),
        bench.at("sub"),
        bench.at("../of-bare"),
        separate,
    ];
    for place in places {
        assert_eq!(ours(&find(&place, &[]).unwrap()), gits(&place), "{}", place.path().display());
    }
    assert_eq!(open(&linked).worktree_name(), "wt");
    assert_eq!(open(&bench).worktree_name(), "");
    let repository = open(&bare);
    assert!(repository.is_bare());
    assert!(matches!(repository.worktree(), Err(GitError::NoWorktree { bare: true, .. })));
    assert_eq!(repository.resolve("main").unwrap().to_string(), bench.git(&["rev-parse", "main"]));
    assert!(matches!(find(&bench.at(".git"), &[]).unwrap().worktree(), Err(GitError::NoWorktree { bare: false, .. })));
}

#[test]
fn git_dir_and_work_tree_are_taken_as_git_takes_them() {
    let bench = Bench::new();
    bench.write("d/here", "1");
    bench.save("c");
    let elsewhere = bench.at(bench.root().join("home"));
    let git_dir = bench.path().join(".git");
    // `git --git-dir=X --work-tree=Y` uses Y (B004).
    let found = find(&elsewhere, &[("GIT_DIR", &git_dir), ("GIT_WORK_TREE", bench.path())]).unwrap();
    assert_eq!(found.worktree().unwrap(), bench.path());
    // GIT_DIR alone: the worktree is where we stand.
    assert_eq!(find(&elsewhere, &[("GIT_DIR", &git_dir)]).unwrap().worktree().unwrap(), elsewhere.path());
    let linked = bench.worktree("wt");
    let own = bench.path().join(".git/worktrees/wt");
    assert_eq!(ours(&find(&linked, &[("GIT_DIR", &own)]).unwrap()), gits(&linked));
    assert!(matches!(refused(find(&bench, &[("GIT_DIR", elsewhere.path())])), GitError::Broken { .. }));
}

#[test]
fn outside_a_repository_one_clear_error_is_given_and_jj_is_noticed() {
    let bench = Bench::new();
    let outside = bench.at(bench.root().join("tmp"));
    assert!(matches!(refused(find(&outside, &[])), GitError::NotARepository { jj: false, .. }));
    std::fs::create_dir(outside.path().join(".jj")).unwrap();
    assert!(matches!(refused(find(&outside, &[])), GitError::NotARepository { jj: true, .. }));
    std::fs::create_dir_all(bench.path().join("d")).unwrap();
    assert!(find(&bench.at("d"), &[]).is_ok());
    assert!(matches!(
        refused(find(&bench.at("d"), &[("GIT_CEILING_DIRECTORIES", bench.path())])),
        GitError::NotARepository { .. }
    ));
    bench.write("../tmp/.git", "gitdir: /nowhere\n");
    assert!(matches!(refused(find(&outside, &[])), GitError::Broken { .. }));
}

#[test]
fn another_owner_is_gits_to_refuse_and_its_words_are_kept() {
    let bench = Bench::new();
    // The child reads the variable from its own environment, which here is the test's; so only ours is told.
    let one = std::path::Path::new("1");
    assert!(find(&bench, &[("GIT_TEST_ASSUME_DIFFERENT_OWNER", one)]).is_ok());
}

#[test]
fn unknown_extensions_are_refused() {
    let bench = Bench::new();
    bench.git(&["config", "core.repositoryFormatVersion", "1"]);
    bench.git(&["config", "extensions.fromTheFuture", "x"]);
    match refused(find(&bench, &[])) {
        GitError::UnknownFormat { feature, .. } => assert_eq!(feature, "`extensions.fromthefuture = x`"),
        other => panic!("{other}"),
    }
}

#[test]
fn head_is_a_branch_a_commit_or_unborn_on_every_kind_of_repository() {
    for (refs, hash) in [
        (Refs::Files, Hash::Sha1),
        (Refs::Files, Hash::Sha256),
        (Refs::Reftable, Hash::Sha1),
        (Refs::Reftable, Hash::Sha256),
    ] {
        let bench = Bench::with(refs, hash);
        match open(&bench).head() {
            Err(GitError::Unborn { branch }) => assert_eq!(branch, "refs/heads/main"),
            other => panic!("{other:?}"),
        }
        bench.save("a summary\n\nand a body");
        let head = open(&bench).head().unwrap();
        assert_eq!(head.branch.as_deref(), Some("refs/heads/main"));
        assert_eq!(head.summary, "a summary");
        assert_eq!(head.commit.to_string(), bench.head());
        assert_eq!(head.tree.to_string(), bench.git(&["rev-parse", "HEAD^{tree}"]));
        bench.git(&["pack-refs", "--all"]);
        bench.git(&["gc", "-q"]);
        assert_eq!(open(&bench).head().unwrap(), head);
        bench.git(&["checkout", "-q", "--detach"]);
        assert_eq!(open(&bench).head().unwrap().branch, None);
        // Answers of one instant are the same answers.
        let repository = open(&bench);
        repository.refs().remember(&["refs/discern/"]).unwrap();
        assert_eq!(repository.head().unwrap().commit, head.commit);
        let linked = bench.worktree("wt");
        assert_eq!(open(&linked).head().unwrap().branch.as_deref(), Some("refs/heads/wt"));
    }
}

#[test]
fn revisions_mean_what_git_says_and_two_meanings_are_an_error() {
    for refs in [Refs::Files, Refs::Reftable] {
        let bench = Bench::with(refs, Hash::Sha1);
        for message in ["1", "2", "3"] {
            bench.save(message);
        }
        bench.git(&["tag", "-a", "-m", "t", "v1", "HEAD~1"]);
        bench.git(&["branch", "topic/x", "HEAD~2"]);
        let repository = open(&bench);
        let short = &bench.head()[..9];
        for revision in [
            "HEAD",
            "@",
            "main",
            "refs/heads/main",
            "v1",
            "topic/x",
            "HEAD~2",
            "main^",
            "main^^",
            "HEAD~1^~0",
            "HEAD^1",
            "HEAD^0",
            "topic/x~0",
            "v1~",
            "v1^{}~1",
            short,
            &bench.head(),
            &format!("{}~2", bench.head()),
            "v1^{commit}",
            "@{0}",
        ] {
            let gits = bench.git(&["rev-parse", &format!("{revision}^{{commit}}")]);
            assert_eq!(repository.resolve(revision).unwrap().to_string(), gits, "{revision}");
        }
        for bad in [
            "nothing",
            "-x",
            "--all",
            "HEAD~9",
            "HEAD~\u{e9}",
            "HEAD~99999999999999999999",
            "HEAD^2",
            "main~1x",
            "v1~2",
            "HEAD:f",
            &"0".repeat(40),
            "",
        ] {
            assert!(repository.resolve(bad).is_err(), "{bad}");
        }
        let listed = |range: &str| -> Vec<String> {
            repository.commits(range).unwrap().iter().map(|commit| commit.id.to_string()).collect()
        };
        assert_eq!(listed("topic/x..main"), [bench.git(&["rev-parse", "main~1"]), bench.head()]);
        for range in
            ["HEAD~2..main", "..topic/x", "topic/x..", "topic/x...main^", "@{0}...main~2", "main~2..v1^{commit}"]
        {
            let gits = bench.git(&["rev-list", "--reverse", "--topo-order", range, "--"]);
            assert_eq!(listed(range), gits.lines().collect::<Vec<_>>(), "{range}");
        }
        for (range, bad) in [
            ("HEAD~9..main", "HEAD~9"),
            ("main..nothing", "nothing"),
            ("--all..main", "--all"),
            ("^main..main", "^main"),
            ("main^@..main", "main^@"),
            ("main..main^!", "main^!"),
            ("main..main^-..main", "main^-..main"),
            ("main..main~1..main", "main~1..main"),
            ("HEAD:f..main", "HEAD:f"),
        ] {
            match repository.commits(range) {
                Err(GitError::NoSuchRevision { revision }) => assert_eq!(revision, bad, "{range}"),
                other => panic!("{range}: {other:?}"),
            }
        }
        bench.git(&["tag", "main", "HEAD~1"]);
        match open(&bench).resolve("main") {
            Err(GitError::Ambiguous { candidates, .. }) => {
                assert_eq!(candidates, ["refs/tags/main", "refs/heads/main"])
            }
            other => panic!("{other:?}"),
        }
        assert!(matches!(open(&bench).resolve("main~1"), Err(GitError::Ambiguous { .. })));
        assert!(matches!(open(&bench).commits("topic/x..main"), Err(GitError::Ambiguous { .. })));
        // Trunk is a branch, never the tag.
        assert_eq!(open(&bench).trunk(Some("main")).unwrap().tip.to_string(), bench.head());
    }
}

#[test]
fn a_commits_summary_is_gits_subject_whoever_reads_it() {
    let bench = Bench::new();
    bench.save("1");
    for message in ["one\n\nbody", "two \nlines\t\n \nbody", "\n\n late  one\r\n", "an %s, a caf\u{e9}", "\n"] {
        bench.git(&["commit", "-q", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim", "-m", message]);
        let gits = bench.git(&["log", "-1", "--format=%s"]);
        let repository = open(&bench);
        assert_eq!(repository.head().unwrap().summary, gits, "{message:?}");
        let listed = repository.commits("HEAD~1..HEAD").unwrap();
        assert_eq!(listed, repository.commits("HEAD").unwrap(), "{message:?}");
    }
}

#[test]
fn trunk_is_the_remote_tracking_branch_if_there_is_one() {
    let bench = Bench::new();
    let first = bench.save("1");
    assert_eq!(open(&bench).trunk(None).unwrap().name, "refs/heads/main");
    bench.remote();
    bench.git(&["push", "-q", "origin", "main"]);
    bench.save("2");
    let trunk = open(&bench).trunk(Some("main")).unwrap();
    assert_eq!((trunk.name.as_str(), trunk.tip.to_string()), ("refs/remotes/origin/main", first.clone()));
    assert!(matches!(open(&bench).trunk(Some("nothing")), Err(GitError::NoTrunk { .. })));
    let head = open(&bench).head().unwrap().commit;
    assert_eq!(open(&bench).merge_base(trunk.tip, head).unwrap(), Some(trunk.tip));
    let orphan = bench.git(&["commit-tree", "-m", "o", "HEAD^{tree}"]).parse().unwrap();
    assert_eq!(open(&bench).merge_base(orphan, head).unwrap(), None);
    let linked = bench.worktree("elsewhere");
    linked.git(&["checkout", "-q", "--detach"]);
    let detached = linked.save("3").parse().unwrap();
    let all = [trunk.tip, head, orphan, detached].into();
    assert_eq!(open(&bench).reachable(&all).unwrap(), [trunk.tip, head, detached].into());
}

/// Makes a commit with these parents, without touching the worktree; its tree is `HEAD`'s.
fn commit_of(bench: &Bench, parents: &[&str]) -> String {
    let parents: Vec<&str> = parents.iter().flat_map(|parent| ["-p", *parent]).collect();
    bench.git(&[&["commit-tree", "-m", "c", "HEAD^{tree}"], parents.as_slice()].concat())
}

#[test]
fn two_commits_meet_where_git_says() {
    let bench = Bench::new();
    let root = bench.save("1");
    let mut trunk = vec![root.clone()];
    for _ in 0..270 {
        trunk.push(commit_of(&bench, &[trunk.last().unwrap()]));
    }
    let (near, far) = (commit_of(&bench, &[&trunk[269]]), commit_of(&bench, &[&root]));
    // Each has merged the other: both parents are as good.
    let crossed = [commit_of(&bench, &[&near, &trunk[270]]), commit_of(&bench, &[&trunk[270], &near])];
    let merged = commit_of(&bench, &[&near, &far]);
    let alone = commit_of(&bench, &[]);
    let repository = open(&bench);
    let pairs = [
        (&near, &trunk[270]),
        (&far, &trunk[270]),
        (&trunk[260], &trunk[270]),
        (&trunk[270], &root),
        (&crossed[0], &crossed[1]),
        (&merged, &trunk[270]),
        (&merged, &far),
        (&alone, &near),
    ];
    for (one, other) in pairs.into_iter().chain(pairs.map(|(one, other)| (other, one))) {
        let gits = bench.try_git(&["merge-base", one, other]).stdout.trim().to_owned();
        let ours = repository.merge_base(one.parse().unwrap(), other.parse().unwrap()).unwrap();
        assert_eq!(ours.map(|id| id.to_string()).unwrap_or_default(), gits, "{one} {other}");
    }
    bench.git(&["branch", "topic", &near]);
    bench.git(&["update-ref", "refs/heads/main", &trunk[270]]);
    let from = format!("file://{}", bench.path().display());
    bench.git(&["clone", "-q", "--depth=1", "--no-single-branch", &from, "../c"]);
    let cut = open(&bench.at("../c"));
    assert_eq!(cut.merge_base(near.parse().unwrap(), trunk[270].parse().unwrap()).unwrap(), None);
    let nowhere = "1".repeat(40).parse().unwrap();
    assert!(repository.merge_base(nowhere, near.parse().unwrap()).is_err());
}

#[test]
fn a_damaged_line_of_packed_refs_is_no_missing_ref() {
    let bench = Bench::new();
    bench.save("1");
    bench.git(&["branch", "other"]);
    bench.git(&["pack-refs", "--all"]);
    assert_eq!(open(&bench).refs().list("refs/heads/").unwrap().len(), 2);
    let packed = bench.read(".git/packed-refs");
    bench.write(".git/packed-refs", packed.replace(&format!("{} refs/heads/other", bench.head()), "no id at all"));
    assert!(open(&bench).refs().list("refs/heads/").is_err());
}

#[test]
fn nothing_is_reached_from_an_unborn_branch() {
    let bench = Bench::new();
    let nowhere = "1".repeat(40).parse().unwrap();
    assert_eq!(open(&bench).reachable(&[nowhere].into()).unwrap(), [].into());
}
