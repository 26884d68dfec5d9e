//! The load-aware share: what counts as a sample, what moves it, and what a reload makes of it.

use std::time::Duration;

use onwards_tests::{Gate, Gateway, Launch, Metrics, Reply, Request, Step, Upstream, eventually};
use serde_json::{Value, json};

use super::rig::{
    Pair, at_rest, behind, error, merged, past, pool, stream, streamed, thorough_with,
};

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

fn served_by_both(aimd: &Value) -> Value {
    merged(fallback(aimd), &json!({"on_status": [429, 5]}))
}

#[tokio::test]
async fn an_overloaded_provider_sheds_requests_and_stays_reachable() {
    let pair = pair(&quick()).await;
    let low = overload(&pair.gateway, &pair.a, &pair.b, 0.1).await;
    // Most requests go to the other one first.
    let (a, b) = pair.asked();
    for _ in 0..40 {
        assert_eq!(pair.gateway.send(stream()).await.status, 200);
    }
    let now = pair.asked();
    assert_eq!(now.0 - a + now.1 - b, 40, "each request asks one provider");
    assert!(now.0 - a < 20, "{} of 40 at a share of {low}", now.0 - a);
    // The preferred one is still there when the other one fails.
    pair.b.always(Reply::json(500, &error("x")));
    for _ in 0..5 {
        assert!(pair.gateway.send(stream()).await.text().contains("from a"));
    }
    let page = pair.gateway.metrics().await;
    assert!(
        page.count(
            "onwards_share_adjustments_total",
            &[("direction", "decrease")]
        ) >= 4.0
    );
    pair.at_rest().await;
}

#[tokio::test]
async fn the_share_recovers_with_the_provider() {
    // By first tokens in time; then by silence, after one interval.
    for (step, idle) in [(0.2, 0), (0.5, 300)] {
        let aimd = merged(
            quick(),
            &json!({"share_step": step, "idle_recovery_ms": idle}),
        );
        let pair = pair(&aimd).await;
        overload(&pair.gateway, &pair.a, &pair.b, 0.5).await;
        if idle > 0 {
            past(Duration::from_millis(idle)).await;
            assert_eq!(
                share(&pair.gateway).await,
                0.5,
                "without a request nothing moves"
            );
            pair.gateway.send(stream()).await;
        }
        eventually("the share to come back", || async {
            let back = share(&pair.gateway).await == 1.0;
            if !back && idle == 0 {
                assert_eq!(pair.gateway.send(stream()).await.status, 200);
            }
            back
        })
        .await;
        let page = pair.gateway.metrics().await;
        let increases = page.count(
            "onwards_share_adjustments_total",
            &[("direction", "increase")],
        );
        assert_eq!(increases, if idle == 0 { 3.0 } else { 1.0 });
        pair.at_rest().await;
    }
}

#[tokio::test]
async fn a_slow_provider_under_load_sheds_and_every_client_is_served() {
    // One of four comes in time, the others wait for ever.
    let aimd = merged(
        quick(),
        &json!({"window_samples": 10, "min_samples": 4, "share_decay": 0.7, "share_floor": 0.05}),
    );
    let pair = Pair::with_room(64, true, fallback(&aimd)).await;
    let running = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    pair.a.answer(move |_| {
        let before = running.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if before.is_multiple_of(4) {
            streamed("from a")
        } else {
            Reply::default().then(Step::Hang)
        }
    });
    pair.b.always(streamed("from b"));
    for _ in 0..6 {
        let mut clients = Vec::new();
        for _ in 0..16 {
            clients.push(pair.gateway.begin(stream()).await);
        }
        for mut client in clients {
            let answer = client.response().await;
            assert_eq!(answer.status, 200);
            assert!(
                answer.text().ends_with("data: [DONE]\n\n"),
                "{}",
                answer.text()
            );
        }
    }
    assert!(
        share(&pair.gateway).await < 0.5,
        "{}",
        share(&pair.gateway).await
    );
    pair.at_rest().await;
}

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
    let both = || pool(&[&pair.a, &pair.b], 1, served_by_both(&quick()));
    assert_eq!(active(&pair.gateway).await, Some(1.0));
    let low = overload(&pair.gateway, &pair.a, &pair.b, 0.1).await;
    // The preferred one is taken out, then the other one instead.
    reload(
        &pair.gateway,
        2,
        pool(&[&pair.b], 1, served_by_both(&quick())),
    )
    .await;
    assert_eq!(active(&pair.gateway).await, Some(0.0));
    assert_eq!(pair.gateway.send(stream()).await.status, 200);
    reload(
        &pair.gateway,
        3,
        pool(&[&pair.a], 1, served_by_both(&quick())),
    )
    .await;
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
            |_, b, c| pool(&[c, b], 1, served_by_both(&quick())),
            1.0,
        ),
        (
            "the other order",
            |a, b, _| pool(&[b, a], 1, served_by_both(&quick())),
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
            pool(&[&pair.a, &pair.b], 1, served_by_both(&quick())),
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
        pool(&[&pair.a, &pair.b], 1, served_by_both(&quicker)),
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
        pool(&[&pair.a, &pair.b], 1, served_by_both(&changed)),
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
