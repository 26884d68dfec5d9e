//! Names of headers.

use http::HeaderName;

use crate::node::Node;

/// Headers that frame a message or belong to one connection.
const FRAMING: &[&str] = &[
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Other headers a request may carry for reasons of its own: what it is, who sends it, how it travels, and
/// what the gateway itself reads.
const TAKEN: &[&str] = &[
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "api-key",
    "authorization",
    "baggage",
    "cache-control",
    "content-encoding",
    "content-language",
    "content-type",
    "cookie",
    "date",
    "expect",
    "forwarded",
    "model-override",
    "origin",
    "pragma",
    "proxy-authorization",
    "referer",
    "traceparent",
    "tracestate",
    "user-agent",
    "via",
    "x-api-key",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-request-id",
    "x-session-id",
];

/// Headers of requests that say how a message is to be read, or that the gateway writes by rules of its own.
const SPEAKING: &[&str] = &[
    "accept-encoding",
    "baggage",
    "content-encoding",
    "content-type",
    "expect",
    "model-override",
    "traceparent",
    "tracestate",
    "x-forwarded-proto",
    "x-request-id",
];

/// A header the configuration may set. Those of [`FRAMING`] are not among them: setting one would break the
/// message.
pub(super) fn header_name(node: &Node<'_>, text: &str) -> Option<HeaderName> {
    let found = crate::json::quoted(text);
    match HeaderName::from_bytes(text.as_bytes()) {
        Ok(name) if FRAMING.contains(&name.as_str()) => node.wrong_unseen(
            found,
            "a header that does not frame the message or belong to the connection",
        ),
        Ok(name) => Some(name),
        Err(_) => node.wrong_unseen(found, "a header name (letters, digits and !#$%&'*+-.^_`|~)"),
    }
}

/// The header that carries a provider's key: none that says something else to a provider, or that the gateway itself writes.
pub(super) fn auth_header(node: &Node<'_>) -> Option<HeaderName> {
    let text = node.str("a header name")?;
    let name = header_name(node, text)?;
    if SPEAKING.contains(&name.as_str()) {
        return node.wrong_unseen(
            crate::json::quoted(text),
            "a header without a meaning of its own",
        );
    }
    Some(name)
}

/// A header that is set on every request for a provider.
pub(super) fn request_header(node: &Node<'_>, text: &str) -> Option<HeaderName> {
    let name = header_name(node, text)?;
    if SPEAKING.contains(&name.as_str()) || name == http::header::PROXY_AUTHORIZATION {
        return node.wrong_unseen(
            crate::json::quoted(text),
            "a header that the gateway does not write itself",
        );
    }
    Some(name)
}

/// A header whose presence marks a request, so one that no request has for another reason.
pub(super) fn marker(node: &Node<'_>) -> Option<HeaderName> {
    let text = node.str("a header name")?;
    let name = header_name(node, text)?;
    if TAKEN.contains(&name.as_str()) {
        return node.wrong("a header without a meaning of its own");
    }
    Some(name)
}
