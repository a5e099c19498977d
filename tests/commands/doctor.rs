//! `doctor`: what keeps runs from working, and its remedy.

use crate::support::{Bench, Hash, Refs};

/// The state of one check.
fn state(document: &serde_json::Value, code: &str) -> String {
    let checks = document["checks"].as_array().expect("a list");
    let check = checks.iter().find(|check| check["code"] == code).unwrap_or_else(|| panic!("{code}: {document:#}"));
    check["state"].as_str().expect("a word").to_owned()
}

#[test]
fn a_healthy_repository_of_each_kind_has_nothing_broken() {
    for (refs, hash) in [(Refs::Files, Hash::Sha1), (Refs::Reftable, Hash::Sha256)] {
        let bench = Bench::with(refs, hash);
        bench.gate();
        bench.job("ok", "true");
        bench.job("list", "ls");
        bench.save("first");
        bench.discern(&["done"]).exits(0);
        let document = bench.discern(&["doctor", "--json"]).exits(0).json();
        for code in ["git", "repository", "configuration", "commands", "store", "processes", "claims", "locks", "space"]
        {
            assert_eq!(state(&document, code), "good", "{document:#}");
        }
        assert_eq!(state(&document, "hook"), "note");
        bench.discern(&["hook", "install"]).exits(0);
        assert_eq!(state(&bench.discern(&["doctor", "--json"]).exits(0).json(), "hook"), "good");
    }
}

#[test]
fn what_is_broken_is_named_with_what_mends_it() {
    let bench = Bench::new();
    bench.gate();
    bench.job("odd", "no-such-program --check");
    bench.save("first");
    let name = format!("refs/discern/attempt/{}", bench.head());
    bench.write(&format!(".git/{name}.lock"), "");
    bench.sh(&format!("touch -d '1 hour ago' .git/{name}.lock")).exits(0);
    let doctor = bench.discern(&["doctor"]).exits(2);
    for said in ["not executable: `no-such-program` (job `odd`)", &format!("git discern recover --break-lock {name}")] {
        assert!(doctor.stdout.contains(said), "{said}: {}", doctor.shown());
    }
    bench.write("discern.toml", "[jobs\n");
    let doctor = bench.discern(&["doctor"]).exits(2);
    assert!(doctor.stdout.contains("broken as it stands in the worktree"), "{}", doctor.shown());
    bench.save("broken");
    let document = bench.discern(&["doctor", "--json"]).exits(2).json();
    assert_eq!(state(&document, "configuration"), "broken");
}

#[test]
fn what_is_surplus_is_dropped_where_that_is_asked_for() {
    let bench = Bench::proven_by_true();
    bench.discern(&["done"]).exits(0);
    bench.write(".git/discern/seen/.tmp-left", "");
    bench.sh("touch -d '2 hours ago' .git/discern/seen/.tmp-left").exits(0);
    assert_eq!(state(&bench.discern(&["doctor", "--json"]).exits(0).json(), "space"), "note");
    assert_eq!(state(&bench.discern(&["doctor", "--fix", "--json"]).exits(0).json(), "space"), "mended");
    assert!(!bench.has(".git/discern/seen/.tmp-left"));
    assert_eq!(state(&bench.discern(&["doctor", "--json"]).exits(0).json(), "space"), "good");
}

#[test]
fn an_empty_repository_and_a_bare_one_are_no_fault() {
    let bench = Bench::new();
    let document = bench.discern(&["doctor", "--json"]).exits(0).json();
    assert_eq!(state(&document, "configuration"), "note");
    let bare = bench.remote();
    bare.discern(&["doctor"]).exits(0);
}

#[test]
fn what_only_a_shell_can_say_is_not_called_missing() {
    let bench = Bench::new();
    bench.gate();
    bench.job("set", "V=$(git describe --always) true");
    bench.job("counted", "n=$(grep -c x f.txt); test $n -lt 3");
    bench.job("function", "check() { true; }; check");
    bench.job("built", "./made/by/another");
    bench.configure("needs = [\"set\"]");
    bench.save("first");
    assert_eq!(state(&bench.discern(&["doctor", "--json"]).exits(0).json(), "commands"), "good");
}

#[test]
fn inputs_that_a_run_would_refuse_are_named_where_they_are_written() {
    let bench = Bench::new();
    bench.gate();
    bench.job("test", "true");
    bench.configure("inputs = [\"discern.toml\", \"srcs/**\"]");
    bench.save("first");
    let doctor = bench.discern(&["doctor"]).exits(2);
    let line = bench.read("discern.toml").lines().position(|line| line.contains("srcs")).expect("it is there") + 1;
    let said = format!("`srcs/**` in `inputs` selects no file of the commit, discern.toml:{line}:27");
    assert!(doctor.stdout.contains(&said), "{said}: {}", doctor.shown());
    let refused = bench.discern(&["done"]).exits(2);
    let shown = format!("--> discern.toml:{line}:27\n");
    assert!(refused.stderr.contains(&shown) && refused.stderr.contains("^^^^^^^^^"), "{shown}: {}", refused.shown());
}

#[test]
fn a_hook_of_ours_that_lost_its_mode_is_mended_and_no_other() {
    let bench = Bench::proven_by_true();
    bench.discern(&["hook", "install"]).exits(0);
    bench.sh("chmod 644 .git/hooks/pre-push").exits(0);
    assert_eq!(state(&bench.discern(&["doctor", "--json"]).exits(0).json(), "hook"), "note");
    assert_eq!(state(&bench.discern(&["doctor", "--fix", "--json"]).exits(0).json(), "hook"), "mended");
    assert_eq!(state(&bench.discern(&["doctor", "--json"]).exits(0).json(), "hook"), "good");
    bench.write(".git/hooks/pre-push", "#!/bin/sh\nexit 0\n");
    bench.sh("chmod 644 .git/hooks/pre-push").exits(0);
    assert_eq!(state(&bench.discern(&["doctor", "--fix", "--json"]).exits(0).json(), "hook"), "note");
    bench.sh("test ! -x .git/hooks/pre-push").exits(0);
}

#[test]
fn journals_that_retention_no_longer_keeps_are_surplus_and_go() {
    let bench = Bench::proven_by_true();
    bench.discern(&["run"]).exits(0);
    // What a crash left is no journal, and goes as one does.
    bench.write(".git/discern/run/R1-27HW-QFWJ-0S/journal", "garbage\n");
    let old = "s/\"started_at\":\"20../\"started_at\":\"2001/";
    bench.sh(&format!("sed -i '1{old}' .git/discern/run/*/journal")).exits(0);
    bench.discern(&["gc"]).exits(0);
    assert_eq!(bench.sh("ls .git/discern/run").exits(0).stdout, "R1-27HW-QFWJ-0S\n", "it is young");
    bench.discern(&["run"]).exits(0);
    bench.sh(&format!("sed -i '1{old}' .git/discern/run/*/journal")).exits(0);
    bench.sh("touch -d '9 days ago' .git/discern/run/R1-27HW-QFWJ-0S").exits(0);
    assert_eq!(state(&bench.discern(&["doctor", "--json"]).exits(0).json(), "space"), "note");
    let mended = bench.discern(&["doctor", "--fix", "--json"]).exits(0).json();
    assert_eq!((state(&mended, "space"), state(&mended, "journals")), ("mended".to_owned(), "good".to_owned()));
    assert_eq!(bench.sh("ls .git/discern/run").exits(0).stdout, "");
}

#[test]
fn what_kept_checkouts_take_up_is_said_with_where_they_are() {
    let bench = Bench::new();
    bench.write(".gitignore", "big\n");
    bench.write("discern.toml", "[gate]\nkeep = [\"big\"]\n[jobs.big]\nrun = \"head -c 3145728 /dev/zero > big\"\n");
    bench.save("first");
    bench.discern(&["done", "--isolated"]).exits(0);
    let document = bench.discern(&["doctor", "--json"]).exits(0).json();
    let checks = document["checks"].as_array().expect("a list");
    let kept = checks.iter().find(|it| it["code"] == "checkouts").expect("there is one");
    let said = kept["message"].as_str().expect("text");
    assert!(said.starts_with("1 kept checkout in ") && said.contains(", 3."), "{said}");
}

#[test]
fn a_repository_that_can_not_be_written_is_one_finding_with_what_helps() {
    let bench = Bench::proven_by_true();
    bench.discern(&["done"]).exits(0);
    bench.save("second");
    let read_only = |command: &str| {
        let script = format!("mount --bind . . && mount -o remount,bind,ro . && cd \"$PWD\" && {command}");
        bench.run(bench.command("unshare", &["--user", "--map-root-user", "--mount", "sh", "-c", &script]))
    };
    if read_only("true").status != 0 {
        return;
    }
    let doctor = read_only("git-discern doctor").exits(2);
    assert_eq!(doctor.stdout.matches("broken").count(), 1, "{}", doctor.shown());
    for said in ["can't be written: Read-only file system\n", "advice: ", "make it writable"] {
        assert!(doctor.stdout.contains(said), "{said}: {}", doctor.shown());
    }
    for command in ["done", "run", "standards", "done --isolated", "recover --forget HEAD~1", "hook install"] {
        let refused = read_only(&format!("git-discern {command}"));
        assert!(refused.status == 5 || refused.status == 2, "{command}: {}", refused.shown());
        if command == "standards" {
            continue;
        }
        for said in ["error: could not ", "/r/.git/", ": Read-only file system\n", "make it writable"] {
            assert!(refused.stderr.contains(said), "{command}: {said}: {}", refused.shown());
        }
        assert!(!refused.stderr.contains("os error"), "{}", refused.shown());
    }
    // Where there is nothing to do, nothing has to be writable.
    for command in ["recover", "hook uninstall", "gc", "status", "log", "show HEAD~1", "verify HEAD~1"] {
        let done = read_only(&format!("git-discern {command}"));
        assert_eq!(done.status, 0, "{command}: {}", done.shown());
    }
    read_only("git-discern doctor --fix").exits(2);
}

#[test]
fn a_file_where_a_folder_of_ours_has_to_be_is_named() {
    let bench = Bench::proven_by_true();
    for file in [".git/refs/discern", ".git/discern"] {
        bench.write(file, "");
        let doctor = bench.discern(&["doctor"]).exits(2);
        let said = format!("/{file}` is in the way");
        assert!(doctor.stdout.contains(&said), "{said}: {}", doctor.shown());
        bench.sh(&format!("rm {file}")).exits(0);
    }
}
