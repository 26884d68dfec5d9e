//! Errors.

use std::borrow::Cow;

use onwards_json::{Kind, Value};

use crate::failure::{Failure, class, retryable};
use crate::text;
use crate::write::object;

/// Writes an error as clients know it.
pub(crate) fn write_failure(failure: &Failure, request_id: &str, out: &mut String) {
    object(out, |o| {
        o.object("error", |o| {
            o.text("message", &failure.message);
            o.text("type", &failure.kind);
            for (name, value) in [("param", &failure.param), ("code", &failure.code)] {
                match value {
                    Some(value) => o.text(name, value),
                    None => o.null(name),
                }
            }
            o.text("request_id", request_id);
        });
    });
}

/// Reads a provider's answer with an error status.
pub(crate) fn read_failure(status: u16, body: &[u8]) -> Failure {
    let error = std::str::from_utf8(body)
        .ok()
        .and_then(|body| text::value(body.trim()))
        .and_then(|value| Said::of_body(&value));
    error.map_or_else(|| Failure::unsaid(status), |error| error.failure(status))
}

/// The error that a body of a successful answer holds instead of one.
pub(crate) fn embedded_error(body: &str) -> Option<Failure> {
    // Most bodies do not have the word.
    if !body.contains("\"error\"") {
        return None;
    }
    let value = text::value(body.trim())?;
    let has_choices = value
        .members()
        .any(|member| member.is("choices") && member.value().elements().next().is_some());
    Said::of_body(&value)
        .filter(|_| !has_choices)
        .map(Said::embedded)
}

/// The error of a frame: the value of its member `error`, or all of it.
pub(crate) fn frame_failure(value: &Value<'_>) -> Failure {
    Said::of(value).unwrap_or_default().embedded()
}

/// What servers say of an error.
#[derive(Debug, Default)]
struct Said<'a> {
    message: Option<Cow<'a, str>>,
    kind: Option<Cow<'a, str>>,
    code: Option<Cow<'a, str>>,
    param: Option<Cow<'a, str>>,
}

impl<'a> Said<'a> {
    /// From the body of an answer: under `error`, or beside each other, as some servers and Azure's front have it.
    fn of_body(value: &Value<'a>) -> Option<Self> {
        let member = |name: &str| {
            value
                .members()
                .find(|member| member.is(name))
                .map(|member| member.value())
                .filter(|value| !value.is_null())
        };
        // One server wraps its error in an array.
        if value.kind() == Kind::Array {
            let first = value.elements().next()?;
            return (first.kind() == Kind::Object)
                .then(|| Self::of_body(&first))
                .flatten();
        }
        if let Some(error) = member("error") {
            return Self::of(&error);
        }
        let told = member("message").or_else(|| member("detail"));
        told.filter(|told| told.kind() == Kind::String)?;
        Self::of(value)
    }

    fn of(value: &Value<'a>) -> Option<Self> {
        let mut said = Self::default();
        if let Some(text) = value.as_str() {
            said.message = Some(text);
            return Some(said);
        }
        if value.kind() != Kind::Object {
            return None;
        }
        for member in value.members() {
            let value = member.value();
            let word = match value.kind() {
                Kind::String => value.as_str(),
                Kind::Number => Some(Cow::Borrowed(value.text())),
                _ => None,
            };
            let Some(word) = word.filter(|word| !word.is_empty()) else {
                continue;
            };
            match &*member.name() {
                "message" => said.message = Some(word),
                "detail" => said.message = said.message.or(Some(word)),
                "type" => said.kind = Some(word),
                "code" => said.code = Some(word),
                "param" => said.param = Some(word),
                _ => {}
            }
        }
        Some(said)
    }

    fn failure(self, status: u16) -> Failure {
        let owned = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
        Failure {
            status,
            kind: owned(self.kind).unwrap_or_else(|| class(status).to_owned()),
            code: owned(self.code),
            param: owned(self.param),
            message: owned(self.message)
                .unwrap_or_else(|| "the provider returned an error".to_owned()),
            retry_after: None,
            retryable: retryable(status),
        }
    }

    /// An error without an HTTP status: what it says of itself.
    fn embedded(self) -> Failure {
        let status = self.status();
        self.failure(status)
    }

    fn status(&self) -> u16 {
        let number = self.code.as_deref().and_then(|code| code.parse().ok());
        if let Some(status) = number.filter(|status| (400..600).contains(status)) {
            return status;
        }
        let words = || {
            [self.kind.as_deref(), self.code.as_deref()]
                .into_iter()
                .flatten()
        };
        let any = |starts: &[&str]| {
            words().any(|word| starts.iter().any(|start| word.starts_with(start)))
        };
        match () {
            () if any(&["rate_limit", "insufficient_quota"]) => 429,
            () if any(&["invalid_request"]) => 400,
            () if any(&["overloaded"]) => 503,
            () => 500,
        }
    }
}
