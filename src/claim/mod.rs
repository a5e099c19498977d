//! Who owns a candidate: the claim protocol.
