//! Where requests go, with which headers: as the operator sets them, Azure's two kinds of addresses, and what of Amazon's
//! APIs is Anthropic's.

use onwards_tests::{Gateway, Launch, Recorded, Reply, Upstream};
use serde_json::{Value, json};

use super::ask::{self, Feature};
use super::wire::{self, Say};
use super::{Client, KEY, Kind, Wire, asked, streams, told};

pub(crate) async fn sends(
    gateway: &Gateway,
    up: &Upstream,
    kind: Kind,
    client: Client,
    stream: bool,
) -> std::sync::Arc<Recorded> {
    let wire = kind.wire(client);
    let say = Say::to(Feature::Text, None);
    up.reply(if stream {
        streams::whole(wire, &say)
    } else {
        wire::whole(wire, &say)
    });
    let answer = gateway
        .send(ask::request(client, Feature::Text, stream))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    up.request(up.count() - 1).await
}

#[tokio::test]
async fn paths_can_be_set() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let both = matches!(kind, Kind::Gemini | Kind::Bedrock);
        let mut members = json!({"path": "/own/{model}/call?v=1"});
        if both {
            members["stream_path"] = "/own/{model}/stream".into();
        }
        let gateway = Gateway::serve(json!({"m": kind.provider_with(&up, &members)})).await;
        let model = kind.model().replace(':', "%3A");
        for client in [Client::Chat, Client::Messages, Client::Gemini] {
            for stream in [false, true] {
                let sent = sends(&gateway, &up, kind, client, stream).await;
                let expected = if stream && both { "stream" } else { "call?v=1" };
                let mut expected = format!("/own/{model}/{expected}");
                if kind == Kind::Gemini && client == Client::Gemini && stream {
                    // The client's own wish for an event stream goes on with its own body.
                    expected.push_str("?alt=sse");
                }
                assert_eq!(sent.line, format!("POST {expected} HTTP/1.1"), "{client:?}");
                kind.is_authorized(&sent);
            }
        }
    }
}

#[tokio::test]
async fn a_base_path_comes_first() {
    let up = Upstream::start().await;
    let base = |path: &str| json!({"url": format!("{}{path}", up.url())});
    for (kind, path, expected) in [
        (Kind::OpenAi, "/v1", "/v1/chat/completions"),
        (Kind::OpenAi, "/v1/", "/v1/chat/completions"),
        (Kind::OpenAi, "/proxy", "/proxy/v1/chat/completions"),
        (Kind::Anthropic, "/proxy", "/proxy/v1/messages"),
        (
            Kind::Gemini,
            "/proxy",
            "/proxy/v1beta/models/vendor-model:generateContent",
        ),
        (
            Kind::Bedrock,
            "/proxy",
            "/proxy/model/anthropic.vendor-model-v1%3A0/converse",
        ),
        (
            Kind::Azure,
            "/proxy",
            "/proxy/openai/deployments/vendor-model/chat/completions?api-version=2024-10-21",
        ),
    ] {
        let gateway = Gateway::serve(json!({"m": kind.provider_with(&up, &base(path))})).await;
        for client in [Client::Chat, Client::Messages] {
            let sent = sends(&gateway, &up, kind, client, false).await;
            assert_eq!(
                sent.line,
                format!("POST {expected} HTTP/1.1"),
                "{kind:?} {path} {client:?}"
            );
        }
    }
}

#[tokio::test]
async fn azure_is_addressed_by_deployment_or_by_model() {
    let up = Upstream::start().await;
    let members = [
        (
            json!({"onwards_model": "my deployment/1", "api_version": "2025-01-01-preview"}),
            "/openai/deployments/my%20deployment%2F1/chat/completions?api-version=2025-01-01-preview",
        ),
        (
            json!({"onwards_model": "my-deployment", "api_style": "v1"}),
            "/openai/v1/chat/completions",
        ),
    ];
    for (members, expected) in members {
        let gateway = Gateway::serve(json!({"m": Kind::Azure.provider_with(&up, &members)})).await;
        for client in Client::ALL {
            let sent = sends(&gateway, &up, Kind::Azure, client, true).await;
            assert_eq!(sent.line, format!("POST {expected} HTTP/1.1"));
            assert_eq!(sent.json()["model"], members["onwards_model"]);
            let limit = if client == Client::Chat {
                "max_tokens"
            } else {
                "max_completion_tokens"
            };
            assert_eq!(sent.json()[limit], 100, "{client:?}");
        }
    }
}

#[tokio::test]
async fn a_model_of_gemini_may_be_a_whole_resource() {
    let up = Upstream::start().await;
    let tuned = json!({"onwards_model": "tunedModels/mine 1"});
    let gateway = Gateway::serve(json!({"m": Kind::Gemini.provider_with(&up, &tuned)})).await;
    for client in [Client::Chat, Client::Gemini] {
        let sent = sends(&gateway, &up, Kind::Gemini, client, false).await;
        assert_eq!(
            sent.line,
            "POST /v1beta/tunedModels/mine%201:generateContent HTTP/1.1"
        );
    }
}

#[tokio::test]
async fn headers_and_members_can_be_set() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let members = json!({
            "headers": {"x-own": "1", "accept": "application/x-own", "anthropic-version": "2099-01-01"},
            "extra_body": {"x_own": {"a": 1}, "temperature": 0},
        });
        let gateway = Gateway::serve(json!({"m": kind.provider_with(&up, &members)})).await;
        for client in Client::ALL {
            let sent = sends(&gateway, &up, kind, client, false).await;
            assert_eq!(sent.header("x-own"), Some("1"));
            assert_eq!(sent.header("accept"), Some("application/x-own"));
            assert_eq!(sent.header("anthropic-version"), Some("2099-01-01"));
            assert_eq!(sent.json()["x_own"], json!({"a": 1}));
            assert_eq!(sent.json()["temperature"], 0, "{kind:?} {client:?}");
        }
    }
}

#[tokio::test]
async fn keys_can_be_sent_in_another_header() {
    let up = Upstream::start().await;
    for kind in Kind::ALL {
        let mut provider = kind.provider(&up);
        let members = provider.as_object_mut().unwrap();
        members.remove("onwards_key");
        members.remove("aws");
        let auth = json!({"header": "X-Own-Auth", "value": KEY, "prefix": "Token "});
        members.insert("auth".to_owned(), auth);
        let gateway = Gateway::serve(json!({"m": provider})).await;
        let sent = sends(&gateway, &up, kind, Client::Messages, false).await;
        assert_eq!(
            sent.header("x-own-auth"),
            Some(format!("Token {KEY}").as_str())
        );
        for usual in ["authorization", "x-api-key", "api-key", "x-goog-api-key"] {
            assert_eq!(sent.header(usual), None, "{kind:?}");
        }
    }
}

#[tokio::test]
async fn betas_are_the_operators_to_allow() {
    let up = Upstream::start().await;
    for same in ["native", "canonical"] {
        let config = json!({
            "ingress": {"same_dialect": same, "allowed_betas": ["allowed-1"]},
            "targets": {"m": Kind::Anthropic.provider_with(&up, &json!({"betas": ["own-1", "own-2"]}))},
        });
        let gateway = Launch::new(&config).start().await;
        up.reply(wire::whole(Wire::Messages, &Say::to(Feature::Text, None)));
        let request = ask::request(Client::Messages, Feature::Text, false);
        let answer = gateway
            .send(request.header("anthropic-beta", "allowed-1, secret-9"))
            .await;
        let sent = up.request(up.count() - 1).await;
        assert_eq!(
            sent.header("anthropic-beta"),
            Some("own-1,own-2,allowed-1"),
            "{same}"
        );
        let lost = answer.head.header("x-onwards-dropped-params");
        assert_eq!(lost, Some("anthropic-beta"), "{same}");
    }
}

#[tokio::test]
async fn anthropics_bodies_go_to_bedrocks_invoke_too() {
    let up = Upstream::start().await;
    let provider =
        Kind::Bedrock.provider_with(&up, &json!({"api": "invoke_anthropic", "betas": ["b-1"]}));
    let gateway = Gateway::serve(json!({"m": provider})).await;
    for client in Client::ALL {
        up.reply(wire::whole(Wire::Messages, &Say::to(Feature::Text, None)));
        let answer = gateway
            .send(ask::request(client, Feature::Text, false))
            .await;
        assert_eq!(told::whole(client, &answer).text, "Hello there");
        let sent = up.request(up.count() - 1).await;
        assert_eq!(
            sent.line,
            "POST /model/anthropic.vendor-model-v1%3A0/invoke HTTP/1.1"
        );
        let body = sent.json();
        assert_eq!(body["anthropic_version"], "bedrock-2023-05-31");
        assert_eq!(body["anthropic_beta"], json!(["b-1"]));
        assert!(body.get("model").is_none() && body.get("stream").is_none());
        assert_eq!(
            asked::lines(Wire::Messages, &sent)[..2],
            ["system: Be brief.", "user: Hi"]
        );
        let events = streams::events(Wire::Messages, &Say::to(Feature::Text, None))
            .into_iter()
            .map(invoked);
        up.reply(
            events
                .fold(streams::head(Wire::Converse), Reply::chunk)
                .last_chunk(),
        );
        let answer = gateway
            .send(ask::request(client, Feature::Text, true))
            .await;
        assert_eq!(told::stream(client, &answer).text, "Hello there");
    }
}

/// One event of Anthropic's as a message of InvokeModel's.
fn invoked(event: Vec<u8>) -> Vec<u8> {
    use base64::Engine as _;
    let text = String::from_utf8(event).unwrap();
    let data = text
        .lines()
        .find_map(|line| line.strip_prefix("data: "))
        .unwrap();
    let bytes = base64::engine::general_purpose::STANDARD.encode(data);
    let payload: Value = json!({"bytes": bytes, "p": "abc"});
    streams::converse_event("chunk", &payload)
}
