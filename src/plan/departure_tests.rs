use test_case::test_case;

use super::*;
use crate::config::Config;

const TRUNK: &str = r#"
[gate]
environment = "strict"
[jobs.build]
run = "make"
[jobs.test]
run = "make test"
needs = ["build"]
inputs = ["src", "Makefile"]
env = ["CFLAGS"]
toolchain = ["cc --version"]
"#;

fn found(own: &str) -> Vec<String> {
    let parse = |text: &str| Config::parse(text.as_bytes(), "discern.toml").unwrap_or_else(|it| panic!("{it}: {text}"));
    let (own, trunk) = (parse(own), parse(TRUNK));
    let own = Written { config: &own, file: "discern.toml" };
    let trunk = Written { config: &trunk, file: "main:discern.toml" };
    departures(own, trunk).iter().map(ToString::to_string).collect()
}

#[test_case("run = \"make\"", "run = \"make\"\ntimeout = 5\nretries = 2\nafter = [\"test\"]\nartifacts = [\"out\"]", true; "limits")]
#[test_case(r#"["src", "Makefile"]"#, r#"["Makefile", "src"]"#, true; "order")]
#[test_case("run = \"make\"", "run = \"make\"\n[jobs.more]\nrun = \"true\"", true; "another job")]
#[test_case("\"make\"", "[\"make\"]", false; "a command without its shell")]
#[test_case("\"make test\"", "\"make  test\"", false; "a blank in a command")]
fn only_what_decides_a_verdict_counts(from: &str, to: &str, same: bool) {
    let own = TRUNK.replace("needs = [\"build\"]\n", "").replace(from, to);
    let found = found(&own);
    let others: Vec<_> = found.iter().filter(|it| !it.ends_with("in `needs`")).collect();
    assert_eq!(others.is_empty(), same, "{found:?}");
}

#[test]
fn a_missing_job_is_named_with_its_place() {
    assert_eq!(
        found("[gate]\nenvironment = \"strict\"\n[jobs.build]\nrun = \"make\""),
        ["job `test` of trunk (main:discern.toml:6) is missing"]
    );
}

#[test]
fn each_key_that_differs_is_named() {
    let own = "[gate]\nenvironment = \"strict\"\n[jobs.build]\nrun = \"make\"\n[jobs.test]\nrun = \"true\"\ntouches = [\"x\"]";
    assert_eq!(
        found(own),
        ["job `test` (discern.toml:5) differs from trunk's (main:discern.toml:6) in `run`, `needs`, `inputs`, `env`, \
          `toolchain`, `touches`"]
    );
}

#[test]
fn a_laxer_environment_is_a_departure() {
    assert_eq!(
        found(&TRUNK.replace("\"strict\"", "\"inherit\"")),
        ["`[gate] environment` is `inherit`, trunk's is `strict`"]
    );
}
