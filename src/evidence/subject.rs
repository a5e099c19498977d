//! What decides a verdict, and its digest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{Digest, Name, Subject, TreeId};

/// Operating system and architecture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Platform {
    /// `linux`, `macos`.
    pub os: String,
    /// `x86_64`, `aarch64`.
    pub arch: String,
}

/// What a subject is made of, as far as it may be published: enough to say what differs between two receipts, and no
/// value of an environment variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubjectParts {
    /// The subject's scheme version.
    pub scheme: u32,
    /// What is executed: a string for the shell or a list; at most 1 KiB of it.
    pub command: String,
    /// SHA-256 of the whole definition (command, shell, extraction, metric, `per`, `scale`).
    pub definition: Digest,
    /// The tree of the commit that the inputs were taken from.
    pub tree: TreeId,
    /// The declared pathspecs; empty where the whole tree is the input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// SHA-256 over the selected entries (path, mode, object id); absent where the whole tree is the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs_digest: Option<Digest>,
    /// The subjects of everything in its `needs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<(Name, Subject)>,
    /// Declared variables: name, and a digest of this receipt's salt and the value; `None` where unset.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<(String, Option<Digest>)>,
    /// The salt of the values' digests, 16 random bytes in hex; empty where there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub salt: String,
    /// Declared toolchain commands and what each printed, at most 256 bytes of it, then the digest of all of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub toolchain: Vec<ToolchainPart>,
    /// Where the command ran.
    pub platform: Platform,
}

/// One toolchain command and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolchainPart {
    /// The command as declared.
    pub command: String,
    /// The beginning of its output, at most 256 bytes.
    pub says: String,
    /// SHA-256 of its exit status and whole output.
    pub digest: Digest,
}
