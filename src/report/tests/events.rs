//! Each event in its three forms.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::super::settings::{Detail, Story};
use super::super::story::{Telling, lines};
use super::*;
use crate::exit::OutcomeWord;

/// One of each kind; of some kinds more, where they look different.
fn samples() -> Vec<What> {
    let reused = Decision::Reuse { commit: commit(0x3d), attempt: attempt(3), at: instant(-7_200_000) };
    let build = planned("build", Some(4_000), to_run("`src/lib.rs` changed"));
    let finished = |requirement| What::Finished { requirement };
    vec![
        What::Began { command: "done".into(), candidate: candidate(), summary: "Parse\x1b[2J numbers".into() },
        What::Waiting { pending: pending() },
        What::Reserved { attempt: attempt(8), handle: Some(handle(8)), generation: 2 },
        What::Retired {
            candidate: commit(0x44),
            attempt: attempt(5),
            worktree: String::new(),
            why: "executor-gone".into(),
        },
        What::Planned { requirements: vec![planned("lint", Some(900), reused), build] },
        What::SlotAwaited { name: name("build") },
        What::Started { name: name("build"), tries: 1, log: Some("/l/build.1.log".into()), expected_ms: Some(4_000) },
        What::Started { name: name("build"), tries: 2, log: None, expected_ms: None },
        finished(requirement("build", Standing::Passed)),
        finished(RequirementReport { flaky: true, tries: 2, ..requirement("build", Standing::Passed) }),
        finished(RequirementReport {
            reason: Some("timed out after 600 s (`timeout` of jobs.build)".into()),
            ..requirement("build", Standing::Failed)
        }),
        finished(RequirementReport {
            kind: RequirementKind::Standard,
            value: Some("83.2".into()),
            limit: Some("81.5".into()),
            ..requirement("coverage", Standing::Passed)
        }),
        What::Retrying { name: name("build"), tries: 2 },
        What::LeftBehind { name: name("build"), processes: 1 },
        What::LeftBehind { name: name("build"), processes: 18 },
        What::Published { receipts: 3 },
        What::StoreTrouble { doing: "renew the claim".into(), problem: "the ref's lock is busy".into() },
        What::RenewedLate { after_ms: 154_000 },
        What::Interrupted { by: "SIGINT".into(), times: 1 },
        What::Interrupted { by: "stop".into(), times: 2 },
        What::Resumed { after_ms: 3_600_000 },
        What::Note { text: "trunk's tip is tighter than the merge base".into() },
        What::Ended { outcome: OutcomeWord::Passed, exit: 0, duration_ms: 16_000 },
    ]
}

fn told(event: &Event, detail: Detail, story: Story, color: bool) -> String {
    let telling = Telling { detail, story, answer_follows: false, name_columns: 8 };
    lines(event, telling).iter().map(|line| format!("    {}\n", visible(&line.paint(color)))).collect()
}

#[test]
fn each_event_has_a_terminal_a_plain_and_a_json_form() {
    let mut shown = String::new();
    for what in samples() {
        let event = at(0, what);
        let json = serde_json::to_string(&event).expect("it is plain data");
        let terminal = told(&event, Detail::Normal, Story::Live, true);
        let plain = told(&event, Detail::Normal, Story::Plain, false);
        let verbose = told(&event, Detail::Verbose, Story::Plain, false);
        write!(shown, "json\n    {json}\nterminal\n{terminal}plain\n{plain}verbose\n{verbose}\n").expect("it fits");
        assert_eq!(serde_json::from_str::<Event>(&json).expect("it reads back"), event);
    }
    insta::assert_snapshot!("events", shown);
}

#[test]
fn no_kind_of_event_is_missing_from_the_snapshot() {
    let tag = |what: &What| serde_json::to_value(what).expect("plain data")["event"].as_str().map(str::to_owned);
    let kinds: BTreeSet<_> = samples().iter().map(tag).collect();
    // Whoever adds a kind meets this match, and then the samples.
    let known = |what: &What| match what {
        What::Began { .. } | What::Waiting { .. } | What::Reserved { .. } | What::Retired { .. } => (),
        What::Planned { .. } | What::SlotAwaited { .. } | What::Started { .. } | What::Finished { .. } => (),
        What::Retrying { .. } | What::LeftBehind { .. } | What::Published { .. } | What::StoreTrouble { .. } => (),
        What::RenewedLate { .. } | What::Interrupted { .. } | What::Resumed { .. } | What::Note { .. } => (),
        What::Ended { .. } => (),
    };
    samples().iter().for_each(known);
    assert_eq!(kinds.len(), 17);
}
