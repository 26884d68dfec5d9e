//! Errors of providers, replaced by what a client may know (spec K.5, L).

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use onwards_strict::errors;

use super::json;
use super::unary::read;
use crate::body::Body;
use crate::house::Settings;
use crate::refusal::Refusal;
use crate::transport::Answer;

/// The most of an error's body that is looked at.
const MOST: usize = 64 * 1024;

/// A strict client's view of an untrusted provider's error: the status, masked, and a standard text. A numeric
/// `retry-after` survives, because retrying needs it.
pub(super) async fn standardised(answer: Answer, settings: &Settings) -> Response<Body> {
    let (head, body) = answer.into_parts();
    let status = head.status.as_u16();
    note(status, body, settings).await;
    let masked = StatusCode::from_u16(errors::mask(status)).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut headers = HeaderMap::new();
    if let Some(seconds) = numeric_retry_after(&head.headers) {
        headers.insert(header::RETRY_AFTER, seconds);
    }
    if masked == StatusCode::NOT_MODIFIED {
        let mut response = Response::new(Body::full(""));
        *response.status_mut() = masked;
        return response;
    }
    json(masked, headers, errors::body(status))
}

/// The error that a sanitised provider's error is replaced by: the status kept, the text the gateway's.
pub(super) async fn replaced(answer: Answer, settings: &Settings) -> Response<Body> {
    let (head, body) = answer.into_parts();
    note(head.status.as_u16(), body, settings).await;
    let refusal = if head.status.is_client_error() {
        Refusal::UpstreamError
    } else {
        Refusal::Internal
    };
    let mut response = refusal.response();
    *response.status_mut() = head.status;
    response
}

/// Reads what the provider had to say, so that its connection can be used again, and notes how much that was. The text
/// itself is logged only where the operator has asked for it: it can repeat a prompt.
async fn note(status: u16, body: crate::transport::UpstreamBody, settings: &Settings) {
    let text = read(body, MOST, Some(std::time::Duration::from_secs(1))).await;
    let bytes = text.as_ref().map(bytes::Bytes::len).ok();
    match text {
        Ok(text) if settings.log_error_bodies => {
            let body = String::from_utf8_lossy(&text);
            tracing::error!(status, bytes, %body, "a provider's error was replaced");
        }
        _ => tracing::error!(status, bytes, "a provider's error was replaced"),
    }
}

fn numeric_retry_after(headers: &HeaderMap) -> Option<HeaderValue> {
    let seconds: u64 = headers
        .get(header::RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()?;
    Some(HeaderValue::from(seconds))
}
