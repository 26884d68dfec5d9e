//! `onwards_response_outcomes_total`: every answer of a provider is counted when its body ends, by how it ended.

use onwards_tests::{Gateway, Reply, Request, Step, Upstream};
use serde_json::json;

use super::launch;

async fn ends(gateway: &Gateway, kind: &str, outcome: &str, times: f64) {
    let labels = [("model", "m"), ("kind", kind), ("outcome", outcome)];
    gateway
        .metric_becomes("onwards_response_outcomes_total", &labels, times)
        .await;
}

fn stream() -> Request {
    Request::chat_with(&json!({"stream": true}))
}

/// Begins a request, waits for the head of its answer, and gives up reading.
async fn leave(gateway: &Gateway, request: Request) {
    let mut client = gateway.begin(request).await;
    client.head().await;
    client.reset();
}

#[tokio::test]
async fn each_end_is_counted_once() {
    let up = Upstream::start().await;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{";
    let half = Reply::default().send(head);
    for strict in [false, true] {
        let gateway = launch(strict, &up).start().await;
        let finished = r#"data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
        up.reply(
            Reply::stream()
                .delta("a")
                .chunk(format!("{finished}\n\n"))
                .done(),
        );
        assert_eq!(gateway.send(stream()).await.status, 200);
        ends(&gateway, "stream", "complete", 1.0).await;
        up.reply(Reply::chat("a"));
        gateway.send(Request::chat()).await;
        ends(&gateway, "unary", "complete", 1.0).await;

        for end in [Step::Close, Step::Reset] {
            up.reply(Reply::stream().delta("a").then(end));
            let mut client = gateway.begin(stream()).await;
            let head = client.head().await;
            client.body(&head).await;
        }
        ends(&gateway, "stream", "upstream_broken", 2.0).await;

        up.reply(Reply::stream().delta("a").then(Step::Hang));
        let mut client = gateway.begin(stream()).await;
        let head = client.head().await;
        client.body(&head).await;
        ends(&gateway, "stream", "stalled", 1.0).await;

        let gone = gateway.metrics().await.count(
            "onwards_response_outcomes_total",
            &[("outcome", "client_gone")],
        );
        assert!(gone.abs() < 1e-9);
        up.reply(Reply::stream().delta("a").then(Step::Hang));
        leave(&gateway, stream()).await;
        ends(&gateway, "stream", "client_gone", 1.0).await;
        if !strict {
            up.reply(half.clone().then(Step::Hang));
            leave(&gateway, Request::chat()).await;
            ends(&gateway, "unary", "client_gone", 1.0).await;
        }
        let sum = gateway
            .metrics()
            .await
            .count("onwards_response_outcomes_total", &[]);
        assert!((sum - if strict { 6.0 } else { 7.0 }).abs() < 1e-9, "{sum}");
    }
}

#[tokio::test]
async fn an_event_that_grows_beyond_the_limit_is_an_overflow() {
    let up = Upstream::start().await;
    let gateway = launch(true, &up)
        .args(&["--sse-buffer-limit", "64"])
        .start()
        .await;
    up.reply(
        Reply::stream()
            .delta("a")
            .chunk(format!("data: {}", "x".repeat(100)))
            .then(Step::Hang),
    );
    let mut client = gateway.begin(stream()).await;
    let head = client.head().await;
    client.body(&head).await;
    ends(&gateway, "stream", "overflow", 1.0).await;
    gateway.logs("the response body did not end well", 1).await;
    assert!(gateway.log().contains("overflow"));
}

#[tokio::test]
async fn an_answer_that_cannot_be_shown_is_a_failure_of_the_upstream() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url(), "sanitize_response": true}})).await;
    up.reply(Reply::new(200, &[], "no JSON"));
    assert_eq!(gateway.send(Request::chat()).await.status, 500);
    let labels = [
        ("model", "m"),
        ("reason", "retries_exhausted"),
        ("status", "200"),
    ];
    let failed = gateway
        .metrics()
        .await
        .count("onwards_upstream_failed_total", &labels);
    assert!((failed - 1.0).abs() < 1e-9, "{failed}");
}

#[tokio::test]
async fn what_the_gateway_answers_itself_is_no_answer_of_a_provider() {
    let up = Upstream::start().await;
    let gateway = launch(false, &up).start().await;
    gateway.send(Request::get("/v1/models")).await;
    gateway
        .send(Request::chat_with(&json!({"model": "unknown"})))
        .await;
    up.reply(Reply::default().then(Step::Close));
    assert_eq!(gateway.send(Request::chat()).await.status, 502);
    let metrics = gateway.metrics().await;
    assert_eq!(metrics.get("onwards_response_outcomes_total", &[]), None);
}
