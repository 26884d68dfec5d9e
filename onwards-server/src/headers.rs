//! Which headers travel: from the client to a provider, and from a provider to the client (spec C.6 to C.8).

use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue};
use onwards_dialects::wire::{OPERATORS_HEADERS, proves_client};

use crate::transport::Field;

/// The header that names the alias instead of the body.
pub(crate) const MODEL_OVERRIDE: HeaderName = HeaderName::from_static("model-override");
/// The header that identifies a request in logs on both sides.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The number of the configuration that served a request.
pub(crate) const GENERATION: HeaderName = HeaderName::from_static("x-onwards-generation");
static HOST: HeaderName = header::HOST;
static CONTENT_TYPE: HeaderName = header::CONTENT_TYPE;
static JSON: HeaderValue = HeaderValue::from_static("application/json");
static FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
static HTTPS: HeaderValue = HeaderValue::from_static("https");
static TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
static TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// What a provider adds to the headers of every request.
#[derive(Debug)]
pub(crate) struct Outbound {
    /// The upstream's `host`.
    pub(crate) host: HeaderValue,
    /// The provider's credentials, if it takes any.
    pub(crate) auth: Option<(HeaderName, HeaderValue)>,
    /// What the operator has set besides, in place of the client's.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// The provider's kind is known: what may prove who the client is stays behind, under whatever name.
    pub(crate) guarded: bool,
    /// True when the client's trace context goes on to this provider.
    pub(crate) trace: bool,
}

/// How a request is changed on its way, as far as its headers tell of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Changes {
    /// The body is no longer compressed as the client sent it.
    pub(crate) decoded: bool,
    /// The answer is read here, so it has to come uncompressed.
    pub(crate) read: bool,
    /// The body is JSON, whatever the client wrote.
    pub(crate) json: bool,
}

/// A span of the gateway's as a provider is told of it (W3C Trace Context).
#[derive(Debug)]
pub(crate) struct Parent {
    /// The value of `traceparent`.
    pub(crate) value: HeaderValue,
    /// The client began the trace, so its `tracestate` belongs to it.
    pub(crate) continued: bool,
}

impl Parent {
    /// Tells a provider of the span, in place of the client's.
    pub(crate) fn tell<'a>(&'a self, headers: &mut Vec<Field<'a>>) {
        headers.retain(|(name, _)| *name != TRACEPARENT && (self.continued || *name != TRACESTATE));
        headers.push((&TRACEPARENT, &self.value));
    }
}

/// The headers of an upstream request: the client's without what must stay behind, with what the provider needs. How the body
/// is framed is told by whoever sends it.
pub(crate) fn upstream<'a>(
    client: &'a HeaderMap,
    outbound: &'a Outbound,
    changes: Changes,
) -> Vec<Field<'a>> {
    let nominated = nominated(client);
    let replaced = |name: &HeaderName| {
        (changes.decoded && name == header::CONTENT_ENCODING)
            || (changes.read && name == header::ACCEPT_ENCODING)
            || (changes.json && name == header::CONTENT_TYPE)
            || (outbound.auth.as_ref()).is_some_and(|(auth, _)| auth == name)
            || outbound.headers.iter().any(|(set, _)| set == name)
    };
    let behind = |name: &str| {
        stays_behind(name, outbound.trace) || (outbound.guarded && proves_client(name))
    };
    let mut headers = Vec::with_capacity(client.len() + outbound.headers.len() + 5);
    headers.push((&HOST, &outbound.host));
    for (name, value) in client {
        if !behind(name.as_str())
            && !replaced(name)
            && !(nominated.as_ref()).is_some_and(|nominated| nominated.contains(name.as_str()))
        {
            headers.push((name, value));
        }
    }
    if changes.json {
        headers.push((&CONTENT_TYPE, &JSON));
    }
    headers.push((&FORWARDED_PROTO, &HTTPS));
    credentials(outbound, &mut headers);
    headers
}

/// The headers of an upstream request that has nothing of the client's: `own`, unless the operator has set them otherwise, and what
/// the provider needs.
pub(crate) fn own<'a>(
    own: &'a [(HeaderName, HeaderValue)],
    outbound: &'a Outbound,
) -> Vec<Field<'a>> {
    let mut headers = Vec::with_capacity(own.len() + outbound.headers.len() + 3);
    headers.push((&HOST, &outbound.host));
    let set = |name: &HeaderName| outbound.headers.iter().any(|(set, _)| set == name);
    for (name, value) in own.iter().filter(|(name, _)| !set(name)) {
        headers.push((name, value));
    }
    credentials(outbound, &mut headers);
    headers
}

/// The headers of an upstream request in the client's own protocol: the client's, but for those that say which account is used or
/// what is tried out, which is the operator's to say; and of `own` what is not among them.
pub(crate) fn native<'a>(
    client: &'a HeaderMap,
    own: &'a [(HeaderName, HeaderValue)],
    outbound: &'a Outbound,
    changes: Changes,
) -> Vec<Field<'a>> {
    let mut headers = upstream(client, outbound, changes);
    let set = |name: &HeaderName| outbound.headers.iter().any(|(set, _)| set == name);
    headers.retain(|(name, _)| set(name) || !OPERATORS_HEADERS.contains(&name.as_str()));
    for (name, value) in own {
        if headers.iter().all(|(known, _)| *known != name) {
            headers.push((name, value));
        }
    }
    headers
}

fn credentials<'a>(outbound: &'a Outbound, headers: &mut Vec<Field<'a>>) {
    for (name, value) in outbound.headers.iter().chain(&outbound.auth) {
        headers.push((name, value));
    }
}

/// Removes from a provider's answer what concerns only the connection it came on, and sets the configured headers.
pub(crate) fn downstream(headers: &mut HeaderMap, configured: &[(HeaderName, HeaderValue)]) {
    if let Some(nominated) = nominated(headers) {
        for name in nominated.0 {
            headers.remove(name.as_str());
        }
    }
    let hop = headers.keys().filter(|name| is_hop_by_hop(name.as_str()));
    let hop: Vec<HeaderName> = hop.cloned().collect(); // as good as always none, which costs nothing
    if hop.contains(&header::TRANSFER_ENCODING) {
        headers.remove(header::CONTENT_LENGTH); // the framing was the encoding's (RFC 9112, 6.3)
    }
    for name in hop {
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

/// True for hop-by-hop fields (RFC 9110, 7.6.1) and the framing, which each side of the gateway does for itself.
fn is_hop_by_hop(name: &str) -> bool {
    matches!(
        name,
        "connection"
            | "keep-alive"
            | "proxy-authenticate"
            | "proxy-authorization"
            | "te"
            | "trailer"
            | "upgrade"
            | "transfer-encoding"
    )
}

/// True for a client's header that never reaches a provider.
fn stays_behind(name: &str, trace: bool) -> bool {
    match name {
        // hop by hop, framing, and what the gateway has already answered for
        _ if is_hop_by_hop(name) => true,
        "proxy-connection" | "content-length" | "expect" | "host" | "x-forwarded-proto"
        // the client's credentials
        | "authorization" | "x-api-key" | "x-goog-api-key" | "api-key" | "cookie"
        // what a browser says of itself
        | "origin" | "referer" | "sec-fetch-site" | "sec-fetch-mode" | "sec-fetch-dest" | "sec-fetch-user"
        // conditional requests
        | "if-modified-since" | "if-none-match" | "if-match" | "if-unmodified-since" | "if-range"
        // the gateway's own
        | "model-override" | "x-onwards-explain" => true,
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
