//! Clients that send too slowly, too much, or too much at once cost a bounded time and a bounded memory.

use std::time::Duration;

use onwards_tests::{Gateway, Launch, RawConn, Request, Upstream, chunked, within};
use serde_json::json;

const LIMIT: usize = 32 * 1024 * 1024;

async fn impatient(up: &Upstream) -> Gateway {
    let targets =
        json!({"m": {"url": up.url(), "concurrency_limit": {"max_concurrent_requests": 1}}});
    Launch::targets(&targets)
        .args(&["--header-timeout-secs", "1", "--body-timeout-secs", "1"])
        .start()
        .await
}

/// Sends a byte every tenth of a second until the gateway ends the connection; what it said before that.
async fn drip(mut conn: RawConn, byte: &[u8]) -> Vec<u8> {
    let dripping = async {
        loop {
            tokio::time::sleep(Duration::from_millis(100)).await;
            if conn.try_send(byte).await.is_err() || conn.has_ended() {
                break;
            }
        }
    };
    within("the gateway to give up on a dripping client", dripping).await;
    conn.rest().await.0
}

/// A refusal in time, or none at all: both free the connection.
fn is_timeout_or_nothing(said: &[u8]) {
    let said = String::from_utf8_lossy(said);
    assert!(
        said.is_empty() || said.starts_with("HTTP/1.1 408"),
        "{said}"
    );
}

#[tokio::test]
async fn a_head_that_never_ends_is_given_up() {
    let up = Upstream::start().await;
    let gateway = impatient(&up).await;
    for start in ["", "POST", "POST /v1/x HTTP/1.1\r\nhost: a\r\nx-y"] {
        let mut conn = gateway.connect().await;
        conn.send(start.as_bytes()).await;
        is_timeout_or_nothing(&conn.rest().await.0);
    }
    assert_eq!(gateway.send(Request::chat()).await.status, 200);
}

#[tokio::test]
async fn a_dripping_head_is_given_up() {
    let up = Upstream::start().await;
    let gateway = impatient(&up).await;
    let mut conn = gateway.connect().await;
    conn.send(b"POST /v1/x HTTP/1.1\r\nhost: a\r\nx-y: ").await;
    is_timeout_or_nothing(&drip(conn, b"a").await);
    assert_eq!(up.count(), 0);
}

#[tokio::test]
async fn a_body_that_stops_is_answered_408_and_holds_no_slot() {
    let up = Upstream::start().await;
    let gateway = impatient(&up).await;
    let mut slow = gateway.connect().await;
    slow.send(b"POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: 90\r\n\r\n{\"model\":\"m\"").await;
    assert_eq!(
        gateway.send(Request::chat()).await.status,
        200,
        "the only slot of the pool is free meanwhile"
    );
    let answer = slow.response().await;
    assert_eq!(
        (answer.status, answer.code()),
        (408, json!("request_timeout"))
    );
    assert_eq!(
        slow.rest().await.0,
        b"",
        "the connection cannot be used any more"
    );
    assert_eq!(up.count(), 1);
    gateway
        .metric_becomes("onwards_requests_inflight", &[], 0.0)
        .await;
}

#[tokio::test]
async fn a_dripping_body_is_given_up() {
    let up = Upstream::start().await;
    let gateway = impatient(&up).await;
    let mut conn = gateway.connect().await;
    conn.send(b"POST /v1/x HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n")
        .await;
    is_timeout_or_nothing(&drip(conn, b" ").await);
    assert_eq!(up.count(), 0);
    gateway
        .metric_becomes("onwards_requests_inflight", &[], 0.0)
        .await;
}

#[tokio::test]
async fn an_announced_body_beyond_the_limit_is_refused_unread() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    for expect in ["", "expect: 100-continue\r\n"] {
        let mut conn = gateway.connect().await;
        let length = LIMIT + 1024 * 1024;
        let head =
            format!("POST /v1/x HTTP/1.1\r\nhost: a\r\n{expect}content-length: {length}\r\n\r\n");
        conn.send(head.as_bytes()).await;
        let answer = conn.response().await;
        assert_eq!(
            (answer.status, answer.code()),
            (413, json!("payload_too_large"))
        );
        assert_eq!(answer.head.header("content-type"), Some("application/json"));
        let message = answer.json()["error"]["message"].clone();
        assert_eq!(
            message,
            "Request body too large: the maximum allowed size is 33554432 bytes."
        );
        assert_eq!(conn.rest().await.0, b"", "nothing more is read");
    }
    assert_eq!(up.count(), 0);
}

#[tokio::test]
async fn the_limit_itself_is_allowed_and_one_byte_more_is_not() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let start = br#"{"model":"m","x":""#;
    let mut body = start.to_vec();
    body.resize(LIMIT - 2, b'a');
    body.extend(b"\"}");
    assert_eq!(
        gateway
            .send(Request::post("/v1/x").body(body.clone()))
            .await
            .status,
        200
    );
    assert_eq!(up.request(0).await.body.len(), LIMIT);

    let mut conn = gateway.connect().await;
    conn.send(b"POST /v1/x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n")
        .await;
    let mut unfinished = chunked(body.chunks(1 << 20).chain([&b" "[..]]));
    unfinished.truncate(unfinished.len() - b"0\r\n\r\n".len());
    conn.send(&unfinished).await;
    let answer = conn.response().await;
    assert_eq!(
        (answer.status, answer.code()),
        (413, json!("payload_too_large"))
    );
    assert_eq!(up.count(), 1);
}

#[tokio::test]
async fn a_head_beyond_all_measure_is_refused() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url(), "keys": ["k"]}})).await;
    let mut conn = gateway.connect().await;
    let token = "a".repeat(1024 * 1024);
    // It may stop reading before all of it is sent.
    conn.try_send(&Request::chat().bearer(&token).bytes())
        .await
        .ok();
    let (said, _) = conn.rest().await;
    let said = String::from_utf8_lossy(&said);
    assert!(
        said.is_empty() || said.starts_with("HTTP/1.1 431"),
        "{said}"
    );
    assert_eq!(gateway.send(Request::chat().bearer("k")).await.status, 200);
    assert_eq!(up.count(), 1);
}

#[tokio::test]
async fn a_crowd_of_stalled_clients_keeps_nobody_out() {
    let up = Upstream::start().await;
    let gateway = impatient(&up).await;
    let mut crowd = Vec::new();
    for i in 0..300 {
        let mut conn = gateway.connect().await;
        let start: &[u8] = match i % 3 {
            0 => b"",
            1 => b"POST /v1/x HTTP/1.1\r\nhost: ",
            _ => b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        };
        conn.send(start).await;
        crowd.push(conn);
    }
    assert_eq!(gateway.send(Request::chat()).await.status, 200);
    for mut conn in crowd {
        conn.rest().await;
    }
    assert_eq!(gateway.send(Request::chat()).await.status, 200);
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let up = Upstream::start().await;
    let gateway = impatient(&up).await;
    let mut conn = gateway.connect().await;
    assert_eq!(conn.ask(&Request::chat()).await.status, 200);
    assert_eq!(conn.rest().await.0, b"");
}
