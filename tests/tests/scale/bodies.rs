//! Request bodies from a kibibyte to 30 MiB reach the provider byte for byte, and cost their own size and no more.

use onwards_tests::{Gateway, Launch, RawConn, Reply, Request, Upstream, chunked};
use serde_json::json;

use super::rig::{KIB, LARGE, MIB, Model, Peak, chat, post};

/// Memory that a request may take besides its body.
const BESIDES: usize = 8 * MIB;

/// Sends bodies of every size; `up` gets each `times` times, with `sent` as its model.
async fn pass(gateway: &Gateway, up: &Upstream, model: &str, sent: &str) {
    let peak = Peak::after(gateway, post(chat(Model::First, model, 64 * KIB))).await;
    for (size, places) in [
        (KIB, [Model::First, Model::Last].as_slice()),
        (64 * KIB, &[Model::First, Model::Last]),
        (MIB, &[Model::First, Model::Last]),
        (17 * MIB, &[Model::First]),
        (LARGE, &[Model::Last]),
    ] {
        for &place in places {
            let what = format!("{size} bytes, model {place:?}");
            let index = up.count();
            let request = post(chat(place, model, size));
            let answer = peak.holds(gateway, &what, size + BESIDES, request).await;
            assert_eq!(answer.status, 200, "{what}");
            let longer = size + sent.len() - model.len();
            let seen = up.request(index).await;
            assert!(
                seen.body == chat(place, sent, longer).as_bytes(),
                "{what} differs"
            );
        }
    }
}

#[tokio::test]
async fn passed_as_they_are() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    pass(&gateway, &up, "m", "m").await;
}

#[tokio::test]
async fn with_another_model_written_in() {
    let up = Upstream::start().await;
    let targets = json!({"m": {"url": up.url(), "onwards_model": "vendor/a-longer-name"}});
    pass(
        &Gateway::serve(targets).await,
        &up,
        "m",
        "vendor/a-longer-name",
    )
    .await;
}

#[tokio::test]
async fn checked_in_strict_mode() {
    let up = Upstream::start().await;
    let targets = json!({"m": {"url": up.url(), "onwards_model": "vendor/a-longer-name"}});
    let gateway = Launch::strict(&targets).start().await;
    pass(&gateway, &up, "m", "vendor/a-longer-name").await;
}

#[tokio::test]
async fn sent_again_to_the_next_provider() {
    let (first, second) = (Upstream::start().await, Upstream::start().await);
    first.always(Reply::json(500, &json!({"error": {"message": "no"}})));
    let targets = json!({"m": {
        "providers": [{"url": first.url()}, {"url": second.url(), "onwards_model": "other"}],
        "strategy": "priority",
        "fallback": {"enabled": true, "on_status": [500]},
    }});
    let gateway = Gateway::serve(targets).await;
    pass(&gateway, &second, "m", "other").await;
    assert_eq!(first.count(), second.count());
    for (refused, taken) in first.requests().iter().zip(second.requests()) {
        assert!(refused.body.len() + "other".len() - "m".len() == taken.body.len());
    }
    let largest = first.requests().into_iter().next_back().unwrap();
    assert!(largest.body == chat(Model::Last, "m", LARGE).as_bytes());
}

/// Without a length nothing says how much room a body will need: while it grows it may be held twice.
#[tokio::test]
async fn without_a_length() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let send = async |body: &str| {
        let mut client: RawConn = gateway.connect().await;
        client
            .send(b"POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n")
            .await;
        client.send(&chunked(body.as_bytes().chunks(KIB))).await;
        assert_eq!(client.response().await.status, 200);
    };
    send(&chat(Model::First, "m", 64 * KIB)).await;
    let before = gateway.resident_bytes();
    for size in [MIB, 17 * MIB, LARGE] {
        let body = chat(Model::Last, "m", size);
        gateway.forget_peak();
        let index = up.count();
        send(&body).await;
        assert!(up.request(index).await.body == body.as_bytes());
        let took = gateway.peak_bytes().saturating_sub(before);
        eprintln!("chunked {size}: {} KiB", took / KIB);
        assert!(took <= 2 * size + BESIDES, "{took} bytes for {size}");
    }
}

/// A client that announces much and sends little is not believed.
#[tokio::test]
async fn announced_and_not_sent() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let peak = Peak::after(&gateway, Request::chat()).await;
    let mut waiting = Vec::new();
    for _ in 0..50 {
        let mut client = gateway.connect().await;
        let head = format!("POST /v1/x HTTP/1.1\r\nhost: a\r\ncontent-length: {LARGE}\r\n\r\n{{");
        client.send(head.as_bytes()).await;
        waiting.push(client);
    }
    let answer = peak.holds(&gateway, "50 announced", BESIDES, Request::chat());
    assert_eq!(answer.await.status, 200);
}
