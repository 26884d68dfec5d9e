//! Tokens, keys and contents never reach the log, at any level.

use onwards_tests::{Launch, Reply, Request, Upstream};
use serde_json::json;

#[tokio::test]
async fn nothing_secret_is_logged_at_any_level() {
    let up = Upstream::start().await;
    let secrets = [
        "sk-defined-1",
        "sk-literal-2",
        "sk-global-3",
        "sk-operator-4",
        "sk-wrong-5",
        "cookie-6",
        "prompt-7",
        "answer-8",
        "parameter-9",
        "header-10",
        "override-11",
        "upstream-error-12",
    ];
    for strict in [false, true] {
        let config = json!({
            "strict_mode": strict,
            "auth": {
                "global_keys": ["sk-global-3"],
                "key_definitions": {"user": {
                    "key": "sk-defined-1",
                    "rate_limit": {"requests_per_second": 0.001, "burst_size": 2},
                }},
            },
            "targets": {
                "m": {"url": up.url(), "onwards_key": "sk-operator-4", "keys": ["user", "sk-literal-2"]},
                "gone": {"url": "http://127.0.0.1:1", "onwards_key": "sk-operator-4"},
            },
        });
        let lowest = "trace,mio=trace,notify=trace";
        let gateway = Launch::new(&config).env("RUST_LOG", lowest).start().await;
        let chat = |token: &str, model: &str| {
            Request::chat_with(&json!({
                "model": model,
                "messages": [{"role": "user", "content": "prompt-7"}],
                "user": "parameter-9",
                "stream": false,
            }))
            .bearer(token)
            .header("cookie", "cookie-6")
            .header("x-custom", "header-10")
        };
        up.reply(Reply::chat("answer-8"));
        assert_eq!(gateway.send(chat("sk-defined-1", "m")).await.status, 200);
        up.reply(Reply::json(
            500,
            &json!({"error": {"message": "upstream-error-12"}}),
        ));
        assert_eq!(gateway.send(chat("sk-literal-2", "m")).await.status, 500);
        up.reply(Reply::new(
            200,
            &[("content-type", "application/json")],
            "not json upstream-error-12",
        ));
        gateway.send(chat("sk-global-3", "m")).await;
        up.reply(Reply::chat("answer-8"));
        gateway.send(chat("sk-defined-1", "m")).await;
        assert_eq!(gateway.send(chat("sk-defined-1", "m")).await.status, 429);
        assert_eq!(gateway.send(chat("sk-wrong-5", "m")).await.status, 401);
        assert_eq!(gateway.send(chat("sk-global-3", "gone")).await.status, 502);
        let bad = json!({"model": "m", "messages": "prompt-7", "temperature": "parameter-9", "reasoning_effort": "parameter-9"});
        let bad = Request::post("/v1/chat/completions")
            .bearer("sk-literal-2")
            .json(&bad);
        gateway.send(bad).await;
        let broken = Request::post("/v1/chat/completions")
            .bearer("sk-literal-2")
            .body("{\"model\":\"m\", prompt-7");
        assert_eq!(gateway.send(broken).await.status, 400);
        gateway
            .write_config(&json!({"targets": {"m": {"url": 1, "onwards_key": "sk-operator-4"}}}));
        gateway.logs("targets.m", 1).await;
        let log = gateway.log();
        assert!(log.contains("TRACE"), "the log is at its lowest level");
        for secret in secrets {
            let lines: Vec<&str> = log.lines().filter(|line| line.contains(secret)).collect();
            assert!(lines.is_empty(), "strict {strict}: {secret} in {lines:#?}");
        }
    }
}

#[tokio::test]
async fn an_unloadable_file_is_named_without_its_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let config = json!({
        "auth": {"key_definitions": {"user": {"key": "sk-defined-1", "rate_limit": {"requests_per_second": -1}}}},
        "targets": {"m": {"url": "ftp://user:sk-in-url-9@host/", "onwards_key": "sk-operator-4\nx", "keys": ["sk-literal-2"]}},
    });
    std::fs::write(dir.path().join("config.json"), config.to_string()).unwrap();
    let ended = onwards_tests::run(
        dir.path(),
        &["-f", "config.json", "--port", "0", "--metrics-port", "0"],
    )
    .await;
    assert_eq!(ended.code, Some(1), "{}", ended.output);
    for secret in [
        "sk-defined-1",
        "sk-operator-4",
        "sk-literal-2",
        "sk-in-url-9",
    ] {
        assert!(
            !ended.output.contains(secret),
            "{secret} in {}",
            ended.output
        );
    }
}
