//! Which machine this is, and which boot of it: digests that may be published where the facts may not.

use std::ffi::OsString;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::id::hex;

/// A digest of boot, pid namespace and time namespace, 32 hex digits. Equal means: the same monotonic clock, and the same
/// processes behind the same numbers (C13, C20).
///
/// Where that can't be known, it is a random one that equals no other, so that nothing is ever concluded from it.
pub fn boot_identity() -> String {
    let boot = std::fs::read("/proc/sys/kernel/random/boot_id");
    let namespace = |name: &str| std::fs::read_link(Path::new("/proc/self/ns").join(name)).map(OsString::from);
    match (boot, namespace("pid"), namespace("time")) {
        (Ok(boot), Ok(pid), Ok(time)) => {
            digest("discern boot 1", &[&boot, pid.as_encoded_bytes(), time.as_encoded_bytes()])
        }
        _ => digest("discern boot unknown 1", &[Uuid::new_v4().as_bytes()]),
    }
}

/// A digest of the machine's own identity, 32 hex digits: for people, to tell two machines apart.
pub fn machine_identity() -> String {
    let stated = std::fs::read("/etc/machine-id").ok().filter(|id| !id.is_empty());
    let identity = stated.unwrap_or_else(|| rustix::system::uname().nodename().to_bytes().to_vec());
    digest("discern machine 1", &[&identity])
}

/// The first 16 bytes of a SHA-256 over `domain` and `parts`, each with its length before it.
fn digest(domain: &str, parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in [domain.as_bytes()].iter().chain(parts) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hex(&hash.finalize()[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boot_has_one_identity_and_it_is_not_the_machines() {
        assert_eq!(boot_identity(), boot_identity());
        assert_eq!(boot_identity().len(), 32);
        assert_ne!(boot_identity(), machine_identity());
    }
}
