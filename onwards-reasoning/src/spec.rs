//! What an operator says about one provider, as plain data.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

/// The translation of one provider, per surface; rules are checked by [`crate::Translation::new`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// For Chat Completions; absent = the effort is accepted and forwarded as it is.
    pub chat_completions: Option<SurfaceSpec>,
    /// For Responses; absent = the effort is accepted and forwarded as it is.
    pub responses: Option<SurfaceSpec>,
}

/// The translation of one surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceSpec {
    /// Effort names that requests to this provider are refused for.
    pub unsupported_efforts: Vec<String>,
    /// What is written into the request, at least one.
    pub writes: Vec<WriteSpec>,
}

/// One member to be written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteSpec {
    /// JSON pointer to the member.
    pub target_path: String,
    /// Effort name to the value written for it.
    pub values: BTreeMap<String, Value>,
}

/// One broken rule of a [`Spec`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Violation {
    /// Where, relative to the spec: `chat_completions.writes[0].values.low`; empty for the spec as a whole.
    pub path: String,
    /// What was found; reads on after that word.
    pub found: String,
    /// What is allowed; reads on after the word "expected".
    pub expected: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}
