//! Errors, told by a status and headers, in a body or in a stream.

use onwards_json::{Kind, Value};

use super::member;
use crate::failure::{Failure, retryable};
use crate::text::value;

/// Errors of the runtime, as streams name them, with the status that each has outside of streams.
const KINDS: [(&str, u16); 12] = [
    ("accessDeniedException", 403),
    ("conflictException", 400),
    ("internalServerException", 500),
    ("modelErrorException", 424),
    ("modelNotReadyException", 429),
    ("modelStreamErrorException", 424),
    ("modelTimeoutException", 408),
    ("resourceNotFoundException", 404),
    ("serviceQuotaExceededException", 400),
    ("serviceUnavailableException", 503),
    ("throttlingException", 429),
    ("validationException", 400),
];

/// Errors that lie with one model or one moment, whatever their status says.
const PASSING: [&str; 4] = [
    "modelErrorException",
    "modelNotReadyException",
    "modelStreamErrorException",
    "modelTimeoutException",
];

/// Reads an error that came with a status of its own.
pub(crate) fn read_failure(
    status: u16,
    header: &dyn Fn(&str) -> Option<String>,
    body: &[u8],
) -> Failure {
    let body = std::str::from_utf8(body).ok().and_then(value);
    let name = header("x-amzn-errortype")
        .map(|name| plain_name(&name).to_owned())
        .filter(|name| !name.is_empty())
        .or_else(|| body.as_ref().and_then(body_name));
    failure(status, name.as_deref(), body.as_ref())
}

/// Reads an error that a stream tells: `kind` is its `:exception-type`, or its `:error-code`.
pub(crate) fn read_exception(kind: &str, payload: &str) -> Failure {
    let kind = plain_name(kind);
    let body = value(payload);
    let failure = failure(status(kind), Some(kind), body.as_ref());
    let said = payload.trim();
    if body.is_none() && !said.is_empty() {
        return Failure {
            message: said.to_owned(),
            ..failure
        };
    }
    failure
}

/// The error that an object is.
pub(super) fn embedded(body: &Value<'_>) -> Option<Failure> {
    if body.kind() != Kind::Object {
        return None;
    }
    let name = body_name(body);
    message(body)?;
    let status = name.as_deref().map_or(500, status);
    Some(failure(status, name.as_deref(), Some(body)))
}

fn status(name: &str) -> u16 {
    let known = KINDS
        .iter()
        .find(|(kind, _)| kind.eq_ignore_ascii_case(name));
    known.map_or(500, |(_, status)| *status)
}

/// A name without the address behind it and the space before it.
fn plain_name(name: &str) -> &str {
    let name = name.split(':').next().unwrap_or_default();
    name.rsplit('#').next().unwrap_or_default().trim()
}

fn body_name(body: &Value<'_>) -> Option<String> {
    let name = member(body, "__type")?.as_str()?;
    Some(plain_name(&name).to_owned()).filter(|name| !name.is_empty())
}

/// The envelope that servers use which imitate the service with that of another dialect.
fn envelope<'a>(body: &Value<'a>) -> Option<Value<'a>> {
    member(body, "error").filter(|error| error.kind() == Kind::Object)
}

fn message(body: &Value<'_>) -> Option<String> {
    let text = |value: &Value<'_>, name| {
        let text = member(value, name)?.as_str()?;
        (!text.is_empty()).then(|| text.into_owned())
    };
    text(body, "message")
        .or_else(|| text(body, "Message"))
        .or_else(|| text(&envelope(body)?, "message"))
}

fn failure(status: u16, name: Option<&str>, body: Option<&Value<'_>>) -> Failure {
    let code = match name {
        Some(name) => Some(snake(name)).filter(|code| !code.is_empty()),
        None => body
            .and_then(envelope)
            .and_then(|error| Some(member(&error, "type")?.as_str()?.into_owned())),
    };
    let passing = name.is_some_and(|name| {
        PASSING
            .iter()
            .any(|passing| passing.eq_ignore_ascii_case(name))
    });
    let said = body.and_then(message);
    let failure = match said {
        Some(said) => Failure::of(status, None, said),
        None => Failure::unsaid(status),
    };
    Failure {
        code,
        retryable: retryable(status) || passing,
        ..failure
    }
}

/// `ModelTimeoutException` is `model_timeout`.
fn snake(name: &str) -> String {
    let name = name.strip_suffix("Exception").unwrap_or(name);
    let mut out = String::with_capacity(name.len() + 4);
    for letter in name.chars().take(64) {
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}
