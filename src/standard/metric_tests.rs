use proptest::prelude::*;
use test_case::test_case;

use super::*;

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn scan(output: &[u8]) -> Metrics {
    let mut scanner = Scanner::new();
    scanner.feed(output);
    scanner.finish()
}

fn read(output: &[u8]) -> Result<String, NoMetric> {
    scan(output).get(&name("n")).map(ToString::to_string)
}

#[test_case(b"DISCERN_METRIC n 5\n", "5"; "plain")]
#[test_case(b"DISCERN_METRIC n 5", "5"; "without a line feed")]
#[test_case(b"DISCERN_METRIC n 5\r\n", "5"; "with a carriage return")]
#[test_case(b"DISCERN_METRIC \t n   5  \n", "5"; "with blanks")]
#[test_case(b"noise\n\nDISCERN_METRIC n 0.10\nmore\n", "0.10"; "amid noise, its text kept")]
#[test_case(b"DISCERN_METRIC n 0.10\nDISCERN_METRIC n .1\n", "0.10"; "twice with equal values")]
#[test_case(b"DISCERN_METRIC m x\nDISCERN_METRIC n 1\n", "1"; "beside another metric's bad line")]
#[test_case(b"say DISCERN_METRIC n 7\nDISCERN_METRIC n 1\n", "1"; "the marker in mid-line")]
#[test_case(b" DISCERN_METRIC n 7\nDISCERN_METRIC n 1\n", "1"; "the marker behind a blank")]
#[test_case(b"DISCERN_METRICS n 7\nDISCERN_METRIC n 1\n", "1"; "a longer word")]
#[test_case(b"10%\rDISCERN_METRIC n 7\nDISCERN_METRIC n 1\n", "1"; "the marker behind a lone carriage return")]
#[test_case(b"\xff\xfe\0\nDISCERN_METRIC n 1\n", "1"; "amid bytes that are no text")]
fn a_reading_is_found(output: &[u8], value: &str) {
    assert_eq!(read(output).as_deref(), Ok(value));
}

#[test]
fn a_missing_metric_tells_the_command_to_print_zero_itself() {
    let problem = read(b"all is well\nsaying DISCERN_METRIC n 1\n").unwrap_err();
    assert_eq!(
        problem.to_string(),
        "no line begins with `DISCERN_METRIC n`; the command must print one itself, also when there is nothing to count: \
         `DISCERN_METRIC n 0`"
    );
}

#[test_case(b"DISCERN_METRIC n 83,2\n", "`DISCERN_METRIC n 83,2` holds no finite decimal number: it has a comma")]
#[test_case(
    b"DISCERN_METRIC n NaN\n",
    "`DISCERN_METRIC n NaN` holds no finite decimal number: it is not a number (NaN)"
)]
#[test_case(b"DISCERN_METRIC n -inf\n", "`DISCERN_METRIC n -inf` holds no finite decimal number: it is infinite")]
#[test_case(b"DISCERN_METRIC n\n", "`DISCERN_METRIC n` holds no finite decimal number: there is no number")]
#[test_case(b"DISCERN_METRIC n 5 %\n", "`DISCERN_METRIC n 5 %` is not `DISCERN_METRIC <name> <number>`")]
#[test_case(b"DISCERN_METRIC\n", "`DISCERN_METRIC` is not `DISCERN_METRIC <name> <number>`")]
#[test_case(b"DISCERN_METRIC \xff 5\n", "is not `DISCERN_METRIC <name> <number>`")]
#[test_case(b"DISCERN_METRIC n \x1b[31m5\n", "`DISCERN_METRIC n \\u{1b}[31m5` holds no finite decimal number")]
#[test_case(
    b"DISCERN_METRIC n 5\nDISCERN_METRIC n 5.0\nDISCERN_METRIC n 6\n",
    "`DISCERN_METRIC n 5` and `DISCERN_METRIC n 6` disagree"
)]
#[test_case(b"DISCERN_METRIC n 5\nDISCERN_METRIC n x\n", "`DISCERN_METRIC n x` holds no finite decimal number")]
#[test_case(b"DISCERN_METRIC n x\nDISCERN_METRIC n 5\n", "`DISCERN_METRIC n x` holds no finite decimal number")]
fn what_is_wrong_is_said_with_the_line(output: &[u8], said: &str) {
    let problem = read(output).unwrap_err().to_string();
    assert!(problem.contains(said), "{problem}");
}

#[test]
fn an_overlong_line_is_quoted_at_its_beginning_only() {
    let problem = read(&[b"DISCERN_METRIC n ".as_slice(), &b"9".repeat(100_000), b"\n"].concat()).unwrap_err();
    assert!(matches!(&problem, NoMetric::Malformed { line } if line.len() < 200 && line.ends_with('…')), "{problem}");
}

#[test]
fn memory_is_bounded_whatever_the_output_is() {
    let mut scanner = Scanner::new();
    for _ in 0..1000 {
        scanner.feed(&[b'x'; 64 * 1024]);
    }
    scanner.feed(b"\nDISCERN_METRIC n ");
    for _ in 0..1000 {
        scanner.feed(&[b'9'; 64 * 1024]);
    }
    assert!(scanner.line.kept.capacity() <= 2 * LINE_BYTES_MAX);
    scanner.feed(b"\n");
    for metric in 0..2 * METRICS_MAX {
        scanner.feed(format!("DISCERN_METRIC m{metric} 1\n").as_bytes());
    }
    assert_eq!(scanner.metrics.len(), METRICS_MAX);
}

#[test]
fn more_metrics_than_may_be_kept_are_an_error_for_all() {
    let output: String = (0..=METRICS_MAX).map(|metric| format!("DISCERN_METRIC m{metric} 1\n")).collect();
    assert_eq!(scan(output.as_bytes()).get(&name("m0")), Err(NoMetric::TooMany));
}

proptest! {
    #[test]
    fn pieces_of_any_size_give_what_the_whole_gives(
        lines in prop::collection::vec("(DISCERN_METRIC |DISCERN_|x)?(n |m )?[0-9.,x]{0,4}\r?", 0..8),
        cuts in prop::collection::vec(0_usize..40, 0..12),
    ) {
        let output = lines.join("\n").into_bytes();
        let mut scanner = Scanner::new();
        let mut rest = output.as_slice();
        for cut in cuts {
            let (piece, later) = rest.split_at(cut.min(rest.len()));
            scanner.feed(piece);
            rest = later;
        }
        scanner.feed(rest);
        prop_assert_eq!(scanner.finish(), scan(&output));
    }
}
