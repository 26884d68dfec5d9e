//! Errors in Anthropic's envelope, from a provider and to a client (spec providers 3.3, 4.2, 8.1).

use onwards_json::{Kind, Value};

use super::member;
use crate::failure::{self, Failure};
use crate::text::value;
use crate::write::object;

/// Types of errors and the status that goes with each.
const TYPES: [(&str, u16); 10] = [
    ("invalid_request_error", 400),
    ("authentication_error", 401),
    ("billing_error", 402),
    ("permission_error", 403),
    ("not_found_error", 404),
    ("request_too_large", 413),
    ("rate_limit_error", 429),
    ("api_error", 500),
    ("timeout_error", 504),
    ("overloaded_error", 529),
];

/// A provider's error by its status and body. Hints in headers are for whoever has the headers.
pub(crate) fn read_failure(
    status: u16,
    _header: &dyn Fn(&str) -> Option<String>,
    body: &[u8],
) -> Failure {
    std::str::from_utf8(body)
        .ok()
        .and_then(value)
        .and_then(|body| of_error(&member(&body, "error")?, Some(status)))
        .unwrap_or_else(|| Failure::unsaid(status))
}

/// The error that stands in the body of an answer with status 200.
pub(crate) fn embedded_error(body: &str) -> Option<Failure> {
    embedded(&value(body)?)
}

/// The error that an answer or an event is, its status by its type.
pub(super) fn embedded(value: &Value<'_>) -> Option<Failure> {
    if let Some(error) = member(value, "error") {
        return Some(of_error(&error, None).unwrap_or_else(|| Failure::unsaid(500)));
    }
    let kind = member(value, "type")?.as_text()?;
    kind.is("error").then(|| Failure::unsaid(500))
}

/// What an envelope holds.
fn of_error(error: &Value<'_>, status: Option<u16>) -> Option<Failure> {
    if let Some(message) = error.as_str() {
        return Some(Failure::of(status.unwrap_or(500), None, message));
    }
    if error.kind() != Kind::Object {
        return None;
    }
    let kind = member(error, "type").and_then(|kind| kind.as_str());
    let by_type = || {
        let known = TYPES.iter().find(|(name, _)| kind.as_deref() == Some(name));
        known.map(|(_, status)| *status)
    };
    // Servers that imitate the dialect put the status there.
    let by_code = || {
        let code = u16::try_from(member(error, "code")?.as_u64()?).ok();
        code.filter(|code| (400..600).contains(code))
    };
    let status = status.or_else(by_type).or_else(by_code).unwrap_or(500);
    let mut failure = Failure::unsaid(status);
    if let Some(message) = member(error, "message").and_then(|message| message.as_str()) {
        failure.message = message.into_owned();
    }
    failure.code = kind.map(Into::into);
    Some(failure)
}

/// An error as Anthropic's clients expect it.
pub(crate) fn write_failure(failure: &Failure, request_id: &str, out: &mut String) {
    let kind = client_type(failure.status);
    object(out, |o| {
        o.raw("type", "\"error\"");
        o.object("error", |o| {
            o.text("type", kind);
            match &failure.code {
                // The code of an Anthropic provider is the type over again.
                Some(code) if code != kind => {
                    o.text("message", &format!("[{code}] {}", failure.message));
                }
                _ => o.text("message", &failure.message),
            }
        });
        o.text("request_id", request_id);
    });
}

fn client_type(status: u16) -> &'static str {
    match status {
        402 => "billing_error",
        408 | 504 => "timeout_error",
        413 => "request_too_large",
        status => failure::class(status),
    }
}
