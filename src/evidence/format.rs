//! One JSON object to a line, its format's version first.
//!
//! The version is looked at before anything else: a newer one is *newer*, not *corrupt*, and is left alone. Within a
//! version fields are only added; unknown ones are ignored.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A stored line that this version of the tool can't use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// A newer version of the tool wrote it.
    #[error("its format version {found} is newer than {known}, the newest that this git-discern knows")]
    Newer {
        /// The version that the line names.
        found: u32,
        /// The newest that is known here.
        known: u32,
    },
    /// It is not what it should be.
    #[error("{0}")]
    Corrupt(String),
}

#[derive(Serialize)]
struct Versioned<'a, T> {
    version: u32,
    #[serde(flatten)]
    content: &'a T,
}

#[derive(Deserialize)]
struct VersionOnly {
    version: u32,
}

/// `content` as one line of JSON, without the line feed.
pub(crate) fn to_line<T: Serialize>(version: u32, content: &T) -> Result<String, serde_json::Error> {
    serde_json::to_string(&Versioned { version, content })
}

/// What a line of version `known` holds.
pub(crate) fn from_line<T: DeserializeOwned>(known: u32, line: &[u8]) -> Result<T, Unreadable> {
    let corrupt = |error: serde_json::Error| Unreadable::Corrupt(error.to_string());
    // Once for all of its strings.
    let line = str::from_utf8(line).map_err(|error| Unreadable::Corrupt(error.to_string()))?;
    // What we wrote ourselves begins with its version; only other lines are looked through for it first.
    if line.starts_with(&format!("{{\"version\":{known},")) {
        return serde_json::from_str(line).map_err(corrupt);
    }
    let VersionOnly { version } = serde_json::from_str(line).map_err(corrupt)?;
    if version > known {
        return Err(Unreadable::Newer { found: version, known });
    }
    if version == 0 {
        return Err(Unreadable::Corrupt("its format version is 0".to_owned()));
    }
    serde_json::from_str(line).map_err(corrupt)
}
