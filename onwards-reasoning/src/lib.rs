//! Canonical reasoning effort translated into provider edits, and its budget rules.
