use super::*;

const TRUNK: &str = r#"
[jobs.test]
run = "cargo test"
[standards.coverage]
direction = "up"
limit = 81.5
run = "scripts/coverage"
inputs = ["src/**", "Cargo.*"]
per = { lines = ["src/**"] }
scale = 100
"#;

fn parse(text: &str) -> Config {
    Config::parse(text.as_bytes(), "discern.toml").unwrap_or_else(|invalid| panic!("{invalid}: {text}"))
}

fn findings(own: &str, trunk: &str) -> Vec<String> {
    let (own, trunk) = (parse(own), parse(trunk));
    let own = Written { config: &own, file: "discern.toml" };
    let trunk = Written { config: &trunk, file: "main:discern.toml" };
    compare(own, trunk).iter().map(ToString::to_string).collect()
}

fn edited(from: &str, to: &str) -> Vec<String> {
    assert!(TRUNK.contains(from), "{from}");
    findings(&TRUNK.replace(from, to), TRUNK)
}

#[test]
fn equal_tightened_and_new_standards_are_no_finding() {
    assert!(edited("81.5", "81.50").is_empty());
    assert!(edited("81.5", "90").is_empty());
    assert!(edited("scale = 100", "scale = 1e2").is_empty());
    assert!(edited(r#"["src/**", "Cargo.*"]"#, r#"["Cargo.*", "src/**", "src/**"]"#).is_empty());
    assert!(edited("scale = 100", "scale = 100\nmargin = 1\nmeasure = \"gate\"\ntimeout = 5").is_empty());
    let more = format!("{TRUNK}\n[standards.size]\ndirection = \"down\"\nlimit = 5\nrun = \"size\"");
    assert!(findings(&more, TRUNK).is_empty());
}

#[test]
fn a_weaker_limit_is_named_with_both_values_and_places() {
    assert_eq!(
        edited("81.5", "81.4"),
        ["standard `coverage` has limit 81.4 (discern.toml:6), below trunk's 81.5 (main:discern.toml:6)"]
    );
    let ceiling = TRUNK.replace("\"up\"", "\"down\"");
    assert_eq!(
        findings(&ceiling.replace("81.5", "82"), &ceiling),
        ["standard `coverage` has limit 82 (discern.toml:6), above trunk's 81.5 (main:discern.toml:6)"]
    );
    assert!(findings(&ceiling.replace("81.5", "81"), &ceiling).is_empty());
}

#[test]
fn a_removed_or_renamed_standard_is_a_finding() {
    let said = ["standard `coverage` is missing; trunk's limit is 81.5 (main:discern.toml:6)"];
    assert_eq!(edited("standards.coverage", "standards.cover"), said);
    assert_eq!(findings("[jobs.test]\nrun = \"cargo test\"", TRUNK), said);
}

#[test]
fn a_reversed_direction_is_a_finding_and_does_not_excuse_the_limit() {
    let both = TRUNK.replace("\"up\"", "\"down\"").replace("81.5", "10");
    assert_eq!(
        findings(&both, TRUNK),
        [
            "standard `coverage` has direction `down` (discern.toml:4) instead of trunk's `up` (main:discern.toml:4)",
            "standard `coverage` has limit 10 (discern.toml:6), below trunk's 81.5 (main:discern.toml:6)",
        ]
    );
}

#[test]
fn what_is_measured_can_not_change_behind_a_name() {
    let beginning = "standard `coverage` (discern.toml:4) does not measure what trunk's (main:discern.toml:4) does: ";
    for (from, to, said) in [
        (r#""scripts/coverage""#, r#""echo 100""#, r#"`run` is "echo 100" instead of "scripts/coverage""#),
        (
            r#""scripts/coverage""#,
            r#"["scripts/coverage"]"#,
            r#"`run` is ["scripts/coverage"] instead of "scripts/coverage""#,
        ),
        ("scripts/coverage", "scripts/ coverage", r#"`run` is "scripts/ coverage" instead of "scripts/coverage""#),
        ("scale = 100", "scale = 10", "`scale` is 10 instead of 100"),
        ("scale = 100", "metric = \"other\"\nscale = 100", r#"`metric` is "other" instead of "coverage""#),
        ("lines = ", "files = ", r#"`per` is files of {"src/**"} instead of lines of {"src/**"}"#),
        ("per = { lines = [\"src/**\"] }", "", r#"`per` is absent instead of lines of {"src/**"}; `scale` is"#),
        (
            r#"inputs = ["src/**", "Cargo.*"]"#,
            r#"inputs = ["src/**"]"#,
            r#"`inputs` is {"src/**"} instead of {"Cargo.*", "src/**"}"#,
        ),
    ] {
        let own =
            if to.is_empty() { TRUNK.replace(from, to).replace("scale = 100", "") } else { TRUNK.replace(from, to) };
        let found = findings(&own, TRUNK);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with(&format!("{beginning}{said}")), "{}", found[0]);
    }
}

#[test]
fn the_command_of_a_job_that_is_measured_is_part_of_the_standard() {
    let trunk = TRUNK.replace("run = \"scripts/coverage\"", "from = \"test\"\nextract = \"scripts/from-log\"");
    assert!(findings(&trunk, &trunk).is_empty());
    let own = trunk.replace("\"cargo test\"", "\"cat old.log\"");
    let found = findings(&own, &trunk);
    assert!(found[0].contains(r#"`run` is "cat old.log" instead of "cargo test""#), "{found:?}");
}

#[test]
fn a_standard_that_the_gate_measures_no_longer_is_a_finding() {
    let on_demand = TRUNK.replace("scale = 100", "scale = 100\nmeasure = \"on-demand\"");
    assert_eq!(
        findings(&on_demand, TRUNK),
        [
            "standard `coverage` (discern.toml:4) is measured on demand only; trunk's gate measures it (main:discern.toml:4)"
        ]
    );
    assert!(findings(TRUNK, &on_demand).is_empty() && findings(&on_demand, &on_demand).is_empty());
}

fn notes(own: &str, base: &str, tip: &str) -> Vec<String> {
    let [own, base, tip] = [own, base, tip].map(parse);
    let written = |config| Written { config, file: "discern.toml" };
    let notes = tighter_at_tip(written(&own), written(&base), Written { config: &tip, file: "main:discern.toml" });
    notes.iter().map(ToString::to_string).collect()
}

#[test]
fn a_tip_that_is_tighter_than_what_counts_is_a_note() {
    let tip = TRUNK.replace("81.5", "85");
    assert_eq!(
        notes(TRUNK, TRUNK, &tip),
        ["standard `coverage` is compared with 81.5; trunk has moved on to 85 (main:discern.toml:6)"]
    );
    assert!(notes(&tip, TRUNK, &tip).is_empty(), "the candidate's own limit is as tight");
    assert!(notes(TRUNK, TRUNK, TRUNK).is_empty());
}
