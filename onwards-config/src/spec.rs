//! What the file says: one type per object, one field per member, nothing defaulted or inherited yet.
//!
//! The doc comments, bounds and defaults here are the configuration reference and the JSON Schema. The
//! readers build these types field by field, so a member cannot be in one place only; the test
//! `reader_and_schema_know_the_same_members` compares the names.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use schemars::JsonSchema;

use crate::gateway::{Jitter, RateLimit, ReasoningTranslation, StatusPattern, Strategy, WhenAway};
use crate::node::Given;
use crate::secret::Secret;

pub(crate) mod connection;
pub(crate) mod fallback;
pub(crate) mod protocols;
pub(crate) mod reasoning;

use connection::{Connection, reachable_or_named};

/// The configuration file: a JSON object in UTF-8. Unknown members are ignored with a warning, `null`
/// counts as an absent member, and of duplicate members the last one counts, with a warning.
///
/// Secrets (`onwards_key`, `value`, the keys of `aws`, values of `headers`, `keys`, `global_keys`, `key`, `dry_run_key`, proxy
/// URLs, `redis`, `ca`) may be written as `${NAME}` (an
/// environment variable) or `${file:PATH}` (a file, one trailing line end cut off); a reference is always
/// the whole value.
#[derive(JsonSchema)]
#[schemars(rename = "config")]
pub(crate) struct Config {
    /// Address of the JSON Schema, for editors. Not used.
    #[schemars(rename = "$schema", with = "Option<String>")]
    pub(crate) _schema: (),
    /// Aliases a caller may name as `model`, each with what serves it. May be empty.
    pub(crate) targets: BTreeMap<String, Target>,
    /// Providers by name, for targets to refer to with `provider`. The name is the provider's name in metrics and logs.
    #[schemars(extend("default" = {}, "propertyNames" = { "pattern": "^[A-Za-z0-9_.-]{1,64}$" }))]
    pub(crate) providers: Option<BTreeMap<String, connection::Shared>>,
    /// Validate requests against the OpenAI schemas, clean every answer and standardise errors, for all
    /// targets.
    #[schemars(extend("default" = false))]
    pub(crate) strict_mode: Option<bool>,
    /// Keys of callers.
    pub(crate) auth: Option<Auth>,
    /// Parameters of Chat Completions requests that strict mode refuses. A name that is not in the catalog
    /// of parameters is an error.
    #[schemars(extend("default" = []))]
    pub(crate) rejected_params: Option<Vec<String>>,
    /// Idle connections to providers. A change needs a restart.
    pub(crate) http_pool: Option<HttpPool>,
    /// The proxy through which providers are reached. Without it no proxy is used, whatever the
    /// environment says.
    pub(crate) proxy: Option<Proxy>,
    /// Header that marks a request as dispatched (batch or asynchronous) traffic, whatever its value. Such a
    /// request has no first-token deadline, takes no part in the load-aware share, in affinity and in
    /// `realtime_on_status`, and counts as `traffic="dispatched"`. Without it every request is realtime.
    /// Headers with a meaning of their own (`Authorization`, `Content-Type`, …) are refused.
    #[schemars(with = "Option<String>", regex(pattern = "^[!#-'*+.0-9A-Z^-z|~-]+$"))]
    pub(crate) exempt_header: Option<HeaderName>,
    /// `first_token_timeout_ms` of every pool whose `fallback` does not give its own. 0: no deadline.
    #[schemars(range(max = 3_600_000))]
    pub(crate) first_token_timeout_ms: Option<u64>,
    /// Enforce `batch_inflight_limit`: dispatched requests beyond it are refused with 529. Without it the limits have no
    /// effect.
    #[schemars(extend("default" = false))]
    pub(crate) batch_inflight_enforce: Option<bool>,
    /// Requests for providers that the whole gateway has in flight at once, from their head to the end of their answer. One
    /// more is refused with 503 and `Retry-After` before its body is looked at. Without it there is no bound.
    #[schemars(range(min = 1))]
    pub(crate) max_inflight_requests: Option<u32>,
    /// Tell callers of the nearest rate limit of their key and pool: `x-ratelimit-limit-requests`,
    /// `x-ratelimit-remaining-requests` and `x-ratelimit-reset-requests`, on answers and on refusals by such a limit.
    #[schemars(extend("default" = true))]
    pub(crate) rate_limit_headers: Option<bool>,
    /// Counts that several gateways share. Without it each gateway counts for itself.
    pub(crate) shared_state: Option<SharedState>,
    /// Which protocols clients may speak.
    pub(crate) ingress: Option<protocols::Ingress>,
    /// How pictures are fetched.
    pub(crate) image_fetch: Option<protocols::ImageFetch>,
    /// What is remembered of thoughts.
    pub(crate) reasoning_state: Option<protocols::ReasoningState>,
    /// Opens `POST /v1/dry-run`, which tells what a provider would be sent, as `Authorization: Bearer`. A secret. Without it
    /// there is no such endpoint.
    #[schemars(with = "Option<KeyText>")]
    pub(crate) dry_run_key: Option<Secret>,
}

/// Counts that several gateways share, in Redis (5 or later) or Valkey: requests in flight (`inflight_limit`,
/// `account_inflight_limits`, `batch_inflight_limit`) and, if so said, rates of keys and pools. Gateways with the
/// same store and prefix share. A change reconnects.
#[derive(JsonSchema)]
#[schemars(rename = "shared_state")]
pub(crate) struct SharedState {
    /// Where the store is: `redis://[user][:password@]host[:port][/database]`, `rediss://…` for TLS, or `unix://path`. A
    /// secret.
    #[schemars(
        with = "String",
        regex(pattern = r"^((rediss?|valkeys?|unix)://\S+|\$\{[^}]+\})$")
    )]
    pub(crate) redis: Secret,
    /// Certificates in PEM, or `${file:PATH}`, that a server with TLS is trusted by instead of the system's.
    #[schemars(
        with = "Option<String>",
        regex(pattern = r"^([\s\S]*-----BEGIN CERTIFICATE-----[\s\S]*|\$\{[^}]+\})$")
    )]
    pub(crate) ca: Option<Secret>,
    /// Starts the name of everything that is kept in the store.
    #[schemars(regex(pattern = "^[A-Za-z0-9_.:-]{1,64}$"), extend("default" = "onwards"))]
    pub(crate) prefix: Option<String>,
    /// Longest wait of a request for the store.
    #[schemars(with = "Option<u64>", range(min = 1, max = 1000), extend("default" = 5))]
    pub(crate) timeout_ms: Option<Duration>,
    /// How long a request in flight stays counted when its gateway dies. Renewed every third of it while it lives.
    #[schemars(with = "Option<u64>", range(min = 100, max = 3_600_000), extend("default" = 15_000))]
    pub(crate) lease_ms: Option<Duration>,
    /// What happens to requests while the store does not answer.
    #[schemars(extend("default" = "admit"))]
    pub(crate) when_away: Option<WhenAway>,
    /// Share the `rate_limit` of key definitions and pools too. Those of providers stay each gateway's own.
    #[schemars(extend("default" = false))]
    pub(crate) rate_limits: Option<bool>,
}

/// Idle connections to providers.
#[derive(JsonSchema)]
#[schemars(rename = "http_pool")]
pub(crate) struct HttpPool {
    /// Idle connections kept per host.
    #[schemars(with = "Option<u32>", extend("default" = 100))]
    pub(crate) max_idle_per_host: Option<usize>,
    /// Seconds an idle connection is kept.
    #[schemars(with = "Option<u64>", extend("default" = 90))]
    pub(crate) idle_timeout_secs: Option<Duration>,
}

/// The proxy through which providers are reached: either `from_environment` or URLs.
#[derive(JsonSchema)]
#[schemars(rename = "proxy")]
pub(crate) struct Proxy {
    /// Take it from `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`. Excludes the other members.
    #[schemars(extend("default" = false))]
    pub(crate) from_environment: Option<bool>,
    /// Proxy for `http` providers, `http://[user:password@]host[:port]`. A secret.
    #[schemars(
        with = "Option<String>",
        regex(pattern = r"^([hH][tT][tT][pP][sS]?://[^/?#]+/?|\$\{[^}]+\})$")
    )]
    pub(crate) http: Option<Secret>,
    /// Proxy for `https` providers, likewise. A secret.
    #[schemars(
        with = "Option<String>",
        regex(pattern = r"^([hH][tT][tT][pP][sS]?://[^/?#]+/?|\$\{[^}]+\})$")
    )]
    pub(crate) https: Option<Secret>,
    /// Hosts, domains and address ranges reached directly, separated by commas.
    #[schemars(with = "Option<String>")]
    pub(crate) no_proxy: Option<Vec<String>>,
}

/// Keys of callers.
#[derive(JsonSchema)]
#[schemars(rename = "auth")]
pub(crate) struct Auth {
    /// Keys valid for every alias, or names of definitions. If there is one, every alias needs a key.
    /// Secrets.
    #[schemars(with = "Option<Vec<KeyText>>", extend("default" = []))]
    pub(crate) global_keys: Option<Vec<Given>>,
    /// Limits and labels of single keys, by a name that `keys` and `global_keys` may use. A definition by
    /// itself grants access to nothing.
    #[schemars(extend("default" = {}))]
    pub(crate) key_definitions: Option<BTreeMap<String, KeyDefinition>>,
}

/// Limits and labels of one key.
#[derive(JsonSchema)]
#[schemars(rename = "key_definition")]
pub(crate) struct KeyDefinition {
    /// The token callers send. A secret. No other definition may have it.
    #[schemars(with = "KeyText")]
    pub(crate) key: Secret,
    /// Requests per second with this key, over all aliases.
    #[schemars(with = "Option<RateLimitSpec>")]
    pub(crate) rate_limit: Option<RateLimit>,
    /// Requests at a time with this key, over all aliases.
    #[schemars(with = "Option<ConcurrencyLimit>")]
    pub(crate) concurrency_limit: Option<u32>,
    /// Labels for routing rules; `account` groups keys for the in-flight limits. The account `__batch__` is
    /// reserved.
    #[schemars(extend("default" = {}, "properties" = { "account": { "type": "string", "not": { "const": "__batch__" } } }))]
    pub(crate) labels: Option<BTreeMap<String, String>>,
}

/// What serves an alias: a provider, a pool of providers, one pool per class of requests, or (legacy) a
/// list of providers.
#[derive(JsonSchema)]
#[schemars(rename = "target", untagged)]
pub(crate) enum Target {
    /// One provider; the same as a pool of one.
    Single(Box<Single>),
    /// Several providers.
    Pool(Box<Pool>),
    /// One pool per class of requests.
    Named(Box<NamedPools>),
    /// Legacy: several providers, chosen by weight, no fallback. `keys` and `trusted` of the first one
    /// count for all.
    List(Vec<Single>),
}

/// A target with one provider.
#[derive(JsonSchema)]
#[schemars(rename = "single_target", transform = reachable_or_named)]
pub(crate) struct Single {
    #[schemars(flatten)]
    pub(crate) upstream: Upstream,
    #[schemars(flatten)]
    pub(crate) shared: Shared,
    #[schemars(flatten)]
    pub(crate) serving: Serving,
}

/// Providers that serve an alias.
#[derive(JsonSchema)]
#[schemars(rename = "pool")]
pub(crate) struct Pool {
    /// In order of preference. May be empty: every request is then answered with 503.
    pub(crate) providers: Vec<Provider>,
    #[schemars(flatten)]
    pub(crate) shared: Shared,
    #[schemars(flatten)]
    pub(crate) serving: Serving,
}

/// One provider of a pool.
#[derive(JsonSchema)]
#[schemars(rename = "provider", transform = reachable_or_named)]
pub(crate) struct Provider {
    #[schemars(flatten)]
    pub(crate) upstream: Upstream,
    #[schemars(flatten)]
    pub(crate) shared: Shared,
}

/// A target with one pool per class of requests.
#[derive(JsonSchema)]
#[schemars(rename = "named_pools")]
pub(crate) struct NamedPools {
    /// The pools.
    pub(crate) pools: Pools,
}

/// Pools by class of requests.
#[derive(JsonSchema)]
#[schemars(rename = "pools", deny_unknown_fields)]
pub(crate) struct Pools {
    /// Serves everything that has no pool of its own. Its in-flight limits count for the alias, and its keys
    /// decide whether the alias is listed.
    pub(crate) default: Pool,
    /// Serves legacy completions. Without `keys` it has those of `default` and its deny rules. Without
    /// providers `default` serves in its place. Load-aware share and affinity never run here.
    pub(crate) completions: Option<Pool>,
}

/// Members of everything that names one upstream.
#[derive(JsonSchema)]
#[schemars(rename = "upstream")]
pub(crate) struct Upstream {
    /// Name of a provider at the top of the file that this is, instead of the members that say how one is reached.
    pub(crate) provider: Option<String>,
    #[schemars(flatten)]
    pub(crate) connection: Connection,
    /// Label of the provider in metrics and logs, unique in its pool.
    #[schemars(regex(pattern = "^[A-Za-z0-9_.-]{1,64}$"))]
    pub(crate) name: Option<String>,
    /// Model name sent to the provider. Without it the caller's is sent.
    pub(crate) onwards_model: Option<String>,
    /// Send it the trace context (`traceparent`, `tracestate`). Without it: if it is trusted.
    pub(crate) propagate_trace_context: Option<bool>,
    /// How reasoning efforts are written for it.
    #[schemars(with = "Option<reasoning::Translation>")]
    pub(crate) reasoning_translation: Option<ReasoningTranslation>,
    /// Keep the scheduling fields of a body (`priority`, `nvext`) when it serves in the `completions` pool.
    #[schemars(extend("default" = false))]
    pub(crate) accepts_scheduling_priority: Option<bool>,
    /// Share of the traffic, relative to the other providers of the pool, under `weighted_random`.
    #[schemars(extend("default" = 1))]
    pub(crate) weight: Option<NonZeroU32>,
}

/// Members of pools and providers alike. In a single target they are the pool's.
#[derive(JsonSchema)]
#[schemars(rename = "shared")]
pub(crate) struct Shared {
    /// Requests per second; of a provider: attempts.
    #[schemars(with = "Option<RateLimitSpec>")]
    pub(crate) rate_limit: Option<RateLimit>,
    /// Requests at a time; of a provider: attempts.
    #[schemars(with = "Option<ConcurrencyLimit>")]
    pub(crate) concurrency_limit: Option<u32>,
    /// Headers set on every answer that came from a provider, replacing those of the same name. A provider's
    /// win over its pool's.
    #[schemars(with = "Option<BTreeMap<String, String>>", extend("default" = {}))]
    pub(crate) response_headers: Option<Vec<(HeaderName, HeaderValue)>>,
    /// Clean Chat Completions answers outside strict mode. For a provider: if it or its pool says so.
    #[schemars(extend("default" = false))]
    pub(crate) sanitize_response: Option<bool>,
    /// Errors may reach the caller as the provider wrote them, and trace context is sent. Of a provider:
    /// without it the pool's counts; of a pool: without it `false`.
    pub(crate) trusted: Option<bool>,
}

/// Members of everything that serves an alias.
#[derive(JsonSchema)]
#[schemars(rename = "serving")]
pub(crate) struct Serving {
    /// Keys callers may use, or names of definitions. Secrets. Absent: everybody may call, unless there are
    /// global keys. Empty: only global keys.
    #[schemars(with = "Option<Vec<KeyText>>")]
    pub(crate) keys: Option<Vec<Given>>,
    /// How the first provider is chosen.
    #[schemars(extend("default" = "weighted_random"))]
    pub(crate) strategy: Option<Strategy>,
    /// When other providers are tried.
    pub(crate) fallback: Option<fallback::Fallback>,
    /// Rules on the labels of the caller's key, evaluated in order; the first match decides.
    #[schemars(extend("default" = []))]
    pub(crate) routing_rules: Option<Vec<RoutingRule>>,
    /// Realtime requests each account may have in flight on the alias: the label `account` of the caller's key names
    /// it, and requests without one are not counted. Without the limit: any number.
    pub(crate) inflight_limit: Option<u32>,
    /// Realtime requests single accounts may have in flight on the alias, by account, instead of
    /// `inflight_limit`.
    #[schemars(extend("default" = {}))]
    pub(crate) account_inflight_limits: Option<BTreeMap<String, u32>>,
    /// Dispatched (batch) requests in flight on the alias. Acts only with `batch_inflight_enforce`, or where an
    /// embedder enforces it.
    pub(crate) batch_inflight_limit: Option<u32>,
}

/// A rule on the labels of the caller's key.
#[derive(JsonSchema)]
#[schemars(rename = "routing_rule")]
pub(crate) struct RoutingRule {
    /// Labels that must all be there. Empty: every caller with a key.
    pub(crate) match_labels: BTreeMap<String, String>,
    /// What happens to a matching request.
    pub(crate) action: Action,
}

/// What a routing rule does.
#[derive(JsonSchema)]
#[schemars(rename = "action", tag = "type", rename_all = "snake_case")]
pub(crate) enum Action {
    /// Refuse the request.
    Deny,
    /// Serve it by another alias.
    Redirect {
        /// The alias; it must exist.
        target: String,
    },
}

/// A token bucket: starts full, refills continuously, one token per request.
#[derive(JsonSchema)]
#[schemars(rename = "rate_limit")]
#[expect(
    dead_code,
    reason = "describes the file; the reader builds `RateLimit`"
)]
pub(crate) struct RateLimitSpec {
    /// Tokens per second.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub(crate) requests_per_second: f64,
    /// Size of the bucket. Without it: the rate, rounded up.
    pub(crate) burst_size: Option<NonZeroU32>,
}

/// A bound on requests at a time.
#[derive(JsonSchema)]
#[schemars(rename = "concurrency_limit")]
#[expect(dead_code, reason = "describes the file; the reader builds the number")]
pub(crate) struct ConcurrencyLimit {
    /// Requests at a time. 0 refuses every one.
    pub(crate) max_concurrent_requests: u32,
}

/// A key, or `${NAME}`, or `${file:PATH}`.
#[derive(JsonSchema)]
#[schemars(rename = "key_text", transparent)]
#[expect(dead_code, reason = "describes the file; the reader builds `Secret`")]
pub(crate) struct KeyText(#[schemars(length(min = 1))] String);

/// A status or a family of statuses: `502` is that status, `50` is 500 to 509, `5` is 500 to 599.
pub(crate) type Statuses = Vec<StatusPattern>;
