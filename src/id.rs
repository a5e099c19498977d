//! Names that never travel as bare strings.
//!
//! Each identifier of the domain is a type of its own, parsed at the door and carried inside. Nothing here reads a
//! clock, a file or a random source: whoever makes a fresh id passes the randomness in.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// Text that is not the identifier it was taken for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct NotAnId {
    /// What was read.
    pub text: String,
    /// What it should have been, with its article: "a commit id".
    pub expected: &'static str,
}

/// Reads a string and parses it where it stands: ids are most of what is read, and each copy would be an allocation.
pub(crate) fn from_text<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display>,
{
    struct Text<T>(PhantomData<T>);

    impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }

    deserializer.deserialize_str(Text(PhantomData))
}

/// Serialises a type through its `Display` and `FromStr`.
macro_rules! text_serde {
    ($type:ty) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                from_text(deserializer)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string" })
            }
        }
    };
}

/// The id of a git object: 20 bytes in a SHA-1 repository, 32 in a SHA-256 one. Written as lowercase hex.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    length: u8,
    bytes: [u8; 32],
}

impl ObjectId {
    /// An id from its raw bytes, 20 or 32 of them.
    pub fn from_bytes(raw: &[u8]) -> Result<Self, NotAnId> {
        if raw.len() != 20 && raw.len() != 32 {
            return Err(NotAnId { text: hex(raw), expected: "an object id" });
        }
        let mut bytes = [0; 32];
        bytes[..raw.len()].copy_from_slice(raw);
        Ok(Self { length: raw.len() as u8, bytes })
    }

    /// The id that git uses for "no object", as a SHA-1 repository has it.
    pub fn null() -> Self {
        Self { length: 20, bytes: [0; 32] }
    }

    /// The raw bytes, 20 or 32.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// True for the all-zero id, which git uses for "no object".
    pub fn is_null(&self) -> bool {
        self.as_bytes().iter().all(|&byte| byte == 0)
    }

    /// The first `digits` hex digits, for people.
    pub fn short(&self, digits: usize) -> String {
        let mut text = self.to_string();
        text.truncate(digits);
        text
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(self.as_bytes()))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ObjectId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let mut bytes = [0; 32];
        let length = text.len() / 2;
        let is_one = matches!(length, 20 | 32) && unhex(text, &mut bytes[..length]);
        let refused = || NotAnId { text: text.to_owned(), expected: "an object id" };
        is_one.then_some(Self { length: length as u8, bytes }).ok_or_else(refused)
    }
}

text_serde!(ObjectId);

/// A git object id that is known to name one kind of object.
macro_rules! object_newtype {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub ObjectId);

        impl $name {
            /// The object id itself.
            pub fn id(&self) -> ObjectId {
                self.0
            }
            /// Ten hex digits, for people.
            pub fn short(&self) -> String {
                self.0.short(10)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;
            fn from_str(text: &str) -> Result<Self, NotAnId> {
                text.parse().map(Self)
            }
        }

        text_serde!($name);
    };
}

object_newtype!(
    /// The id of a commit.
    CommitId
);
object_newtype!(
    /// The id of a tree.
    TreeId
);
object_newtype!(
    /// The id of the blob that holds an attempt record: what a compare-and-swap names.
    RecordId
);

/// A random or time-ordered UUID with one meaning.
macro_rules! uuid_newtype {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0.as_hyphenated(), f)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;
            fn from_str(text: &str) -> Result<Self, NotAnId> {
                Uuid::try_parse(text)
                    .map(Self)
                    .map_err(|_| NotAnId { text: text.to_owned(), expected: $what })
            }
        }

        text_serde!($name);
    };
}

uuid_newtype!(
    /// One run's try at one candidate (a UUIDv7, so that ids sort by time).
    AttemptId,
    "an attempt id"
);
uuid_newtype!(
    /// The fencing token of a claim: random, never used twice.
    Token,
    "a fencing token"
);
uuid_newtype!(
    /// Fresh in every record written, so that no two writers can produce equal bytes (C2).
    Nonce,
    "a nonce"
);

/// SHA-256 of something, written as 64 lowercase hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let mut bytes = [0; 32];
        let refused = || NotAnId { text: text.to_owned(), expected: "a SHA-256 digest" };
        unhex(text, &mut bytes).then_some(Self(bytes)).ok_or_else(refused)
    }
}

text_serde!(Digest);

/// The digest of everything that decides a requirement's verdict or reading.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subject(pub Digest);

impl Subject {
    /// Twelve hex digits, for people.
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(12);
        text
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subject({})", self.0)
    }
}

impl FromStr for Subject {
    type Err = NotAnId;
    fn from_str(text: &str) -> Result<Self, NotAnId> {
        text.parse().map(Self)
    }
}

text_serde!(Subject);

/// The name of a job or a standard: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Name(String);

impl Name {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for Name {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let ordinary = |byte: u8| byte.is_ascii_alphanumeric();
        let legal = text.len() <= 64
            && text.bytes().next().is_some_and(ordinary)
            && text.bytes().all(|byte| ordinary(byte) || b"._-".contains(&byte));
        if legal {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAnId {
                text: text.to_owned(),
                expected: "a name (letters, digits, `.`, `_` and `-`, at most 64, the first a letter or digit)",
            })
        }
    }
}

text_serde!(Name);

/// Digits and letters that can be read aloud: Crockford's, without I, L, O and U, and without Z so that their number
/// is a prime and one check character sees each single mistake.
const ALPHABET: &[u8; 31] = b"0123456789ABCDEFGHJKMNPQRSTVWXY";

/// The handle of a run's journal, short enough to read aloud: `R1-7K2M-QX4D-9T`.
///
/// `R1` is the scheme; then nine random characters (44 bits) and one check character, the position-weighted sum modulo
/// 31. Case does not matter, and `I`, `L` and `O` are read as the digits they look like.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationHandle(String);

impl OperationHandle {
    /// A handle from random bits, of which it keeps 44.
    pub fn from_random(bits: u64) -> Self {
        let digits: Vec<u8> = (0..9).map(|place| (bits / 31u64.pow(place) % 31) as u8).collect();
        Self::from_digits(&digits)
    }

    fn from_digits(digits: &[u8]) -> Self {
        let mut text = String::from("R1-");
        for (place, &digit) in digits.iter().chain([&check_digit(digits)]).enumerate() {
            if place == 4 || place == 8 {
                text.push('-');
            }
            text.push(char::from(ALPHABET[usize::from(digit)]));
        }
        Self(text)
    }

    /// The handle as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The check character: detects each single wrong character and each swap of two neighbours.
fn check_digit(digits: &[u8]) -> u8 {
    let sum: u32 = digits.iter().enumerate().map(|(place, &digit)| (place as u32 + 2) * u32::from(digit)).sum();
    (sum % 31) as u8
}

impl fmt::Display for OperationHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for OperationHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for OperationHandle {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let refused = || NotAnId { text: text.to_owned(), expected: "an operation handle" };
        let upper = text.to_ascii_uppercase();
        let body = upper.strip_prefix("R1-").ok_or_else(refused)?;
        let digits: Option<Vec<u8>> = body
            .bytes()
            .filter(|&byte| byte != b'-')
            .map(|byte| match byte {
                b'I' | b'L' => b'1',
                b'O' => b'0',
                other => other,
            })
            .map(|byte| ALPHABET.iter().position(|&known| known == byte).map(|at| at as u8))
            .collect();
        let digits = digits.filter(|digits| digits.len() == 10).ok_or_else(refused)?;
        if check_digit(&digits[..9]) != digits[9] {
            return Err(refused());
        }
        Ok(Self::from_digits(&digits[..9]))
    }
}

text_serde!(OperationHandle);

/// The digits of lowercase hex.
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Lowercase hex of `raw`.
pub fn hex(raw: &[u8]) -> String {
    let mut text = String::with_capacity(raw.len() * 2);
    for byte in raw {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Puts the bytes that lowercase hex `text` stands for into `raw`; false if it is anything else, or more or fewer of them.
pub fn unhex(text: &str, raw: &mut [u8]) -> bool {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let mut wrong = 0;
    for ([high, low], byte) in pairs.iter().zip(raw.iter_mut()) {
        let (high, low) = (NIBBLES[usize::from(*high)], NIBBLES[usize::from(*low)]);
        wrong |= high | low;
        *byte = high << 4 | low & 15;
    }
    rest.is_empty() && pairs.len() == raw.len() && wrong < 16
}

/// What each lowercase hex digit stands for; 255 for any other byte.
const NIBBLES: [u8; 256] = {
    let mut values = [255; 256];
    let mut value = 0;
    while value < 16 {
        values[DIGITS[value as usize] as usize] = value;
        value += 1;
    }
    values
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_survives_being_written_in_lower_case_and_with_look_alikes() {
        let handle = OperationHandle::from_random(0x0123_4567_89ab);
        let spoken = handle.as_str().to_lowercase().replace('1', "l").replacen('l', "1", 1);
        assert_eq!(spoken.parse::<OperationHandle>().as_ref(), Ok(&handle));
    }

    #[test]
    fn a_handle_with_one_wrong_character_is_refused() {
        let handle = OperationHandle::from_random(0x0dea_dbee_f123).to_string();
        for (at, original) in handle.char_indices().skip(3).filter(|(_, letter)| *letter != '-') {
            for &other in ALPHABET {
                let mut wrong = handle.clone();
                wrong.replace_range(at..=at, &char::from(other).to_string());
                if original != char::from(other) {
                    assert!(wrong.parse::<OperationHandle>().is_err(), "{wrong} was taken for {handle}");
                }
            }
        }
    }

    #[test]
    fn object_ids_are_20_or_32_bytes_of_lowercase_hex() {
        assert!("00".repeat(20).parse::<ObjectId>().is_ok_and(|id| id.is_null()));
        assert!("0a".repeat(32).parse::<ObjectId>().is_ok());
        assert!("0A".repeat(20).parse::<ObjectId>().is_err());
        assert!("0a".repeat(19).parse::<ObjectId>().is_err());
    }

    #[test]
    fn names_are_limited() {
        for good in ["a", "lint", "unit-tests.2", &"x".repeat(64)] {
            assert!(good.parse::<Name>().is_ok(), "{good}");
        }
        for bad in ["", "-a", ".a", "a b", "ä", &"x".repeat(65)] {
            assert!(bad.parse::<Name>().is_err(), "{bad}");
        }
    }
}
