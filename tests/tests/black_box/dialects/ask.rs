//! What clients ask, in each protocol.

use onwards_tests::Request;
use serde_json::{Value, json};

use super::Client;

/// One picture, a single point.
pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// What a request makes use of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    Text,
    Tools,
    ParallelTools,
    Images,
    Structured,
    Reasoning,
}

/// Schema of the arguments of the tool `weather`.
pub(crate) fn place() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
}

/// Schema of structured answers.
pub(crate) fn verdict() -> Value {
    json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]})
}

/// The calls that the conversation already has: id, city, what came of it.
const CALLS: [(&str, &str, &str); 2] = [
    ("toolu_a", "Oslo", "4 degrees"),
    ("toolu_b", "Rome", "20 degrees"),
];

fn calls(feature: Feature) -> &'static [(&'static str, &'static str, &'static str)] {
    match feature {
        Feature::Tools => &CALLS[..1],
        Feature::ParallelTools => &CALLS,
        _ => &[],
    }
}

/// The request of a client.
pub(crate) fn request(client: Client, feature: Feature, stream: bool) -> Request {
    Request::post(client.path(stream)).json(&body(client, feature, stream))
}

/// The same, as a body.
pub(crate) fn body(client: Client, feature: Feature, stream: bool) -> Value {
    let mut body = match client {
        Client::Chat => chat(feature),
        Client::Responses => responses(feature),
        Client::Messages => messages(feature),
        Client::Gemini => return gemini(feature),
    };
    body["model"] = "m".into();
    if stream {
        body["stream"] = true.into();
    }
    body
}

fn chat(feature: Feature) -> Value {
    let mut turns = vec![json!({"role": "system", "content": "Be brief."})];
    turns.push(if feature == Feature::Images {
        let url = format!("data:image/png;base64,{PNG}");
        json!({"role": "user", "content": [
            {"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {"url": url}},
        ]})
    } else {
        json!({"role": "user", "content": "Hi"})
    });
    let calls = calls(feature);
    if !calls.is_empty() {
        let made = calls.iter().map(|(id, city, _)| {
            let arguments = json!({"city": city}).to_string();
            json!({"id": id, "type": "function", "function": {"name": "weather", "arguments": arguments}})
        });
        turns.push(
            json!({"role": "assistant", "content": null, "tool_calls": made.collect::<Vec<_>>()}),
        );
    }
    for (id, _, result) in calls {
        turns.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
    }
    let mut body = json!({"messages": turns, "max_tokens": 100, "temperature": 0.5});
    match feature {
        Feature::Tools | Feature::ParallelTools => {
            body["tools"] = json!([{"type": "function", "function": {
                "name": "weather", "description": "The weather.", "parameters": place(),
            }}]);
        }
        Feature::Structured => {
            body["response_format"] = json!({"type": "json_schema", "json_schema": {
                "name": "verdict", "schema": verdict(),
            }});
        }
        Feature::Reasoning => {
            body["reasoning_effort"] = "high".into();
            body["max_tokens"] = 40_000.into();
        }
        Feature::Text | Feature::Images => {}
    }
    body
}

fn responses(feature: Feature) -> Value {
    let mut input = vec![if feature == Feature::Images {
        let url = format!("data:image/png;base64,{PNG}");
        json!({"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "Hi"}, {"type": "input_image", "image_url": url},
        ]})
    } else {
        json!({"role": "user", "content": "Hi"})
    }];
    for (id, city, _) in calls(feature) {
        let arguments = json!({"city": city}).to_string();
        input.push(json!({"type": "function_call", "call_id": id, "name": "weather", "arguments": arguments}));
    }
    for (id, _, result) in calls(feature) {
        input.push(json!({"type": "function_call_output", "call_id": id, "output": result}));
    }
    let mut body = json!({
        "instructions": "Be brief.", "input": input, "max_output_tokens": 100, "temperature": 0.5,
    });
    match feature {
        Feature::Tools | Feature::ParallelTools => {
            body["tools"] = json!([{
                "type": "function", "name": "weather", "description": "The weather.", "parameters": place(),
            }]);
        }
        Feature::Structured => {
            body["text"] =
                json!({"format": {"type": "json_schema", "name": "verdict", "schema": verdict()}});
        }
        Feature::Reasoning => {
            body["reasoning"] = json!({"effort": "high"});
            body["max_output_tokens"] = 40_000.into();
        }
        Feature::Text | Feature::Images => {}
    }
    body
}

fn messages(feature: Feature) -> Value {
    let mut turns = vec![if feature == Feature::Images {
        let source = json!({"type": "base64", "media_type": "image/png", "data": PNG});
        json!({"role": "user", "content": [
            {"type": "text", "text": "Hi"}, {"type": "image", "source": source},
        ]})
    } else {
        json!({"role": "user", "content": "Hi"})
    }];
    let calls = calls(feature);
    if !calls.is_empty() {
        let made = calls.iter().map(
            |(id, city, _)| json!({"type": "tool_use", "id": id, "name": "weather", "input": {"city": city}}),
        );
        turns.push(json!({"role": "assistant", "content": made.collect::<Vec<_>>()}));
        let results = calls.iter().map(
            |(id, _, result)| json!({"type": "tool_result", "tool_use_id": id, "content": result}),
        );
        turns.push(json!({"role": "user", "content": results.collect::<Vec<_>>()}));
    }
    let mut body = json!({
        "system": "Be brief.", "messages": turns, "max_tokens": 100, "temperature": 0.5,
    });
    match feature {
        Feature::Tools | Feature::ParallelTools => {
            body["tools"] = json!([{
                "name": "weather", "description": "The weather.", "input_schema": place(),
            }]);
        }
        Feature::Structured => {
            body["output_config"] = json!({"format": {"type": "json_schema", "schema": verdict()}});
        }
        Feature::Reasoning => {
            body["thinking"] = json!({"type": "enabled", "budget_tokens": 16_384});
            body["max_tokens"] = 40_000.into();
        }
        Feature::Text | Feature::Images => {}
    }
    body
}

fn gemini(feature: Feature) -> Value {
    let mut parts = vec![json!({"text": "Hi"})];
    if feature == Feature::Images {
        parts.push(json!({"inlineData": {"mimeType": "image/png", "data": PNG}}));
    }
    let mut turns = vec![json!({"role": "user", "parts": parts})];
    let calls = calls(feature);
    if !calls.is_empty() {
        let made = calls.iter().map(
            |(id, city, _)| json!({"functionCall": {"id": id, "name": "weather", "args": {"city": city}}}),
        );
        turns.push(json!({"role": "model", "parts": made.collect::<Vec<_>>()}));
        let results = calls.iter().map(|(id, _, result)| {
            json!({"functionResponse": {"id": id, "name": "weather", "response": {"result": result}}})
        });
        turns.push(json!({"role": "user", "parts": results.collect::<Vec<_>>()}));
    }
    let mut body = json!({
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": turns,
        "generationConfig": {"maxOutputTokens": 100, "temperature": 0.5},
    });
    match feature {
        Feature::Tools | Feature::ParallelTools => {
            body["tools"] = json!([{"functionDeclarations": [{
                "name": "weather", "description": "The weather.", "parameters": place(),
            }]}]);
        }
        Feature::Structured => {
            body["generationConfig"]["responseMimeType"] = "application/json".into();
            body["generationConfig"]["responseSchema"] = verdict();
        }
        Feature::Reasoning => {
            body["generationConfig"]["thinkingConfig"] =
                json!({"thinkingBudget": 16_384, "includeThoughts": true});
            body["generationConfig"]["maxOutputTokens"] = 40_000.into();
        }
        Feature::Text | Feature::Images => {}
    }
    body
}
