//! What a configuration means: every default and inheritance applied, still plain data.
//!
//! Built only by [`read`](crate::read()), so a consumer may rely on every range named here.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use schemars::JsonSchema;

use crate::endpoint::Endpoint;
use crate::secret::Secret;

mod dialect;
mod protocols;

pub use dialect::{
    ApiStyle, Aws, BedrockApi, Dialect, ExposeReasoning, ImageUrls, MaxTokensField, MidSystem,
    OnUnsupported, ProviderKind, ReasoningStyle, SchemaMode, StructuredOutput,
};
pub use protocols::{ImageFetch, Ingress, ReasoningState, SameDialect};

/// The whole gateway.
#[derive(Debug, Clone)]
pub struct Gateway {
    /// Validate requests and clean every answer.
    pub strict_mode: bool,
    /// Idle connections to providers.
    pub http_pool: HttpPool,
    /// The proxy providers are reached through; `None`: none, whatever the environment says.
    pub proxy: Option<Proxy>,
    /// Parameters strict mode refuses. The names are not checked here.
    pub rejected_params: Vec<String>,
    /// A request with this header, whatever its value, is dispatched traffic; `None`: every request is
    /// realtime. Never a header with a meaning of its own.
    pub exempt_header: Option<HeaderName>,
    /// First-token deadline of pools without one of their own: up to 1 h; `None`: no deadline.
    pub first_token_timeout: Option<Duration>,
    /// The batch in-flight limits of aliases hold.
    pub batch_inflight_enforce: bool,
    /// The most requests for providers that the whole gateway has in flight at once: at least 1; `None`: no bound.
    pub max_inflight_requests: Option<u32>,
    /// Callers are told of the nearest rate limit of their key and pool.
    pub rate_limit_headers: bool,
    /// The store that counts are shared in; `None`: each gateway counts for itself.
    pub shared_state: Option<SharedState>,
    /// Protocols that clients may speak.
    pub ingress: Ingress,
    /// How pictures are fetched.
    pub image_fetch: ImageFetch,
    /// What is remembered of thoughts.
    pub reasoning_state: ReasoningState,
    /// The token that opens `POST /v1/dry-run`; `None`: nothing does.
    pub dry_run_key: Option<Secret>,
    /// Callers' keys.
    pub auth: Auth,
    /// Alias to target.
    pub targets: BTreeMap<String, Target>,
}

/// The store that several gateways count in. Scheme and ranges are checked, the rest of the address is not.
#[derive(Debug, Clone)]
pub struct SharedState {
    /// Its address, perhaps with a password.
    pub redis: Secret,
    /// Certificates in PEM that it is trusted by instead of the system's; only beside an address with TLS.
    pub ca: Option<Secret>,
    /// Starts every name in the store: 1–64 of `A–Z a–z 0–9 _ . : -`.
    pub prefix: String,
    /// Longest wait of a request for the store: 1 ms to 1 s.
    pub timeout: Duration,
    /// How long a request of a dead gateway stays counted: 100 ms to 1 h.
    pub lease: Duration,
    /// What happens to requests while the store does not answer.
    pub when_away: WhenAway,
    /// The rates of keys and pools are shared too.
    pub rate_limits: bool,
}

/// What happens to requests while the store does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(rename = "when_away", rename_all = "snake_case")]
pub enum WhenAway {
    /// Each gateway keeps to the limits for itself.
    Admit,
    /// Those that would be counted are refused with 503.
    Refuse,
}

/// Idle connections to providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpPool {
    /// Idle connections kept per host.
    pub max_idle_per_host: usize,
    /// How long one is kept.
    pub idle_timeout: Duration,
}

/// Which proxy providers are reached through.
#[derive(Debug, Clone)]
pub enum Proxy {
    /// The conventional variables (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`, …) decide.
    FromEnvironment,
    /// The file decides.
    Fixed {
        /// For `http` providers: an absolute `http` or `https` URL, perhaps with credentials.
        http: Option<Secret>,
        /// For `https` providers, likewise.
        https: Option<Secret>,
        /// Hosts, domains and address ranges reached directly.
        no_proxy: Vec<String>,
    },
}

/// Callers' keys.
#[derive(Debug, Clone)]
pub struct Auth {
    /// Keys valid for every alias; names of definitions replaced by their keys.
    pub global_keys: Vec<Secret>,
    /// Limits and labels by definition name. A definition alone grants access to nothing.
    pub key_definitions: BTreeMap<String, KeyDefinition>,
}

/// Limits and labels of one caller's key. No two definitions share a key.
#[derive(Debug, Clone)]
pub struct KeyDefinition {
    /// The token.
    pub key: Secret,
    /// Requests per second over all aliases.
    pub rate_limit: Option<RateLimit>,
    /// Requests at a time over all aliases; 0 refuses every one.
    pub concurrency_limit: Option<u32>,
    /// Free labels; `account` groups keys for the in-flight limits and is never `__batch__`.
    pub labels: BTreeMap<String, String>,
}

/// A token bucket.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateLimit {
    /// Tokens per second: above 0, finite.
    pub per_second: f64,
    /// Size of the bucket, at least 1.
    pub burst: u32,
}

/// What an alias stands for.
#[derive(Debug, Clone)]
pub struct Target {
    /// Serves every class of requests that has no pool of its own.
    pub default: Pool,
    /// Serves legacy completions; `None` when not configured or without providers.
    pub completions: Option<Pool>,
}

/// Providers that serve an alias.
#[derive(Debug, Clone)]
pub struct Pool {
    /// Where the file defines it, for example `targets.gpt-4.pools.default`.
    pub path: String,
    /// Who may call it, the global keys included.
    pub access: Access,
    /// Requests per second.
    pub rate_limit: Option<RateLimit>,
    /// Requests at a time; 0 refuses every one.
    pub concurrency_limit: Option<u32>,
    /// How the first provider is chosen.
    pub strategy: Strategy,
    /// When another one is tried.
    pub fallback: Fallback,
    /// Evaluated in order, the first match decides. Every redirect names an alias that exists.
    pub routing_rules: Vec<RoutingRule>,
    /// Realtime requests in flight per account. In a named pool: those of the default pool.
    pub inflight_limit: Option<u32>,
    /// The same for named accounts.
    pub account_inflight_limits: BTreeMap<String, u32>,
    /// Dispatched requests in flight on the alias.
    pub batch_inflight_limit: Option<u32>,
    /// In the order of the file; may be empty.
    pub providers: Vec<Provider>,
}

/// Who may call a pool.
#[derive(Debug, Clone)]
pub enum Access {
    /// Everybody; a token is optional.
    Open,
    /// Holders of one of these keys. Without duplicates; empty: nobody.
    Keys(Vec<Secret>),
}

/// How the first provider is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, JsonSchema)]
#[schemars(rename = "strategy", rename_all = "snake_case")]
pub enum Strategy {
    /// By chance, in proportion to the weights.
    #[default]
    WeightedRandom,
    /// The first one with capacity, in the order of the file.
    Priority,
}

/// A rule on the labels of the caller's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutingRule {
    /// All of them must be present; empty matches every caller.
    pub match_labels: BTreeMap<String, String>,
    /// What happens then.
    pub action: Action,
}

/// What a matching routing rule does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Refuse the request.
    Deny,
    /// Serve it by this alias.
    Redirect(String),
}

/// When and how often another provider is tried.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fallback {
    /// `false` switches every failover of the pool off.
    pub enabled: bool,
    /// Statuses of a provider that lead to the next one.
    pub on_status: Vec<StatusPattern>,
    /// Besides them, what the provider's API calls worth another try: so where the file names no statuses and a provider has a kind
    /// other than `openai`.
    pub by_class: bool,
    /// The same, for realtime requests only.
    pub realtime_on_status: Vec<StatusPattern>,
    /// A provider at its own rate limit leads to the next one.
    pub on_rate_limit: bool,
    /// A rejected prompt leads to the next provider with another upstream model; `false`: the rejection is
    /// final, whatever its status.
    pub on_rejected_prompt: bool,
    /// A request that cannot be put in a provider's dialect leads to the next one.
    pub on_translation_error: bool,
    /// Wait for the first token of a stream. `None`: [`Gateway::first_token_timeout`]; zero: no deadline.
    pub first_token_timeout: Option<Duration>,
    /// Attempts in all; `None`: as many as there are providers.
    pub max_attempts: Option<NonZeroU32>,
    /// A provider already tried may be drawn again (weighted choice only).
    pub with_replacement: bool,
    /// Waits between attempts; `None`: none.
    pub backoff: Option<Backoff>,
    /// Stop before the waits of one request add up to more.
    pub max_total_backoff: Option<Duration>,
    /// The load-aware share. `Some` exactly when the pool is set up for it: default pool, priority,
    /// fallback enabled, not opted out; the number of providers is left to the caller. Defaults applied.
    pub aimd: Option<Aimd>,
    /// Conversation affinity, under the same conditions and when configured.
    pub affinity: Option<Affinity>,
}

/// A status or a family of statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusPattern(u16);

impl StatusPattern {
    /// `502` is that status, `50` is 500–509, `5` is 500–599. `None` outside 1–599.
    #[must_use]
    pub fn new(pattern: u16) -> Option<Self> {
        (1..=599).contains(&pattern).then_some(Self(pattern))
    }

    /// Whether the status belongs to the pattern.
    #[must_use]
    pub fn matches(self, status: u16) -> bool {
        match self.0 {
            100.. => status == self.0,
            10.. => status / 10 == self.0,
            _ => status / 100 == self.0,
        }
    }

    /// The number as written in the file.
    #[must_use]
    pub fn get(self) -> u16 {
        self.0
    }
}

/// Waits between attempts: before attempt n+1 the smaller of `initial`·`factor`^(n−1) and `max`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backoff {
    /// First wait.
    pub initial: Duration,
    /// Longest wait.
    pub max: Duration,
    /// Growth per attempt: above 0, finite.
    pub factor: f64,
    /// How chance shortens a wait.
    pub jitter: Jitter,
}

/// How chance shortens a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, JsonSchema)]
#[schemars(rename = "jitter", rename_all = "snake_case")]
pub enum Jitter {
    /// Not at all.
    None,
    /// Uniform between zero and the wait.
    #[default]
    Full,
}

/// Parameters of the load-aware share. `default()` has the documented defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Aimd {
    /// A first frame later than this is a breach: 1 ms to 1 h.
    pub latency_budget: Duration,
    /// The share decreases above this rate of breaches: 0 to below 1.
    pub breach_rate_target: f64,
    /// It may increase at or below this one: 0 to the target.
    pub recovery_breach_rate: f64,
    /// Samples kept: `min_samples` to 100,000.
    pub window_samples: u32,
    /// Samples needed to decide: at least 2.
    pub min_samples: u32,
    /// Added per increase: above 0, at most 1.
    pub share_step: f64,
    /// Factor per decrease: between 0 and 1, both excluded.
    pub share_decay: f64,
    /// Lower bound of the share: above 0, at most 1.
    pub share_floor: f64,
    /// Least time between two adjustments: 1 ms to 1 day.
    pub dwell: Duration,
    /// One increase per such span without enough samples: up to 1 day; `None`: off.
    pub idle_recovery: Option<Duration>,
    /// Statuses that are breaches: at most 32, each 400–599.
    pub overload_statuses: Vec<u16>,
}

impl Default for Aimd {
    fn default() -> Self {
        Self {
            latency_budget: Duration::from_millis(10_000),
            breach_rate_target: 0.10,
            recovery_breach_rate: 0.03,
            window_samples: 100,
            min_samples: 20,
            share_step: 0.05,
            share_decay: 0.8,
            share_floor: 0.05,
            dwell: Duration::from_millis(30_000),
            idle_recovery: Some(Duration::from_millis(300_000)),
            overload_statuses: vec![429, 503, 529],
        }
    }
}

/// Parameters of conversation affinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Affinity {
    /// Conversations the preferred provider shall hold: 1–1,000,000.
    pub target_conversations: u32,
    /// Tolerance around it, at most the target.
    pub margin: u32,
    /// A conversation unseen for so long is over: 1 s to 1 day.
    pub active_window: Duration,
    /// How often the share is recomputed: 1 s to the window.
    pub update_interval: Duration,
    /// Conversations remembered: target plus margin to 10,000,000.
    pub max_tracked: u32,
}

/// One upstream.
#[derive(Debug, Clone)]
pub struct Provider {
    /// Where the file defines it, for example `targets.gpt-4.providers[0]`.
    pub path: String,
    /// Label for metrics and logs: 1–64 of `A–Z a–z 0–9 _ . -`. Unique in the pool, but for several models of one shared
    /// provider.
    pub name: Option<String>,
    /// Where it listens.
    pub endpoint: Endpoint,
    /// Which API it speaks; `None`: whatever it is, it gets and gives bytes as they are.
    pub kind: Option<ProviderKind>,
    /// How it is spoken to; without a kind of no meaning.
    pub dialect: Dialect,
    /// Replaces the path of every request, `{model}` in it the model's name: begins with `/`, perhaps with a query, without
    /// dot segments. `None`: the kind's own path, or without a kind the client's.
    pub request_path: Option<String>,
    /// The same for requests that ask for a stream; falls back to `request_path`.
    pub stream_path: Option<String>,
    /// Set on every request, replacing headers of the same name, marked sensitive. None of them frames the message, carries
    /// the key or is written by rules of its own.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// A JSON object as text, merged into every body last. Never without a kind.
    pub extra_body: Option<String>,
    /// Nothing is translated although the kind is known.
    pub passthrough: bool,
    /// Signs its requests instead of a key; only for Bedrock.
    pub aws: Option<Aws>,
    /// Its key, part of the provider's identity; what is sent is `auth_value`.
    pub key: Option<Secret>,
    /// Model name it is sent; `None`: the caller's.
    pub model: Option<String>,
    /// Share of the traffic relative to the pool's other providers.
    pub weight: NonZeroU32,
    /// Requests per second; `None` in a single target, where the pool has the limit.
    pub rate_limit: Option<RateLimit>,
    /// Attempts at a time, likewise.
    pub concurrency_limit: Option<u32>,
    /// Header the key is sent in.
    pub auth_header: HeaderName,
    /// Prefix and key, marked sensitive; `None`: no such header is sent.
    pub auth_value: Option<HeaderValue>,
    /// Set on every answer of this provider: the pool's, overridden by its own.
    pub response_headers: Vec<(HeaderName, HeaderValue)>,
    /// Clean its answers outside strict mode (pool or provider says so).
    pub sanitize_response: bool,
    /// Its errors may reach the client (provider says so, else pool).
    pub trusted: bool,
    /// It receives the trace context (provider says so, else trust).
    pub propagate_trace_context: bool,
    /// How reasoning efforts are written for it.
    pub reasoning_translation: Option<ReasoningTranslation>,
    /// Bound on the wait for response headers.
    pub request_timeout: Option<Duration>,
    /// Bound on connecting.
    pub connect_timeout: Duration,
    /// Bound on the silence between two pieces of a response body.
    pub idle_timeout: Option<Duration>,
    /// Scheduling fields are kept in bodies for it.
    pub accepts_scheduling_priority: bool,
}

/// How reasoning efforts are written for a provider: shapes are checked, and what the surroundings know of the values.
#[derive(Debug, Clone, PartialEq)]
pub struct ReasoningTranslation {
    /// Where the file defines it; rules about the whole are reported here.
    pub path: String,
    /// Chat Completions.
    pub chat_completions: Option<ReasoningSurface>,
    /// Responses.
    pub responses: Option<ReasoningSurface>,
}

/// The translation for one request surface.
#[derive(Debug, Clone, PartialEq)]
pub struct ReasoningSurface {
    /// Where the file defines it; `<path>.writes[i].values.<effort>` locates its parts.
    pub path: String,
    /// Efforts that are refused.
    pub unsupported_efforts: Vec<String>,
    /// What is written into the body.
    pub writes: Vec<ReasoningWrite>,
}

/// One member written into the body.
#[derive(Debug, Clone, PartialEq)]
pub struct ReasoningWrite {
    /// JSON pointer into the body.
    pub target_path: String,
    /// Effort to value.
    pub values: BTreeMap<String, serde_json::Value>,
}
