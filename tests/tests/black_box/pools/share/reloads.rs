//! The share over reloads: kept, parked and resumed, or retired with what it was learnt from.

use onwards_tests::{Gate, Gateway, Upstream};
use serde_json::{Value, json};

use super::super::rig::{Pair, at_rest, behind, merged, pool, stream, streamed, thorough_with};
use super::{POOL, counting, fallback, overload, pair, quick, samples, share};

/// Replaces the pool of `m` and waits until that is in force.
async fn reload(gateway: &Gateway, generation: u32, pool: Value) {
    gateway.replace_config(&json!({"strict_mode": true, "targets": {"m": pool}}));
    gateway
        .metric_becomes("onwards_config_generation", &[], f64::from(generation))
        .await;
}

async fn active(gateway: &Gateway) -> Option<f64> {
    gateway.metrics().await.get("onwards_aimd_active", &POOL)
}

#[tokio::test]
async fn a_pool_that_shrinks_to_one_provider_parks_its_share_and_resumes_it() {
    let pair = pair(&quick()).await;
    let both = || pool(&[&pair.a, &pair.b], 1, fallback(&quick()));
    assert_eq!(active(&pair.gateway).await, Some(1.0));
    let low = overload(&pair.gateway, &pair.a, &pair.b, 0.1).await;
    // The preferred one is taken out, then the other one instead.
    reload(&pair.gateway, 2, pool(&[&pair.b], 1, fallback(&quick()))).await;
    assert_eq!(active(&pair.gateway).await, Some(0.0));
    assert_eq!(pair.gateway.send(stream()).await.status, 200);
    reload(&pair.gateway, 3, pool(&[&pair.a], 1, fallback(&quick()))).await;
    assert_eq!(pair.gateway.send(stream()).await.status, 200);
    assert_eq!(
        (active(&pair.gateway).await, share(&pair.gateway).await),
        (Some(0.0), low)
    );
    reload(&pair.gateway, 4, both()).await;
    assert_eq!(
        (active(&pair.gateway).await, share(&pair.gateway).await),
        (Some(1.0), low)
    );
    // A reload that changes nothing about it changes nothing.
    reload(
        &pair.gateway,
        5,
        merged(
            both(),
            &json!({"concurrency_limit": {"max_concurrent_requests": 3}}),
        ),
    )
    .await;
    assert_eq!(
        (active(&pair.gateway).await, share(&pair.gateway).await),
        (Some(1.0), low)
    );
    pair.gateway
        .metric_becomes("onwards_aimd_in_flight", &POOL, 0.0)
        .await;
}

/// A pool made of the two providers of the pair and another one.
type Change = fn(&Upstream, &Upstream, &Upstream) -> Value;

#[tokio::test]
async fn a_share_is_retired_with_what_it_was_learnt_from() {
    let extra = Upstream::start().await;
    extra.always(streamed("from another"));
    let quicker = merged(quick(), &json!({"dwell_ms": 2}));
    let pools: [(&str, Change, f64); 4] = [
        (
            "a new preferred provider",
            |_, b, c| pool(&[c, b], 1, fallback(&quick())),
            1.0,
        ),
        (
            "the other order",
            |a, b, _| pool(&[b, a], 1, fallback(&quick())),
            1.0,
        ),
        (
            "no controller",
            |a, b, _| pool(&[a, b], 1, fallback(&json!({"enabled": false}))),
            0.0,
        ),
        (
            "another strategy",
            |a, b, _| {
                merged(
                    pool(&[a, b], 1, json!({"enabled": true})),
                    &json!({"strategy": "weighted_random"}),
                )
            },
            0.0,
        ),
    ];
    for (what, changed, runs) in pools {
        let pair = pair(&quick()).await;
        overload(&pair.gateway, &pair.a, &pair.b, 0.1).await;
        reload(&pair.gateway, 2, changed(&pair.a, &pair.b, &extra)).await;
        assert_eq!(active(&pair.gateway).await, Some(runs), "{what}");
        // Going back does not bring it back.
        reload(
            &pair.gateway,
            3,
            pool(&[&pair.a, &pair.b], 1, fallback(&quick())),
        )
        .await;
        assert_eq!(active(&pair.gateway).await, Some(1.0), "{what}");
        assert_eq!(share(&pair.gateway).await, 1.0, "{what}");
    }
    let pair = pair(&quick()).await;
    overload(&pair.gateway, &pair.a, &pair.b, 0.1).await;
    reload(
        &pair.gateway,
        2,
        pool(&[&pair.a, &pair.b], 1, fallback(&quicker)),
    )
    .await;
    assert_eq!(
        (active(&pair.gateway).await, share(&pair.gateway).await),
        (Some(1.0), 1.0)
    );
    // The alias itself goes.
    pair.gateway
        .replace_config(&json!({"targets": {"n": {"url": pair.b.url()}}}));
    pair.gateway
        .metric_becomes("onwards_config_generation", &[], 3.0)
        .await;
    assert_eq!(active(&pair.gateway).await, Some(0.0));
}

#[tokio::test]
async fn what_is_under_way_at_a_reload_tells_the_new_share_nothing() {
    let pair = pair(&counting()).await;
    let gate = Gate::new();
    pair.a.reply(behind(&gate, streamed("from a")));
    let mut conn = pair.gateway.begin(stream()).await;
    gate.reached(1).await;
    let changed = merged(counting(), &json!({"dwell_ms": 2}));
    reload(
        &pair.gateway,
        2,
        pool(&[&pair.a, &pair.b], 1, fallback(&changed)),
    )
    .await;
    gate.open();
    assert_eq!(conn.response().await.status, 200);
    assert_eq!(samples(&pair.gateway.metrics().await), (0.0, 0.0, 0.0));
    pair.at_rest().await;
    // Also a request that was read before the reload and is sent after it.
    let body =
        json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "hi"}]})
            .to_string();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let (half, rest) = body.split_at(10);
    let mut conn = pair.gateway.connect().await;
    conn.send(head.as_bytes()).await;
    conn.send(half.as_bytes()).await;
    pair.gateway
        .metric_becomes("onwards_requests_inflight", &[], 1.0)
        .await;
    reload(
        &pair.gateway,
        3,
        pool(&[&pair.a, &pair.b], 1, fallback(&json!({"enabled": false}))),
    )
    .await;
    assert_eq!(active(&pair.gateway).await, Some(0.0));
    pair.a.reply(streamed("from a"));
    conn.send(rest.as_bytes()).await;
    assert_eq!(conn.response().await.status, 200);
    assert_eq!(
        active(&pair.gateway).await,
        Some(0.0),
        "a retired controller shows itself again"
    );
    at_rest(&pair.gateway).await;
}

#[tokio::test]
async fn a_controller_that_is_switched_off_under_a_request_counts_it_no_more() {
    let patient = json!({"aimd": counting(), "first_token_timeout_ms": 0});
    let pair = Pair::start(true, thorough_with(&patient)).await;
    let gate = Gate::new();
    pair.a.reply(behind(&gate, streamed("from a")));
    let mut conn = pair.gateway.begin(stream()).await;
    gate.reached(1).await;
    pair.gateway
        .metric_becomes("onwards_aimd_in_flight", &POOL, 1.0)
        .await;
    let off = fallback(&json!({"enabled": false}));
    reload(&pair.gateway, 2, pool(&[&pair.a, &pair.b], 1, off)).await;
    gate.open();
    assert_eq!(conn.response().await.status, 200);
    assert_eq!(active(&pair.gateway).await, Some(0.0));
    pair.at_rest().await;
}
