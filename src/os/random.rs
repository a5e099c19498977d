//! Randomness: ids, tokens, nonces, handles, jitter.

use uuid::Uuid;

use crate::id::{AttemptId, Nonce, OperationHandle, Token};
use crate::time::Timestamp;

/// A source of fresh identifiers.
pub trait Random {
    /// A random UUID.
    fn uuid(&mut self) -> Uuid;

    /// A fencing token.
    fn token(&mut self) -> Token {
        Token(self.uuid())
    }

    /// A nonce.
    fn nonce(&mut self) -> Nonce {
        Nonce(self.uuid())
    }

    /// An operation handle.
    fn handle(&mut self) -> OperationHandle {
        OperationHandle::from_random(self.uuid().as_u128() as u64)
    }

    /// An attempt id for an attempt that begins at `at`.
    fn attempt(&mut self, at: Timestamp) -> AttemptId {
        let random = self.uuid();
        let mut tail = [0; 10];
        tail.copy_from_slice(&random.as_bytes()[..10]);
        let millis = u64::try_from(at.as_millis()).unwrap_or(0);
        AttemptId(uuid::Builder::from_unix_timestamp_millis(millis, &tail).into_uuid())
    }
}

/// The operating system's random source.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn uuid(&mut self) -> Uuid {
        Uuid::new_v4()
    }
}
