//! Chat completions, after the schemas `CreateChatCompletionResponse` and `CreateChatCompletionStreamResponse`.

use serde_json::{Value, json};

use super::tools::{self, Call};
use super::{Ask, Echo, data, done, pieces, text_of, tokens, usage};

/// What the assistant says.
enum Turn {
    Text(String),
    Call(Call),
}

pub(super) fn answer(ask: &Ask<'_>) -> Echo {
    let messages = ask
        .get("messages")
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let prompt: usize = messages
        .iter()
        .map(|message| tokens(&text_of(message.get("content").unwrap_or(&Value::Null))))
        .sum();
    let turn = turn(ask, messages);
    let completion = match &turn {
        Turn::Text(text) => tokens(text),
        Turn::Call(call) => tokens(&call.arguments) + tokens(&call.name),
    };
    if ask.streams() {
        stream(ask, &turn, usage(prompt, completion))
    } else {
        whole(ask, &turn, usage(prompt, completion))
    }
}

fn turn(ask: &Ask<'_>, messages: &[Value]) -> Turn {
    let content = |message: &Value| text_of(message.get("content").unwrap_or(&Value::Null));
    let is =
        |message: &Value, role: &str| message.get("role").and_then(Value::as_str) == Some(role);
    let last = messages.last();
    // A tool's result is echoed, not answered with the same call again.
    let said = last
        .filter(|last| is(last, "tool"))
        .or_else(|| messages.iter().rfind(|message| is(message, "user")))
        .map(content);
    let user_said = said
        .as_deref()
        .filter(|_| last.is_some_and(|last| is(last, "user")));
    let tools = ask
        .get("tools")
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| tool.get("function"));
    match tools::chosen(tools, ask.get("tool_choice"), user_said) {
        Some(call) => Turn::Call(call),
        None => Turn::Text(said.unwrap_or_default()),
    }
}

fn whole(ask: &Ask<'_>, turn: &Turn, usage: Value) -> Echo {
    let (message, finish) = match turn {
        Turn::Text(text) => (
            json!({"role": "assistant", "content": text, "refusal": null}),
            "stop",
        ),
        Turn::Call(Call { name, arguments }) => {
            let call = json!({"id": "call_echo", "type": "function", "function": {"name": name, "arguments": arguments}});
            (
                json!({"role": "assistant", "content": null, "refusal": null, "tool_calls": [call]}),
                "tool_calls",
            )
        }
    };
    Echo::json(json!({
        "id": "chatcmpl-echo",
        "object": "chat.completion",
        "created": ask.now,
        "model": ask.model(),
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish}],
        "usage": usage,
    }))
}

fn stream(ask: &Ask<'_>, turn: &Turn, usage: Value) -> Echo {
    let chunk = |choices: Value, usage: Option<Value>| {
        let mut chunk = json!({"id": "chatcmpl-echo", "object": "chat.completion.chunk", "created": ask.now, "model": ask.model(), "choices": choices});
        if let (Some(usage), Some(chunk)) = (usage, chunk.as_object_mut()) {
            chunk.insert("usage".to_owned(), usage);
        }
        data(&chunk)
    };
    // A client that asked for usage gets a null one with every chunk but the last.
    let none_yet = ask.wants_usage().then_some(Value::Null);
    let delta = |delta: Value, finish: Option<&str>| {
        chunk(
            json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]),
            none_yet.clone(),
        )
    };
    let mut events = Vec::new();
    match turn {
        Turn::Text(text) => {
            events.push(delta(
                json!({"role": "assistant", "content": "", "refusal": null}),
                None,
            ));
            events.extend(pieces(text).map(|piece| delta(json!({"content": piece}), None)));
            events.push(delta(json!({}), Some("stop")));
        }
        Turn::Call(Call { name, arguments }) => {
            let begin = json!({"index": 0, "id": "call_echo", "type": "function", "function": {"name": name, "arguments": ""}});
            events.push(delta(
                json!({"role": "assistant", "content": null, "tool_calls": [begin]}),
                None,
            ));
            events.extend(pieces(arguments).map(|piece| {
                delta(
                    json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}),
                    None,
                )
            }));
            events.push(delta(json!({}), Some("tool_calls")));
        }
    }
    if ask.wants_usage() {
        events.push(chunk(json!([]), Some(usage)));
    }
    events.push(done());
    Echo::events(events)
}
