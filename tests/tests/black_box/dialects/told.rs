//! What a client was told, read off its protocol in words that are the same for every protocol. Reading is strict: a stream that its
//! protocol would not allow fails here.

use onwards_tests::Response;
use serde_json::{Value, json};

use super::Client;

/// What an answer said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) thought: String,
    pub(crate) text: String,
    /// Id, name, arguments.
    pub(crate) calls: Vec<(String, String, Value)>,
    /// Why it ended, in the words of Chat Completions.
    pub(crate) end: String,
    /// Tokens of the prompt and of the answer.
    pub(crate) usage: Option<(u64, u64)>,
}

/// A whole answer; panics unless it is one in the client's protocol for the model `m`.
pub(crate) fn whole(client: Client, answer: &Response) -> Told {
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.head.header("content-type"), Some("application/json"));
    let body = answer.json();
    match client {
        Client::Chat => chat(&body),
        Client::Responses => responses(&body),
        Client::Messages => messages(&body),
        Client::Gemini => gemini(&body),
    }
}

/// A stream; panics unless it is one in the client's protocol for the model `m`, from its beginning to its proper end.
pub(crate) fn stream(client: Client, answer: &Response) -> Told {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let kind = answer.head.header("content-type").unwrap_or_default();
    assert!(kind.starts_with("text/event-stream"), "{kind}");
    assert_eq!(answer.head.header("content-length"), None);
    let text = answer.text();
    let events = events(&text);
    match client {
        Client::Chat => chat_stream(&events),
        Client::Responses => responses_stream(&events),
        Client::Messages => messages_stream(&events),
        Client::Gemini => gemini_stream(&events),
    }
}

/// The events of an event stream: name and data. Comments are left out.
pub(crate) fn events(text: &str) -> Vec<(String, String)> {
    assert!(text.ends_with("\n\n"), "an unfinished event: {text}");
    let field = |frame: &str, name: &str| {
        let values = frame.lines().filter_map(|line| line.strip_prefix(name));
        values.collect::<Vec<_>>().join("\n")
    };
    text.split("\n\n")
        .map(|frame| (field(frame, "event: "), field(frame, "data: ")))
        .filter(|(_, data)| !data.is_empty())
        .collect()
}

/// The same, as JSON.
pub(crate) fn payloads(events: &[(String, String)]) -> Vec<Value> {
    let parse = |data: &str| serde_json::from_str(data).unwrap_or_else(|_| panic!("JSON: {data}"));
    events.iter().map(|(_, data)| parse(data)).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn usage(of: &Value, prompt: &str, completion: &str) -> Option<(u64, u64)> {
    Some((of[prompt].as_u64()?, of[completion].as_u64()?))
}

fn arguments(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("arguments: {text}"))
}

fn chat(body: &Value) -> Told {
    assert_eq!(
        (&body["object"], &body["model"]),
        (&json!("chat.completion"), &json!("m"))
    );
    let choice = &body["choices"][0];
    let message = &choice["message"];
    let calls = list(&message["tool_calls"]).map(|call| {
        assert_eq!(call["type"], "function");
        let function = &call["function"];
        let text = function["arguments"].as_str().expect("text");
        (
            string(&call["id"]),
            string(&function["name"]),
            arguments(text),
        )
    });
    Told {
        thought: string(&message["reasoning_content"]),
        text: string(&message["content"]),
        calls: calls.collect(),
        end: string(&choice["finish_reason"]),
        usage: usage(&body["usage"], "prompt_tokens", "completion_tokens"),
    }
}

fn chat_stream(events: &[(String, String)]) -> Told {
    let (last, chunks) = events.split_last().expect("events");
    assert_eq!(last.1, "[DONE]");
    let chunks = payloads(chunks);
    assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
    let mut told = Told::default();
    let mut calls: Vec<(String, String, String)> = vec![];
    for chunk in &chunks {
        assert_eq!(chunk["object"], "chat.completion.chunk");
        assert_eq!(
            (&chunk["model"], &chunk["id"]),
            (&json!("m"), &chunks[0]["id"])
        );
        let choice = &chunk["choices"][0];
        let delta = &choice["delta"];
        told.thought += &string(&delta["reasoning_content"]);
        told.text += &string(&delta["content"]);
        for call in list(&delta["tool_calls"]) {
            let index = usize::try_from(call["index"].as_u64().expect("an index")).unwrap();
            if index == calls.len() {
                assert_eq!(call["type"], "function");
                calls.push((
                    string(&call["id"]),
                    string(&call["function"]["name"]),
                    String::new(),
                ));
            }
            calls[index].2 += &string(&call["function"]["arguments"]);
        }
        if let Some(end) = choice["finish_reason"].as_str() {
            assert_eq!(told.end, "", "the answer ends twice");
            end.clone_into(&mut told.end);
        }
        if chunk["choices"] == json!([]) {
            assert_eq!(told.usage, None, "usage is told twice");
            told.usage = usage(&chunk["usage"], "prompt_tokens", "completion_tokens");
        }
    }
    let whole = |(id, name, text): (String, String, String)| (id, name, arguments(&text));
    told.calls = calls.into_iter().map(whole).collect();
    told
}

fn responses(body: &Value) -> Told {
    assert_eq!(
        (&body["object"], &body["model"]),
        (&json!("response"), &json!("m"))
    );
    assert_eq!(
        (&body["status"], &body["error"]),
        (&json!("completed"), &Value::Null)
    );
    let mut told = Told {
        end: "stop".to_owned(),
        usage: usage(&body["usage"], "input_tokens", "output_tokens"),
        ..Told::default()
    };
    for item in list(&body["output"]) {
        match item["type"].as_str().unwrap_or_default() {
            "reasoning" => {
                let parts = list(&item["summary"]).chain(list(&item["content"]));
                parts.for_each(|part| told.thought += &string(&part["text"]));
            }
            "message" => {
                list(&item["content"]).for_each(|part| told.text += &string(&part["text"]))
            }
            "function_call" => {
                let text = item["arguments"].as_str().expect("text");
                let call = (
                    string(&item["call_id"]),
                    string(&item["name"]),
                    arguments(text),
                );
                told.calls.push(call);
                told.end = "tool_calls".to_owned();
            }
            other => panic!("an item {other}"),
        }
    }
    told
}

fn responses_stream(events: &[(String, String)]) -> Told {
    let payloads = payloads(events);
    let (mut text, mut written) = (String::new(), String::new());
    for (number, payload) in payloads.iter().enumerate() {
        assert_eq!(payload["sequence_number"], number, "{payload}");
        assert_eq!(payload["type"], events[number].0.as_str());
        match payload["type"].as_str().unwrap_or_default() {
            "response.output_text.delta" => text += &string(&payload["delta"]),
            "response.function_call_arguments.delta" => written += &string(&payload["delta"]),
            _ => {}
        }
    }
    let kinds: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(kinds[..2], ["response.created", "response.in_progress"]);
    let (last, before) = kinds.split_last().expect("events");
    assert_eq!(*last, "response.completed");
    assert!(!before.contains(last));
    let count = |name: &str| kinds.iter().filter(|kind| **kind == name).count();
    assert_eq!(
        count("response.output_item.added"),
        count("response.output_item.done")
    );
    let told = responses(&payloads.last().expect("events")["response"]);
    assert_eq!(text, told.text);
    let whole: Vec<String> = told
        .calls
        .iter()
        .map(|(_, _, made)| made.to_string())
        .collect();
    let mut letters: Vec<char> = whole.concat().chars().collect();
    let mut seen: Vec<char> = written.chars().collect();
    // Calls may take turns here, so only what was written in all is compared.
    letters.sort_unstable();
    seen.sort_unstable();
    assert_eq!(seen, letters);
    told
}

fn ended(stop: &Value) -> String {
    match stop.as_str().unwrap_or_default() {
        "end_turn" => "stop".to_owned(),
        "tool_use" => "tool_calls".to_owned(),
        other => other.to_owned(),
    }
}

fn messages(body: &Value) -> Told {
    assert_eq!(
        (&body["type"], &body["role"]),
        (&json!("message"), &json!("assistant"))
    );
    assert_eq!(body["model"], "m");
    assert!(string(&body["id"]).starts_with("msg_"), "{}", body["id"]);
    let mut told = Told {
        end: ended(&body["stop_reason"]),
        usage: usage(&body["usage"], "input_tokens", "output_tokens"),
        ..Told::default()
    };
    for block in list(&body["content"]) {
        match block["type"].as_str().unwrap_or_default() {
            "thinking" => {
                assert_ne!(string(&block["signature"]), "");
                told.thought += &string(&block["thinking"]);
            }
            "text" => told.text += &string(&block["text"]),
            "tool_use" => {
                told.calls.push((
                    string(&block["id"]),
                    string(&block["name"]),
                    block["input"].clone(),
                ));
            }
            other => panic!("a block {other}"),
        }
    }
    told
}

fn messages_stream(events: &[(String, String)]) -> Told {
    let mut told = Told::default();
    let mut open: Option<Value> = None;
    let mut written = String::new();
    let mut blocks = 0;
    let payloads = payloads(events);
    assert_eq!(payloads[0]["type"], "message_start");
    assert_eq!(payloads[0]["message"]["model"], "m");
    assert_eq!(payloads.last().expect("events")["type"], "message_stop");
    for (payload, (name, _)) in payloads.iter().zip(events) {
        assert_eq!(payload["type"], name.as_str());
        match name.as_str() {
            "content_block_start" => {
                assert_eq!((payload["index"].as_u64(), &open), (Some(blocks), &None));
                open = Some(payload["content_block"].clone());
            }
            "content_block_delta" => {
                assert!(open.is_some() && payload["index"] == blocks, "{payload}");
                let delta = &payload["delta"];
                told.thought += &string(&delta["thinking"]);
                told.text += &string(&delta["text"]);
                written += &string(&delta["partial_json"]);
            }
            "content_block_stop" => {
                let block = open.take().expect("an open block");
                if block["type"] == "tool_use" {
                    let input = arguments(&std::mem::take(&mut written));
                    told.calls
                        .push((string(&block["id"]), string(&block["name"]), input));
                }
                blocks += 1;
            }
            "message_delta" => {
                told.end = ended(&payload["delta"]["stop_reason"]);
                // A provider that speaks the protocol may tell the prompt's tokens at the beginning alone.
                let counts = &payload["usage"];
                let begun = &payloads[0]["message"]["usage"]["input_tokens"];
                let prompt = counts["input_tokens"].as_u64().or(begun.as_u64());
                told.usage = prompt.zip(counts["output_tokens"].as_u64());
            }
            "message_start" | "ping" | "message_stop" => {}
            other => panic!("an event {other}"),
        }
    }
    assert_eq!(open, None);
    told
}

fn gemini(body: &Value) -> Told {
    let mut told = Told::default();
    add_gemini(body, &mut told);
    told
}

fn add_gemini(body: &Value, told: &mut Told) {
    assert_eq!(body["modelVersion"], "m");
    let candidate = &body["candidates"][0];
    assert!(matches!(
        candidate["content"]["role"].as_str(),
        None | Some("model")
    ));
    for part in list(&candidate["content"]["parts"]) {
        let call = &part["functionCall"];
        if !call.is_null() {
            told.calls.push((
                string(&call["id"]),
                string(&call["name"]),
                call["args"].clone(),
            ));
        } else if part["thought"] == true {
            told.thought += &string(&part["text"]);
        } else {
            told.text += &string(&part["text"]);
        }
    }
    if let Some(end) = candidate["finishReason"].as_str() {
        assert_eq!((told.end.as_str(), end), ("", "STOP"));
        told.end = if told.calls.is_empty() {
            "stop"
        } else {
            "tool_calls"
        }
        .to_owned();
    }
    let counts = &body["usageMetadata"];
    told.usage = usage(counts, "promptTokenCount", "candidatesTokenCount").or(told.usage);
}

fn gemini_stream(events: &[(String, String)]) -> Told {
    let mut told = Told::default();
    for chunk in payloads(events) {
        assert_eq!(told.end, "", "nothing follows the end");
        add_gemini(&chunk, &mut told);
    }
    told
}
