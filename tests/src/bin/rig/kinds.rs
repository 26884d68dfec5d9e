//! Streams of providers that do not speak what their client does, in the shapes and sizes that such providers are known for.

use serde_json::{Value, json};

use crate::answers::{self, Answer, Step};

/// What a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    OpenAi,
    Anthropic,
    Gemini,
    Bedrock,
}

/// What a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Chat,
    Messages,
}

impl Kind {
    /// As the configuration names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
        }
    }

    /// What comes before the pieces of text, the pieces, and what comes behind them; the same text whatever the kind.
    fn events(self, pieces: usize) -> [Vec<Vec<u8>>; 3] {
        match self {
            Self::OpenAi => openai(pieces),
            Self::Anthropic => anthropic(pieces),
            Self::Gemini => gemini(pieces),
            Self::Bedrock => bedrock(pieces),
        }
    }

    fn content_type(self) -> &'static str {
        match self {
            Self::Bedrock => "application/vnd.amazon.eventstream",
            _ => answers::EVENTS,
        }
    }
}

impl Protocol {
    /// How many events a client gets before the first piece of text, and how many behind the last.
    fn frame(self) -> [usize; 2] {
        match self {
            // The role; the reason to finish, the usage and the end mark.
            Self::Chat => [1, 3],
            // The message, a ping and the block; their ends.
            Self::Messages => [3, 3],
        }
    }

    /// What an event says, if it says a piece of text.
    pub(crate) fn text(self, event: &Value) -> Option<&str> {
        match self {
            Self::Chat => event["choices"][0]["delta"]["content"].as_str(),
            Self::Messages => event["delta"]["text"].as_str(),
        }
        .filter(|text| !text.is_empty())
    }

    /// The model that an event names.
    pub(crate) fn model(self, event: &Value) -> Option<&str> {
        match self {
            Self::Chat => event["model"].as_str(),
            Self::Messages => event["message"]["model"].as_str(),
        }
    }
}

/// A stream of this kind for a client that speaks that: as many pieces of text, so many events at a time.
pub(crate) fn stream(kind: Kind, protocol: Protocol, pieces: usize, at_once: usize) -> Answer {
    let [before, texts, behind] = kind.events(pieces);
    let texts_at = before.len()..before.len() + texts.len();
    let events: Vec<Vec<u8>> = [before, texts, behind].concat();
    let starts = (0..events.len()).step_by(at_once);
    let mut steps: Vec<Step> = starts
        .map(|start| {
            let end = events.len().min(start + at_once);
            let chunks = events[start..end].iter();
            Step {
                bytes: chunks.flat_map(|event| answers::chunk(event)).collect(),
                events: end - start,
                told: (start..end).filter(|at| texts_at.contains(at)).count(),
            }
        })
        .collect();
    let [before, behind] = protocol.frame();
    answers::frame(&mut steps, kind.content_type());
    if let Some(first) = steps.first_mut() {
        first.told += before;
    }
    if let Some(last) = steps.last_mut() {
        last.told += behind;
    }
    Answer::Steps(steps)
}

fn openai(pieces: usize) -> [Vec<Vec<u8>>; 3] {
    let payloads = answers::payloads(pieces, true);
    let mut events = payloads.iter().map(answers::event);
    let mut take = |count| events.by_ref().take(count).collect();
    [take(1), take(pieces), take(3)]
}

fn anthropic(pieces: usize) -> [Vec<Vec<u8>>; 3] {
    let message = json!({
        "id": "msg_01AbCdEfGhIjKlMnOpQrStUv", "type": "message", "role": "assistant", "model": "mock", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 23, "output_tokens": 1},
    });
    let block = json!({"type": "text", "text": ""});
    let text = |at| json!({"type": "text_delta", "text": answers::word(at)});
    let stop = json!({"stop_reason": "end_turn", "stop_sequence": null});
    [
        vec![
            named(&json!({"type": "message_start", "message": message})),
            named(&json!({"type": "content_block_start", "index": 0, "content_block": block})),
        ],
        (0..pieces)
            .map(|at| named(&json!({"type": "content_block_delta", "index": 0, "delta": text(at)})))
            .collect(),
        vec![
            named(&json!({"type": "content_block_stop", "index": 0})),
            named(
                &json!({"type": "message_delta", "delta": stop, "usage": {"output_tokens": pieces}}),
            ),
            named(&json!({"type": "message_stop"})),
        ],
    ]
}

/// Each event counts the tokens so far.
fn gemini(pieces: usize) -> [Vec<Vec<u8>>; 3] {
    let event = |text: &str, tokens: usize, finish: Option<&str>| {
        let mut event = json!({
            "candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}],
            "usageMetadata": {
                "promptTokenCount": 23, "candidatesTokenCount": tokens, "totalTokenCount": tokens + 23,
                "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 23}],
            },
            "modelVersion": "mock",
            "responseId": "AbCdEfGhIjKlMnOpQrSt",
        });
        if let Some(finish) = finish {
            event["candidates"][0]["finishReason"] = json!(finish);
        }
        format!("data: {event}\r\n\r\n").into_bytes()
    };
    let texts = (0..pieces).map(|at| event(answers::word(at), at + 1, None));
    [
        Vec::new(),
        texts.collect(),
        vec![event("", pieces, Some("STOP"))],
    ]
}

/// Each event is padded, so that its length does not tell that of the text.
fn bedrock(pieces: usize) -> [Vec<Vec<u8>>; 3] {
    let padded = |event_type: &str, mut payload: Value, padding: usize| {
        payload["p"] = json!("abcdefgh".repeat(5).get(..padding));
        message(event_type, &payload)
    };
    let text = |at| json!({"contentBlockIndex": 0, "delta": {"text": answers::word(at)}});
    let usage = json!({"inputTokens": 23, "outputTokens": pieces, "totalTokens": pieces + 23});
    let metadata = json!({"metrics": {"latencyMs": 1247}, "usage": usage});
    [
        vec![padded("messageStart", json!({"role": "assistant"}), 12)],
        (0..pieces)
            .map(|at| padded("contentBlockDelta", text(at), at * 7 % 40 + 1))
            .collect(),
        vec![
            padded("contentBlockStop", json!({"contentBlockIndex": 0}), 5),
            padded("messageStop", json!({"stopReason": "end_turn"}), 21),
            padded("metadata", metadata, 9),
        ],
    ]
}

/// An event that goes by its type.
fn named(payload: &Value) -> Vec<u8> {
    let name = payload["type"].as_str().expect("a type");
    format!("event: {name}\ndata: {payload}\n\n").into_bytes()
}

/// A message of Amazon's event stream.
fn message(event_type: &str, payload: &Value) -> Vec<u8> {
    let mut headers = Vec::new();
    for (name, value) in [
        (":event-type", event_type),
        (":content-type", "application/json"),
        (":message-type", "event"),
    ] {
        headers.push(name.len() as u8);
        headers.extend(name.as_bytes());
        headers.push(7);
        headers.extend((value.len() as u16).to_be_bytes());
        headers.extend(value.as_bytes());
    }
    let payload = payload.to_string();
    let mut bytes = Vec::new();
    bytes.extend(((headers.len() + payload.len() + 16) as u32).to_be_bytes());
    bytes.extend((headers.len() as u32).to_be_bytes());
    bytes.extend(crc32(&bytes).to_be_bytes());
    bytes.extend(headers);
    bytes.extend(payload.as_bytes());
    bytes.extend(crc32(&bytes).to_be_bytes());
    bytes
}

/// The checksum of Amazon's event stream.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |rest: u32, _| (rest >> 1) ^ (0xEDB8_8320 * (rest & 1));
    !bytes.iter().fold(u32::MAX, |rest, byte| {
        (0..8).fold(rest ^ u32::from(*byte), step)
    })
}

#[cfg(test)]
mod tests;
