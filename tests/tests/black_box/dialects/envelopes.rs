//! What the gateway itself says no to, in the words of each protocol, and in how many ways clients may show their key.

use onwards_tests::{Gateway, Launch, Request, Response, Upstream};
use serde_json::{Value, json};

use super::ask::{self, Feature};
use super::wire::{self, Say};
use super::{Client, Kind, streams, told};

/// Holds that a refusal is in the client's envelope: class, the gateway's code, and what a client needs to come back.
fn is_told(client: Client, answer: &Response, status: u16, code: &str) {
    let body = answer.json();
    let error = &body["error"];
    assert_eq!(answer.status, status, "{body}");
    assert_eq!(answer.head.header("content-type"), Some("application/json"));
    let id = answer.head.header("x-request-id").expect("an id");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.len() > 5, "{body}");
    let class = match (client, status) {
        (Client::Gemini, 400 | 413) => "INVALID_ARGUMENT",
        (Client::Gemini, 401) => "UNAUTHENTICATED",
        (Client::Gemini, 404) => "NOT_FOUND",
        (Client::Gemini, _) => "RESOURCE_EXHAUSTED",
        (Client::Messages, 401) => "authentication_error",
        (Client::Messages, 404) => "not_found_error",
        (Client::Messages, 413) => "request_too_large",
        (_, 429) => "rate_limit_error",
        _ => "invalid_request_error",
    };
    match client {
        Client::Messages => {
            assert_eq!(
                (&body["type"], &error["type"]),
                (&json!("error"), &json!(class)),
                "{body}"
            );
            assert_eq!(body["request_id"], id);
            assert!(message.starts_with(&format!("[{code}] ")), "{body}");
        }
        Client::Gemini => {
            assert_eq!(
                (&error["code"], &error["status"]),
                (&json!(status), &json!(class)),
                "{body}"
            );
            assert_eq!(error["details"][0]["reason"], code);
            assert_eq!(
                error["details"][0]["@type"],
                "type.googleapis.com/google.rpc.ErrorInfo"
            );
        }
        Client::Chat | Client::Responses => {
            assert_eq!(
                (&error["type"], &error["code"]),
                (&json!(class), &json!(code)),
                "{body}"
            );
        }
    }
}

#[tokio::test]
async fn refusals_are_in_the_clients_envelope() {
    let up = Upstream::start().await;
    let open = Kind::Bedrock.provider(&up);
    let closed = Kind::Bedrock.provider_with(&up, &json!({"keys": ["sk-client"]}));
    let limited = Kind::Bedrock.provider_with(
        &up,
        &json!({"rate_limit": {"requests_per_second": 0.001, "burst_size": 4}}),
    );
    let targets = json!({"m": open, "closed": closed, "limited": limited});
    let gateway = Launch::targets(&targets)
        .args(&["--body-limit", "5000"])
        .start()
        .await;
    up.always(wire::whole(
        super::Wire::Converse,
        &Say::to(Feature::Text, None),
    ));
    for client in Client::ALL {
        let request = || ask::request(client, Feature::Text, false);
        let of = |alias: &str| request().header("model-override", alias);
        is_told(
            client,
            &gateway.send(of("unknown")).await,
            404,
            "model_not_found",
        );
        is_told(
            client,
            &gateway.send(of("closed")).await,
            401,
            "unauthenticated",
        );
        is_told(
            client,
            &gateway.send(of("closed").bearer("sk-wrong")).await,
            401,
            "unauthenticated",
        );
        assert_eq!(gateway.send(of("limited")).await.status, 200);
        let large = Request::post(client.path(false)).body(vec![b' '; 6000]);
        is_told(client, &gateway.send(large).await, 413, "payload_too_large");
    }
    for client in Client::ALL {
        let request = ask::request(client, Feature::Text, false);
        let answer = gateway
            .send(request.header("model-override", "limited"))
            .await;
        is_told(client, &answer, 429, "rate_limit");
        let wait = answer
            .head
            .header("retry-after")
            .expect("when to come back");
        assert!(wait.parse::<u64>().unwrap() > 100, "{wait}");
    }
}

#[tokio::test]
async fn bodies_that_are_none_of_the_protocol_are_refused() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let gateway = super::serve(kind, &up).await;
        for client in Client::ALL {
            if kind.speaks(client) {
                continue; // The provider judges.
            }
            let post = |body: &str| {
                let request = Request::post(client.path(false)).header("model-override", "m");
                request
                    .header("content-type", "application/json")
                    .body(body)
            };
            for body in [
                "{",
                "[]",
                "{\"messages\": 1, \"input\": 1, \"contents\": 1}",
                "{}",
            ] {
                let answer = gateway.send(post(body)).await;
                let text = answer.text();
                assert_eq!(answer.status, 400, "{client:?} {kind:?} {body}: {text}");
                assert!(answer.json()["error"]["message"].is_string(), "{text}");
            }
        }
        assert_eq!(up.count(), 0);
    }
}

#[tokio::test]
async fn keys_are_taken_in_every_form() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let closed = kind.provider_with(&up, &json!({"keys": ["sk-client"]}));
        let gateway = Gateway::serve(json!({"m": closed})).await;
        for client in Client::ALL {
            up.always(wire::whole(
                kind.wire(client),
                &Say::to(Feature::Text, None),
            ));
            let request = || ask::request(client, Feature::Text, false);
            let key = "sk-client";
            let body = ask::body(client, Feature::Text, false);
            let path = client.path(false);
            let in_query = |key: &str| Request::post(&format!("{path}?key={key}")).json(&body);
            for good in [
                request().bearer(key),
                request().header("x-api-key", key),
                request().header("x-goog-api-key", key),
                in_query(key),
                request().bearer(key).header("x-api-key", key),
            ] {
                let answer = gateway.send(good).await;
                assert_eq!(answer.status, 200, "{client:?} {kind:?}: {}", answer.text());
            }
            let before = up.count();
            for bad in [
                request(),
                request().bearer("sk-other"),
                request().bearer(key).header("x-api-key", "sk-other"),
                request()
                    .header("x-api-key", key)
                    .header("x-goog-api-key", "sk-other"),
                in_query(key).bearer("sk-other"),
                in_query("sk-other"),
            ] {
                is_told(client, &gateway.send(bad).await, 401, "unauthenticated");
            }
            assert_eq!(up.count(), before);
        }
    }
}

#[tokio::test]
async fn protocols_can_be_switched_off() {
    let up = Upstream::start().await;
    let config = json!({
        "ingress": {"anthropic": false, "gemini": false, "responses": false},
        "targets": {"m": Kind::Anthropic.provider(&up)},
    });
    let gateway = Launch::new(&config).start().await;
    for client in [Client::Responses, Client::Messages, Client::Gemini] {
        let answer = gateway
            .send(ask::request(client, Feature::Text, false))
            .await;
        assert_eq!(answer.status, 404, "{client:?}: {}", answer.text());
    }
    assert_eq!(
        gateway.send(Request::get("/v1beta/models")).await.status,
        404
    );
    for header in ["anthropic-version", "x-goog-api-key"] {
        let list = gateway
            .send(Request::get("/v1/models").header(header, "x"))
            .await;
        assert_eq!(list.json()["object"], "list", "{header}: {}", list.text());
    }
    up.reply(wire::whole(
        super::Wire::Messages,
        &Say::to(Feature::Text, None),
    ));
    let answer = gateway
        .send(ask::request(Client::Chat, Feature::Text, false))
        .await;
    assert_eq!(answer.status, 200);
    assert_eq!(up.count(), 1);
}

#[tokio::test]
async fn gemini_streams_are_arrays_unless_events_are_asked_for() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let gateway = super::serve(kind, &up).await;
        let wire = kind.wire(Client::Gemini);
        if kind == Kind::Gemini {
            continue; // The provider's own answer is passed on.
        }
        let ask = |target: &str| {
            Request::post(target).json(&ask::body(Client::Gemini, Feature::Tools, true))
        };
        up.reply(streams::whole(wire, &Say::to(Feature::Tools, None)));
        let answer = gateway
            .send(ask("/v1beta/models/m:streamGenerateContent"))
            .await;
        assert_eq!(answer.head.header("content-type"), Some("application/json"));
        let chunks = answer.json();
        let chunks: &Vec<Value> = chunks.as_array().unwrap();
        let last = chunks.last().unwrap();
        assert_eq!(last["candidates"][0]["finishReason"], "STOP");
        assert!(last["usageMetadata"].is_object() && answer.text().contains("Bergen"));
        up.reply(streams::whole(wire, &Say::to(Feature::Tools, None)));
        let answer = gateway
            .send(ask("/v1/models/m:streamGenerateContent?alt=sse"))
            .await;
        assert_eq!(told::stream(Client::Gemini, &answer).calls[0].1, "weather");
        // An array that breaks off is still one, with the error in it.
        let mut events = streams::events(wire, &Say::to(Feature::Text, None));
        events.truncate(events.len() - 3);
        let head = streams::head(wire);
        up.reply(
            events
                .into_iter()
                .fold(head, onwards_tests::Reply::chunk)
                .last_chunk(),
        );
        let answer = gateway
            .send(ask("/v1beta/models/m:streamGenerateContent"))
            .await;
        let chunks = answer.json();
        assert!(
            chunks.as_array().unwrap().last().unwrap()["error"]["code"].is_u64(),
            "{chunks}"
        );
    }
}

#[tokio::test]
async fn an_array_of_geminis_is_read_like_a_stream() {
    let up = Upstream::start().await;
    let path = json!({"stream_path": "/v1beta/models/{model}:streamGenerateContent"});
    let gateway = Gateway::serve(json!({"m": Kind::Gemini.provider_with(&up, &path)})).await;
    let events = streams::events(super::Wire::Gemini, &Say::to(Feature::ParallelTools, None));
    let chunks: Vec<String> = events
        .iter()
        .map(|event| {
            String::from_utf8_lossy(event)
                .trim()
                .trim_start_matches("data: ")
                .to_owned()
        })
        .collect();
    let array = format!("[{}\n]\n", chunks.join("\n,\r\n"));
    for client in [Client::Chat, Client::Responses, Client::Messages] {
        for size in [1, 50, 100_000] {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=UTF-8\r\ntransfer-encoding: chunked\r\n\r\n";
            let reply = onwards_tests::Reply::default().send(head);
            up.reply(
                array
                    .as_bytes()
                    .chunks(size)
                    .fold(reply, onwards_tests::Reply::chunk)
                    .last_chunk(),
            );
            let answer = gateway
                .send(ask::request(client, Feature::ParallelTools, true))
                .await;
            assert_eq!(told::stream(client, &answer).calls.len(), 2, "{client:?}");
        }
    }
}
