//! What models thought before they called a tool, which some of them want back: clients that do not return it are helped out, and
//! nobody gets another's.

use onwards_tests::{Gateway, Launch, Request, Upstream};
use serde_json::{Value, json};

use super::wire::{self, Say};
use super::{Kind, Wire, ask, streams};

/// The alias is open to two clients.
async fn gateway(kind: Kind, up: &Upstream, state: &Value) -> Gateway {
    let provider = kind.provider_with(up, &json!({"keys": ["sk-one", "sk-other"]}));
    Launch::new(&json!({"reasoning_state": state, "targets": {"m": provider}}))
        .start()
        .await
}

fn asks(stream: bool) -> Value {
    json!({
        "model": "m", "stream": stream, "reasoning_effort": "low", "max_tokens": 9000,
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"type": "function", "function": {"name": "weather", "parameters": ask::place()}}],
    })
}

/// The next turn of a client that returns calls and results and nothing else.
fn goes_on(stream: bool) -> Value {
    let mut body = asks(stream);
    let call = json!({"id": "toolu_1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Bergen\"}"}});
    let turns = body["messages"].as_array_mut().unwrap();
    turns.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    turns.push(json!({"role": "tool", "tool_call_id": "toolu_1", "content": "4 degrees"}));
    body
}

fn post(body: &Value, key: &str) -> Request {
    Request::post("/v1/chat/completions").json(body).bearer(key)
}

/// A call after a thought, signed as the kind does.
fn answer(kind: Kind, stream: bool) -> onwards_tests::Reply {
    let mut say = Say::to(ask::Feature::Tools, None);
    let wire = kind.wire(super::Client::Chat);
    if kind != Kind::Gemini {
        say.thought = Some("Let me see.");
        return if stream {
            streams::whole(wire, &say)
        } else {
            wire::whole(wire, &say)
        };
    }
    let mut body = wire::body(wire, &say);
    body["candidates"][0]["content"]["parts"][0]["thoughtSignature"] = "c2lnbmVk".into();
    if stream {
        return streams::head(wire).chunk(streams::sse(&body)).last_chunk();
    }
    onwards_tests::Reply::json(200, &body)
}

/// What comes before the call in a request, or is said with it, of the model's state.
fn state_sent(kind: Kind, body: &Value) -> Value {
    match kind {
        Kind::Anthropic => body["messages"][1]["content"][0]["signature"].clone(),
        Kind::Gemini => body["contents"][1]["parts"][0]["thoughtSignature"].clone(),
        _ => body["messages"][1]["content"][0]["reasoningContent"]["reasoningText"]["signature"]
            .clone(),
    }
}

#[tokio::test]
async fn thoughts_come_back_for_clients_that_do_not_return_them() {
    for kind in [Kind::Anthropic, Kind::Gemini, Kind::Bedrock] {
        for stream in [false, true] {
            let up = Upstream::start().await;
            let gateway = gateway(kind, &up, &json!({})).await;
            up.reply(answer(kind, stream));
            assert_eq!(
                gateway.send(post(&asks(stream), "sk-one")).await.status,
                200
            );
            up.reply(answer(kind, stream));
            let told = gateway.send(post(&goes_on(stream), "sk-one")).await;
            assert_eq!(told.status, 200, "{}", told.text());
            assert_eq!(
                told.head.header("x-onwards-dropped-params"),
                None,
                "{kind:?}"
            );
            let sent = up.request(1).await.json();
            assert_eq!(
                state_sent(kind, &sent),
                "c2lnbmVk",
                "{kind:?} {stream}: {sent}"
            );
        }
    }
}

#[tokio::test]
async fn nobody_gets_anothers_thoughts() {
    for kind in [Kind::Anthropic, Kind::Gemini, Kind::Bedrock] {
        for (state, key) in [
            (json!({}), "sk-other"),
            (json!({"enabled": false}), "sk-one"),
        ] {
            let up = Upstream::start().await;
            let gateway = gateway(kind, &up, &state).await;
            up.reply(answer(kind, false));
            assert_eq!(gateway.send(post(&asks(false), "sk-one")).await.status, 200);
            up.reply(answer(kind, false));
            let told = gateway.send(post(&goes_on(false), key)).await;
            let lost = told.head.header("x-onwards-dropped-params");
            let sent = up.request(1).await.json();
            assert!(!sent.to_string().contains("c2lnbmVk"), "{kind:?}: {sent}");
            if kind == Kind::Gemini {
                assert_eq!(state_sent(kind, &sent), "skip_thought_signature_validator");
                assert_eq!(lost, Some("thought_signature"));
            } else {
                assert!(
                    !sent.to_string().contains("budget_tokens"),
                    "thinking is off: {sent}"
                );
                assert_eq!(lost, Some("reasoning(signature_missing)"));
            }
        }
    }
}

/// A turn of calls with these ids, in the words of a client, without any signature.
fn calls_of(ids: &[&str]) -> Value {
    let mut body = asks(false);
    let call = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "weather", "arguments": "{}"}});
    let calls: Vec<Value> = ids.iter().map(call).collect();
    let turns = body["messages"].as_array_mut().unwrap();
    turns.push(json!({"role": "assistant", "content": null, "tool_calls": calls}));
    for id in ids.iter().rev() {
        turns.push(json!({"role": "tool", "tool_call_id": id, "content": format!("of {id}")}));
    }
    body
}

#[tokio::test]
async fn ids_of_calls_go_back_to_who_has_given_them() {
    let up = Upstream::start().await;
    let gateway = gateway(Kind::Gemini, &up, &json!({})).await;
    let mut given = wire::body(Wire::Gemini, &Say::to(ask::Feature::Text, None));
    given["candidates"][0]["content"]["parts"] = json!([
        {"functionCall": {"id": "x1", "name": "weather", "args": {}}, "thoughtSignature": "c2lnbmVk"},
        {"functionCall": {"id": "x2", "name": "weather", "args": {}}},
    ]);
    up.reply(onwards_tests::Reply::json(200, &given));
    let told = gateway.send(post(&asks(false), "sk-one")).await.json();
    let calls = &told["choices"][0]["message"]["tool_calls"];
    assert_eq!(
        (&calls[0]["id"], &calls[1]["id"]),
        (&json!("x1"), &json!("x2"))
    );
    up.always(onwards_tests::Reply::json(200, &given));
    for (at, (ids, sent)) in [
        (["x1", "x2"], ["x1", "x2"]),
        (["a1", "a2"], ["", ""]),
        (["toolu_1", "toolu_2"], ["", ""]),
        (["call_1", "call_2"], ["", ""]),
    ]
    .into_iter()
    .enumerate()
    {
        gateway.send(post(&calls_of(&ids), "sk-one")).await;
        let request = up.request(at + 1).await.json();
        let id = |part: &Value| part["id"].as_str().unwrap_or_default().to_owned();
        let calls = [0, 1].map(|at| id(&request["contents"][1]["parts"][at]["functionCall"]));
        assert_eq!(calls, sent);
        let results = [0, 1].map(|at| &request["contents"][2]["parts"][at]["functionResponse"]);
        for result in results {
            let said = result["response"]["result"].as_str().unwrap();
            let of = ids
                .iter()
                .position(|id| said == format!("of {id}"))
                .unwrap();
            assert_eq!(id(result), sent[of], "{request}");
        }
        if sent[0].is_empty() {
            assert_eq!(results[0]["response"]["result"], format!("of {}", ids[0]));
        }
    }
}

#[tokio::test]
async fn several_candidates_reach_clients_of_chat() {
    let up = Upstream::start().await;
    let gateway = super::serve(Kind::Gemini, &up).await;
    let mut body = wire::body(Wire::Gemini, &Say::to(ask::Feature::Text, None));
    let mut second = body["candidates"][0].clone();
    second["index"] = 1.into();
    second["content"]["parts"][0]["text"] = "Good day".into();
    body["candidates"].as_array_mut().unwrap().push(second);
    up.reply(onwards_tests::Reply::json(200, &body));
    let answer = gateway
        .send(Request::chat_with(&json!({"n": 2})))
        .await
        .json();
    assert_eq!(
        up.request(0).await.json()["generationConfig"]["candidateCount"],
        2
    );
    let texts: Vec<&Value> = (0..2)
        .map(|at| &answer["choices"][at]["message"]["content"])
        .collect();
    assert_eq!(texts, ["Hello there", "Good day"]);
}
