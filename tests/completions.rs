//! What the shells offer at the cursor.

use crate::support::{Bench, Outcome, Place};

/// What a completion script's runtime call offers for the words before the cursor and the one at it.
fn offered(place: &Place, words: &[&str]) -> Vec<String> {
    let index = (words.len() - 1).to_string();
    let place = place.with_variable("DISCERN_COMPLETE", "bash").with_variable("_CLAP_COMPLETE_INDEX", &index);
    let arguments = [&["--"], words].concat();
    let outcome = place.discern(&arguments).exits(0);
    outcome.stdout.lines().map(str::to_owned).collect()
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.gate();
    bench.job("lint", "true");
    bench.job("list", "true");
    bench.standard("lines", "down", "5", "echo DISCERN_METRIC lines 5");
    bench.save("first");
    bench.git(&["branch", "topic"]);
    bench.git(&["tag", "v1"]);
    bench
}

#[test]
fn jobs_standards_and_revisions_of_the_place_are_offered() {
    let bench = bench();
    assert_eq!(offered(&bench, &["git-discern", "run", "li"]), ["lint", "list"]);
    assert_eq!(offered(&bench, &["git-discern", "standards", "l"]), ["lines"]);
    assert_eq!(offered(&bench, &["git-discern", "verify", ""])[..4], ["HEAD", "main", "topic", "v1"]);
    assert_eq!(offered(&bench, &["git-discern", "expl"]), ["explain"]);
}

#[test]
fn after_rerun_come_names_and_no_revisions() {
    let bench = bench();
    assert_eq!(offered(&bench, &["git-discern", "done", "--rerun", "l"]), ["lint", "list", "lines"]);
    let all = offered(&bench, &["git-discern", "done", "--rerun", "lint", ""]);
    assert!(all.contains(&"list".to_owned()) && !all.contains(&"main".to_owned()), "{all:?}");
    assert!(offered(&bench, &["git-discern", "done", "--rerun", "--wait", ""]).contains(&"main".to_owned()));
}

#[test]
fn outside_a_repository_and_in_a_broken_one_nothing_is_offered_and_nothing_said() {
    let bench = bench();
    let outside = bench.at(bench.root().join("tmp"));
    assert_eq!(offered(&outside, &["git-discern", "run", "li"]), Vec::<String>::new());
    bench.write("discern.toml", "[jobs");
    assert_eq!(offered(&bench, &["git-discern", "run", "li"]), Vec::<String>::new());
}

/// Runs `script` in `shell`; nothing where there is no such shell.
fn in_shell(place: &Place, shell: &[&str], script: &str) -> Option<Outcome> {
    let is_there = place.sh(&format!("command -v {}", shell[0])).status == 0;
    is_there.then(|| place.run(place.command(shell[0], &[&shell[1..], &["-c", script]].concat())))
}

#[test]
fn bash_completes_git_discern_where_git_is_completed() {
    let bench = bench();
    let script = r#"
        source <(git-discern completions bash)
        # As git's own completion calls it for: git -c x discern run li<TAB>
        words=(git -c x.y=z discern run li) cword=5 __git_cmd_idx=3 COMP_TYPE=9
        _git_discern 2>&1
        echo "${COMPREPLY[*]}"
        COMP_WORDS=(git-discern run li) COMP_CWORD=2
        _clap_complete_git_discern git-discern li run 2>&1
        echo "${COMPREPLY[*]}"
    "#;
    if let Some(outcome) = in_shell(&bench, &["bash", "--norc"], script) {
        let outcome = outcome.exits(0);
        assert_eq!(outcome.stdout.split_whitespace().collect::<Vec<_>>(), ["lint", "list"].repeat(2));
    }
}

#[test]
fn fish_completes_git_discern() {
    let bench = bench();
    let script =
        "git-discern completions fish | source; complete -C 'git-discern run li'; complete -C 'git discern run li'";
    if let Some(outcome) = in_shell(&bench, &["fish", "--no-config"], script) {
        let outcome = outcome.exits(0);
        assert_eq!(outcome.stdout.split_whitespace().collect::<Vec<_>>(), ["lint", "list"].repeat(2));
    }
}

#[test]
fn zsh_takes_the_script() {
    let bench = bench();
    let script =
        "autoload -U compinit && compinit -u -D; source <(git-discern completions zsh); whence -w _git-discern";
    if let Some(outcome) = in_shell(&bench, &["zsh", "-f"], script) {
        let outcome = outcome.exits(0);
        assert_eq!(outcome.stdout.trim(), "_git-discern: function", "{}", outcome.shown());
    }
}
