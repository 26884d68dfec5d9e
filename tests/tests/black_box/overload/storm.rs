//! Many more clients than there are places: nobody gets anything but an answer or a 503, the provider never sees more than the
//! bound, and afterwards all is quiet.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use onwards_tests::{Gate, Gateway, Launch, Reply, Request, Upstream};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::{at_rest, bounded, is_shed};

const BOUND: u32 = 8;
const CLIENTS: usize = 64;

/// How many requests a provider has at this moment, and had at most.
#[derive(Debug, Default)]
struct Level {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// A provider that takes a moment for each answer, and counts; its address.
async fn provider(level: Arc<Level>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((conn, _)) = listener.accept().await {
            tokio::spawn(answers(conn, level.clone()));
        }
    });
    format!("http://{address}")
}

/// Answers requests with the body `{…}`, one after the other.
async fn answers(mut conn: TcpStream, level: Arc<Level>) {
    let mut unread = Vec::new();
    while conn.read_buf(&mut unread).await.is_ok_and(|read| read > 0) {
        if !unread.ends_with(b"}") {
            continue;
        }
        unread.clear();
        let now = level.now.fetch_add(1, Ordering::SeqCst) + 1;
        level.most.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(2)).await;
        level.now.fetch_sub(1, Ordering::SeqCst);
        let answer =
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
        if conn.write_all(answer).await.is_err() {
            return;
        }
    }
}

/// Every client asks so many times on its connection; how many got an answer, and how many were shed.
async fn storm(gateway: &Gateway, times: usize, prompt: usize) -> (usize, usize) {
    let address = gateway.address();
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        clients.spawn(async move {
            let mut conn = onwards_tests::RawConn::connect(address).await;
            let messages = json!([{"role": "user", "content": "x".repeat(prompt)}]);
            let request = Request::chat_with(&json!({"messages": messages}));
            let (mut served, mut shed) = (0, 0);
            for _ in 0..times {
                let answer = conn.ask(&request).await;
                if answer.status == 200 {
                    served += 1;
                } else {
                    is_shed(&answer);
                    shed += 1;
                }
            }
            (served, shed)
        });
    }
    let counts = clients.join_all().await;
    counts
        .iter()
        .fold((0, 0), |(a, b), (served, shed)| (a + served, b + shed))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_is_answered_or_shed() {
    let level = Arc::new(Level::default());
    let url = provider(level.clone()).await;
    let config = json!({"max_inflight_requests": BOUND, "targets": {"m": {"url": url}}});
    let gateway = Launch::new(&config).start().await;
    storm(&gateway, 10, 20_000).await;
    let before = gateway.resident_bytes();
    let (served, shed) = storm(&gateway, 30, 20_000).await;
    assert_eq!(served + shed, CLIENTS * 30);
    assert!(served > 0 && shed > 0, "{served} served, {shed} shed");
    let grown = gateway.resident_bytes().saturating_sub(before);
    assert!(grown < 8 << 20, "grown by {grown} bytes");
    assert_eq!(level.most.load(Ordering::SeqCst), BOUND as usize);
    at_rest(&gateway).await;
    assert_eq!(level.now.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn exactly_as_many_get_in_as_there_are_places() {
    let up = Upstream::start().await;
    let gateway = bounded(&up, BOUND).await;
    let bound = BOUND as usize;
    for round in 1..=5 {
        let gate = Gate::new();
        up.always(Reply::stream().delta("one").wait(&gate).done());
        let mut conns = Vec::new();
        for _ in 0..CLIENTS {
            conns.push(gateway.begin(super::stream()).await);
        }
        gate.reached(bound).await;
        let mut inside = 0;
        for conn in &mut conns {
            let head = conn.head().await;
            if head.status == 200 {
                inside += 1;
                continue;
            }
            let (body, _) = conn.body(&head).await;
            is_shed(&onwards_tests::Response {
                status: head.status,
                head,
                body,
            });
        }
        assert_eq!((inside, up.count()), (bound, bound * round));
        gate.open();
        drop(conns);
        at_rest(&gateway).await;
    }
}
