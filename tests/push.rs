//! Real pushes through the installed hook: what leaves, what does not, and what is said.

use crate::support::{Bench, Hash, Outcome, Place, Refs};

fn prove(place: &Place) {
    let _ = place.discern(&["done"]).exits(0);
}

fn push(place: &Place, arguments: &[&str]) -> Outcome {
    place.try_git(&[&["push", "-q"][..], arguments].concat())
}

/// How many commits a refusal says stop it.
#[track_caller]
fn stopped(outcome: Outcome, commits: &str) -> Outcome {
    let outcome = outcome.exits(1);
    assert!(outcome.stderr.contains(&format!("this push is stopped: {commits} not proven")), "{}", outcome.shown());
    outcome
}

#[test]
fn a_proven_commit_leaves_in_silence_and_an_unproven_one_does_not() {
    let bench = Bench::guarded();
    assert_eq!(push(&bench, &["origin", "main"]).exits(0).stderr, "");
    bench.save("second");
    let refused = stopped(push(&bench, &["origin", "main"]), "1 commit is");
    let commit = &bench.head()[..10];
    for part in [commit, "second", "it was never proven", "refs/heads/main", "git discern done", "--no-verify"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.shown());
    }
    let _ = push(&bench, &["--no-verify", "origin", "main"]).exits(0);
}

#[test]
fn deletions_pass_and_what_is_pushed_beside_them_is_judged() {
    let bench = Bench::guarded();
    let _ = push(&bench, &["origin", "main", "main:old"]).exits(0);
    bench.save("second");
    let _ = push(&bench, &["origin", ":old"]).exits(0);
    let _ = stopped(push(&bench, &["origin", ":main", "main:x"]), "1 commit is");
}

#[test]
fn the_pushed_id_is_judged_and_not_head() {
    let bench = Bench::guarded();
    bench.git(&["switch", "-q", "-c", "other"]);
    bench.save("unproven");
    bench.git(&["switch", "-q", "main"]);
    let refused = stopped(push(&bench, &["origin", "other"]), "1 commit is");
    let mends = format!("mend it: git discern done {}\n", &bench.git(&["rev-parse", "other"]).trim()[..10]);
    assert!(refused.stderr.contains(&mends), "{}", refused.shown());
    bench.git(&["switch", "-q", "other"]);
    let _ = push(&bench, &["origin", "main"]).exits(0);
}

#[test]
fn a_branch_does_not_excuse_itself_where_trunk_cannot_be_read() {
    let bench = Bench::guarded();
    let _ = push(&bench, &["origin", "main"]).exits(0);
    bench.git(&["switch", "-q", "-c", "other"]);
    let text = bench.read("discern.toml");
    bench.write("discern.toml", format!("{text}\n[push]\nrequire = [\"refs/heads/release\"]\n"));
    bench.save("excuses itself");
    let _ = stopped(push(&bench, &["origin", "other"]), "1 commit is");
    bench.write(".git/refs/remotes/origin/main", "no ref at all");
    let refused = push(&bench, &["origin", "other"]).exits(1);
    assert!(refused.stderr.contains("refs/remotes/origin/main"), "{}", refused.shown());
}

#[test]
fn the_command_proves_the_commit_from_where_the_push_was_and_moves_nothing() {
    let bench = Bench::guarded();
    let linked = bench.worktree("topic");
    linked.save("unproven");
    let refused = stopped(push(&bench, &["origin", "topic"]), "1 commit is");
    let commit = linked.head()[..10].to_owned();
    assert!(refused.stderr.contains(&format!("mend it: git discern done {commit}\n")), "{}", refused.shown());
    let refused = stopped(push(&linked, &["origin", "topic"]), "1 commit is");
    assert!(refused.stderr.contains("mend it: git discern done"), "{}", refused.shown());
}

#[test]
fn one_unproven_commit_is_named_once_for_all_its_refs() {
    let bench = Bench::guarded();
    bench.configure("[push]\nrequire = [\"refs/**\"]\ntags = \"tip\"");
    bench.save("policy");
    for tag in ["t1", "t2", "t3"] {
        bench.git(&["tag", "-a", "-m", tag, tag]);
    }
    let refused = stopped(push(&bench, &["--tags", "origin"]), "1 commit is");
    assert!(refused.stderr.contains("refs/tags/t1, refs/tags/t2, refs/tags/t3"), "{}", refused.shown());
}

#[test]
fn tags_pass_unless_trunk_says_otherwise() {
    let bench = Bench::guarded();
    bench.save("unproven");
    bench.git(&["tag", "v1"]);
    let _ = push(&bench, &["origin", "v1"]).exits(0);
}

#[test]
fn refs_outside_require_pass() {
    let bench = Bench::guarded();
    bench.configure("[push]\nrequire = [\"refs/heads/main\", \"refs/heads/release/*\"]");
    bench.save("policy");
    let _ = push(&bench, &["origin", "HEAD:refs/for/main", "HEAD:refs/heads/topic"]).exits(0);
    prove(&bench);
    bench.save("unproven");
    let _ = stopped(push(&bench, &["origin", "HEAD:refs/heads/release/1"]), "1 commit is");
    let _ = push(&bench, &["origin", "HEAD:refs/heads/release/1/x"]).exits(0);
}

#[test]
fn a_branch_can_not_excuse_itself() {
    let bench = Bench::guarded();
    let _ = push(&bench, &["origin", "main"]).exits(0);
    bench.git(&["switch", "-q", "-c", "sly"]);
    bench.configure("[push]\nrequire = [\"refs/heads/nothing\"]");
    bench.save("excused");
    let _ = stopped(push(&bench, &["origin", "sly"]), "1 commit is");
    bench.write(
        "discern.toml",
        "[gate]\ntrunk = \"sly\"\n[jobs.ok]\nrun = \"true\"\n[push]\nrequire = [\"refs/heads/nothing\"]\n",
    );
    bench.save("another trunk");
    let _ = stopped(push(&bench, &["origin", "sly"]), "1 commit is");
    // Not even trunk itself, until the change was proven and pushed.
    let _ = stopped(push(&bench, &["origin", "sly:main"]), "1 commit is");
    prove(&bench);
    let _ = push(&bench, &["origin", "sly:main"]).exits(0);
    bench.save("now excused");
    let _ = push(&bench, &["origin", "sly"]).exits(0);
}

#[test]
fn a_commit_that_the_remote_has_passes_with_a_word() {
    let bench = Bench::guarded();
    bench.save("unproven");
    let _ = push(&bench, &["--no-verify", "origin", "main"]).exits(0);
    let passed = push(&bench, &["origin", "main:second", "main~1:refs/heads/third"]).exits(0);
    let word = format!("refs/heads/second: the remote has {} already; it is not proven", &bench.head()[..10]);
    assert!(passed.stderr.contains(&word), "{}", passed.shown());
    assert!(!passed.stderr.contains("third"), "{}", passed.shown());
}

#[test]
fn what_another_remote_has_is_new_to_this_one() {
    let bench = Bench::guarded();
    bench.save("unproven");
    bench.git(&["init", "-q", "--bare", "../fork.git"]);
    bench.git(&["remote", "add", "origin/fork", "../fork.git"]);
    let _ = push(&bench, &["--no-verify", "origin/fork", "main"]).exits(0);
    let _ = stopped(push(&bench, &["origin", "main"]), "1 commit is");
}

#[test]
fn a_forced_push_to_an_unproven_commit_is_stopped() {
    let bench = Bench::guarded();
    let _ = push(&bench, &["origin", "main"]).exits(0);
    bench.git(&["commit", "-q", "--amend", "-m", "amended"]);
    let _ = stopped(push(&bench, &["--force", "origin", "main"]), "1 commit is");
    prove(&bench);
    let _ = push(&bench, &["--force", "origin", "main"]).exits(0);
}

#[test]
fn only_the_tip_counts_unless_each_commit_must_be_proven() {
    let bench = Bench::guarded();
    let _ = push(&bench, &["origin", "main"]).exits(0);
    bench.save("in between");
    bench.save("tip");
    prove(&bench);
    let _ = push(&bench, &["origin", "main:tips"]).exits(0);
    bench.configure("[push]\ncommits = \"all\"");
    bench.save("policy");
    prove(&bench);
    let _ = push(&bench, &["origin", "main"]).exits(0);
    bench.save("one");
    bench.save("two");
    bench.save("three");
    prove(&bench);
    let refused = stopped(push(&bench, &["origin", "main"]), "2 commits are");
    assert!(refused.stderr.contains("one") && refused.stderr.contains("two") && !refused.stderr.contains("three"));
    let commit = bench.git(&["rev-parse", "HEAD~1"]).trim()[..10].to_owned();
    assert!(refused.stderr.contains(&format!("mend it: git discern done {commit}\n")), "{}", refused.shown());
}

#[test]
fn pushes_by_url_of_a_detached_head_and_with_a_rename_are_judged() {
    let bench = Bench::guarded();
    bench.git(&["switch", "-q", "--detach"]);
    let _ = push(&bench, &["../o.git", "HEAD:refs/heads/a"]).exits(0);
    bench.save("unproven");
    let _ = stopped(push(&bench, &["../o.git", "HEAD:refs/heads/b"]), "1 commit is");
    let _ = push(&bench, &["--no-verify", "origin", "HEAD:refs/heads/c"]).exits(0);
    // By its URL the remote is known, too.
    let _ = push(&bench, &["../o.git", "HEAD:refs/heads/d"]).exits(0);
    let refused = bench.save("again");
    let odd = stopped(push(&bench, &["origin", "HEAD^{/again}:refs/heads/e"]), "1 commit is");
    assert!(odd.stderr.contains(&refused[..10]), "{}", odd.shown());
}

#[test]
fn a_mirror_push_judges_branches_and_lets_our_own_refs_through() {
    let bench = Bench::guarded();
    let _ = push(&bench, &["--mirror", "origin"]).exits(0);
    bench.configure("[push]\nrequire = [\"refs/**\"]");
    bench.save("policy");
    let _ = stopped(push(&bench, &["--mirror", "origin"]), "1 commit is");
    prove(&bench);
    let _ = push(&bench, &["--mirror", "origin"]).exits(0);
}

#[test]
fn nothing_to_push_is_nothing_to_judge() {
    let bench = Bench::guarded();
    let _ = push(&bench, &["origin", "main"]).exits(0);
    let _ = push(&bench, &["origin", "main"]).exits(0);
    let _ = bench.sh("sh .git/hooks/pre-push origin x </dev/null").exits(0);
}

#[test]
fn shallow_and_partial_clones_are_judged() {
    let bench = Bench::guarded();
    bench.save("second");
    let _ = push(&bench, &["--no-verify", "origin", "main"]).exits(0);
    bench.at("../o.git").git(&["config", "uploadpack.allowFilter", "true"]);
    for (name, option) in [("shallow", "--depth=1"), ("partial", "--filter=blob:none")] {
        let url = format!("file://{}", bench.root().join("o.git").display());
        bench.git(&["clone", "-q", option, &url, &format!("../{name}")]);
        let clone = bench.at(bench.root().join(name));
        let _ = clone.discern(&["hook", "install"]).exits(0);
        clone.save("third");
        let _ = stopped(push(&clone, &["origin", &format!("HEAD:refs/heads/{name}")]), "1 commit is");
        prove(&clone);
        let _ = push(&clone, &["origin", &format!("HEAD:refs/heads/{name}")]).exits(0);
    }
}

#[test]
fn the_hook_never_runs_a_job_and_never_looks_at_the_folder() {
    let bench = Bench::guarded();
    bench.job("loud", "touch ../ran");
    bench.save("loud");
    bench.write("discern.toml", "[jobs");
    bench.write("untracked", "");
    let _ = stopped(push(&bench, &["origin", "main"]), "1 commit is");
    assert!(!bench.has("../ran"));
    let _ = push(&bench, &["origin", "main~1:refs/heads/x"]).exits(0);
}

#[test]
fn another_checkouts_broken_file_stops_nobody() {
    let bench = Bench::guarded();
    let linked = bench.worktree("wt");
    bench.write("discern.toml", "[jobs");
    linked.save("second");
    prove(&linked);
    let _ = push(&linked, &["origin", "wt"]).exits(0);
}

#[test]
fn a_claim_in_progress_is_named_with_its_wait_line() {
    let bench = Bench::guarded();
    bench.job("slow", "echo > ../started; read line < ../fifo");
    bench.save("slow");
    let _ = bench.sh("mkfifo ../fifo").exits(0);
    let running = bench.start(&["done"]);
    crate::support::wait_for("the job", || bench.has("../started"));
    let refused = stopped(push(&bench, &["origin", "main"]), "1 commit is");
    assert!(refused.stderr.contains("git discern wait R1-"), "{}", refused.shown());
    let _ = bench.sh("echo > ../fifo").exits(0);
    let _ = running.wait().exits(0);
    let _ = push(&bench, &["origin", "main"]).exits(0);
}

#[test]
fn what_can_not_be_known_stops_the_push() {
    let bench = Bench::guarded();
    let commit = bench.head();
    let _ = bench
        .sh(&format!("git update-ref refs/discern/attempt/{commit} $(echo '{{' | git hash-object -w --stdin)"))
        .exits(0);
    let refused = stopped(push(&bench, &["origin", "main"]), "1 commit is");
    assert!(refused.stderr.contains("can't be read"), "{}", refused.shown());
    let strange = bench.sh("echo strange | git-discern hook pre-push origin x").exits(1);
    assert!(strange.stderr.contains("no line that git writes"), "{}", strange.shown());
}

#[test]
fn a_commit_without_a_configuration_is_stopped_and_told_to_get_one() {
    let bench = Bench::guarded();
    bench.git(&["rm", "-q", "discern.toml"]);
    bench.save("dropped");
    let refused = stopped(push(&bench, &["origin", "main"]), "1 commit is");
    assert!(refused.stderr.contains("it has no `discern.toml`"), "{}", refused.shown());
    assert!(refused.stderr.contains("git discern init"), "{}", refused.shown());
}

#[test]
fn reftable_and_sha256_are_the_same() {
    let bench = Bench::with(Refs::Reftable, Hash::Sha256);
    bench.gate();
    bench.job("ok", "true");
    bench.save("first");
    bench.git(&["init", "-q", "--bare", "--object-format=sha256", "../o.git"]);
    bench.git(&["remote", "add", "origin", "../o.git"]);
    let _ = bench.discern(&["hook", "install"]).exits(0);
    let _ = stopped(push(&bench, &["origin", "main"]), "1 commit is");
    prove(&bench);
    let _ = push(&bench, &["origin", "main"]).exits(0);
}

#[test]
fn many_refs_are_judged_at_once() {
    let bench = Bench::guarded();
    let _ = bench.sh("for i in $(seq 300); do echo \"create refs/heads/b/$i $(git rev-parse HEAD)\"; done | git update-ref --stdin").exits(0);
    let _ = push(&bench, &["origin", "refs/heads/b/*:refs/heads/b/*"]).exits(0);
}

#[test]
fn the_refusal_is_a_document_when_json_is_asked_for() {
    let bench = Bench::guarded();
    let head = bench.save("second");
    let line = format!("refs/heads/main {head} refs/heads/main {}", "0".repeat(40));
    let document = bench.sh(&format!("echo {line} | git-discern hook pre-push --json origin ../o.git")).exits(1).json();
    assert_eq!(document["unproven"][0]["commit"], head.as_str());
    assert_eq!(document["unproven"][0]["refs"], serde_json::json!(["refs/heads/main"]));
    assert_eq!(document["unproven"][0]["fix"], "git discern done");
}

#[test]
fn several_commits_on_the_way_are_proven_by_one_command() {
    let bench = Bench::guarded();
    let first = bench.head();
    bench.configure("[push]\ncommits = \"all\"");
    bench.save("policy");
    bench.write("a", "");
    bench.save("last");
    let refused = stopped(push(&bench, &["origin", "main"]), "2 commits are");
    let command = format!("git discern done {}..{}", &first[..10], &bench.head()[..10]);
    assert!(refused.stderr.contains(&format!("all at once: {command}\n")), "{}", refused.shown());
    let _ = bench.sh(&command).exits(0);
    let _ = push(&bench, &["origin", "main"]).exits(0);
}

#[test]
fn a_failed_commit_is_looked_at_before_it_is_tried_again() {
    let bench = Bench::guarded();
    bench.job("bad", "exit 3");
    bench.save("second");
    let _ = bench.discern(&["done"]).exits(1);
    let refused = stopped(push(&bench, &["origin", "main"]), "1 commit is");
    let again = format!("or try again: git discern done {} --rerun\n", &bench.head()[..10]);
    for part in ["what failed: git discern show\n", &again] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.shown());
    }
}

#[test]
fn a_broken_configuration_of_the_trunk_that_is_named_is_said() {
    let bench = Bench::guarded();
    bench.write("discern.toml", "[gate]\ntrunk = \"stable\"\n[jobs.ok]\nrun = \"true\"\n");
    bench.save("stable is trunk");
    bench.git(&["branch", "stable"]);
    bench.git(&["switch", "-q", "stable"]);
    bench.write("discern.toml", "[jobs\n");
    bench.save("broken");
    bench.git(&["switch", "-q", "main"]);
    let refused = stopped(push(&bench, &["origin", "main"]), "1 commit is");
    let said = "the `discern.toml` of refs/heads/stable can't be used";
    assert!(refused.stderr.contains(said), "{}", refused.shown());
}
