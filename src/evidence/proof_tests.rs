use test_case::test_case;

use super::*;
use crate::evidence::receipt::Failure;
use crate::evidence::samples::{attempt, failed, name, object, reading, receipt, subject};
use crate::standard::Direction;

const STORED: &str = include_str!("../../fixtures/proofs/v1.json");

fn occasion() -> Occasion {
    let at = |minute| receipt(subject(0), minute).finished_at;
    Occasion {
        commit: CommitId(object(1)),
        tree: TreeId(object(2)),
        configuration: Digest([4; 32]),
        trunk: Some(TrunkCompared {
            name: "refs/remotes/origin/main".into(),
            tip: CommitId(object(5)),
            merge_base: CommitId(object(6)),
        }),
        departures: vec!["job `lint` of trunk (main:discern.toml:9) is missing".into()],
        loosened: Vec::new(),
        attempt: attempt(2),
        started_at: at(0),
        finished_at: at(9),
        tool_version: "0.1.0".into(),
        git_version: "2.47.3".into(),
        platform: Platform { os: "minix".into(), arch: "vax".into() },
    }
}

fn job(text: &str, byte: u8) -> Demand {
    Demand { key: RequirementKey::job(name(text)), subject: subject(byte), limit: None }
}

fn size(limit: &str) -> Demand {
    let own = limit.parse().expect("a decimal");
    let limit = Limit { direction: Direction::Down, own, trunk: "5.5".parse().ok(), scale: None };
    Demand { key: RequirementKey::standard(name("size")), subject: subject(3), limit: Some(limit) }
}

fn proof() -> Proof {
    let receipts = [receipt(subject(1), 1), receipt(subject(2), 2), reading(subject(3), 2, "4.20")];
    Proof::assemble(occasion(), &[job("build", 1), job("test", 2), size("5")], &receipts).expect("a Proof")
}

fn lacking(demands: &[Demand], receipts: &[Receipt]) -> Vec<(String, LackingWhy)> {
    let lacking = Proof::assemble(occasion(), demands, receipts).expect_err("no Proof");
    lacking.into_iter().map(|it| (it.key.to_string(), it.why)).collect()
}

#[test]
fn a_stored_proof_is_read_and_written_again_byte_for_byte() {
    let stored: Proof = serde_json::from_str(STORED).expect("a Proof");
    assert_eq!(stored, proof());
    assert_eq!(serde_json::to_string(&stored).expect("JSON"), STORED.trim_end());
}

#[test]
fn a_proof_says_what_was_reused_and_how_far_a_standard_is_from_its_limit() {
    let requirements = proof().requirements;
    assert_eq!(requirements.iter().map(|it| it.reused).collect::<Vec<_>>(), [true, false, false]);
    let size = &requirements[2];
    assert_eq!(size.limit.as_deref(), Some("5"));
    assert_eq!(size.trunk_limit.as_deref(), Some("5.5"));
    assert_eq!(size.distance.as_deref(), Some("0.8"));
}

#[test]
fn each_requirement_without_a_passing_receipt_is_named() {
    let receipts = [receipt(subject(1), 1), failed(subject(2), 2, Failure::Exit), reading(subject(3), 2, "5.1")];
    let demands = [job("build", 1), job("test", 2), job("lint", 4), size("5")];
    assert_eq!(
        lacking(&demands, &receipts),
        [
            ("test".to_owned(), LackingWhy::Failed),
            ("lint".to_owned(), LackingWhy::NoReceipt),
            ("size".to_owned(), LackingWhy::BeyondLimit),
        ]
    );
}

#[test]
fn a_pass_before_a_newer_failure_does_not_count_and_a_pass_after_it_is_flaky() {
    let (pass, fail) = (receipt(subject(1), 1), failed(subject(1), 2, Failure::Exit));
    let demands = [job("build", 1)];
    assert_eq!(lacking(&demands, &[pass, fail.clone()]), [("build".to_owned(), LackingWhy::Failed)]);
    let again = receipt(subject(1), 3);
    let proof = Proof::assemble(occasion(), &demands, &[again, fail]).expect("a Proof");
    assert!(proof.requirements[0].flaky);
}

#[test]
fn a_receipt_for_another_subject_or_kind_does_not_count() {
    assert_eq!(lacking(&[job("test", 1)], &[receipt(subject(2), 1)]), [("test".to_owned(), LackingWhy::NoReceipt)]);
    assert_eq!(
        lacking(&[job("size", 3)], &[reading(subject(3), 1, "1")]),
        [("size".to_owned(), LackingWhy::NoReceipt)]
    );
}

#[test]
fn a_receipt_that_contradicts_itself_proves_nothing() {
    let hostile = Receipt { exit_code: Some(1), ..receipt(subject(1), 1) };
    assert_eq!(lacking(&[job("test", 1)], &[hostile]), [("test".to_owned(), LackingWhy::Failed)]);
}

#[test]
fn a_requirement_that_is_demanded_twice_has_no_proof() {
    let demands = [job("test", 1), job("test", 1)];
    assert_eq!(lacking(&demands, &[receipt(subject(1), 1)]), [("test".to_owned(), LackingWhy::Twice)]);
}

#[test]
fn a_limit_and_a_reading_go_together_or_nothing_is_proven() {
    let unlimited = Demand { limit: None, ..size("5") };
    assert_eq!(lacking(&[unlimited], &[reading(subject(3), 1, "1")]), [("size".to_owned(), LackingWhy::Incomparable)]);
    let limited = Demand { limit: size("5").limit, ..job("test", 1) };
    assert_eq!(lacking(&[limited], &[receipt(subject(1), 1)]), [("test".to_owned(), LackingWhy::Incomparable)]);
}

#[test]
fn trunks_tighter_limit_counts_also_where_the_candidate_loosened_its_own() {
    let reads = [reading(subject(3), 1, "6")];
    assert_eq!(lacking(&[size("50")], &reads), [("size".to_owned(), LackingWhy::BeyondLimit)]);
}

fn keys(jobs: &[&str], standards: &[&str]) -> Vec<RequirementKey> {
    let jobs = jobs.iter().map(|text| RequirementKey::job(name(text)));
    jobs.chain(standards.iter().map(|text| RequirementKey::standard(name(text)))).collect()
}

#[test_case(&["test", "build"], &["size"], None; "the demanded set in any order")]
#[test_case(&["test", "build", "lint"], &["size"], Some("it lacks `lint`"); "one more")]
#[test_case(&["build"], &["size"], Some("it has `test`, which is not demanded"); "one less")]
#[test_case(&["test", "build", "size"], &[], Some("it lacks `size`"); "another kind")]
fn a_proof_answers_exactly_its_requirements(jobs: &[&str], standards: &[&str], said: Option<&str>) {
    let answer = proof().answers(Digest([4; 32]), &keys(jobs, standards));
    assert_eq!(answer.err().map(|it| it.to_string()).as_deref(), said);
}

#[test]
fn a_proof_under_another_configuration_answers_nothing() {
    let demanded = keys(&["test", "build"], &["size"]);
    assert_eq!(proof().answers(Digest([5; 32]), &demanded), Err(Unanswered::Configuration));
}

#[test]
fn a_forged_proof_that_names_a_requirement_twice_answers_nothing() {
    let mut proof = proof();
    proof.requirements.push(proof.requirements[0].clone());
    assert_eq!(proof.answers(Digest([4; 32]), &keys(&["test", "build"], &["size"])), Err(Unanswered::Twice));
}
