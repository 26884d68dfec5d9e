//! How many tokens a prompt has.

use super::{invoke, member, model_path, request};
use crate::failure::Rejected;
use crate::options::{BedrockApi, Settings, Written};
use crate::request::Request;
use crate::text::value;
use crate::write::object;

/// Where tokens are counted.
pub(crate) fn count_path(settings: &Settings<'_>) -> String {
    model_path(settings.model, "count-tokens")
}

/// A request to count the tokens of a prompt, without what is said of the answer only.
///
/// # Errors
/// As for the request itself.
pub(crate) fn write_count(
    request: &Request<'_>,
    settings: &Settings<'_>,
) -> Result<Written, Rejected> {
    if settings.options.bedrock_api == BedrockApi::InvokeAnthropic {
        return invoke::write_count(request, settings);
    }
    let written = request::write(request, settings, true)?;
    let mut body = String::with_capacity(written.body.len() + 32);
    object(&mut body, |o| {
        o.object("input", |o| o.raw("converse", &written.body));
    });
    Ok(Written { body, ..written })
}

/// The number in a provider's answer.
pub(crate) fn read_count(body: &str) -> Option<u64> {
    member(&value(body)?, "inputTokens")?.as_u64()
}
