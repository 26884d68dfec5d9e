//! Providers that fail: what the client is told, in its own protocol. A stream that has begun never ends as if
//! it were complete when it is not.

use std::time::Duration;

use onwards_tests::{End, Gateway, Launch, Reply, Step, Upstream, message};
use serde_json::{Value, json};

use super::ask::{self, Feature};
use super::told::{self, events, payloads};
use super::wire::{self, Say};
use super::{Client, KEY, Kind, Wire, serve, streams};

pub(crate) fn hello() -> Say {
    Say::to(Feature::Text, None)
}

/// The events of a stream up to the first half of its text.
pub(crate) fn beginning(wire: Wire) -> Vec<Vec<u8>> {
    let events = streams::events(wire, &hello());
    let says = |event: &Vec<u8>| String::from_utf8_lossy(event).contains("Hello");
    let end = events.iter().position(says).expect("a text");
    events.into_iter().take(end + 1).collect()
}

pub(crate) fn begun(wire: Wire) -> Reply {
    let events = beginning(wire).into_iter();
    events.fold(streams::head(wire), Reply::chunk)
}

/// An error within a stream, as such a provider tells it.
pub(crate) fn error_event(wire: Wire) -> Vec<u8> {
    let told = "all of it is busy";
    match wire {
        Wire::Chat => streams::sse(
            &json!({"error": {"message": told, "type": "overloaded_error", "param": null, "code": 529}}),
        ),
        Wire::Responses => streams::sse(&json!({
            "type": "error", "sequence_number": 2, "code": "server_error", "message": told, "param": null,
        })),
        Wire::Messages => streams::sse(&wire::error_body(wire, 529, told)),
        Wire::Gemini => streams::sse(&wire::error_body(wire, 503, told)),
        Wire::Converse => message(
            &[
                (":exception-type", "serviceUnavailableException"),
                (":content-type", "application/json"),
                (":message-type", "exception"),
            ],
            json!({"message": told}).to_string(),
        ),
    }
}

/// What a client got of a stream, whose body has to end well.
pub(crate) async fn streamed(gateway: &Gateway, client: Client) -> String {
    let mut conn = gateway
        .begin(ask::request(client, Feature::Text, true))
        .await;
    let head = conn.head().await;
    let (body, end) = conn.body(&head).await;
    let text = String::from_utf8(body).unwrap();
    assert_eq!((head.status, end), (200, End::Clean), "{text}");
    text
}

/// Holds that a stream has said `Hello` and then failed as the client's protocol tells it: with a code, and nothing that looks like
/// a complete answer. Gives the error's message.
pub(crate) fn failed(client: Client, text: &str, code: &str) -> String {
    let mut events = events(text);
    assert!(text.contains("Hello"), "{text}");
    if client == Client::Chat {
        assert_eq!(events.pop().unwrap().1, "[DONE]");
        assert!(!text.contains(r#""finish_reason":"stop""#), "{text}");
    }
    let payloads = payloads(&events);
    let last = payloads.last().unwrap();
    let message = match client {
        Client::Chat => {
            assert_eq!(last["error"]["code"], code, "{text}");
            assert!(last["error"]["type"].is_string() && last["error"]["request_id"].is_string());
            assert!(!text.contains(r#""usage":{"#), "{text}");
            &last["error"]["message"]
        }
        Client::Responses => {
            assert_eq!(
                (&last["type"], &last["response"]["status"]),
                (&json!("response.failed"), &json!("failed"))
            );
            assert_eq!(last["response"]["error"]["code"], code, "{text}");
            assert!(!text.contains("response.completed"), "{text}");
            &last["response"]["error"]["message"]
        }
        Client::Messages => {
            assert_eq!(events.last().unwrap().0, "error");
            assert_eq!(last["type"], "error");
            assert!(
                last["error"]["type"].is_string() && last["request_id"].is_string(),
                "{last}"
            );
            assert!(
                !text.contains("message_stop") && !text.contains("message_delta"),
                "{text}"
            );
            &last["error"]["message"]
        }
        Client::Gemini => {
            assert!(
                last["error"]["code"].is_u64() && last["error"]["status"].is_string(),
                "{last}"
            );
            assert!(!text.contains("finishReason"), "{text}");
            &last["error"]["message"]
        }
    };
    let message = message.as_str().unwrap_or_default();
    if matches!(client, Client::Messages | Client::Gemini) {
        let word = match client {
            Client::Messages => message.contains(&format!("[{code}]")),
            _ => last["error"]["details"][0]["reason"] == code,
        };
        assert!(word, "{code} in {last}");
    }
    message.to_owned()
}

/// Every kind, outside strict mode and in it, where streams in the client's own protocol are cleaned.
fn modes() -> impl Iterator<Item = (Kind, bool)> {
    let both = |kind| [(kind, false), (kind, true)];
    Kind::ALL.into_iter().flat_map(both)
}

async fn launch(strict: bool, provider: Value) -> Gateway {
    let config = json!({"strict_mode": strict, "targets": {"m": provider}});
    Launch::new(&config).start().await
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_told_as_an_error() {
    for (kind, strict) in modes() {
        let up = Upstream::start().await;
        let gateway = launch(strict, kind.provider(&up)).await;
        for client in Client::ALL {
            let begun = begun(kind.wire(client));
            for ending in [
                begun.clone().last_chunk(),
                begun.clone().then(Step::Close),
                begun.then(Step::Reset),
            ] {
                up.reply(ending);
                let text = streamed(&gateway, client).await;
                failed(client, &text, "provider_stream_aborted");
            }
        }
        gateway
            .metric_becomes("onwards_requests_inflight", &[], 0.0)
            .await;
    }
}

#[tokio::test]
async fn a_provider_that_falls_silent_is_told_as_an_error() {
    for (kind, strict) in modes() {
        let up = Upstream::start().await;
        let provider = kind.provider_with(&up, &json!({"idle_timeout_ms": 150}));
        let gateway = launch(strict, provider).await;
        for client in Client::ALL {
            up.reply(begun(kind.wire(client)).then(Step::Hang));
            let text = streamed(&gateway, client).await;
            failed(client, &text, "provider_stream_aborted");
            up.request(up.count() - 1).await.gone().await;
        }
    }
}

#[tokio::test]
async fn an_error_within_a_stream_is_told_in_the_clients_words() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let gateway = serve(kind, &up).await;
        for client in Client::ALL {
            let wire = kind.wire(client);
            up.reply(begun(wire).chunk(error_event(wire)).last_chunk());
            let text = streamed(&gateway, client).await;
            assert!(
                text.contains("all of it is busy"),
                "{client:?} {kind:?}: {text}"
            );
            let events = events(&text);
            if kind.speaks(client) && client != Client::Chat {
                // The provider's own words in the client's own protocol; nothing is put in their place.
                continue;
            }
            let word = match (kind, client) {
                (_, Client::Messages) => r#""type":"overloaded_error""#,
                (_, Client::Gemini) => r#""status":"UNAVAILABLE""#,
                (_, Client::Responses) => "response.failed",
                (Kind::Bedrock, _) => "service_unavailable",
                (Kind::Gemini, _) => "unavailable",
                _ => "overloaded_error",
            };
            assert!(text.contains(word), "{client:?} {kind:?}: {word} in {text}");
            let (name, last) = &events[events.len() - 1 - usize::from(client == Client::Chat)];
            assert!(last.contains("all of it is busy"), "{name}: {last}");
            assert!(
                !text.contains("message_stop") && !text.contains("finishReason"),
                "{text}"
            );
        }
    }
}

#[tokio::test]
async fn what_cannot_be_read_within_a_stream_is_told_as_an_error() {
    for (kind, strict) in modes() {
        let up = Upstream::start().await;
        let gateway = launch(strict, kind.provider(&up)).await;
        for client in Client::ALL {
            let wire = kind.wire(client);
            let garbage = match wire {
                Wire::Converse => {
                    let headers = [
                        (":event-type", "contentBlockDelta"),
                        (":message-type", "event"),
                    ];
                    message(&headers, "{\"contentBlockIndex\":0,")
                }
                Wire::Messages => b"event: content_block_delta\ndata: {\"type\":\n\n".to_vec(),
                _ => b"data: {\"choices\": [,]}\n\n".to_vec(),
            };
            up.reply(begun(wire).chunk(garbage).then(Step::Hang));
            let text = streamed(&gateway, client).await;
            failed(client, &text, "provider_malformed_response");
            up.request(up.count() - 1).await.gone().await;
        }
    }
}

#[tokio::test]
async fn a_message_of_bedrocks_that_is_cut_or_damaged_is_told_as_an_error() {
    let up = Upstream::start().await;
    let gateway = serve(Kind::Bedrock, &up).await;
    let next = streams::converse_event(
        "contentBlockDelta",
        &json!({"contentBlockIndex": 0, "delta": {"text": " there"}}),
    );
    for client in Client::ALL {
        for length in [1, 11, 12, 13, next.len() - 1] {
            up.reply(begun(Wire::Converse).chunk(&next[..length]).last_chunk());
            let text = streamed(&gateway, client).await;
            failed(client, &text, "provider_stream_aborted");
        }
        for byte in [2, 9, 20, next.len() - 1] {
            let mut damaged = next.clone();
            damaged[byte] ^= 1;
            up.reply(begun(Wire::Converse).chunk(damaged).then(Step::Hang));
            let mut conn = gateway
                .begin(ask::request(client, Feature::Text, true))
                .await;
            let head = conn.head().await;
            let (body, end) = conn.body(&head).await;
            let text = String::from_utf8(body).unwrap();
            assert_eq!(end, End::Clean);
            assert!(!text.contains(" there"), "{text}");
            assert!(text.contains("provider_"), "byte {byte}: {text}");
        }
    }
}

#[tokio::test]
async fn messages_of_bedrocks_may_be_cut_anywhere() {
    let up = Upstream::start().await;
    let gateway = serve(Kind::Bedrock, &up).await;
    let whole = streams::events(Wire::Converse, &Say::to(Feature::Reasoning, None)).concat();
    for size in [1, 7, 12, 100] {
        let pieces = whole.chunks(size);
        up.reply(
            pieces
                .fold(streams::head(Wire::Converse), Reply::chunk)
                .last_chunk(),
        );
        let answer = gateway
            .send(ask::request(Client::Chat, Feature::Text, true))
            .await;
        let told = told::stream(Client::Chat, &answer);
        assert_eq!(
            (told.text.as_str(), told.thought.as_str()),
            ("Hello there", "Let me see.")
        );
    }
}

/// The code of an error of the gateway's own.
pub(crate) fn code(client: Client, body: &Value) -> String {
    let message = body["error"]["message"].as_str().unwrap_or_default();
    match client {
        Client::Chat | Client::Responses => body["error"]["code"].as_str().map(ToOwned::to_owned),
        Client::Gemini => body["error"]["details"][0]["reason"]
            .as_str()
            .map(ToOwned::to_owned),
        Client::Messages => message
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
            .map(|(code, _)| code.to_owned()),
    }
    .unwrap_or_else(|| panic!("no code in {body}"))
}

#[tokio::test]
async fn a_provider_that_is_not_there_or_does_not_answer_is_told_apart() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let mut gone = kind.provider(&up);
        gone["url"] = "http://127.0.0.1:1".into();
        let slow = kind.provider_with(&up, &json!({"request_timeout_ms": 1000}));
        let gateway = Gateway::serve(json!({"m": gone, "slow": slow})).await;
        up.always(Reply::default().then(Step::Hang));
        for client in Client::ALL {
            let request = ask::request(client, Feature::Text, false);
            let answer = gateway.send(request.clone()).await;
            assert_eq!(answer.status, 502, "{}", answer.text());
            assert_eq!(code(client, &answer.json()), "provider_unreachable");
            let answer = gateway.send(request.header("model-override", "slow")).await;
            assert_eq!(answer.status, 504, "{}", answer.text());
            assert_eq!(code(client, &answer.json()), "provider_timeout");
            let text = answer.text();
            assert!(
                !text.contains(kind.model()) && !text.contains(KEY),
                "{text}"
            );
        }
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_the_providers_fault() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let gateway = serve(kind, &up).await;
        for client in Client::ALL {
            for body in ["{\"choices\": [", "[]", "{}", "\"text\""] {
                if kind.speaks(client) && body == "{}" {
                    continue; // what an answer holds is between a client and a provider that speak the same
                }
                up.reply(Reply::new(
                    200,
                    &[("content-type", "application/json")],
                    body,
                ));
                let answer = gateway
                    .send(ask::request(client, Feature::Text, false))
                    .await;
                assert_eq!(
                    answer.status,
                    502,
                    "{client:?} {kind:?} {body}: {}",
                    answer.text()
                );
                assert_eq!(code(client, &answer.json()), "provider_malformed_response");
            }
        }
    }
}

#[tokio::test]
async fn a_client_that_leaves_takes_the_providers_call_along() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let gateway = serve(kind, &up).await;
        for client in Client::ALL {
            let wire = kind.wire(client);
            for (reply, seen) in [
                (begun(wire).then(Step::Hang), "Hello"),
                (streams::head(wire).then(Step::Hang), ""),
                (Reply::default().then(Step::Hang), ""),
            ] {
                let number = up.count();
                up.reply(reply);
                let mut conn = gateway
                    .begin(ask::request(client, Feature::Text, true))
                    .await;
                let request = up.request(number).await;
                conn.until(seen.as_bytes()).await;
                drop(conn);
                request.gone().await;
            }
        }
        gateway
            .metric_becomes("onwards_requests_inflight", &[], 0.0)
            .await;
    }
}

#[tokio::test]
async fn events_leave_as_they_come() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let gateway = serve(kind, &up).await;
        for client in Client::ALL {
            let gate = onwards_tests::Gate::new();
            let wire = kind.wire(client);
            let rest = streams::events(wire, &hello()).split_off(beginning(wire).len());
            let rest = rest.into_iter().fold(begun(wire).wait(&gate), Reply::chunk);
            up.reply(rest.pause(Duration::from_millis(1)).last_chunk());
            let mut conn = gateway
                .begin(ask::request(client, Feature::Text, true))
                .await;
            let head = conn.head().await;
            assert_eq!(head.status, 200);
            conn.until(b"Hello").await;
            gate.open();
            conn.until(b"\r\n0\r\n\r\n").await;
        }
    }
}
