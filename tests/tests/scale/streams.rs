//! A thousand streams held open: each gets every event, each costs a bounded memory, and all are gone when their clients are.

use std::fs;

use onwards_tests::{Gate, Gateway, Launch, RawConn, Reply, Request, Upstream};
use serde_json::json;

use super::rig::KIB;

/// The most a held stream may take in the gateway, sockets aside.
const EACH: usize = 96 * KIB;

/// A thousand, or as many as this process may open twice: as client and as provider.
fn count() -> usize {
    let limits = fs::read_to_string("/proc/self/limits").unwrap();
    let files = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"));
    let soft = files.unwrap().split_whitespace().next().unwrap();
    let soft = soft.parse().unwrap_or(usize::MAX);
    1000.min(soft.saturating_sub(100) / 3)
}

/// Opens `count` streams and reads each up to its first event.
async fn open(gateway: &Gateway, count: usize) -> Vec<RawConn> {
    let mut clients = Vec::with_capacity(count);
    for _ in 0..count {
        let request = Request::chat_with(&json!({"stream": true}));
        let mut client = gateway.begin(request).await;
        assert_eq!(client.head().await.status, 200);
        client.until(b"\"one\"").await;
        clients.push(client);
    }
    clients
}

async fn held(strict: bool) {
    let up = Upstream::start().await;
    let (second, third) = (Gate::new(), Gate::new());
    let held = |until: &Gate| Reply::stream().delta("one").wait(until).delta("two");
    up.always(held(&second).wait(&third).delta("three").done());
    let config = json!({"strict_mode": strict, "targets": {"m": {"url": up.url()}}});
    let gateway = Launch::new(&config).start().await;
    let count = count();

    drop(open(&gateway, 20).await);
    gateway
        .metric_becomes("onwards_requests_inflight", &[], 0.0)
        .await;
    let before = gateway.resident_bytes();
    let mut clients = open(&gateway, count).await;
    let each = gateway.resident_bytes().saturating_sub(before) / count;
    eprintln!("strict {strict}: {each} bytes for each of {count} streams");
    assert!(each <= EACH, "{each} bytes for a held stream");

    second.open();
    for client in &mut clients {
        client.until(b"\"two\"").await;
    }
    let mut staying = clients.split_off(count / 2);
    for client in clients {
        client.reset();
    }
    let rest = staying.len() as f64;
    gateway
        .metric_becomes("onwards_requests_inflight", &[], rest)
        .await;
    third.open();
    for client in &mut staying {
        client.until(b"\"three\"").await;
        client.until(b"data: [DONE]\n\n\r\n0\r\n\r\n").await;
    }
    drop(staying);
    gateway
        .metric_becomes("onwards_requests_inflight", &[], 0.0)
        .await;
    let after = gateway.resident_bytes().saturating_sub(before);
    eprintln!("strict {strict}: {} bytes for each that was", after / count);

    // Whatever the allocator keeps of them is used again: as many streams once more take nothing on top.
    up.always(held(&Gate::new()).done());
    let again = open(&gateway, count).await;
    let grown = gateway.resident_bytes().saturating_sub(before) / count;
    drop(again);
    assert!(grown <= EACH, "{grown} bytes the second time");
}

#[tokio::test]
async fn passed_on() {
    held(false).await;
}

#[tokio::test]
async fn cleaned() {
    held(true).await;
}
