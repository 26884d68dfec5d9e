//! Providers that take too long: no wait without an end where the configuration names one.

use std::net::SocketAddr;
use std::time::Duration;

use onwards_tests::{End, Gateway, Reply, Request, Step, Upstream};
use serde_json::json;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::Instant;

#[tokio::test]
async fn a_body_that_stalls_is_broken_off_visibly() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url(), "idle_timeout_ms": 100}})).await;
    for reply in [
        Reply::stream().delta("one"),
        Reply::default().send("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\none"),
    ] {
        up.reply(reply.then(Step::Hang));
        let mut client = gateway.begin(Request::chat()).await;
        let head = client.head().await;
        let (said, end) = client.body(&head).await;
        assert!(String::from_utf8_lossy(&said).contains("one"));
        assert_eq!(end, End::Broken);
        up.request(up.count() - 1).await.gone().await;
    }
    gateway
        .metric_becomes("onwards_requests_inflight", &[], 0.0)
        .await;
}

/// A port that takes connections but never answers: its queue is full as long as this is held.
struct Silent {
    address: SocketAddr,
    _held: (tokio::net::TcpListener, Vec<TcpStream>),
}

impl Silent {
    async fn new() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        let mut queue = Vec::new();
        // As long as connections are made at once there is room in the queue.
        let moment = Duration::from_millis(200);
        while let Ok(made) = tokio::time::timeout(moment, TcpStream::connect(address)).await {
            queue.push(made.unwrap());
        }
        Self {
            address,
            _held: (listener, queue),
        }
    }
}

#[tokio::test]
async fn an_address_that_does_not_answer_is_a_502_in_time() {
    let silent = Silent::new().await;
    let url = |scheme: &str| format!("{scheme}://{}", silent.address);
    let gateway = Gateway::serve(json!({
        "m": {"url": url("http"), "connect_timeout_ms": 200},
        "n": {"url": url("https"), "connect_timeout_ms": 200},
    }))
    .await;
    for alias in ["m", "n"] {
        let begun = Instant::now();
        let request = Request::chat_with(&json!({"model": alias}));
        let answer = gateway.send(request).await;
        assert_eq!(
            (answer.status, answer.code()),
            (502, json!("internal_error"))
        );
        let took = begun.elapsed();
        let limit = Duration::from_millis(200)..Duration::from_secs(5);
        assert!(limit.contains(&took), "{alias} took {took:?}");
    }
}

#[tokio::test]
async fn a_provider_that_says_nothing_to_a_handshake_is_a_502_in_time() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let gateway = Gateway::serve(json!({"m": {"url": url, "connect_timeout_ms": 200}})).await;
    let begun = Instant::now();
    assert_eq!(gateway.send(Request::chat()).await.status, 502);
    assert!(begun.elapsed() < Duration::from_secs(5));
}
