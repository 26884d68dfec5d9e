//! What other dialects have put into Chat Completions' messages: in strict mode it goes to no provider of a known kind.

use onwards_tests::{Launch, Request, Upstream};
use serde_json::{Value, json};

use super::wire::{self, Say};
use super::{Client, Kind, Wire, ask};

fn body() -> Value {
    json!({"model": "m", "x_new": 1, "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]},
        {"reasoning_content": "Hm.", "role": "assistant", "content": null,
            "thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}],
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"cache_control\": 1}"},
                "extra_content": {"google": {"thought_signature": "c2ln"}}}]},
        {"role": "tool", "tool_call_id": "a", "content": "x", "cache_control": {"type": "ephemeral"}},
    ]})
}

const FOREIGN: [&str; 3] = ["thinking_blocks", "extra_content", "reasoning_content"];

async fn sent(strict: bool, provider: &Value, up: &Upstream) -> (String, Option<String>) {
    let config = json!({"strict_mode": strict, "targets": {"m": provider}});
    let gateway = Launch::new(&config).start().await;
    let before = up.count();
    up.reply(wire::whole(Wire::Chat, &Say::to(ask::Feature::Text, None)));
    let request = Request::post(Client::Chat.path(false)).json(&body());
    let answer = gateway.send(request).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let told = answer.head.header("x-onwards-dropped-params");
    let request = up.request(before).await;
    let text = String::from_utf8_lossy(&request.body).into_owned();
    (text, told.map(str::to_owned))
}

#[tokio::test]
async fn strict_mode_sends_providers_of_chat_completions_nothing_foreign() {
    for kind in [Kind::OpenAi, Kind::Azure] {
        let up = Upstream::start().await;
        let (text, told) = sent(true, &kind.provider(&up), &up).await;
        for name in FOREIGN {
            assert!(!text.contains(name), "{name} in {text}");
        }
        let expected = json!({"model": kind.model(), "x_new": 1, "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"cache_control\": 1}"}}]},
            {"role": "tool", "tool_call_id": "a", "content": "x"},
        ]});
        let sent: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(sent, expected);
        let lost = "cache_control,extra_content,reasoning_content,thinking_blocks";
        assert_eq!(told.as_deref(), Some(lost));
    }
}

#[tokio::test]
async fn elsewhere_a_client_of_chat_completions_may_say_it() {
    let up = Upstream::start().await;
    let plain = json!({"url": up.url()});
    for (strict, provider) in [
        (false, Kind::OpenAi.provider(&up)),
        (false, Kind::Azure.provider(&up)),
        (false, plain.clone()),
        (true, plain),
    ] {
        let (text, told) = sent(strict, &provider, &up).await;
        let sent: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(sent["messages"], body()["messages"]);
        assert_eq!(told, None);
    }
}

#[tokio::test]
async fn an_operator_can_have_it_refused() {
    let up = Upstream::start().await;
    let provider = Kind::OpenAi.provider_with(&up, &json!({"on_unsupported": "reject"}));
    let gateway = Launch::strict(&json!({"m": provider})).start().await;
    let request = Request::post(Client::Chat.path(false)).json(&body());
    let answer = gateway.send(request).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json()["error"]["param"], "cache_control");
    assert_eq!(up.count(), 0);
}
