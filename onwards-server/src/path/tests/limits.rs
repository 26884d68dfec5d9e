//! What callers are told of rate limits, and what happens where limits cannot be asked.

use onwards_limits::{Admission, Counter, Entering};

use super::*;

const RATED: &str = r#"{
    "rate_limit_headers": true,
    "auth": {"key_definitions": {
        "k": {"key": "k-k", "rate_limit": {"requests_per_second": 0.5, "burst_size": 3}},
        "slow": {"key": "k-slow", "rate_limit": {"requests_per_second": 0.01, "burst_size": 2}},
        "free": {"key": "k-free"}}},
    "targets": {
        "open": {"url": "http://up.example"},
        "pool": {"url": "http://up.example", "rate_limit": {"requests_per_second": 2, "burst_size": 4}},
        "full": {"url": "http://up.example", "concurrency_limit": {"max_concurrent_requests": 0}},
        "own": {"providers": [{"url": "http://up.example", "rate_limit": {"requests_per_second": 1, "burst_size": 1}}]}}}"#;

/// Status, the three headers, and `retry-after`, of the answer to a request for `model` with `key`.
async fn told(stage: &Stage, model: &str, key: &str) -> String {
    let body = format!(r#"{{"model":"{model}"}}"#);
    let bearer = format!("Bearer {key}");
    let asked = post(
        "/v1/chat/completions",
        &body,
        &[("authorization", bearer.as_str())],
    );
    let response = stage.send(asked).await;
    let headers = [
        "x-ratelimit-limit-requests",
        "x-ratelimit-remaining-requests",
        "x-ratelimit-reset-requests",
        "retry-after",
    ];
    let values = headers.map(|name| {
        let all: Vec<_> = response
            .headers()
            .get_all(name)
            .iter()
            .map(|value| value.to_str().unwrap())
            .collect();
        if all.is_empty() {
            "-".to_owned()
        } else {
            all.join("+")
        }
    });
    format!("{} {}", response.status().as_u16(), values.join(" "))
}

#[tokio::test(start_paused = true)]
async fn callers_are_told_of_the_nearest_limit() {
    let stage = Stage::new(RATED);
    for (model, key, expect) in [
        ("open", "k-free", "200 - - - -"),
        // The key's own limit, whatever the alias.
        ("open", "k-k", "200 3 2 2s -"),
        ("pool", "k-free", "200 4 3 500ms -"),
        // Equally near: the key's takes longer to fill.
        ("pool", "k-k", "200 3 1 4s -"),
        ("pool", "k-k", "200 3 0 6s -"),
        // Refused for the key; the pool has a token left, and keeps it.
        ("pool", "k-k", "429 3 0 6s 2"),
        ("pool", "k-free", "200 4 0 2s -"),
        // Both are empty: the longer reset.
        ("pool", "k-k", "429 3 0 6s 2"),
        ("pool", "k-free", "429 4 0 2s 1"),
        // Another refusal says nothing about rates and costs none.
        ("full", "k-slow", "429 - - - 1"),
        ("open", "k-slow", "200 2 1 1m40s -"),
        // A provider's own limit is not the caller's.
        ("own", "k-free", "200 - - - -"),
        ("own", "k-free", "429 - - - 1"),
    ] {
        assert_eq!(told(&stage, model, key).await, expect, "{model} {key}");
    }
    tokio::time::advance(Duration::from_millis(3500)).await;
    assert_eq!(told(&stage, "pool", "k-k").await, "200 3 0 4.5s -");
}

#[tokio::test(start_paused = true)]
async fn the_headers_can_be_switched_off() {
    let stage = Stage::new(&RATED.replace("headers\": true", "headers\": false"));
    assert_eq!(told(&stage, "open", "k-slow").await, "200 - - - -");
    assert_eq!(told(&stage, "open", "k-slow").await, "200 - - - -");
    assert_eq!(told(&stage, "open", "k-slow").await, "429 - - - 100");
}

#[tokio::test(start_paused = true)]
async fn a_providers_headers_pass_where_the_gateway_has_nothing_to_say() {
    const THEIRS: &[(&str, &str)] = &[
        ("content-type", "application/json"),
        ("x-ratelimit-limit-requests", "9000"),
        ("x-ratelimit-remaining-requests", "8999"),
        ("x-ratelimit-reset-requests", "7ms"),
    ];
    let answers = || [0, 1].map(|_| Act::Answer(200, THEIRS, "{}"));
    let stage = Stage::new(RATED).acts(answers());
    assert_eq!(told(&stage, "open", "k-free").await, "200 9000 8999 7ms -");
    assert_eq!(told(&stage, "open", "k-k").await, "200 3 2 2s -");
    let strict = RATED.replacen('{', r#"{"strict_mode": true,"#, 1);
    let chat = r#"{"id":"c","object":"chat.completion","created":1,"model":"theirs","choices":[]}"#;
    let strict = Stage::new(&strict).acts([Act::Answer(200, THEIRS, chat)]);
    let asked = r#"{"model":"open","messages":[{"role":"user","content":"a"}]}"#;
    let response = strict.send(post("/v1/chat/completions", asked, &[])).await;
    assert_eq!(response.status(), 200);
    let passed = |name: &http::HeaderName| name.as_str().starts_with("x-ratelimit");
    assert!(!response.headers().keys().any(passed));
}

/// A counter that cannot be asked.
struct Away;

impl Counter for Away {
    fn enter<'a>(&'a self, _: &'a str, _: &'a str, _: u32) -> Entering<'a> {
        Box::pin(std::future::ready(Admission::Unavailable))
    }
}

#[tokio::test]
async fn a_count_that_cannot_be_asked_refuses_those_it_counts() {
    let stage = Stage::with(COUNTED, |state| {
        state
            .with_inflight_limiter(Arc::new(Away))
            .with_batch_inflight_limiter(Arc::new(Away))
    });
    for (key, batch, outcome) in [
        ("k-a", false, "503 limits_unavailable"),
        ("k-d", false, "200 -"),
        ("k-d", true, "503 limits_unavailable"),
    ] {
        let key = format!("Bearer {key}");
        let mut headers = vec![("authorization", key.as_str())];
        headers.extend(batch.then_some(("x-batch", "")));
        let response = stage
            .send(post("/v1/chat/completions", r#"{"model":"m"}"#, &headers))
            .await;
        let status = response.status().as_u16();
        if status == 503 {
            assert_eq!(response.headers()["retry-after"], "1");
        }
        assert_eq!(code(&(status, text(response).await)), outcome);
    }
    let metrics = prometheus::TextEncoder::new()
        .encode_to_string(&stage.house.metrics().registry().gather())
        .unwrap();
    for traffic in ["realtime", "dispatched"] {
        let line = format!(
            r#"onwards_rejections_total{{code="limits_unavailable",model="m",status="503",traffic="{traffic}"}} 1"#
        );
        assert!(metrics.contains(&line), "{metrics}");
    }
}

#[test]
fn a_store_needs_a_runtime_to_connect_on() {
    let config = r#"{"shared_state":{"redis":"redis://127.0.0.1:1"},"targets":{}}"#;
    let gateway = onwards_config::read(config.as_bytes(), &())
        .unwrap()
        .gateway;
    let refused = AppState::new(gateway).build().map(drop).unwrap_err();
    let problems = std::error::Error::source(&refused).unwrap().to_string();
    if cfg!(feature = "shared-state") {
        assert_eq!(
            problems,
            "shared_state: found no runtime to connect on; expected to be put into force on a tokio runtime"
        );
    } else {
        assert_eq!(
            problems,
            "shared_state: found a build without the feature `shared-state`; expected a build with it, or no shared state"
        );
    }
}
