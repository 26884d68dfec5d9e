//! A resolved configuration for people: in the members of the file, without secrets.

use std::collections::BTreeMap;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use crate::gateway::{
    Access, Action, Affinity, Aimd, Auth, Backoff, Fallback, Gateway, Jitter, Pool, Provider,
    Proxy, RateLimit, ReasoningSurface, ReasoningTranslation, SharedState, StatusPattern, Strategy,
    Target, WhenAway,
};
use crate::secret::Secret;

mod dialect;

/// What stands for a secret.
const HIDDEN: &str = "***";

/// The resolved configuration as JSON, every default and inheritance written out, every secret replaced by
/// `***`. Names of key definitions in `keys` have become keys, so they show as `***` too. Absent members
/// are switched off. Meant to be looked at, not to be read again.
#[must_use]
pub fn redacted(gateway: &Gateway) -> Value {
    let targets = gateway
        .targets
        .iter()
        .map(|(alias, given)| (alias.clone(), target(given)));
    object([
        ("strict_mode", Some(gateway.strict_mode.into())),
        (
            "http_pool",
            Some(json!({
                "max_idle_per_host": gateway.http_pool.max_idle_per_host,
                "idle_timeout_secs": gateway.http_pool.idle_timeout.as_secs(),
            })),
        ),
        ("proxy", gateway.proxy.as_ref().map(proxy)),
        (
            "rejected_params",
            Some(gateway.rejected_params.as_slice().into()),
        ),
        (
            "exempt_header",
            gateway
                .exempt_header
                .as_ref()
                .map(|name| name.as_str().into()),
        ),
        (
            "batch_inflight_enforce",
            Some(gateway.batch_inflight_enforce.into()),
        ),
        (
            "first_token_timeout_ms",
            gateway.first_token_timeout.map(milliseconds),
        ),
        (
            "max_inflight_requests",
            gateway.max_inflight_requests.map(Value::from),
        ),
        (
            "rate_limit_headers",
            Some(gateway.rate_limit_headers.into()),
        ),
        (
            "shared_state",
            gateway.shared_state.as_ref().map(shared_state),
        ),
        ("ingress", Some(dialect::ingress(&gateway.ingress))),
        (
            "image_fetch",
            Some(dialect::image_fetch(&gateway.image_fetch)),
        ),
        (
            "reasoning_state",
            Some(dialect::reasoning_state(gateway.reasoning_state)),
        ),
        (
            "dry_run_key",
            gateway.dry_run_key.as_ref().map(|_| HIDDEN.into()),
        ),
        ("auth", Some(auth(&gateway.auth))),
        ("targets", Some(Value::Object(targets.collect()))),
    ])
}

fn auth(auth: &Auth) -> Value {
    let definitions = auth.key_definitions.iter().map(|(name, definition)| {
        let members = [
            ("key", Some(HIDDEN.into())),
            ("rate_limit", definition.rate_limit.map(rate_limit)),
            (
                "concurrency_limit",
                definition.concurrency_limit.map(concurrency_limit),
            ),
            ("labels", Some(strings(&definition.labels))),
        ];
        (name.clone(), object(members))
    });
    json!({
        "global_keys": hidden(&auth.global_keys),
        "key_definitions": Value::Object(definitions.collect()),
    })
}

fn shared_state(shared: &SharedState) -> Value {
    let when_away = match shared.when_away {
        WhenAway::Admit => "admit",
        WhenAway::Refuse => "refuse",
    };
    object([
        ("redis", Some(HIDDEN.into())),
        ("ca", shared.ca.as_ref().map(|_| HIDDEN.into())),
        ("prefix", Some(shared.prefix.as_str().into())),
        ("timeout_ms", Some(milliseconds(shared.timeout))),
        ("lease_ms", Some(milliseconds(shared.lease))),
        ("when_away", Some(when_away.into())),
        ("rate_limits", Some(shared.rate_limits.into())),
    ])
}

fn proxy(proxy: &Proxy) -> Value {
    match proxy {
        Proxy::FromEnvironment => json!({ "from_environment": true }),
        Proxy::Fixed {
            http,
            https,
            no_proxy,
        } => object([
            ("http", http.as_ref().map(|_| HIDDEN.into())),
            ("https", https.as_ref().map(|_| HIDDEN.into())),
            ("no_proxy", Some(no_proxy.join(",").into())),
        ]),
    }
}

fn target(target: &Target) -> Value {
    match &target.completions {
        None => pool(&target.default),
        Some(completions) => {
            json!({ "pools": { "default": pool(&target.default), "completions": pool(completions) } })
        }
    }
}

fn pool(pool: &Pool) -> Value {
    let keys = match &pool.access {
        Access::Open => None,
        Access::Keys(keys) => Some(hidden(keys)),
    };
    let strategy = match pool.strategy {
        Strategy::WeightedRandom => "weighted_random",
        Strategy::Priority => "priority",
    };
    let rules = pool.routing_rules.iter().map(|rule| {
        let action = match &rule.action {
            Action::Deny => json!({ "type": "deny" }),
            Action::Redirect(alias) => json!({ "type": "redirect", "target": alias }),
        };
        json!({ "match_labels": strings(&rule.match_labels), "action": action })
    });
    object([
        ("keys", keys),
        ("rate_limit", pool.rate_limit.map(rate_limit)),
        (
            "concurrency_limit",
            pool.concurrency_limit.map(concurrency_limit),
        ),
        ("strategy", Some(strategy.into())),
        ("fallback", Some(fallback(&pool.fallback))),
        ("routing_rules", Some(rules.collect())),
        ("inflight_limit", pool.inflight_limit.map(Value::from)),
        (
            "account_inflight_limits",
            Some(
                pool.account_inflight_limits
                    .iter()
                    .map(|(k, v)| (k.clone(), *v))
                    .collect(),
            ),
        ),
        (
            "batch_inflight_limit",
            pool.batch_inflight_limit.map(Value::from),
        ),
        (
            "providers",
            Some(pool.providers.iter().map(provider).collect()),
        ),
    ])
}

fn fallback(fallback: &Fallback) -> Value {
    object([
        ("enabled", Some(fallback.enabled.into())),
        ("on_status", Some(statuses(&fallback.on_status))),
        (
            "realtime_on_status",
            Some(statuses(&fallback.realtime_on_status)),
        ),
        ("on_rate_limit", Some(fallback.on_rate_limit.into())),
        (
            "on_rejected_prompt",
            Some(fallback.on_rejected_prompt.into()),
        ),
        (
            "on_translation_error",
            Some(fallback.on_translation_error.into()),
        ),
        (
            "first_token_timeout_ms",
            fallback.first_token_timeout.map(milliseconds),
        ),
        (
            "max_attempts",
            fallback.max_attempts.map(|most| most.get().into()),
        ),
        ("with_replacement", Some(fallback.with_replacement.into())),
        ("backoff", fallback.backoff.map(backoff)),
        (
            "max_total_backoff_ms",
            fallback.max_total_backoff.map(milliseconds),
        ),
        ("aimd", fallback.aimd.as_ref().map(aimd)),
        ("affinity", fallback.affinity.map(affinity)),
    ])
}

fn backoff(backoff: Backoff) -> Value {
    let jitter = match backoff.jitter {
        Jitter::None => "none",
        Jitter::Full => "full",
    };
    json!({
        "initial_ms": milliseconds(backoff.initial),
        "max_ms": milliseconds(backoff.max),
        "factor": backoff.factor,
        "jitter": jitter,
    })
}

fn aimd(aimd: &Aimd) -> Value {
    json!({
        "latency_budget_ms": milliseconds(aimd.latency_budget),
        "breach_rate_target": aimd.breach_rate_target,
        "recovery_breach_rate": aimd.recovery_breach_rate,
        "window_samples": aimd.window_samples,
        "min_samples": aimd.min_samples,
        "share_step": aimd.share_step,
        "share_decay": aimd.share_decay,
        "share_floor": aimd.share_floor,
        "dwell_ms": milliseconds(aimd.dwell),
        "idle_recovery_ms": milliseconds(aimd.idle_recovery.unwrap_or_default()),
        "overload_statuses": aimd.overload_statuses,
    })
}

fn affinity(affinity: Affinity) -> Value {
    json!({
        "target_conversations": affinity.target_conversations,
        "margin": affinity.margin,
        "active_window_ms": milliseconds(affinity.active_window),
        "update_interval_ms": milliseconds(affinity.update_interval),
        "max_tracked": affinity.max_tracked,
    })
}

fn provider(provider: &Provider) -> Value {
    let mut shown = members([
        ("name", provider.name.as_deref().map(Value::from)),
        ("url", Some(provider.endpoint.url().into())),
        ("onwards_key", provider.key.as_ref().map(|_| HIDDEN.into())),
        ("onwards_model", provider.model.as_deref().map(Value::from)),
        ("weight", Some(provider.weight.get().into())),
        ("rate_limit", provider.rate_limit.map(rate_limit)),
        (
            "concurrency_limit",
            provider.concurrency_limit.map(concurrency_limit),
        ),
        (
            "upstream_auth_header_name",
            Some(provider.auth_header.as_str().into()),
        ),
        (
            "response_headers",
            Some(headers(&provider.response_headers)),
        ),
        ("sanitize_response", Some(provider.sanitize_response.into())),
        ("trusted", Some(provider.trusted.into())),
        (
            "propagate_trace_context",
            Some(provider.propagate_trace_context.into()),
        ),
        (
            "reasoning_translation",
            provider.reasoning_translation.as_ref().map(translation),
        ),
        request_timeout(provider.request_timeout),
        (
            "connect_timeout_ms",
            Some(milliseconds(provider.connect_timeout)),
        ),
        (
            "idle_timeout_ms",
            Some(milliseconds(provider.idle_timeout.unwrap_or_default())),
        ),
        (
            "accepts_scheduling_priority",
            Some(provider.accepts_scheduling_priority.into()),
        ),
    ]);
    shown.extend(dialect::provider(provider));
    Value::Object(shown)
}

/// In seconds, or where these are not whole in the other spelling.
fn request_timeout(timeout: Option<Duration>) -> (&'static str, Option<Value>) {
    match timeout {
        Some(timeout) if timeout.subsec_nanos() > 0 => {
            ("request_timeout_ms", Some(milliseconds(timeout)))
        }
        _ => (
            "request_timeout_secs",
            timeout.map(|timeout| timeout.as_secs().into()),
        ),
    }
}

fn translation(translation: &ReasoningTranslation) -> Value {
    object([
        (
            "chat_completions",
            translation.chat_completions.as_ref().map(surface),
        ),
        ("responses", translation.responses.as_ref().map(surface)),
    ])
}

fn surface(surface: &ReasoningSurface) -> Value {
    let writes = surface
        .writes
        .iter()
        .map(|write| json!({ "target_path": write.target_path, "values": write.values }));
    json!({ "unsupported_efforts": surface.unsupported_efforts, "writes": writes.collect::<Value>() })
}

fn rate_limit(limit: RateLimit) -> Value {
    json!({ "requests_per_second": limit.per_second, "burst_size": limit.burst })
}

fn concurrency_limit(most: u32) -> Value {
    json!({ "max_concurrent_requests": most })
}

fn statuses(patterns: &[StatusPattern]) -> Value {
    patterns.iter().map(|pattern| pattern.get()).collect()
}

fn headers(headers: &[(HeaderName, HeaderValue)]) -> Value {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers
        .iter()
        .map(|(name, value)| (name.as_str(), text(value)))
        .collect()
}

fn hidden(keys: &[Secret]) -> Value {
    keys.iter().map(|_| HIDDEN).collect()
}

fn strings(map: &BTreeMap<String, String>) -> Value {
    map.iter()
        .map(|(name, value)| (name.clone(), value.as_str()))
        .collect()
}

fn milliseconds(span: Duration) -> Value {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX).into()
}

/// Members of an object, by name.
type Members = Map<String, Value>;

/// An object of the members that have a value.
fn object<const N: usize>(given: [(&str, Option<Value>); N]) -> Value {
    Value::Object(members(given))
}

/// The members that have a value.
fn members<const N: usize>(given: [(&str, Option<Value>); N]) -> Members {
    let given = given
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    given.collect()
}
