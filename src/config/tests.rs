use super::*;

fn parsed(text: &str) -> Config {
    match Config::parse(text.as_bytes(), FILE) {
        Ok(config) => config,
        Err(invalid) => panic!("{}", invalid.render(Colour::None)),
    }
}

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

const FULL: &str = include_str!("../../fixtures/config/full.toml");

#[test]
fn every_key_is_read() {
    let config = parsed(FULL);
    insta::assert_debug_snapshot!(config);
}

#[test]
fn the_shortest_configuration_has_the_documented_defaults() {
    let config = parsed("[jobs.t]\nrun = \"true\"\n");
    let gate = &config.gate;
    assert_eq!((gate.parallel, gate.slots, gate.pool.get()), (None, None, 4));
    assert_eq!((gate.environment, gate.untracked), (Environment::Inherit, Untracked::Refuse));
    assert_eq!((gate.jobs, gate.workspace), (JobsOf::Own, Workspace::InPlace));
    assert_eq!(config.push.require, ["refs/heads/**"]);
    assert_eq!((config.push.commits, config.push.tags), (PushedCommits::Tip, PushedTags::Ignore));
    let job = &config.jobs[0];
    assert_eq!(job.timeout.limit, Some(Duration::from_secs(1800)));
    assert_eq!(job.timeout.set_by, "`timeout` of `[gate]`");
    assert_eq!((job.at, job.run_at), (Position { line: 1, column: 7 }, Position { line: 2, column: 7 }));
    assert_eq!(job.influences.inputs, None);
}

#[test]
fn a_jobs_own_timeout_and_retries_win_over_the_gates() {
    let config = parsed(FULL);
    let job = |text| config.job(&name(text)).expect("it is there");
    assert_eq!(job("lint").timeout.limit, Some(Duration::from_secs(600)));
    assert_eq!(job("lint").timeout.set_by, "`timeout` of `[jobs.lint]`");
    assert_eq!(job("test").timeout.limit, Some(Duration::from_secs(60)));
    assert_eq!((job("lint").retries, job("test").retries), (1, 0));
    assert_eq!(config.standards[0].timeout.limit, None, "0 is no limit");
}

#[test]
fn jobs_come_after_what_they_need_and_otherwise_in_the_files_order() {
    let config = parsed(
        "[jobs.c]\nrun = \"c\"\nneeds = [\"a\"]\n[jobs.b]\nrun = \"b\"\nafter = [\"c\"]\n[jobs.a]\nrun = \"a\"\n[jobs.z]\nrun = \"z\"\n",
    );
    let order: Vec<&str> = config.jobs_in_order().iter().map(|job| job.name.as_str()).collect();
    assert_eq!(order, ["a", "c", "b", "z"]);
}

#[test]
fn a_limit_keeps_the_decimal_that_is_written() {
    for (written, kept) in [
        ("81.50", "81.50"),
        ("+3", "+3"),
        ("-0.10", "-0.10"),
        ("1_000", "1_000"),
        ("1e-1", "1e-1"),
        ("0.1000000000000000055", "0.1000000000000000055"),
        ("6.02E+23", "6.02E+23"),
    ] {
        let config = parsed(&format!("[standards.n]\ndirection = \"up\"\nrun = \"x\"\nlimit = {written}\n"));
        assert_eq!(config.standards[0].limit.as_str(), kept);
    }
}

#[test]
fn the_digest_is_that_of_the_bytes() {
    let one = parsed("[jobs.t]\nrun = \"true\"\n");
    let other = parsed("[jobs.t]\nrun = \"true\" \n");
    assert_ne!(one.digest, other.digest);
    assert_eq!(crate::id::hex(&one.digest.0), crate::id::hex(&Sha256::digest(b"[jobs.t]\nrun = \"true\"\n")),);
}

#[test]
fn a_list_is_shown_as_one_would_type_it() {
    let list = |words: &[&str]| Command::List(words.iter().map(|&word| word.to_owned()).collect()).to_string();
    assert_eq!(list(&["make", "lint it", "", "it's"]), r"make 'lint it' '' 'it'\''s'");
}

#[test]
fn a_file_that_is_too_long_is_refused_and_not_shown() {
    let invalid = Config::parse(&vec![b'#'; BYTES_MAX + 1], FILE).expect_err("it is too long");
    assert_eq!(invalid.problems[0].code, "too-long");
    assert!(invalid.render(Colour::None).len() < 1000);
}

#[test]
fn a_refusal_names_each_place_and_what_would_be_right() {
    let invalid = Config::parse(b"[jobs.t]\nrun = \"x\"\ntimout = 1\nretries = 99\n", FILE).expect_err("it is broken");
    let refusal = invalid.refusal(Colour::None);
    assert_eq!(refusal.exit.code(), 2);
    let said = refusal.diagnostics.iter().map(|it| (it.message.as_str(), it.place[0].as_str(), it.advice.as_deref()));
    assert_eq!(
        said.collect::<Vec<_>>(),
        [
            ("unknown key `timout` in `[jobs.t]`", "discern.toml:3:1", Some("did you mean `timeout`?")),
            ("`retries` is 99", "discern.toml:4:11", None),
        ]
    );
}

#[test]
fn a_chain_of_many_jobs_is_no_trouble() {
    let mut text = String::from("[jobs.j0]\nrun = \"x\"\n");
    for at in 1..900 {
        text.push_str(&format!("[jobs.j{at}]\nrun = \"x\"\nneeds = [\"j{}\"]\n", at - 1));
    }
    assert_eq!(parsed(&text).jobs_in_order().len(), 900);
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_answered_without_a_panic(bytes: Vec<u8>) {
        if let Err(invalid) = Config::parse(&bytes, FILE) {
            proptest::prop_assert!(!invalid.problems.is_empty());
            invalid.render(Colour::None);
        }
    }

    #[test]
    fn any_edit_of_a_good_file_is_answered_without_a_panic(
        edits in proptest::collection::vec((0..FULL.len(), 0..12_usize, "[\\[\\]{}\"'=.,\na-z0-9éÿ#\\\\-]{0,4}"), 1..5)
    ) {
        let mut text = FULL.to_owned();
        for (at, removed, inserted) in edits {
            let start = text.floor_char_boundary(at.min(text.len()));
            let end = text.ceil_char_boundary((start + removed).min(text.len()));
            text.replace_range(start..end, &inserted);
        }
        if let Err(invalid) = Config::parse(text.as_bytes(), FILE) {
            proptest::prop_assert!(!invalid.problems.is_empty());
            for problem in &invalid.problems {
                invalid.place(problem);
            }
            invalid.render(Colour::Ansi);
        }
    }
}
