//! The only place that prints.
