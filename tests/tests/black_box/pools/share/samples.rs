//! What is a sample, of which kind, and what is none.

use std::time::Duration;

use onwards_tests::{Gate, Gateway, Launch, Reply, Request, Step};
use serde_json::json;

use super::super::rig::{Pair, error, merged, past, pool, stream, streamed, thorough_with};
use super::{POOL, counting, fallback, pair, samples};

/// One answer of the first provider to a stream of which nothing else is known; the samples that makes.
async fn sampled(answer: Reply) -> (f64, f64, f64) {
    let pair = pair(&counting()).await;
    pair.a.reply(answer.clone());
    let mut conn = pair.gateway.begin(stream()).await;
    let head = conn.head().await;
    conn.body(&head).await;
    assert_eq!(pair.a.count(), 1, "{answer:?}");
    pair.gateway
        .metric_becomes("onwards_aimd_in_flight", &POOL, 0.0)
        .await;
    let seen = samples(&pair.gateway.metrics().await);
    pair.at_rest().await;
    seen
}

const HEALTHY: (f64, f64, f64) = (1.0, 0.0, 0.0);
const BREACH: (f64, f64, f64) = (1.0, 1.0, 0.0);
const UNKNOWN: (f64, f64, f64) = (0.0, 0.0, 1.0);

#[tokio::test]
async fn a_first_token_in_time_is_healthy() {
    assert_eq!(sampled(streamed("from a")).await, HEALTHY);
    // An error that comes later says nothing about it.
    let late = Reply::stream()
        .delta("one")
        .chunk(format!("data: {}\n\n", error(503)))
        .last_chunk();
    assert_eq!(sampled(late).await, HEALTHY);
    // Nor does an end that comes too early.
    assert_eq!(
        sampled(Reply::stream().delta("one").then(Step::Close)).await,
        HEALTHY
    );
}

#[tokio::test]
async fn overload_and_silence_are_breaches() {
    for status in [429, 503, 529] {
        assert_eq!(
            sampled(Reply::json(status, &error("x"))).await,
            BREACH,
            "{status}"
        );
    }
    assert_eq!(sampled(Reply::default().then(Step::Hang)).await, BREACH);
    assert_eq!(
        sampled(Reply::stream().chunk(": x\n\n").then(Step::Hang)).await,
        BREACH
    );
}

#[tokio::test]
async fn embedded_overload_is_a_breach() {
    for status in [429, 503, 529] {
        let event = format!("data: {}\n\n", error(status));
        for answer in [
            Reply::stream().chunk(event).last_chunk(),
            Reply::json(200, &error(status)),
        ] {
            let pair = pair(&counting()).await;
            pair.a.reply(answer);
            pair.gateway.send(stream()).await;
            let page = pair.gateway.metrics().await;
            assert_eq!(samples(&page), BREACH, "{status}");
            let status = status.to_string();
            let labels = [("model", "m"), ("status", status.as_str())];
            assert_eq!(
                page.count("onwards_aimd_overload_breaches_total", &labels),
                1.0,
                "{status}"
            );
            pair.at_rest().await;
        }
    }
}

#[tokio::test]
async fn the_configured_statuses_decide_whether_they_fail_over_or_not() {
    let aimd = merged(counting(), &json!({"overload_statuses": [418]}));
    let listed = fallback(&aimd);
    let pair = Pair::start(true, listed).await;
    pair.a.reply(Reply::json(418, &error("x")));
    assert_eq!(pair.gateway.send(stream()).await.status, 418);
    assert_eq!(samples(&pair.gateway.metrics().await), BREACH);
    pair.a.reply(Reply::json(503, &error("x")));
    pair.b.reply(streamed("from b"));
    assert_eq!(pair.gateway.send(stream()).await.status, 200);
    assert_eq!(samples(&pair.gateway.metrics().await), (1.0, 1.0, 1.0));
    pair.at_rest().await;
}

#[tokio::test]
async fn what_says_nothing_about_load_is_no_sample() {
    for answer in [
        Reply::json(500, &error("x")),
        Reply::json(400, &error("x")),
        Reply::default().then(Step::Reset),
        Reply::stream().then(Step::Reset),
        Reply::chat("not a stream"),
        Reply::stream().done(),
        Reply::stream().last_chunk(),
        Reply::stream()
            .chunk(format!("data: {}\n\n", error(500)))
            .last_chunk(),
        Reply::json(200, &error(500)),
        Reply::stream().chunk("data: garbage\n\n").last_chunk(),
    ] {
        let what = format!("{answer:?}");
        assert_eq!(sampled(answer).await, UNKNOWN, "{what}");
    }
}

#[tokio::test]
async fn requests_that_are_not_eligible_leave_no_trace() {
    let pair = pair(&counting()).await;
    pair.a.always(Reply::chat("from a"));
    let gateway = Launch::new(&json!({
        "strict_mode": true,
        "exempt_header": "x-dispatched",
        "targets": {"m": pool(&[&pair.a, &pair.b], 1, fallback(&counting()))},
    }))
    .start()
    .await;
    assert_eq!(gateway.send(Request::chat()).await.status, 200);
    pair.a.always(streamed("from a"));
    assert_eq!(
        gateway
            .send(stream().header("x-dispatched", "1"))
            .await
            .status,
        200
    );
    assert_eq!(samples(&gateway.metrics().await), (0.0, 0.0, 0.0));
    // Outside strict mode no stream is looked into.
    let plain =
        Gateway::serve(json!({"m": pool(&[&pair.a, &pair.b], 1, fallback(&counting()))})).await;
    assert_eq!(plain.send(stream()).await.status, 200);
    assert_eq!(samples(&plain.metrics().await), (0.0, 0.0, 0.0));
    assert_eq!(pair.a.count(), 3);
}

#[tokio::test]
async fn samples_of_the_alternates_never_count() {
    // The first provider is never asked.
    let pair = pair(&counting()).await;
    let mut shut = pool(&[&pair.a, &pair.b], 4, fallback(&counting()));
    shut["providers"][0]["concurrency_limit"] = json!({"max_concurrent_requests": 0});
    let gateway = Launch::strict(&json!({"m": shut})).start().await;
    for answer in [
        streamed("from b"),
        Reply::json(503, &error("x")),
        Reply::stream()
            .chunk(format!("data: {}\n\n", error(429)))
            .last_chunk(),
        Reply::stream().done(),
    ] {
        pair.b.reply(answer);
        gateway.send(stream()).await;
    }
    let page = gateway.metrics().await;
    assert_eq!(samples(&page), (0.0, 0.0, 0.0));
    assert_eq!(page.count("onwards_aimd_overload_breaches_total", &[]), 0.0);
    // For people there is a histogram of both.
    let labels = [("model", "m"), ("pool", "default"), ("role", "alternate")];
    assert!(page.count("onwards_first_token_seconds_count", &labels) >= 1.0);
    assert_eq!(
        page.count(
            "onwards_first_token_seconds_count",
            &[("role", "preferred")]
        ),
        0.0
    );
    assert_eq!(pair.a.count(), 0);
}

#[tokio::test]
async fn the_second_attempt_at_the_preferred_provider_counts_as_well() {
    let up = fallback(&counting());
    let pair = Pair::start(true, merged(up, &json!({"max_attempts": 3}))).await;
    pair.a.reply(Reply::json(503, &error("x")));
    pair.b.reply(Reply::json(503, &error("x")));
    pair.a.reply(streamed("from a"));
    assert_eq!(pair.gateway.send(stream()).await.status, 200);
    assert_eq!(pair.asked(), (2, 1));
    assert_eq!(samples(&pair.gateway.metrics().await), (2.0, 0.5, 0.0));
    pair.at_rest().await;
}

#[tokio::test]
async fn a_deadline_exactly_at_the_budget_is_a_breach_each_time() {
    const REQUESTS: usize = 40;
    let aimd = merged(counting(), &json!({"latency_budget_ms": 200}));
    let pair = Pair::with_room(REQUESTS, true, fallback(&aimd)).await;
    pair.a.always(Reply::default().then(Step::Hang));
    pair.b.always(streamed("from b"));
    let mut clients = Vec::new();
    for _ in 0..REQUESTS {
        clients.push(pair.gateway.begin(stream()).await);
    }
    for mut client in clients {
        assert!(client.response().await.text().contains("from b"));
    }
    let page = pair.gateway.metrics().await;
    assert_eq!(samples(&page), (40.0, 1.0, 0.0));
    let breaches = |role| page.count("onwards_first_token_breaches_total", &[("role", role)]);
    assert_eq!((breaches("preferred"), breaches("alternate")), (40.0, 0.0));
    assert_eq!(
        page.count(
            "onwards_first_token_seconds_count",
            &[("role", "preferred")]
        ),
        0.0
    );
    pair.at_rest().await;
}

#[tokio::test]
async fn a_deadline_before_the_budget_says_nothing() {
    // The budget of the defaults is ten seconds.
    let pair = Pair::start(true, thorough_with(&json!({"first_token_timeout_ms": 100}))).await;
    pair.a.reply(Reply::default().then(Step::Hang));
    pair.b.reply(streamed("from b"));
    assert_eq!(pair.gateway.send(stream()).await.status, 200);
    let page = pair.gateway.metrics().await;
    assert_eq!(samples(&page), UNKNOWN);
    assert_eq!(page.count("onwards_first_token_breaches_total", &[]), 1.0);
    pair.at_rest().await;
}

#[tokio::test]
async fn a_late_first_token_is_a_breach_even_after_the_first_look() {
    // No deadline: after four comments the stream is passed on, and still watched.
    let aimd = merged(counting(), &json!({"latency_budget_ms": 100}));
    let pair = Pair::start(
        true,
        thorough_with(&json!({"aimd": aimd, "first_token_timeout_ms": 0})),
    )
    .await;
    let gate = Gate::new();
    let comments = (0..5).fold(Reply::stream(), |reply, _| reply.chunk(": x\n\n"));
    pair.a.reply(comments.wait(&gate).delta("late").done());
    let mut conn = pair.gateway.begin(stream()).await;
    assert_eq!(conn.head().await.status, 200);
    past(Duration::from_millis(150)).await;
    assert_eq!(samples(&pair.gateway.metrics().await), (0.0, 0.0, 0.0));
    gate.open();
    conn.until(b"late").await;
    conn.until(b"0\r\n\r\n").await;
    let page = pair.gateway.metrics().await;
    assert_eq!(samples(&page), BREACH);
    // The histogram is of first looks only.
    assert_eq!(page.count("onwards_first_token_seconds_count", &[]), 0.0);
    pair.at_rest().await;
}
