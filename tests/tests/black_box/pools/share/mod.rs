//! The load-aware share: what counts as a sample, what moves it, and what a reload makes of it.

mod moves;
mod reloads;
mod samples;

use onwards_tests::{Gateway, Metrics, Reply, Upstream};
use serde_json::{Value, json};

use super::rig::{Pair, error, merged, stream, streamed, thorough_with};

/// Decides after two samples, down by half at once and up by next to nothing.
fn quick() -> Value {
    json!({
        "latency_budget_ms": 200, "window_samples": 50, "min_samples": 2, "share_decay": 0.5, "share_floor": 0.01,
        "share_step": 0.000001, "dwell_ms": 1, "idle_recovery_ms": 0,
    })
}

/// Counts samples and never moves.
fn counting() -> Value {
    merged(quick(), &json!({"min_samples": 50}))
}

fn fallback(aimd: &Value) -> Value {
    thorough_with(&json!({"aimd": aimd}))
}

async fn pair(aimd: &Value) -> Pair {
    let pair = Pair::start(true, fallback(aimd)).await;
    pair.a.always(streamed("from a"));
    pair.b.always(streamed("from b"));
    pair
}

const POOL: [(&str, &str); 2] = [("model", "m"), ("pool", "default")];

/// Samples in the window, the part of them that breached, and outcomes that say nothing.
fn samples(page: &Metrics) -> (f64, f64, f64) {
    let get = |name: &str| page.count(name, &POOL);
    (
        get("onwards_aimd_window_samples"),
        get("onwards_aimd_window_breach_rate"),
        get("onwards_aimd_unknown_total"),
    )
}

async fn share(gateway: &Gateway) -> f64 {
    gateway
        .metrics()
        .await
        .get("onwards_provider_share", &POOL)
        .unwrap_or(1.0)
}

/// Lowers the share of `gateway` to `below` or less, by overload of the first provider; the share then. Looked at after
/// each request, so that no overload is seen after the last change.
async fn overload(gateway: &Gateway, a: &Upstream, b: &Upstream, below: f64) -> f64 {
    a.always(Reply::json(529, &error("x")));
    b.always(streamed("from b"));
    let mut requests = 0;
    while share(gateway).await > below {
        gateway.send(stream()).await;
        requests += 1;
        assert!(
            requests < 2000,
            "the share does not fall: {}",
            share(gateway).await
        );
    }
    a.always(streamed("from a"));
    share(gateway).await
}
