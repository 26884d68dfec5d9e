//! What holds for the translation between protocols as a whole.

use std::time::Duration;

use super::{list, read};
use crate::gateway::SameDialect;
use crate::node::Node;
use crate::spec::protocols::{ImageFetch, Ingress, ReasoningState};

pub(super) fn ingress(node: &Node<'_>) -> Option<Ingress> {
    let mut m = node.object("ingress")?;
    let ingress = Ingress {
        anthropic: read(&mut m, "anthropic", Node::bool),
        gemini: read(&mut m, "gemini", Node::bool),
        responses: read(&mut m, "responses", Node::bool),
        same_dialect: read(&mut m, "same_dialect", |node| {
            node.choice(&[
                ("native", SameDialect::Native),
                ("canonical", SameDialect::Canonical),
            ])
        }),
        allowed_betas: read(&mut m, "allowed_betas", super::dialect::betas),
        trust_request_id: read(&mut m, "trust_request_id", Node::bool),
    };
    m.done_closed();
    Some(ingress)
}

pub(super) fn image_fetch(node: &Node<'_>) -> Option<ImageFetch> {
    let mut m = node.object("image_fetch")?;
    let fetch = ImageFetch {
        enabled: read(&mut m, "enabled", Node::bool),
        max_bytes: read(&mut m, "max_bytes", |node| node.u32(1..=52_428_800)),
        timeout_ms: read(&mut m, "timeout_ms", |node| {
            node.integer(100..=60_000).map(Duration::from_millis)
        }),
        max_images: read(&mut m, "max_images", |node| node.u32(1..=100)),
        max_redirects: read(&mut m, "max_redirects", |node| node.u32(0..=10)),
        allow_hosts: read(&mut m, "allow_hosts", |node| {
            list(node, "an array of hosts", host)
        }),
        allow_private: read(&mut m, "allow_private", Node::bool),
        allow_http: read(&mut m, "allow_http", Node::bool),
        mime_types: read(&mut m, "mime_types", |node| {
            list(node, "an array of types", picture)
        }),
    };
    m.done_closed();
    Some(fetch)
}

pub(super) fn reasoning_state(node: &Node<'_>) -> Option<ReasoningState> {
    let mut m = node.object("reasoning_state")?;
    let state = ReasoningState {
        enabled: read(&mut m, "enabled", Node::bool),
        max_entries: read(&mut m, "max_entries", |node| node.u32(1..=1_000_000)),
        ttl_secs: read(&mut m, "ttl_secs", |node| {
            node.integer(1..=86_400).map(Duration::from_secs)
        }),
    };
    m.done_closed();
    Some(state)
}

/// A host, or with `*.` before it every name below it.
fn host(node: &Node<'_>) -> Option<String> {
    const EXPECTED: &str = "a host, without scheme and port, or `*.` and a domain";
    let text = node.str(EXPECTED)?;
    let host = text.strip_prefix("*.").unwrap_or(text);
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b':');
    if (1..=253).contains(&host.len()) && host.bytes().all(plain) {
        Some(text.to_ascii_lowercase())
    } else {
        node.wrong(EXPECTED)
    }
}

/// A type of pictures.
fn picture(node: &Node<'_>) -> Option<String> {
    const EXPECTED: &str = "a type of pictures in lower case, such as `image/png`";
    let text = node.str(EXPECTED)?;
    let plain =
        |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'+' | b'-');
    let subtype = text.strip_prefix("image/");
    if subtype.is_some_and(|name| (1..=64).contains(&name.len()) && name.bytes().all(plain)) {
        Some(text.to_owned())
    } else {
        node.wrong(EXPECTED)
    }
}
