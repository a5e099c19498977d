//! Between two candidates a kept checkout becomes exactly the next one, whatever a job did to it.

use std::os::unix::fs::MetadataExt as _;

use super::{checkout, printed};
use crate::support::Bench;

/// A repository whose one job runs `run` and then fails unless it began in exactly the committed files.
fn vandal(bench: &Bench, run: &str) {
    bench.gate();
    let look = "git status --porcelain --ignored; cat file; stat -c %a file tool; test -f folder/inner && echo inner; ls; \
         find . -mindepth 2 -name .git; git symbolic-ref -q HEAD; git -C folder rev-parse HEAD:folder";
    bench.configure(&format!("[jobs.t]\ntouches = [\"*\"]\nrun = '''{look}\n{run}'''"));
    bench.write("file", "content\n");
    bench.write("tool", "#!/bin/sh\n");
    bench.write("folder/inner", "x");
    bench.write(".gitignore", "*.o\nkept\n");
    bench.git(&["add", "-A"]);
    bench.git(&["update-index", "--chmod=+x", "tool"]);
    let _ = bench.sh("chmod +x tool").exits(0);
    bench.git(&["commit", "-q", "-m", "first"]);
}

#[test]
fn what_a_job_changed_removed_or_left_is_mended_before_the_next() {
    let bench = Bench::new();
    vandal(&bench, "exit 1");
    let _ = bench.discern(&["done", "HEAD"]).exits(1);
    let clean = printed(&bench, "t");
    for damage in [
        "printf 'CONTENT\\n' > file; touch -d 2020-01-01 file",
        "rm -rf file folder",
        "chmod 600 file; chmod 755 file; chmod -x tool",
        "rm -rf folder; ln -s /etc folder",
        "rm file; mkdir file; touch file/x",
        "mkdir -p nested; git init -q nested; touch nested/a x.o; mkdir -p deep/er; touch deep/er/y",
        "git update-index --assume-unchanged file; echo other > file",
        "git update-index --skip-worktree file; rm file",
        "git rm -q --cached file; echo more >> tool; git add tool",
        "git checkout -q -B mine; echo mine > file; git -c user.name=j -c user.email=j@e commit -qam mine",
        "touch .git-index-lock; touch \"$(git rev-parse --git-dir)/index.lock\"",
        "rm .git",
        "echo garbage > \"$(git rev-parse --git-dir)/index\"",
        "echo garbage > \"$(git rev-parse --git-dir)/HEAD\"",
        "chmod 000 folder",
        "chmod a-w file tool",
        "chmod a-rwx .",
        "mkdir -p folder/.git/objects folder/.git/refs; echo ref: refs/heads/x > folder/.git/HEAD",
        "git init -q folder; git -C folder -c user.name=j -c user.email=j@e commit -q --allow-empty -m x",
        "git symbolic-ref HEAD refs/heads/main",
        "echo other > file; git stash -q; git stash drop -q",
        "git config core.fileMode false; chmod -x tool; chmod +x file",
        "git config extensions.worktreeConfig true; git config --worktree core.worktree /tmp",
        "git sparse-checkout set folder; rm -f file",
        "rm -rf \"$(git rev-parse --git-dir)\"",
        "mkfifo pipe; rm file; mkfifo file",
        "mv folder other; ln -s other folder",
        "rm -rf \"$PWD\"",
    ] {
        let bench = Bench::new();
        vandal(&bench, &format!("{damage}; exit 1"));
        let _ = bench.discern(&["done", "HEAD"]);
        assert_eq!(printed(&bench, "t"), clean, "{damage}: the first time");
        bench.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
        let _ = bench.discern(&["done", "HEAD", "--rerun"]);
        let twice = printed(&bench, "t");
        assert_eq!(twice.len(), 2 * clean.len(), "{damage}: {twice:#?}");
        assert_eq!(twice[clean.len()..], clean, "{damage}: the second time");
        if !damage.contains("garbage") {
            bench.git(&["fsck", "--strict"]);
        }
    }
}

#[test]
fn what_a_job_did_is_mended_before_the_next_of_a_range() {
    for damage in [
        "printf 'CONTENT\\n' > file; touch -d 2020-01-01 file",
        "mkdir -p nested; git init -q nested; touch nested/a x.o; mkdir -p deep/er; touch deep/er/y",
        "git checkout -q -B mine; touch \"$(git rev-parse --git-dir)/index.lock\"",
        "rm .git",
        "chmod 000 folder",
        "git init -q folder; rm file; mkfifo file",
        "rm -rf \"$PWD\"",
    ] {
        let bench = Bench::new();
        vandal(&bench, &format!("{damage}; exit 1"));
        for message in ["second", "third"] {
            bench.git(&["commit", "-q", "--allow-empty", "-m", message]);
        }
        let _ = bench.discern(&["done", "HEAD~2"]);
        let clean = printed(&bench, "t");
        let _ = bench.discern(&["done", "HEAD~2..HEAD", "--rerun"]);
        assert_eq!(printed(&bench, "t"), [&clean[..], &clean, &clean].concat(), "{damage}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_job_closed_to_its_owner_is_opened_or_made_anew() {
    for damage in [
        "chmod 000 folder file",
        "touch folder/x.o; chmod 555 folder .",
        "mkdir -p x.o/deep; touch x.o/deep/y; chmod 555 x.o/deep x.o",
        "chmod a-rwx .",
        "chmod 444 \"$(git rev-parse --git-dir)/index\"",
        "chmod 555 \"$(git rev-parse --git-dir)\"",
        "chmod 000 \"$(git rev-parse --git-dir)\"",
    ] {
        let bench = Bench::new();
        vandal(&bench, &format!("{damage}; exit 1"));
        let _ = bench.run(bench.bound_by_modes(&["done", "HEAD"]));
        let clean = printed(&bench, "t");
        assert!(!clean.is_empty(), "{damage}");
        bench.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
        let second = bench.run(bench.bound_by_modes(&["done", "HEAD", "--rerun"]));
        assert_eq!(printed(&bench, "t"), [&clean[..], &clean].concat(), "{damage}: {}", second.shown());
        assert_eq!(bench.git(&["worktree", "list"]).lines().count(), 2, "{damage}");
    }
}

#[test]
fn a_branch_that_a_job_attached_to_is_not_moved() {
    let bench = Bench::new();
    vandal(&bench, "git checkout -q -B mine; exit 1");
    let first = bench.head();
    let _ = bench.discern(&["done", "HEAD"]);
    bench.write("file", "next\n");
    bench.save("second");
    let _ = bench.discern(&["done", "HEAD"]);
    assert_eq!(bench.git(&["rev-parse", "mine"]), bench.head(), "the second job set it");
    bench.git(&["branch", "-f", "other", &first]);
    assert_eq!(bench.git(&["rev-parse", "other"]), first);
}

#[test]
fn kept_folders_and_the_times_of_unchanged_files_stay() {
    let bench = Bench::new();
    bench.gate();
    bench.configure("[jobs.t]\nrun = \"ls kept lost; mkdir -p kept lost sub/kept; touch kept/x lost/x sub/kept/x\"");
    bench.write("discern.toml", bench.read("discern.toml").replace("[gate]", "[gate]\nkeep = [\"kept\"]"));
    bench.write(".gitignore", "kept\nlost\n");
    bench.write("same", "1");
    bench.write("other", "1");
    bench.save("first");
    let _ = bench.discern(&["done", "HEAD"]);
    let top = checkout(&bench, 1);
    let stat = |name: &str| top.join(name).metadata().map(|meta| (meta.mtime_nsec(), meta.ctime_nsec(), meta.ino()));
    let (same, other) = (stat("same").expect("there"), stat("other").expect("there"));
    bench.write("other", "2");
    bench.save("second");
    let _ = bench.discern(&["done", "HEAD"]);
    assert_eq!(stat("same").expect("there"), same);
    assert_ne!(stat("other").expect("there"), other);
    assert!(stat("sub/kept/x").is_ok());
    let printed = printed(&bench, "t").join("\n");
    assert!(printed.contains("kept:\nx"), "{printed}");
    assert!(!printed.contains("lost:\nx"), "{printed}");
}

#[test]
fn what_is_kept_and_not_ignored_is_no_cache() {
    let bench = Bench::new();
    bench.gate();
    bench.write("discern.toml", "[gate]\ntrunk = \"main\"\nkeep = [\"kept\"]\n");
    bench.job("t", "ls; mkdir kept; touch kept/x; exit 1");
    bench.save("first");
    let _ = bench.discern(&["done", "HEAD"]);
    bench.save("second");
    let _ = bench.discern(&["done", "HEAD", "--rerun"]);
    assert_eq!(printed(&bench, "t"), ["discern.toml", "discern.toml"]);
}

#[test]
fn line_endings_links_and_odd_names_are_as_git_checks_them_out() {
    let bench = Bench::new();
    bench.gate();
    bench.write(
        ".gitattributes",
        "*.txt text eol=crlf\n*.u16 text working-tree-encoding=UTF-16LE-BOM\n*.up filter=up\n",
    );
    bench.git(&["config", "filter.up.smudge", "tr a-z A-Z"]);
    bench.git(&["config", "filter.up.clean", "tr A-Z a-z"]);
    bench.write("a.txt", "one\r\ntwo\r\n");
    bench.write("b.u16", b"\xff\xfea\0\n\0");
    bench.write("c.up", "LOUD\n");
    bench.write("sp ace/new\nline\"é", "x");
    bench.write(&format!("{}/{}", "d".repeat(200), "f".repeat(200)), "x");
    let _ = bench.sh("ln -s a.txt link; ln -s nowhere dangling").exits(0);
    bench.job(
        "t",
        "find . -name .git -prune -o ! -type d -print0 | sort -z | xargs -0 sha256sum 2>/dev/null; readlink link dangling",
    );
    bench.save("first");
    bench.git(&["checkout", "-q", "--", "."]);
    let here = bench
        .sh("find . -name .git -prune -o ! -type d -print0 | sort -z | xargs -0 sha256sum 2>/dev/null; readlink link dangling");
    let _ = bench.discern(&["done", "HEAD"]);
    assert_eq!(printed(&bench, "t").join("\n"), here.stdout.trim_end());
}

#[test]
fn a_sparse_worktree_has_whole_checkouts() {
    let bench = Bench::new();
    bench.gate();
    bench.job("t", "test -f in/a && test -f out/b");
    bench.write("in/a", "1");
    bench.write("out/b", "1");
    bench.save("first");
    bench.git(&["sparse-checkout", "set", "in"]);
    assert!(!bench.has("out/b"));
    let _ = bench.discern(&["done"]).exits(2);
    let _ = bench.discern(&["done", "--isolated"]).exits(0);
    assert!(!bench.has("out/b"));
}

#[test]
fn what_lies_where_a_submodule_would_be_is_removed() {
    let bench = Bench::new();
    bench.gate();
    bench.job("t", "ls -A module; git init -q module/inner; touch module/file; exit 1");
    let id = bench.git(&["commit-tree", "-m", "elsewhere", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"]);
    bench.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{id},module")]);
    bench.git(&["add", "discern.toml"]);
    bench.git(&["commit", "-q", "-m", "a module that nobody works with"]);
    let _ = bench.discern(&["done", "HEAD"]).exits(2);
    bench.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    let _ = bench.discern(&["done", "HEAD", "--rerun"]).exits(2);
    assert_eq!(printed(&bench, "t"), [""; 0]);
}

#[test]
fn settings_that_blind_git_to_modes_links_and_case_change_nothing() {
    let bench = Bench::new();
    bench.gate();
    bench.job("t", "test -x tool && test ! -x plain && test -L link && cat lower LOWER");
    for (name, content) in [("tool", "#!/bin/sh\n"), ("plain", "p\n"), ("lower", "small\n"), ("LOWER", "large\n")] {
        bench.write(name, content);
    }
    let _ = bench.sh("chmod +x tool; ln -s plain link").exits(0);
    bench.save("first");
    for setting in ["core.fileMode=false", "core.ignoreCase=true"] {
        let (key, value) = setting.split_once('=').expect("a setting");
        bench.git(&["config", key, value]);
        bench.write("plain", setting);
        bench.git(&["commit", "-q", "-m", setting, "plain"]);
        let _ = bench.discern(&["done", "HEAD"]).exits(0);
    }
    assert_eq!(printed(&bench, "t"), ["small", "large", "small", "large"]);
    // git writes files in the place of links now; that is not the commit.
    bench.git(&["config", "core.symlinks", "false"]);
    let _ = bench.sh("rm -rf home/.cache ../home/.cache").exits(0);
    let refused = bench.discern(&["done", "HEAD", "--rerun"]).exits(2);
    assert!(refused.stderr.contains("is not the commit, on this machine"), "{}", refused.shown());
}

#[test]
fn a_path_that_is_too_long_for_the_system_is_refused_with_gits_words() {
    let bench = Bench::new();
    bench.gate();
    bench.job("t", "true");
    bench.git(&["add", "-A"]);
    let id = bench.sh("echo x | git hash-object -w --stdin").exits(0).stdout;
    let path = vec!["n".repeat(250); 17].join("/");
    bench.git(&["update-index", "--add", "--cacheinfo", &format!("100644,{},{path}", id.trim())]);
    bench.git(&["commit", "-q", "-m", "long"]);
    let refused = bench.discern(&["done", "HEAD"]).exits(2);
    assert!(refused.stderr.contains("can't be checked out"), "{}", refused.shown());
}

#[test]
fn a_filter_process_that_fails_refuses_the_commit_and_is_asked_again() {
    let bench = Bench::new();
    bench.gate();
    bench.write(".gitattributes", "*.big filter=big\n");
    bench.git(&["config", "filter.big.clean", "cat > /dev/null; echo pointer"]);
    bench.git(&["config", "filter.big.smudge", "cat ../../../../../store"]);
    bench.git(&["config", "filter.big.required", "true"]);
    bench.job("t", "cat a.big");
    bench.write("a.big", "content");
    bench.save("first");
    let refused = bench.discern(&["done", "HEAD"]).exits(2);
    assert!(refused.stderr.contains("can't be checked out"), "{}", refused.shown());
    std::fs::write(bench.root().join("store"), "content\n").expect("writable");
    let _ = bench.discern(&["done", "HEAD"]).exits(0);
    assert_eq!(printed(&bench, "t"), ["content"]);
}

#[test]
fn two_pools_at_other_places_give_equal_subjects() {
    let bench = Bench::new();
    bench.gate();
    bench.job("t", "true");
    bench.save("first");
    let subject = |bench: &Bench| {
        let answer = bench.discern(&["done", "HEAD", "--json", "--rerun"]).exits(0).json();
        answer["requirements"][0]["subject"].as_str().map(str::to_owned)
    };
    let first = subject(&bench);
    let top = checkout(&bench, 1);
    bench.git(&["worktree", "remove", "--force", &top.to_string_lossy()]);
    let elsewhere = bench.root().join("another place/cache");
    let answer = bench
        .with_variable("XDG_CACHE_HOME", &elsewhere.to_string_lossy())
        .discern(&["done", "HEAD", "--json", "--rerun"])
        .exits(0)
        .json();
    assert!(elsewhere.is_dir());
    assert_eq!(answer["requirements"][0]["subject"].as_str().map(str::to_owned), first);
}
