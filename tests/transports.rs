//! Pushes over the ways that git has, on loopback: the hook is the same, and it must not keep a connection waiting.

use std::net::{TcpListener, TcpStream};

use crate::support::{Bench, Running, wait_for};

/// A proven commit leaves by `url`, an unproven one does not, and what is there already passes.
fn guards(bench: &Bench, url: &str) {
    bench.git(&["remote", "set-url", "origin", url]);
    let passed = bench.try_git(&["push", "-q", "origin", "main", "main:old"]).exits(0);
    assert_eq!(passed.stderr, "", "{}", passed.shown());
    bench.save("unproven");
    let refused = bench.try_git(&["push", "-q", "origin", "main"]).exits(1);
    assert!(refused.stderr.contains("this push is stopped: 1 commit is not proven"), "{}", refused.shown());
    let _ = bench.try_git(&["push", "-q", "origin", "main~1:refs/heads/second", ":refs/heads/old"]).exits(0);
    let there = bench.git(&["ls-remote", "origin"]);
    assert!(there.contains("refs/heads/second") && !there.contains("refs/heads/old"), "{there}");
}

#[test]
fn over_the_file_protocol() {
    let bench = Bench::guarded();
    let url = format!("file://{}", bench.root().join("o.git").display());
    guards(&bench, &url);
}

#[test]
fn over_git_daemon() {
    let bench = Bench::guarded();
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port();
    // The program itself: `git daemon` would be its parent, and ending that would leave it.
    let program = format!("{}/git-daemon", bench.git(&["--exec-path"]));
    let (listen, base) = (format!("--port={port}"), format!("--base-path={}", bench.root().display()));
    let arguments = [
        "--listen=127.0.0.1",
        &listen,
        &base,
        "--export-all",
        "--enable=receive-pack",
        "--reuseaddr",
        "--informative-errors",
    ];
    let _daemon: Running = bench.begin(bench.command(&program, &arguments));
    wait_for("git daemon", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    guards(&bench, &format!("git://127.0.0.1:{port}/o.git"));
}

#[test]
fn over_smart_http() {
    let bench = Bench::guarded();
    if bench.sh("command -v python3").status != 0 {
        eprintln!("not tested: there is no python3 to serve it");
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/http_backend.py");
    let root = bench.root().display().to_string();
    let server = bench.begin(bench.command("python3", &[script, &root]));
    wait_for("the server", || server.stdout().ends_with('\n'));
    bench.at("../o.git").git(&["config", "http.receivepack", "true"]);
    guards(&bench, &format!("http://127.0.0.1:{}/o.git", server.stdout().trim()));
}

/// Whether `folder`, or what `git ls-remote` says of it, has a ref of ours.
fn has_ours(bench: &Bench, folder: &str) -> bool {
    let refs = bench.git(&["-C", folder, "for-each-ref"]);
    let advertised = bench.git(&["ls-remote", folder]);
    assert!(refs.contains("refs/") && advertised.contains("refs/"), "{refs} {advertised}");
    refs.contains("discern")
}

#[test]
fn clones_fetches_and_pushes_carry_nothing_of_ours_unless_asked() {
    let bench = Bench::guarded();
    for (number, base) in [String::new(), "file://".to_owned()].into_iter().enumerate() {
        let here = format!("{base}{}", bench.root().join("r").display());
        let (clone, bare) = (format!("../clone{number}"), format!("../bare{number}"));
        bench.git(&["clone", "-q", &here, &clone]);
        bench.git(&["clone", "-q", "--bare", &here, &bare]);
        bench.git(&["-C", &clone, "fetch", "-q", "--all", "--tags", "--prune"]);
        bench.git(&["-C", &clone, "fetch", "-q", "--refetch", "origin"]);
        let there = format!("{base}{}", bench.root().join("o.git").display());
        bench.git(&["remote", "set-url", "origin", &there]);
        bench.git(&["push", "-q", "--all", "origin"]);
        bench.git(&["push", "-q", "--follow-tags", "origin", "main", "+HEAD:refs/heads/other"]);
        for folder in [&clone, &bare, "../o.git"] {
            assert!(!has_ours(&bench, folder), "{folder} by {here}");
        }
    }
    bench.git(&["push", "-q", "--mirror", "origin"]);
    assert!(has_ours(&bench, "../o.git"), "a mirror is asked for everything");
}
