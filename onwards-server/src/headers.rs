//! Which headers travel: from the client to a provider, and from a provider to the client (spec C.6 to C.8).

use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue};

/// The header that names the alias instead of the body.
pub(crate) const MODEL_OVERRIDE: HeaderName = HeaderName::from_static("model-override");
/// The header that identifies a request in logs on both sides.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The number of the configuration that served a request.
pub(crate) const GENERATION: HeaderName = HeaderName::from_static("x-onwards-generation");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// What a provider adds to the headers of every request.
#[derive(Debug)]
pub(crate) struct Outbound {
    /// The upstream's `host`.
    pub(crate) host: HeaderValue,
    /// The provider's credentials, if it takes any.
    pub(crate) auth: Option<(HeaderName, HeaderValue)>,
    /// True when the client's trace context goes on to this provider.
    pub(crate) trace: bool,
}

/// The headers of an upstream request: the client's without what must stay behind, with what the provider needs.
///
/// `decoded` says that the body is no longer compressed as the client sent it.
pub(crate) fn upstream(
    client: &HeaderMap,
    outbound: &Outbound,
    body_len: u64,
    decoded: bool,
) -> HeaderMap {
    let nominated = nominated(client);
    let mut headers = HeaderMap::with_capacity(client.len() + 4);
    headers.insert(header::HOST, outbound.host.clone());
    for (name, value) in client {
        if stays_behind(name.as_str(), outbound.trace)
            || nominated
                .as_ref()
                .is_some_and(|nominated| nominated.contains(name.as_str()))
            || (decoded && name == header::CONTENT_ENCODING)
        {
            continue;
        }
        headers.append(name.clone(), value.clone());
    }
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body_len));
    headers.insert(FORWARDED_PROTO, HeaderValue::from_static("https"));
    if let Some((name, value)) = &outbound.auth {
        headers.insert(name.clone(), value.clone());
    }
    headers
}

/// Removes from a provider's answer what concerns only the connection it came on, and sets the configured headers.
pub(crate) fn downstream(headers: &mut HeaderMap, configured: &[(HeaderName, HeaderValue)]) {
    if let Some(nominated) = nominated(headers) {
        for name in nominated.0 {
            headers.remove(name.as_str());
        }
    }
    if headers.contains_key(header::TRANSFER_ENCODING) {
        headers.remove(header::CONTENT_LENGTH); // the framing was the encoding's (RFC 9112, 6.3)
    }
    for name in &HOP_BY_HOP {
        headers.remove(name);
    }
    configure(headers, configured);
}

/// Sets the configured headers of an answer, in place of those of the same name.
pub(crate) fn configure(headers: &mut HeaderMap, configured: &[(HeaderName, HeaderValue)]) {
    for (name, value) in configured {
        headers.insert(name.clone(), value.clone());
    }
}

/// Hop-by-hop fields (RFC 9110, 7.6.1) and the framing, which each side of the gateway does for itself.
static HOP_BY_HOP: [HeaderName; 8] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    header::TRANSFER_ENCODING,
];

/// True for a client's header that never reaches a provider.
fn stays_behind(name: &str, trace: bool) -> bool {
    match name {
        // hop by hop, framing, and what the gateway has already answered for
        "connection" | "keep-alive" | "proxy-authenticate" | "proxy-authorization" | "proxy-connection" | "te" | "trailer" | "upgrade"
        | "transfer-encoding" | "content-length" | "expect" | "host" | "x-forwarded-proto"
        // the client's credentials
        | "authorization" | "x-api-key" | "api-key" | "cookie"
        // what a browser says of itself
        | "origin" | "referer" | "sec-fetch-site" | "sec-fetch-mode" | "sec-fetch-dest" | "sec-fetch-user"
        // conditional requests
        | "if-modified-since" | "if-none-match" | "if-match" | "if-unmodified-since" | "if-range"
        // the gateway's own
        | "model-override" => true,
        "traceparent" | "tracestate" | "baggage" => !trace,
        _ => name.starts_with("sec-ch-ua"),
    }
}

/// Header names that a `Connection` header gives to this hop alone.
struct Nominated(Vec<String>);

impl Nominated {
    fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|nominated| nominated == name)
    }
}

fn nominated(headers: &HeaderMap) -> Option<Nominated> {
    headers.get(header::CONNECTION)?;
    let names: Vec<String> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|token| token.trim().to_ascii_lowercase())
        .filter(|token| !matches!(token.as_str(), "" | "close" | "keep-alive"))
        .collect();
    (!names.is_empty()).then_some(Nominated(names))
}

#[cfg(test)]
mod tests;
