//! A place inside is free again whichever way its request ends.

use onwards_tests::{Gate, Gateway, Launch, RawConn, Reply, Request, Step, Upstream, eventually};
use serde_json::json;

use super::{at_rest, config, finish, is_shed, stream};

/// Takes the only place with a stream that has sent one event, and sees that it is taken until `end` has ended the stream.
async fn check<F>(strict: bool, last: impl Fn(Reply) -> Reply, end: impl Fn(RawConn) -> F)
where
    F: Future<Output = ()>,
{
    let (up, gate) = (Upstream::start().await, Gate::new());
    let gateway = Launch::new(&config(&up, Some(1), strict)).start().await;
    up.reply(last(Reply::stream().delta("one").wait(&gate)));
    let mut conn = gateway.begin(stream()).await;
    conn.until(b"one").await;
    is_shed(&gateway.send(Request::chat()).await);
    gate.open();
    end(conn).await;
    is_free(&gateway).await;
}

/// The next request is served, and then there is none.
async fn is_free(gateway: &Gateway) {
    eventually("the place to be free", || async {
        gateway.send(Request::chat()).await.status == 200
    })
    .await;
    at_rest(gateway).await;
}

async fn breaks(mut conn: RawConn) {
    let (said, _) = conn.rest().await;
    assert!(!said.ends_with(b"0\r\n\r\n"), "a clean end");
}

#[tokio::test]
async fn a_stream_that_is_complete() {
    for strict in [false, true] {
        check(strict, |reply| reply.delta("two").done(), finish).await;
    }
}

#[tokio::test]
async fn a_client_that_leaves() {
    for strict in [false, true] {
        let forever = |reply: Reply| reply.wait(&Gate::new());
        check(strict, forever, |conn| async { drop(conn) }).await;
        check(strict, forever, |conn| async { conn.reset() }).await;
    }
}

#[tokio::test]
async fn a_provider_that_dies() {
    for strict in [false, true] {
        check(strict, |reply| reply.then(Step::Reset), breaks).await;
        check(strict, |reply| reply.then(Step::Close), breaks).await;
    }
}

#[tokio::test]
async fn a_client_that_leaves_before_its_answer() {
    let up = Upstream::start().await;
    let gateway = super::bounded(&up, 1).await;
    up.reply(Reply::default().then(Step::Hang));
    let conn = gateway.begin(Request::chat()).await;
    let held = up.request(0).await;
    is_shed(&gateway.send(Request::chat()).await);
    drop(conn);
    held.gone().await;
    is_free(&gateway).await;
}

#[tokio::test]
async fn a_client_that_leaves_before_its_body_is_sent() {
    let up = Upstream::start().await;
    let gateway = super::bounded(&up, 1).await;
    let mut conn = gateway.connect().await;
    conn.send(b"POST /v1/x HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{")
        .await;
    gateway
        .metric_becomes("onwards_requests_inflight", &[], 1.0)
        .await;
    is_shed(&gateway.send(Request::chat()).await);
    drop(conn);
    is_free(&gateway).await;
}

#[tokio::test]
async fn refusals_and_failures_hold_nothing() {
    let up = Upstream::start().await;
    let gateway = super::bounded(&up, 1).await;
    let mut conn = gateway.connect().await;
    for _ in 0..10 {
        let nobody = Request::chat_with(&json!({"model": "nobody"}));
        assert_eq!(conn.ask(&nobody).await.status, 404);
        let broken = Request::post("/v1/chat/completions").body("{");
        assert_eq!(conn.ask(&broken).await.status, 400);
        up.reply(Reply::default().then(Step::Close));
        assert_eq!(conn.ask(&Request::chat()).await.status, 502);
    }
    assert_eq!(conn.ask(&Request::chat()).await.status, 200);
    at_rest(&gateway).await;
}
