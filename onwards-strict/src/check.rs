//! Requests: does a body fit the contract, and what does the gateway need to know of it.

use std::fmt;

use onwards_json::ScanError;

use crate::{
    Endpoint,
    catalog::Flags,
    fault::{Fault, Found, describe},
    schema::{Node, Note},
    walk::{Fills, Walk},
};

/// What a request that fits says. The body itself is forwarded as it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// Whether it asks for a stream.
    pub stream: bool,
    /// Whether `stream_options.include_usage` is true.
    pub include_usage: bool,
    /// Parameters of the [catalog](crate::catalog) it uses; empty for endpoints other than chat.
    pub flagged: Flags,
}

/// Why a request is refused: a 400. No value of the request is quoted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub struct Defect {
    /// Whether the text or its shape is at fault.
    pub kind: DefectKind,
    /// The member, such as `messages[0].role`; empty for the whole body.
    pub path: String,
    /// What was expected there, such as `a string`.
    pub expected: String,
    /// What stands there; `None` if the body is no JSON.
    pub found: Option<Found>,
}

/// The two kinds of defects, counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefectKind {
    /// The body is no JSON text.
    InvalidJson,
    /// The body is JSON of another shape.
    SchemaMismatch,
}

impl DefectKind {
    /// The code it is counted under: `invalid_json` or `schema_mismatch`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::InvalidJson => "invalid_json",
            Self::SchemaMismatch => "schema_mismatch",
        }
    }
}

impl Defect {
    /// The message for the caller. Starts with `Invalid request: `, names the member, says what was
    /// expected, and quotes no value.
    #[must_use]
    pub fn message(&self) -> String {
        let Self {
            path,
            expected,
            found,
            ..
        } = self;
        let place = if path.is_empty() {
            "the body".to_owned()
        } else {
            format!("`{path}`")
        };
        match found {
            None => format!("Invalid request: the body is not valid JSON ({expected})."),
            Some(Found::Nothing) => {
                format!("Invalid request: {place} is missing, expected {expected}.")
            }
            Some(Found::Twice) => format!("Invalid request: {place} is given more than once."),
            Some(Found::Value(kind)) => {
                format!("Invalid request: {place} must be {expected}, found {kind}.")
            }
        }
    }
}

impl fmt::Display for DefectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// Checks a request body. Unknown members are allowed, optional ones may be null.
///
/// # Errors
/// The first [`Defect`]. A body that breaks the shape and further on the grammar is
/// [`DefectKind::InvalidJson`].
pub fn check(endpoint: Endpoint, body: &[u8]) -> Result<Checked, Defect> {
    let Some(node) = endpoint.request() else {
        return onwards_json::object(body)
            .map(|_| Checked {
                stream: false,
                include_usage: false,
                flagged: Flags::default(),
            })
            .map_err(|error| Defect::syntax(&error));
    };
    walk(node, body).map_err(|fault| match *fault {
        Fault::Syntax(error) => Defect::syntax(&error),
        Fault::Shape(misfit) => match whole(body) {
            Err(error) => Defect::syntax(&error),
            Ok(()) => Defect {
                kind: DefectKind::SchemaMismatch,
                path: misfit.path(),
                expected: describe(misfit.wanted),
                found: Some(misfit.found),
            },
        },
    })
}

fn walk(node: &'static Node, body: &[u8]) -> Result<Checked, Box<Fault>> {
    // No row of a request table edits, so nothing is ever written.
    let (mut out, fills) = (Vec::new(), Fills::default());
    let mut walk = Walk::new(body, &mut out, &fills)?;
    walk.survey(node)?;
    Ok(Checked {
        stream: walk.noted(Note::Stream),
        include_usage: walk.noted(Note::IncludeUsage),
        flagged: walk.flags,
    })
}

/// Whether the whole text is JSON.
fn whole(body: &[u8]) -> Result<(), ScanError> {
    let mut scanner = onwards_json::Scanner::new(body)?;
    scanner.skip()?;
    scanner.finish()
}

impl Defect {
    fn syntax(error: &ScanError) -> Self {
        Self {
            kind: DefectKind::InvalidJson,
            path: String::new(),
            expected: error.to_string(),
            found: None,
        }
    }
}

#[cfg(test)]
mod tests;
