//! What the log must not say, at any level.

use onwards_tests::{Gateway, Launch, Reply, Request, Upstream};
use serde_json::{Value, json};

use super::ask::{self, Feature};
use super::wire::{self, Say};
use super::{Client, KEY, Kind, streams};

/// A request with secrets in its text, its arguments and its key.
fn request(client: Client, kind: Kind, stream: bool) -> Request {
    let body = ask::body(client, Feature::Tools, stream).to_string();
    let body = body
        .replace("Be brief.", "prompt-7")
        .replace("\"m\"", &format!("\"{}\"", kind.name()));
    let body: Value = serde_json::from_str(&body).unwrap();
    let alias = format!("/{}:", kind.name());
    let path = client.path(stream).replace("/m:", &alias);
    if client != Client::Gemini {
        return Request::post(&path).json(&body).bearer("sk-of-a-client");
    }
    let and = if path.contains('?') { '&' } else { '?' };
    Request::post(&format!("{path}{and}key=sk-of-a-client")).json(&body)
}

/// What goes well and what does not, between a client and a provider.
async fn traffic(gateway: &Gateway, up: &Upstream, client: Client, kind: Kind) {
    let wire = kind.wire(client);
    let mut say = Say::to(Feature::Tools, None);
    say.text = Some("answer-8 is the answer");
    say.calls[0].2 = json!({"city": "argument-9"});
    let json = [("content-type", "application/json")];
    for (reply, stream, status) in [
        (wire::whole(wire, &say), false, Some(200)),
        (streams::whole(wire, &say), true, Some(200)),
        (wire::error(wire, 400, "error-11"), false, Some(400)),
        (Reply::new(200, &json, "{error-11"), false, None),
    ] {
        up.reply(reply);
        let answer = gateway.send(request(client, kind, stream)).await;
        if let Some(status) = status {
            assert_eq!(answer.status, status, "{kind:?} {client:?} {stream}");
        }
    }
    let broken = Request::post(client.path(false)).bearer("sk-of-a-client");
    let broken = broken.header("model-override", kind.name());
    gateway.send(broken.body("{body-13")).await;
}

#[tokio::test]
async fn nothing_secret_is_logged() {
    let up = Upstream::start().await;
    let secrets = [
        KEY,
        "AKIDEXAMPLE",
        "sk-of-a-client",
        "sk-operator-7",
        "prompt-7",
        "answer-8",
        "argument-9",
        "header-10",
        "error-11",
        "session-12",
        "body-13",
    ];
    for strict in [false, true] {
        let mut targets = json!({});
        for kind in Kind::ALL {
            let mut provider = kind.provider_with(
                &up,
                &json!({"keys": ["sk-of-a-client"], "headers": {"x-own": "header-10"}}),
            );
            if kind == Kind::Bedrock {
                provider["aws"]["session_token"] = "session-12".into();
            }
            targets[kind.name()] = provider;
        }
        let config =
            json!({"strict_mode": strict, "dry_run_key": "sk-operator-7", "targets": targets});
        let lowest = "trace,mio=trace,notify=trace";
        let gateway = Launch::new(&config).env("RUST_LOG", lowest).start().await;
        for kind in Kind::ALL {
            for client in Client::ALL {
                traffic(&gateway, &up, client, kind).await;
            }
            let asked = json!({"path": "/v1/messages", "body": {
                "model": kind.name(), "max_tokens": 5, "messages": [{"role": "user", "content": "prompt-7"}],
            }});
            let asked = Request::post("/v1/dry-run")
                .bearer("sk-operator-7")
                .json(&asked);
            assert_eq!(gateway.send(asked).await.status, 200);
        }
        let log = gateway.log();
        assert!(log.contains("TRACE"), "the log is at its lowest level");
        for secret in secrets {
            let lines: Vec<&str> = log
                .lines()
                .filter(|line| line.contains(secret))
                .take(3)
                .collect();
            assert!(lines.is_empty(), "strict {strict}: {secret} in {lines:#?}");
        }
    }
}
