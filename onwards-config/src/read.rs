//! From text to [`spec`](crate::spec): every type, range and spelling is checked here, one value at a time.
//! What concerns several values is checked when they are put together (`normal`).

use std::collections::BTreeMap;
use std::time::Duration;

use crate::gateway::RateLimit;
use crate::members::Members;
use crate::node::{Given, Node};
use crate::secret::Secret;
use crate::spec::{Auth, Config, HttpPool, KeyDefinition, Proxy};

mod connection;
mod dialect;
mod fallback;
mod header;
mod protocols;
mod reasoning;
mod shared_state;
mod target;

/// Longest span taken from a file; longer ones are cut to it, so that adding one to a clock cannot overflow.
pub(crate) const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Longest first-token deadline, where there is a bound: at the top of the file and beside an enabled
/// explicit `aimd`.
pub(crate) const LONGEST_DEADLINE_MS: u64 = 3_600_000;

/// The account under which dispatched requests are counted.
const RESERVED_ACCOUNT: &str = "__batch__";

/// Reads the whole document; with problems reported, the result is only good for finding more of them.
pub(crate) fn config(node: &Node<'_>) -> Option<Config> {
    let mut m = node.object("config")?;
    read(&mut m, "$schema", Node::string);
    let targets = m
        .need("targets", "an object of aliases")
        .map(|node| target::targets(&node))
        .unwrap_or_default();
    let config = Config {
        _schema: (),
        targets,
        providers: read(&mut m, "providers", connection::shared),
        strict_mode: read(&mut m, "strict_mode", Node::bool),
        auth: read(&mut m, "auth", auth),
        rejected_params: read(&mut m, "rejected_params", |node| {
            list(node, "an array of parameter names", parameter)
        }),
        http_pool: read(&mut m, "http_pool", http_pool),
        proxy: read(&mut m, "proxy", proxy),
        exempt_header: read(&mut m, "exempt_header", header::marker),
        first_token_timeout_ms: read(&mut m, "first_token_timeout_ms", |node| {
            node.integer(0..=LONGEST_DEADLINE_MS)
        }),
        batch_inflight_enforce: read(&mut m, "batch_inflight_enforce", Node::bool),
        max_inflight_requests: read(&mut m, "max_inflight_requests", |node| {
            node.u32(1..=u32::MAX)
        }),
        rate_limit_headers: read(&mut m, "rate_limit_headers", Node::bool),
        shared_state: read(&mut m, "shared_state", shared_state::shared_state),
        ingress: read(&mut m, "ingress", protocols::ingress),
        image_fetch: read(&mut m, "image_fetch", protocols::image_fetch),
        reasoning_state: read(&mut m, "reasoning_state", protocols::reasoning_state),
        dry_run_key: read(&mut m, "dry_run_key", |node| {
            node.secret("the token that opens the dry run")
        })
        .map(|given| given.secret),
    };
    m.done();
    Some(config)
}

fn parameter(node: &Node<'_>) -> Option<String> {
    let name = node.string()?;
    if !node.reading.surroundings.knows_parameter(&name) {
        return node
            .wrong("a parameter of the catalog of those that not every provider can honour");
    }
    Some(name)
}

fn http_pool(node: &Node<'_>) -> Option<HttpPool> {
    let mut m = node.object("http_pool")?;
    let pool = HttpPool {
        max_idle_per_host: m
            .get("max_idle_per_host")
            .and_then(|node| node.u32(0..=u32::MAX))
            .and_then(|value| usize::try_from(value).ok()),
        idle_timeout_secs: read(&mut m, "idle_timeout_secs", |node| seconds(node, 0)),
    };
    m.done();
    Some(pool)
}

fn proxy(node: &Node<'_>) -> Option<Proxy> {
    let mut m = node.object("proxy")?;
    let proxy = Proxy {
        from_environment: read(&mut m, "from_environment", Node::bool),
        http: read(&mut m, "http", proxy_url),
        https: read(&mut m, "https", proxy_url),
        no_proxy: read(&mut m, "no_proxy", Node::string).map(|hosts| {
            hosts
                .split(',')
                .map(str::trim)
                .filter(|host| !host.is_empty())
                .map(str::to_owned)
                .collect()
        }),
    };
    m.done();
    Some(proxy)
}

fn proxy_url(node: &Node<'_>) -> Option<Secret> {
    let given = node.secret("a proxy URL")?;
    match crate::endpoint::check_proxy(given.secret.expose()) {
        Ok(()) => Some(given.secret),
        Err(expected) => node.wrong_unseen("another text", expected),
    }
}

fn auth(node: &Node<'_>) -> Option<Auth> {
    let mut m = node.object("auth")?;
    let auth = Auth {
        global_keys: read(&mut m, "global_keys", keys),
        key_definitions: read(&mut m, "key_definitions", |node| {
            map(node, "an object of key definitions", key_definition)
        }),
    };
    m.done();
    Some(auth)
}

fn key_definition(node: &Node<'_>) -> Option<KeyDefinition> {
    let mut m = node.object("key_definition")?;
    let key = m
        .need("key", "the token callers send")
        .and_then(|node| node.secret("the token callers send"));
    let definition = KeyDefinition {
        key: key.map_or_else(|| Secret::new(""), |given| given.secret),
        rate_limit: read(&mut m, "rate_limit", rate_limit),
        concurrency_limit: read(&mut m, "concurrency_limit", concurrency_limit),
        labels: read(&mut m, "labels", own_labels),
    };
    m.done();
    Some(definition)
}

/// Keys of callers; a broken one is replaced by an empty text to keep the places of the others.
fn keys(node: &Node<'_>) -> Option<Vec<Given>> {
    let broken = || Given {
        secret: Secret::new(""),
        literal: false,
    };
    list(node, "an array of keys", |node| {
        Some(node.secret("a key").unwrap_or_else(broken))
    })
}

/// The labels of a key.
fn own_labels(node: &Node<'_>) -> Option<BTreeMap<String, String>> {
    let labels = labels(node)?;
    if labels.get("account").map(String::as_str) == Some(RESERVED_ACCOUNT) {
        node.reading.error(
            &node.path.member("account"),
            crate::json::quoted(RESERVED_ACCOUNT),
            "another account; dispatched requests are counted under this name",
        );
    }
    Some(labels)
}

fn labels(node: &Node<'_>) -> Option<BTreeMap<String, String>> {
    map(node, "an object of strings", Node::string)
}

fn rate_limit(node: &Node<'_>) -> Option<RateLimit> {
    let mut m = node.object("rate_limit")?;
    let per_second = m
        .need("requests_per_second", "a number above 0")
        .and_then(|node| node.number(|value| value > 0.0, "a number above 0"));
    let burst = match m.get("burst_size") {
        Some(node) => node.u32(1..=u32::MAX),
        None => per_second.map(rounded_up),
    };
    m.done();
    Some(RateLimit {
        per_second: per_second?,
        burst: burst?,
    })
}

/// The burst of a rate without one: the rate rounded up, at least 1.
fn rounded_up(rate: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive; saturates at the top"
    )]
    (rate.ceil().max(1.0) as u32)
}

fn concurrency_limit(node: &Node<'_>) -> Option<u32> {
    let mut m = node.object("concurrency_limit")?;
    let most = m
        .need("max_concurrent_requests", "an integer from 0 to 4294967295")
        .and_then(|node| node.u32(0..=u32::MAX).map(|most| (node, most)));
    m.done();
    let (node, most) = most?;
    if most == 0 {
        node.reading
            .warn(&node.path, "0", "at least 1; this refuses every request");
    }
    Some(most)
}

fn milliseconds(node: &Node<'_>, least: u64) -> Option<Duration> {
    node.integer(least..=u64::MAX)
        .map(|value| Duration::from_millis(value).min(LONGEST))
}

fn seconds(node: &Node<'_>, least: u64) -> Option<Duration> {
    node.integer(least..=u64::MAX)
        .map(|value| Duration::from_secs(value).min(LONGEST))
}

/// The elements that could be read.
fn list<'a, T>(
    node: &Node<'a>,
    expected: &str,
    read: impl Fn(&Node<'a>) -> Option<T>,
) -> Option<Vec<T>> {
    Some(node.elements(expected)?.iter().filter_map(read).collect())
}

/// The members that could be read.
fn map<'a, T>(
    node: &Node<'a>,
    expected: &str,
    read: impl Fn(&Node<'a>) -> Option<T>,
) -> Option<BTreeMap<String, T>> {
    let entries = node.entries(expected)?;
    Some(
        entries
            .iter()
            .filter_map(|(name, node)| Some(((*name).to_owned(), read(node)?)))
            .collect(),
    )
}

/// One of the values of a type, by its name in the file.
fn choice_of<T: Copy>(node: &Node<'_>, all: &[T], word: fn(T) -> &'static str) -> Option<T> {
    let choices: Vec<_> = all.iter().map(|value| (word(*value), *value)).collect();
    node.choice(&choices)
}

/// A member and how to read it.
fn read<'a, T>(
    m: &mut Members<'a>,
    name: &'static str,
    read: impl Fn(&Node<'a>) -> Option<T>,
) -> Option<T> {
    m.get(name).and_then(|node| read(&node))
}
