//! What providers answer, on each wire: whole answers and errors. Streams are beside, in `streams`.

use onwards_tests::Reply;
use serde_json::{Value, json};

use super::Wire;
use super::ask::Feature;

/// What an answer says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Say {
    pub(crate) thought: Option<&'static str>,
    pub(crate) text: Option<&'static str>,
    /// Id, name, arguments.
    pub(crate) calls: Vec<(String, String, Value)>,
}

impl Say {
    /// The answer to a request with this feature; `forced` is the tool that has to be called for an answer of a certain shape.
    pub(crate) fn to(feature: Feature, forced: Option<&str>) -> Self {
        let weather =
            |id: &str, city: &str| (id.to_owned(), "weather".to_owned(), json!({"city": city}));
        match (feature, forced) {
            (Feature::Text | Feature::Images, _) => Self {
                text: Some("Hello there"),
                ..Self::default()
            },
            (Feature::Tools, _) => Self {
                calls: vec![weather("toolu_1", "Bergen")],
                ..Self::default()
            },
            (Feature::ParallelTools, _) => Self {
                calls: vec![weather("toolu_1", "Bergen"), weather("toolu_2", "Turin")],
                ..Self::default()
            },
            (Feature::Structured, Some(tool)) => Self {
                calls: vec![("toolu_1".to_owned(), tool.to_owned(), json!({"ok": true}))],
                ..Self::default()
            },
            (Feature::Structured, None) => Self {
                text: Some(r#"{"ok":true}"#),
                ..Self::default()
            },
            (Feature::Reasoning, _) => Self {
                thought: Some("Let me see."),
                text: Some("Hello there"),
                ..Self::default()
            },
        }
    }
}

/// A whole answer.
pub(crate) fn whole(wire: Wire, say: &Say) -> Reply {
    Reply::json(200, &body(wire, say))
}

/// The same, as a body.
pub(crate) fn body(wire: Wire, say: &Say) -> Value {
    match wire {
        Wire::Chat => chat(say),
        Wire::Responses => responses(say),
        Wire::Messages => messages(say),
        Wire::Gemini => gemini(say),
        Wire::Converse => converse(say),
    }
}

fn chat(say: &Say) -> Value {
    let mut message = json!({"role": "assistant", "content": say.text});
    if let Some(thought) = say.thought {
        message["reasoning_content"] = thought.into();
    }
    if !say.calls.is_empty() {
        let calls = say.calls.iter().map(|(id, name, arguments)| {
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
        });
        message["tool_calls"] = calls.collect();
    }
    let finish = if say.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "vendor-model",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
    })
}

/// The items of an answer of Responses.
pub(crate) fn items(say: &Say) -> Vec<Value> {
    let mut items = vec![];
    if let Some(thought) = say.thought {
        items.push(json!({"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": thought}]}));
    }
    if let Some(text) = say.text {
        items.push(json!({
            "id": "msg_1", "type": "message", "status": "completed", "role": "assistant",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }));
    }
    for (id, name, arguments) in &say.calls {
        items.push(json!({
            "id": format!("fc_{id}"), "type": "function_call", "status": "completed", "call_id": id,
            "name": name, "arguments": arguments.to_string(),
        }));
    }
    items
}

fn responses(say: &Say) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "vendor-model",
        "output": items(say), "error": null, "incomplete_details": null,
        "usage": {
            "input_tokens": 11, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 16,
        },
    })
}

fn messages(say: &Say) -> Value {
    let mut content = vec![];
    if let Some(thought) = say.thought {
        content.push(json!({"type": "thinking", "thinking": thought, "signature": "c2lnbmVk"}));
    }
    if let Some(text) = say.text {
        content.push(json!({"type": "text", "text": text}));
    }
    for (id, name, input) in &say.calls {
        content.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
    }
    let stop = if say.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "vendor-model", "content": content,
        "stop_reason": stop, "stop_sequence": null, "usage": {"input_tokens": 11, "output_tokens": 5},
    })
}

fn gemini(say: &Say) -> Value {
    let mut parts = vec![];
    if let Some(thought) = say.thought {
        parts.push(json!({"text": thought, "thought": true}));
    }
    if let Some(text) = say.text {
        parts.push(json!({"text": text}));
    }
    for (id, name, args) in &say.calls {
        parts.push(json!({"functionCall": {"id": id, "name": name, "args": args}}));
    }
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 5, "totalTokenCount": 16},
        "modelVersion": "vendor-model", "responseId": "r1",
    })
}

fn converse(say: &Say) -> Value {
    let mut content = vec![];
    if let Some(thought) = say.thought {
        content.push(json!({"reasoningContent": {"reasoningText": {"text": thought, "signature": "c2lnbmVk"}}}));
    }
    if let Some(text) = say.text {
        content.push(json!({"text": text}));
    }
    for (id, name, input) in &say.calls {
        content.push(json!({"toolUse": {"toolUseId": id, "name": name, "input": input}}));
    }
    let stop = if say.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    json!({
        "output": {"message": {"role": "assistant", "content": content}}, "stopReason": stop,
        "usage": {"inputTokens": 11, "outputTokens": 5, "totalTokens": 16}, "metrics": {"latencyMs": 1},
    })
}

/// An error in the provider's own words.
pub(crate) fn error(wire: Wire, status: u16, message: &str) -> Reply {
    let body = error_body(wire, status, message);
    let mut headers = vec![("content-type", "application/json")];
    if wire == Wire::Converse {
        headers.push(("x-amzn-errortype", exception(status)));
    }
    if matches!(status, 429 | 503 | 529) {
        headers.push(("retry-after", "7"));
    }
    Reply::new(status, &headers, body.to_string())
}

/// What the body of such an error is.
pub(crate) fn error_body(wire: Wire, status: u16, message: &str) -> Value {
    let kind = match status {
        429 => "rate_limit_error",
        529 => "overloaded_error",
        401 => "authentication_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let word = match status {
        429 => "RESOURCE_EXHAUSTED",
        401 => "UNAUTHENTICATED",
        503 | 529 => "UNAVAILABLE",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    };
    match wire {
        Wire::Chat | Wire::Responses => {
            json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
        }
        Wire::Messages => {
            json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_theirs"})
        }
        Wire::Gemini => json!({"error": {"code": status, "message": message, "status": word}}),
        Wire::Converse => json!({"message": message}),
    }
}

fn exception(status: u16) -> &'static str {
    match status {
        429 => "ThrottlingException:http://internal.amazon.com/coral/",
        401 | 403 => "AccessDeniedException",
        503 => "ServiceUnavailableException",
        500.. => "InternalServerException",
        _ => "ValidationException",
    }
}
