//! Without the store: killed, frozen, exchanged.

use std::time::Duration;

use onwards_tests::{Gate, Launch, Reply, Request, Upstream, eventually};
use serde_json::json;
use tokio::time::Instant;

use super::{Store, config, gateway, has_store, patient, stream};

#[tokio::test]
async fn a_store_that_restarts_is_told_what_runs() {
    let Some(mut store) = Store::start().await else {
        return;
    };
    let up = Upstream::start().await;
    let gate = Gate::new();
    up.always(Reply::stream().delta("one").wait(&gate).done());
    let config = config(&up, &patient());
    let (one, other) = (
        gateway(&store, &config).await,
        gateway(&store, &config).await,
    );
    let mut held = Vec::new();
    for gateway in [&one, &other] {
        let mut conn = gateway.begin(stream()).await;
        conn.until(b"one").await;
        held.push(conn);
    }
    store.kill();
    for gateway in [&one, &other] {
        has_store(gateway, false).await;
        gateway.logs("the shared state is away", 1).await;
    }
    // Each keeps to the limit for itself: one runs there already, so two more.
    for _ in 0..2 {
        let mut conn = one.begin(stream()).await;
        conn.until(b"one").await;
        held.push(conn);
    }
    let refused = one.send(stream()).await;
    assert_eq!(refused.code(), "inflight_limit_exceeded");
    let alone = |event| [("event", event)];
    let metrics = one.metrics().await;
    let name = "onwards_shared_state_events_total";
    assert_eq!(metrics.count(name, &alone("admitted_alone")), 2.0);
    store.start_again().await;
    for gateway in [&one, &other] {
        has_store(gateway, true).await;
        gateway.logs("the shared state is there", 2).await;
    }
    // All four are counted again, so nobody enters.
    assert_eq!(store.running("acme", "m").await, 4);
    assert_eq!(other.send(stream()).await.status, 429);
    gate.open();
    for mut conn in held {
        conn.until(b"[DONE]").await;
    }
    eventually("all to be free", || async {
        store.running("acme", "m").await == 0
    })
    .await;
    assert_eq!(other.send(stream()).await.status, 200);
    let log = one.log();
    assert_eq!(log.matches("the shared state is away").count(), 1, "{log}");
    assert!(!log.contains("redis://"), "{log}");
}

#[tokio::test]
async fn a_frozen_store_costs_its_timeout_a_few_times_and_then_nothing() {
    let Some(store) = Store::start().await else {
        return;
    };
    let up = Upstream::start().await;
    let mut shared = patient();
    shared["timeout_ms"] = json!(100);
    shared["rate_limits"] = json!(true);
    let gateway = gateway(&store, &config(&up, &shared)).await;
    has_store(&gateway, true).await;
    let ask = || Request::chat().bearer("sk-one");
    assert_eq!(gateway.send(ask()).await.status, 200);
    store.freeze();
    let begun = Instant::now();
    for request in 0..30 {
        let asked = Instant::now();
        assert_eq!(gateway.send(ask()).await.status, 200, "request {request}");
        assert!(
            asked.elapsed() < Duration::from_secs(2),
            "request {request}"
        );
    }
    // Three time-outs; the slack is the machine's. A hang would be thirty of them.
    let took = begun.elapsed();
    assert!(took < Duration::from_millis(2500), "{took:?}");
    has_store(&gateway, false).await;
    gateway.logs("no answer in time", 1).await;
    // The pool's rate still holds, for this gateway alone and from a full bucket.
    let mut statuses = Vec::new();
    for _ in 0..6 {
        let pooled = Request::chat_with(&json!({"model": "pool"}));
        statuses.push(gateway.send(pooled).await.status);
    }
    assert_eq!(statuses, [200, 200, 200, 200, 429, 429]);
    store.thaw();
    has_store(&gateway, true).await;
    let answer = gateway
        .send(Request::chat_with(&json!({"model": "pool"})))
        .await;
    assert_eq!(answer.status, 200, "tokens spent alone stay there");
}

#[tokio::test]
async fn without_the_store_requests_with_limits_can_be_refused() {
    let Some(mut store) = Store::start().await else {
        return;
    };
    let up = Upstream::start().await;
    let mut shared = patient();
    shared["when_away"] = json!("refuse");
    let gateway = gateway(&store, &config(&up, &shared)).await;
    has_store(&gateway, true).await;
    assert_eq!(gateway.send(stream()).await.status, 200);
    store.kill();
    has_store(&gateway, false).await;
    let refused = gateway.send(stream()).await;
    assert_eq!(
        (
            refused.status,
            refused.code(),
            refused.head.header("retry-after")
        ),
        (503, json!("limits_unavailable"), Some("1"))
    );
    let batch = gateway.send(stream().header("x-batch", "")).await;
    assert_eq!(batch.code(), "limits_unavailable");
    // Rates are not shared here, so a key without an account needs no store.
    let free = gateway.send(Request::chat().bearer("sk-rated")).await;
    assert_eq!(free.status, 200);
    let labels = [("code", "limits_unavailable"), ("model", "m")];
    let metrics = gateway.metrics().await;
    assert_eq!(metrics.count("onwards_rejections_total", &labels), 2.0);
    let alone = [("event", "refused_alone")];
    assert_eq!(
        metrics.count("onwards_shared_state_events_total", &alone),
        2.0
    );
    store.start_again().await;
    has_store(&gateway, true).await;
    assert_eq!(gateway.send(stream()).await.status, 200);
}

#[tokio::test]
async fn a_gateway_starts_and_serves_without_its_store() {
    let Some(mut store) = Store::start().await else {
        return;
    };
    store.kill();
    let up = Upstream::start().await;
    let gateway = gateway(&store, &config(&up, &patient())).await;
    assert_eq!(gateway.send(stream()).await.status, 200);
    gateway.logs("the shared state is away", 1).await;
    store.start_again().await;
    has_store(&gateway, true).await;
    assert_eq!(gateway.send(stream()).await.status, 200);
}

#[tokio::test]
async fn a_reload_connects_to_another_store_and_away_from_all() {
    let (Some(first), Some(second)) = (Store::start().await, Store::start().await) else {
        return;
    };
    let up = Upstream::start().await;
    let gate = Gate::new();
    up.always(Reply::stream().delta("one").wait(&gate).done());
    let before = config(&up, &patient());
    let gateway = gateway(&first, &before).await;
    has_store(&gateway, true).await;
    let mut held = gateway.begin(stream()).await;
    held.until(b"one").await;
    let generation = |number: f64| gateway.metric_becomes("onwards_config_generation", &[], number);
    // Other limits, same store: the connection stays.
    let mut same = before.clone();
    same["targets"]["m"]["inflight_limit"] = json!(2);
    gateway.replace_config(&same);
    generation(2.0).await;
    let back = [("event", "back")];
    let name = "onwards_shared_state_events_total";
    assert_eq!(gateway.metrics().await.count(name, &back), 1.0);
    // Another store: new requests are counted there, the one that runs stays where it is.
    let mut moved = same.clone();
    moved["shared_state"]["redis"] = json!(second.url());
    gateway.replace_config(&moved);
    generation(3.0).await;
    gateway.metric_becomes(name, &back, 2.0).await;
    has_store(&gateway, true).await;
    let mut new = gateway.begin(stream()).await;
    new.until(b"one").await;
    assert_eq!(first.running("acme", "m").await, 1);
    assert_eq!(second.running("acme", "m").await, 1);
    // None: this gateway counts, and what said that a store is there goes.
    let mut none = moved.clone();
    none["shared_state"] = json!(null);
    gateway.replace_config(&none);
    generation(4.0).await;
    let metrics = gateway.metrics().await;
    assert_eq!(metrics.get("onwards_shared_state_up", &[]), None);
    gate.open();
    for conn in [&mut held, &mut new] {
        conn.until(b"[DONE]").await;
    }
    eventually("both to be free", || async {
        first.running("acme", "m").await + second.running("acme", "m").await == 0
    })
    .await;
}

#[tokio::test]
async fn a_bad_address_is_refused_without_being_shown() {
    let up = Upstream::start().await;
    let shared = json!({"redis": "redis://:hush@exa mple"});
    let dir = tempfile::tempdir().unwrap();
    for shared in [shared, json!({"redis": "redis://:hush@h:99999/"})] {
        let text = config(&up, &shared).to_string();
        std::fs::write(dir.path().join("c.json"), text).unwrap();
        let ended = onwards_tests::run(dir.path(), &["check", "c.json"]).await;
        assert_eq!(ended.code, Some(1), "{}", ended.output);
        assert!(ended.output.contains("shared_state"), "{}", ended.output);
        assert!(!ended.output.contains("hush"), "{}", ended.output);
    }
    let good = config(&up, &json!({"redis": "redis://:hush@127.0.0.1:1/"})).to_string();
    std::fs::write(dir.path().join("c.json"), good).unwrap();
    let ended = onwards_tests::run(dir.path(), &["check", "--print", "c.json"]).await;
    assert_eq!(ended.code, Some(0), "{}", ended.output);
    assert!(!ended.output.contains("hush"), "{}", ended.output);
    // Nobody listens there, and a gateway that logs everything says why without the password.
    let launch = Launch::new(&config(
        &up,
        &json!({"redis": "redis://:hush@127.0.0.1:1/"}),
    ))
    .env("RUST_LOG", "trace,mio=trace");
    let gateway = launch.start().await;
    gateway.logs("the shared state is away", 1).await;
    assert!(!gateway.log().contains("hush"), "{}", gateway.log());
}
