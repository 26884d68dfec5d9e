//! The configurations that follow each other: the aliases in use stay, nearly everything about them changes.

use serde_json::{Value, json};

use crate::providers::Providers;

/// Requests at a time in the pool `limited`, of its key, and of its account.
pub(crate) const LIMIT: usize = 4;

/// What all of them have in common.
pub(crate) struct Plan {
    pub(crate) providers: Providers,
    /// The address of the store of shared counts, if there is one.
    pub(crate) store: Option<String>,
}

impl Plan {
    /// The configuration of this number.
    pub(crate) fn version(&self, version: u32) -> Value {
        let mut config = at(version, &self.providers);
        if let Some(store) = &self.store {
            config["shared_state"] = json!({"redis": store, "when_away": "admit"});
        }
        config
    }
}

fn at(version: u32, providers: &Providers) -> Value {
    let slots = json!({"max_concurrent_requests": LIMIT});
    let fallback = json!({"enabled": true, "on_status": [429, 5], "on_rate_limit": true});
    let mut pool: Vec<Value> = providers
        .urls()
        .into_iter()
        .zip(1..)
        .map(|(url, place)| {
            json!({
                "url": url,
                "onwards_key": "sk-provider",
                "weight": 1 + (version + place) % 3,
                "request_timeout_secs": 1,
            })
        })
        .collect();
    let by_order = pool.clone();
    let turn = version as usize % pool.len();
    pool.rotate_left(turn);
    let plenty = json!({"requests_per_second": 1_000_000 + version, "burst_size": 1_000_000});
    json!({
        "strict_mode": version / 10 % 2 == 1,
        "auth": {"key_definitions": {
            "ann": {"key": "sk-ann", "labels": {"account": "acme"}, "concurrency_limit": slots},
        }},
        "targets": {
            "drawn": {"providers": pool, "fallback": fallback, "rate_limit": plenty},
            "ordered": {"providers": by_order, "fallback": fallback, "strategy": "priority"},
            "breaking": {"url": providers.breaking.url(), "concurrency_limit": {"max_concurrent_requests": 1000}},
            "limited": {
                "keys": ["ann"],
                "providers": [{"url": providers.steady.url(), "concurrency_limit": slots}],
                "concurrency_limit": slots,
                "inflight_limit": LIMIT,
            },
            // Few names, since a name that has been seen keeps its series.
            format!("passing-{}", version % 8): {"url": "builtin:echo"},
        },
    })
}
