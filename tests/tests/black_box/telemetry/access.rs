//! The access log: one line per request, when it is over, without content and without keys.

use onwards_tests::{Gateway, Launch, Reply, Request, Step, Upstream, eventually};
use serde_json::{Value, json};

use super::launch;

/// Waits until there are so many lines, and gives them in order.
async fn lines(gateway: &Gateway, count: usize) -> Vec<Value> {
    let read = || {
        let log = gateway.log();
        let lines = log
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        lines
            .filter(|line: &Value| line["target"] == "onwards::access")
            .collect::<Vec<_>>()
    };
    eventually("lines of the access log", || async {
        read().len() >= count
    })
    .await;
    let lines = read();
    assert_eq!(lines.len(), count, "{lines:?}");
    lines
}

fn json_log(launch: Launch) -> Launch {
    launch.args(&["--access-log", "--log-format", "json"])
}

/// Asserts that the line has these members.
fn has(line: &Value, members: &Value) {
    for (name, value) in members.as_object().unwrap() {
        assert_eq!(&line[name], value, "{name} of {line}");
    }
}

/// The names of all members of a line that a request decides.
fn names(line: &Value) -> Vec<&str> {
    let members = line.as_object().unwrap().keys().map(String::as_str);
    members
        .filter(|name| !["timestamp", "level", "target", "message"].contains(name))
        .collect()
}

#[tokio::test]
async fn a_request_is_one_line_when_it_is_over() {
    let up = Upstream::start().await;
    let config = json!({
        "auth": {"key_definitions": {"user": {"key": "sk-secret", "labels": {"api_key_id": "key-7", "account": "acme"}}}},
        "targets": {"m": {"keys": ["user"], "fallback": {"enabled": true, "on_status": [500]}, "strategy": "priority", "providers": [
            {"name": "one", "url": up.url()}, {"name": "two", "url": up.url()},
        ]}},
    });
    let gateway = json_log(Launch::new(&config)).start().await;
    up.reply(Reply::json(500, &json!({})));
    up.reply(
        Reply::stream()
            .chunk(": wait\n\n")
            .delta("answer-text")
            .chunk("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n")
            .done(),
    );
    let request = Request::chat_with(&json!({"stream": true}))
        .bearer("sk-secret")
        .header("x-request-id", "abc-1");
    let asked = request.bytes().len();
    let answer = gateway.send(request).await;
    let [line] = <[Value; 1]>::try_from(lines(&gateway, 1).await).unwrap();
    has(
        &line,
        &json!({
            "request_id": "abc-1", "method": "POST", "route": "/v1/chat/completions", "status": 200, "outcome": "complete",
            "model": "m", "pool": "default", "provider": "two", "attempts": 2, "account": "acme", "api_key_id": "key-7",
            "bytes_out": answer.body.len(), "prompt_tokens": 3, "completion_tokens": 2, "level": "INFO", "message": "request",
        }),
    );
    let received = line["bytes_in"].as_u64().unwrap();
    assert!(received > 50 && received < asked as u64);
    let (first, total) = (
        line["first_token_ms"].as_f64().unwrap(),
        line["total_ms"].as_f64().unwrap(),
    );
    assert!(0.0 < first && first <= total, "{line}");
    for missing in ["code", "cached_tokens", "reasoning_tokens"] {
        assert_eq!(line.get(missing), None);
    }
    let log = gateway.log();
    assert!(!log.contains("sk-secret") && !log.contains("answer-text"));
}

#[tokio::test]
async fn refusals_failures_and_lists_have_their_line_too() {
    let up = Upstream::start().await;
    let gateway = json_log(launch(false, &up)).start().await;
    gateway.send(Request::get("/v1/models")).await;
    gateway
        .send(Request::chat_with(&json!({"model": "nobody-9"})))
        .await;
    up.reply(Reply::default().then(Step::Close));
    gateway.send(Request::chat()).await;
    let lines = lines(&gateway, 3).await;
    has(
        &lines[0],
        &json!({"method": "GET", "route": "/v1/models", "status": 200, "outcome": "complete", "attempts": 0, "bytes_in": 0}),
    );
    assert_eq!(
        names(&lines[0]),
        [
            "attempts",
            "bytes_in",
            "bytes_out",
            "method",
            "outcome",
            "request_id",
            "route",
            "status",
            "total_ms"
        ]
    );
    has(
        &lines[1],
        &json!({"status": 404, "code": "model_not_found", "attempts": 0}),
    );
    assert!(
        !lines[1].to_string().contains("nobody-9"),
        "what a client made up is no label"
    );
    has(
        &lines[2],
        &json!({"status": 502, "code": "internal_error", "model": "m", "provider": "one", "attempts": 1}),
    );
}

#[tokio::test]
async fn a_client_that_leaves_before_its_answer_has_a_line_without_a_status() {
    let up = Upstream::start().await;
    let gateway = json_log(launch(false, &up)).start().await;
    up.reply(Reply::default().then(Step::Hang));
    let client = gateway.begin(Request::chat()).await;
    up.arrived(1).await;
    drop(client);
    let lines = lines(&gateway, 1).await;
    has(
        &lines[0],
        &json!({"outcome": "client_gone", "model": "m", "provider": "one", "attempts": 1, "bytes_out": 0}),
    );
    assert_eq!(lines[0].get("status"), None);
}

#[tokio::test]
async fn it_is_off_unless_asked_for_and_filters_know_its_name() {
    let up = Upstream::start().await;
    for (launch, lines) in [
        (launch(false, &up), 0),
        (launch(false, &up).env("ONWARDS_ACCESS_LOG", "true"), 1),
        (
            launch(false, &up)
                .env("ONWARDS_ACCESS_LOG", "true")
                .env("RUST_LOG", "info,onwards::access=warn"),
            0,
        ),
        (
            launch(false, &up)
                .args(&["--access-log"])
                .env("RUST_LOG", "warn,onwards::access=info"),
            1,
        ),
    ] {
        let gateway = launch.start().await;
        gateway.send(Request::chat()).await;
        // The counter moves before the line is written; the next request is on the same way behind it.
        gateway
            .metric_becomes("onwards_response_outcomes_total", &[], 1.0)
            .await;
        gateway.send(Request::get("/v1/models")).await;
        let written = || gateway.log().matches("onwards::access: ").count();
        if lines > 0 {
            eventually("the lines", || async { written() == 2 }).await;
        }
        assert_eq!(written(), lines * 2);
    }
}
