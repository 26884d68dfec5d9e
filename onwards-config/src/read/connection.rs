//! How a provider is reached: `providers` at the top of the file, and the same members in the entries of targets.

use std::collections::BTreeMap;

use http::{HeaderName, HeaderValue};

use super::header::{auth_header, request_header};
use super::{choice_of, dialect, milliseconds, read, seconds};
use crate::endpoint::{self, Endpoint};
use crate::gateway::ProviderKind;
use crate::json::Json;
use crate::kinds::{either, knowing};
use crate::members::Members;
use crate::node::Node;
use crate::secret::Secret;
use crate::spec::connection::{Auth, Aws, Connection, Shared};

const URL: &str = "an absolute http:// or https:// URL";

/// The providers that targets may name. One that cannot be read keeps its name, so that nobody is told it were missing.
pub(super) fn shared(node: &Node<'_>) -> Option<BTreeMap<String, Shared>> {
    let entries = node.entries("an object of providers")?;
    let read = entries.iter().map(|(name, node)| {
        if !is_name(name) {
            node.reading.error(
                &node.path,
                crate::json::quoted(name),
                format!("a name of {NAME}"),
            );
        }
        let connection = whole(node).unwrap_or_default();
        ((*name).to_owned(), Shared { connection })
    });
    Some(read.collect())
}

fn whole(node: &Node<'_>) -> Option<Connection> {
    let mut m = node.object("connection")?;
    let connection = connection(&mut m, Some(URL));
    m.done_strict();
    Some(connection)
}

/// What a name is made of.
pub(super) const NAME: &str = "1 to 64 letters, digits, `_`, `.` or `-`";

pub(super) fn is_name(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    (1..=64).contains(&text.len()) && text.bytes().all(plain)
}

/// The members of an entry that refers to a shared provider; those that describe one have no place there.
pub(super) fn reference(m: &mut Members<'_>, name: &str) {
    let before = m.asked();
    let kind = kind(m).ok().flatten();
    members(m, kind, None);
    for (member, node) in m.given_since(before) {
        let expected = format!(
            "it in `providers.{name}` at the top of the file only: there stands how the provider is reached"
        );
        node.reading.error(
            &node.path,
            format!("`{member}` beside `provider`"),
            expected,
        );
    }
}

/// The members that describe a provider. `url` says what to expect instead of one that is missing, if it may not be.
pub(super) fn connection(m: &mut Members<'_>, url: Option<&'static str>) -> Connection {
    let before = m.asked();
    let kind = kind(m);
    let connection = members(m, kind.ok().flatten(), url);
    // Beside a kind that could not be read nothing is known of the others.
    if let Ok(kind) = kind {
        for (member, node) in m.given_since(before) {
            check_kind(member, &node, kind);
        }
    }
    if kind == Ok(Some(ProviderKind::Bedrock)) {
        check_bedrock(m, before);
    }
    connection
}

/// Requests for Bedrock are signed, or carry a key; and only a signature says for which region.
fn check_bedrock(m: &mut Members<'_>, before: usize) {
    let given = m.given_since(before);
    let has = |member: &str| given.iter().any(|(name, _)| *name == member);
    if has("aws") {
        return;
    }
    if !has("auth") && !has("onwards_key") {
        m.lack(
            "aws",
            "keys of AWS, or a key of Bedrock in `onwards_key` or `auth`",
        );
    } else if !has("url") {
        m.lack(
            "url",
            "an absolute http:// or https:// URL: without `aws` the region is not known",
        );
    }
}

/// The kind of a provider, if it has one that can be read.
fn kind(m: &mut Members<'_>) -> Result<Option<ProviderKind>, ()> {
    match m.get("kind") {
        None => Ok(None),
        Some(node) => choice_of(&node, &ProviderKind::ALL, ProviderKind::word)
            .map(Some)
            .ok_or(()),
    }
}

fn members(
    m: &mut Members<'_>,
    kind: Option<ProviderKind>,
    url: Option<&'static str>,
) -> Connection {
    Connection {
        kind,
        url: endpoint(m, kind, url),
        path: read(m, "path", path),
        stream_path: read(m, "stream_path", path),
        onwards_key: read(m, "onwards_key", |node| node.secret("the provider's key"))
            .map(|given| given.secret),
        upstream_auth_header_name: read(m, "upstream_auth_header_name", auth_header),
        upstream_auth_header_prefix: read(m, "upstream_auth_header_prefix", prefix),
        auth: read(m, "auth", auth),
        aws: read(m, "aws", aws),
        headers: read(m, "headers", headers),
        extra_body: read(m, "extra_body", object_text),
        passthrough: read(m, "passthrough", Node::bool),
        request_timeout_secs: read(m, "request_timeout_secs", |node| seconds(node, 1)),
        request_timeout_ms: read(m, "request_timeout_ms", |node| {
            node.integer(1000..=3_600_000)
                .map(std::time::Duration::from_millis)
        }),
        connect_timeout_ms: read(m, "connect_timeout_ms", |node| milliseconds(node, 1)),
        idle_timeout_ms: read(m, "idle_timeout_ms", |node| milliseconds(node, 0)),
        dialect: dialect::members(m, kind),
    }
}

/// Whether the kind knows the member.
fn check_kind(member: &str, node: &Node<'_>, kind: Option<ProviderKind>) {
    match (knowing(member), kind) {
        (Some(_), None) => node.reading.error(
            &node.path,
            format!("{} without `kind`", quoted(member)),
            "`kind` beside it; without one nothing is translated",
        ),
        (Some(kinds), Some(kind)) if !kinds.contains(&kind) => {
            let kinds = either(kinds.iter().map(|kind| kind.word()));
            node.reading.error(
                &node.path,
                format!("{} beside the kind {}", quoted(member), quoted(kind.word())),
                format!("`kind` to be {kinds}, or no such member"),
            );
        }
        _ => {}
    }
}

fn quoted(name: &str) -> String {
    crate::problem::quote(name)
}

/// Bedrock's address may be made of its region, so there its absence is looked at when all is known.
fn endpoint(
    m: &mut Members<'_>,
    kind: Option<ProviderKind>,
    missing: Option<&'static str>,
) -> Option<Endpoint> {
    let node = match missing {
        Some(expected) if kind != Some(ProviderKind::Bedrock) => m.need("url", expected),
        _ => m.get("url"),
    }?;
    let endpoint = url(&node);
    if endpoint == Some(Endpoint::Echo)
        && let Some(kind) = kind.filter(|kind| *kind != ProviderKind::OpenAi)
    {
        node.reading.error(
            &node.path,
            crate::json::quoted(endpoint::ECHO),
            format!(
                "{URL} for the kind {}; the embedded provider speaks Chat Completions",
                quoted(kind.word())
            ),
        );
    }
    Some(endpoint.unwrap_or(Endpoint::Echo))
}

fn url(node: &Node<'_>) -> Option<Endpoint> {
    let text = node.str(URL)?;
    match endpoint::parse(text) {
        Ok(parsed) => {
            if parsed.had_query {
                node.reading
                    .warn(&node.path, "a query", "a URL without one; it is dropped");
            }
            Some(parsed.endpoint)
        }
        Err(expected) => node.wrong_unseen(crate::json::quoted(&endpoint::masked(text)), expected),
    }
}

/// A path that replaces that of requests. Its query may hold what nobody shall see, so it is not shown.
fn path(node: &Node<'_>) -> Option<String> {
    const EXPECTED: &str = "a path that begins with `/`";
    let text = node.str(EXPECTED)?;
    match endpoint::check_path(text) {
        Ok(()) => Some(text.to_owned()),
        Err(expected) => node.wrong_unseen(crate::json::quoted(&endpoint::masked(text)), expected),
    }
}

/// The prefix stands before a key and may hold a part of it, so it is not shown.
fn prefix(node: &Node<'_>) -> Option<String> {
    match node.json {
        Json::String(text) => Some(text.clone()),
        other => node.wrong_unseen(other.kind(), "a string"),
    }
}

fn auth(node: &Node<'_>) -> Option<Auth> {
    let mut m = node.object("provider_auth")?;
    let header = m
        .need("header", "the header that the key is sent in")
        .and_then(|node| auth_header(&node));
    let value = m
        .need("value", "the provider's key")
        .and_then(|node| node.secret("the provider's key"));
    let prefix = read(&mut m, "prefix", prefix);
    m.done_closed();
    Some(Auth {
        header: header?,
        value: value?.secret,
        prefix,
    })
}

fn aws(node: &Node<'_>) -> Option<Aws> {
    let mut m = node.object("aws")?;
    let region = m
        .need("region", "a region such as `us-east-1`")
        .and_then(|node| label(&node));
    let access_key_id = m
        .need("access_key_id", "the id of a key")
        .and_then(|node| visible(&node, "the id of a key"));
    let secret_access_key = m
        .need("secret_access_key", "a key of AWS")
        .and_then(|node| node.secret("a key of AWS"));
    let session_token = read(&mut m, "session_token", |node| {
        visible(node, "a session token")
    });
    let service = read(&mut m, "service", label);
    m.done_closed();
    Some(Aws {
        region: region?,
        access_key_id: access_key_id?,
        secret_access_key: secret_access_key?.secret,
        session_token,
        service,
    })
}

/// A region or a service, which become parts of an address and of a signature.
fn label(node: &Node<'_>) -> Option<String> {
    const EXPECTED: &str = "1 to 32 lower-case letters, digits or `-`";
    let text = node.str(EXPECTED)?;
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if (1..=32).contains(&text.len()) && text.bytes().all(plain) {
        Some(text.to_owned())
    } else {
        node.wrong(EXPECTED)
    }
}

/// A secret that is sent in a header as it is.
fn visible(node: &Node<'_>, what: &str) -> Option<Secret> {
    let secret = node.secret(what)?.secret;
    if secret.expose().bytes().all(|b| b.is_ascii_graphic()) {
        Some(secret)
    } else {
        node.wrong_unseen("another text", format!("{what} in visible ASCII"))
    }
}

fn headers(node: &Node<'_>) -> Option<Vec<(HeaderName, HeaderValue)>> {
    let mut headers: Vec<(HeaderName, HeaderValue)> = Vec::new();
    for (name, node) in node.entries("an object of strings")? {
        let value = node.secret("the value of a header").and_then(|given| {
            let value = HeaderValue::from_str(given.secret.expose());
            value.ok().or_else(|| {
                node.wrong_unseen(
                    "characters a header cannot hold",
                    "text without control characters",
                )
            })
        });
        let (Some(name), Some(mut value)) = (request_header(&node, name), value) else {
            continue;
        };
        value.set_sensitive(true);
        match headers.iter_mut().find(|(known, _)| *known == name) {
            Some(header) => {
                node.reading.warn(
                    &node.path,
                    "a header already set",
                    "each header once, whatever its case; the last one counts",
                );
                header.1 = value;
            }
            None => headers.push((name, value)),
        }
    }
    Some(headers)
}

/// An object as it is.
fn object_text(node: &Node<'_>) -> Option<String> {
    match node.json {
        Json::Object(_) => Some(node.json.text()),
        _ => node.wrong("an object"),
    }
}
