//! `onwards_tokens_total`: what providers count is read as it passes, in every mode, and nothing is asked of them for it.

use std::io::Write;

use onwards_tests::{Gateway, Reply, Request, Upstream};
use serde_json::{Value, json};

use super::launch;

const COUNTS: &str = r#"{"prompt_tokens":20,"completion_tokens":7,"total_tokens":27,"prompt_tokens_details":{"cached_tokens":16},"completion_tokens_details":{"reasoning_tokens":3}}"#;

async fn counted(gateway: &Gateway, counts: [f64; 4]) {
    for (kind, count) in ["prompt", "completion", "cached", "reasoning"]
        .iter()
        .zip(counts)
    {
        let labels = [("model", "m"), ("type", *kind)];
        gateway
            .metric_becomes("onwards_tokens_total", &labels, count)
            .await;
    }
}

fn answer() -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "x",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "say \"usage\":{\"prompt_tokens\":900}"}, "finish_reason": "stop"}],
        "usage": serde_json::from_str::<Value>(COUNTS).unwrap(),
    })
}

/// A stream whose last chunk but one has the counts, cut in the middle of them.
fn stream() -> Reply {
    let chunk = |choices: &str, usage: &str| {
        format!(
            r#"data: {{"id":"1","object":"chat.completion.chunk","created":1,"model":"x","choices":{choices},"usage":{usage}}}"#
        )
    };
    let finish = chunk(
        r#"[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]"#,
        "null",
    );
    let usage = chunk("[]", COUNTS);
    let (head, tail) = usage.split_at(usage.len() - 150);
    Reply::stream()
        .chunk(format!("{finish}\n\n"))
        .chunk(head)
        .chunk(format!("{tail}\n\n"))
        .done()
}

#[tokio::test]
async fn answers_and_streams_are_counted() {
    let up = Upstream::start().await;
    for strict in [false, true] {
        let gateway = launch(strict, &up).start().await;
        up.reply(Reply::json(200, &answer()));
        gateway.send(Request::chat()).await;
        counted(&gateway, [20.0, 7.0, 16.0, 3.0]).await;
        up.reply(stream());
        let asked = json!({"stream": true, "stream_options": {"include_usage": true}});
        let said = gateway.send(Request::chat_with(&asked)).await;
        assert!(
            said.text().contains("\"cached_tokens\":16"),
            "{}",
            said.text()
        );
        counted(&gateway, [40.0, 14.0, 32.0, 6.0]).await;
    }
}

#[tokio::test]
async fn nothing_is_asked_for_that_the_client_did_not_ask_for() {
    let up = Upstream::start().await;
    for strict in [false, true] {
        let gateway = launch(strict, &up).start().await;
        // A provider that counts unasked is read all the same, also where the client does not see it.
        up.reply(stream());
        let request = Request::chat_with(&json!({"stream": true}));
        let said = gateway.send(request).await;
        assert_eq!(said.status, 200);
        counted(&gateway, [20.0, 7.0, 16.0, 3.0]).await;
        let sent = up.request(up.count() - 1).await.json();
        assert_eq!(sent.get("stream_options"), None);
    }
}

#[tokio::test]
async fn other_endpoints_are_counted() {
    let up = Upstream::start().await;
    let gateway = launch(false, &up).start().await;
    let embedding = json!({"object": "list", "data": [], "model": "x", "usage": {"prompt_tokens": 8, "total_tokens": 8}});
    up.reply(Reply::json(200, &embedding));
    let ask = |path: &str| Request::post(path).json(&json!({"model": "m", "input": "hi"}));
    gateway.send(ask("/v1/embeddings")).await;
    counted(&gateway, [8.0, 0.0, 0.0, 0.0]).await;
    let created = r#"{"type":"response.created","response":{"usage":null}}"#;
    let completed = r#"{"type":"response.completed","response":{"usage":{"input_tokens":36,"input_tokens_details":{"cached_tokens":5},"output_tokens":87,"output_tokens_details":{"reasoning_tokens":64},"total_tokens":123}}}"#;
    up.reply(
        Reply::stream()
            .chunk(format!("event: response.created\ndata: {created}\n\n"))
            .chunk(format!("event: response.completed\ndata: {completed}\n\n"))
            .last_chunk(),
    );
    gateway.send(ask("/v1/responses")).await;
    counted(&gateway, [44.0, 87.0, 5.0, 64.0]).await;
}

#[tokio::test]
async fn compressed_answers_are_not_opened_for_it() {
    let up = Upstream::start().await;
    let gateway = launch(false, &up).start().await;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(answer().to_string().as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let headers = [
        ("content-type", "application/json"),
        ("content-encoding", "gzip"),
    ];
    up.reply(Reply::new(200, &headers, &packed));
    assert_eq!(gateway.send(Request::chat()).await.body, packed);
    let complete = [("outcome", "complete")];
    gateway
        .metric_becomes("onwards_response_outcomes_total", &complete, 1.0)
        .await;
    assert_eq!(
        gateway.metrics().await.get("onwards_tokens_total", &[]),
        None
    );
}
