//! What operators and careful clients can ask: dry runs, what was lost on the way, numbers of tokens, lists of models.

use onwards_tests::{Gateway, Launch, Reply, Request, Upstream};
use serde_json::{Value, json};

use super::ask::{self, Feature};
use super::wire::{self, Say};
use super::{Client, KEY, Kind, Wire, serve};

fn dry_run(key: &str, body: &Value) -> Request {
    Request::post("/v1/dry-run").bearer(key).json(body)
}

#[tokio::test]
async fn a_dry_run_tells_what_would_be_sent_and_sends_nothing() {
    let up = Upstream::start().await;
    let providers: Vec<Value> = Kind::ALL.iter().map(|kind| kind.provider(&up)).collect();
    let config = json!({
        "dry_run_key": "sk-operator",
        "targets": {"m": {"strategy": "priority", "keys": ["sk-client"], "providers": providers}},
    });
    let gateway = Launch::new(&config).start().await;
    for client in Client::ALL {
        let asked =
            json!({"path": client.path(false), "body": ask::body(client, Feature::Tools, false)});
        let answer = gateway.send(dry_run("sk-operator", &asked)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let told = answer.json();
        let requests = told["requests"].as_array().unwrap();
        assert_eq!(requests.len(), 5);
        for (kind, request) in Kind::ALL.iter().zip(requests) {
            let line = kind.line(client, false);
            let target = line.split(' ').nth(1).unwrap();
            assert_eq!(request["method"], "POST");
            assert_eq!(request["url"], format!("{}{target}", up.url()));
            assert!(request["provider"].is_string() && request["fidelity"].is_string());
            let auth = match kind {
                Kind::OpenAi => "authorization",
                Kind::Azure => "api-key",
                Kind::Anthropic => "x-api-key",
                Kind::Gemini => "x-goog-api-key",
                // Signed when it is sent.
                Kind::Bedrock => "content-type",
            };
            let shown = if *kind == Kind::Bedrock {
                "application/json"
            } else {
                "[REDACTED]"
            };
            assert_eq!(request["headers"][auth], shown, "{request}");
            assert!(request["body"].is_object());
        }
        assert!(!answer.text().contains(KEY) && !answer.text().contains("sk-operator"));
    }
    // What is told is what is sent.
    let body = ask::body(Client::Chat, Feature::Tools, false);
    let told = gateway.send(dry_run("sk-operator", &body)).await.json();
    for (at, kind) in Kind::ALL.iter().enumerate() {
        let gateway = serve(*kind, &up).await;
        up.reply(wire::whole(
            kind.wire(Client::Chat),
            &Say::to(Feature::Tools, None),
        ));
        gateway
            .send(ask::request(Client::Chat, Feature::Tools, false))
            .await;
        assert_eq!(up.request(at).await.json(), told["requests"][at]["body"]);
    }
    assert_eq!(up.count(), 5, "dry runs send nothing");
}

#[tokio::test]
async fn a_dry_run_is_the_operators_alone() {
    let up = Upstream::start().await;
    let target = Kind::Anthropic.provider_with(&up, &json!({"keys": ["sk-client"]}));
    let body = ask::body(Client::Chat, Feature::Text, false);
    let off = Gateway::serve(json!({"m": target})).await;
    for key in ["sk-client", "sk-operator", "x"] {
        assert_eq!(off.send(dry_run(key, &body)).await.status, 404);
    }
    let config = json!({"dry_run_key": "sk-operator", "targets": {"m": target}});
    let on = Launch::new(&config).start().await;
    for key in ["sk-client", "sk-operato", "sk-operator-1"] {
        let answer = on.send(dry_run(key, &body)).await;
        assert_eq!(
            (answer.status, answer.code()),
            (401, json!("unauthenticated")),
            "{key}"
        );
    }
    assert_eq!(
        on.send(Request::post("/v1/dry-run").json(&body))
            .await
            .status,
        401
    );
    let unknown = json!({"model": "unknown", "messages": []});
    assert_eq!(on.send(dry_run("sk-operator", &unknown)).await.status, 404);
    let impossible = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "n": 2});
    let told = on.send(dry_run("sk-operator", &impossible)).await.json();
    assert_eq!(
        told["requests"][0]["error"]["code"],
        "unsupported_parameter"
    );
    assert_eq!(up.count(), 0);
}

/// A chat request with more than Anthropic's API knows.
fn rich() -> Request {
    Request::chat_with(&json!({
        "seed": 7, "user": "u", "logit_bias": {}, "temperature": 1.5, "x_new": 1, "max_tokens": 10,
    }))
}

#[tokio::test]
async fn what_is_lost_is_told() {
    let up = Upstream::start().await;
    let gateway = serve(Kind::Anthropic, &up).await;
    up.always(wire::whole(Wire::Messages, &Say::to(Feature::Text, None)));
    let answer = gateway.send(rich()).await;
    let lost = "logit_bias,seed,temperature(clamped),x_new";
    assert_eq!(answer.head.header("x-onwards-dropped-params"), Some(lost));
    assert_eq!(answer.head.header("x-onwards-fidelity"), None);
    assert_eq!(up.request(0).await.json()["temperature"], 1);
    let answer = gateway.send(rich().header("x-onwards-explain", "1")).await;
    let all = answer.head.header("x-onwards-fidelity").unwrap_or_default();
    for word in ["logit_bias", "seed", "temperature", "x_new"] {
        assert!(all.contains(word), "{word} in {all}");
    }
    assert_eq!(up.request(1).await.header("x-onwards-explain"), None);
    let plain = ask::request(Client::Chat, Feature::Text, false);
    let answer = gateway.send(plain.header("x-onwards-explain", "1")).await;
    assert_eq!(answer.head.header("x-onwards-dropped-params"), None);
    assert!(answer.head.header("x-onwards-fidelity").is_some());
    // In a stream the same headers are at its head.
    up.reply(super::streams::whole(
        Wire::Messages,
        &Say::to(Feature::Text, None),
    ));
    let body = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "Hi"}], "seed": 1});
    let answer = gateway
        .send(Request::post("/v1/chat/completions").json(&body))
        .await;
    assert_eq!(answer.head.header("x-onwards-dropped-params"), Some("seed"));
    let metric = gateway.metrics().await;
    let dropped = metric.count("onwards_dropped_params_total", &[("param", "seed")]);
    assert!((dropped - 3.0).abs() < 1e-9, "{dropped}");
    let other = metric.count("onwards_dropped_params_total", &[("param", "other")]);
    assert!((other - 2.0).abs() < 1e-9, "{other}");
}

#[tokio::test]
async fn losses_can_be_refused() {
    for kind in [Kind::Anthropic, Kind::Gemini, Kind::Bedrock] {
        let up = Upstream::start().await;
        let provider = kind.provider_with(&up, &json!({"on_unsupported": "reject"}));
        let gateway = Gateway::serve(json!({"m": provider})).await;
        let body =
            json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "x_new": 1});
        let answer = gateway
            .send(Request::post("/v1/chat/completions").json(&body))
            .await;
        assert_eq!(
            (answer.status, answer.code()),
            (400, json!("unsupported_parameter"))
        );
        assert_eq!(answer.json()["error"]["param"], "x_new");
        assert_eq!(up.count(), 0);
        up.reply(wire::whole(
            kind.wire(Client::Chat),
            &Say::to(Feature::Text, None),
        ));
        let answer = gateway.send(Request::chat()).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
}

#[tokio::test]
async fn what_would_change_the_answers_shape_is_always_refused() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let gateway = serve(kind, &up).await;
        up.always(wire::whole(
            kind.wire(Client::Chat),
            &Say::to(Feature::Text, None),
        ));
        let answer = gateway.send(Request::chat_with(&json!({"n": 2}))).await;
        let refused = matches!(kind, Kind::Anthropic | Kind::Bedrock);
        assert_eq!(answer.status, if refused { 400 } else { 200 }, "{kind:?}");
        if refused {
            assert_eq!(answer.code(), "unsupported_parameter");
            assert_eq!(answer.json()["error"]["param"], "n");
        }
        assert_eq!(up.count(), usize::from(!refused));
    }
}

#[tokio::test]
async fn state_that_only_openai_has_is_refused_elsewhere() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let gateway = serve(kind, &up).await;
        up.always(wire::whole(
            kind.wire(Client::Responses),
            &Say::to(Feature::Text, None),
        ));
        for (member, value) in [
            ("previous_response_id", json!("resp_1")),
            ("conversation", json!("conv_1")),
            ("background", json!(true)),
        ] {
            let mut body = json!({"model": "m", "input": "Hi"});
            body[member] = value;
            let answer = gateway
                .send(Request::post("/v1/responses").json(&body))
                .await;
            if kind == Kind::OpenAi {
                assert_eq!(answer.status, 200);
                continue;
            }
            assert_eq!(
                (answer.status, answer.code()),
                (400, json!("unsupported_parameter")),
                "{member}"
            );
            assert_eq!(answer.json()["error"]["param"], member);
            assert_eq!(up.count(), 0);
        }
    }
}

#[tokio::test]
async fn tokens_are_counted_by_providers_or_estimated() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let gateway = serve(kind, &up).await;
        let (line, counted) = match kind {
            Kind::Anthropic => ("/v1/messages/count_tokens", json!({"input_tokens": 77})),
            Kind::Gemini => (
                "/v1beta/models/vendor-model:countTokens",
                json!({"totalTokens": 77}),
            ),
            _ => (
                "/model/anthropic.vendor-model-v1%3A0/count-tokens",
                json!({"inputTokens": 77}),
            ),
        };
        let estimated = matches!(kind, Kind::OpenAi | Kind::Azure);
        up.always(Reply::json(200, &counted));
        let mut messages = ask::body(Client::Messages, Feature::Text, false);
        messages.as_object_mut().unwrap().remove("max_tokens");
        let gemini = ask::body(Client::Gemini, Feature::Text, false);
        for (target, body, member) in [
            ("/v1/messages/count_tokens", messages, "input_tokens"),
            (
                "/v1beta/models/m:countTokens",
                json!({"contents": gemini["contents"]}),
                "totalTokens",
            ),
        ] {
            let before = up.count();
            let answer = gateway.send(Request::post(target).json(&body)).await;
            assert_eq!(answer.status, 200, "{kind:?}: {}", answer.text());
            let tokens = answer.json()[member].as_u64().unwrap();
            let source = answer.head.header("x-onwards-token-count");
            if estimated {
                assert!((1..30).contains(&tokens), "{tokens}");
                assert_eq!((source, up.count()), (Some("estimate"), before));
                continue;
            }
            assert_eq!(tokens, 77);
            assert_eq!(source, Some("provider"), "{kind:?} {target}");
            let sent = up.request(before).await;
            assert_eq!(sent.line, format!("POST {line} HTTP/1.1"));
            kind.is_authorized(&sent);
            assert!(sent.json().get("max_tokens").is_none());
        }
    }
}

#[tokio::test]
async fn models_are_listed_in_the_clients_words() {
    let up = Upstream::start().await;
    let closed = Kind::Gemini.provider_with(&up, &json!({"keys": ["sk-client"]}));
    let gateway =
        Gateway::serve(json!({"open": Kind::Anthropic.provider(&up), "closed": closed})).await;
    let list = async |request: Request| gateway.send(request).await.json();
    let openai = list(Request::get("/v1/models")).await;
    assert_eq!(
        (&openai["object"], &openai["data"][0]["id"]),
        (&json!("list"), &json!("open"))
    );
    assert_eq!(openai["data"].as_array().unwrap().len(), 1);
    let version = ("anthropic-version", "2023-06-01");
    let anthropic = list(Request::get("/v1/models").header(version.0, version.1)).await;
    assert_eq!(anthropic["data"][0]["type"], "model");
    assert_eq!(
        (&anthropic["data"][0]["id"], &anthropic["has_more"]),
        (&json!("open"), &json!(false))
    );
    let gemini = list(Request::get("/v1beta/models")).await;
    assert_eq!(gemini["models"][0]["name"], "models/open");
    for request in [
        Request::get("/v1/models").bearer("sk-client"),
        Request::get("/v1/models")
            .header(version.0, version.1)
            .header("x-api-key", "sk-client"),
        Request::get("/v1beta/models").header("x-goog-api-key", "sk-client"),
        Request::get("/v1beta/models?key=sk-client"),
    ] {
        let text = list(request).await.to_string();
        assert!(
            text.contains("open") && text.contains("closed") && !text.contains("vendor"),
            "{text}"
        );
    }
    assert_eq!(up.count(), 0);
}

#[tokio::test]
async fn tools_that_only_one_provider_has_are_refused_elsewhere() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let gateway = serve(kind, &up).await;
        for (client, member, value) in [
            (Client::Responses, "tools", json!([{"type": "web_search"}])),
            (
                Client::Messages,
                "tools",
                json!([{"type": "web_search_20250305", "name": "web_search"}]),
            ),
            (
                Client::Messages,
                "mcp_servers",
                json!([{"type": "url", "url": "https://x.example", "name": "x"}]),
            ),
            (Client::Messages, "container", json!("c")),
            (Client::Gemini, "tools", json!([{"googleSearch": {}}])),
            (Client::Gemini, "cachedContent", json!("cachedContents/1")),
        ] {
            if kind.speaks(client) {
                continue;
            }
            let mut body = ask::body(client, Feature::Text, false);
            body[member] = value;
            let answer = gateway
                .send(Request::post(client.path(false)).json(&body))
                .await;
            assert_eq!(answer.status, 400, "{kind:?} {member}: {}", answer.text());
            assert!(
                answer.text().contains("unsupported_parameter"),
                "{}",
                answer.text()
            );
        }
        assert_eq!(up.count(), 0);
    }
}
