//! Responses, after the schemas `Response` and `ResponseStreamEvent`.

use serde_json::{Value, json};

use super::tools::{self, Call};
use super::{Ask, Echo, pieces, text_of, tokens};

/// The only item of the output.
enum Item {
    Message(String),
    Call(Call),
}

pub(super) fn answer(ask: &Ask<'_>) -> Echo {
    let item = item(ask);
    let used = Used {
        input: tokens(&ask.get("input").to_string()),
        output: item.tokens(),
    };
    if ask.streams() {
        return Echo::events(stream(ask, &item, &used));
    }
    Echo::json(response(
        ask,
        "completed",
        Some(item.whole("completed")),
        Some(&used),
    ))
}

struct Used {
    input: usize,
    output: usize,
}

fn item(ask: &Ask<'_>) -> Item {
    let (said, by_user) = match ask.get("input") {
        Value::String(text) => (text.clone(), true),
        Value::Array(items) => last_said(items),
        _ => (String::new(), false),
    };
    let tools = ask
        .get("tools")
        .as_array()
        .into_iter()
        .flatten()
        .filter(|tool| tool.get("name").is_some());
    match tools::chosen(tools, ask.get("tool_choice"), by_user.then_some(&said)) {
        Some(call) => Item::Call(call),
        None => Item::Message(said),
    }
}

/// A tool's output if that comes last, else the last user message; and whether it was the user who spoke last.
fn last_said(items: &[Value]) -> (String, bool) {
    let is_user = |item: &Value| item.get("role").and_then(Value::as_str) == Some("user");
    if let Some(output) = items.last().and_then(|item| item.get("output")) {
        return (text_of(output), false);
    }
    let said = items
        .iter()
        .rfind(|item| is_user(item))
        .and_then(|item| item.get("content"))
        .map(text_of);
    (said.unwrap_or_default(), items.last().is_some_and(is_user))
}

impl Item {
    fn tokens(&self) -> usize {
        match self {
            Self::Message(text) => tokens(text),
            Self::Call(call) => tokens(&call.name) + tokens(&call.arguments),
        }
    }

    const fn id(&self) -> &'static str {
        match self {
            Self::Message(_) => "msg_echo",
            Self::Call(_) => "fc_echo",
        }
    }

    fn whole(&self, status: &str) -> Value {
        match self {
            Self::Message(text) => self.message(status, &json!([part(text)])),
            Self::Call(call) => self.call(status, &call.name, &call.arguments),
        }
    }

    /// The item as a stream first shows it.
    fn begun(&self) -> Value {
        match self {
            Self::Message(_) => self.message("in_progress", &json!([])),
            Self::Call(call) => self.call("in_progress", &call.name, ""),
        }
    }

    fn message(&self, status: &str, content: &Value) -> Value {
        json!({"type": "message", "id": self.id(), "status": status, "role": "assistant", "content": content})
    }

    fn call(&self, status: &str, name: &str, arguments: &str) -> Value {
        json!({"type": "function_call", "id": self.id(), "call_id": "call_echo", "status": status, "name": name, "arguments": arguments})
    }
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

/// The response object; what the request set is repeated, as the API does.
fn response(ask: &Ask<'_>, status: &str, output: Option<Value>, used: Option<&Used>) -> Value {
    let or = |name: &str, default: Value| {
        if ask.get(name).is_null() {
            default
        } else {
            ask.get(name).clone()
        }
    };
    let usage = used.map(|Used { input, output }| {
        json!({
            "input_tokens": input,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": input + output,
        })
    });
    json!({
        "id": "resp_echo",
        "object": "response",
        "created_at": ask.now,
        "status": status,
        "error": null,
        "incomplete_details": null,
        "instructions": ask.get("instructions"),
        "max_output_tokens": ask.get("max_output_tokens"),
        "model": ask.model(),
        "output": output.into_iter().collect::<Vec<_>>(),
        "parallel_tool_calls": or("parallel_tool_calls", json!(true)),
        "previous_response_id": ask.get("previous_response_id"),
        "reasoning": or("reasoning", json!({"effort": null, "summary": null})),
        "store": or("store", json!(true)),
        "temperature": or("temperature", json!(1.0)),
        "text": or("text", json!({"format": {"type": "text"}})),
        "tool_choice": or("tool_choice", json!("auto")),
        "tools": or("tools", json!([])),
        "top_p": or("top_p", json!(1.0)),
        "truncation": or("truncation", json!("disabled")),
        "usage": usage,
        "metadata": or("metadata", json!({})),
    })
}

/// The events of a response with one item, numbered from 0.
fn stream(ask: &Ask<'_>, item: &Item, used: &Used) -> Vec<String> {
    let id = item.id();
    let mut payloads = vec![
        json!({"type": "response.created", "response": response(ask, "in_progress", None, None)}),
        json!({"type": "response.in_progress", "response": response(ask, "in_progress", None, None)}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item.begun()}),
    ];
    match item {
        Item::Message(text) => {
            let of = |kind: &str, name: &str, value: Value| {
                let mut event = json!({"type": kind, "item_id": id, "output_index": 0, "content_index": 0, name: value});
                if let (true, Some(event)) = (name != "part", event.as_object_mut()) {
                    event.insert("logprobs".to_owned(), json!([]));
                }
                event
            };
            payloads.push(of("response.content_part.added", "part", part("")));
            payloads.extend(
                pieces(text).map(|piece| of("response.output_text.delta", "delta", json!(piece))),
            );
            payloads.push(of("response.output_text.done", "text", json!(text)));
            payloads.push(of("response.content_part.done", "part", part(text)));
        }
        Item::Call(Call { name, arguments }) => {
            payloads.extend(pieces(arguments).map(|piece| {
                json!({"type": "response.function_call_arguments.delta", "item_id": id, "output_index": 0, "delta": piece})
            }));
            payloads.push(json!({
                "type": "response.function_call_arguments.done", "item_id": id, "name": name, "output_index": 0, "arguments": arguments,
            }));
        }
    }
    payloads.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item.whole("completed")}));
    payloads.push(json!({"type": "response.completed", "response": response(ask, "completed", Some(item.whole("completed")), Some(used))}));
    payloads
        .into_iter()
        .enumerate()
        .map(|(number, payload)| numbered(number, payload))
        .collect()
}

fn numbered(number: usize, mut payload: Value) -> String {
    if let Some(payload) = payload.as_object_mut() {
        payload.insert("sequence_number".to_owned(), json!(number));
    }
    let kind = payload
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    format!("event: {kind}\ndata: {payload}\n\n")
}
