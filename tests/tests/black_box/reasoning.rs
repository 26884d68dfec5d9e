//! Reasoning controls over the wire: only the members that a translation names change, refusals come before any
//! attempt, and no spelling of a request gets past the checks.

use onwards_tests::{Gateway, Launch, Reply, Request, Upstream};
use serde_json::{Value, json};

const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// A translation of a surface that supports `efforts`, each written to `path` as `value` says.
fn translation(
    surface: &str,
    path: &str,
    efforts: &[&str],
    value: impl Fn(&str) -> Value,
) -> Value {
    let unsupported: Vec<&&str> = EFFORTS
        .iter()
        .filter(|effort| !efforts.contains(effort))
        .collect();
    let values: Value = efforts
        .iter()
        .map(|effort| ((*effort).to_owned(), value(effort)))
        .collect();
    json!({surface: {"unsupported_efforts": unsupported, "writes": [{"target_path": path, "values": values}]}})
}

/// Serves `m` with each translation in turn, tried in this order on a 500.
async fn serve(up: &Upstream, strict: bool, translations: &[Value]) -> Gateway {
    let provider =
        |translation: &Value| json!({"url": up.url(), "reasoning_translation": translation});
    let pool = json!({
        "providers": translations.iter().map(provider).collect::<Vec<_>>(),
        "strategy": "priority",
        "fallback": {"enabled": true, "on_status": [500]},
    });
    Launch::new(&json!({"strict_mode": strict, "targets": {"m": pool}}))
        .start()
        .await
}

fn chat(body: &str) -> Request {
    Request::post("/v1/chat/completions")
        .header("content-type", "application/json")
        .body(body)
}

#[tokio::test]
async fn all_other_bytes_stay() {
    let up = Upstream::start().await;
    let thinking = translation(
        "chat_completions",
        "/chat_template_kwargs/enable_thinking",
        &["high"],
        |_| json!(true),
    );
    for strict in [false, true] {
        let gateway = serve(&up, strict, std::slice::from_ref(&thinking)).await;
        let seen = up.count();
        let odd = "{ \"z\":1e2 , \"messages\":[ ],\"reasoning_effort\" : \"h\\u0069gh\" ,\"model\":\"m\" }";
        assert_eq!(gateway.send(chat(odd)).await.status, 200);
        let sent = String::from_utf8(up.request(seen).await.body.clone()).unwrap();
        let value: Value = serde_json::from_str(&sent).unwrap();
        assert_eq!(
            value["chat_template_kwargs"],
            json!({"enable_thinking": true})
        );
        assert!(!sent.contains("reasoning_effort"), "{sent}");
        assert!(
            sent.contains("\"z\":1e2 ,") && sent.contains("\"messages\":[ ]"),
            "{sent}"
        );
        for untouched in [
            "{\"model\":\"m\",\"messages\":[ ]}",
            "{\"reasoning_effort\":null,\"model\":\"m\",\"messages\":[]}",
        ] {
            let seen = up.count();
            assert_eq!(gateway.send(chat(untouched)).await.status, 200);
            assert_eq!(up.request(seen).await.body, untouched.as_bytes());
        }
    }
}

#[tokio::test]
async fn each_attempt_is_translated_from_the_original() {
    let up = Upstream::start().await;
    let translations = [
        translation("chat_completions", "/reasoning_effort", &["high"], |_| {
            json!("deep")
        }),
        translation("chat_completions", "/thinking/type", &EFFORTS, |_| {
            json!("on")
        }),
        translation("responses", "/thinking", &EFFORTS, |_| json!(1)),
    ];
    let gateway = serve(&up, false, &translations).await;
    up.reply(Reply::json(500, &json!({})));
    up.reply(Reply::json(500, &json!({})));
    let body = r#"{"model":"m","reasoning_effort":"high","thinking":{"budget":5}}"#;
    assert_eq!(gateway.send(chat(body)).await.status, 200);
    let seen: Vec<Value> = up.requests().iter().map(|request| request.json()).collect();
    assert_eq!(
        seen[0],
        json!({"model": "m", "reasoning_effort": "deep", "thinking": {"budget": 5}})
    );
    assert_eq!(
        seen[1],
        json!({"model": "m", "thinking": {"budget": 5, "type": "on"}})
    );
    assert_eq!(up.request(2).await.body, body.as_bytes());
}

#[tokio::test]
async fn refusals_come_before_any_attempt() {
    let up = Upstream::start().await;
    let budget = json!({"chat_completions": {"unsupported_efforts": ["max"], "writes": [
        {"target_path": "/reasoning_effort", "values": {"none": 1, "minimal": 1, "low": 1, "medium": 1, "high": 1, "xhigh": 1}},
        {"target_path": "/thinking_token_budget", "values": {"none": 0, "minimal": 1, "low": 2, "medium": 3, "high": 100, "xhigh": 5}},
    ]}});
    let any = translation("chat_completions", "/thinking", &EFFORTS, |_| json!(true));
    // The provider that objects is the second one.
    let gateway = serve(&up, false, &[any, budget]).await;
    let cases = [
        (
            json!({"reasoning_effort": "max"}),
            400,
            "unsupported_value",
            "reasoning_effort",
        ),
        (
            json!({"reasoning_effort": "ultra"}),
            400,
            "invalid_value",
            "reasoning_effort",
        ),
        (
            json!({"reasoning_effort": 1}),
            400,
            "invalid_type",
            "reasoning_effort",
        ),
        (
            json!({"reasoning_effort": "high"}),
            422,
            "reasoning_budget_requires_max_tokens",
            "max_completion_tokens",
        ),
        (
            json!({"reasoning_effort": "high", "max_tokens": 100}),
            400,
            "reasoning_budget_exceeds_max_tokens",
            "max_tokens",
        ),
        (
            json!({"reasoning_effort": "high", "max_tokens": "1"}),
            400,
            "invalid_type",
            "max_tokens",
        ),
        (
            json!({"reasoning_effort": "none", "max_tokens": 0}),
            400,
            "reasoning_budget_exceeds_max_tokens",
            "max_tokens",
        ),
    ];
    for (members, status, code, param) in cases {
        let answer = gateway.send(Request::chat_with(&members)).await;
        assert_eq!(
            (answer.status, answer.code()),
            (status, json!(code)),
            "{members}"
        );
        let error = &answer.json()["error"];
        assert_eq!(
            (&error["param"], &error["type"]),
            (&json!(param), &json!("invalid_request_error")),
            "{members}"
        );
    }
    let long = Request::chat_with(&json!({"reasoning_effort": "x".repeat(100_000)}));
    assert!(
        gateway.send(long).await.body.len() < 1000,
        "a value echoed at length"
    );
    assert_eq!(up.count(), 0);
}

#[tokio::test]
async fn repeated_members_get_nothing_past_the_checks() {
    let up = Upstream::start().await;
    let low = translation("chat_completions", "/reasoning_effort", &["low"], |_| {
        json!("low")
    });
    let mut both = low.clone();
    both["responses"] =
        translation("responses", "/reasoning/effort", &["low"], |_| json!("low"))["responses"]
            .clone();
    let gateway = serve(&up, false, &[both]).await;
    for (path, body) in [
        (
            "/v1/chat/completions",
            r#"{"model":"m","reasoning_effort":"low","reasoning_effort":"max"}"#,
        ),
        (
            "/v1/chat/completions",
            r#"{"model":"m","reasoning_effort":"max","reasoning_effort":"low"}"#,
        ),
        (
            "/v1/responses",
            r#"{"model":"m","reasoning":{"effort":"low","effort":"max"}}"#,
        ),
        (
            "/v1/responses",
            r#"{"model":"m","reasoning":{"effort":"max","effort":"low"}}"#,
        ),
        (
            "/v1/responses",
            r#"{"model":"m","reasoning":{"effort":"max"},"reasoning":{"effort":"low"}}"#,
        ),
    ] {
        let answer = gateway.send(Request::post(path).body(body)).await;
        assert_eq!(answer.status, 400, "{body}");
    }
    assert_eq!(up.count(), 0);
}

#[tokio::test]
async fn a_write_through_something_else_than_an_object_is_refused() {
    let up = Upstream::start().await;
    let inside = translation("chat_completions", "/thinking/type", &EFFORTS, |_| {
        json!("on")
    });
    let gateway = serve(&up, false, &[inside]).await;
    for thinking in [json!(true), json!("on"), json!([]), json!(null)] {
        let request = Request::chat_with(&json!({"reasoning_effort": "low", "thinking": thinking}));
        let answer = gateway.send(request).await;
        assert_eq!(
            (answer.status, answer.code()),
            (400, json!("invalid_translation_config")),
            "{thinking}"
        );
    }
    assert_eq!(up.count(), 0);
}

#[tokio::test]
async fn strict_mode_refuses_native_controls() {
    let up = Upstream::start().await;
    let gateway = Launch::strict(&json!({"m": {"url": up.url()}}))
        .start()
        .await;
    let cases = [
        (
            "/v1/chat/completions",
            json!({"messages": [], "thinking": null}),
            "thinking",
        ),
        (
            "/v1/chat/completions",
            json!({"messages": [], "reasoning": {}}),
            "reasoning",
        ),
        (
            "/v1/chat/completions",
            json!({"messages": [], "chat_template_kwargs": {"thinking": 1}}),
            "chat_template_kwargs.thinking",
        ),
        (
            "/v1/responses",
            json!({"input": "x", "reasoning_effort": "low"}),
            "reasoning_effort",
        ),
        (
            "/v1/completions",
            json!({"prompt": "x", "reasoning_effort": null}),
            "reasoning_effort",
        ),
    ];
    for (path, mut body, param) in cases {
        body["model"] = json!("m");
        let answer = gateway.send(Request::post(path).json(&body)).await;
        assert_eq!(
            (answer.status, answer.code()),
            (400, json!("unsupported_parameter")),
            "{body}"
        );
        assert_eq!(answer.json()["error"]["param"], param);
    }
    assert_eq!(up.count(), 0);
}

#[tokio::test]
async fn a_null_hides_no_effort() {
    let up = Upstream::start().await;
    let mut both = translation("chat_completions", "/reasoning_effort", &["low"], |_| {
        json!("low")
    });
    both["responses"] =
        translation("responses", "/reasoning/effort", &["low"], |_| json!("low"))["responses"]
            .clone();
    let gateway = serve(&up, false, &[both]).await;
    for (path, body) in [
        (
            "/v1/chat/completions",
            r#"{"model":"m","reasoning_effort":"max","reasoning_\u0065ffort":null}"#,
        ),
        (
            "/v1/responses",
            r#"{"model":"m","reasoning":{"effort":"max"},"reasoning":null}"#,
        ),
        (
            "/v1/responses",
            r#"{"model":"m","reasoning":{"effort":"max","effort":null}}"#,
        ),
    ] {
        let answer = gateway.send(Request::post(path).body(body)).await;
        assert_eq!(answer.status, 400, "{body}");
    }
    assert_eq!(up.count(), 0);
}
