//! What the provider says, rendered once: heads and bodies as a provider of chat completions writes them.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// What every answer of the provider has besides its type and framing.
const FIELDS: &str = "date: Thu, 01 Jan 2026 00:00:00 GMT\r\nserver: mock\r\nx-request-id: req_000000000000d31f8c52\r\n\
    x-processing-ms: 12\r\nx-ratelimit-limit-requests: 10000\r\nx-ratelimit-remaining-requests: 9999\r\n\
    x-ratelimit-limit-tokens: 2000000\r\nx-ratelimit-remaining-tokens: 1999975\r\nx-ratelimit-reset-requests: 6ms\r\n\
    strict-transport-security: max-age=31536000\r\n\r\n";

/// What of it is another value in each answer: how the line begins, and the digits that follow.
pub(crate) const CHANGING: &[(&str, usize)] = &[
    ("x-request-id: req_", 12),
    ("x-processing-ms: ", 2),
    ("x-ratelimit-remaining-requests: ", 4),
    ("x-ratelimit-remaining-tokens: ", 7),
];

/// What the provider sends for a request.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// Head and body in one write.
    Whole(Vec<u8>),
    /// A write for each step; the client has to have got a step before the next one is written.
    Steps(Vec<Step>),
    /// A head and one event, and then nothing until the gateway goes.
    Held(Vec<u8>),
}

/// What is written at once.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) bytes: Vec<u8>,
    /// How many events it holds.
    pub(crate) events: usize,
    /// How many the client gets of it.
    pub(crate) told: usize,
}

/// A chat completion of about 600 bytes; with fields that no API description has, if so asked.
pub(crate) fn completion(extra: bool) -> Answer {
    let text = "Every byte of this answer was written before the question was asked, which is what keeps the provider cheap. \
        It has \"quotes\" and\nlines.";
    let mut body = json!({
        "id": "chatcmpl-4fGk29sQz0bT7LwXhA1uVn",
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": "mock",
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": text, "refusal": null, "annotations": []},
            "logprobs": null,
            "finish_reason": "stop",
        }],
        "usage": {
            "prompt_tokens": 23,
            "completion_tokens": 31,
            "total_tokens": 54,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
        "system_fingerprint": "fp_81b2c3",
    });
    if extra {
        body["x_vendor"] = json!({"queue": 0.013, "node": "a-17"});
        body["choices"][0]["x_vendor"] = json!({"token_ids": null});
        body["usage"]["x_vendor_cost"] = json!(0.000_211);
    }
    whole(&body)
}

/// 64 vectors of 1536 numbers, 1.2 MB, with fields that no API description has.
pub(crate) fn embeddings() -> Answer {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut number = move || {
        state ^= state << 7;
        state ^= state >> 9;
        (state >> 40) as f64 / f64::from(1 << 24) * 0.12 - 0.06
    };
    let mut vector = || -> Vec<Value> {
        let digits = |value: f64| (value * 1e9).round() / 1e9;
        (0..1536).map(|_| json!(digits(number()))).collect()
    };
    let data: Vec<Value> = (0..64)
        .map(|index| json!({"object": "embedding", "index": index, "embedding": vector(), "x_vendor": 1}))
        .collect();
    whole(&json!({
        "object": "list",
        "data": data,
        "model": "mock",
        "usage": {"prompt_tokens": 512, "total_tokens": 512},
        "x_vendor": {"node": "a-17"},
    }))
}

fn whole(body: &Value) -> Answer {
    let body = body.to_string();
    let length = body.len();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";
    Answer::Whole(format!("{head}{length}\r\n{FIELDS}{body}").into_bytes())
}

/// A stream: the role, as many pieces of text, the reason to finish, the usage, and the end mark, so many events at a time.
pub(crate) fn stream(pieces: usize, at_once: usize, extra: bool) -> Answer {
    let events: Vec<Vec<u8>> = payloads(pieces, extra).iter().map(event).collect();
    let mut steps: Vec<Step> = events
        .chunks(at_once)
        .map(|events| Step {
            bytes: events.iter().flat_map(|event| chunk(event)).collect(),
            events: events.len(),
            told: events.len(),
        })
        .collect();
    frame(&mut steps, EVENTS);
    Answer::Steps(steps)
}

/// Puts the head before a stream, and the end of its body behind it.
pub(crate) fn frame(steps: &mut [Step], content_type: &str) {
    if let Some(first) = steps.first_mut() {
        let head = stream_head(content_type);
        first.bytes.splice(0..0, head.into_bytes());
    }
    if let Some(last) = steps.last_mut() {
        last.bytes.extend_from_slice(b"0\r\n\r\n");
    }
}

/// A stream that stays open.
pub(crate) fn held() -> Answer {
    let first = payloads(0, false).first().map(event).unwrap_or_default();
    let mut bytes = stream_head(EVENTS).into_bytes();
    bytes.extend(chunk(&first));
    Answer::Held(bytes)
}

/// The type of an event stream.
pub(crate) const EVENTS: &str = "text/event-stream; charset=utf-8";

fn stream_head(content_type: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n{FIELDS}"
    )
}

pub(crate) fn event(payload: &String) -> Vec<u8> {
    format!("data: {payload}\n\n").into_bytes()
}

/// An event in the chunked coding.
pub(crate) fn chunk(event: &[u8]) -> Vec<u8> {
    let size = format!("{:x}\r\n", event.len());
    [size.as_bytes(), event, b"\r\n"].concat()
}

/// A piece of the text of streams.
pub(crate) fn word(at: usize) -> &'static str {
    const WORDS: [&str; 11] = [
        " so", " the", " answer", " grows", " by", " a", " word", ",", " and", " another", ".",
    ];
    WORDS[at * 7 % WORDS.len()]
}

pub(crate) fn payloads(pieces: usize, extra: bool) -> Vec<String> {
    let mut all = vec![piece(
        json!({"role": "assistant", "content": ""}),
        None,
        extra,
    )];
    all.extend((0..pieces).map(|at| piece(json!({"content": word(at)}), None, extra)));
    all.push(piece(json!({}), Some("stop"), extra));
    let mut usage = envelope(json!([]), extra);
    usage["usage"] =
        json!({"prompt_tokens": 23, "completion_tokens": pieces, "total_tokens": pieces + 23});
    all.push(usage.to_string());
    all.push("[DONE]".to_owned());
    all
}

fn piece(delta: Value, finish: Option<&str>, extra: bool) -> String {
    let mut choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
    if extra {
        choice["x_vendor"] = json!({"token_ids": null});
    }
    envelope(json!([choice]), extra).to_string()
}

fn envelope(choices: Value, extra: bool) -> Value {
    let mut chunk = json!({
        "id": "chatcmpl-4fGk29sQz0bT7LwXhA1uVn",
        "object": "chat.completion.chunk",
        "created": 1_767_225_600,
        "model": "mock",
        "system_fingerprint": "fp_81b2c3",
        "choices": choices,
    });
    if extra {
        chunk["x_vendor"] = json!({"queue": 0.013, "node": "a-17"});
    }
    chunk
}

/// A text of that many bytes, with line ends and quotes in it as prompts have them.
pub(crate) fn prompt(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 80);
    let mut line = 0;
    while text.len() < bytes {
        line += 1;
        // Writing to a String cannot fail.
        let _ok = writeln!(
            text,
            "Line {line} of a long prompt says \"little\", and says it at length."
        );
    }
    text.truncate(bytes);
    text
}
