//! Why an attempt at a provider failed, and what may follow.

use http::StatusCode;
use thiserror::Error;

use crate::transport::TransportError;

/// A failed attempt. Nothing of it has reached the client yet.
#[derive(Debug, Error)]
pub(crate) enum Fault {
    /// No response head came: the provider cannot be reached, or the connection broke.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The response head did not arrive within `request_timeout_secs`.
    #[error("no response head in time")]
    Timeout,
    /// The provider switches protocols, which nobody asked for.
    #[error("the provider switches protocols unasked")]
    UnexpectedSwitch,
    /// The first token of a stream did not arrive within the deadline.
    #[error("no first token in time")]
    FirstToken,
    /// The provider rejects the prompt itself.
    #[error("the provider rejects the prompt")]
    PromptRejected,
    /// Nobody is left but providers that asked to be left alone.
    #[error("every provider that is left asked for a pause")]
    Paused,
    /// The provider answered with a status that the pool lists as a reason to go on.
    #[error("status {0} is listed for failover")]
    Status(StatusCode),
    /// The provider's 2xx carries an error with this status.
    #[error("a success that carries an error of status {0}")]
    Embedded(u16),
    /// The provider's 2xx has no content.
    #[error("a success without content")]
    Empty,
    /// The provider's answer does not fit the contract.
    #[error("an answer that does not fit the contract")]
    Malformed,
    /// The request cannot be said in the provider's dialect.
    #[error("the request cannot be said in the provider's dialect: {}", .0.code)]
    Untranslatable(onwards_dialects::Rejected),
    /// The provider's own rate limit has no token left.
    #[error("the provider's rate limit is used up")]
    RateLimited {
        /// Until the next token.
        wait: std::time::Duration,
    },
}

impl Fault {
    /// One of a few words, for labels and traces.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Transport(_) => "transport_error",
            Self::Timeout => "timeout",
            Self::UnexpectedSwitch => "unexpected_switch",
            Self::FirstToken => "first_token_timeout",
            Self::PromptRejected => "prompt_rejected",
            Self::Paused => "paused",
            Self::Status(_) => "status",
            Self::Embedded(_) => "embedded_error",
            Self::Empty => "empty",
            Self::Malformed => "malformed",
            Self::Untranslatable(_) => "untranslatable",
            Self::RateLimited { .. } => "rate_limited",
        }
    }
}
