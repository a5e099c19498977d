//! Outcomes and receipts of finished attempts, absorbed from their records.
