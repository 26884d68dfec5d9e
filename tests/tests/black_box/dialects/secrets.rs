//! What must not be seen: clients learn nothing of providers, and providers nothing of clients' credentials or of each other.

use onwards_tests::{Gateway, Launch, Recorded, Reply, Request, Response, Upstream};
use serde_json::json;

use super::ask::{self, Feature};
use super::wire::{self, Say};
use super::{Client, KEY, Kind, Wire, streams, told};

/// Everything of a response, as text.
fn all(answer: &Response) -> String {
    format!("{:?} {}", answer.head, answer.text())
}

/// Everything of a request, as text.
fn everything(request: &Recorded) -> String {
    format!(
        "{} {:?} {}",
        request.line,
        request.headers,
        String::from_utf8_lossy(&request.body)
    )
}

fn shows_nothing(text: &str, kind: Kind, up: &Upstream) {
    let address = up.address().to_string();
    for hidden in [
        kind.model(),
        &address,
        "127.0.0.1",
        KEY,
        "AKIDEXAMPLE",
        "req_theirs",
        "org-theirs",
    ] {
        assert!(!text.contains(hidden), "{kind:?}: {hidden} in {text}");
    }
}

/// An error that says all that a client must not know, in its body and its headers.
fn indiscreet(kind: Kind, wire: Wire, status: u16, up: &Upstream) -> Reply {
    let (model, address) = (kind.model(), up.address());
    let id = if kind == Kind::Bedrock {
        "AKIDEXAMPLE"
    } else {
        KEY
    };
    let message = format!("no {model} at http://{address}/v1 with {KEY} of {id}");
    let mut body = wire::error_body(wire, status, &message);
    if let Some(error) = body["error"].as_object_mut().filter(|_| wire == Wire::Chat) {
        error.insert("param".to_owned(), model.into());
    }
    body.as_object_mut().unwrap().remove("request_id");
    let theirs = format!("{model} at {address}");
    let headers = [
        ("content-type", "application/json"),
        ("x-theirs", theirs.as_str()),
        ("x-request-id", "req_theirs"),
        ("request-id", "req_theirs"),
        ("openai-organization", "org-theirs"),
        ("x-amzn-errortype", "ValidationException:http://internal"),
    ];
    Reply::new(status, &headers, body.to_string())
}

#[tokio::test]
async fn errors_show_nothing_of_the_provider() {
    for strict in [false, true] {
        for kind in Kind::ALL {
            let up = Upstream::start().await;
            let config = json!({"strict_mode": strict, "targets": {"m": kind.provider(&up)}});
            let gateway = Launch::new(&config).start().await;
            for client in Client::ALL {
                for status in [400, 401, 404, 429, 500] {
                    up.reply(indiscreet(kind, kind.wire(client), status, &up));
                    let answer = gateway
                        .send(ask::request(client, Feature::Text, false))
                        .await;
                    assert!(answer.status >= 400);
                    shows_nothing(&all(&answer), kind, &up);
                    if !strict {
                        assert_eq!(answer.status, status);
                        assert!(
                            answer
                                .text()
                                .contains("no m at http://the provider/v1 with [REDACTED]"),
                            "{}",
                            answer.text()
                        );
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn errors_show_nothing_of_other_providers_of_the_pool() {
    for kind in Kind::ALL {
        let (up, other) = (Upstream::start().await, Upstream::start().await);
        let second = json!({
            "name": "second", "url": format!("http://localhost:{}", other.address().port()),
            "onwards_key": "sk-of-the-other", "onwards_model": "other-vendors-model",
        });
        let config = json!({"targets": {"m": {"strategy": "priority", "providers": [kind.provider(&up), second]}}});
        let gateway = Launch::new(&config).start().await;
        for client in Client::ALL {
            let message = format!(
                "other-vendors-model at localhost:{} refuses sk-of-the-other",
                other.address().port()
            );
            up.reply(wire::error(kind.wire(client), 400, &message));
            let request = ask::request(client, Feature::Text, false);
            let answer = gateway.send(request).await;
            let text = answer.text();
            assert!(
                text.contains("m at the provider refuses [REDACTED]"),
                "{kind:?} {client:?}: {text}"
            );
        }
    }
}

#[tokio::test]
async fn errors_within_streams_show_nothing_of_the_provider() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let gateway = super::serve(kind, &up).await;
        for client in Client::ALL {
            let wire = kind.wire(client);
            if wire == Wire::Converse {
                continue; // Its exceptions are read by the same function, held by the test before.
            }
            let message = format!("no {} at {} with {KEY}", kind.model(), up.address());
            let error = match wire {
                Wire::Responses => {
                    json!({"type": "error", "code": "server_error", "message": message, "param": null, "sequence_number": 9})
                }
                _ => wire::error_body(wire, 500, &message),
            };
            let mut events = streams::events(wire, &Say::to(Feature::Text, None));
            events.truncate(events.len() - 3);
            events.push(streams::sse(&error));
            for events in [events.clone(), vec![streams::sse(&error)]] {
                let head = streams::head(wire);
                up.reply(events.into_iter().fold(head, Reply::chunk).last_chunk());
                let answer = gateway
                    .send(ask::request(client, Feature::Text, true))
                    .await;
                assert!(
                    answer.text().contains("no m at the provider"),
                    "{}",
                    answer.text()
                );
                let text = answer.text().replace("req_theirs", "");
                shows_nothing(&text, kind, &up);
            }
        }
    }
}

#[tokio::test]
async fn strict_mode_masks_errors_of_every_kind() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let gateway = Launch::strict(&json!({"m": kind.provider(&up)}))
            .start()
            .await;
        for client in Client::ALL {
            for (status, shown) in [(400, 400), (429, 429), (500, 500), (529, 529)] {
                up.reply(wire::error(kind.wire(client), status, "a word of theirs"));
                let answer = gateway
                    .send(ask::request(client, Feature::Text, false))
                    .await;
                let text = answer.text();
                assert!(
                    !text.contains("word of theirs"),
                    "{kind:?} {client:?} {status}: {text}"
                );
                if status != 529 {
                    assert_eq!(answer.status, shown, "{text}");
                }
                let error = &answer.json()["error"];
                assert!(error["message"].is_string(), "{text}");
                match client {
                    Client::Messages => assert_eq!(answer.json()["type"], "error"),
                    Client::Gemini => assert_eq!(error["code"], answer.status),
                    _ => assert!(error["type"].is_string(), "{text}"),
                }
            }
        }
    }
}

#[tokio::test]
async fn strict_mode_serves_every_protocol_and_shows_no_thoughts() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let gateway = Launch::strict(&json!({"m": kind.provider(&up)}))
            .start()
            .await;
        for client in Client::ALL {
            // A strict gateway asks a provider of Anthropic's or Google's protocol in its own words, never in the client's.
            let wire = kind.wire(client);
            for stream in [false, true] {
                let say = Say::to(Feature::Reasoning, None);
                up.reply(if stream {
                    streams::whole(wire, &say)
                } else {
                    wire::whole(wire, &say)
                });
                let answer = gateway
                    .send(ask::request(client, Feature::Text, stream))
                    .await;
                let told = if stream {
                    told::stream(client, &answer)
                } else {
                    told::whole(client, &answer)
                };
                assert_eq!(told.text, "Hello there", "{kind:?} {client:?}");
                shows_nothing(&all(&answer), kind, &up);
                let shown =
                    kind.speaks(client) && matches!(client, Client::Chat | Client::Responses);
                if !shown {
                    assert_eq!(told.thought, "", "{kind:?} {client:?} {stream}");
                }
            }
        }
    }
}

/// All forms in which clients send their key.
fn with_key(request: Request, form: &str, key: &str) -> Request {
    match form {
        "authorization" => request.bearer(key),
        name => request.header(name, key),
    }
}

#[tokio::test]
async fn credentials_of_clients_reach_no_provider() {
    let up = Upstream::start().await;
    let mut targets = json!({"plain": {"url": up.url(), "keys": ["sk-of-a-client"]}});
    for kind in Kind::ALL {
        targets[kind.name()] = kind.provider_with(&up, &json!({"keys": ["sk-of-a-client"]}));
        let through = json!({"keys": ["sk-of-a-client"], "passthrough": true});
        targets[format!("{}-through", kind.name())] = kind.provider_with(&up, &through);
    }
    let aliases: Vec<String> = targets.as_object().unwrap().keys().cloned().collect();
    let gateway = Gateway::serve(targets).await;
    for alias in &aliases {
        for client in [Client::Messages, Client::Gemini] {
            for form in ["authorization", "x-api-key", "x-goog-api-key"] {
                let before = up.count();
                let request = with_key(
                    ask::request(client, Feature::Text, false),
                    form,
                    "sk-of-a-client",
                );
                gateway.send(request.header("model-override", alias)).await;
                assert_eq!(up.count(), before + 1, "{alias} {client:?} {form}");
            }
            let target = format!("{}?key=sk-of-a-client&x=1", client.path(false));
            let request = Request::post(&target).header("model-override", alias);
            let before = up.count();
            gateway
                .send(request.json(&ask::body(client, Feature::Text, false)))
                .await;
            assert_eq!(up.count(), before + 1, "{alias} {client:?} in the query");
        }
        for client in [Client::Chat, Client::Responses] {
            let request = ask::request(client, Feature::Text, false).bearer("sk-of-a-client");
            gateway.send(request.header("model-override", alias)).await;
        }
    }
    for request in up.requests() {
        let text = everything(&request);
        assert!(!text.contains("sk-of-a-client"), "{text}");
    }
}

/// Headers that a client may have put some key of its own in.
const UNUSUAL: [&str; 9] = [
    "x-auth-token",
    "x-amz-security-token",
    "ocp-apim-subscription-key",
    "x-goog-iam-authorization-token",
    "x-goog-api-key",
    "x-api-key",
    "api-key",
    "cookie",
    "x-my-secret",
];

#[tokio::test]
async fn credentials_under_unusual_names_reach_no_provider_whose_kind_is_known() {
    let up = Upstream::start().await;
    let mut targets = json!({});
    for kind in Kind::ALL {
        targets[kind.name()] = kind.provider(&up);
        let through = json!({"passthrough": true});
        targets[format!("{}-through", kind.name())] = kind.provider_with(&up, &through);
    }
    let aliases: Vec<String> = targets.as_object().unwrap().keys().cloned().collect();
    let gateway = Gateway::serve(targets).await;
    for alias in &aliases {
        for client in Client::ALL {
            let query = "k%65y=sk-of-a-client&x=1&access_token=sk-of-a-client&API_KEY=sk-of-a-client&token=sk-of-a-client";
            let path = client.path(false);
            let before = up.count();
            let mut request = Request::post(&format!("{path}?{query}"));
            for name in UNUSUAL {
                // Where the gateway looks for its own key there can be only one, and none is wanted.
                request = request.header(name, "sk-of-a-client");
            }
            let request = request
                .header("model-override", alias)
                .header("x-kept", "yes")
                .header("idempotency-key", "once")
                .json(&ask::body(client, Feature::Text, false));
            gateway.send(request).await;
            assert_eq!(up.count(), before + 1, "{alias} {client:?}");
        }
    }
    for path in ["/v1/embeddings", "/v1/images/generations"] {
        for alias in ["openai", "azure_openai"] {
            let request = Request::post(&format!(
                "{path}?access_token=sk-of-a-client&key=sk-of-a-client"
            ))
            .header("x-auth-token", "sk-of-a-client")
            .json(&json!({"model": alias, "input": "x", "prompt": "x"}));
            let before = up.count();
            gateway.send(request).await;
            assert_eq!(up.count(), before + 1, "{alias} {path}");
        }
    }
    let mut kept = 0;
    for request in up.requests() {
        let text = everything(&request);
        assert!(!text.contains("sk-of-a-client"), "{text}");
        kept +=
            usize::from(request.header("x-kept") == Some("yes") && request.line.contains("x=1"));
    }
    assert!(kept > 10, "what is no secret goes on: {kept}");
}

#[tokio::test]
async fn a_provider_without_a_kind_is_sent_what_the_client_sends() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let request = Request::post("/v1/chat/completions?access_token=a&key=b")
        .header("x-auth-token", "c")
        .json(&ask::body(Client::Chat, Feature::Text, false));
    gateway.send(request).await;
    let sent = up.request(0).await;
    assert_eq!(
        sent.line,
        "POST /v1/chat/completions?access_token=a&key=b HTTP/1.1"
    );
    assert_eq!(sent.header("x-auth-token"), Some("c"));
}

#[tokio::test]
async fn keys_of_one_provider_reach_no_other() {
    let (one, other) = (Upstream::start().await, Upstream::start().await);
    for first in Kind::ALL {
        for second in Kind::ALL {
            let mut providers = [first.provider(&one), second.provider(&other)];
            let [bad, good] = &mut providers;
            bad["headers"] = json!({"x-of-the-first": "sk-first-header"});
            if first == Kind::Bedrock {
                bad["aws"] = json!({"region": "us-east-1", "access_key_id": "AKFIRST", "secret_access_key": "sk-first",
                    "session_token": "sk-first-session"});
            } else {
                bad["onwards_key"] = "sk-first".into();
            }
            bad["extra_body"] = json!({"x_of_the_first": 1});
            good["name"] = "second".into();
            let gateway = Gateway::serve(json!({"m": {
                "strategy": "priority", "fallback": {"enabled": true, "on_status": [429, 5]}, "providers": providers,
            }}))
            .await;
            one.always(Reply::json(500, &json!({"error": {"message": "x"}})));
            for client in Client::ALL {
                let (before, asked) = (other.count(), one.count());
                other.reply(wire::whole(
                    second.wire(client),
                    &Say::to(Feature::Text, None),
                ));
                let answer = gateway
                    .send(ask::request(client, Feature::Text, false))
                    .await;
                assert_eq!(answer.status, 200, "{first:?} {second:?} {}", answer.text());
                assert_eq!(one.count(), asked + 1);
                let request = other.request(before).await;
                let text = everything(&request);
                for theirs in ["sk-first", "AKFIRST", "x-of-the-first", "x_of_the_first"] {
                    assert!(!text.contains(theirs), "{theirs} in {text}");
                }
                second.is_authorized(&request);
            }
        }
    }
}
