//! Answers with a 2xx that are none, and streams that are cut within an event, of providers that speak the client's protocol and of
//! others: nothing of them is shown, somebody else is asked, and the client is told in its own protocol.

use onwards_tests::{Gateway, Launch, Reply, Request, Step, Upstream};
use serde_json::{Value, json};

use super::ask::{self, Feature};
use super::faults::{beginning, begun, code, failed, hello, streamed};
use super::{Client, KEY, Kind, Wire, serve, streams, told, wire};

const JSON: (&str, &str) = ("content-type", "application/json");

/// A gateway with the bad provider alone, and one with a good one behind it.
async fn gateways(kind: Kind, strict: bool, bad: &Upstream, good: &Upstream) -> [Gateway; 2] {
    let pair = json!({
        "strategy": "priority", "fallback": {"enabled": true, "on_status": [429, 5]},
        "providers": [kind.provider(bad), kind.provider(good)],
    });
    let config = |target| json!({"strict_mode": strict, "targets": {"m": target}});
    let (alone, paired) = (config(kind.provider(bad)), config(pair));
    [
        Launch::new(&alone).start().await,
        Launch::new(&paired).start().await,
    ]
}

/// Sends a request twice: to the bad provider alone, whose client is told `status` and `expected`, and with a good one behind it.
async fn refused(
    [alone, paired]: &[Gateway; 2],
    (bad, good): (&Upstream, &Upstream),
    (client, kind): (Client, Kind),
    stream: bool,
    reply: &Reply,
    (status, expected): (u16, Option<&str>),
) -> Value {
    bad.reply(reply.clone());
    let request = ask::request(client, Feature::Text, stream);
    let answer = alone.send(request.clone()).await;
    let text = answer.text();
    assert_eq!(
        answer.status, status,
        "{client:?} {kind:?} {stream}: {text}"
    );
    assert_eq!(answer.head.header("content-type"), Some("application/json"));
    if let Some(expected) = expected {
        assert_eq!(
            code(client, &answer.json()),
            expected,
            "{client:?} {kind:?}"
        );
    }
    for hidden in [KEY, "vendor-model", "<html>"] {
        assert!(!text.contains(hidden), "{client:?} {kind:?}: {text}");
    }
    bad.reply(reply.clone());
    let wire = kind.wire(client);
    good.reply(if stream {
        streams::whole(wire, &hello())
    } else {
        wire::whole(wire, &hello())
    });
    let other = paired.send(request).await;
    let heard = if stream {
        told::stream(client, &other)
    } else {
        told::whole(client, &other)
    };
    assert_eq!(heard.text, "Hello there", "{client:?} {kind:?}");
    answer.json()
}

#[tokio::test]
async fn what_is_no_answer_is_not_handed_on() {
    for kind in Kind::ALL {
        for strict in [false, true] {
            let (bad, good) = (Upstream::start().await, Upstream::start().await);
            let gateways = gateways(kind, strict, &bad, &good).await;
            for client in Client::ALL {
                for reply in [
                    Reply::new(200, &[("content-type", "text/html")], "<html>vendor-model"),
                    Reply::new(200, &[JSON], "<html>vendor-model"),
                    Reply::new(200, &[JSON], "{\"model\":\"vendor-model\""),
                    Reply::new(200, &[JSON], "[]"),
                    Reply::new(200, &[JSON], b"{\"model\":\"vendor-model\xff\"}".as_slice()),
                    Reply::new(200, &[JSON], ""),
                    Reply::new(200, &[], ""),
                    Reply::default().send("HTTP/1.1 204 No Content\r\n\r\n"),
                    Reply::default()
                        .send("HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\n\r\n"),
                ] {
                    let (ups, pair) = ((&bad, &good), (client, kind));
                    let expected = (502, Some("provider_malformed_response"));
                    refused(&gateways, ups, pair, false, &reply, expected).await;
                }
            }
        }
    }
}

#[tokio::test]
async fn an_error_in_the_place_of_an_answer_is_one() {
    for kind in Kind::ALL {
        for strict in [false, true] {
            let (bad, good) = (Upstream::start().await, Upstream::start().await);
            let gateways = gateways(kind, strict, &bad, &good).await;
            for client in Client::ALL {
                let wire = kind.wire(client);
                if wire == Wire::Converse {
                    continue;
                }
                let status = if wire == Wire::Messages { 529 } else { 503 };
                let body = match wire {
                    Wire::Chat | Wire::Responses => {
                        json!({"error": {"message": "vendor-model is away", "type": "overloaded_error", "code": 503}})
                    }
                    _ => wire::error_body(wire, status, "vendor-model is away"),
                };
                let reply = Reply::new(200, &[JSON], body.to_string());
                for stream in [false, true] {
                    if stream && wire == Wire::Gemini {
                        continue; // there it is an event
                    }
                    let (ups, pair) = ((&bad, &good), (client, kind));
                    let told = refused(&gateways, ups, pair, stream, &reply, (status, None)).await;
                    let message = told["error"]["message"].as_str().unwrap();
                    assert_eq!(message.contains("m is away"), !strict, "{told}");
                }
            }
        }
    }
}

#[tokio::test]
async fn json_is_read_whatever_it_is_called() {
    for kind in [Kind::OpenAi, Kind::Azure, Kind::Anthropic, Kind::Gemini] {
        let up = Upstream::start().await;
        let gateway = serve(kind, &up).await;
        for client in Client::ALL {
            let theirs = wire::body(kind.wire(client), &hello()).to_string();
            for content in [&[][..], &[("content-type", "text/plain")][..]] {
                up.reply(Reply::new(200, content, theirs.clone()));
                let answer = gateway
                    .send(ask::request(client, Feature::Text, false))
                    .await;
                assert_eq!(told::whole(client, &answer).text, "Hello there");
                assert!(!answer.text().contains("vendor-model"), "{}", answer.text());
                assert_eq!(answer.head.header("content-type"), Some("application/json"));
            }
        }
    }
}

#[tokio::test]
async fn a_status_that_no_answer_has_is_not_handed_on() {
    for kind in Kind::ALL {
        for strict in [false, true] {
            let (bad, good) = (Upstream::start().await, Upstream::start().await);
            let gateways = gateways(kind, strict, &bad, &good).await;
            for client in Client::ALL {
                for head in [
                    "101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade",
                    "302 Found\r\nlocation: http://vendor-model/\r\ncontent-length: 0",
                    "304 Not Modified",
                    "307 Temporary Redirect\r\nlocation: /else\r\ncontent-type: text/html\r\ncontent-length: 6",
                ] {
                    let reply = Reply::default().send(format!("HTTP/1.1 {head}\r\n\r\n"));
                    let reply = if head.ends_with('6') {
                        reply.send("<html>")
                    } else {
                        reply
                    };
                    let (ups, pair) = ((&bad, &good), (client, kind));
                    let expected = (502, Some("provider_malformed_response"));
                    for stream in [false, true] {
                        refused(&gateways, ups, pair, stream, &reply, expected).await;
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn half_an_event_is_not_sent() {
    for kind in [Kind::OpenAi, Kind::Azure, Kind::Anthropic, Kind::Gemini] {
        for strict in [false, true] {
            let (bad, good) = (Upstream::start().await, Upstream::start().await);
            let gateways = gateways(kind, strict, &bad, &good).await;
            for client in Client::ALL {
                let wire = kind.wire(client);
                let events = streams::events(wire, &hello());
                let next = &events[beginning(wire).len()];
                let data = next.windows(6).position(|six| six == b"data: ").unwrap();
                for cut in [3, data, data + 6, data + 9, next.len() - 3] {
                    bad.reply(begun(wire).chunk(&next[..cut]).last_chunk());
                    let text = streamed(&gateways[0], client).await;
                    failed(client, &text, "provider_stream_aborted");
                    let names = text.matches("event: ").count();
                    assert!(names <= text.matches("data: ").count(), "{text}");
                }
                // Whole but for its blank line.
                let whole = &next[..next.len() - 2];
                bad.reply(begun(wire).chunk(whole).last_chunk());
                let text = streamed(&gateways[0], client).await;
                let whole = String::from_utf8_lossy(whole).replace("vendor-model", "m");
                if kind.speaks(client) && !strict {
                    assert!(text.contains(&format!("{whole}\n\n")), "{text}");
                }
                assert_eq!(told::events(&text).len(), text.matches("data: ").count());
                // In the first event there is nothing to be sent behind.
                let first = &events[0];
                for cut in [0, 3, first.len() / 2, first.len() - 3] {
                    let reply = streams::head(wire).chunk(&first[..cut]).last_chunk();
                    let reply = if cut == 0 {
                        streams::head(wire).last_chunk()
                    } else {
                        reply
                    };
                    let (ups, pair) = ((&bad, &good), (client, kind));
                    let expected = (502, Some("provider_malformed_response"));
                    refused(&gateways, ups, pair, true, &reply, expected).await;
                }
            }
        }
    }
}

#[tokio::test]
async fn an_event_that_is_not_utf8_is_not_shown() {
    for kind in [Kind::OpenAi, Kind::Azure, Kind::Anthropic, Kind::Gemini] {
        for strict in [false, true] {
            let (bad, good) = (Upstream::start().await, Upstream::start().await);
            let gateways = gateways(kind, strict, &bad, &good).await;
            for client in Client::ALL {
                let wire = kind.wire(client);
                let spoil = |event: &[u8], word: &str| {
                    let at = event
                        .windows(word.len())
                        .position(|part| part == word.as_bytes());
                    let mut event = event.to_vec();
                    event[at.unwrap() + 1] = 0xff;
                    event
                };
                let events = streams::events(wire, &hello());
                let next = events
                    .iter()
                    .rfind(|event| String::from_utf8_lossy(event).contains(" there"));
                let bad_one = spoil(next.unwrap(), " there");
                bad.reply(begun(wire).chunk(bad_one).then(Step::Hang));
                let text = streamed(&gateways[0], client).await;
                failed(client, &text, "provider_malformed_response");
                let first = spoil(&events[0], "vendor-model");
                let reply = streams::head(wire).chunk(first).then(Step::Hang);
                let (ups, pair) = ((&bad, &good), (client, kind));
                let expected = (502, Some("provider_malformed_response"));
                refused(&gateways, ups, pair, true, &reply, expected).await;
            }
        }
    }
}

#[tokio::test]
async fn numbers_of_tokens_are_numbers() {
    let up = Upstream::start().await;
    for (client, kind, path, name) in [
        (
            Client::Messages,
            Kind::Anthropic,
            "/v1/messages/count_tokens",
            "input_tokens",
        ),
        (
            Client::Gemini,
            Kind::Gemini,
            "/v1beta/models/m:countTokens",
            "totalTokens",
        ),
        (
            Client::Messages,
            Kind::Gemini,
            "/v1/messages/count_tokens",
            "totalTokens",
        ),
    ] {
        let gateway = serve(kind, &up).await;
        let request = || Request::post(path).json(&ask::body(client, Feature::Text, false));
        for number in ["-7", "\"7\"", "null", "1.5"] {
            let body = format!("{{\"{name}\":{number}}}");
            up.reply(Reply::new(200, &[JSON], body));
            let answer = gateway.send(request()).await;
            assert_eq!(answer.status, 502, "{}", answer.text());
            assert_eq!(code(client, &answer.json()), "provider_malformed_response");
        }
        up.reply(Reply::new(200, &[JSON], format!("{{ \"{name}\":7}}")));
        let answer = gateway.send(request()).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let own = if client == Client::Gemini {
            "totalTokens"
        } else {
            "input_tokens"
        };
        assert_eq!(answer.json()[own], 7);
    }
}

#[tokio::test]
async fn escapes_hide_nothing_of_an_error() {
    let hidden = "\\u0076endor\\u002dmodel sk-of\\u002dthe-provider";
    for (client, kind) in [
        (Client::Chat, Kind::OpenAi),
        (Client::Responses, Kind::OpenAi),
        (Client::Messages, Kind::Anthropic),
        (Client::Gemini, Kind::Gemini),
    ] {
        let up = Upstream::start().await;
        let gateway = serve(kind, &up).await;
        let wire = kind.wire(client);
        let mut body = wire::error_body(wire, 400, "HIDDEN");
        body["error"]["x_list"] = json!(["HIDDEN", "say \"a\\b\""]);
        let body = body.to_string().replace("HIDDEN", hidden);
        up.reply(Reply::new(400, &[JSON], body.clone()));
        let answer = gateway
            .send(ask::request(client, Feature::Text, false))
            .await;
        assert_eq!(answer.status, 400);
        let expected = body.replace(hidden, "m [REDACTED]");
        assert_eq!(answer.text(), expected);
        if client != Client::Chat {
            let event = String::from_utf8(super::faults::error_event(wire)).unwrap();
            let event = event.replace("all of it is busy", hidden);
            up.reply(begun(wire).chunk(event.clone()).last_chunk());
            let text = streamed(&gateway, client).await;
            let expected = event.replace(hidden, "m [REDACTED]");
            assert!(text.contains(&expected), "{text}");
        }
    }
}

#[tokio::test]
async fn an_answer_of_responses_that_has_failed_says_so_itself() {
    let (bad, good) = (Upstream::start().await, Upstream::start().await);
    let [alone, paired] = gateways(Kind::OpenAi, false, &bad, &good).await;
    let theirs = "{\"id\":\"resp_1\", \"object\":\"response\",\"status\":\"failed\",\"model\":\"vendor-model\",\"output\":[],\
                  \"error\":{\"code\":\"server_error\",\"message\":\"vendor\\u002dmodel is away\"}}";
    bad.always(Reply::new(200, &[JSON], theirs));
    let request = ask::request(Client::Responses, Feature::Text, false);
    let answer = alone.send(request.clone()).await;
    let expected = theirs
        .replace("vendor\\u002dmodel", "m")
        .replace("vendor-model", "m");
    assert_eq!((answer.status, answer.text()), (200, expected));
    good.reply(wire::whole(Wire::Responses, &hello()));
    let answer = paired.send(request).await;
    assert_eq!(told::whole(Client::Responses, &answer).text, "Hello there");
}
