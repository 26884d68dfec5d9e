//! What providers answer, on each wire: streams, event by event.

use onwards_tests::{Reply, message};
use serde_json::{Value, json};

use super::Wire;
use super::wire::{Say, items};

/// One piece of a stream as it goes over the wire.
pub(crate) type Event = Vec<u8>;

/// The head of a stream; events follow as chunks.
pub(crate) fn head(wire: Wire) -> Reply {
    if wire != Wire::Converse {
        return Reply::stream();
    }
    Reply::default().send(
        "HTTP/1.1 200 Scripted\r\ncontent-type: application/vnd.amazon.eventstream\r\ntransfer-encoding: chunked\r\n\r\n",
    )
}

/// A whole stream.
pub(crate) fn whole(wire: Wire, say: &Say) -> Reply {
    events(wire, say)
        .into_iter()
        .fold(head(wire), Reply::chunk)
        .last_chunk()
}

/// All events of a stream.
pub(crate) fn events(wire: Wire, say: &Say) -> Vec<Event> {
    match wire {
        Wire::Chat => chat(say),
        Wire::Responses => responses(say),
        Wire::Messages => messages(say),
        Wire::Gemini => gemini(say),
        Wire::Converse => converse(say),
    }
}

/// An event of an event stream, named if it has a type.
pub(crate) fn sse(data: &Value) -> Event {
    match data["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {data}\n\n").into_bytes(),
        None => format!("data: {data}\n\n").into_bytes(),
    }
}

/// A message of Converse.
pub(crate) fn converse_event(name: &str, payload: &Value) -> Event {
    let headers = [
        (":event-type", name),
        (":content-type", "application/json"),
        (":message-type", "event"),
    ];
    message(&headers, payload.to_string())
}

/// A text in two.
fn halves(text: &str) -> [String; 2] {
    let (one, other) = text.split_at(text.len() / 2);
    [one.to_owned(), other.to_owned()]
}

/// Calls come in pieces that take turns.
fn chat(say: &Say) -> Vec<Event> {
    let chunk = |delta: Value, finish: Value| {
        sse(&json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "vendor-model",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }))
    };
    let mut events = vec![chunk(
        json!({"role": "assistant", "content": ""}),
        Value::Null,
    )];
    for half in say.thought.map(halves).into_iter().flatten() {
        events.push(chunk(json!({"reasoning_content": half}), Value::Null));
    }
    for half in say.text.map(halves).into_iter().flatten() {
        events.push(chunk(json!({"content": half}), Value::Null));
    }
    for (index, (id, name, _)) in say.calls.iter().enumerate() {
        let call = json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
        events.push(chunk(json!({"tool_calls": [call]}), Value::Null));
    }
    for half in 0..2 {
        for (index, (_, _, arguments)) in say.calls.iter().enumerate() {
            let text = &halves(&arguments.to_string())[half];
            let call = json!({"index": index, "function": {"arguments": text}});
            events.push(chunk(json!({"tool_calls": [call]}), Value::Null));
        }
    }
    let finish = if say.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    events.push(chunk(json!({}), finish.into()));
    events.push(sse(&json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "vendor-model", "choices": [],
        "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
    })));
    events.push(b"data: [DONE]\n\n".to_vec());
    events
}

fn responses(say: &Say) -> Vec<Event> {
    let mut answer = super::wire::body(Wire::Responses, say);
    let mut begun = answer.clone();
    begun["status"] = "in_progress".into();
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let mut payloads = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
    ];
    for (index, item) in items(say).into_iter().enumerate() {
        payloads.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": item}),
        );
        if item["type"] == "message" {
            for half in halves(say.text.unwrap()) {
                payloads.push(json!({
                    "type": "response.output_text.delta", "item_id": item["id"], "output_index": index,
                    "content_index": 0, "delta": half,
                }));
            }
        }
        if item["type"] == "function_call" {
            for half in halves(item["arguments"].as_str().unwrap()) {
                payloads.push(json!({
                    "type": "response.function_call_arguments.delta", "item_id": item["id"], "output_index": index,
                    "delta": half,
                }));
            }
        }
        payloads.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
    }
    payloads.push(json!({"type": "response.completed", "response": answer.take()}));
    for (number, payload) in payloads.iter_mut().enumerate() {
        payload["sequence_number"] = number.into();
    }
    payloads.iter().map(sse).collect()
}

fn messages(say: &Say) -> Vec<Event> {
    let mut payloads = vec![
        json!({"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "vendor-model", "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 11, "output_tokens": 1},
        }}),
        json!({"type": "ping"}),
    ];
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        payloads
            .push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            payloads.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        payloads.push(json!({"type": "content_block_stop", "index": index}));
        index += 1;
    };
    if let Some(thought) = say.thought {
        let mut deltas: Vec<Value> = halves(thought)
            .map(|half| json!({"type": "thinking_delta", "thinking": half}))
            .into();
        deltas.push(json!({"type": "signature_delta", "signature": "c2lnbmVk"}));
        block(
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            deltas,
        );
    }
    if let Some(text) = say.text {
        let deltas = halves(text).map(|half| json!({"type": "text_delta", "text": half}));
        block(json!({"type": "text", "text": ""}), deltas.into());
    }
    for (id, name, input) in &say.calls {
        let deltas = halves(&input.to_string())
            .map(|half| json!({"type": "input_json_delta", "partial_json": half}));
        block(
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            deltas.into(),
        );
    }
    let stop = if say.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    payloads.push(json!({
        "type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 5},
    }));
    payloads.push(json!({"type": "message_stop"}));
    payloads.iter().map(sse).collect()
}

fn gemini(say: &Say) -> Vec<Event> {
    let chunk = |parts: Value, finish: bool| {
        let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        if finish {
            candidate["finishReason"] = "STOP".into();
        }
        sse(&json!({
            "candidates": [candidate], "modelVersion": "vendor-model", "responseId": "r1",
            "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 5, "totalTokenCount": 16},
        }))
    };
    let mut events = vec![];
    for half in say.thought.map(halves).into_iter().flatten() {
        events.push(chunk(json!([{"text": half, "thought": true}]), false));
    }
    for half in say.text.map(halves).into_iter().flatten() {
        events.push(chunk(json!([{"text": half}]), false));
    }
    for (id, name, args) in &say.calls {
        events.push(chunk(
            json!([{"functionCall": {"id": id, "name": name, "args": args}}]),
            false,
        ));
    }
    events.push(chunk(json!([{"text": ""}]), true));
    events
}

fn converse(say: &Say) -> Vec<Event> {
    let mut events = vec![converse_event(
        "messageStart",
        &json!({"role": "assistant"}),
    )];
    let mut index = 0;
    let mut block = |start: Option<Value>, deltas: Vec<Value>| {
        if let Some(start) = start {
            let payload = json!({"contentBlockIndex": index, "start": start});
            events.push(converse_event("contentBlockStart", &payload));
        }
        for delta in deltas {
            let payload = json!({"contentBlockIndex": index, "delta": delta, "p": "abcdef"});
            events.push(converse_event("contentBlockDelta", &payload));
        }
        events.push(converse_event(
            "contentBlockStop",
            &json!({"contentBlockIndex": index}),
        ));
        index += 1;
    };
    if let Some(thought) = say.thought {
        let mut deltas: Vec<Value> = halves(thought)
            .map(|half| json!({"reasoningContent": {"text": half}}))
            .into();
        deltas.push(json!({"reasoningContent": {"signature": "c2lnbmVk"}}));
        block(None, deltas);
    }
    if let Some(text) = say.text {
        block(None, halves(text).map(|half| json!({"text": half})).into());
    }
    for (id, name, input) in &say.calls {
        let deltas = halves(&input.to_string()).map(|half| json!({"toolUse": {"input": half}}));
        let start = json!({"toolUse": {"toolUseId": id, "name": name}});
        block(Some(start), deltas.into());
    }
    let stop = if say.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    events.push(converse_event("messageStop", &json!({"stopReason": stop})));
    let usage = json!({"usage": {"inputTokens": 11, "outputTokens": 5, "totalTokens": 16}, "metrics": {"latencyMs": 1}});
    events.push(converse_event("metadata", &usage));
    events
}
