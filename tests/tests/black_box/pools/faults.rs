//! One provider that fails in one way, and another one that is well: the client sees a whole answer of the second one,
//! each is asked once, and everything is given back. Where the answer has begun already, nobody else is asked.

use std::time::Duration;

use onwards_tests::{End, Gate, Gateway, Launch, Reply, Request, Step};
use serde_json::{Value, json};

use super::rig::{
    Pair, Refusing, at_rest, attempts, behind, error, past, stream, streamed, thorough,
};

/// A provider that fails like this is passed over, before the client has seen anything. The outcome is what is
/// counted at the first provider.
async fn passes_over(strict: bool, streams: bool, fault: Reply, outcome: &str) {
    let pair = Pair::start(strict, thorough()).await;
    let what = format!("strict {strict}, streamed {streams}: {fault:?}");
    pair.a.reply(fault);
    let request = Request::chat_with(&json!({"stream": streams}));
    if streams {
        pair.b.reply(streamed("from b"));
    }
    let answer = pair.gateway.send(request).await;
    assert_eq!(answer.status, 200, "{what}: {}", answer.text());
    assert!(
        answer.text().contains("from b"),
        "{what}: {}",
        answer.text()
    );
    assert!(
        !answer.text().contains("from a"),
        "{what}: {}",
        answer.text()
    );
    assert!(
        !streams || answer.text().ends_with("data: [DONE]\n\n"),
        "{what}"
    );
    assert_eq!(pair.asked(), (1, 1), "{what}");
    let bodies = [pair.a.request(0).await, pair.b.request(0).await];
    assert!(
        bodies
            .iter()
            .all(|seen| seen.json()["messages"][0]["content"] == "hi")
    );
    let page = pair.gateway.metrics().await;
    assert_eq!(attempts(&page, "0", outcome), 1.0, "{what}: {outcome}");
    assert_eq!(attempts(&page, "1", "answered"), 1.0, "{what}");
    assert_eq!(page.count("onwards_attempts_total", &[]), 2.0, "{what}");
    pair.at_rest().await;
}

/// In both modes, streamed and not.
async fn always_passes_over(fault: Reply, outcome: &str) {
    for strict in [false, true] {
        for streams in [false, true] {
            passes_over(strict, streams, fault.clone(), outcome).await;
        }
    }
}

fn headers() -> Reply {
    Reply::default()
        .send("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n")
}

fn nothing() -> Reply {
    Reply::new(200, &[("content-type", "application/json")], "")
}

fn comments(number: usize) -> Reply {
    (0..number).fold(Reply::stream(), |reply, _| reply.chunk(": still here\n\n"))
}

#[tokio::test]
async fn a_refused_connection() {
    for strict in [false, true] {
        let (nobody, pair) = (Refusing::new(), Pair::start(strict, thorough()).await);
        let limit = json!({"max_concurrent_requests": 1});
        let gateway = Launch::new(&json!({"strict_mode": strict, "targets": {"m": {
            "strategy": "priority",
            "concurrency_limit": limit,
            "providers": [{"url": nobody.url(), "concurrency_limit": limit}, {"url": pair.b.url(), "concurrency_limit": limit}],
            "fallback": {"enabled": true},
        }}}))
        .start()
        .await;
        for number in 1..=5 {
            at_rest(&gateway).await;
            // Were a permit of the first one not given back, it would not be tried again.
            let page = gateway.metrics().await;
            assert_eq!(attempts(&page, "0", "transport_error"), f64::from(number));
            assert_eq!(attempts(&page, "1", "answered"), f64::from(number));
        }
    }
}

#[tokio::test]
async fn a_reset_before_the_headers() {
    always_passes_over(Reply::default().then(Step::Reset), "transport_error").await;
}

#[tokio::test]
async fn an_end_within_the_headers() {
    let half = Reply::default().send("HTTP/1.1 200 OK\r\ncontent-ty");
    always_passes_over(half.clone().then(Step::Close), "transport_error").await;
    always_passes_over(half.then(Step::Reset), "transport_error").await;
}

#[tokio::test]
async fn a_reset_after_the_headers_in_strict_mode() {
    passes_over(
        true,
        true,
        Reply::stream().then(Step::Reset),
        "transport_error",
    )
    .await;
    passes_over(true, true, comments(1).then(Step::Reset), "transport_error").await;
    passes_over(true, false, headers().then(Step::Reset), "transport_error").await;
    passes_over(
        true,
        false,
        headers().send("{\"id\"").then(Step::Reset),
        "transport_error",
    )
    .await;
}

/// Once an answer has begun, the only honest end is a broken one.
async fn breaks_off(strict: bool, fault: Reply) {
    let pair = Pair::start(strict, thorough()).await;
    pair.a.reply(fault);
    let mut conn = pair.gateway.begin(stream()).await;
    let (said, _) = conn.rest().await;
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.starts_with("HTTP/1.1 200 "), "{said:?}");
    assert!(!said.ends_with("\r\n0\r\n\r\n"), "a clean end: {said}");
    assert!(
        !said.contains("[DONE]") && !said.contains("from b"),
        "{said}"
    );
    assert_eq!(pair.asked(), (1, 0));
    pair.at_rest().await;
}

#[tokio::test]
async fn a_reset_after_the_headers_outside_strict_mode() {
    breaks_off(false, Reply::stream().then(Step::Reset)).await;
    breaks_off(false, headers().then(Step::Reset)).await;
}

#[tokio::test]
async fn a_reset_after_the_first_token() {
    for strict in [false, true] {
        breaks_off(strict, Reply::stream().delta("one").then(Step::Reset)).await;
        breaks_off(strict, Reply::stream().delta("one").then(Step::Close)).await;
    }
}

#[tokio::test]
async fn silence_after_the_request() {
    let silent = Reply::default().then(Step::Hang);
    for strict in [false, true] {
        passes_over(strict, true, silent.clone(), "first_token_timeout").await;
    }
}

#[tokio::test]
async fn a_provider_that_never_accepts() {
    // The system completes the handshake; nobody reads.
    let deaf = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", deaf.local_addr().unwrap());
    let pair = Pair::start(false, thorough()).await;
    let gateway = Gateway::serve(json!({"m": {
        "strategy": "priority",
        "providers": [{"url": url, "request_timeout_secs": 1}, {"url": pair.b.url()}],
        "fallback": {"enabled": true},
    }}))
    .await;
    at_rest(&gateway).await;
    assert_eq!(attempts(&gateway.metrics().await, "0", "timeout"), 1.0);
    at_rest(&gateway).await;
    assert_eq!(pair.asked(), (0, 2));
}

#[tokio::test]
async fn headers_and_then_silence_in_strict_mode() {
    passes_over(
        true,
        true,
        Reply::stream().then(Step::Hang),
        "first_token_timeout",
    )
    .await;
}

#[tokio::test]
async fn comments_and_then_silence_in_strict_mode() {
    // However many there are, a comment is no token.
    for number in [1, 12] {
        passes_over(
            true,
            true,
            comments(number).then(Step::Hang),
            "first_token_timeout",
        )
        .await;
    }
}

#[tokio::test]
async fn half_an_event_and_then_silence_in_strict_mode() {
    let half = Reply::stream().chunk("data: {\"id\":").then(Step::Hang);
    passes_over(true, true, half, "first_token_timeout").await;
}

#[tokio::test]
async fn an_abandoned_attempt_is_cancelled() {
    for fault in [Reply::default(), Reply::stream(), comments(2)] {
        let pair = Pair::start(true, thorough()).await;
        pair.a.reply(fault.then(Step::Hang));
        pair.b.reply(streamed("from b"));
        assert_eq!(pair.gateway.send(stream()).await.status, 200);
        pair.a.request(0).await.gone().await;
        pair.at_rest().await;
    }
}

#[tokio::test]
async fn headers_are_the_first_token_outside_strict_mode() {
    let pair = Pair::start(false, thorough()).await;
    let gate = Gate::new();
    pair.a
        .reply(Reply::stream().wait(&gate).delta("late").done());
    let mut conn = pair.gateway.begin(stream()).await;
    // The head is out at once, unread by anything but the status.
    let head = conn.head().await;
    past(Duration::from_millis(400)).await;
    gate.open();
    let (said, end) = conn.body(&head).await;
    assert_eq!((head.status, end), (200, End::Clean));
    assert!(String::from_utf8_lossy(&said).contains("late"));
    pair.at_rest().await;
}

#[tokio::test]
async fn a_success_whose_first_event_is_an_error() {
    for code in [json!(503), json!("429"), json!(500)] {
        let event = format!("data: {}\n\n", error(code));
        let streamed = Reply::stream().chunk(event).last_chunk();
        passes_over(true, true, streamed, "embedded_error").await;
    }
    passes_over(true, false, Reply::json(200, &error(503)), "embedded_error").await;
    // Also where a stream was asked for.
    passes_over(true, true, Reply::json(200, &error(503)), "embedded_error").await;
}

#[tokio::test]
async fn an_embedded_error_that_is_not_listed_is_the_clients() {
    let pair = Pair::start(true, json!({"enabled": true, "on_status": [503]})).await;
    let event = format!("data: {}\n\n", error(500));
    pair.a.reply(Reply::stream().chunk(event).last_chunk());
    let answer = pair.gateway.send(stream()).await;
    assert_eq!(answer.status, 200);
    assert!(
        answer.text().starts_with("data: {\"error\""),
        "{}",
        answer.text()
    );
    assert!(!answer.text().contains("[DONE]"), "{}", answer.text());
    assert_eq!(pair.asked(), (1, 0));
    pair.at_rest().await;
}

#[tokio::test]
async fn an_embedded_429_needs_only_on_rate_limit() {
    for (on_rate_limit, asked) in [(true, (1, 1)), (false, (1, 0))] {
        let pair = Pair::start(
            true,
            json!({"enabled": true, "on_rate_limit": on_rate_limit}),
        )
        .await;
        pair.a.reply(Reply::json(200, &error(429)));
        let answer = pair.gateway.send(Request::chat()).await;
        assert_eq!(answer.status, if on_rate_limit { 200 } else { 429 });
        assert_eq!(pair.asked(), asked);
        pair.at_rest().await;
    }
}

#[tokio::test]
async fn a_success_without_content() {
    passes_over(true, false, nothing(), "empty").await;
    passes_over(true, true, Reply::stream().last_chunk(), "empty").await;
    passes_over(true, true, comments(2).last_chunk(), "empty").await;
}

#[tokio::test]
async fn a_success_without_content_is_kept_unless_502_is_listed() {
    for (list, status, asked) in [(json!([502]), 200, (1, 1)), (json!([503]), 503, (1, 0))] {
        let pair = Pair::start(true, json!({"enabled": true, "on_status": list})).await;
        pair.a.reply(Reply::stream().last_chunk());
        pair.b.reply(streamed("from b"));
        assert_eq!(pair.gateway.send(stream()).await.status, status);
        assert_eq!(pair.asked(), asked);
        if status == 200 {
            pair.at_rest().await;
        }
    }
}

#[tokio::test]
async fn a_stream_of_nothing_but_its_end_is_an_answer() {
    for strict in [false, true] {
        let pair = Pair::start(strict, thorough()).await;
        pair.a.reply(Reply::stream().done());
        let answer = pair.gateway.send(stream()).await;
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (200, "data: [DONE]\n\n")
        );
        assert_eq!(pair.asked(), (1, 0));
        let page = pair.gateway.metrics().await;
        assert_eq!(attempts(&page, "0", "answered"), 1.0);
        assert_eq!(page.count("onwards_first_token_seconds_count", &[]), 0.0);
        assert_eq!(page.count("onwards_aimd_window_samples", &[]), 0.0);
        assert_eq!(
            page.count("onwards_aimd_unknown_total", &[]),
            f64::from(u8::from(strict))
        );
        pair.at_rest().await;
    }
}

#[tokio::test]
async fn a_429_without_a_hint() {
    always_passes_over(
        Reply::json(429, &error("rate_limit_exceeded")),
        "rate_limited",
    )
    .await;
}

#[tokio::test]
async fn a_listed_server_error() {
    always_passes_over(Reply::json(503, &error(json!(null))), "server_error").await;
    always_passes_over(Reply::new(599, &[], ""), "server_error").await;
}

#[tokio::test]
async fn a_provider_that_is_down_for_a_while() {
    let pair = Pair::start(false, thorough()).await;
    pair.a.always(Reply::json(503, &json!({})));
    for number in 1..=20 {
        let answer = pair.gateway.send(Request::chat()).await;
        assert!(answer.text().contains("from b"), "{}", answer.text());
        // It is asked each time: nothing but a hint or the share keeps requests from it.
        assert_eq!(pair.asked(), (number, number));
    }
    pair.a.always(Reply::chat("from a"));
    let answer = pair.gateway.send(Request::chat()).await;
    assert!(answer.text().contains("from a"), "{}", answer.text());
    assert_eq!(pair.asked(), (21, 20));
    pair.at_rest().await;
}

#[tokio::test]
async fn both_providers_down() {
    for fault in [
        Reply::default().then(Step::Reset),
        Reply::default().then(Step::Close),
        Reply::json(503, &json!({})),
    ] {
        for strict in [false, true] {
            let pair = Pair::start(strict, thorough()).await;
            pair.a.always(fault.clone());
            pair.b.always(fault.clone());
            for number in 1..=3 {
                for request in [Request::chat(), stream()] {
                    let answer = pair.gateway.send(request).await;
                    assert_eq!(
                        (answer.status, answer.code()),
                        (502, json!("internal_error"))
                    );
                }
                assert_eq!(pair.asked(), (2 * number, 2 * number));
            }
            pair.at_rest().await;
        }
    }
}

#[tokio::test]
async fn the_last_attempt_has_no_deadline() {
    let pair = Pair::start(true, thorough()).await;
    pair.a.reply(Reply::default().then(Step::Hang));
    let gate = Gate::new();
    pair.b.reply(
        Reply::stream()
            .chunk(": wait\n\n")
            .wait(&gate)
            .delta("from b")
            .done(),
    );
    let mut conn = pair.gateway.begin(stream()).await;
    gate.reached(1).await;
    past(Duration::from_millis(500)).await;
    gate.open();
    let answer = conn.response().await;
    assert!(answer.text().contains("from b"), "{}", answer.text());
    pair.at_rest().await;
}

#[tokio::test]
async fn each_provider_gets_its_own_request() {
    let pair = Pair::start(false, thorough()).await;
    let gateway = Gateway::serve(json!({"m": {
        "strategy": "priority",
        "providers": [
            {"url": format!("{}/one/v1", pair.a.url()), "onwards_key": "sk-a", "onwards_model": "model-a"},
            {"url": pair.b.url(), "onwards_key": "sk-b", "upstream_auth_header_name": "x-key", "upstream_auth_header_prefix": ""},
        ],
        "fallback": thorough(),
    }}))
    .await;
    pair.a.reply(Reply::json(503, &json!({})));
    let request = Request::chat_with(&json!({"seed": 7})).bearer("sk-client");
    assert_eq!(gateway.send(request).await.status, 200);
    let (a, b) = (pair.a.request(0).await, pair.b.request(0).await);
    assert_eq!(a.line, "POST /one/v1/chat/completions HTTP/1.1");
    assert_eq!(b.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(
        (a.header("authorization"), a.header("x-key")),
        (Some("Bearer sk-a"), None)
    );
    assert_eq!(b.header("x-key"), Some("sk-b"));
    assert_ne!(b.header("authorization"), Some("Bearer sk-a"));
    assert_eq!(
        (&a.json()["model"], &b.json()["model"]),
        (&json!("model-a"), &json!("m"))
    );
    for seen in [a, b] {
        let mut rest = seen.json();
        rest["model"] = Value::Null;
        assert_eq!(
            rest,
            json!({"model": null, "messages": [{"role": "user", "content": "hi"}], "seed": 7})
        );
    }
    at_rest(&gateway).await;
}

#[tokio::test]
async fn without_failover_the_first_outcome_is_the_last() {
    for fallback in [
        json!({}),
        json!({"enabled": false, "on_status": [429, 5], "first_token_timeout_ms": 50}),
    ] {
        let pair = Pair::start(false, fallback).await;
        pair.a.reply(Reply::json(503, &json!({"mine": true})));
        let answer = pair.gateway.send(Request::chat()).await;
        assert_eq!((answer.status, answer.json()), (503, json!({"mine": true})));
        pair.a.always(Reply::default().then(Step::Reset));
        assert_eq!(pair.gateway.send(Request::chat()).await.status, 502);
        assert_eq!(pair.b.count(), 0);
        // No deadline either: a request that is silent for longer than it would be is still waited for.
        let gate = Gate::new();
        pair.a.reply(behind(&gate, streamed("slow")));
        let mut conn = pair.gateway.begin(stream()).await;
        gate.reached(1).await;
        past(Duration::from_millis(150)).await;
        gate.open();
        assert!(conn.response().await.text().contains("slow"));
        pair.at_rest().await;
    }
}
