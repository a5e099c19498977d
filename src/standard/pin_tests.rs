use test_case::test_case;

use super::*;
use crate::standard::rate;

const FILE: &str = "# Ours.\r\n[gate]\ntrunk   =  \"main\" # odd blanks\n\n[standards]\nsize = { direction = \"down\", limit = 2_000_000, run = \"size\" } # inline\n\n  [standards.coverage]   # a floor\n  limit = 81.50  # raised in May\n  direction = \"up\"\n  margin = 0.5\n  run = \"cover\"\n";

fn parse(text: &str) -> Config {
    Config::parse(text.as_bytes(), "discern.toml").unwrap_or_else(|invalid| panic!("{invalid}: {text}"))
}

fn measurement(config: &Config, name: &str, metric: &str, per: Option<&str>) -> Measurement {
    let standard = config.standards.iter().find(|it| it.name.as_str() == name).expect("a standard");
    let decimal = |text: &str| text.parse::<Decimal>().expect("a decimal");
    let limit = Limit::of(standard, None);
    let reading = rate::reading(&decimal(metric), per.map(decimal).as_ref(), limit.scale.as_ref()).expect("a reading");
    Measurement { name: standard.name.clone(), reading, limit }
}

fn pin_all(text: &str, readings: &[(&str, &str, Option<&str>)]) -> Result<Pinned, NotPinned> {
    let config = parse(text);
    let measured: Vec<_> =
        readings.iter().map(|(name, metric, per)| measurement(&config, name, metric, *per)).collect();
    pin(text, &config, &measured, |_| true)
}

#[test]
fn only_the_numbers_change_and_all_else_stays_byte_for_byte() {
    let pinned = pin_all(FILE, &[("coverage", "83.2", None), ("size", "1234567", None)]).expect("pinned");
    assert_eq!(pinned.text, FILE.replace("81.50", "82.70").replace("2_000_000", "1_234_567"));
    let changes: Vec<String> = pinned.changes.iter().map(ToString::to_string).collect();
    assert_eq!(
        changes,
        [
            "standard `size`: limit 2_000_000 becomes 1_234_567 (line 6)",
            "standard `coverage`: limit 81.50 becomes 82.70 (line 9)",
        ]
    );
    let config = parse(&pinned.text);
    assert!(config.standards.iter().any(|standard| standard.limit.to_string() == "82.70"));
}

#[test]
fn what_did_not_improve_by_more_than_its_margin_stays() {
    for value in ["81.5", "81.9", "82"] {
        let pinned = pin_all(FILE, &[("coverage", value, None)]).expect("pinned");
        assert_eq!((pinned.text.as_str(), pinned.changes.len()), (FILE, 0), "{value}");
    }
}

#[test]
fn what_was_not_measured_or_not_selected_stays() {
    let config = parse(FILE);
    let measured = [measurement(&config, "coverage", "99", None), measurement(&config, "size", "1", None)];
    let pinned = pin(FILE, &config, &measured[..1], |_| true).expect("pinned");
    assert!(pinned.text.contains("2_000_000") && pinned.text.contains("98.50"));
    let pinned = pin(FILE, &config, &measured, |name| name.as_str() == "size").expect("pinned");
    assert!(pinned.text.contains("limit = 1,") && pinned.text.contains("81.50"));
}

#[test]
fn nothing_is_pinned_while_any_standard_is_red() {
    let refused = pin_all(FILE, &[("size", "1", None), ("coverage", "70", None)]).unwrap_err();
    assert_eq!(refused.to_string(), "standard `coverage` reads 70, beyond its limit 81.50");
}

fn one(direction: &str, limit: &str, more: &str) -> String {
    format!("[standards.n]\ndirection = \"{direction}\"\nlimit = {limit}\nrun = \"n\"\n{more}\n")
}

#[test_case("up", "80", "83", "83"; "a whole number")]
#[test_case("up", "80", "83.25", "83.25"; "a fraction beside a whole number")]
#[test_case("up", "80.0", "83", "83.0"; "a whole number beside a fraction")]
#[test_case("up", "80.00", "83.5", "83.50"; "as many places as before")]
#[test_case("down", "1e3", "5e2", "500"; "an exponent becomes plain")]
#[test_case("down", "-1", "-.5e1", "-5"; "below zero")]
#[test_case("up", "0", "0.1000000000000000055", "0.1000000000000000055"; "every digit")]
#[test_case("down", "+1_000", "999", "999"; "no group of three")]
fn the_new_number_is_written_like_the_old_one(direction: &str, old: &str, value: &str, new: &str) {
    let text = one(direction, old, "");
    let pinned = pin_all(&text, &[("n", value, None)]).expect("pinned");
    assert_eq!(pinned.text, text.replace(&format!("limit = {old}"), &format!("limit = {new}")));
}

#[test]
fn a_rate_is_pinned_on_the_loose_side_and_still_passes() {
    for (direction, limit, new) in [("up", "0.1", "0.33"), ("down", "0.5", "0.34"), ("up", "0.1111", "0.3333")] {
        let text = one(direction, limit, "per = { files = [\"*\"] }");
        let pinned = pin_all(&text, &[("n", "1", Some("3"))]).expect("pinned");
        assert_eq!(pinned.changes[0].to, new);
        let config = parse(&pinned.text);
        let again = measurement(&config, "n", "1", Some("3"));
        assert!(again.limit.judge(&again.reading).expect("comparable").passes);
        let twice = pin(&pinned.text, &config, &[again], |_| true).expect("pinned");
        assert!(twice.changes.is_empty(), "a pin of what is pinned changes nothing");
    }
}

#[test]
fn the_diff_has_three_lines_around_each_change_and_joins_what_touches() {
    let filler = |count: usize| "#\n".repeat(count);
    let standard =
        |name: &str, key: &str| format!("[standards.{name}]\nrun = \"x\"\ndirection = \"down\"\n{key} = 9\n");
    let text = filler(1)
        + &standard("a", "limit")
        + &filler(2)
        + &standard("b", "limit")
        + &filler(9)
        + &standard("c", "limit");
    let text = text.trim_end();
    let pinned = pin_all(text, &[("a", "1", None), ("b", "2", None), ("c", "3", None)]).expect("pinned");
    let diff = pinned.diff(text, "discern.toml");
    let heads: Vec<&str> = diff.lines().filter(|line| line.starts_with("@@")).collect();
    assert_eq!(heads, ["@@ -2,13 +2,13 @@", "@@ -21,4 +21,4 @@"]);
    assert!(
        diff.ends_with("-limit = 9\n\\ No newline at end of file\n+limit = 3\n\\ No newline at end of file\n"),
        "{diff}"
    );
    assert_eq!(Pinned { text: text.to_owned(), changes: Vec::new() }.diff(text, "discern.toml"), "");
}
