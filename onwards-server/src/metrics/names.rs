//! The table of metrics: every name, what it means, and its labels. Names are an interface; dashboards hold them.

/// Upper bounds in seconds of the first-token histogram; ten seconds is an exact edge.
pub const FIRST_TOKEN_SECONDS_BUCKETS: &[f64] = &[
    0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 7.5, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0,
];

const HTTP_SECONDS_BUCKETS: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

const BODY_BYTES_BUCKETS: &[f64] = &[
    256.0,
    1024.0,
    4096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// What a metric is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Only goes up.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts observations below each of these upper bounds.
    Histogram(&'static [f64]),
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// The name; without the prefix where one applies.
    pub name: &'static str,
    /// Whether the configurable prefix and an underscore come before the name.
    pub prefixed: bool,
    /// Counter, gauge or histogram.
    pub kind: Kind,
    /// The label names, in the order of the values.
    pub labels: &'static [&'static str],
    /// One line for the exposition.
    pub help: &'static str,
}

impl Row {
    /// The name in the exposition.
    pub fn full_name(&self, prefix: &str) -> String {
        if self.prefixed {
            format!("{prefix}_{}", self.name)
        } else {
            self.name.to_owned()
        }
    }
}

/// Declares [`Name`] and its rows: `Variant = kind [prefixed] "name" [labels] "help"`.
macro_rules! table {
    ($($variant:ident = $kind:expr, $prefixed:literal, $name:literal, [$($label:literal),*], $help:literal;)+) => {
        /// The metrics of the gateway.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Name {
            $(#[doc = $help] $variant,)+
        }

        impl Name {
            /// Every metric, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The row of this metric.
            pub const fn row(self) -> Row {
                match self {
                    $(Self::$variant => Row { name: $name, prefixed: $prefixed, kind: $kind, labels: &[$($label),*], help: $help },)+
                }
            }
        }
    };
}

use Kind::{Counter, Gauge, Histogram};

table! {
    HttpRequests = Counter, true, "http_requests_total", ["method", "status", "endpoint"],
        "Requests answered, by method, status and route.";
    HttpPending = Gauge, true, "http_requests_pending", ["method", "endpoint"],
        "Requests that are not answered to the end yet.";
    HttpDuration = Histogram(HTTP_SECONDS_BUCKETS), true, "http_requests_duration_seconds", ["method", "status", "endpoint"],
        "Seconds from a request's head to its answer's head.";
    HttpBodySize = Histogram(BODY_BYTES_BUCKETS), true, "http_response_body_size", ["method", "endpoint"],
        "Bytes of response bodies, as a histogram.";
    RequestsInflight = Gauge, false, "onwards_requests_inflight", [],
        "Proxied requests, from arrival to the end of the response body.";
    ModelInflight = Gauge, false, "onwards_model_inflight", ["model"],
        "Proxied requests per configured alias, from arrival to the end of the response body.";
    UpstreamFailed = Counter, false, "onwards_upstream_failed_total", ["reason", "status", "model"],
        "Requests that ended without an answer from a provider.";
    Retries = Counter, false, "onwards_retries_total", [],
        "Waits taken between two attempts.";
    RetryBudgetExhausted = Counter, false, "onwards_retry_budget_exhausted_total", [],
        "Requests that stopped trying because their waits had used up the budget.";
    Attempts = Counter, false, "onwards_attempts_total", ["model", "pool", "provider", "outcome"],
        "Attempts at each provider of a pool, by outcome; the model is the alias that the pool belongs to.";
    ResponseOutcomes = Counter, false, "onwards_response_outcomes_total", ["model", "kind", "outcome"],
        "Answers of providers by how their bodies ended: complete, client_gone, upstream_broken, stalled, overflow; kind is unary or stream.";
    Tokens = Counter, false, "onwards_tokens_total", ["model", "type"],
        "Tokens as the providers counted them: prompt and completion; cached is a part of prompt, reasoning one of completion.";
    Rejections = Counter, false, "onwards_rejections_total", ["model", "status", "code", "traffic"],
        "Requests the gateway refused by a decision of its own: client errors, and want of capacity.";
    UnsupportedParams = Counter, false, "onwards_unsupported_params_total", ["param", "model", "traffic", "action"],
        "Requests that carry a parameter the gateway does not support.";
    DroppedParams = Counter, false, "onwards_dropped_params_total", ["provider", "param"],
        "Members of requests that a provider's dialect has no place for or allows less of: left out or changed.";
    BatchInflightRefusals = Counter, false, "onwards_batch_inflight_refusals_total", ["model"],
        "Dispatched requests over the batch in-flight limit of their alias.";
    ConfigGeneration = Gauge, false, "onwards_config_generation", [],
        "The number of the configuration in force; the first one is 1.";
    ConfigReloads = Counter, false, "onwards_config_reloads_total", ["result"],
        "Configurations read, the first one included, by result: ok or error.";
    SharedStateUp = Gauge, false, "onwards_shared_state_up", [],
        "Whether the store of shared counts answers: 1 or 0; absent where none is configured.";
    SharedStateEvents = Counter, false, "onwards_shared_state_events_total", ["event"],
        "What happened between the gateway and the store of shared counts.";
    FirstTokenSeconds = Histogram(FIRST_TOKEN_SECONDS_BUCKETS), false, "onwards_first_token_seconds", ["model", "pool", "role"],
        "Seconds from the start of an attempt to its first data frame, if that came within the deadline.";
    FirstTokenBreaches = Counter, false, "onwards_first_token_breaches_total", ["model", "pool", "role"],
        "Attempts whose first data frame did not come within the deadline.";
    ProviderShare = Gauge, false, "onwards_provider_share", ["model", "pool"],
        "The preferred provider's share of new requests, 0 to 1.";
    ShareAdjustments = Counter, false, "onwards_share_adjustments_total", ["model", "pool", "direction"],
        "Changes of the preferred provider's share.";
    AimdActive = Gauge, false, "onwards_aimd_active", ["model", "pool"],
        "Whether the load-aware controller of a pool runs: 1 or 0.";
    AimdWindowSamples = Gauge, false, "onwards_aimd_window_samples", ["model", "pool"],
        "Outcomes in the controller's window.";
    AimdWindowBreachRate = Gauge, false, "onwards_aimd_window_breach_rate", ["model", "pool"],
        "The part of the controller's window that breached, 0 to 1.";
    AimdInFlight = Gauge, false, "onwards_aimd_in_flight", ["model", "pool"],
        "Attempts the controller observes that have not finished.";
    AimdUnknown = Counter, false, "onwards_aimd_unknown_total", ["model", "pool"],
        "Attempts whose outcome tells the controller nothing.";
    AimdOverloadBreaches = Counter, false, "onwards_aimd_overload_breaches_total", ["model", "pool", "status"],
        "Attempts counted as breaches because of their status.";
    AffinityShare = Gauge, false, "onwards_affinity_share", ["model", "pool"],
        "The preferred provider's share of conversations, 0 to 1.";
    AffinityActiveConversations = Gauge, false, "onwards_affinity_active_conversations", ["model", "pool"],
        "Conversations seen lately.";
    AffinityAdmittedConversations = Gauge, false, "onwards_affinity_admitted_conversations", ["model", "pool"],
        "Conversations that stay with the preferred provider.";
    AffinityRouted = Counter, false, "onwards_affinity_routed_total", ["model", "pool", "side"],
        "Requests routed by affinity.";
    TlsHandshakeFailures = Counter, false, "onwards_tls_handshake_failures_total", ["reason"],
        "Client connections that ended before TLS was agreed on, by reason: protocol, closed or timeout.";
    TlsCertificateExpiry = Gauge, false, "onwards_tls_certificate_expiry_timestamp_seconds", [],
        "When the certificate in force ends, in seconds since 1970; absent where clients are not served over TLS.";
    TlsCertificateReloads = Counter, false, "onwards_tls_certificate_reloads_total", ["result"],
        "Changed certificate files read, by result: ok or error.";
}
