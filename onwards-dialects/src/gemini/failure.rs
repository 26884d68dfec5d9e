//! Errors of a provider, and errors as clients are told them.

use onwards_json::{Kind, Value};

use crate::failure::Failure;
use crate::text::value;
use crate::write::object;

use super::wire::member;

/// Reads an error that came with a status of its own.
pub(crate) fn read_failure(
    status: u16,
    _header: &dyn Fn(&str) -> Option<String>,
    body: &[u8],
) -> Failure {
    std::str::from_utf8(body)
        .ok()
        .and_then(value)
        .and_then(|body| error(&body))
        .map_or_else(|| Failure::unsaid(status), |error| failure(status, &error))
}

/// The error that stands in a body or an event instead of an answer.
pub(crate) fn embedded_error(body: &str) -> Option<Failure> {
    Some(embedded(&error(&value(body)?)?))
}

/// The same, given the member `error`.
pub(super) fn embedded(error: &Value<'_>) -> Failure {
    let status = member(error, "code")
        .and_then(|code| code.as_u64())
        .and_then(|code| u16::try_from(code).ok())
        .filter(|code| (400..600).contains(code));
    failure(status.unwrap_or(500), error)
}

/// The error in a body, which may be wrapped in a list.
fn error<'a>(body: &Value<'a>) -> Option<Value<'a>> {
    match body.kind() {
        Kind::Array => member(&body.elements().next()?, "error"),
        _ => member(body, "error"),
    }
}

fn failure(status: u16, error: &Value<'_>) -> Failure {
    let text = |name| {
        member(error, name)
            .and_then(|value| value.as_str())
            .filter(|text| !text.is_empty())
    };
    let code = text("status").map(|status| status.to_lowercase());
    let mut failure = match text("message").or_else(|| error.as_str()) {
        Some(message) => Failure::of(status, code.as_deref(), message),
        None => Failure {
            code,
            ..Failure::unsaid(status)
        },
    };
    failure.retry_after = member(error, "details")
        .iter()
        .flat_map(Value::elements)
        .find_map(|detail| seconds(&member(&detail, "retryDelay")?.as_str()?));
    failure
}

/// A span of time such as `34s` or `1.5s`, in whole seconds, rounded up.
fn seconds(span: &str) -> Option<u64> {
    let number = span.strip_suffix('s')?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let more = fraction.bytes().any(|digit| digit != b'0');
    whole.parse::<u64>().ok()?.checked_add(u64::from(more))
}

/// Writes an error for a client. The id of the request is in a header; the envelope has no place for it.
pub(crate) fn write_failure(failure: &Failure, _request_id: &str, out: &mut String) {
    object(out, |o| {
        o.object("error", |o| {
            o.u64("code", u64::from(failure.status));
            o.text("message", &failure.message);
            o.text("status", status(failure.status));
            if let Some(code) = &failure.code {
                o.array("details", |list| {
                    list.object(|o| {
                        o.text("@type", "type.googleapis.com/google.rpc.ErrorInfo");
                        o.text("reason", code);
                    });
                });
            }
        });
    });
}

/// Google's word for a status.
pub(super) fn status(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        402 => "FAILED_PRECONDITION",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        408 | 504 => "DEADLINE_EXCEEDED",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        501 => "UNIMPLEMENTED",
        502 | 503 | 529 => "UNAVAILABLE",
        400..=499 => "INVALID_ARGUMENT",
        _ => "INTERNAL",
    }
}

#[cfg(test)]
mod tests;
