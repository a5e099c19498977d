//! Is the worktree the committed tree, and what happened to it since?

use git_discern::git::{Cause, Cleanliness, DirtyKind, How, Pathspecs, Repository, Snapshot, Untracked};

use test_case::test_case;

use crate::store::open;
use crate::support::{Bench, Hash, Place, Refs, wait_for};

/// What is in the way, as `kind path`, and why: the same for a run as for an answer.
fn check(place: &Place, untracked: Untracked) -> (Vec<String>, Vec<Cause>) {
    let repository = open(place);
    let head = repository.head().unwrap();
    let look = repository.begin_to_look(untracked).unwrap();
    let for_an_answer = named(repository.cleanliness_now(Some(look), &head, untracked).unwrap());
    assert_eq!(named(repository.cleanliness(None, &head, untracked).unwrap()), for_an_answer);
    for_an_answer
}

fn named<S>(cleanliness: Cleanliness<S>) -> (Vec<String>, Vec<Cause>) {
    match cleanliness {
        Cleanliness::Clean(_) => (Vec::new(), Vec::new()),
        Cleanliness::Dirty { paths, causes } => {
            assert!(!paths.is_empty() || !causes.is_empty());
            (paths.iter().map(|dirty| format!("{:?} {}", dirty.kind, dirty.path)).collect(), causes)
        }
    }
}

fn dirty(place: &Place) -> Vec<String> {
    check(place, Untracked::Refuse).0
}

fn snapshot(repository: &Repository) -> Snapshot {
    let head = repository.head().unwrap();
    match repository.cleanliness(None, &head, Untracked::Refuse).unwrap() {
        Cleanliness::Clean(snapshot) => snapshot,
        dirty @ Cleanliness::Dirty { .. } => panic!("{dirty:?}"),
    }
}

fn with_files(names: &[&str]) -> Bench {
    let bench = Bench::new();
    for name in names {
        bench.write(name, format!("{name}\n"));
    }
    bench.save("c");
    bench
}

#[test]
fn a_fresh_commit_is_clean_on_every_kind_of_repository() {
    for (refs, hash) in [(Refs::Files, Hash::Sha1), (Refs::Files, Hash::Sha256), (Refs::Reftable, Hash::Sha1)] {
        let bench = Bench::with(refs, hash);
        bench.write("f", "1");
        bench.save("c");
        assert_eq!(dirty(&bench), Vec::<String>::new());
        assert_eq!(snapshot(&open(&bench)).changed(&open(&bench), None).unwrap(), vec![]);
    }
}

#[test]
fn each_kind_of_change_is_named() {
    let bench = with_files(&["changed", "deleted", "staged", "mode", "d/deep"]);
    bench.write("changed", "other");
    std::fs::remove_file(bench.path().join("deleted")).unwrap();
    bench.write("staged", "other");
    bench.git(&["add", "staged"]);
    let _ = bench
        .sh("chmod +x mode && rm -r d && echo x > d && echo new > new && mkdir u && echo u > u/x && git add -N new");
    assert_eq!(
        dirty(&bench),
        [
            "Modified changed",
            "Untracked d",
            "Deleted d/deep",
            "Deleted deleted",
            "Mode mode",
            "IntentToAdd new",
            "Staged staged",
            "Untracked u/x"
        ]
    );
}

#[test]
fn what_took_a_file_s_place_is_named_and_never_read() {
    let bench = with_files(&["folder", "pipe", "link"]);
    bench.git(&["config", "core.autocrlf", "input"]);
    let _ = bench.sh("rm * && mkdir folder && echo x > folder/x && mkfifo pipe && ln -s / link");
    assert_eq!(dirty(&bench), ["Deleted folder", "Untracked folder/x", "Mode link", "Modified pipe"]);
}

#[test]
fn a_staged_change_counts_even_if_the_file_is_back() {
    let bench = with_files(&["f"]);
    let _ = bench.sh("echo other > f && git add f && echo f > f");
    assert_eq!(dirty(&bench), ["Staged f"]);
}

#[test]
fn untracked_files_count_unless_they_are_ignored_or_let_be() {
    let bench = with_files(&[".gitignore"]);
    bench.write(".gitignore", "*.log\n");
    bench.save("rules");
    let _ = bench.sh("echo x > a.log; echo x > notes; git init -q nested; echo y > nested/f");
    bench.git(&["config", "status.showUntrackedFiles", "no"]);
    assert_eq!(dirty(&bench), ["Untracked nested/", "Untracked notes"]);
    assert_eq!(check(&bench, Untracked::Ignore).0, Vec::<String>::new());
}

#[test]
fn files_that_flags_hide_from_git_are_looked_at() {
    let bench = with_files(&["assumed", "skipped", "gone", "same", "link"]);
    let _ = bench.sh("ln -sf target link && git add link && git commit -qm link");
    bench.git(&["update-index", "--assume-unchanged", "assumed", "link", "same"]);
    bench.git(&["update-index", "--skip-worktree", "skipped", "gone"]);
    let _ = bench.sh("echo other > assumed; echo other > skipped; rm gone; ln -sf elsewhere link");
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
    assert_eq!(dirty(&bench), ["Hidden assumed", "Hidden gone", "Hidden link", "Hidden skipped"]);
    let _ = bench.sh("echo assumed > assumed; echo skipped > skipped; echo gone > gone; ln -sf target link");
    assert_eq!(dirty(&bench), Vec::<String>::new());
    let _ = bench.sh("chmod +x assumed");
    assert_eq!(dirty(&bench), ["Hidden assumed"]);
}

#[test]
fn a_sparse_checkout_is_a_partial_tree_of_its_own_kind() {
    for index in ["--no-sparse-index", "--sparse-index"] {
        let bench = with_files(&["a/x", "b/y", "b/z"]);
        bench.git(&["sparse-checkout", "set", index, "a"]);
        let (paths, causes) = check(&bench, Untracked::Refuse);
        assert!(paths.iter().all(|path| path.starts_with("Sparse b/")), "{paths:?}");
        assert_eq!(causes, [Cause::PartialTree]);
    }
}

#[test]
fn conflicts_name_the_operation_and_a_clean_stop_of_a_rebase_is_clean() {
    let bench = with_files(&["f"]);
    let _ = bench.sh("git checkout -qb b; echo 2 > f; git commit -qam b; git checkout -q main; echo 3 > f; git commit -qam m; git merge b");
    let (paths, causes) = check(&bench, Untracked::Refuse);
    assert_eq!(
        (paths, causes),
        (vec!["Unmerged f".to_owned()], vec![Cause::Unfinished(git_discern::git::Operation::Merge)])
    );
    let _ = bench.sh("git merge --abort; git -c sequence.editor='sed -i s/^pick/edit/' rebase -qi HEAD~1");
    assert_eq!(dirty(&bench), Vec::<String>::new());
    assert_eq!(open(&bench).operation().unwrap(), Some(git_discern::git::Operation::Rebase));
    assert_eq!(open(&bench).head().unwrap().branch, None);
}

#[test]
fn a_submodule_counts_whatever_its_ignore_setting_says() {
    let bench = with_files(&["f"]);
    let _ = bench.sh("git init -q ../sub && git -C ../sub commit -q --allow-empty -m s && echo 1 > ../sub/s && git -C ../sub add s && git -C ../sub commit -qm s2");
    let _ = bench.sh("git submodule add -q ../sub sub && git config submodule.sub.ignore all && git config diff.ignoreSubmodules all && git commit -qm sub").exits(0);
    assert_eq!(dirty(&bench), Vec::<String>::new());
    let repository = open(&bench);
    let mut before = snapshot(&repository);
    let _ = bench.sh("echo 2 > sub/s; echo 1 > sub/s");
    let changed = before.changed(&repository, None).unwrap();
    assert_eq!(
        changed.iter().map(|c| (c.path.to_string(), c.how)).collect::<Vec<_>>(),
        [("sub/s".to_owned(), How::Touched)]
    );
    let _ = bench.sh("echo 2 > sub/s");
    assert_eq!(dirty(&bench), ["Submodule sub"]);
    let _ = bench.sh("echo 1 > sub/s; git -C sub checkout -q HEAD~1");
    assert_eq!(dirty(&bench), ["Submodule sub"]);
}

#[test]
fn line_endings_filters_and_case_are_named_as_causes() {
    let bench = Bench::new();
    bench.write("f", "a\r\n");
    bench.write("big.bin", vec![0; 999]);
    bench.save("c");
    bench.write(".gitattributes", "f text\n*.bin filter=x\n");
    bench.git(&["add", ".gitattributes"]);
    bench.git(&["commit", "-qm", "rules"]);
    bench.git(&["config", "filter.x.clean", "echo pointer"]);
    let _ = bench.sh("touch -d '2001-01-01' f big.bin");
    let (paths, causes) = check(&bench, Untracked::Refuse);
    assert_eq!(paths, ["Modified big.bin", "Modified f"]);
    assert_eq!(
        causes,
        [
            Cause::Filter { name: "x".into(), paths: vec!["big.bin".into()] },
            Cause::LineEndings { paths: vec!["f".into()] }
        ]
    );
    let case = Bench::new();
    let _ = case.sh("b=$(echo 1 | git hash-object -w --stdin); git update-index --add --cacheinfo 100644,$b,A.txt --cacheinfo 100644,$b,a.txt; git commit -qm c; git checkout -q -- A.txt").exits(0);
    let (paths, causes) = check(&case, Untracked::Refuse);
    assert_eq!(paths, ["Deleted a.txt"]);
    assert_eq!(causes, [Cause::CaseCollision { paths: vec!["A.txt".into(), "a.txt".into()] }]);
}

#[test]
fn odd_names_and_user_settings_change_nothing() {
    let bench = Bench::new();
    let _ = bench.sh(r#"printf x > "$(printf 'a\nb')"; printf x > "$(printf '\377')"; printf x > 'sp ace'; git add -A; git commit -qm c; printf y > "$(printf 'a\nb')"; printf y > "$(printf '\377')"; printf y > 'sp ace'"#).exits(0);
    bench.git(&["config", "status.renames", "copies"]);
    bench.git(&["config", "core.quotePath", "true"]);
    assert_eq!(dirty(&bench).len(), 3);
}

#[test]
fn a_hanging_file_system_monitor_of_the_user_is_not_started() {
    let bench = with_files(&["f"]);
    bench.write("../mon", "#!/bin/sh\nsleep 600 &\nexit 1\n");
    let _ = bench.sh("chmod +x ../mon; git config core.fsmonitor \"$PWD/../mon\"");
    assert_eq!(dirty(&bench), Vec::<String>::new());
}

#[test]
fn what_happens_under_a_run_is_seen() {
    let cases: &[(&str, &str, How)] = &[
        ("echo x >> f", "f", How::Modified),
        ("cp f /dev/shm/$$; echo x > f; cat /dev/shm/$$ > f; rm /dev/shm/$$", "f", How::Touched),
        ("cp -p f g; mv g f", "f", How::Touched),
        ("touch -d 2001-01-01 f", "f", How::Touched),
        ("chmod +x f", "f", How::Modified),
        ("rm f", "f", How::Deleted),
        ("echo x > new", "new", How::Appeared),
        ("echo x > f; git add f; git update-index --assume-unchanged f", "f", How::Staged),
        ("git update-index --assume-unchanged f; echo x > f", "f", How::Modified),
        ("git commit -q --allow-empty -m moved", "", How::HeadMoved),
        ("git checkout -q -b other", "", How::BranchSwitched),
        ("git checkout -q --detach", "", How::BranchSwitched),
    ];
    for (script, path, how) in cases {
        let bench = with_files(&["f", "d/e"]);
        let repository = open(&bench);
        let mut before = snapshot(&repository);
        let _ = bench.sh(script).exits(0);
        let changed = before.changed(&repository, None).unwrap();
        let seen: Vec<_> = changed.iter().map(|c| (c.path.to_string(), c.how)).collect();
        assert_eq!(seen, [((*path).to_owned(), *how)], "{script}");
    }
}

#[test]
fn declared_files_may_be_rewritten_with_equal_content_and_no_other() {
    let bench = with_files(&["gen/a", "f"]);
    let repository = open(&bench);
    let mut before = snapshot(&repository);
    let _ = bench.sh("cp gen/a x; mv x gen/a");
    let touches = Pathspecs::parse(&["gen"]).unwrap();
    assert_eq!(before.changed(&repository, Some(&touches)).unwrap(), vec![]);
    let _ = bench.sh("echo other > gen/a");
    assert_eq!(before.changed(&repository, Some(&touches)).unwrap()[0].how, How::Modified);
}

#[test]
fn a_worktree_that_is_gone_is_said_to_be_gone() {
    let bench = with_files(&["f"]);
    let linked = bench.worktree("wt");
    let repository = open(&linked);
    let mut before = snapshot(&repository);
    std::fs::remove_dir_all(linked.path()).unwrap();
    assert_eq!(before.changed(&repository, None).unwrap()[0].how, How::WorktreeGone);
}

#[test]
fn every_kind_has_a_place_in_the_order_of_importance() {
    assert!(DirtyKind::Unmerged < DirtyKind::Staged && DirtyKind::Staged < DirtyKind::Modified);
}

/// Git's look and the stat data are taken side by side: what happens to a file between the two, in either order, is seen by
/// the next look, whether it is still there or was undone.
#[test]
fn what_happens_between_gits_look_and_the_stat_data_is_seen_later() {
    let bench = with_files(&["f", "g"]);
    let repository = open(&bench);
    let head = repository.head().unwrap();
    let mut taken_for_clean = 0;
    for round in 0..24 {
        let look = repository.begin_to_look(Untracked::Refuse).unwrap();
        // Some of these looks are over by now, some are not.
        (0..round % 6).for_each(|_| drop(bench.git(&["rev-parse", "HEAD"])));
        bench.write("f", "edited\n");
        let seen = repository.cleanliness(Some(look), &head, Untracked::Refuse).unwrap();
        if let Cleanliness::Clean(mut snapshot) = seen {
            taken_for_clean += 1;
            let changed = snapshot.changed(&repository, None).unwrap();
            assert_eq!(changed.first().map(|it| it.how), Some(How::Modified), "{changed:?}");
            bench.write("f", "f\n");
            let changed = snapshot.changed(&repository, None).unwrap();
            assert_eq!(changed.first().map(|it| it.how), Some(How::Touched), "{changed:?}");
        }
        bench.write("f", "f\n");
    }
    assert!(taken_for_clean > 0, "each look was slower than five of git's own commands");
}

/// As above, and the file is put back while the next look is made: between what git sees and the stat data there, too.
#[test]
fn a_file_that_is_put_back_during_a_look_was_another_before() {
    let bench = with_files(&["f", "g"]);
    let repository = open(&bench);
    let head = repository.head().unwrap();
    let file = bench.path().join("f");
    let mut taken_for_clean = 0;
    for round in 0..36 {
        let look = repository.begin_to_look(Untracked::Refuse).unwrap();
        (0..3 + round % 3).for_each(|_| drop(repository.git().ask(&["rev-parse", "HEAD"])));
        std::fs::write(&file, "edited\n").unwrap();
        let seen = repository.cleanliness(Some(look), &head, Untracked::Refuse).unwrap();
        if let Cleanliness::Clean(mut snapshot) = seen {
            taken_for_clean += 1;
            let git = repository.git().clone();
            let changed = std::thread::scope(|scope| {
                scope.spawn(|| {
                    (0..round % 4).for_each(|_| drop(git.ask(&["version"])));
                    std::fs::write(&file, "f\n").unwrap();
                });
                snapshot.changed(&repository, None).unwrap()
            });
            assert!(!changed.is_empty(), "round {round}: nobody saw what the file was before");
        }
        std::fs::write(&file, "f\n").unwrap();
    }
    assert!(taken_for_clean > 0, "each look was slower than five of git's own commands");
}

/// Once all stat data is older than a tick of the clock, a look compares it, and asks git for untracked files alone.
#[test_case("echo edited > f", &[("f", How::Modified)]; "an edit")]
#[test_case("cp -p f ../f; echo F > f; cp -p ../f f", &[("f", How::Touched)]; "an edit that was undone, its date as well")]
#[test_case("rm f", &[("f", How::Deleted)]; "a deletion")]
#[test_case("chmod +x f", &[("f", How::Modified)]; "a mode")]
#[test_case("echo n > new", &[("new", How::Appeared)]; "an untracked file")]
#[test_case("echo n > d/new", &[("d/new", How::Appeared)]; "one in a folder")]
#[test_case("mv d ../e && ln -s ../e d", &[("d", How::Appeared), ("d/deep", How::Deleted)]; "a folder replaced with a link")]
#[test_case("mv i ../i && ln -s ../i i", &[("i/f", How::Deleted)]; "one that is ignored")]
#[test_case("git update-index --cacheinfo 100755,$(git rev-parse HEAD:f),f", &[("f", How::Staged)]; "the index")]
#[test_case("git rm -q --cached f", &[("f", How::Staged)]; "the index, and the file is untracked")]
#[test_case("git commit -q --allow-empty -m x", &[("", How::HeadMoved)]; "a commit")]
#[test_case("echo x > i/g", &[]; "an ignored file")]
#[test_case("mkdir empty", &[]; "an empty folder")]
fn what_happens_to_settled_files_is_seen(script: &str, expected: &[(&str, How)]) {
    let bench = with_files(&["f", "d/deep", "i/f"]);
    bench.write(".git/info/exclude", "/i\n");
    let repository = open(&bench);
    let mut snapshot = snapshot(&repository);
    wait_for("a tick of the clock", || {
        assert_eq!(snapshot.changed(&repository, None).unwrap(), vec![]);
        snapshot.is_settled()
    });
    assert_eq!(snapshot.changed(&repository, None).unwrap(), vec![]);
    let _ = bench.sh(script);
    let changed = snapshot.changed(&repository, None).unwrap();
    let found: Vec<(String, How)> = changed.into_iter().map(|it| (it.path.to_string(), it.how)).collect();
    let expected: Vec<(String, How)> = expected.iter().map(|(path, how)| ((*path).to_owned(), *how)).collect();
    assert_eq!(found, expected);
}
