//! The reader of `shared_state`.

use std::time::Duration;

use super::read;
use crate::gateway::WhenAway;
use crate::node::Node;
use crate::secret::Secret;
use crate::spec::SharedState;

/// Addresses of a store, and whether they mean TLS.
const SCHEMES: [(&str, bool); 5] = [
    ("redis://", false),
    ("rediss://", true),
    ("valkey://", false),
    ("valkeys://", true),
    ("unix://", false),
];

pub(super) fn shared_state(node: &Node<'_>) -> Option<SharedState> {
    let mut m = node.object("shared_state")?;
    let redis = m
        .need("redis", "the address of a Redis or Valkey server")
        .and_then(|node| address(&node));
    let shared = SharedState {
        redis: redis.clone().unwrap_or_else(|| Secret::new("")),
        ca: read(&mut m, "ca", certificates),
        prefix: read(&mut m, "prefix", prefix),
        timeout_ms: read(&mut m, "timeout_ms", |node| {
            node.integer(1..=1000).map(Duration::from_millis)
        }),
        lease_ms: read(&mut m, "lease_ms", |node| {
            node.integer(100..=3_600_000).map(Duration::from_millis)
        }),
        when_away: read(&mut m, "when_away", |node| {
            node.choice(&[("admit", WhenAway::Admit), ("refuse", WhenAway::Refuse)])
        }),
        rate_limits: read(&mut m, "rate_limits", Node::bool),
    };
    m.done();
    if let (Some(redis), Some(_)) = (&redis, &shared.ca)
        && !SCHEMES
            .iter()
            .any(|(scheme, tls)| *tls && redis.expose().starts_with(scheme))
    {
        let expected =
            "`redis` to begin with rediss:// or valkeys://; without TLS nothing is certified";
        node.reading
            .error(&node.path.member("ca"), "certificates", expected);
    }
    Some(shared)
}

fn address(node: &Node<'_>) -> Option<Secret> {
    let expected = "the address of a server: redis://, rediss://, valkey://, valkeys:// or unix://, and no space in it";
    let address = node.secret("the address of a server")?.secret;
    let text = address.expose();
    let fits = SCHEMES
        .iter()
        .filter_map(|(scheme, _)| text.strip_prefix(scheme))
        .any(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace));
    if fits {
        Some(address)
    } else {
        node.wrong_unseen("another text", expected)
    }
}

fn certificates(node: &Node<'_>) -> Option<Secret> {
    let expected = "certificates in PEM, or ${file:PATH}";
    let pem = node.secret(expected)?.secret;
    if pem.expose().contains("-----BEGIN CERTIFICATE-----") {
        Some(pem)
    } else {
        node.wrong_unseen("another text", expected)
    }
}

fn prefix(node: &Node<'_>) -> Option<String> {
    let expected = "1 to 64 letters, digits, `_`, `.`, `:` or `-`";
    let prefix = node.str(expected)?;
    let sound = |b: u8| b.is_ascii_alphanumeric() || b"_.:-".contains(&b);
    if (1..=64).contains(&prefix.len()) && prefix.bytes().all(sound) {
        Some(prefix.to_owned())
    } else {
        node.wrong(expected)
    }
}
