//! What a configuration means, as JSON for people to read. Secrets are counted or said to be there, never shown.

use std::time::Duration;

use onwards_config::{
    Access, Action, Endpoint, Fallback, Gateway, Pool, Provider, Proxy, RateLimit, SharedState,
    Strategy, Target, WhenAway,
};
use serde_json::{Map, Value, json};

pub(super) fn gateway(gateway: &Gateway) -> Value {
    let definitions = gateway
        .auth
        .key_definitions
        .iter()
        .map(|(name, definition)| {
            let limits = json!({
                "rate_limit": definition.rate_limit.as_ref().map(rate),
                "concurrency_limit": definition.concurrency_limit,
                "labels": definition.labels,
            });
            (name.clone(), limits)
        });
    json!({
        "strict_mode": gateway.strict_mode,
        "http_pool": {
            "max_idle_per_host": gateway.http_pool.max_idle_per_host,
            "idle_timeout_ms": millis(gateway.http_pool.idle_timeout),
        },
        "proxy": match gateway.proxy {
            None => "none",
            Some(Proxy::FromEnvironment) => "from environment",
            Some(Proxy::Fixed { .. }) => "fixed",
        },
        "rejected_params": gateway.rejected_params,
        "max_inflight_requests": gateway.max_inflight_requests,
        "rate_limit_headers": gateway.rate_limit_headers,
        "shared_state": gateway.shared_state.as_ref().map(shared_state),
        "auth": {
            "global_keys": gateway.auth.global_keys.len(),
            "key_definitions": definitions.collect::<Map<_, _>>(),
        },
        "targets": gateway.targets.iter().map(|(alias, entry)| (alias.clone(), target(entry))).collect::<Map<_, _>>(),
    })
}

fn shared_state(shared: &SharedState) -> Value {
    json!({
        "prefix": shared.prefix,
        "timeout_ms": millis(shared.timeout),
        "lease_ms": millis(shared.lease),
        "when_away": match shared.when_away {
            WhenAway::Admit => "admit",
            WhenAway::Refuse => "refuse",
        },
        "rate_limits": shared.rate_limits,
        "ca": shared.ca.is_some(),
    })
}

fn target(target: &Target) -> Value {
    match &target.completions {
        None => pool(&target.default),
        Some(completions) => {
            json!({"pools": {"default": pool(&target.default), "completions": pool(completions)}})
        }
    }
}

fn pool(pool: &Pool) -> Value {
    let rules = pool.routing_rules.iter().map(|rule| {
        let action = match &rule.action {
            Action::Deny => json!({"type": "deny"}),
            Action::Redirect(target) => json!({"type": "redirect", "target": target}),
        };
        json!({"match_labels": rule.match_labels, "action": action})
    });
    json!({
        "access": match &pool.access {
            Access::Open => json!("open"),
            Access::Keys(keys) => json!({"keys": keys.len()}),
        },
        "rate_limit": pool.rate_limit.as_ref().map(rate),
        "concurrency_limit": pool.concurrency_limit,
        "inflight_limit": pool.inflight_limit,
        "account_inflight_limits": pool.account_inflight_limits,
        "batch_inflight_limit": pool.batch_inflight_limit,
        "strategy": match pool.strategy {
            Strategy::WeightedRandom => "weighted_random",
            Strategy::Priority => "priority",
        },
        "fallback": fallback(&pool.fallback),
        "routing_rules": rules.collect::<Vec<_>>(),
        "providers": pool.providers.iter().map(provider).collect::<Vec<_>>(),
    })
}

fn fallback(fallback: &Fallback) -> Value {
    let statuses = |patterns: &[onwards_config::StatusPattern]| {
        patterns
            .iter()
            .map(|pattern| pattern.get())
            .collect::<Vec<_>>()
    };
    json!({
        "enabled": fallback.enabled,
        "on_status": statuses(&fallback.on_status),
        "realtime_on_status": statuses(&fallback.realtime_on_status),
        "on_rate_limit": fallback.on_rate_limit,
        "first_token_timeout_ms": fallback.first_token_timeout.map(millis),
        "max_attempts": fallback.max_attempts,
        "with_replacement": fallback.with_replacement,
        "backoff": fallback.backoff.as_ref().map(|backoff| json!({
            "initial_ms": millis(backoff.initial),
            "max_ms": millis(backoff.max),
            "factor": backoff.factor,
        })),
        "max_total_backoff_ms": fallback.max_total_backoff.map(millis),
        "aimd": fallback.aimd.is_some(),
        "affinity": fallback.affinity.is_some(),
    })
}

fn provider(provider: &Provider) -> Value {
    let url = match &provider.endpoint {
        Endpoint::Http(http) => format!(
            "{}://{}{}",
            http.scheme.as_str(),
            http.authority,
            http.base_path
        ),
        Endpoint::Echo => "builtin:echo".to_owned(),
    };
    json!({
        "name": provider.name,
        "url": url,
        "model": provider.model,
        "weight": provider.weight,
        "rate_limit": provider.rate_limit.as_ref().map(rate),
        "concurrency_limit": provider.concurrency_limit,
        "auth": provider.auth_value.as_ref().map(|_| provider.auth_header.as_str()),
        "response_headers": provider.response_headers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        "sanitize_response": provider.sanitize_response,
        "trusted": provider.trusted,
        "propagate_trace_context": provider.propagate_trace_context,
        "reasoning_translation": provider.reasoning_translation.is_some(),
        "request_timeout_ms": provider.request_timeout.map(millis),
        "connect_timeout_ms": millis(provider.connect_timeout),
        "idle_timeout_ms": provider.idle_timeout.map(millis),
        "accepts_scheduling_priority": provider.accepts_scheduling_priority,
    })
}

fn rate(rate: &RateLimit) -> Value {
    json!({"requests_per_second": rate.per_second, "burst_size": rate.burst})
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
