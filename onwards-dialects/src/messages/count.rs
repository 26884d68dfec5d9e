//! `count_tokens`, to a provider and to a client.

use super::writer::{Host, write_for};
use crate::failure::Rejected;
use crate::options::{Settings, Written};
use crate::request::Request;
use crate::text::value;
use crate::write::object;

/// Where Anthropic counts tokens.
pub(crate) fn count_path() -> &'static str {
    "/v1/messages/count_tokens"
}

/// A request to count the tokens of a prompt, without what is said of the answer only.
///
/// # Errors
/// As for the request itself.
pub(crate) fn write_count(
    request: &Request<'_>,
    settings: &Settings<'_>,
) -> Result<Written, Rejected> {
    write_for(Host::Counter, request, settings)
}

/// The number in a provider's answer.
pub(crate) fn read_count(body: &str) -> Option<u64> {
    super::member(&value(body)?, "input_tokens")?.as_u64()
}

/// The answer to a client.
pub(crate) fn write_count_answer(tokens: u64, out: &mut String) {
    object(out, |o| o.u64("input_tokens", tokens));
}
