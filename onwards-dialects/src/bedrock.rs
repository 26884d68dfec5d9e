//! The dialect of AWS Bedrock: Converse, and InvokeModel with Anthropic's bodies (spec providers 3.5).
//!
//! Which of the two a request goes to is the operator's to say. Answers of both are read here by what they are.

mod answer;
mod content;
mod count;
mod decoder;
mod failure;
mod invoke;
mod request;
mod shape;
mod stop;
mod tools;

pub(crate) use answer::{embedded_error, read_answer};
pub(crate) use count::{count_path, read_count, write_count};
pub(crate) use decoder::Decoder;
pub(crate) use failure::{read_exception, read_failure};
pub(crate) use request::is_claude;

use onwards_json::Value;

use crate::answer::Usage;
use crate::failure::Rejected;
use crate::options::{BedrockApi, Settings, Written};
use crate::request::Request;

/// Where a request goes: the model is one segment of the path, however it is written.
pub(crate) fn path(settings: &Settings<'_>, stream: bool) -> String {
    let action = match (settings.options.bedrock_api, stream) {
        (BedrockApi::Converse, false) => "converse",
        (BedrockApi::Converse, true) => "converse-stream",
        (BedrockApi::InvokeAnthropic, false) => "invoke",
        (BedrockApi::InvokeAnthropic, true) => "invoke-with-response-stream",
    };
    model_path(settings.model, action)
}

/// A request in the dialect of the API that the operator has chosen.
///
/// # Errors
/// What cannot be said in it and must not be left out.
pub(crate) fn write_request(
    request: &Request<'_>,
    settings: &Settings<'_>,
) -> Result<Written, Rejected> {
    match settings.options.bedrock_api {
        BedrockApi::Converse => request::write(request, settings, false),
        BedrockApi::InvokeAnthropic => invoke::write_request(request, settings),
    }
}

fn model_path(model: &str, action: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut path = String::from("/model/");
    for byte in model.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            path.push(char::from(byte));
        } else {
            path.push('%');
            for digit in [byte >> 4, byte & 15] {
                let digit = DIGITS.get(usize::from(digit)).copied().unwrap_or(b'0');
                path.push(char::from(digit));
            }
        }
    }
    path.push('/');
    path.push_str(action);
    path
}

/// A member of an object that is not `null`; of several the last.
fn member<'a>(value: &Value<'a>, name: &str) -> Option<Value<'a>> {
    let found = value.members().filter(|member| member.is(name)).last()?;
    Some(found.value()).filter(|value| !value.is_null())
}

/// Counts as Converse gives them: what concerns a cache is not in the number of the prompt.
fn usage(counts: &Value<'_>) -> Option<Usage> {
    let count = |name| member(counts, name).and_then(|count| count.as_u64());
    let (input, output) = (count("inputTokens"), count("outputTokens"));
    if input.is_none() && output.is_none() {
        return None;
    }
    let cached = count("cacheReadInputTokens");
    let cache_write = count("cacheWriteInputTokens");
    let prompt = [input, cached, cache_write]
        .into_iter()
        .flatten()
        .fold(0_u64, u64::saturating_add);
    Some(Usage {
        prompt,
        completion: output.unwrap_or(0),
        total: None,
        cached,
        cache_write,
        reasoning: None,
    })
}

#[cfg(test)]
mod tests;
