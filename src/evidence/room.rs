//! How much of an attempt record a requirement takes, known before it runs.
//!
//! Receipts and the Proof live in the record (C3), and the record has a limit. Planning adds up this room, so that no run
//! ends with verdicts that fit nowhere.

use serde::Serialize;

use super::proof::ProofRequirement;
use super::receipt::{Artifact, Failure, LogRef, Place, Reading, Receipt, RequirementKey, RequirementKind, Verdict};
use super::subject::SubjectParts;
use crate::id::{AttemptId, CommitId, Digest, OperationHandle, Subject};
use crate::standard::decimal::DIGITS_MAX;
use crate::time::Timestamp;

/// How many blanks stand before each line of a receipt in a record, and before each line of the Proof's requirement.
const DEPTHS: [usize; 2] = [4, 8];

/// The most bytes that the receipt of `key`, without a reason, and its line in a Proof take in an attempt record. `artifacts`
/// are the paths that the job keeps. Numbers are taken to have at most as many characters as a number may have digits.
pub fn room_bytes(key: &RequirementKey, parts: &SubjectParts, artifacts: &[String]) -> usize {
    let receipt = largest_receipt(key, parts, artifacts);
    let in_proof = largest_in_proof(&receipt);
    spread(&receipt, DEPTHS[0]) + spread(&in_proof, DEPTHS[1])
}

/// The bytes of `value`, one key to a line, `depth` blanks deep, with the comma and the line feed behind it.
fn spread(value: &impl Serialize, depth: usize) -> usize {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.len() + depth * text.lines().count() + 2
}

fn largest_receipt(key: &RequirementKey, parts: &SubjectParts, artifacts: &[String]) -> Receipt {
    let handle = OperationHandle::from_random(0);
    let longest_log = LogRef::file_of(&key.name, u32::MAX);
    let artifact = |path: &String| Artifact { path: path.clone(), digest: Digest([0; 32]), bytes: u64::MAX };
    Receipt {
        kind: key.kind,
        name: key.name.clone(),
        subject: Subject(Digest([0; 32])),
        parts: parts.clone(),
        verdict: Verdict::Passed,
        reading: (key.kind == RequirementKind::Standard).then(longest_reading),
        failure: Some(Failure::OutputLost),
        tries: u32::MAX,
        flaky: true,
        exit_code: Some(i32::MIN),
        signal: Some("SIGRTMIN+15".to_owned()),
        duration_ms: u64::MAX,
        place: Place::InPlace,
        attempt: AttemptId(uuid::Uuid::nil()),
        // A commit's id is as long as its tree's.
        commit: CommitId(parts.tree.id()),
        finished_at: Timestamp::from_millis(0),
        log: Some(LogRef { handle, file: longest_log, bytes: u64::MAX }),
        artifacts: artifacts.iter().map(artifact).collect(),
        reason: None,
    }
}

fn largest_in_proof(receipt: &Receipt) -> ProofRequirement {
    let number = receipt.reading.as_ref().map(|reading| reading.value.clone());
    ProofRequirement {
        kind: receipt.kind,
        name: receipt.name.clone(),
        subject: receipt.subject,
        attempt: receipt.attempt,
        obtained_on: receipt.commit,
        obtained_at: receipt.finished_at,
        duration_ms: u64::MAX,
        reused: false,
        flaky: true,
        reading: receipt.reading.clone(),
        limit: number.clone(),
        distance: number.clone(),
        trunk_limit: number,
    }
}

fn longest_reading() -> Reading {
    let number = "0".repeat(DIGITS_MAX);
    Reading { value: number.clone(), metric: number.clone(), per: Some(number) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::samples::{input, reading, receipt, subject};
    use crate::evidence::subject::Salt;

    fn room_and_bytes(receipt: &Receipt) -> (usize, usize) {
        let in_proof = ProofRequirement { distance: None, ..largest_in_proof(receipt) };
        let record = serde_json::json!({ "receipts": [receipt], "state": { "proof": { "requirements": [in_proof] } } });
        let bytes = serde_json::to_string_pretty(&record).expect("JSON").len();
        (room_bytes(&receipt.key(), &receipt.parts, &[]), bytes)
    }

    #[test]
    fn what_is_published_fits_into_the_room_and_the_room_is_not_much_larger() {
        let mut input = input("cargo clippy --all-targets -- -D warnings");
        input.environment.insert("RUSTFLAGS".to_owned(), Some(b"-g".to_vec()));
        let parts = input.parts(Salt([255; 16]));
        for receipt in [receipt(subject(1), 1), reading(subject(2), 1, "81.5")] {
            let (room, bytes) = room_and_bytes(&Receipt { parts: parts.clone(), ..receipt });
            assert!(bytes <= room && room < bytes + 1500, "{bytes} bytes, room for {room}");
        }
    }

    #[test]
    fn a_hundred_ordinary_jobs_fit_into_a_record() {
        let job = receipt(subject(1), 1);
        let room = room_bytes(&job.key(), &job.parts, &[]);
        assert!(100 * room < 240 * 1024, "room for {room}");
    }

    #[test]
    fn each_artifact_takes_room() {
        let job = receipt(subject(1), 1);
        let room = |artifacts: &[String]| room_bytes(&job.key(), &job.parts, artifacts);
        assert!(room(&["a".repeat(500)]) > room(&[]) + 600);
    }
}
