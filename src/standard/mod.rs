//! Numbers that may only improve.
