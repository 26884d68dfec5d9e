//! A slot is held until the response body ends, however it ends: one test per kind of slot and per ending.

use onwards_tests::{
    End, Gate, Gateway, Launch, RawConn, Reply, Request, Step, Upstream, eventually,
};
use serde_json::{Value, json};

/// The kinds of slots, each with a limit of one, and the code of the refusal when it is taken.
const KINDS: [(&str, &str); 4] = [
    ("pool", "concurrency_limit_exceeded"),
    ("key", "concurrency_limit_exceeded"),
    ("provider", "concurrency_limit_exceeded"),
    ("account", "inflight_limit_exceeded"),
];

fn config(up: &Upstream, strict: bool) -> Value {
    let one = json!({"max_concurrent_requests": 1});
    json!({
        "strict_mode": strict,
        "auth": {"key_definitions": {
            "key": {"key": "sk-key", "concurrency_limit": one},
            "account": {"key": "sk-account", "labels": {"account": "acme"}},
        }},
        "targets": {
            "pool": {"providers": [{"url": up.url()}], "concurrency_limit": one},
            "key": {"url": up.url()},
            "provider": {"providers": [{"url": up.url(), "concurrency_limit": one}]},
            "account": {"url": up.url(), "inflight_limit": 1},
        },
    })
}

fn request(kind: &str) -> Request {
    Request::chat_with(&json!({"model": kind, "stream": true})).bearer(&format!("sk-{kind}"))
}

/// Everything that was taken has been given back, and the next request is served.
async fn is_free(gateway: &Gateway, kind: &str) {
    eventually(&format!("the slot of {kind} to be free"), || async {
        gateway.send(request(kind)).await.status == 200
    })
    .await;
    gateway
        .metric_becomes("onwards_model_inflight", &[("model", kind)], 0.0)
        .await;
    gateway
        .metric_becomes("onwards_requests_inflight", &[], 0.0)
        .await;
}

/// Takes the only slot of each kind with a stream that has sent one event, and sees that it is taken, until `end`
/// has ended the stream.
async fn check<F>(strict: bool, last: impl Fn(Reply) -> Reply, end: impl Fn(RawConn) -> F)
where
    F: Future<Output = ()>,
{
    let up = Upstream::start().await;
    let gateway = Launch::new(&config(&up, strict)).start().await;
    for (kind, code) in KINDS {
        let gate = Gate::new();
        let held = Reply::stream().delta("one").wait(&gate);
        up.reply(last(held));
        up.always(Reply::stream().delta("short").done());
        let mut conn = gateway.begin(request(kind)).await;
        conn.until(b"one").await;
        let metrics = gateway.metrics().await;
        assert_eq!(
            metrics.count("onwards_model_inflight", &[("model", kind)]),
            1.0
        );
        let refused = gateway.send(request(kind)).await;
        assert_eq!(
            (refused.status, refused.code()),
            (429, json!(code)),
            "{kind}"
        );
        assert_eq!(refused.head.header("retry-after"), Some("1"), "{kind}");
        gate.open();
        end(conn).await;
        is_free(&gateway, kind).await;
    }
}

async fn finish(mut conn: RawConn) {
    conn.until(b"data: [DONE]").await;
    conn.until(b"0\r\n\r\n").await;
}

async fn breaks(mut conn: RawConn) {
    let (said, _) = conn.rest().await;
    assert!(!said.ends_with(b"0\r\n\r\n"), "a clean end");
}

#[tokio::test]
async fn a_complete_answer_frees_them() {
    check(false, |reply| reply.delta("two").done(), finish).await;
}

#[tokio::test]
async fn a_complete_strict_answer_frees_them() {
    check(true, |reply| reply.delta("two").done(), finish).await;
}

#[tokio::test]
async fn a_client_that_leaves_frees_them() {
    check(
        false,
        |reply| reply.wait(&Gate::new()),
        |conn| async { drop(conn) },
    )
    .await;
}

#[tokio::test]
async fn a_strict_client_that_resets_frees_them() {
    check(
        true,
        |reply| reply.wait(&Gate::new()),
        |conn| async { conn.reset() },
    )
    .await;
}

#[tokio::test]
async fn a_provider_that_breaks_off_frees_them() {
    check(false, |reply| reply.then(Step::Reset), breaks).await;
}

#[tokio::test]
async fn a_provider_that_breaks_off_frees_them_in_strict_mode() {
    check(true, |reply| reply.then(Step::Close), breaks).await;
}

#[tokio::test]
async fn a_client_that_leaves_before_the_answer_frees_them() {
    let up = Upstream::start().await;
    let gateway = Launch::new(&config(&up, false)).start().await;
    for (kind, code) in KINDS {
        up.reply(Reply::default().then(Step::Hang));
        let seen = up.count();
        let conn = gateway.begin(request(kind)).await;
        let held = up.request(seen).await;
        assert_eq!(gateway.send(request(kind)).await.code(), code);
        drop(conn);
        held.gone().await;
        is_free(&gateway, kind).await;
    }
}

#[tokio::test]
async fn a_failed_attempt_frees_its_provider() {
    let (bad, good) = (Upstream::start().await, Upstream::start().await);
    let one = json!({"max_concurrent_requests": 1});
    let provider = |up: &Upstream| json!({"url": up.url(), "concurrency_limit": one});
    let targets = json!({"m": {
        "providers": [provider(&bad), provider(&good)],
        "strategy": "priority",
        "fallback": {"enabled": true, "on_status": [503]},
    }});
    let gateway = Gateway::serve(targets).await;
    let gate = Gate::new();
    bad.reply(Reply::json(503, &json!({})));
    good.reply(Reply::stream().delta("one").wait(&gate).done());
    let mut conn = gateway.begin(Request::chat()).await;
    conn.until(b"one").await;
    // The first provider is free again while the second one answers.
    assert_eq!(gateway.send(Request::chat()).await.status, 200);
    assert_eq!((bad.count(), good.count()), (2, 1));
    gate.open();
    finish(conn).await;
    gateway
        .metric_becomes("onwards_model_inflight", &[("model", "m")], 0.0)
        .await;
}

#[tokio::test]
async fn a_limit_of_zero_refuses_everything() {
    let up = Upstream::start().await;
    let targets =
        json!({"m": {"url": up.url(), "concurrency_limit": {"max_concurrent_requests": 0}}});
    let gateway = Gateway::serve(targets).await;
    assert_eq!(
        gateway.send(Request::chat()).await.code(),
        "concurrency_limit_exceeded"
    );
    assert_eq!(up.count(), 0);
}

#[tokio::test]
async fn a_finished_answer_is_a_free_slot_before_the_next_request() {
    let up = Upstream::start().await;
    let targets =
        json!({"m": {"url": up.url(), "concurrency_limit": {"max_concurrent_requests": 1}}});
    let gateway = Gateway::serve(targets).await;
    let mut conn = gateway.connect().await;
    for i in 0..100 {
        assert_eq!(conn.ask(&Request::chat()).await.status, 200, "request {i}");
    }
    let (mut one, end) = (gateway.begin(Request::chat()).await, End::Clean);
    let head = one.head().await;
    assert_eq!(one.body(&head).await.1, end);
}
