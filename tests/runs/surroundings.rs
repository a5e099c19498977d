//! What a job finds around it, started by a whole run: no input, no terminal, none of git's variables; and what it may not do.

use std::collections::BTreeSet;
use std::process::Stdio;

use super::scene::Scene;
use crate::support::{Bench, Terminal};

/// The variables that `env -0` printed into `../seen`.
fn seen(scene: &Scene) -> BTreeSet<String> {
    let text = scene.read("../seen");
    text.split('\0').filter_map(|entry| entry.split_once('=')).map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn a_job_has_neither_input_nor_terminal() {
    let scene = Scene::new();
    scene.act("input", "count-input");
    scene.act("terminal", "terminal");
    scene.save("first");
    let mut terminal = Terminal::new(80, 24);
    let running = terminal.start(&scene, &["done", "--keep-going"]);
    terminal.enter(b"something typed ahead\n");
    let _ = terminal.follow(running).exits(1);
    assert_eq!(scene.output("input"), "input: 0 bytes\n");
    assert!(scene.output("terminal").starts_with("no terminal"), "{}", scene.output("terminal"));
    let mut command = scene.discern_command(&["done", "--rerun"]);
    command.stdin(Stdio::piped());
    let _ = scene.run(command).exits(1);
    assert_eq!(scene.output("input"), "input: 0 bytes\n");
}

#[test]
fn nothing_of_gits_own_reaches_a_job() {
    let scene = Scene::running("env -0 >../seen");
    let local = scene.git(&["rev-parse", "--local-env-vars"]);
    let hooks =
        "GIT_PREFIX GIT_QUARANTINE_PATH GIT_EXEC_PATH GIT_EDITOR GIT_AUTHOR_DATE GIT_REFLOG_ACTION GIT_NAMESPACE";
    // Those that would make git itself look elsewhere get values that change nothing.
    let git_dir = scene.path().join(".git").display().to_string();
    let mut place = scene.at(scene.path());
    for name in local.lines().chain(hooks.split(' ')) {
        let value = match name {
            "GIT_DIR" | "GIT_COMMON_DIR" => &git_dir,
            "GIT_WORK_TREE" => ".",
            "GIT_INDEX_FILE" => &format!("{git_dir}/index"),
            "GIT_OBJECT_DIRECTORY" => &format!("{git_dir}/objects"),
            "GIT_CONFIG_COUNT" => "1",
            "GIT_CONFIG_PARAMETERS" => "'x.y'='z'",
            "GIT_AUTHOR_DATE" => "2001-01-01T00:00:00Z",
            "GIT_EXEC_PATH" | "GIT_NAMESPACE" | "GIT_SHALLOW_FILE" | "GIT_GRAFT_FILE" | "GIT_QUARANTINE_PATH" => {
                continue;
            }
            _ => "",
        };
        place = place.with_variable(name, value);
    }
    let place = place.with_variable("GIT_CONFIG_KEY_0", "x.y").with_variable("GIT_CONFIG_VALUE_0", "z");
    let _ = place.discern(&["done"]).exits(0);
    let seen = seen(&scene);
    let leaked: Vec<_> =
        seen.iter().filter(|name| name.starts_with("GIT_") && *name != "GIT_CONFIG_NOSYSTEM").collect();
    assert!(leaked.is_empty(), "{leaked:?}");
    assert!(seen.contains("DISCERN_ATTEMPT") && seen.contains("HOME"));
}

#[test]
fn a_job_started_by_a_hook_writes_into_no_repository_of_the_users() {
    let scene = Scene::running(
        "mkdir ../new && cd ../new && git init -q && git commit -q --allow-empty -m inner && git rev-parse HEAD",
    );
    scene.write(".git/hooks/post-commit", "#!/bin/sh\nexec git discern done >../hook 2>&1\n");
    let _ = scene.sh("chmod +x .git/hooks/post-commit").exits(0);
    let before = scene.git(&["rev-list", "--all", "--count"]);
    let _ = scene.sh("git commit -q --allow-empty -m outer").exits(0);
    assert_eq!(scene.record()["state"]["outcome"], "passed", "{}", scene.read("../hook"));
    // The commit itself and nothing more on any branch.
    assert_eq!(
        scene.git(&["rev-list", "--branches", "--count"]),
        (before.parse::<u32>().expect("a number") + 1).to_string()
    );
    assert_eq!(scene.at("../new").git(&["log", "--format=%s"]), "inner");
}

#[test]
fn strict_gives_the_short_list_and_what_is_declared() {
    let scene = Scene::new();
    scene.write("discern.toml", "[gate]\ntrunk = \"main\"\nenvironment = \"strict\"\n");
    scene.configure("[jobs.job]\nrun = \"env -0 >../seen\"\nenv = [\"DECLARED\", \"ABSENT\"]");
    scene.save("first");
    let place = scene.with_variable("DECLARED", "1").with_variable("SECRET", "1").with_variable("LC_TIME", "C");
    let _ = place.discern(&["done"]).exits(0);
    let seen = seen(&scene);
    let expected = ["HOME", "PATH", "USER", "SHELL", "TERM", "TMPDIR", "TZ", "LC_ALL", "LC_TIME", "DECLARED"];
    assert!(expected.iter().all(|name| seen.contains(*name)), "{seen:?}");
    let ours = seen.iter().filter(|name| name.starts_with("DISCERN")).count();
    // `PWD`, and what the shell sets itself.
    let rest: Vec<_> = seen
        .iter()
        .filter(|name| !expected.contains(&name.as_str()) && !name.starts_with("DISCERN"))
        .filter(|name| !["PWD", "SHLVL", "_", "OLDPWD"].contains(&name.as_str()))
        .collect();
    assert!(rest.is_empty(), "{rest:?}");
    assert!(ours >= 4);
}

#[test]
fn a_run_inside_a_job_of_the_same_repository_is_refused_and_in_another_it_works() {
    let other = Bench::proven_by_true();
    let scene = Scene::running(&format!(
        "git discern done 2>../same; echo $? >>../same; cd '{}' && git discern done",
        other.path().display()
    ));
    let _ = scene.discern(&["done"]).exits(0);
    let same = scene.read("../same");
    assert!(same.contains("job `job`") && same.contains("wait for itself"), "{same}");
    assert!(same.ends_with("2\n"), "{same}");
    let _ = other.discern(&["verify"]).exits(0);
    scene.assert_nobody_left();
}

#[test]
fn a_run_inside_a_job_of_the_same_repository_is_refused_from_a_linked_worktree_as_well() {
    let scene = Scene::running("cd ../linked && git discern done 2>../same; echo $? >>../same");
    let _linked = scene.worktree("linked");
    let _ = scene.discern(&["done"]).exits(0);
    assert!(scene.read("../same").ends_with("2\n"), "{}", scene.read("../same"));
}

#[test]
fn a_program_that_is_not_there_is_named_with_the_path_that_the_job_had() {
    let scene = Scene::new();
    scene.configure(
        "[jobs.list]\nrun = [\"no-such-program\"]\n[jobs.shell]\nrun = \"echo $PATH >../path; no-such-program\"",
    );
    scene.save("first");
    // As `git` starts us: with its own directory in front.
    let document = scene.run(scene.command("git", &["discern", "done", "--json", "--keep-going"])).exits(1).json();
    let path = scene.read("../path").trim().to_owned();
    for requirement in document["requirements"].as_array().expect("a list") {
        let reason = requirement["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("`no-such-program` could not be started"), "{reason}");
        let log = scene.read(requirement["log"].as_str().expect("a log"));
        assert!(log.contains(&format!("PATH is `{path}`")) && !reason.contains(&path), "{reason}\n{log}\nnot {path}");
    }
}

#[test]
fn death_by_a_signal_is_said_in_words_and_by_name() {
    let scene = Scene::of("die 11");
    let document = scene.discern(&["done", "--json"]).exits(1).json();
    let requirement = &document["requirements"][0];
    assert_eq!(requirement["signal"], "SIGSEGV", "{requirement:#}");
    assert!(requirement["reason"].as_str().unwrap_or_default().contains("was killed by SIGSEGV (signal 11)"));
    assert!(requirement["exit_code"].is_null());
}
