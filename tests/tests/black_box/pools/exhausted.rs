//! What the client is told when nobody has answered: how the last attempt failed.

use onwards_tests::{Gate, Launch, Reply, Request, Step, Upstream};
use serde_json::json;

use super::rig::{
    Pair, at_rest, attempts, behind, error, merged, pool, refusal, stream, thorough, thorough_with,
};

/// Both providers fail, the second one like this; the client's status and code, and the counted status.
async fn ends_in(strict: bool, streams: bool, last: Reply, told: (u16, &str), counted: &str) {
    let pair = Pair::start(strict, thorough()).await;
    pair.a.reply(Reply::json(500, &json!({})));
    pair.b.reply(last.clone());
    let request = if streams { stream() } else { Request::chat() };
    let answer = pair.gateway.send(request).await;
    assert_eq!(
        refusal(&answer),
        (told.0, json!(told.1)),
        "strict {strict}: {last:?}"
    );
    assert_eq!(pair.asked(), (1, 1));
    let page = pair.gateway.metrics().await;
    let labels = [
        ("reason", "retries_exhausted"),
        ("status", counted),
        ("model", "m"),
    ];
    assert_eq!(
        page.count("onwards_upstream_failed_total", &labels),
        1.0,
        "{last:?}"
    );
    assert_eq!(page.count("onwards_rejections_total", &[]), 0.0, "{last:?}");
    pair.at_rest().await;
}

#[tokio::test]
async fn a_listed_status_is_a_502() {
    for strict in [false, true] {
        for status in [500, 503, 599] {
            let last = Reply::json(status, &error("x"));
            ends_in(
                strict,
                false,
                last,
                (502, "internal_error"),
                &status.to_string(),
            )
            .await;
        }
    }
}

#[tokio::test]
async fn a_broken_connection_is_a_502() {
    for strict in [false, true] {
        ends_in(
            strict,
            false,
            Reply::default().then(Step::Reset),
            (502, "internal_error"),
            "500",
        )
        .await;
    }
}

#[tokio::test]
async fn an_upstream_429_is_a_429() {
    for strict in [false, true] {
        let last = Reply::json(429, &error("x"));
        ends_in(strict, false, last, (429, "rate_limit_exceeded"), "429").await;
    }
}

#[tokio::test]
async fn only_the_last_failure_counts() {
    let pair = Pair::start(false, thorough()).await;
    pair.a.reply(Reply::json(429, &json!({})));
    pair.b.reply(Reply::json(503, &json!({})));
    let answer = pair.gateway.send(Request::chat()).await;
    assert_eq!(refusal(&answer), (502, json!("internal_error")));
    pair.at_rest().await;
}

#[tokio::test]
async fn an_embedded_error_or_nothing_at_all_is_a_503() {
    let event = format!("data: {}\n\n", error(500));
    let unavailable = (503, "service_unavailable");
    ends_in(
        true,
        true,
        Reply::stream().chunk(event).last_chunk(),
        unavailable,
        "200",
    )
    .await;
    ends_in(true, true, Reply::stream().last_chunk(), unavailable, "200").await;
    ends_in(
        true,
        false,
        Reply::json(200, &error(503)),
        unavailable,
        "200",
    )
    .await;
    ends_in(true, false, Reply::new(200, &[], ""), unavailable, "200").await;
}

#[tokio::test]
async fn silence_is_a_504() {
    let (a, b) = (Upstream::start().await, Upstream::start().await);
    for up in [&a, &b] {
        up.always(Reply::default().then(Step::Hang));
    }
    let targets = json!({"m": {
        "strategy": "priority",
        "providers": [{"url": a.url(), "request_timeout_secs": 1}, {"url": b.url(), "request_timeout_secs": 1}],
        "fallback": thorough(),
    }});
    for launch in [Launch::targets(&targets), Launch::strict(&targets)] {
        let gateway = launch.start().await;
        let seen = (a.count(), b.count());
        let answer = gateway.send(stream()).await;
        assert_eq!(refusal(&answer), (504, json!("gateway_timeout")));
        assert_eq!((a.count(), b.count()), (seen.0 + 1, seen.1 + 1));
        let page = gateway.metrics().await;
        assert_eq!(attempts(&page, "0", "first_token_timeout"), 1.0);
        assert_eq!(attempts(&page, "1", "timeout"), 1.0);
        a.request(seen.0).await.gone().await;
        b.request(seen.1).await.gone().await;
        gateway
            .metric_becomes("onwards_requests_inflight", &[], 0.0)
            .await;
    }
}

#[tokio::test]
async fn the_limits_of_the_providers_are_a_429() {
    let (a, b) = (Upstream::start().await, Upstream::start().await);
    let slow = json!({"requests_per_second": 0.001, "burst_size": 1});
    let targets = json!({"m": {
        "strategy": "priority",
        "providers": [{"url": a.url(), "rate_limit": slow}, {"url": b.url(), "rate_limit": slow}],
        "fallback": {"enabled": true, "on_rate_limit": true},
    }});
    let gateway = Launch::targets(&targets).start().await;
    assert_eq!(gateway.send(Request::chat()).await.status, 200);
    assert_eq!(gateway.send(Request::chat()).await.status, 200);
    assert_eq!((a.count(), b.count()), (1, 1));
    let answer = gateway.send(Request::chat()).await;
    assert_eq!(refusal(&answer), (429, json!("rate_limit")));
    assert_eq!((a.count(), b.count()), (1, 1));
}

#[tokio::test]
async fn everybody_at_capacity_is_a_429() {
    let pair = Pair::start(false, thorough()).await;
    let gateway = Launch::targets(&json!({"m": merged(
        pool(&[&pair.a, &pair.b], 1, thorough()),
        &json!({"concurrency_limit": null}),
    )}))
    .start()
    .await;
    let gate = Gate::new();
    pair.a.reply(behind(&gate, Reply::chat("a")));
    pair.b.reply(behind(&gate, Reply::chat("b")));
    let mut held = [
        gateway.begin(Request::chat()).await,
        gateway.begin(Request::chat()).await,
    ];
    gate.reached(2).await;
    let answer = gateway.send(Request::chat()).await;
    assert_eq!(refusal(&answer), (429, json!("concurrency_limit_exceeded")));
    assert_eq!(answer.head.header("retry-after"), Some("1"));
    let page = gateway.metrics().await;
    assert_eq!(
        page.count(
            "onwards_upstream_failed_total",
            &[("reason", "all_at_capacity")]
        ),
        1.0
    );
    gate.open();
    for conn in &mut held {
        assert_eq!(conn.response().await.status, 200);
    }
    at_rest(&gateway).await;
}

#[tokio::test]
async fn more_attempts_than_providers_start_over() {
    let pair = Pair::start(false, thorough_with(&json!({"max_attempts": 5}))).await;
    for up in [&pair.a, &pair.b] {
        up.always(Reply::json(500, &json!({})));
    }
    assert_eq!(pair.gateway.send(Request::chat()).await.status, 502);
    assert_eq!(pair.asked(), (3, 2));
    pair.a.reply(Reply::json(500, &json!({})));
    pair.b.reply(Reply::json(500, &json!({})));
    pair.a.reply(Reply::chat("from a, at last"));
    let answer = pair.gateway.send(Request::chat()).await;
    assert!(
        answer.text().contains("from a, at last"),
        "{}",
        answer.text()
    );
    pair.at_rest().await;
}

#[tokio::test]
async fn fewer_attempts_than_providers_end_early() {
    let pair = Pair::start(false, thorough_with(&json!({"max_attempts": 1}))).await;
    pair.a.reply(Reply::json(500, &json!({})));
    assert_eq!(pair.gateway.send(Request::chat()).await.status, 502);
    assert_eq!(pair.asked(), (1, 0));
    pair.at_rest().await;
}

#[tokio::test]
async fn a_single_provider_can_be_asked_again() {
    let up = Upstream::start().await;
    up.reply(Reply::json(503, &json!({})));
    up.reply(Reply::default().then(Step::Reset));
    let fallback = thorough_with(&json!({"max_attempts": 3}));
    let gateway = Launch::targets(&json!({"m": pool(&[&up], 1, fallback)}))
        .start()
        .await;
    assert_eq!(gateway.send(Request::chat()).await.status, 200);
    assert_eq!(up.count(), 3);
    at_rest(&gateway).await;
}
