//! Several gateways count together in one store: no limit is exceeded while it is there, nothing hangs while it is not.
//!
//! Each test starts a `redis-server`; where none is installed it says so and passes.

mod away;
mod store;
mod together;

use onwards_tests::{Gateway, Launch, Request, Upstream};
use serde_json::{Value, json};

use store::Store;

/// Settings that a busy machine does not upset: a request may wait a second for the store.
fn patient() -> Value {
    json!({"redis": "${REDIS_URL}", "timeout_ms": 1000, "lease_ms": 2000})
}

/// One alias with a limit of three for the account, two for batch work, and a rate for one key and the pool.
fn config(up: &Upstream, shared: &Value) -> Value {
    json!({
        "exempt_header": "x-batch",
        "batch_inflight_enforce": true,
        "shared_state": shared,
        "auth": {"key_definitions": {
            "one": {"key": "sk-one", "labels": {"account": "acme"}},
            "other": {"key": "sk-other", "labels": {"account": "acme"}},
            "rated": {"key": "sk-rated", "rate_limit": {"requests_per_second": 0.001, "burst_size": 6}},
        }},
        "targets": {
            "m": {"url": up.url(), "keys": ["one", "other", "rated"], "inflight_limit": 3, "batch_inflight_limit": 2},
            "pool": {"url": up.url(), "rate_limit": {"requests_per_second": 0.001, "burst_size": 4}},
        },
    })
}

async fn gateway(store: &Store, config: &Value) -> Gateway {
    Launch::new(config)
        .env("REDIS_URL", &store.url())
        .start()
        .await
}

/// A streamed request of the account.
fn stream() -> Request {
    Request::chat_with(&json!({"stream": true})).bearer("sk-one")
}

/// Waits until a gateway has its store.
async fn has_store(gateway: &Gateway, has: bool) {
    gateway
        .metric_becomes("onwards_shared_state_up", &[], f64::from(u8::from(has)))
        .await;
}
