//! Where one stands: repositories, configurations and worktrees that can't be used.

use super::{is_refused, is_refused_as};
use crate::support::Bench;

#[test]
fn places_without_a_repository_or_a_commit() {
    let bench = Bench::new();
    is_refused_as(&bench, &bench.at("../tmp"), "not-a-repository", 2, &["status"]);
    is_refused_as(&bench, &bench, "no-commit", 2, &["done"]);
    bench.write("discern.toml", "");
    let bare = bench.remote();
    is_refused_as(&bench, &bare, "no-worktree", 2, &["run"]);
    bench.write("../broken/.git", "gitdir: /nowhere\n");
    is_refused_as(&bench, &bench.at("../broken"), "broken-repository", 2, &["status"]);
    bench.git(&["config", "core.repositoryFormatVersion", "1"]);
    bench.git(&["config", "extensions.shrubbery", "true"]);
    is_refused_as(&bench, &bench, "unknown-format", 2, &["status"]);
}

#[test]
fn a_git_that_is_too_old() {
    let bench = Bench::proven_by_true();
    bench.write("../old/git", "#!/bin/sh\necho git version 2.30.1\n");
    bench.sh("chmod +x ../old/git").exits(0);
    let path = format!("{}:/usr/bin:/bin", bench.root().join("old").display());
    let seen = bench.with_variable("PATH", &path).discern(&["doctor"]).exits(2);
    let head = seen.stdout.lines().take(2).collect::<Vec<_>>().join("\n");
    let _stable = bench.stable_snapshots();
    insta::assert_snapshot!("error-git-too-old", head);
    // Enough of a git to come to a run.
    let git = "#!/bin/sh\ncase \" $* \" in\n*\" version \"*) echo git version 2.30.1;;\n*) PATH=/usr/bin:/bin; exec git \"$@\";;\nesac\n";
    bench.write("../old/git", git);
    let refused = bench.with_variable("PATH", &path).discern(&["done", "--json"]).exits(2).json();
    assert_eq!(refused["diagnostics"][0]["code"], "git-too-old");
    assert!(!bench.has(".git/refs/discern/attempt"), "nothing was begun");
}

#[test]
fn configurations_that_are_not_where_they_should_be() {
    let bench = Bench::new();
    bench.save("first");
    is_refused_as(&bench, &bench, "config-missing", 2, &["run"]);
    is_refused(&bench, &bench, "config-missing-in-the-commit", 2, &["done"]);
    bench.gate();
    is_refused_as(&bench, &bench, "config-uncommitted", 2, &["done"]);
    is_refused_as(&bench, &bench, "config-exists", 2, &["init"]);
    bench.configure("[jobs.lint]\nrum = \"true\"");
    bench.save("second");
    is_refused_as(&bench, &bench, "config-invalid", 2, &["done"]);
    bench.sh("rm discern.toml; ln -s elsewhere discern.toml; git add -A; git commit -q -m third").exits(0);
    is_refused_as(&bench, &bench, "config-no-file", 2, &["done"]);
}

#[test]
fn a_project_that_says_nothing_about_itself() {
    let bench = Bench::new();
    is_refused(&bench, &bench, "nothing-known-of-the-project", 0, &["init"]);
    is_refused(&bench, &bench, "config-exists-without-a-job", 2, &["init"]);
}

#[test]
fn worktrees_that_are_not_the_commit() {
    let bench = Bench::proven_by_true();
    bench.write("new", "one");
    is_refused_as(&bench, &bench, "untracked-files", 2, &["done"]);
    bench.write("discern.toml", bench.read("discern.toml") + "\n");
    is_refused_as(&bench, &bench, "dirty-tree", 2, &["done"]);
    bench.save("second");
    bench.git(&["branch", "other", "HEAD~1"]);
    bench.git(&["switch", "-q", "other"]);
    bench.write("new", "another");
    bench.save("third");
    let _conflicts = bench.try_git(&["merge", "main"]);
    is_refused_as(&bench, &bench, "unmerged", 2, &["done"]);
    is_refused_as(&bench, &bench, "operation-under-way", 2, &["done"]);
    bench.git(&["merge", "--abort"]);
    let _conflicts = bench.try_git(&["rebase", "main"]);
    is_refused(&bench, &bench, "rebase-under-way", 2, &["done"]);
    bench.git(&["rebase", "--abort"]);
    bench.write("new", "changed");
    is_refused(&bench, &bench, "dirty-tree-modified", 2, &["done"]);
    bench.git(&["add", "new"]);
    is_refused(&bench, &bench, "dirty-tree-staged", 2, &["done"]);
    bench.git(&["update-index", "--assume-unchanged", "discern.toml"]);
    bench.write("discern.toml", bench.read("discern.toml") + "\n");
    is_refused(&bench, &bench, "dirty-tree-hidden", 2, &["done"]);
    bench.git(&["update-index", "--no-assume-unchanged", "discern.toml"]);
    bench.git(&["commit", "-q", "-a", "-m", "of both"]);
    bench.write("more", "");
    bench.save("fourth");
    bench.git(&["sparse-checkout", "set", "--no-cone", "/new", "/discern.toml"]);
    is_refused_as(&bench, &bench, "partial-tree", 2, &["done"]);
}

#[test]
fn files_that_git_itself_would_change() {
    let bench = Bench::proven_by_true();
    bench.write("letter", "one\r\ntwo\r\n");
    bench.git(&["-c", "core.autocrlf=false", "add", "-A"]);
    bench.save("second");
    bench.write(".gitattributes", "letter text\n");
    bench.sh("git add .gitattributes; git commit -q -m third").exits(0);
    bench.sh("touch -d 2020-01-01 letter").exits(0);
    is_refused_as(&bench, &bench, "line-endings", 2, &["done"]);
    bench.write(".gitattributes", "letter filter=shout\n");
    bench.sh("git add .gitattributes; git commit -q -m fourth").exits(0);
    bench.git(&["config", "filter.shout.clean", "tr a-z A-Z"]);
    bench.sh("touch -d 2021-01-01 letter").exits(0);
    is_refused_as(&bench, &bench, "filter", 2, &["done"]);
}

#[test]
fn hooks_that_can_not_be_put_in_place() {
    let bench = Bench::proven_by_true();
    let strange = bench.sh("echo nonsense | git-discern hook pre-push origin url").exits(1).shown();
    {
        let _stable = bench.stable_snapshots();
        insta::assert_snapshot!("error-strange-line", strange);
    }
    bench.git(&["config", "core.hooksPath", "/dev/null"]);
    is_refused(&bench, &bench, "hooks-turned-off", 2, &["hook", "install"]);
    is_refused(&bench, &bench, "hook-not-effective", 0, &["status"]);
}

#[test]
fn a_file_of_gits_own_that_is_damaged_is_named_as_that() {
    let bench = Bench::proven_by_true();
    let commands = [&["status"][..], &["done"], &["log"], &["verify"], &["show"]];
    for (file, content) in [(".git/HEAD", "garbage\n"), (".git/refs/heads/main", ""), (".git/packed-refs", "xxx\n")] {
        let before = std::fs::read(bench.path().join(file)).ok();
        bench.write(file, content);
        for arguments in commands {
            let refused = bench.discern(arguments).exits(5);
            let said = format!("/r/{file}` is damaged: ");
            assert!(refused.stderr.contains(&said), "{said}: {}", refused.shown());
        }
        match before {
            Some(before) => bench.write(file, before),
            None => std::fs::remove_file(bench.path().join(file)).expect("it was just written"),
        }
    }
    let commit = bench.head();
    bench.sh(&format!("mv .git/objects/{}/{} ../kept", &commit[..2], &commit[2..])).exits(0);
    for arguments in commands {
        let refused = bench.discern(arguments).exits(5);
        let said = format!("the object `{commit}` can't be read: the repository does not have it");
        assert!(refused.stderr.contains(&said), "{said}: {}", refused.shown());
    }
    let unknown = bench.discern(&["show", &"0123456789".repeat(4)]).exits(2);
    assert!(unknown.stderr.contains("does not name a commit"), "{}", unknown.shown());
}

#[test]
fn a_configuration_that_is_no_file_is_neither_waited_for_nor_sent_in_circles() {
    let bench = Bench::new();
    for made in ["mkfifo discern.toml", "mkdir discern.toml", "ln -s nowhere discern.toml"] {
        bench.sh(made).exits(0);
        let refused = bench.discern(&["init"]).exits(2);
        assert!(refused.stderr.contains("`discern.toml` is there, and is no file"), "{}", refused.shown());
        bench.discern(&["run"]).exits(2);
        bench.discern(&["doctor"]).exits(0);
        bench.sh("rm -r discern.toml").exits(0);
    }
}
