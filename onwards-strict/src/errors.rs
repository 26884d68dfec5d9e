//! What a caller may see of a provider's error.
//!
//! The standard texts depend on the status only, statuses that speak about the operator's account are
//! masked, and errors hidden in successful answers are found and told from answers.

use onwards_json::{Kind, Scanner, Value};

/// The public face of a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standard {
    /// The `type` of the error object.
    pub kind: &'static str,
    /// The `message` of the error object.
    pub message: &'static str,
}

/// The status an untrusted provider's status is shown as: 401, 402, 403 and 451 speak of the operator's
/// account and become 502, 408 is the gateway's own wait and becomes 504.
#[must_use]
pub fn mask(status: u16) -> u16 {
    match status {
        401 | 402 | 403 | 451 => 502,
        408 => 504,
        other => other,
    }
}

/// Type and message of a status that is already masked.
#[must_use]
pub fn standard(status: u16) -> Standard {
    let (kind, message) = match status {
        400 => ("invalid_request_error", "Invalid request"),
        401 => ("authentication_error", "Authentication failed"),
        403 => ("permission_error", "Permission denied"),
        404 => ("not_found_error", "Not found"),
        413 => ("invalid_request_error", "Request too large"),
        422 => ("invalid_request_error", "Unprocessable request"),
        429 => ("rate_limit_error", "Rate limit exceeded"),
        500 => ("api_error", "Internal server error"),
        502 => ("api_error", "Bad gateway"),
        503 => ("api_error", "Service unavailable"),
        504 => ("api_error", "Gateway timeout"),
        _ => ("api_error", "An error occurred"),
    };
    Standard { kind, message }
}

/// The body of a standard error: `code` and `param` are null. The status is masked here.
#[must_use]
pub fn body(status: u16) -> String {
    envelope(mask(status), "null")
}

fn envelope(masked: u16, code: &str) -> String {
    let Standard { kind, message } = standard(masked);
    format!(r#"{{"error":{{"message":"{message}","type":"{kind}","param":null,"code":{code}}}}}"#)
}

/// An error inside a successful answer or chunk.
#[derive(Debug, Clone, Copy)]
pub struct Embedded<'t> {
    error: Value<'t>,
    code: Code,
}

/// What the error's `code` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    /// A number or numeric string from 400 to 599.
    Status(u16),
    /// One of the names of a rate limit.
    RateLimit,
    /// Anything else, or nothing.
    Other,
}

impl<'t> Embedded<'t> {
    /// The status the code stands for: rate limit names are 429, everything unknown is 500. Not masked.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self.code {
            Code::Status(status) => status,
            Code::RateLimit => 429,
            Code::Other => 500,
        }
    }

    /// The status an untrusted provider's error is shown with.
    #[must_use]
    pub fn masked(&self) -> u16 {
        mask(self.status())
    }

    /// Whether the code is a number or numeric string from 400 to 599: the only codes that turn an answer
    /// that has no other fault into a failed attempt.
    #[must_use]
    pub fn is_status(&self) -> bool {
        matches!(self.code, Code::Status(_))
    }

    /// The error as it was sent.
    #[must_use]
    pub fn text(&self) -> &'t str {
        self.error.text()
    }

    /// Appends the error of a trusted provider as a body or event of its own: the object as it was sent,
    /// nothing else of what it was found in, on one line.
    pub fn write_verbatim(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"error\":");
        out.extend(
            self.text()
                .bytes()
                .filter(|byte| !matches!(byte, b'\n' | b'\r')),
        );
        out.push(b'}');
    }

    /// Appends the error of an untrusted provider as an event of its own: masked, in standard words, with
    /// the masked code as a number.
    pub fn write_standard(&self, out: &mut Vec<u8>) {
        let masked = self.masked();
        out.extend_from_slice(envelope(masked, &masked.to_string()).as_bytes());
    }
}

/// Finds an error in a complete JSON object: a member `error` that is an object with a `message` or a
/// `code`, or a string with something in it. `null`, `{}` and an absent one are no error; a text that is
/// no JSON object has none.
#[must_use]
pub fn embedded(text: &[u8]) -> Option<Embedded<'_>> {
    let mut scanner = Scanner::new(text).ok()?;
    scanner.enter_object().ok()?;
    let mut error = None;
    while let Some(name) = scanner.next_key().ok()? {
        let value = scanner.skip().ok()?;
        if name.is("error") {
            error = Some(value);
        }
    }
    scanner.finish().ok()?;
    let error = error?;
    match error.kind() {
        Kind::String if error.text() != "\"\"" => Some(Embedded {
            error,
            code: Code::Other,
        }),
        Kind::Object => {
            let mut found = false;
            let mut code = Code::Other;
            for member in error.members() {
                let name = member.name();
                let value = member.value();
                if matches!(&*name, "message" | "code") && !value.is_null() {
                    found = true;
                }
                if name == "code" {
                    code = Code::of(&value);
                }
            }
            found.then_some(Embedded { error, code })
        }
        _ => None,
    }
}

impl Code {
    fn of(value: &Value<'_>) -> Self {
        let number = match value.kind() {
            Kind::Number => value.as_f64(),
            Kind::String => {
                let text = value.as_str().unwrap_or_default();
                match text.trim() {
                    "rate_limit" | "rate_limit_error" | "rate_limit_exceeded" => {
                        return Self::RateLimit;
                    }
                    digits => digits.parse::<u16>().ok().map(f64::from),
                }
            }
            _ => None,
        };
        match (400..600_u16).find(|status| number == Some(f64::from(*status))) {
            Some(status) => Self::Status(status),
            None => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests;
