//! `max_inflight_requests`: so many requests are inside, and one more is shed, whatever it asks for.

mod endings;
mod storm;
mod turned_away;

use onwards_tests::{Gate, Gateway, Launch, RawConn, Reply, Request, Response, Upstream};
use serde_json::{Value, json};

/// A configuration with this bound, if one, and the alias `m`.
fn config(up: &Upstream, bound: Option<u32>, strict: bool) -> Value {
    json!({
        "max_inflight_requests": bound,
        "strict_mode": strict,
        "targets": {"m": {"url": up.url()}},
    })
}

async fn bounded(up: &Upstream, bound: u32) -> Gateway {
    Launch::new(&config(up, Some(bound), false)).start().await
}

fn stream() -> Request {
    Request::chat_with(&json!({"stream": true}))
}

/// A stream that has begun and goes on when the gate opens.
async fn held(up: &Upstream, gateway: &Gateway, gate: &Gate) -> RawConn {
    up.reply(Reply::stream().delta("one").wait(gate).delta("two").done());
    let mut conn = gateway.begin(stream()).await;
    conn.until(b"one").await;
    conn
}

/// Reads a held stream to its end.
async fn finish(mut conn: RawConn) {
    conn.until(b"two").await;
    conn.until(b"0\r\n\r\n").await;
}

/// Asserts that the answer is the one of a full gateway, to the letter.
#[track_caller]
fn is_shed(answer: &Response) {
    let head = ["retry-after", "content-type"].map(|name| answer.head.header(name));
    assert_eq!(
        (answer.status, head, answer.text().as_str()),
        (
            503,
            [Some("1"), Some("application/json")],
            r#"{"error":{"message":"The gateway has as many requests in flight as it can serve. Please try again shortly.","type":"overloaded_error","param":null,"code":"overloaded"}}"#
        )
    );
}

/// Nothing is in flight any more.
async fn at_rest(gateway: &Gateway) {
    gateway
        .metric_becomes("onwards_requests_inflight", &[], 0.0)
        .await;
    gateway
        .metric_becomes("onwards_model_inflight", &[("model", "m")], 0.0)
        .await;
    gateway
        .metric_becomes("onwards_http_requests_pending", &[], 0.0)
        .await;
}
