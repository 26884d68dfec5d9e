//! Where nothing has to be translated: clients and providers of the same dialect, `passthrough`, and providers without a kind. Bytes
//! stay as they are, but for the name of the model; what else the rules of Chat Completions say is in [`own`](super::own).

use onwards_tests::{Gateway, Launch, Reply, Request, Upstream};
use serde_json::{Value, json};

use super::ask::{self, Feature};
use super::wire::{self, Say};
use super::{Client, Kind, Wire, serve, streams, told};

/// Each protocol with the kinds that speak it.
const PAIRS: [(Client, Kind); 5] = [
    (Client::Chat, Kind::OpenAi),
    (Client::Chat, Kind::Azure),
    (Client::Responses, Kind::OpenAi),
    (Client::Messages, Kind::Anthropic),
    (Client::Gemini, Kind::Gemini),
];

/// A request that only its own protocol knows, spelled as nobody else would; `MODEL` stands for the model.
fn odd(client: Client) -> &'static str {
    match client {
        Client::Chat => {
            "{ \"model\" :\t\"MODEL\",\r\n \"messages\":[ {\"role\":\"user\",\"content\":\"\\u0041 \\/ \u{2028} \\ud83d\\ude00\"} ], \
             \"temperature\": 1.10, \"seed\": 123456789012345678901234567890, \"x_new\": {\"b\":1e2,\"a\":[ ]} , \"max_tokens\":5 }\n"
        }
        Client::Responses => {
            "{ \"model\" :\t\"MODEL\", \"input\":[ {\"type\":\"item_of_tomorrow\",\"x\":1.0} ,\"\\u0041\"], \
             \"tools\":[{\"type\":\"web_search\"}], \"previous_response_id\":\"resp_0\", \"temperature\": 1.10 }"
        }
        Client::Messages => {
            "{ \"max_tokens\" : 5e1, \"model\" :\t\"MODEL\", \"messages\":[ {\"role\":\"user\",\"content\":[ {\"type\":\"block_of_tomorrow\",\
             \"x\":1.0} ]} ], \"container\":\"c\", \"mcp_servers\":[ ], \"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}] }"
        }
        Client::Gemini => {
            "{ \"contents\":[ {\"parts\":[ {\"text\":\"\\u0041\",\"x\":1.0} ]} ], \"safety_settings\":[ ], \"cachedContent\":\"c\", \
             \"tools\":[{\"googleSearch\":{}}] , \"generationConfig\":{\"temperature\": 1.10} }"
        }
    }
}

fn post(client: Client, body: String) -> Request {
    let json = Request::post(client.path(false)).header("content-type", "application/json");
    json.body(body)
}

#[tokio::test]
async fn a_request_stays_as_it_is_but_for_the_model() {
    for (client, kind) in PAIRS {
        let up = Upstream::start().await;
        let gateway = serve(kind, &up).await;
        up.always(wire::whole(
            kind.wire(client),
            &Say::to(Feature::Text, None),
        ));
        let request = post(client, odd(client).replace("MODEL", "m"))
            .header("anthropic-version", "2023-06-01")
            .header("x-custom", "kept");
        let answer = gateway.send(request).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let sent = up.request(0).await;
        let sent_body = String::from_utf8_lossy(&sent.body);
        assert_eq!(
            sent_body,
            odd(client).replace("MODEL", kind.model()),
            "{kind:?}"
        );
        assert_eq!(sent.line, kind.line(client, false));
        assert_eq!(sent.header("x-custom"), Some("kept"));
        kind.is_authorized(&sent);
    }
}

#[tokio::test]
async fn an_answer_stays_as_it_is_but_for_the_model() {
    for (client, kind) in PAIRS {
        let up = Upstream::start().await;
        let gateway = serve(kind, &up).await;
        let name = if client == Client::Gemini {
            "modelVersion"
        } else {
            "model"
        };
        let theirs = format!(
            "{{ \"x_new\":1.10,\t\"{name}\" : \"vendor-model-0613\" , \"list\":[ 1e2,{{}} ],\"text\":\"\\u0041\\/\" ,\
             \"usage\":{{\"input_tokens\":12345678901234567890 }} }}\r\n"
        );
        up.always(Reply::new(
            200,
            &[("content-type", "application/json"), ("x-theirs", "1")],
            &theirs,
        ));
        let answer = gateway
            .send(ask::request(client, Feature::Text, false))
            .await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.text(), theirs.replace("vendor-model-0613", "m"));
        assert_eq!(answer.head.header("x-theirs"), Some("1"));
    }
}

#[tokio::test]
async fn a_stream_stays_as_it_is_but_for_the_model() {
    for (client, kind) in PAIRS {
        let up = Upstream::start().await;
        let gateway = serve(kind, &up).await;
        let events = streams::events(kind.wire(client), &Say::to(Feature::ParallelTools, None));
        let mut theirs = vec![b": a comment\n\n".to_vec()];
        theirs.extend(events);
        let unknown = match client {
            Client::Gemini | Client::Chat => "data: {\"x_new\" : 1.10}\n\n",
            _ => "event: of_tomorrow\ndata: {\"type\":\"of_tomorrow\", \"x\" : 1.10}\n\n",
        };
        theirs.insert(3, unknown.as_bytes().to_vec());
        let head = streams::head(kind.wire(client));
        up.reply(theirs.iter().fold(head, Reply::chunk).last_chunk());
        let answer = gateway
            .send(ask::request(client, Feature::ParallelTools, true))
            .await;
        let mut theirs = String::from_utf8(theirs.concat()).unwrap();
        if client == Client::Chat {
            // What its protocol has no chunk for, and what providers say to whoever waits.
            theirs = theirs
                .replace(unknown, "")
                .replace("a comment", "keep-alive");
        }
        assert_eq!(
            answer.text(),
            theirs.replace("\"vendor-model\"", "\"m\""),
            "{kind:?}"
        );
    }
}

#[tokio::test]
async fn only_what_the_operator_sets_is_added() {
    let up = Upstream::start().await;
    let extra = json!({"extra_body": {"provider": {"order": ["a"]}, "temperature": 0}});
    let gateway = Gateway::serve(json!({"m": Kind::OpenAi.provider_with(&up, &extra)})).await;
    let body = "{ \"model\":\"m\",\"messages\":[] , \"temperature\": 1.10, \"provider\":{\"only\": [ ]},\"stream\":true }";
    up.reply(streams::whole(
        super::Wire::Chat,
        &Say::to(Feature::Text, None),
    ));
    gateway.send(post(Client::Chat, body.to_owned())).await;
    let sent = up.request(0).await;
    let expected = json!({
        "model": "vendor-model", "messages": [], "temperature": 0, "provider": {"only": [], "order": ["a"]},
        "stream": true, "stream_options": {"include_usage": true},
    });
    assert_eq!(sent.json(), expected);
    assert!(
        String::from_utf8_lossy(&sent.body).contains("{\"only\": [ ]"),
        "what is not named stays"
    );
}

#[tokio::test]
async fn a_provider_that_refuses_stream_options_gets_none() {
    let up = Upstream::start().await;
    let provider = Kind::OpenAi.provider_with(&up, &json!({"stream_options": false}));
    let gateway = Gateway::serve(json!({"m": provider})).await;
    for client in [Client::Chat, Client::Messages] {
        up.reply(streams::whole(
            super::Wire::Chat,
            &Say::to(Feature::Text, None),
        ));
        let answer = gateway
            .send(ask::request(client, Feature::Text, true))
            .await;
        assert_eq!(told::stream(client, &answer).text, "Hello there");
        let sent = up.request(up.count() - 1).await;
        assert_eq!(sent.json().get("stream_options"), None);
    }
}

#[tokio::test]
async fn pass_through_changes_the_model_alone() {
    for kind in Kind::ALL {
        let up = Upstream::start().await;
        let provider = kind.provider_with(&up, &json!({"passthrough": true}));
        let gateway = Gateway::serve(json!({"m": provider})).await;
        for client in Client::ALL {
            let theirs = "{ \"model\" : \"vendor-model-0613\", \"modelVersion\":\"v\" }";
            up.always(Reply::new(
                201,
                &[
                    ("content-type", "application/json"),
                    ("retry-after", "3"),
                    ("x-theirs", "1"),
                ],
                theirs,
            ));
            let answer = gateway
                .send(post(client, odd(client).replace("MODEL", "m")))
                .await;
            assert_eq!(
                (answer.status, answer.text().as_str()),
                (201, theirs),
                "{kind:?} {client:?}"
            );
            assert_eq!(answer.head.header("retry-after"), Some("3"));
            let sent = up.request(up.count() - 1).await;
            assert_eq!(
                String::from_utf8_lossy(&sent.body),
                odd(client).replace("MODEL", kind.model()),
            );
            assert_eq!(sent.line, format!("POST {} HTTP/1.1", client.path(false)));
            kind.is_authorized(&sent);
        }
        up.always(streams::whole(
            super::Wire::Messages,
            &Say::to(Feature::Text, None),
        ));
        let events = streams::events(super::Wire::Messages, &Say::to(Feature::Text, None));
        let answer = gateway
            .send(ask::request(Client::Messages, Feature::Text, true))
            .await;
        assert_eq!(answer.body, events.concat());
    }
}

#[tokio::test]
async fn the_same_dialect_can_be_translated_too() {
    for (client, kind) in PAIRS {
        let up = Upstream::start().await;
        let config =
            json!({"ingress": {"same_dialect": "canonical"}, "targets": {"m": kind.provider(&up)}});
        let gateway = Launch::new(&config).start().await;
        let wire = match client {
            // There is only one way to say a request in the provider's dialect.
            Client::Responses => super::Wire::Chat,
            _ => kind.wire(client),
        };
        up.always(wire::whole(wire, &Say::to(Feature::Text, None)));
        let answer = gateway
            .send(ask::request(client, Feature::Text, false))
            .await;
        assert_eq!(
            told::whole(client, &answer).text,
            "Hello there",
            "{client:?}"
        );
        let sent = up.request(0).await;
        assert_eq!(
            super::asked::lines(wire, &sent)[..2],
            ["system: Be brief.", "user: Hi"]
        );
    }
}

#[tokio::test]
async fn providers_without_a_kind_are_served_as_before() {
    let up = Upstream::start().await;
    let target =
        json!({"url": up.url(), "onwards_key": super::KEY, "onwards_model": "vendor-model"});
    let gateway = Gateway::serve(json!({"m": target})).await;
    let theirs = "{ \"model\" : \"vendor-model\", \"error\":null}";
    up.always(Reply::new(
        404,
        &[
            ("content-type", "application/json"),
            ("x-request-id", "theirs"),
        ],
        theirs,
    ));
    for client in Client::ALL {
        let answer = gateway
            .send(post(client, odd(client).replace("MODEL", "m")))
            .await;
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (404, theirs),
            "{client:?}"
        );
        assert_eq!(answer.head.header("x-request-id"), Some("theirs"));
        let sent = up.request(up.count() - 1).await;
        assert_eq!(
            String::from_utf8_lossy(&sent.body),
            odd(client).replace("MODEL", "vendor-model"),
        );
        assert_eq!(sent.line, format!("POST {} HTTP/1.1", client.path(false)));
        Kind::OpenAi.is_authorized(&sent);
    }
    let body: Value = json!({"model": "m", "input": "x"});
    gateway
        .send(Request::post("/v1/anything").json(&body))
        .await;
    assert_eq!(
        up.request(up.count() - 1).await.line,
        "POST /v1/anything HTTP/1.1"
    );
}

#[tokio::test]
async fn what_the_operator_says_of_thoughts_holds_in_the_same_dialect_too() {
    for (client, kind) in PAIRS {
        for (shown, strict) in [
            ("full", false),
            ("text", false),
            ("none", false),
            ("none", true),
        ] {
            let up = Upstream::start().await;
            let provider = kind.provider_with(&up, &json!({"expose_reasoning": shown}));
            let config = json!({"strict_mode": strict, "targets": {"m": provider}});
            let gateway = Launch::new(&config).start().await;
            let say = Say::to(Feature::Reasoning, None);
            up.answer(move |request| {
                let wire = if request.line.contains("/responses") {
                    Wire::Responses
                } else {
                    kind.wire(Client::Messages)
                };
                wire::whole(wire, &say)
            });
            let request = ask::request(client, Feature::Reasoning, false);
            let answer = gateway.send(request).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            let thought = told::whole(client, &answer).thought;
            let hidden = shown == "none" || (shown, client) == ("text", Client::Messages); // unsigned there
            let expected = if hidden { "" } else { "Let me see." };
            assert_eq!(thought, expected, "{client:?} {kind:?} {shown}");
        }
    }
}

#[tokio::test]
async fn what_the_operator_says_of_pictures_and_limits_holds_in_the_same_dialect_too() {
    let up = Upstream::start().await;
    up.always(wire::whole(Wire::Chat, &Say::to(Feature::Text, None)));
    let refuses = Kind::OpenAi.provider_with(&up, &json!({"image_urls": "reject"}));
    let renames = Kind::OpenAi.provider_with(&up, &json!({"max_tokens_field": "max_tokens"}));
    let gateway = Launch::targets(&json!({"refuses": refuses, "renames": renames}))
        .start()
        .await;
    let mut body = json!({"model": "refuses", "messages": [{"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": "https://pictures.test/a.png"}},
    ]}]});
    let answer = gateway.send(Request::chat_with(&body)).await;
    assert_eq!(
        (answer.status, answer.code()),
        (400, json!("unsupported_content"))
    );
    assert_eq!(up.count(), 0);
    body["model"] = "renames".into();
    body["max_completion_tokens"] = 7.into();
    body["x_new"] = json!({"b": 1, "a": 2});
    assert_eq!(gateway.send(Request::chat_with(&body)).await.status, 200);
    let sent = up.request(0).await.json();
    assert_eq!(sent["max_tokens"], 7);
    assert_eq!(sent.get("max_completion_tokens"), None);
    assert_eq!(sent["x_new"], body["x_new"]);
    assert_eq!(sent["messages"], body["messages"]);
}
