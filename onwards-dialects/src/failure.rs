//! What goes wrong: requests that cannot be translated, answers that cannot be read, and errors of providers.

use std::fmt;

/// A request that cannot be read in the client's protocol, or cannot be said in the provider's dialect: the client's fault, told
/// with status 400.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Rejected {
    /// A word of the specification (providers 8.1): `invalid_json`, `invalid_request`, `unsupported_parameter`,
    /// `unsupported_content`, `image_fetch_failed`, `endpoint_not_supported`, `tool_call_id_missing`, `conversation_empty`,
    /// `reasoning_budget_exceeds_limit`.
    pub code: &'static str,
    /// The member at fault: a JSON pointer, or a parameter's name.
    pub param: Option<String>,
    /// What was found and what was expected.
    pub message: String,
}

impl Rejected {
    /// With a code, the member at fault, and a message.
    #[must_use]
    pub fn new(code: &'static str, param: Option<String>, message: impl Into<String>) -> Self {
        Self {
            code,
            param: param.filter(|param| !param.is_empty()),
            message: message.into(),
        }
    }

    /// A parameter that the provider has no counterpart for and that cannot be left out.
    #[must_use]
    pub fn unsupported(name: &str) -> Self {
        Self::new(
            "unsupported_parameter",
            Some(name.to_owned()),
            format!("`{name}` is not supported by the provider of this model"),
        )
    }

    /// A piece of a message that the provider cannot be sent.
    #[must_use]
    pub fn content(pointer: &str, what: &str) -> Self {
        Self::new(
            "unsupported_content",
            Some(pointer.to_owned()),
            format!("{pointer}: {what} cannot be sent to the provider of this model"),
        )
    }
}

/// An answer or an event that is not what its dialect says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// What is wrong, for the log; holds nothing of the answer.
    pub why: &'static str,
}

impl Unreadable {
    /// With what is wrong.
    #[must_use]
    pub fn new(why: &'static str) -> Self {
        Self { why }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.why)
    }
}

impl std::error::Error for Unreadable {}

/// An error that a provider has told, or that the gateway tells, before any dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// HTTP status. An error inside a stream has the status that it would have had before.
    pub status: u16,
    /// The class, in OpenAI's words (`invalid_request_error`, `rate_limit_error`, `overloaded_error`, …).
    pub kind: String,
    /// A word for programs, if there is one.
    pub code: Option<String>,
    /// The member at fault, if there is one.
    pub param: Option<String>,
    /// What happened, for people.
    pub message: String,
    /// Seconds after which the provider wants to be asked again, from the body.
    pub retry_after: Option<u64>,
    /// True for errors that another provider may not have, beyond what the status says (Bedrock names of spec providers 3.5).
    pub retryable: bool,
}

impl Failure {
    /// An error with the class that goes with its status.
    #[must_use]
    pub fn of(status: u16, code: Option<&str>, message: impl Into<String>) -> Self {
        Self {
            status,
            kind: class(status).to_owned(),
            code: code.map(ToOwned::to_owned),
            param: None,
            message: message.into(),
            retry_after: None,
            retryable: retryable(status),
        }
    }

    /// A provider's error that says nothing that can be read.
    #[must_use]
    pub fn unsaid(status: u16) -> Self {
        Self::of(status, None, "the provider returned an error")
    }
}

/// The class of an error by its status (spec providers 8.1).
#[must_use]
pub fn class(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        503 | 529 => "overloaded_error",
        408 => "api_error",
        400..500 => "invalid_request_error",
        _ => "api_error",
    }
}

/// True for a status that another provider may not answer with.
#[must_use]
pub fn retryable(status: u16) -> bool {
    status == 429 || status >= 500
}
